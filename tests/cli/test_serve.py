# SPDX-License-Identifier: Apache-2.0
"""pqc-bench serve: what it answers, and what it survives."""
import contextlib
import os
import resource
import signal
import socket
import ssl
import subprocess
import time

import pytest

from conftest import PROGRAM, assert_usage_error, environment, listed, run, strict_json
import faults
import scripted

# So one worker: what comes first is seen first.
ONE_CORE = ["--cores", str(min(os.sched_getaffinity(0)))]


@contextlib.contextmanager
def serving(tmp_path, *words, limit=None):
    port_file, root_file = tmp_path / "port", tmp_path / "root.pem"

    def lower():
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))

    with subprocess.Popen([PROGRAM, "serve", "--listen", "127.0.0.1:0", "--port-file", port_file,
                           "--root-file", root_file, *words], env=environment(),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          preexec_fn=lower if limit else None) as process:
        try:
            line = process.stdout.readline()
            assert line.startswith("listening on 127.0.0.1:"), process.stderr.read()
            port = int(port_file.read_text(encoding="ascii"))
            assert line == f"listening on 127.0.0.1:{port}\n"
            yield process, port, root_file
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
            process.out, process.err = process.communicate(timeout=20)


@pytest.fixture(name="server")
def _server(tmp_path):
    if not any(b["name"] == "openssl" for b in listed()["backends"]):
        pytest.skip("no OpenSSL backend is installed")
    with serving(tmp_path) as found:
        yield found


def connect(server, **more):
    _, port, root = server
    context = ssl.create_default_context(cafile=root)
    raw = socket.create_connection(("127.0.0.1", port), timeout=10)
    raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return context.wrap_socket(raw, server_hostname="localhost", **more)


def ask(conn, path, *headers, method="GET", version="1.1"):
    lines = [f"{method} {path} HTTP/{version}", "Host: localhost", *headers, "", ""]
    conn.sendall("\r\n".join(lines).encode())


def answer(conn):
    """Status line, headers, body by Content-Length."""
    data = b""
    while b"\r\n\r\n" not in data:
        more = conn.recv(65536)
        assert more, data
        data += more
    head, _, body = data.partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    headers = dict(line.lower().split(": ", 1) for line in lines[1:])
    while len(body) < int(headers["content-length"]):
        more = conn.recv(65536)
        assert more
        body += more
    return lines[0], headers, body


def works(server):
    with connect(server) as conn:
        ask(conn, "/")
        assert answer(conn)[2] == b"OK\n"


def test_the_root_says_ok_over_tls13(server):
    with connect(server) as conn:
        assert conn.version() == "TLSv1.3"
        ask(conn, "/")
        line, headers, body = answer(conn)
        assert (line, body) == ("HTTP/1.1 200 OK", b"OK\n")
        assert "connection" not in headers


@pytest.mark.parametrize("size", [0, 1, 16384, 100000, 5000000])
def test_bytes_answers_as_many_as_asked(server, size):
    with connect(server) as conn:
        ask(conn, f"/bytes/{size}")
        assert len(answer(conn)[2]) == size


def test_a_connection_is_kept_until_it_is_said_to_close(server):
    with connect(server) as conn:
        for _ in range(3):
            ask(conn, "/bytes/10")
            assert len(answer(conn)[2]) == 10
        ask(conn, "/", "Connection: close")
        assert answer(conn)[1]["connection"] == "close"
        assert conn.recv(100) == b""


def test_pipelined_requests_are_answered_in_order(server):
    with connect(server) as conn:
        for size in (300000, 5, 70000):
            ask(conn, f"/bytes/{size}")
        data = b""
        while data.count(b"HTTP/1.1 200") < 3 or not data.endswith(b"\n") or len(data) < 370000:
            more = conn.recv(65536)
            if not more:
                break
            data += more
            if len(data) >= 370000 and data.count(b"HTTP/1.1 200") == 3:
                break
        assert data.count(b"HTTP/1.1 200") == 3


