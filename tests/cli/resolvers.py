# SPDX-License-Identifier: Apache-2.0
"""Resolvers on loopback: NSD with a zone, and one that answers by a script."""
import contextlib
import os
import pathlib
import platform
import re
import shutil
import socket
import struct
import subprocess
import threading

HTTPS, SVCB, CNAME, OPT = 65, 64, 5, 41
CONFIG = """server:
  ip-address: {address}@{port}
  username: ""
  chroot: ""
  zonesdir: "{folder}"
  database: ""
  pidfile: "{folder}/nsd.pid"
  xfrdfile: ""
  zonelistfile: "{folder}/zones"
  xfrdir: "{folder}"
  server-count: 1
remote-control:
  control-enable: no
zone:
  name: test
  zonefile: test.zone
"""
ZONE_HEAD = """$ORIGIN test.
$TTL 60
@ SOA ns.test. root.test. 1 3600 600 86400 60
@ NS ns.test.
ns A 127.0.0.1
"""


def find_nsd():
    """The system's, else the one that tools/deps --check put into the cache."""
    path = os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin"
    program = shutil.which("nsd", path=path)
    if program:
        return program
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.environ.get("HOME", "/root"),
                                                            ".cache")
    cache = pathlib.Path(home) / "pqc-bench"
    for choice in (cache / "current").glob("nsd-*"):
        program = cache / choice.read_text(encoding="utf-8").strip() / "bin" / "nsd"
        if program.is_file():
            return str(program)
    raise AssertionError(f"no NSD on this {platform.machine()}: run tools/deps --check")


def free_port(family, address):
    with socket.socket(family, socket.SOCK_STREAM) as tcp:
        tcp.bind((address, 0))
        return tcp.getsockname()[1]


def escaped(value):
    """The bytes of a presentation value, \\000 to \\255 decimal."""
    return re.sub(rb"\\(\d{3})", lambda m: bytes([int(m[1])]), value.strip('"').encode("latin-1"))


def parameter(word):
    name, _, value = word.partition("=")
    if name == "alpn":
        return 1, bytes([len(value)]) + value.encode()
    if name == "mandatory":
        return 0, struct.pack(">H", int(value.removeprefix("key")))
    return int(name.removeprefix("key")), escaped(value)


def unknown_form(line):
    """A line with key9 as an unknown type (RFC 3597): servers before NSD 4.12 know that key by
    its number alone, later ones by its name alone."""
    if "key9=" not in line:
        return line
    owner, kind, priority, target, *words = line.split()
    assert target == "."
    data = struct.pack(">H", int(priority)) + b"\0" + b"".join(
        struct.pack(">HH", number, len(value)) + value for number, value in map(parameter, words))
    return f"{owner} TYPE{dict(HTTPS=HTTPS, SVCB=SVCB)[kind]} \\# {len(data)} {data.hex()}"


class ZoneRefused(Exception):
    """What NSD said of it."""


@contextlib.contextmanager
def nsd(folder, zone, address="127.0.0.1"):
    """An authoritative server for "test."; yields what --resolver takes."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    (folder / "test.zone").write_text(ZONE_HEAD + zone, encoding="utf-8")
    for _ in range(5):  # somebody else may take the port in between
        port = free_port(family, address)
        config = folder / "nsd.conf"
        config.write_text(CONFIG.format(address=address, port=port, folder=folder),
                          encoding="utf-8")
        server = subprocess.Popen([find_nsd(), "-d", "-c", str(config)], cwd=folder,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, encoding="utf-8")
        lines = []
        for line in server.stderr:
            lines.append(line)
            if "nsd started" in line:
                break
        if lines and "nsd started" in lines[-1]:
            break
        server.wait(20)
    else:
        raise AssertionError(lines)
    if any(" errors" in line for line in lines):
        server.kill()
        server.communicate()
        raise ZoneRefused(lines)
    threading.Thread(target=server.stderr.read, daemon=True).start()
    try:
        yield f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
    finally:
        server.terminate()
        server.wait(20)


def wire_name(name):
    return b"".join(bytes([len(label)]) + label.encode() for label in name.split(".") if label
                    ) + b"\0"


def record(name, kind, data):
    return wire_name(name) + struct.pack(">HHIH", kind, 1, 60, len(data)) + data


def svcb(priority, target, codes):
    value = b"".join(struct.pack(">H", code) for code in codes)
    return struct.pack(">H", priority) + wire_name(target) + (
        struct.pack(">HH", 9, len(value)) + value if codes else b"")


class Query:
    """One as it came, and answers to it."""

    def __init__(self, data, peer, is_tcp):
        self.data, self.peer, self.is_tcp = data, peer, is_tcp
        self.number, self.flags, *self.counts = struct.unpack(">6H", data[:12])
        at, labels = 12, []
        while data[at]:
            labels.append(data[at + 1:at + 1 + data[at]].decode())
            at += 1 + data[at]
        self.name = ".".join(labels)
        self.kind, self.cls = struct.unpack(">2H", data[at + 1:at + 5])
        self.question, self.rest = data[12:at + 5], data[at + 5:]

    def answer(self, *records, number=None, flags=0x8180, question=None, counts=None):
        counts = counts or (1, len(records), 0, 0)
        return struct.pack(">6H", self.number if number is None else number, flags,
                           *counts) + (question or self.question) + b"".join(records)


def both_sockets():
    """UDP and TCP at one free port: one that is free for the first may be taken for the other."""
    for _ in range(100):
        tcp = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        tcp.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        tcp.bind(("127.0.0.1", 0))
        port = tcp.getsockname()[1]
        udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            udp.bind(("127.0.0.1", port))
            return udp, tcp, port
        except OSError:
            udp.close()
            tcp.close()
    raise AssertionError("no port is free for UDP and TCP")


@contextlib.contextmanager
def scripted(script):
    """script(query) gives the messages to send; yields the address and the queries."""
    queries = []
    udp, tcp, port = both_sockets()
    tcp.listen(16)

    def serve_udp():
        with contextlib.suppress(OSError):
            while True:
                data, peer = udp.recvfrom(4096)
                if len(data) < 17:
                    continue
                queries.append(Query(data, peer, False))
                for message in script(queries[-1]):
                    udp.sendto(message, peer)

    def serve_tcp():
        with contextlib.suppress(OSError):
            while True:
                conn, peer = tcp.accept()
                with conn, contextlib.suppress(OSError, struct.error):
                    conn.settimeout(10)
                    size, = struct.unpack(">H", conn.recv(2, socket.MSG_WAITALL))
                    queries.append(Query(conn.recv(size, socket.MSG_WAITALL), peer, True))
                    for message in script(queries[-1]):
                        conn.sendall(struct.pack(">H", len(message)) + message)

    threads = [threading.Thread(target=serve, daemon=True) for serve in (serve_udp, serve_tcp)]
    for thread in threads:
        thread.start()
    try:
        yield f"127.0.0.1:{port}", queries
    finally:
        # A thread that waits in recvfrom is woken by one more, empty message.
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as last:
            shut = udp
            with contextlib.suppress(OSError):
                shut.shutdown(socket.SHUT_RDWR)
            last.sendto(b"", ("127.0.0.1", port))
        udp.close()
        with contextlib.suppress(OSError):
            tcp.shutdown(socket.SHUT_RDWR)
        tcp.close()
        for thread in threads:
            thread.join(5)
