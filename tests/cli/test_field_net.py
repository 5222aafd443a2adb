# SPDX-License-Identifier: Apache-2.0
"""What went wrong in the field below TLS: names and addresses (F1 to F5), ports and queues that
were too small (F9), bursts of failures and work that was cut off (A10, B13, E11)."""
import contextlib
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from conftest import PROGRAM, environment, listed, run, strict_json
import faults
import scripted
from test_faults_limits import needs_mount, needs_net
from tls13 import Server

NULL = "a: groups=X25519 backend=null verify=off"
REAL = "a: groups=X25519 verify=off"
SERVER_NAME = 0  # the extension, RFC 6066
PATIENT = ["--warmup", "0", "--trials", "1", "--no-calibrate", "--timeout", "60s", "--grace",
           "60s", "--json", "-"]

needs_openssl = pytest.mark.skipif(
    not any(b["name"] == "openssl" for b in listed()["backends"]),
    reason="no OpenSSL backend is installed")


def inside(shell, *words, timeout=180):
    """`load` in namespaces of its own that `shell` prepares; what that started ends with it."""
    command = ["unshare", "-rnm", "sh", "-c", f"ip link set lo up; {shell}; exec \"$@\"", "sh",
               PROGRAM, "load", *map(str, words)]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, encoding="utf-8", env=environment(),
                               start_new_session=True)
    try:
        out, err = process.communicate(timeout=timeout)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(20)
    assert out, err
    return subprocess.CompletedProcess(command, process.returncode, out, err)


def trial_of(done):
    trial = strict_json(done.stdout)["arms"][0]["trials"][0]
    tally = trial["tally"]
    assert tally["scheduled"] == sum(n for key, n in tally.items() if key != "scheduled"), tally
    return trial


def failures(trial):
    return {(f["phase"], f["cause"], f["code"], f["local"]): f["count"]
            for f in trial.get("failures", [])}


# ---- F1 to F3: what name is sent ----

def name_sent(target, *words, arm=REAL, host="127.0.0.1"):
    """The server name in every ClientHello of a run; None where there is none."""
    seen = []

    def script(conn, _number):
        data = Server(conn).read_hello().extensions.get(SERVER_NAME)
        seen.append(None if data is None else data[5:].decode())
        conn.sendall(scripted.alert(2, 40))

    with scripted.server(script, host=host) as port:
        done = run("load", "--target", target.format(port), "--rate", "40", "--duration", "100ms",
                   "--arm", arm, *PATIENT, *words)
    assert failures(trial_of(done)) == {("tls", "alert", 40, False): 4}, done.stderr
    assert len(seen) == 4 and len(set(seen)) == 1, seen
    return seen[0]


@needs_openssl
@pytest.mark.parametrize("target,words,arm,expected", [
    ("localhost:{}", [], REAL, "localhost"),
    ("localhost:{}", ["--sni", "other.example"], REAL, "other.example"),
    ("localhost:{}", [], REAL + " sni=off", None),
    ("localhost.:{}", [], REAL, "localhost"),
    ("127.0.0.1:{}", [], REAL, None),
    ("127.0.0.1:{}", ["--sni", "other.example"], REAL, "other.example"),
], ids=["by itself", "another", "off", "trailing dot", "an address has none",
        "an address may be given one"])
def test_the_name_that_is_sent(target, words, arm, expected):
    assert name_sent(target, *words, arm=arm) == expected


@needs_openssl
def test_an_ipv6_literal_connects_and_is_no_name():
    assert name_sent("[::1]:{}", host="::1") is None


# ---- F5: the first address does not listen ----

@needs_mount
@needs_net
def test_a_name_whose_first_address_does_not_listen_falls_back(tmp_path):
    """::1 comes first (RFC 6724), the server is on 127.0.0.1 alone."""
    hosts, order = tmp_path / "hosts", tmp_path / "order"
    hosts.write_text("127.0.0.1 localhost twofold\n::1 localhost twofold\n")
    look = ("import socket; print(*[a[4][0] for a in socket.getaddrinfo('twofold', 1, "
            "type=socket.SOCK_STREAM)])")
    port_file = tmp_path / "port"
    shell = (f"mount --bind {hosts} /etc/hosts; {sys.executable} -c \"{look}\" >{order}; "
             f"{PROGRAM} serve --backend null --listen 127.0.0.1:0 --port-file {port_file} "
             f">/dev/null 2>&1 & while ! test -s {port_file}; do sleep 0.05; done; "
             f"set -- \"$@\" --target twofold:$(cat {port_file})")
    done = inside(shell, "--rate", "40", "--duration", "500ms", "--arm", NULL, *PATIENT)
    if order.read_text().split() != ["::1", "127.0.0.1"]:
        pytest.skip("::1 does not come first here: " + order.read_text())
    trial = trial_of(done)
    assert done.returncode == 0, done.stderr
    assert trial["tally"]["completed"] == 20 and not failures(trial)


