# SPDX-License-Identifier: Apache-2.0
"""What a server can say wrong in TLS 1.3, one script for each sentence (see tls13.py)."""
import os
import struct
import time

import tls13
from scripted import alert
from tls13 import Server, extension, message, record, vector

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nOK\n"


def said(say):
    """say(server) with the ClientHello read."""
    def script(conn, _number):
        server = Server(conn).read_hello()
        say(server)
        server.drain()
    return script


def after_hello(data):
    """Instead of a ServerHello."""
    return said(lambda server: server.raw(data))


def hello(**wrong):
    """A ServerHello that is wrong in one point, and a flight behind it where keys can be had."""
    return said(lambda s: s.hello(**wrong))


def flight(**parts):
    """A whole flight with some of its parts replaced: encrypted_extensions, certificate, verify,
    finished; None leaves one out."""
    def script(conn, _number):
        server = Server(conn).begin()
        for name in ("encrypted_extensions", "certificate", "verify", "finished"):
            step = parts.get(name, getattr(Server, name))
            if step is not None:
                step(server)
        server.application_keys()
        server.data(OK)
        server.drain()
    return script


def served(say):
    """say(server) behind a handshake that was right."""
    def script(conn, _number):
        server = Server(conn).complete()
        server.read_record()  # Finished, or the CCS before it
        say(server)
        server.drain()
    return script


def endless(make):
    def say(server):
        while True:
            server.raw(make(server))
    return say


def slowly(data, pause_s=0.05):
    """Byte by byte, each in a record of its own."""
    def say(server):
        for byte in data:
            server.data(bytes([byte]))
            time.sleep(pause_s)
    return say


def twice(once):
    return once + once


def retry_twice(server):
    server.retry(tls13.P256)
    server.read_hello().retry(tls13.P256)


def split_over_keys(server):
    """EncryptedExtensions begin in clear, in the record of ServerHello."""
    server.hello()
    server.raw(record(tls13.HANDSHAKE, message(tls13.EXTENSIONS, vector(2, b""))))


def unfinished_fragment_before_keys(server):
    server.raw(record(tls13.HANDSHAKE, message(tls13.HELLO, bytes(200))[:50]))
    server.raw(record(tls13.CCS, b"\1"))


def interleaved(server):
    """Other data between the two halves of a message."""
    whole = message(tls13.EXTENSIONS, vector(2, b""))
    server.raw(server.protect(tls13.HANDSHAKE, whole[:3]))
    server.raw(server.protect(tls13.ALERT, bytes([1, 90])))
    server.raw(server.protect(tls13.HANDSHAKE, whole[3:]))


def wrong_tag(server):
    data = bytearray(server.protect(tls13.HANDSHAKE, message(tls13.EXTENSIONS, vector(2, b""))))
    data[-1] ^= 1
    server.raw(bytes(data))


def entry(certificate, extensions=b""):
    return vector(3, certificate) + vector(2, extensions)


NO_SHARE = extension(43, b"\x03\x04")
GOOD = NO_SHARE + extension(51, struct.pack(">HH", tls13.X25519, 32) + tls13.x25519(os.urandom(32)))
A_KEY = extension(51, struct.pack(">HH", tls13.X25519, 32) + tls13.x25519(os.urandom(32)))
DOWNGRADE = os.urandom(24) + b"DOWNGRD\x01"

RECORDS = {
    "oversized record": after_hello(b"\x16\x03\x03\xff\xff" + bytes(65535)),
    "record over the limit by one": after_hello(record(22, message(2, bytes(16381)))),
    "record that never ends": after_hello(b"\x16\x03\x03\x40\x00" + bytes(100)),
    "empty handshake record": after_hello(record(22, b"")),
    "empty alert record": after_hello(record(21, b"")),
    "unknown record type": after_hello(record(99, b"xx")),
    "application data before any key": after_hello(record(23, bytes(40))),
    "heartbeat record": after_hello(record(24, b"\1\x40\x00")),
    "record of SSL 2": after_hello(b"\x80\x2e\x01\x00\x02" + bytes(44)),
    "record version 0.0": after_hello(record(22, message(2, bytes(70)), version=0)),
    "two fatal alerts in one record": after_hello(record(21, b"\2\x28\2\x28")),
    "alert of unknown level": after_hello(alert(7, 40)),
    "truncated alert": after_hello(record(21, b"\2")),
    "CCS that says 2": after_hello(record(20, b"\2")),
    "CCS in the middle of a message": said(unfinished_fragment_before_keys),
    "wrong tag": said(lambda s: (s.hello(), s.handshake_keys(), wrong_tag(s))),
    "inner plaintext of zeros alone": said(lambda s: (
        s.hello(), s.handshake_keys(), s.raw(s.protect(0, b"", padding=40)))),
    "unprotected message behind the keys": said(split_over_keys),
    "message interleaved with an alert": said(lambda s: (
        s.hello(), s.handshake_keys(), interleaved(s))),
    "protected CCS": said(lambda s: (s.hello(), s.handshake_keys(),
                                     s.raw(s.protect(tls13.CCS, b"\1")))),
    "protected record over the limit": said(lambda s: (
        s.hello(), s.handshake_keys(), s.raw(b"\x17\x03\x03\x42\x00" + bytes(0x4200)))),
}