def test_http10_closes(server):
    with connect(server) as conn:
        ask(conn, "/", version="1.0")
        assert answer(conn)[1]["connection"] == "close"


@pytest.mark.parametrize("request_bytes,status", [
    (b"GET /none HTTP/1.1\r\n\r\n", b"404"),
    (b"GET /bytes/-1 HTTP/1.1\r\n\r\n", b"404"),
    (b"GET /bytes/99999999999 HTTP/1.1\r\n\r\n", b"404"),
    (b"POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello", b"413"),
    (b"DELETE / HTTP/1.1\r\n\r\n", b"405"),
    (b"GET / HTTP/3.0\r\n\r\n", b"505"),
    (b"nonsense\r\n\r\n", b"400"),
    (b"GET / HTTP/1.1\r\nX: " + b"a" * 9000, b"431"),
])
def test_bad_requests_are_refused_and_the_server_lives(server, request_bytes, status):
    with connect(server) as conn:
        conn.sendall(request_bytes)
        assert conn.recv(100).startswith(b"HTTP/1.1 " + status)
    works(server)


def test_a_request_may_come_byte_by_byte(server):
    with connect(server) as conn:
        for byte in b"GET / HTTP/1.1\r\nHost: x\r\n\r\n":
            conn.sendall(bytes([byte]))
        assert answer(conn)[2] == b"OK\n"


@pytest.fixture(name="one_worker")
def _one_worker(tmp_path):
    if not any(b["name"] == "openssl" for b in listed()["backends"]):
        pytest.skip("no OpenSSL backend is installed")
    with serving(tmp_path, *ONE_CORE) as found:
        yield found


@pytest.mark.parametrize("split", [1, 5, 150])
def test_a_client_hello_in_two_pieces_is_one_hello(one_worker, split):
    server = one_worker
    _, port, root = server
    context = ssl.create_default_context(cafile=root)
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = context.wrap_bio(incoming, outgoing, server_hostname="localhost")
    with socket.create_connection(("127.0.0.1", port), timeout=10) as raw:
        with contextlib.suppress(ssl.SSLWantReadError):
            tls.do_handshake()
        hello = outgoing.read()
        raw.sendall(hello[:split])
        works(server)  # others are not kept waiting, and the first piece has been read
        raw.sendall(hello[split:])
        while True:
            try:
                tls.do_handshake()
                break
            except ssl.SSLWantReadError:
                incoming.write(raw.recv(65536))
        raw.sendall(outgoing.read())


# Two key shares and a long name: more than a segment of 1460 bytes.
LARGE_HELLO = ["--arm", "a: groups=*X25519MLKEM768:*X25519 verify=off backend=openssl", "--sni",
               "a-name-of-some-length.in-a-domain-of-some-depth.example.example"]


@pytest.mark.parametrize("split", [1, 5, 700, 1460])
def test_a_large_client_hello_in_two_pieces_is_one_hello(one_worker, split):
    """Between the pieces the same worker serves another."""
    def forward(client, upstream):
        hello = scripted.read_record(client)
        assert len(hello) > split
        upstream.sendall(hello[:split])
        works(one_worker)
        upstream.sendall(hello[split:])
        scripted.both_ways(client, upstream)

    with scripted.proxy(one_worker[1], forward) as port:
        done = run("load", "--target", f"127.0.0.1:{port}", "--rate", "20", "--duration", "200ms",
                   "--warmup", "0", "--trials", "1", "--timeout", "60s", "--grace", "60s",
                   "--no-calibrate", "--json", "-", *LARGE_HELLO, timeout=180)
    arm = strict_json(done.stdout)["arms"][0]
    assert arm["trials"][0]["tally"]["completed"] == 4, done.stderr
    assert arm["bytes"]["client_hello"] > 1460


