# SPDX-License-Identifier: Apache-2.0
"""Clients that are wrong behind their ClientHello: does `serve` end them, in bounded memory, and
are others served beside them?"""
import concurrent.futures
import contextlib
import os
import random

import pytest

from conftest import listed
import tls13
from test_hostile_clients import behave, connect, end, memory_kb, serving
from scripted import alert
from tls13 import Client, message, record, vector

BACKENDS = [name for name in ("openssl", "aws-lc")
            if name in {b["name"] for b in listed()["backends"]}]
CIPHER = "TLS_CHACHA20_POLY1305_SHA256"
GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"

pytestmark = pytest.mark.skipif("openssl" not in BACKENDS, reason="no OpenSSL is installed")


def for_ever(make):
    def say(client):
        while True:
            client.raw(make(client))
    return say


def asks_for_key_updates(client):
    client.key_update(1)
    return b""


def updates_keys(client):
    client.key_update(0)
    return b""


def spoiled(client):
    data = bytearray(client.protect(22, message(20, bytes(32))))
    data[-1] ^= 1
    client.raw(bytes(data))


# In place of the client's second flight.
INSTEAD = {
    "Finished of zeros": lambda c: c.finished(bytes(32)),
    "short Finished": lambda c: c.finished(bytes(5)),
    "Finished with a wrong tag": spoiled,
    "data before Finished": lambda c: c.data(GET),
    "KeyUpdate before Finished": lambda c: c.key_update(),
    "certificate that nobody asked for": lambda c: c.send(11, b"\0" + vector(3, b"")),
    "ServerHello": lambda c: c.send(2, bytes(70)),
    "a second ClientHello": lambda c: c.send(1, bytes(70)),
    "end of early data": lambda c: c.send(5, b""),
    "unprotected Finished": lambda c: c.raw(record(22, message(20, bytes(32)))),
    "record over the limit": lambda c: c.raw(b"\x17\3\3\xff\xff" + bytes(70000)),
    "message of 16 MB": lambda c: (c.raw(c.protect(22, b"\x14\xff\xff\xff")),
                                   for_ever(lambda c: c.protect(22, bytes(1000)))(c)),
    "empty records without end": for_ever(lambda c: c.protect(22, b"")),
    "CCS without end": for_ever(lambda c: record(20, b"\1") * 1000),
    "warnings without end": for_ever(lambda c: c.protect(21, b"\1\x5a")),
    "nothing": lambda c: None,
    "a byte": lambda c: c.raw(b"\x17"),
}
# Behind a handshake that was right.
BEHIND = {
    "Finished again": lambda c: c.finished(bytes(32)),
    "KeyUpdate of 2": lambda c: c.key_update(2),
    "KeyUpdates without end": for_ever(updates_keys),
    "KeyUpdates whose answers are not read": for_ever(asks_for_key_updates),
    "empty data without end": for_ever(lambda c: c.protect(23, b"")),
    "ticket": lambda c: c.raw(c.protect(22, message(4, bytes(60)))),
    "ClientHello: renegotiation": lambda c: c.raw(c.protect(22, message(1, bytes(60)))),
    "unprotected data": lambda c: c.raw(record(23, GET)),
    "unprotected alert": lambda c: c.raw(alert(2, 40)),
    "half a message, then data": lambda c: (c.raw(c.protect(22, message(24, b"\0")[:3])),
                                            c.data(GET)),
    "bytes that are no TLS": lambda c: c.raw(os.urandom(3000)),
    "a head without end": for_ever(lambda c: c.protect(23, b"G" * 1000)),
}


def says(port, begin, say):
    """True once the server has ended the connection."""
    with connect(port) as conn, contextlib.suppress(ConnectionError):
        conn.settimeout(15)
        client = begin(Client(conn))
        say(client)
        client.drain()
    return True


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_client_that_is_wrong_behind_its_hello_is_ended(backend, tmp_path):
    attacks = [(name, Client.begin, say) for name, say in INSTEAD.items()]
    attacks += [(name, Client.complete, say) for name, say in BEHIND.items()]
    random.Random(5).shuffle(attacks)

    def one(attack):
        name, begin, say = attack
        try:
            says(port, begin, say)
        except TimeoutError:
            return f"{name}: the server goes on with it"
        return None

    with serving(tmp_path, "--backend", backend, "--cipher", f"{CIPHER}:TLS_AES_256_GCM_SHA384",
                 "--timeout", "1s") as (process, port, _):
        behave(port, f"{backend}, no attack", seconds=1)
        before = memory_kb(process)
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            found = pool.map(one, attacks)
            behave(port, f"wrong behind the hello, {backend}", seconds=3)
            wrong = [why for why in found if why]
        assert not wrong, "\n".join(wrong)
        assert memory_kb(process) - before < 16384
        counts, _ = end(process)
    # Those who were right until then, and the others' 400.
    assert counts["handshakes"] == 400 + len(BEHIND)
    assert counts["failed"] >= len(INSTEAD) - 2, "all but those that the time ended"


def test_a_client_that_is_right_is_served(tmp_path):
    with serving(tmp_path, "--cipher", CIPHER) as (process, port, _), connect(port) as conn:
        client = Client(conn).complete()
        client.key_update(1)
        client.data(b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n")
        client.drain()
        counts, _ = end(process)
    assert (counts["handshakes"], counts["requests"], tls13.SUITE) == (1, 1, 0x1303)
