# SPDX-License-Identifier: Apache-2.0
"""Clients attack `serve` and its agent: is memory bounded, and is a client that behaves served
beside them? Its latency beside each attack is printed (pytest -s)."""
import contextlib
import os
import pathlib
import random
import re
import resource
import socket
import ssl
import subprocess
import threading
import time
import urllib.request

import pytest

from conftest import PROGRAM, environment, listed, strict_json
import scripted

HALF_OPEN = 10000
MEMORY_KB_EACH = {0: 4, 3: 64}  # of a connection that has sent so many bytes

pytestmark = pytest.mark.skipif(not any(b["name"] == "openssl" for b in listed()["backends"]),
                                reason="no OpenSSL backend is installed")


@contextlib.contextmanager
def serving(directory, *words, limit=None):
    """process, port, agent's port."""
    port_file = directory / "port"
    around = ["prlimit", f"--nofile={limit}"] if limit else []
    with subprocess.Popen([*around, PROGRAM, "serve", "--listen", "127.0.0.1:0", "--agent", ":0",
                           "--port-file", port_file, *map(str, words)], env=environment(),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          encoding="utf-8") as process:
        try:
            agent = int(process.stdout.readline().rsplit(":", 1)[1])
            process.stdout.readline()
            yield process, int(port_file.read_text()), agent
        finally:
            if process.poll() is None:
                process.terminate()


def end(process):
    """What it counted; it has ended as asked."""
    process.terminate()
    out, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (-15, ""), (process.returncode, err)
    return {key: int(n) for key, n in re.findall(r"(?:^|, |\()([a-z ]+) (\d+)", out, re.M)}, out


def memory_kb(process):
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    return int(re.search(r"VmHWM:\s*(\d+)", status).group(1))


def behave(port, what, *words, seconds=2):
    """100 handshakes a second; all of them complete."""
    done = subprocess.run([PROGRAM, "load", "--target", f"127.0.0.1:{port}", "--rate", "100",
                           "--duration", f"{seconds}s", "--warmup", "0", "--trials", "1",
                           "--timeout", "10s", "--grace", "10s", "--no-calibrate", "--json", "-",
                           "--arm", "a: groups=X25519MLKEM768 verify=off", *words],
                          env=environment(), capture_output=True, encoding="utf-8", timeout=60,
                          check=False)
    trial = strict_json(done.stdout)["arms"][0]["trials"][0]
    tally, tls = trial["tally"], trial["latency_us"]["tls"]
    print(f"\n{what}: {tally['completed']} of {tally['scheduled']}, tls p50 {tls['p50']:.0f} us, "
          f"p99 {tls['p99']:.0f} us, max {tls['max']:.0f} us")
    assert tally["completed"] == tally["scheduled"] == 100 * seconds, (what, trial)


def connect(port):
    s = socket.socket()
    s.connect(("127.0.0.1", port))
    return s


def client_hello():
    """One as OpenSSL writes it."""
    out = ssl.MemoryBIO()
    tls = insecure().wrap_bio(ssl.MemoryBIO(), out, server_hostname="localhost")
    with contextlib.suppress(ssl.SSLWantReadError):
        tls.do_handshake()
    return out.read()


def insecure():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