HELLOS = {
    "ServerHello of one byte": after_hello(record(22, message(2, b"\3"))),
    "ServerHello cut off": after_hello(record(22, message(2, b"\3\3" + bytes(20)))),
    "bytes behind ServerHello": said(lambda s: s.send(2, b"\3\3" + bytes(32) + vector(
        1, s.session) + b"\x13\x03\0" + vector(2, GOOD) + b"more")),
    "a second ServerHello": said(lambda s: (s.hello(), s.hello())),
    "ClientHello for an answer": said(lambda s: s.raw(record(22, s.transcript))),
    "legacy version 0x0304": hello(version=0x0304),
    "supported version 0x0305": hello(extensions=extension(43, b"\3\5") + A_KEY),
    "supported version SSL 3": hello(extensions=extension(43, b"\3\0") + A_KEY),
    "no supported version": hello(extensions=A_KEY),
    "downgrade to 1.2 with its mark": hello(extensions=b"", random=DOWNGRADE, suite=0xcca9),
    "session id of another": hello(session=bytes(32)),
    "session id too long": said(lambda s: s.hello(session=bytes(33))),
    "compression": hello(compression=1),
    "suite that was not offered": hello(suite=0x1304),
    "suite of TLS 1.2": hello(suite=0xc02f),
    "unknown suite": hello(suite=0xeaea),
    "no key share": hello(extensions=NO_SHARE),
    "key share of 31 bytes": hello(share=bytes(31)),
    "key share of 33 bytes": hello(share=bytes(33)),
    "empty key share": hello(share=b""),
    "key share of zeros": hello(share=bytes(32)),
    "key share of another group": hello(group=tls13.P256, share=b"\4" + bytes(64)),
    "key share of an unknown group": hello(group=0xeaea),
    "two key shares": hello(more=A_KEY),
    "supported versions twice": hello(more=NO_SHARE),
    "unknown extension": hello(more=extension(0xeaea, b"x")),
    "server name in ServerHello": hello(more=extension(0, b"")),
    "ALPN in ServerHello": hello(more=extension(16, b"\0\3\2h2")),
    "pre-shared key that was not offered": hello(more=extension(41, b"\0\0")),
    "extension that is cut off": hello(extensions=GOOD + b"\0\x10\xff\xff"),
    "65 kB of extensions": hello(more=extension(0xeaeb, bytes(16000)) * 4),
    "retry for the share that was sent": said(lambda s: s.retry(tls13.X25519)),
    "retry for a group not offered": said(lambda s: s.retry(24)),
    "retry with no change": said(lambda s: s.hello(random=tls13.RETRY, extensions=NO_SHARE)),
    "retry twice": said(retry_twice),
    "retry with a cookie twice": said(lambda s: s.retry(tls13.P256, more=twice(
        extension(44, vector(2, b"c"))))),
    "retry with an empty cookie": said(lambda s: s.retry(tls13.P256, more=extension(
        44, vector(2, b"")))),
    "hello of 16 MB announced": after_hello(record(22, b"\2\xff\xff\xff" + bytes(1000))),
    "HelloRequest of TLS 1.2": after_hello(record(22, message(0, b""))),
}

