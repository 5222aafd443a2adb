# SPDX-License-Identifier: Apache-2.0
"""A relay that does to a ClientHello what a network or a middlebox may do.

    middlebox.py wait HOST PORT              until somebody listens there
    middlebox.py split|swallow HOST PORT TARGET_PORT

split: every second connection's first bytes go on in two pieces, GAP_S apart, cut at one of CUTS
in turn; swallow: what is behind the first SEGMENT bytes never goes on. The others pass untouched.
"""
import contextlib
import socket
import sys
import threading
import time

CUTS = (1, 5, 700, 1460)
GAP_S = 0.2
SEGMENT = 1448


def read_hello(conn):
    """The first record, however many pieces it came in; empty where none came."""
    data = b""
    while len(data) < 5 or len(data) < 5 + int.from_bytes(data[3:5], "big"):
        more = conn.recv(65536)
        if not more:
            return b""
        data += more
    return data


def pump(source, sink):
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)


def carry(conn, number, mode, target):
    """number: of the connections that sent a ClientHello; a list of one that counts them."""
    with conn, contextlib.suppress(OSError):
        hello = read_hello(conn)
        if not hello:
            return
        mine = number[0]
        number[0] += 1
        with socket.create_connection(("127.0.0.1", target)) as server:
            server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if mode == "swallow" and len(hello) > SEGMENT:
                server.sendall(hello[:SEGMENT])
                pump(server, conn)
                return
            cut = CUTS[mine // 2 % len(CUTS)] if mode == "split" and mine % 2 else len(hello)
            server.sendall(hello[:cut])
            if cut < len(hello):
                time.sleep(GAP_S)
                server.sendall(hello[cut:])
            back = threading.Thread(target=pump, args=(server, conn), daemon=True)
            back.start()
            pump(conn, server)
            back.join(10)


def wait_for(host, port):
    while True:
        with contextlib.suppress(OSError), socket.create_connection((host, port), timeout=1):
            return
        time.sleep(0.02)


def relay(mode, host, port, target):
    wait_for("127.0.0.1", target)
    number = [0]
    with socket.create_server((host, port), backlog=100) as listener:
        while True:
            conn, _ = listener.accept()
            threading.Thread(target=carry, args=(conn, number, mode, target),
                             daemon=True).start()


if __name__ == "__main__":
    if sys.argv[1] == "wait":
        wait_for(sys.argv[2], int(sys.argv[3]))
    else:
        relay(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