# ---- F9: local ports used up ----

# Connections that nobody takes keep their ports to the end.
HOLD = ("import socket, time; s = socket.socket(); s.bind(('127.0.0.1', 9999)); s.listen(1000); "
        "print(flush=True); time.sleep(600)")
HELD = ("echo 40000 40099 >/proc/sys/net/ipv4/ip_local_port_range; mkfifo {fifo}; "
        f"{sys.executable} -c \"{HOLD}\" >{{fifo}} 2>/dev/null & read line <{{fifo}}")


def with_a_hundred_ports(tmp_path, *words):
    return inside(HELD.format(fifo=tmp_path / "fifo"), "--target", "127.0.0.1:9999", "--rate",
                  "100", "--duration", "4s", "--warmup", "0", "--trials", "1", "--no-calibrate",
                  "--timeout", "60s", "--grace", "1s", "--json", "-", "--arm", NULL, *words)


@needs_net
def test_ports_used_up_are_a_local_cause_and_no_error_of_the_server(tmp_path):
    trial = trial_of(with_a_hundred_ports(tmp_path))
    assert trial["tally"]["unfinished"] == 100, trial["tally"]
    (kind, count), = failures(trial).items()
    assert (kind[0], kind[1], kind[3]) == ("tcp", "errno", True) and count == 300


@needs_net
def test_several_source_addresses_have_as_many_times_the_ports(tmp_path):
    trial = trial_of(with_a_hundred_ports(tmp_path, "--source", "127.0.0.2-127.0.0.5"))
    assert trial["tally"]["unfinished"] == 400 and not failures(trial), trial


# ---- E11, B13, A10: some connections fail, or never end ----

@pytest.fixture(name="target")
def _target(tmp_path):
    with faults.serving(tmp_path) as (_, port, _agent):
        yield port


def through(forward, port, *words):
    with scripted.proxy(port, forward) as front:
        return run("load", "--target", f"127.0.0.1:{front}", "--arm", NULL, *PATIENT, *words,
                   timeout=180)


def numbered(forward):
    """forward(number, client, upstream): the connections in the order in which they came."""
    lock, count = threading.Lock(), [0]

    def script(client, upstream):
        with lock:
            number = count[0]
            count[0] += 1
        forward(number, client, upstream)
    return script


def test_two_hundred_resets_do_not_end_the_run(target):
    def forward(number, client, upstream):
        if number < 200:
            scripted.reset(client)
        else:
            scripted.both_ways(client, upstream)

    done = through(numbered(forward), target, "--rate", "100", "--duration", "3s")
    assert done.returncode == 0, done.stderr
    trial = trial_of(done)
    assert trial["tally"]["failed"] == 200 and trial["tally"]["completed"] == 100, trial["tally"]
    assert {(cause, code) for _, cause, code, _ in failures(trial)} <= {
        ("errno", 104), ("errno", 32)}


def test_failures_that_are_fast_do_not_make_the_others_look_so(target):
    """Half is refused at once, half is done after 100 ms: percentiles are of the latter alone."""
    def forward(number, client, upstream):
        if number % 2 == 0:
            client.recv(1)
            client.sendall(scripted.alert(2, 40))
            return
        time.sleep(0.1)
        scripted.both_ways(client, upstream)

    trial = trial_of(through(numbered(forward), target, "--rate", "40", "--duration", "1s"))
    assert trial["tally"]["completed"] == trial["tally"]["failed"] == 20, trial["tally"]
    tls = trial["latency_us"]["tls"]
    assert tls["count"] == 20 and tls["min"] >= 100e3, tls
    assert sum(failures(trial).values()) == 20


def test_work_in_flight_at_the_end_is_counted_and_marks_the_percentiles(target):
    may_end = threading.Event()

    def forward(number, client, upstream):
        if number % 10 == 9:
            may_end.wait(60)
            return
        scripted.both_ways(client, upstream)

    with contextlib.ExitStack() as stack:
        stack.callback(may_end.set)
        done = through(numbered(forward), target, "--rate", "50", "--duration", "2s", "--grace",
                       "3s")
    trial = trial_of(done)
    assert trial["tally"]["completed"] == 90 and trial["tally"]["unfinished"] == 10, trial["tally"]
    assert trial["censored"] is True
    assert trial["oldest_unfinished_ns"] >= 3e9, "the grace at least"
    assert all(trial["latency_us"][phase]["count"] == 90 for phase in trial["latency_us"])