FLIGHTS = {
    "extensions cut off": flight(encrypted_extensions=lambda s: s.send(8, b"\0\5\0")),
    "no length of extensions": flight(encrypted_extensions=lambda s: s.send(8, b"")),
    "unknown encrypted extension": flight(
        encrypted_extensions=lambda s: s.encrypted_extensions(extension(0xeaea, b""))),
    "encrypted extension twice": flight(encrypted_extensions=lambda s: s.encrypted_extensions(
        twice(extension(10, b"\0\2\0\x1d")))),
    "key share among encrypted extensions": flight(
        encrypted_extensions=lambda s: s.encrypted_extensions(A_KEY)),
    "early data that was not offered": flight(
        encrypted_extensions=lambda s: s.encrypted_extensions(extension(42, b""))),
    "ALPN that was not offered": flight(
        encrypted_extensions=lambda s: s.encrypted_extensions(extension(16, b"\0\3\2h2"))),
    "no encrypted extensions": flight(encrypted_extensions=None),
    "encrypted extensions twice": flight(
        encrypted_extensions=lambda s: (s.encrypted_extensions(), s.encrypted_extensions())),
    "no certificate message": flight(certificate=None),
    "empty certificate list": flight(certificate=lambda s: s.certificate(b"")),
    "empty certificate": flight(certificate=lambda s: s.certificate(entry(b""))),
    "certificate that is none": flight(certificate=lambda s: s.certificate(entry(b"x" * 300))),
    "certificate cut off": flight(
        certificate=lambda s: s.certificate(entry(s.own_certificate[:-9]))),
    "certificate with bytes behind": flight(
        certificate=lambda s: s.certificate(entry(s.own_certificate + b"more"))),
    "certificate context": flight(certificate=lambda s: s.certificate(context=b"c")),
    "certificate list longer than its message": flight(
        certificate=lambda s: s.send(11, b"\0\xff\xff\xff")),
    "certificate entry with an unknown extension": flight(
        certificate=lambda s: s.certificate(entry(s.own_certificate, extension(0xeaea, b"")))),
    "certificate of 200 kB": flight(
        certificate=lambda s: s.certificate(entry(tls13.certificate(s.d, 200000)))),
    "certificate of 16 MB announced": flight(certificate=lambda s: s.raw(
        s.protect(22, b"\x0b\xff\xff\xff" + bytes(1000)))),
    "1000 certificates": flight(
        certificate=lambda s: s.certificate(entry(s.own_certificate) * 1000)),
    "no CertificateVerify": flight(verify=None),
    "CertificateVerify over something else": flight(verify=lambda s: s.verify(spoil=b"x")),
    "empty signature": flight(verify=lambda s: s.verify(signature=b"")),
    "signature that is none": flight(verify=lambda s: s.verify(signature=b"x" * 70)),
    "scheme that was not offered": flight(verify=lambda s: s.verify(scheme=0xeaea)),
    "scheme of another key": flight(verify=lambda s: s.verify(scheme=0x0804)),
    "scheme of SHA-1": flight(verify=lambda s: s.verify(scheme=0x0203)),
    "CertificateVerify twice": flight(verify=lambda s: (s.verify(), s.verify())),
    "Finished of zeros": flight(finished=lambda s: s.finished(bytes(32))),
    "short Finished": flight(finished=lambda s: s.finished(bytes(12))),
    "empty Finished": flight(finished=lambda s: s.finished(b"")),
    "long Finished": flight(finished=lambda s: s.finished(bytes(64))),
    "no Finished": flight(finished=None),
    "data before Finished": flight(finished=lambda s: s.data(OK)),
    "KeyUpdate before Finished": flight(finished=lambda s: s.key_update()),
    "ticket before Finished": flight(finished=lambda s: s.ticket()),
    "end of early data": flight(finished=lambda s: s.send(5, b"")),
    "close_notify before Finished": flight(
        finished=lambda s: s.raw(s.protect(tls13.ALERT, b"\1\0"))),
}

AFTERWARDS = {
    "KeyUpdate of 2": served(lambda s: s.key_update(2)),
    "empty KeyUpdate": served(lambda s: s.raw(s.protect(22, message(24, b"")))),
    "KeyUpdate with data in its record": served(
        lambda s: s.raw(s.protect(22, message(24, b"\0") + message(24, b"\0")))),
    "ticket cut off": served(lambda s: s.raw(s.protect(22, message(4, bytes(7))))),
    "ticket with an empty identity": served(lambda s: s.ticket(identity=b"")),
    "ServerHello again": served(lambda s: s.raw(s.protect(22, message(2, bytes(70))))),
    "Finished again": served(lambda s: s.raw(s.protect(22, message(20, bytes(32))))),
    "request for a certificate": served(lambda s: s.raw(s.protect(22, message(13, bytes(20))))),
    "HelloRequest: renegotiation": served(lambda s: s.raw(s.protect(22, message(0, b"")))),
    "unknown message": served(lambda s: s.raw(s.protect(22, message(99, b"x")))),
    "CCS behind the handshake": served(lambda s: s.raw(record(tls13.CCS, b"\1"))),
    "unprotected data": served(lambda s: s.raw(record(23, OK))),
    "unprotected alert": served(lambda s: s.raw(alert(2, 40))),
    "half a message and then data": served(lambda s: (
        s.raw(s.protect(22, message(4, bytes(50))[:9])), s.data(OK))),
}

