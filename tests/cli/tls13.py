# SPDX-License-Identifier: Apache-2.0
"""TLS 1.3 in plain Python, both sides, that can say every sentence wrong (RFC 8446).

X25519, TLS_CHACHA20_POLY1305_SHA256 and ECDSA P-256 alone; secrets and clocks of a test. A script
calls the steps one by one and changes what a step would send.
"""
import hashlib
import hmac
import os
import struct

import scripted

HELLO, TICKET, EXTENSIONS, CERTIFICATE, VERIFY, FINISHED, KEY_UPDATE = 2, 4, 8, 11, 15, 20, 24
CCS, ALERT, HANDSHAKE, DATA = 20, 21, 22, 23
SUITE = 0x1303
RETRY = bytes.fromhex("cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c")
X25519, P256 = 29, 23

# ---- arithmetic ----

P25519 = 2 ** 255 - 19
P = 2 ** 256 - 2 ** 224 + 2 ** 192 + 2 ** 96 - 1
N = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551
G = (0x6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296,
     0x4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5)


def x25519(scalar, point=(9).to_bytes(32, "little")):
    k = int.from_bytes(scalar, "little") & ~7 & ~(1 << 255) | 1 << 254
    x1 = int.from_bytes(point, "little") & (1 << 255) - 1
    x2, z2, x3, z3, swap = 1, 0, x1, 1, 0
    for t in reversed(range(255)):
        bit = k >> t & 1
        if swap ^ bit:
            x2, x3, z2, z3 = x3, x2, z3, z2
        swap = bit
        a, b, c, d = x2 + z2, x2 - z2, x3 + z3, x3 - z3
        aa, bb, da, cb = a * a, b * b, d * a, c * b
        e = aa - bb
        x3, z3 = (da + cb) ** 2 % P25519, x1 * (da - cb) ** 2 % P25519
        x2, z2 = aa * bb % P25519, e * (aa + 121665 * e) % P25519
    if swap:
        x2, z2 = x3, z3
    return (x2 * pow(z2, P25519 - 2, P25519) % P25519).to_bytes(32, "little")


def point_add(p, q):
    if p is None or q is None:
        return p or q
    if p[0] == q[0]:
        if (p[1] + q[1]) % P == 0:
            return None
        slope = (3 * p[0] * p[0] - 3) * pow(2 * p[1], -1, P)
    else:
        slope = (q[1] - p[1]) * pow(q[0] - p[0], -1, P)
    x = (slope * slope - p[0] - q[0]) % P
    return x, (slope * (p[0] - x) - p[1]) % P


def multiply(k, point=G):
    sum_ = None
    while k:
        if k & 1:
            sum_ = point_add(sum_, point)
        point, k = point_add(point, point), k >> 1
    return sum_


def ecdsa_sign(d, message):
    """DER, SHA-256."""
    z = int.from_bytes(hashlib.sha256(message).digest(), "big")
    k = int.from_bytes(os.urandom(32), "big") % (N - 1) + 1
    r = multiply(k)[0] % N
    return der(0x30, der_number(r) + der_number(pow(k, -1, N) * (z + r * d) % N))


def chacha20_block(key, counter, nonce):
    state = list(struct.unpack("<16I", b"expand 32-byte k" + key + struct.pack("<I", counter)
                               + nonce))
    work = state[:]

    def quarter(a, b, c, d):
        for x, y, z, bits in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
            work[x] = work[x] + work[y] & 0xffffffff
            v = work[z] ^ work[x]
            work[z] = (v << bits | v >> 32 - bits) & 0xffffffff

    for _ in range(10):
        quarter(0, 4, 8, 12), quarter(1, 5, 9, 13), quarter(2, 6, 10, 14), quarter(3, 7, 11, 15)
        quarter(0, 5, 10, 15), quarter(1, 6, 11, 12), quarter(2, 7, 8, 13), quarter(3, 4, 9, 14)
    return struct.pack("<16I", *(a + b & 0xffffffff for a, b in zip(state, work)))