@contextlib.contextmanager
def attacking(attack):
    """attack(stop) in a thread until the block ends."""
    stop = threading.Event()
    errors = []

    def go():
        try:
            attack(stop)
        except Exception as error:  # told by the test, not by the thread
            errors.append(error)

    thread = threading.Thread(target=go, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(20)
    assert not errors, errors


def drip(port, data, count, stop):
    """`count` connections that each send data byte by byte; how many were ended."""
    sockets = {connect(port): 0 for _ in range(count)}
    ended = 0
    while sockets and not stop.is_set():
        for s, at in list(sockets.items()):
            try:
                s.setblocking(False)
                s.send(data[at % len(data):at % len(data) + 1])
                sockets[s] = at + 1
                with contextlib.suppress(BlockingIOError):
                    if not s.recv(4096):
                        raise ConnectionError
            except OSError:
                s.close()
                del sockets[s]
                ended += 1
        stop.wait(0.02)
    for s in sockets:
        s.close()
    return ended


# ---- floods ----

def test_the_client_that_behaves_by_itself(tmp_path):
    with serving(tmp_path) as (process, port, _):
        behave(port, "no attack")
        counts, _ = end(process)
    assert counts["handshakes"] == 200 and counts["failed"] == 0


@pytest.mark.parametrize("first", [b"", b"\x16\x03\x01"])
def test_half_open_connections_by_thousands(first, tmp_path):
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = min(HALF_OPEN, limit[1] - 500)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit[1], limit[1]))
    try:
        with serving(tmp_path) as (process, port, _):
            before = memory_kb(process)
            with contextlib.ExitStack() as stack:
                for _ in range(most):
                    stack.enter_context(connect(port)).send(first or b"")
                behave(port, f"{most} half-open, {len(first)} bytes sent")
                grown = memory_kb(process) - before
            print(f"memory: {grown} kB more, {grown / most:.1f} kB each")
            assert grown < MEMORY_KB_EACH[len(first)] * most
            end(process)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limit)


def test_half_open_connections_beyond_the_file_limit_make_room(tmp_path):
    with serving(tmp_path, limit=256) as (process, port, _), contextlib.ExitStack() as stack:
        for _ in range(600):
            stack.enter_context(connect(port))
        behave(port, "600 half-open, 256 descriptors")
        _, out = end(process)
    assert re.search(r"[1-9]\d* that kept us waiting were ended for others", out), out


def test_connections_that_come_and_go(tmp_path):
    def churn(stop):
        while not stop.is_set():
            with contextlib.suppress(OSError):
                s = connect(port)
                if random.random() < 0.5:
                    scripted.reset(s)
                s.close()

    with serving(tmp_path) as (process, port, _):
        with attacking(churn):
            behave(port, "connections that come and go")
        end(process)


# ---- slow ones ----

def test_slow_hellos_end_though_bytes_trickle(tmp_path):
    ended = []
    with serving(tmp_path, "--timeout", "1s") as (process, port, _):
        hello = client_hello()
        with attacking(lambda stop: ended.append(drip(port, hello, 200, stop))):
            behave(port, "200 slow hellos", seconds=3)
        counts, _ = end(process)
    assert ended == [200] and counts["timed out"] == 200


def test_slow_heads_end_though_bytes_trickle(tmp_path):
    ended = []

    def attack(stop):
        heads = [insecure().wrap_socket(connect(port)) for _ in range(30)]
        gone = 0
        until = time.monotonic() + 10
        while heads and time.monotonic() < until:
            for s in list(heads):
                try:
                    s.send(b"G")
                    s.settimeout(0.001)
                    with contextlib.suppress(TimeoutError, ssl.SSLWantReadError):
                        if not s.recv(100):
                            raise ConnectionError
                except OSError:
                    heads.remove(s)
                    gone += 1
            time.sleep(0.02)
        ended.append(gone)

    with serving(tmp_path, "--timeout", "1s") as (process, port, _):
        with attacking(attack):
            behave(port, "30 slow request heads", seconds=3)
        end(process)
    assert ended == [30]


# ---- wrong ones ----

