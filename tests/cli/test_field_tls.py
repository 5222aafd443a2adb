# SPDX-License-Identifier: Apache-2.0
"""What servers really did in the field, said by one of our own over the wire (see tls13.py): is
what is legal one success with all its bytes, and what is not one failure with its own cause?"""
import re
import socket
import threading

import pytest

from conftest import listed, run, strict_json
import hostile
import scripted
import tls13
from scripted import alert
from tls13 import Server

BACKENDS = [name for name in ("openssl", "aws-lc")
            if name in {b["name"] for b in listed()["backends"]}]
ARM = "groups=*X25519:secp256r1 verify=off cipher=TLS_CHACHA20_POLY1305_SHA256"
EACH = 2  # connections of each library
CLOSE_NOTIFY = b"\1\0"
UNEXPECTED_MESSAGE, ILLEGAL_PARAMETER = 10, 47

pytestmark = pytest.mark.skipif(not BACKENDS, reason="no TLS library is installed")


def meet(script, timeout_s=60):
    """Each library meets it, one connection after the other: {library: arm of the result}.

    The timeout is far beyond what a success takes; a wait that should not be shows as timed out.
    """
    with scripted.server(script) as port:
        words = ["load", "--target", f"127.0.0.1:{port}", "--rate", 10 * len(BACKENDS),
                 "--duration", f"{EACH * 100}ms", "--warmup", "0", "--trials", "1", "--timeout",
                 f"{timeout_s}s", "--grace", f"{timeout_s}s", "--no-calibrate", "--interleave",
                 "connection", "--json", "-"]
        for name in BACKENDS:
            words += ["--arm", f"{name}: {ARM} backend={name}"]
        done = run(*words, timeout=180)
    assert done.stdout, done.stderr
    arms = {arm["name"]: arm for arm in strict_json(done.stdout)["arms"]}
    for arm in arms.values():
        tally = arm["trials"][0]["tally"]
        assert tally["scheduled"] == EACH == sum(tally.values()) - tally["scheduled"], tally
    return arms


def completed(arms):
    return {name: arm["trials"][0]["tally"]["completed"] for name, arm in arms.items()}


def failures(arm):
    return {(f["phase"], f["cause"], f["code"]): f["count"]
            for f in arm["trials"][0].get("failures", [])}


ALL = {name: EACH for name in BACKENDS}


def ended(say, notify=True):
    """say(server) behind the handshake, then the end of the stream; stays for the client."""
    def script(server):
        say(server)
        if notify:
            server.raw(server.protect(tls13.ALERT, CLOSE_NOTIFY))
        server.conn.shutdown(socket.SHUT_WR)
    return hostile.served(script)


# ---- C8: retries without end ----

@pytest.mark.parametrize("say,code,hellos", [
    (hostile.retry_twice, UNEXPECTED_MESSAGE, 2),
    (lambda s: s.retry(tls13.X25519), ILLEGAL_PARAMETER, 1),
], ids=["two retries", "a retry for the share that was sent"])
def test_a_retry_too_many_is_one_failure_with_its_alert(say, code, hellos):
    """RFC 8446, 4.1.4: a second HelloRetryRequest is unexpected, one without change illegal."""
    heard = []

    def script(conn, _number):
        server = Server(conn)
        read, count = server.read_hello, [0]

        def counting():
            done = read()
            count[0] += 1
            return done
        server.read_hello = counting
        heard.append(count)
        server.read_hello()
        say(server)
        server.drain()

    arms = meet(script)
    for arm in arms.values():
        assert failures(arm) == {("tls", "refused", code): EACH}
    assert [count[0] for count in heard] == [hellos] * EACH * len(BACKENDS), "one try each"


# ---- E3: each cause apart ----

def test_a_warning_does_not_end_the_handshake():
    def script(conn, _number):
        server = Server(conn).read_hello()
        server.raw(alert(1, 112))
        server.hello()
        server.handshake_keys()
        server.encrypted_extensions()
        server.certificate()
        server.verify()
        server.finished()
        server.application_keys()
        server.data(hostile.OK)
        server.drain()

    assert completed(meet(script)) == ALL