KEPT = bytes(16000)
FLOODS = {
    "warnings before ServerHello": after_hello(alert(1, 90) * 20000),
    "warnings without end": said(endless(lambda s: alert(1, 90) * 2000)),
    "CCS without end": said(endless(lambda s: record(20, b"\1") * 2000)),
    "empty handshake records without end": said(endless(lambda s: record(22, b"") * 2000)),
    "ServerHello without end": said(lambda s: (s.raw(record(22, b"\2\xff\xff\xff" + KEPT)),
                                               endless(lambda s: record(22, KEPT))(s))),
    "certificate without end": said(lambda s: (
        s.hello(), s.handshake_keys(), s.encrypted_extensions(),
        s.raw(s.protect(22, b"\x0b\xff\xff\xff")), endless(
            lambda s: s.protect(22, KEPT[:1000]))(s))),
    "extensions without end": said(lambda s: (
        s.hello(), s.handshake_keys(), s.raw(s.protect(22, b"\x08\xff\xff\xff")), endless(
            lambda s: s.protect(22, KEPT[:1000]))(s))),
    "KeyUpdates without end": served(lambda s: endless(lambda s: (s.key_update(), b"")[1])(s)),
    "KeyUpdates that ask for one, without end": served(
        lambda s: endless(lambda s: (s.key_update(1), b"")[1])(s)),
    "tickets without end": served(lambda s: endless(lambda s: (s.ticket(os.urandom(900)), b"")[1])(s)),
    "empty data records without end": served(endless(lambda s: s.protect(23, b""))),
    "headers without end": served(lambda s: (s.data(b"HTTP/1.1 200 OK\r\n"), endless(
        lambda s: s.protect(23, b"X-More: more\r\n" * 70))(s))),
    "a header without end": served(lambda s: (s.data(b"HTTP/1.1 200 OK\r\nX: "), endless(
        lambda s: s.protect(23, b"x" * 1000))(s))),
    "a status line without end": served(endless(lambda s: s.protect(23, b"H" * 1000))),
    "interim answers without end": served(endless(
        lambda s: s.protect(23, b"HTTP/1.1 100 Continue\r\n\r\n" * 40))),
    "a terabyte announced": served(lambda s: (
        s.data(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000000\r\n\r\n"),
        endless(lambda s: s.protect(23, b"x" * 1000))(s))),
    "a body without end": served(lambda s: (s.data(b"HTTP/1.0 200 OK\r\n\r\n"), endless(
        lambda s: s.protect(23, b"x" * 1000))(s))),
    "chunks without end": served(lambda s: (
        s.data(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
        endless(lambda s: s.protect(23, b"1\r\nx\r\n" * 150))(s))),
    "trailers without end": served(lambda s: (
        s.data(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"),
        endless(lambda s: s.protect(23, b"X: y\r\n" * 150))(s))),
    "a head byte by byte": served(slowly(b"HTTP/1.1 200 OK\r\n" * 10)),
    "a body byte by byte": served(lambda s: (
        s.data(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n"), slowly(bytes(100))(s))),
}

ANSWERS = {
    "two lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nOK\n",
    "length and chunks": b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n"
                         b"\r\n3\r\nOK\n\r\n0\r\n\r\n",
    "negative length": b"HTTP/1.1 200 OK\r\nContent-Length: -3\r\n\r\nOK\n",
    "length beyond 64 bits": b"HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551617\r\n\r\nOK\n",
    "chunk beyond 64 bits": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                            b"fffffffffffffffff\r\n",
    "bare line feeds": b"HTTP/1.1 200 OK\nContent-Length: 3\n\nOK\n",
    "a NUL in a header": b"HTTP/1.1 200 OK\r\nX: \0\r\nContent-Length: 3\r\n\r\nOK\n",
    "a blank before the colon": b"HTTP/1.1 200 OK\r\nContent-Length : 3\r\n\r\nOK\n",
    "a folded header": b"HTTP/1.1 200 OK\r\nX: y\r\n z\r\nContent-Length: 3\r\n\r\nOK\n",
    "HTTP/2": b"\0\0\0\4\0\0\0\0\0",
    "switching protocols": b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
    "status 99": b"HTTP/1.1 099 Low\r\n\r\n",
}
