# SPDX-License-Identifier: Apache-2.0
"""Servers that answer badly on purpose: a listener, and a script for each connection."""
import contextlib
import socket
import struct
import threading

ALERT_FATAL, ALERT_WARNING = 2, 1


def alert(level, number, version=b"\x03\x03"):
    return b"\x15" + version + b"\x00\x02" + bytes([level, number])


def read_record(conn):
    """One TLS record, header included; b'' at the end of the stream."""
    head = read_exactly(conn, 5)
    if len(head) < 5:
        return b""
    return head + read_exactly(conn, struct.unpack(">H", head[3:5])[0])


def read_exactly(conn, count):
    data = b""
    while len(data) < count:
        more = conn.recv(count - len(data))
        if not more:
            return data
        data += more
    return data


def reset(conn):
    conn.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


@contextlib.contextmanager
def server(script, host="127.0.0.1", backlog=200):
    """script(conn, number) for every connection, each in a thread; yields the port."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((host, 0))
    listener.listen(backlog)
    threads = []

    def handle(conn, number):
        with contextlib.suppress(OSError), conn:
            conn.settimeout(20)
            script(conn, number)

    def accept():
        number = 0
        with contextlib.suppress(OSError):
            while True:
                conn, _ = listener.accept()
                thread = threading.Thread(target=handle, args=(conn, number), daemon=True)
                thread.start()
                threads.append(thread)
                number += 1

    acceptor = threading.Thread(target=accept, daemon=True)
    acceptor.start()
    try:
        yield listener.getsockname()[1]
    finally:
        with contextlib.suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        acceptor.join(5)


@contextlib.contextmanager
def proxy(target_port, forward):
    """forward(client, upstream) for every connection to a fresh port."""
    def script(conn, _number):
        with socket.create_connection(("127.0.0.1", target_port)) as upstream:
            upstream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            conn.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            forward(conn, upstream)

    with server(script) as port:
        yield port


def pump(source, sink, piece=65536, pause=None):
    """Copy until the end; in pieces of at most `piece` bytes."""
    with contextlib.suppress(OSError):
        while True:
            data = source.recv(65536)
            if not data:
                break
            for at in range(0, len(data), piece):
                sink.sendall(data[at:at + piece])
                if pause is not None:
                    pause()
        sink.shutdown(socket.SHUT_WR)


def both_ways(client, upstream, **down):
    up = threading.Thread(target=pump, args=(client, upstream), daemon=True)
    up.start()
    pump(upstream, client, **down)
    up.join(20)