@pytest.mark.parametrize("script,expected", [
    (hostile.after_hello(alert(2, 112)), ("tls", "alert", 112)),
    (hostile.after_hello(alert(1, 0)), ("tls", "closed", 0)),
], ids=["the same alert, fatal", "close_notify first"])
def test_what_ends_it_has_a_cause_of_its_own(script, expected):
    for arm in meet(script).values():
        assert failures(arm) == {expected: EACH}


# ---- E5, E6: the end of an answer ----

BODY = b"five\n"
WITH = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n" + BODY
WITHOUT = b"HTTP/1.1 200 OK\r\n\r\n" + BODY


@pytest.mark.parametrize("answer,notify,unclean", [
    (WITH, True, 0), (WITH, False, 0), (WITHOUT, True, 0), (WITHOUT, False, EACH),
], ids=["length, close_notify", "length, cut", "no length, close_notify", "no length, cut"])
def test_an_answer_without_length_ends_with_the_stream(answer, notify, unclean):
    arms = meet(ended(lambda s: s.data(answer), notify))
    assert completed(arms) == ALL
    for arm in arms.values():
        assert arm["trials"][0].get("unclean_closes", 0) == unclean


@pytest.mark.parametrize("notify", [True, False])
def test_a_body_that_is_too_short_is_truncated(notify):
    short = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n" + BODY
    for arm in meet(ended(lambda s: s.data(short), notify)).values():
        assert failures(arm) == {("response", "truncated", 0): EACH}
        assert not arm["trials"][0].get("latency_us")


@pytest.mark.parametrize("answer", [
    b"HTTP/1.1 204 No Content\r\n\r\n",
    b"HTTP/1.1 204 No Content\r\nConnection: keep-alive\r\n\r\n",
    b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\n" + BODY,
])
def test_what_is_complete_is_done_though_the_server_keeps_the_connection(answer):
    """The server never closes: whoever waits for that is timed out."""
    assert completed(meet(hostile.served(lambda s: s.data(answer)))) == ALL


def test_an_answer_of_http_10_ends_with_the_stream():
    assert completed(meet(ended(lambda s: s.data(b"HTTP/1.0 200 OK\r\n\r\n" + BODY)))) == ALL


# ---- E7, E8: what comes inside TLS ----

def answer_of(length):
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % length


def test_three_hundred_records_in_one_segment_are_all_read():
    """One send, and no event behind it: what TLS holds back would never come."""
    def say(server):
        records = [server.protect(tls13.DATA, answer_of(300 * 64))]
        records += [server.protect(tls13.DATA, bytes(64)) for _ in range(300)]
        server.raw(b"".join(records))

    assert completed(meet(hostile.served(say))) == ALL


@pytest.mark.parametrize("request_update", [0, 1])
def test_key_updates_among_the_data_lose_no_byte(request_update):
    """All keys but the first are those of an update; asked for one, the client sends its own."""
    def say(server):
        server.data(answer_of(40 * 1000))
        for _ in range(40):
            server.key_update(request_update)
            server.data(bytes(1000))

    assert completed(meet(hostile.served(say))) == ALL


# ---- E9: a certificate beyond the library's limit ----

def presenting(certificate):
    entry = tls13.vector(3, certificate) + tls13.vector(2, b"")
    return hostile.flight(certificate=lambda s: s.certificate(entry))


def test_a_certificate_over_the_limit_is_refused_and_the_limit_named():
    large = tls13.certificate(Server.d, 103310)
    for arm in meet(presenting(large)).values():
        assert failures(arm) == {("tls", "refused", ILLEGAL_PARAMETER): EACH}
        detail = arm["trials"][0]["failures"][0]["detail"]
        limit = int(re.search(r"at most (\d+) bytes", detail).group(1))
        assert 1000 < limit < len(large)
    below = tls13.certificate(Server.d, limit - 2000)
    assert completed(meet(presenting(below))) == ALL, "what is within it is taken"


# ---- E3: nothing spins ----

def test_a_client_that_waits_for_a_server_hello_does_not_spin():
    """Warnings are passed over, each costs an event and no more: CPU is told by the result."""
    may_end = threading.Event()

    def script(conn, _number):
        server = Server(conn).read_hello()
        server.raw(alert(1, 112))
        may_end.wait(20)

    try:
        arms = meet(script, timeout_s=2)
    finally:
        may_end.set()
    for arm in arms.values():
        assert failures(arm) == {("tls", "timeout", 0): EACH}
        assert arm["trials"][0]["client_busy"] < 0.5, arm["trials"][0]
