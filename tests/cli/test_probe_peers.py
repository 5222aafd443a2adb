# SPDX-License-Identifier: Apache-2.0
"""probe against servers of others, and what it says before and around TLS."""
import contextlib
import shutil
import socket
import subprocess
import threading

import pytest

import peers
from conftest import environment, run
from test_probe import BROWSER, FAST, names, probe, serving, speaking

needs_openssl = pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl")


def openssl_version():
    said = subprocess.run(["openssl", "version"], capture_output=True, encoding="utf-8", check=True)
    return tuple(int(part) for part in said.stdout.split()[1].split(".")[:2])


@contextlib.contextmanager
def s_server(directory, *words):
    """The system's openssl s_server; gives HOST:PORT."""
    key, cert = peers.self_signed(directory)
    process = subprocess.Popen(
        ["openssl", "s_server", "-accept", "127.0.0.1:0", "-www", "-key", key, "-cert", cert,
         *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        env=environment(), encoding="utf-8")
    threads = []
    try:
        at = next((line.split()[1] for line in process.stdout if line.startswith("ACCEPT ")), None)
        assert at is not None, "s_server does not listen"
        threads.append(threading.Thread(target=process.stdout.read, daemon=True))
        threads[0].start()
        yield at
    finally:
        process.terminate()
        process.wait(timeout=30)
        for thread in threads:
            thread.join(timeout=30)
        process.stdout.close()


# ---- openssl s_server ----

@needs_openssl
@pytest.mark.parametrize("groups, accepted, browser", [
    ("X25519:P-256", ["X25519", "secp256r1"], ("X25519", False)),
    ("P-256:X25519", ["secp256r1", "X25519"], ("X25519", False)),
    ("P-256", ["secp256r1"], ("secp256r1", True)),
])
def test_openssls_list_of_groups(tmp_path, groups, accepted, browser):
    """Any share it accepts spares the round trip.  The order was OpenSSL's own until 3.5, where
    it is that of the tuples, and within one the client's."""
    is_ours = openssl_version() >= (3, 5)
    with s_server(tmp_path, "-groups", groups) as at:
        server = probe(at, code=3)
    assert server["verdict"] == "classical"
    assert server["groups"]["complete"]
    assert sorted(names(server)) == sorted(accepted) if is_ours else names(server) == accepted
    if len(accepted) > 1:
        assert server["groups"]["order"] == ("client" if is_ours else "server")
    assert [g.get("takes_share") for g in server["groups"]["accepted"][1:]] == [
        True] * (len(accepted) - 1)
    hello = server["hellos"]["browser"]
    assert (hello["group"], hello["hrr"]) == browser


@needs_openssl
def test_openssl_with_tls_1_2_only(tmp_path):
    with s_server(tmp_path, "-tls1_2") as at:
        server = probe(at, code=3)
    assert server["tls"] == {"1.3": False, "1.2": True}
    assert server["hellos"]["browser"]["tls"] == "1.2"
    assert "(TLS 1.2)" in server["summary"]
    assert any("TLS 1.3" in line for line in server["advice"])


# ---- nginx and HAProxy ----

def configured(monkeypatch, name, old, new):
    """The server's configuration with `old` replaced."""
    text = getattr(peers, name.upper())
    assert old in text
    monkeypatch.setattr(peers, name.upper(), text.replace(old, new))


@pytest.mark.parametrize("name", ["nginx", "haproxy"])
@pytest.mark.parametrize("groups, accepted, verdict, code", [
    ("X25519MLKEM768:X25519", [BROWSER, "X25519"], "post-quantum", 0),
    ("X25519:secp256r1", ["X25519", "secp256r1"], "classical", 3),
])
def test_a_real_servers_groups(tmp_path, monkeypatch, name, groups, accepted, verdict, code):
    if not peers.is_there(name):
        pytest.skip(f"no {name}")
    configured(monkeypatch, name, "X25519MLKEM768:X25519:secp256r1", groups)
    with peers.serving(name, tmp_path) as port:
        server = probe(f"127.0.0.1:{port}", code=code)
    assert (names(server), server["verdict"]) == (accepted, verdict)
    assert server["tls"] == {"1.3": True, "1.2": True}
    assert server["hellos"]["browser"]["group"] == accepted[0]
    assert not server["hellos"]["browser"]["hrr"]


@pytest.mark.parametrize("name, old, new", [
    ("nginx", "ssl_protocols TLSv1.2 TLSv1.3;", "ssl_protocols TLSv1.2;"),
    ("haproxy", "{early}\n", "{early} ssl-max-ver TLSv1.2\n"),
])
def test_a_real_server_with_tls_1_2_only(tmp_path, monkeypatch, name, old, new):
    if not peers.is_there(name):
        pytest.skip(f"no {name}")
    configured(monkeypatch, name, old, new)
    with peers.serving(name, tmp_path) as port:
        server = probe(f"127.0.0.1:{port}", code=3)
    assert server["tls"] == {"1.3": False, "1.2": True}
    assert server["hellos"]["browser"]["tls"] == "1.2"


@pytest.mark.parametrize("preference, order, browser, code", [
    ("on", "server", "X25519", 3),
    ("off", "client", BROWSER, 0),
])
def test_whose_order_counts_in_nginx(tmp_path, monkeypatch, preference, order, browser, code):
    if not peers.is_there("nginx"):
        pytest.skip("no nginx")
    configured(monkeypatch, "nginx", "ssl_conf_command Groups X25519MLKEM768:X25519:secp256r1;",
               "ssl_conf_command Groups X25519:X25519MLKEM768; "
               f"ssl_prefer_server_ciphers {preference};")
    with peers.serving("nginx", tmp_path) as port:
        server = probe(f"127.0.0.1:{port}", code=code)
    assert sorted(names(server)) == sorted([BROWSER, "X25519"])
    assert server["groups"]["order"] == order
    assert server["hellos"]["browser"]["group"] == browser
    assert server["verdict"] == ("not-chosen" if code else "post-quantum")


# nginx 1.26 takes the groups of the default server whatever the name: openssl sees the same.
SECOND = """  server {{
    listen 127.0.0.1:{port} ssl; server_name second.invalid;
    ssl_certificate {dir}/cert.pem; ssl_certificate_key {dir}/key.pem;
    ssl_conf_command Groups secp256r1;
  }}
  server {{
    listen 127.0.0.1:{port} ssl; server_name closed.invalid; ssl_reject_handshake on;
  }}
}}
"""


def classical_group_of(at, name):
    """What the system's openssl gets of a virtual host."""
    done = subprocess.run(["openssl", "s_client", "-connect", at, "-servername", name,
                           "-groups", "X25519:P-256"],
                          stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8",
                          env=environment(), timeout=30, check=False)
    heads = ("Server Temp Key: ", "Peer Temp Key: ")  # from 3.5 the second
    (line,) = (one for one in done.stdout.splitlines() if one.startswith(heads))
    return {"X25519": "X25519", "ECDH": "secp256r1"}[line.split()[3].rstrip(",")]


def test_virtual_hosts_of_nginx_answer_by_name(tmp_path, monkeypatch):
    if not peers.is_there("nginx"):
        pytest.skip("no nginx")
    text = peers.NGINX.rstrip()
    assert text.endswith("}}")
    monkeypatch.setattr(peers, "NGINX", text[:-2] + SECOND)
    with peers.serving("nginx", tmp_path) as port:
        at = f"127.0.0.1:{port}"
        for name in ("first.invalid", "second.invalid"):
            server = probe("--sni", name, at)
            assert server["server_name"] == name
            assert server["hellos"]["classical_only"]["group"] == classical_group_of(at, name)
        closed = probe("--sni", "closed.invalid", at, code=1)
    assert (closed["failure"]["cause"], closed["failure"]["code"]) == ("alert", 112)


@pytest.mark.parametrize("version", ["1", "2"])
def test_haproxy_takes_the_proxy_header(tmp_path, monkeypatch, version):
    if not peers.is_there("haproxy"):
        pytest.skip("no haproxy")
    configured(monkeypatch, "haproxy", " ssl crt", " accept-proxy ssl crt")
    with peers.serving("haproxy", tmp_path) as port:
        at = f"127.0.0.1:{port}"
        server = probe("--proxy-protocol", version, at)
        without = probe(at, code=1)
    assert names(server) == [BROWSER, "X25519", "secp256r1"]
    assert without["verdict"] == "unmeasured"


# ---- before TLS ----

def pump(source, sink):
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            sink.sendall(data)
    with contextlib.suppress(OSError):
        sink.shutdown(socket.SHUT_WR)


def relay(connection, at):
    host, port = at.split(":")
    with socket.create_connection((host, int(port))) as server:
        back = threading.Thread(target=pump, args=(server, connection), daemon=True)
        back.start()
        pump(connection, server)
        back.join(timeout=30)


def line_of(connection):
    line = b""
    while not line.endswith(b"\r\n"):
        byte = connection.recv(1)
        if not byte:
            break
        line += byte
    return line


def test_starttls_of_smtp_comes_before_tls():
    said = []

    def talk(connection, _):
        connection.sendall(b"220-mail.invalid\r\n220 ready\r\n")
        ehlo = line_of(connection)
        connection.sendall(b"250-mail.invalid\r\n250-STARTTLS\r\n250 SIZE 1000\r\n")
        said.append((ehlo.split()[0], line_of(connection)))
        connection.sendall(b"220 go ahead\r\n")
        relay(connection, at)

    with serving("--groups", "X25519MLKEM768:X25519") as at, speaking(talk) as mail:
        server = probe("--starttls", "smtp", mail)
    assert server["starttls"] == "smtp"
    assert names(server) == [BROWSER, "X25519"]
    assert set(said) == {(b"EHLO", b"STARTTLS\r\n")}
    assert len(said) == server["connections"]["used"]


def test_a_mail_server_without_starttls_is_not_measured():
    def talk(connection, _):
        connection.sendall(b"220 ready\r\n")
        line_of(connection)
        connection.sendall(b"250 SIZE 1000\r\n")
        line_of(connection)

    with speaking(talk) as mail:
        server = probe("--starttls", "smtp", mail, code=1)
    assert server["failure"]["cause"] == "starttls"
    assert "does not offer STARTTLS" in server["failure"]["text"]


def test_a_hostile_banner_comes_out_inert():
    def talk(connection, _):
        connection.sendall(b"554 \x1b]0;owned\x07\x1b[31m<script>alert(1)</script>\x9b,\"=1\r\n")
        line_of(connection)

    with speaking(talk) as mail:
        words = ("probe", *FAST, "--starttls", "smtp", mail)
        text, table = run(*words), run(*words, "--csv", "-")
    for done in (text, table):
        assert done.returncode == 1
        shown = done.stdout + done.stderr
        assert "554 " in shown
        assert all(c == "\n" or c.isprintable() for c in shown), shown


def test_a_silent_server_ends_at_the_timeout():
    def talk(connection, _):
        while connection.recv(4096):
            pass

    with speaking(talk) as at:
        short, long = (probe("--timeout", limit, at, code=1) for limit in ("100ms", "1s"))
    for server in (short, long):
        assert server["failure"]["cause"] == "timeout"
        assert server["connections"]["used"] <= 3
    assert long["elapsed_s"] > 2 * short["elapsed_s"]


def test_the_name_asked_for_is_the_one_given():
    hellos = []

    def talk(connection, _):
        hellos.append(connection.recv(65536))

    with speaking(talk) as at:
        server = probe("--sni", "named.invalid", at, code=1)
    assert server["server_name"] == "named.invalid"
    name = b"named.invalid"
    entry = b"\x00" + len(name).to_bytes(2, "big") + name
    assert hellos and all(entry in hello for hello in hellos)