def wrong_hellos(count, seed):
    """Cut, flipped, stretched and shuffled."""
    rng, whole = random.Random(seed), client_hello()
    shapes = [b"", b"\x16", b"\x16\x03\x01\xff\xff", b"\x16\x03\x01\0\0", b"\x80\x2e\1\0\2",
              b"\x16\x03\x01\x40\x01", b"\x14\x03\x03\0\1\1" * 100, b"\x15\x03\x03\0\2\1\x5a" * 100,
              b"\x17\x03\x03\0\1x", b"GET / HTTP/1.1\r\n\r\n", b"SSH-2.0-x\r\n", bytes(70000),
              b"\x16\x03\x01\0\4\1\xff\xff\xff" + b"\x16\x03\x01\x40\0" + bytes(16384) * 8]
    for i in range(count):
        data = bytearray(whole)
        kind = i % 5
        if kind == 0:
            yield shapes[i // 5 % len(shapes)]
            continue
        if kind == 1:
            del data[rng.randrange(len(data)):]
        elif kind == 2:
            for _ in range(rng.randrange(1, 20)):
                data[rng.randrange(5, len(data))] = rng.randrange(256)
        elif kind == 3:
            at = rng.randrange(len(data))
            data[at:at] = rng.randbytes(rng.randrange(1, 3000))
        else:
            at = rng.randrange(43, len(data) - 2)
            data[at:at + 2] = b"\xff\xff"
        yield bytes(data)


@pytest.mark.parametrize("backend", ["openssl", "aws-lc"])
def test_wrong_hellos(backend, tmp_path):
    if not any(b["name"] == backend for b in listed()["backends"]):
        pytest.skip(f"no {backend}")
    sent = []

    def attack(stop):
        for data in wrong_hellos(1000, seed=7):
            with connect(port) as s, contextlib.suppress(OSError):
                s.sendall(data)
                s.shutdown(socket.SHUT_WR)
                s.settimeout(5)
                while s.recv(65536):
                    pass
            sent.append(data)
            if stop.is_set() and len(sent) >= 500:
                break

    with serving(tmp_path, "--backend", backend) as (process, port, _):
        behave(port, f"{backend}, no attack", seconds=1)
        before = memory_kb(process)
        with attacking(attack):
            behave(port, f"wrong hellos, {backend}")
        assert len(sent) >= 500
        assert memory_kb(process) - before < 16384
        behave(port, f"after wrong hellos, {backend}", seconds=1)
        end(process)


def test_a_hello_is_a_hello_however_it_is_cut(tmp_path):
    with serving(tmp_path) as (process, port, _):
        for piece in (1, 2, 5, 100, 511):
            with connect(port) as s:
                s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                into, out = ssl.MemoryBIO(), ssl.MemoryBIO()
                tls = insecure().wrap_bio(into, out, server_hostname="localhost")
                while True:
                    try:
                        tls.do_handshake()
                        break
                    except ssl.SSLWantReadError:
                        data = out.read()
                        for at in range(0, len(data), piece):
                            s.sendall(data[at:at + piece])
                        into.write(s.recv(65536))
                assert tls.version() == "TLSv1.3"
        end(process)


# ---- requests ----

def exchange(port, data):
    """All that comes back until the server closes, or 0.5 s of silence."""
    with insecure().wrap_socket(connect(port)) as s:
        back = b""
        s.settimeout(0.5)
        with contextlib.suppress(OSError):
            for at in range(0, len(data), 16384):
                s.sendall(data[at:at + 16384])
            while more := s.recv(65536):
                back += more
        return back


SMUGGLED = b"GET /bytes/7 HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.mark.parametrize("head,status", [
    (b"Content-Length: %d\r\n" % len(SMUGGLED), b"413"),
    (b"Content-Length: 0\r\nContent-Length: %d\r\n" % len(SMUGGLED), b"413"),
    (b"Content-Length: %d\r\nContent-Length: 0\r\n" % len(SMUGGLED), b"413"),
    (b"Transfer-Encoding: chunked\r\n", b"501"),
    (b"Content-Length: 0\r\nTransfer-Encoding: chunked\r\n", b"501"),
    (b"Transfer-Encoding: chunked\r\nContent-Length: 0\r\n", b"501"),
    (b"transfer-encoding:\tchunked\r\n", b"501"),
    (b"Transfer-Encoding: x, chunked\r\n", b"501"),
    (b"Transfer-Encoding : chunked\r\n", None),
    (b" Transfer-Encoding: chunked\r\n", None),
    (b"X: y\r\n Content-Length: 5\r\n", None),
    (b"X: y\nContent-Length: 5\r\n", None),
    (b"X: y\rContent-Length: 5\r\n", None),
    (b"X: \0\r\n", None),
    (b"Content-Length: +0\r\n", None),
    (b"Content-Length: 0x0\r\n", None),
    (b"Content-Length: 0, 0\r\n", None),
    (b"Content-Length: 18446744073709551616\r\n", None),
    (b"Content-Length:\r\n", None),
])
def test_what_one_reads_as_a_body_and_another_as_a_request_is_refused(head, status, tmp_path):
    with serving(tmp_path) as (process, port, _):
        back = exchange(port, b"GET / HTTP/1.1\r\nHost: x\r\n" + head + b"\r\n" + SMUGGLED)
        end(process)
    assert back.count(b"HTTP/1.1 ") <= 1 and b"Content-Length: 7" not in back, back
    assert b" 200 " not in back, back
    assert status is None or back.startswith(b"HTTP/1.1 " + status), back


