# SPDX-License-Identifier: Apache-2.0
"""What probe says of a server equals what the server's configuration means."""
import contextlib
import pathlib
import shutil
import socket
import subprocess
import tempfile

import pytest

import scripted
from conftest import (PROGRAM, assert_one_line, assert_usage_error, environment, run, strict_json)

FAST = ("--rate", "1000")
BROWSER = "X25519MLKEM768"


@contextlib.contextmanager
def serving(*words):
    """The embedded server; gives HOST:PORT."""
    process = subprocess.Popen([PROGRAM, "serve", "--listen", "127.0.0.1:0", *words],
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               env=environment(), encoding="utf-8")
    try:
        line = process.stdout.readline()
        assert line.startswith("listening on "), line
        yield line.split()[-1]
    finally:
        process.terminate()
        process.communicate(timeout=30)


@contextlib.contextmanager
def speaking(talk):
    """A scripted server: talk(connection, number) for each connection; gives HOST:PORT."""
    with scripted.server(talk) as port:
        yield f"127.0.0.1:{port}"


def probe(*words, code=0, timeout=60):
    """The JSON of one server."""
    done = run("probe", *FAST, "--json", "-", *words, timeout=timeout)
    assert done.returncode == code, (done.returncode, done.stderr, done.stdout)
    document = strict_json(done.stdout)
    assert document["schema"] == "pqc-bench-probe/1"
    (server,) = document["servers"]
    used = server["connections"]
    assert used["used"] <= used["max"]
    return server


def names(server):
    return [group["name"] for group in server["groups"]["accepted"]]


# ---- the embedded server ----

@pytest.mark.parametrize("groups, accepted, browser, hybrid, classical, code", [
    ("X25519MLKEM768", [BROWSER], (BROWSER, False), (BROWSER, False), None, 0),
    ("X25519", ["X25519"], ("X25519", False), None, ("X25519", False), 3),
    ("secp256r1", ["secp256r1"], ("secp256r1", True), None, ("secp256r1", True), 3),
    ("MLKEM1024", ["MLKEM1024"], None, None, None, 3),
    ("SecP256r1MLKEM768", ["SecP256r1MLKEM768"], None, ("SecP256r1MLKEM768", True), None, 3),
    ("X25519MLKEM768/X25519", [BROWSER, "X25519"], (BROWSER, False), (BROWSER, False),
     ("X25519", False), 0),
    ("X25519/X25519MLKEM768", ["X25519", BROWSER], ("X25519", False), (BROWSER, False),
     ("X25519", False), 3),
    ("secp384r1/X25519MLKEM768:secp256r1", ["secp384r1", BROWSER, "secp256r1"],
     ("secp384r1", True), (BROWSER, False), ("secp384r1", True), 3),
])
def test_what_a_list_of_groups_means(groups, accepted, browser, hybrid, classical, code):
    with serving("--groups", groups) as at:
        server = probe(at, code=code)
    assert names(server) == accepted
    assert server["groups"]["complete"]
    assert server["groups"]["answers_missing_share"]
    assert server["tls"] == {"1.3": True, "1.2": False}
    for hello, expected in (("browser", browser), ("hybrid_only", hybrid),
                            ("classical_only", classical)):
        seen = server["hellos"][hello]
        if expected is None:
            assert not seen["complete"] and seen["failure"]["cause"] == "alert", (hello, seen)
            assert seen["failure"]["code"] == 40
            continue
        assert (seen["group"], seen["hrr"]) == expected, hello
        assert seen["round_trips"] == 1 + seen["hrr"]


def test_a_groups_line_reads_as_the_servers_own_option():
    groups = "X25519MLKEM768/X25519:secp256r1/secp384r1"
    with serving("--groups", groups) as at:
        server = probe(at)
        text = run("probe", *FAST, at).stdout
    assert server["groups"]["order"] == "server"
    assert [group.get("takes_share") for group in server["groups"]["accepted"]] == [
        None, False, True, False]
    assert f" {groups}\n" in text


def test_the_verdict_says_what_and_at_which_price():
    with serving("--groups", "X25519MLKEM768:X25519") as at:
        server = probe(at)
        done = run("probe", *FAST, at)
    assert server["verdict"] == "post-quantum"
    assert server["summary"] == "post-quantum: yes, X25519MLKEM768, no extra round trip"
    assert "advice" not in server
    assert server["summary"] in done.stdout and done.returncode == 0