@pytest.mark.parametrize("garbage", [
    b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01\xff\xff" + b"\0" * 100, b"\x00", b"\x15\x03\x03\x00\x02\x02\x28",
    b"\x16\x03\x01\x00\x05\x01\x00\x00\x01\x00", b"",
])
def test_garbage_ends_its_own_connection_only(server, garbage):
    with socket.create_connection(("127.0.0.1", server[1]), timeout=5) as raw:
        raw.sendall(garbage)
        raw.shutdown(socket.SHUT_WR)
        with contextlib.suppress(OSError):
            while raw.recv(1000):
                pass
    works(server)


def test_a_peer_that_resets_while_we_write_kills_nobody(server):
    for _ in range(20):
        conn = connect(server)
        ask(conn, "/bytes/10000000")
        conn.recv(1000)
        conn.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        conn.close()
    works(server)


def descriptors(server):
    return len(os.listdir(f"/proc/{server[0].pid}/fd"))


def test_a_client_that_leaves_after_the_handshake_is_a_success(tmp_path):
    with serving(tmp_path, "--tickets", "2", *ONE_CORE) as server:
        before = descriptors(server)
        for _ in range(5):
            connect(server).close()
        works(server)  # and so those before it were accepted
        faults.until(lambda: descriptors(server) == before, "the end of all connections")
    assert "handshakes 6 (failed 0" in server[0].out


def median_of_first_answers(server):
    times = []
    for _ in range(20):
        with connect(server) as conn:
            began = time.monotonic()
            ask(conn, "/")
            answer(conn)
            times.append(time.monotonic() - began)
    return sorted(times)[10]


def test_the_answer_is_not_delayed_by_nagle(server):
    """A delayed ACK is 40 ms at least and comes back in every batch; a busy machine does not
    delay ten of them."""
    assert min(median_of_first_answers(server) for _ in range(10)) < 0.02


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / 100


def test_the_descriptor_limit_does_not_make_it_spin(tmp_path):
    with serving(tmp_path, limit=64) as server:
        crowd = [socket.create_connection(("127.0.0.1", server[1])) for _ in range(200)]
        faults.until(lambda: descriptors(server) > 50, "the limit")
        began, before = time.monotonic(), cpu_seconds(server[0].pid)
        time.sleep(2)  # what is measured: CPU while it is at its limit
        assert cpu_seconds(server[0].pid) - before < 0.1 * (time.monotonic() - began)
        for conn in crowd:
            conn.close()
        works(server)
    assert "no room for more" in server[0].out


def test_many_inherited_descriptors_do_no_harm(tmp_path):
    with contextlib.ExitStack() as stack:
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if hard < 4096:
            pytest.skip("the hard limit is too low")
        resource.setrlimit(resource.RLIMIT_NOFILE, (4096, hard))
        stack.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        pairs = [stack.enter_context(socket.socket()) for _ in range(1100)]
        for one in pairs:
            one.set_inheritable(True)
        port_file = tmp_path / "port"
        with subprocess.Popen([PROGRAM, "serve", "--listen", "127.0.0.1:0", "--port-file", port_file,
                               "--root-file", tmp_path / "root.pem"], stdout=subprocess.PIPE,
                              close_fds=False, env=environment()) as process:
            process.stdout.readline()
            works((process, int(port_file.read_text(encoding="ascii")), tmp_path / "root.pem"))
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=20)


def test_silence_is_ended_after_the_timeout(tmp_path):
    with serving(tmp_path, "--timeout", "1s") as server:
        with socket.create_connection(("127.0.0.1", server[1]), timeout=5) as raw:
            assert raw.recv(10) == b""
    assert "timed out 1" in server[0].out


@pytest.mark.parametrize("option,value", [
    ("--listen", "nowhere"), ("--listen", "127.0.0.1:70000"), ("--tickets", "99"),
    ("--tls", "1.1"), ("--cert", "dsa"), ("--groups", "bogus"),
])
def test_nonsense_is_a_usage_error(option, value):
    assert_usage_error(run("serve", option, value), option.lstrip("-"))


def test_a_port_in_use_is_named(server, tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = run("serve", "--listen", f"127.0.0.1:{port}", "--port-file", tmp_path / "other")
    assert done.returncode == 1
    assert str(port) in done.stderr