def test_header_bombs_and_pipelines(tmp_path):
    def attack(stop):
        while not stop.is_set():
            for bomb in (b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 100000, b"G" * 1000000,
                         b"GET /" + b"x" * 500000, b"GET / HTTP/1.1\r\nX: " + b"y" * 500000):
                back = exchange(port, bomb)
                assert back == b"" or re.match(rb"HTTP/1.1 4(00|14|31) ", back), back[:100]
            with contextlib.suppress(OSError), insecure().wrap_socket(connect(port)) as s:
                s.settimeout(0.5)
                for _ in range(2000):  # answers that nobody reads
                    s.sendall(b"GET /bytes/100000 HTTP/1.1\r\nHost: x\r\n\r\n" * 50)

    with serving(tmp_path) as (process, port, _):
        behave(port, "no attack", seconds=1)
        before = memory_kb(process)
        with attacking(attack):
            behave(port, "header bombs, pipelines that nobody reads", seconds=4)
        assert memory_kb(process) - before < 16384
        end(process)


def test_replayed_early_data_is_taken_once(tmp_path):
    flights = []

    def forward(client, upstream):
        sent = []

        class Tap:
            def recv(self, n):
                data = client.recv(n)
                sent.append(data)
                return data

        flights.append(sent)
        up = threading.Thread(target=scripted.pump, args=(Tap(), upstream), daemon=True)
        up.start()
        scripted.pump(upstream, client)
        up.join(5)

    with serving(tmp_path, "--tickets", 2, "--early-data", 16384) as (process, port, _):
        with scripted.proxy(port, forward) as front:
            done = subprocess.run(
                [PROGRAM, "load", "--target", f"127.0.0.1:{front}", "--rate", "10", "--duration",
                 "1s", "--warmup", "0", "--trials", "1", "--no-calibrate", "--json", "-", "--arm",
                 "a: groups=X25519 verify=off resume=1 early-data=1000"], env=environment(),
                capture_output=True, encoding="utf-8", timeout=30, check=False)
        result = strict_json(done.stdout)
        accepted = result["arms"][0]["negotiated"]["early_data_accepted"]
        assert accepted >= 5, done.stdout
        for flight in flights * 5:
            with connect(port) as s, contextlib.suppress(OSError):
                s.sendall(b"".join(flight[:1]))
                s.settimeout(0.05)
                while s.recv(65536):
                    pass
        counts, _ = end(process)
    assert counts["early data"] == accepted, "each ticket's early data was taken once"
    assert counts["requests"] == 10


# ---- the agent ----

def test_an_agent_under_attack_answers(tmp_path):
    def attack(stop):
        held = []
        while not stop.is_set():
            held.append(connect(agent))
            with contextlib.suppress(OSError):
                held[-1].send(random.choice([b"", b"GET /v1/sam", b"\x16\x03\x01", b"G" * 20000,
                                             b"POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\n",
                                             b"GET /v1/series HTTP/1.1\r\n\r\n" * 400]))
            if len(held) > 300:
                held.pop(0).close()
            stop.wait(0.001)

    with serving(tmp_path) as (process, port, agent):
        before = memory_kb(process)
        answered = 0
        with attacking(attack):
            for _ in range(200):
                with urllib.request.urlopen(f"http://127.0.0.1:{agent}/v1/sample",
                                            timeout=10) as answer:
                    answered += strict_json(answer.read().decode())["cpu_ns"] >= 0
            behave(port, "an attack on the agent")
        assert answered == 200
        assert memory_kb(process) - before < 32768
        assert len(os.listdir(f"/proc/{process.pid}/fd")) < 60
        end(process)