def test_a_classical_server_is_told_what_to_change():
    with serving("--groups", "X25519:secp256r1") as at:
        done = run("probe", *FAST, at)
    assert done.returncode == 3
    assert_one_line(done, "1 of 1 servers")
    assert "post-quantum: no, a browser gets X25519\n" in done.stdout
    assert "-> Add X25519MLKEM768" in done.stdout


def test_the_bytes_are_those_of_the_key_shares():
    """RFC 8446 and FIPS 203: the server's share is 1120 bytes and not 32."""
    browser = {}
    for group in ("X25519MLKEM768", "X25519"):
        with serving("--groups", group, "--cert", "rsa-2048") as at:
            browser[group] = probe(at, code=0 if group == BROWSER else 3)["hellos"]["browser"]
    assert browser[BROWSER]["server_bytes"] - browser["X25519"]["server_bytes"] == 1120 - 32
    for hello in browser.values():
        assert hello["client_bytes"] == sum(
            f["bytes"] for f in hello["flights"] if f["sender"] == "client")
        assert hello["flights"][0] == {"sender": "client", "bytes": hello["client_hello_bytes"]}


@pytest.mark.parametrize("certificate, fits", [("mldsa44", True), ("mldsa65", False)])
def test_the_first_window_holds_ten_segments(certificate, fits):
    with serving("--cert", certificate, "--chain", "leaf+intermediate") as at:
        server = probe(at)
    browser = server["hellos"]["browser"]
    assert browser["fits_ten_segments"] is fits
    assert (browser["server_flight_bytes"] <= 14480) is fits
    assert any("ten segments" in line for line in server.get("advice", [])) is not fits


# ---- bounds ----

@pytest.mark.parametrize("bound", [1, 2, 5])
def test_no_more_connections_than_allowed_are_made(bound):
    with serving() as at:
        server = probe("--max-connections", bound, at)
    assert server["connections"] == {"used": bound, "max": bound, "cut": True}
    assert server["verdict"] == "post-quantum"
    assert not server["groups"]["complete"]


# ---- errors ----

def test_a_refused_port_is_a_failure_to_measure():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        at = f"127.0.0.1:{free.getsockname()[1]}"
        server = probe(at, code=1)
    assert server["verdict"] == "unmeasured"
    assert server["failure"]["cause"] == "tcp"
    assert server["connections"]["used"] <= 3


def test_a_server_of_something_else_is_named_so():
    def talk(connection, _):
        connection.recv(4096)
        connection.sendall(b"SSH-2.0-\x1b[31mfake\r\n")

    with speaking(talk) as at:
        server = probe(at, code=1)
    assert server["failure"]["cause"] == "not-tls"


@pytest.mark.parametrize("content, line, value", [
    ("127.0.0.1:1\nbad host:443\n", "line 2", "bad host:443"),
    ("# fine\n\n127.0.0.1:99999\n", "line 3", "127.0.0.1:99999"),
    ("=cmd|x:443\n", "line 1", "=cmd|x:443"),
])
def test_a_bad_line_of_a_hosts_file_is_named(tmp_path, content, line, value):
    path = tmp_path / "hosts"
    path.write_text(content, encoding="utf-8")
    assert_usage_error(run("probe", "--hosts", path), str(path), line, value)


def test_several_servers_are_all_asked(tmp_path):
    path = tmp_path / "hosts"
    with serving("--groups", "X25519MLKEM768") as yes, serving("--groups", "X25519") as no:
        path.write_text(f"  {yes}  # first\n\n{no}\n{yes}\n", encoding="utf-8")
        done = run("probe", *FAST, "--hosts", path, "--json", "-")
        document = strict_json(done.stdout)
        table = run("probe", *FAST, "--hosts", path, "--csv", "-").stdout
    assert done.returncode == 3
    assert [s["target"] for s in document["servers"]] == [yes, no]
    assert [s["verdict"] for s in document["servers"]] == ["post-quantum", "classical"]
    assert f"{no},{no},verdict,classical" in table.splitlines()