def seal(key, nonce, plain, aad):
    """AEAD_CHACHA20_POLY1305 (RFC 8439)."""
    stream = b"".join(chacha20_block(key, 1 + i, nonce) for i in range((len(plain) + 63) // 64))
    cipher = bytes(a ^ b for a, b in zip(plain, stream))
    one = chacha20_block(key, 0, nonce)
    r = int.from_bytes(one[:16], "little") & 0x0ffffffc0ffffffc0ffffffc0fffffff
    s = int.from_bytes(one[16:32], "little")

    def padded(data):
        return data + bytes(-len(data) % 16)

    total = 0
    data = padded(aad) + padded(cipher) + struct.pack("<QQ", len(aad), len(cipher))
    for at in range(0, len(data), 16):
        total = (total + int.from_bytes(data[at:at + 16] + b"\1", "little")) * r % (2 ** 130 - 5)
    return cipher + (total + s).to_bytes(17, "little")[:16]


# ---- a certificate ----

def der(tag, content):
    n = len(content)
    length = bytes([n]) if n < 128 else bytes([128 + (n.bit_length() + 7) // 8]) + \
        n.to_bytes((n.bit_length() + 7) // 8, "big")
    return bytes([tag]) + length + content


def der_number(n):
    return der(2, n.to_bytes(n.bit_length() // 8 + 1, "big"))


SHA256_ECDSA = der(0x30, bytes.fromhex("06082a8648ce3d040302"))


def certificate(d, padding=0):
    """Self-signed for localhost; `padding` bytes of an extension that nobody knows."""
    x, y = multiply(d)
    name = der(0x30, der(0x31, der(0x30, bytes.fromhex("0603550403") + der(12, b"localhost"))))
    key = der(0x30, der(0x30, bytes.fromhex("06072a8648ce3d020106082a8648ce3d030107"))
              + der(3, b"\0\4" + x.to_bytes(32, "big") + y.to_bytes(32, "big")))
    valid = der(0x30, der(0x17, b"200101000000Z") + der(0x17, b"491231000000Z"))
    more = der(0x30, bytes.fromhex("06032a0304") + der(4, bytes(padding)))
    body = der(0x30, der(0xa0, der_number(2)) + der_number(1) + SHA256_ECDSA + name + valid + name
               + key + der(0xa3, der(0x30, more)))
    return der(0x30, body + SHA256_ECDSA + der(3, b"\0" + ecdsa_sign(d, body)))


# ---- messages ----

def vector(size, data):
    return len(data).to_bytes(size, "big") + data


def message(kind, body):
    return bytes([kind]) + vector(3, body)


def record(kind, data, version=0x0303):
    return bytes([kind]) + version.to_bytes(2, "big") + vector(2, data)


def extension(kind, data):
    return kind.to_bytes(2, "big") + vector(2, data)


def hmac256(key, data):
    return hmac.new(key, data, hashlib.sha256).digest()


def expand(secret, label, context, n):
    info = n.to_bytes(2, "big") + vector(1, b"tls13 " + label) + vector(1, context) + b"\1"
    return hmac256(secret, info)[:n]


def read_exactly(conn, count):
    data = scripted.read_exactly(conn, count)
    if len(data) < count:
        raise ConnectionError("the client has gone")
    return data


class Peer:
    """Records and secrets, whichever side it is."""

    def __init__(self, conn):
        self.conn, self.transcript = conn, b""
        self.key = self.iv = None
        self.sequence = 0
        self.private = os.urandom(32)

    def read_record(self):
        head = read_exactly(self.conn, 5)
        return head[0], read_exactly(self.conn, int.from_bytes(head[3:], "big"))

    def raw(self, data):
        self.conn.sendall(data)

    def protect(self, kind, data, padding=0):
        """A protected record with the current keys."""
        inner = data + bytes([kind]) + bytes(padding)
        head = b"\x17\x03\x03" + (len(inner) + 16).to_bytes(2, "big")
        nonce = (int.from_bytes(self.iv, "big") ^ self.sequence).to_bytes(12, "big")
        self.sequence += 1
        return head + seal(self.key, nonce, inner, head)

    def send(self, kind, body, piece=16000):
        """A handshake message, protected once there are keys, in the transcript."""
        data = message(kind, body)
        self.transcript += data
        pack = self.protect if self.key else record
        for at in range(0, len(data), piece):
            self.raw(pack(HANDSHAKE, data[at:at + piece]))

    def digest(self):
        return hashlib.sha256(self.transcript).digest()

    def use(self, secret):
        self.secret, self.sequence = secret, 0
        self.key, self.iv = expand(secret, b"key", b"", 32), expand(secret, b"iv", b"", 12)

    def key_update(self, request=0):
        self.raw(self.protect(HANDSHAKE, message(KEY_UPDATE, bytes([request]))))
        self.use(expand(self.secret, b"traffic upd", b"", 32))

    def data(self, data):
        self.raw(self.protect(DATA, data))

    def finished(self, data=None):
        key = expand(self.secret, b"finished", b"", 32)
        self.send(FINISHED, hmac256(key, self.digest()) if data is None else data)

    def drain(self):
        """What the other has sent, unread; until it goes."""
        while self.conn.recv(65536):
            pass


def handshake_secret(shared):
    early = hmac256(bytes(32), bytes(32))
    return hmac256(expand(early, b"derived", hashlib.sha256(b"").digest(), 32), shared)


def master_secret(handshake):
    return hmac256(expand(handshake, b"derived", hashlib.sha256(b"").digest(), 32), bytes(32))


class Server(Peer):
    """One connection: begin, then the flight's parts in order, then anything."""

    d = 0x1234567890abcdef1234567890abcdef1234567890abcdef1234567890abcdef
    own_certificate = certificate(d)

    def read_hello(self):
        """ClientHello into session, extensions, share."""
        kind, data = self.read_record()
        while kind == CCS:
            kind, data = self.read_record()
        self.transcript += data
        at = 4 + 2 + 32
        self.session = data[at + 1:at + 1 + data[at]]
        at += 1 + data[at]
        at += 2 + int.from_bytes(data[at:at + 2], "big")
        at += 1 + data[at] + 2
        self.extensions = {}
        while at < len(data):
            kind, length = struct.unpack(">HH", data[at:at + 4])
            self.extensions[kind] = data[at + 4:at + 4 + length]
            at += 4 + length
        shares = self.extensions[51][2:]
        self.shares = {}
        while shares:
            group, length = struct.unpack(">HH", shares[:4])
            self.shares[group] = shares[4:4 + length]
            shares = shares[4 + length:]
        return self

    # the flight

    def hello(self, suite=SUITE, session=None, version=0x0303, group=X25519, share=None,
              random=None, compression=0, extensions=None, more=b"", kind=HELLO):
        share = x25519(self.private) if share is None else share
        if extensions is None:
            extensions = extension(43, b"\x03\x04") + extension(
                51, group.to_bytes(2, "big") + vector(2, share))
        self.send(kind, version.to_bytes(2, "big") + (random or os.urandom(32)) + vector(
            1, self.session if session is None else session) + suite.to_bytes(2, "big") + bytes(
                [compression]) + vector(2, extensions + more))

    def retry(self, group, more=b""):
        """HelloRetryRequest, and the hash that stands for the first ClientHello."""
        self.transcript = message(254, hashlib.sha256(self.transcript).digest())
        self.hello(random=RETRY, more=more, extensions=extension(43, b"\x03\x04") + extension(
            51, group.to_bytes(2, "big")))

    def handshake_keys(self):
        self.hs = handshake_secret(x25519(self.private, self.shares[X25519]))
        self.use(expand(self.hs, b"s hs traffic", self.digest(), 32))

    def encrypted_extensions(self, extensions=b""):
        self.send(EXTENSIONS, vector(2, extensions))

    def certificate(self, entries=None, context=b""):
        if entries is None:
            entries = vector(3, self.own_certificate) + vector(2, b"")
        self.send(CERTIFICATE, vector(1, context) + vector(3, entries))

    def verify(self, scheme=0x0403, signature=None, spoil=b""):
        content = b" " * 64 + b"TLS 1.3, server CertificateVerify\0" + self.digest() + spoil
        self.send(VERIFY, scheme.to_bytes(2, "big") + vector(
            2, ecdsa_sign(self.d, content) if signature is None else signature))

    def application_keys(self):
        self.use(expand(master_secret(self.hs), b"s ap traffic", self.digest(), 32))

    def begin(self):
        """To the end of ServerHello."""
        self.read_hello().hello()
        self.handshake_keys()
        return self

    def complete(self):
        """The whole flight, and what the client answers it with."""
        self.begin()
        self.encrypted_extensions()
        self.certificate()
        self.verify()
        self.finished()
        self.application_keys()
        return self

    def ticket(self, identity=b"t" * 32, lifetime=7200, nonce=b"\0"):
        self.raw(self.protect(HANDSHAKE, message(TICKET, struct.pack(">II", lifetime, 1) + vector(
            1, nonce) + vector(2, identity) + vector(2, b""))))


class Client(Peer):
    """begin reads the server's whole flight; then Finished or something else."""

    def begin(self):
        extensions = extension(43, b"\2\3\4") + extension(10, b"\0\2\0\x1d") + extension(
            13, b"\0\4\4\3\x08\4") + extension(51, vector(2, struct.pack(
                ">HH", X25519, 32) + x25519(self.private)))
        self.send(1, b"\3\3" + os.urandom(32) + vector(1, os.urandom(32)) + vector(
            2, SUITE.to_bytes(2, "big")) + b"\1\0" + vector(2, extensions))
        _, hello = self.read_record()
        self.transcript += hello
        share = hello.rindex(struct.pack(">HH", X25519, 32)) + 4
        hs = handshake_secret(x25519(self.private, hello[share:share + 32]))
        self.use(expand(hs, b"s hs traffic", self.digest(), 32))
        before = self.digest()
        self.read_flight()
        self.application_secret = expand(master_secret(hs), b"c ap traffic", self.digest(), 32)
        self.use(expand(hs, b"c hs traffic", before, 32))
        return self

    def read_flight(self):
        """To the end of Finished, with the server's keys; tags are not looked at."""
        flight, sequence = b"", 0
        while self.finished_at(flight) is None:
            kind, data = self.read_record()
            if kind == CCS:
                continue
            nonce = (int.from_bytes(self.iv, "big") ^ sequence).to_bytes(12, "big")
            sequence += 1
            stream = b"".join(chacha20_block(self.key, 1 + i, nonce)
                              for i in range((len(data) + 63) // 64))
            flight += bytes(a ^ b for a, b in zip(data[:-16], stream)).rstrip(b"\0")[:-1]
        self.transcript += flight

    @staticmethod
    def finished_at(flight):
        at = 0
        while at + 4 <= len(flight):
            length = int.from_bytes(flight[at + 1:at + 4], "big")
            if flight[at] == FINISHED and at + 4 + length <= len(flight):
                return at
            at += 4 + length
        return None

    def complete(self):
        self.begin().finished()
        self.use(self.application_secret)
        return self
