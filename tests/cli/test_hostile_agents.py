# SPDX-License-Identifier: Apache-2.0
"""What `load` reads of an agent is a stranger's: does a run end, and keep its handshakes, whatever
the agent answers once it has been found?"""
import concurrent.futures
import contextlib
import json
import socket
import threading
import time

import faults
import scripted
from faults import loading, problems, total


def head(length):
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % length


def endless(conn):
    conn.sendall(head(10 ** 12))
    while True:
        conn.sendall(b"[" * 65536)


def byte_by_byte(conn):
    for byte in head(10000) + b" " * 10000:
        conn.sendall(bytes([byte]))
        time.sleep(0.1)


def silent(conn):
    conn.recv(1)


def says(body):
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return lambda conn: conn.sendall(head(len(data)) + data)


SAMPLE = {"at_ns": 1, "label": "x", "present": True}
ANSWERS = {
    "endless": endless,
    "byte by byte": byte_by_byte,
    "silent": silent,
    "closes": lambda conn: None,
    "resets": scripted.reset,
    "no HTTP": lambda conn: conn.sendall(b"\x15\x03\x03\0\2\2\x28"),
    "no JSON": says(b"x" * 5000),
    "deep": says(b"[" * 100000),
    "no object": says([]),
    "nothing of it": says({}),
    "negative": says({**SAMPLE, "cpu_ns": -1}),
    "no number": says({**SAMPLE, "cpu_ns": "1e999"}),
    "text that drives a terminal": says({**SAMPLE, "present": False, "label": "\x1b]0;x\7"}),
    "404": lambda conn: conn.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"),
    "headers without end": lambda conn: conn.sendall(b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 50000),
}


def attack(answer, directory):
    """A load whose agent turns between two trials."""
    turned = threading.Event()

    def forward(client, upstream):
        if not turned.is_set():
            scripted.both_ways(client, upstream)
            return
        with contextlib.suppress(OSError):
            client.recv(65536)
            answer(client)
            client.shutdown(socket.SHUT_WR)

    with faults.serving(directory, "--agent", "127.0.0.1:0") as (_, port, agent), \
            scripted.proxy(int(agent.rsplit(":", 1)[1]), forward) as front, \
            loading(directory, "--target", f"127.0.0.1:{port}", "--agent", f"127.0.0.1:{front}",
                    "--trials", "3") as load:
        load.wait_for_trials(1)
        turned.set()
        assert load.end() == 0, load.stderr
    return load


def complain(name, directory):
    """What is wrong, or None."""
    directory.mkdir()
    load = attack(ANSWERS[name], directory)
    text, result = load.report()
    if not {"agent-lost", "agent-process-gone"} & set(problems(result)):
        return f"{name}: {faults.dump(result)}"
    last = result["arms"][0]["trials"][-1]
    if total(result, "failed") > 0 or last["index"] != 3 or "server_cpu_us" in last:
        return f"{name}: {last}"
    return f"{name}: {text!r}" if "\x1b" in load.stdout + text else None


def test_an_agent_that_turns_hostile_costs_its_figures_alone(tmp_path):
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        found = pool.map(lambda name: complain(name, tmp_path / name.replace(" ", "-")), ANSWERS)
        wrong = [why for why in found if why]
    assert not wrong, "\n".join(wrong)
