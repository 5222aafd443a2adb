# SPDX-License-Identifier: Apache-2.0
"""pqc-bench load: counts, failures as data, and what ends a run."""
import contextlib
import os
import signal
import socket
import subprocess
import threading
import time

import pytest

from conftest import PROGRAM, assert_usage_error, environment, listed, run, strict_json
import faults
import hostile
import scripted

NULL = "a: groups=X25519 backend=null"
REAL = "a: groups=X25519 verify=off"
QUICK = ["--duration", "500ms", "--warmup", "0", "--trials", "1", "--rate", "40", "--grace",
         "1s", "--timeout", "3s", "--no-calibrate", "--json", "-"]


def load(*words, arm=NULL, quick=True, **more):
    return run("load", *(QUICK if quick else []), "--arm", arm, *words, **more)


def first_trial(done):
    assert done.stdout, done.stderr
    return strict_json(done.stdout)["arms"][0]["trials"][0]


def tally(trial):
    t = trial["tally"]
    assert t["scheduled"] == sum(t[key] for key in t if key != "scheduled"), t
    return t


def failures(trial):
    return {(f["phase"], f["cause"], f["code"]): f["count"] for f in trial.get("failures", [])}


def needs_openssl():
    if not any(b["name"] == "openssl" for b in listed()["backends"]):
        pytest.skip("no OpenSSL backend is installed")


# ---- arguments ----

@pytest.mark.parametrize("option,value", [
    ("--duration", "0"), ("--workers", "0"), ("--rate", "0"), ("--rate", "-1"),
    ("--rate", "nan"), ("--rate", "inf"), ("--rate", "1e400"), ("--rate", "10x"),
    ("--trials", "0"), ("--max-in-flight", "0"), ("--interleave", "never"),
    ("--source", "127.0.0.9-127.0.0.2"), ("--target", "nowhere"), ("--target", "::1:443"),
    ("--target", "bücher.example:443"), ("--target", "host:70000"), ("--path", "x"),
])
def test_nonsense_is_a_usage_error_that_names_the_option(option, value):
    done = run("load", option, value, "--arm", NULL, "-q")
    assert_usage_error(done, option)


# ---- the embedded server ----

def test_every_arrival_is_counted_on_the_embedded_server():
    done = load()
    assert done.returncode == 0, done.stderr
    trial = first_trial(done)
    assert tally(trial)["completed"] == 20
    result = strict_json(done.stdout)
    assert result["arms"][0]["negotiated"]["counts"] == {"X25519": 20}
    assert "loopback-hides-network" in [p["code"] for p in result["validity"]["problems"]]


def test_openssl_negotiates_what_each_arm_offers_on_one_server():
    needs_openssl()
    done = run("load", *QUICK, "--arm", "classical: groups=X25519 backend=openssl",
               "--arm", "pq: groups=X25519MLKEM768 backend=openssl", "--interleave", "connection")
    assert done.returncode == 0, done.stderr
    arms = {a["name"]: a for a in strict_json(done.stdout)["arms"]}
    assert arms["classical"]["negotiated"]["counts"] == {"X25519": 10}
    assert arms["pq"]["negotiated"]["counts"] == {"X25519MLKEM768": 10}
    assert all(a["negotiated"]["hrr"] == 0 and a["negotiated"]["resumed"] == 0
               for a in arms.values())
    grown = arms["pq"]["bytes"]["client_hello"] - arms["classical"]["bytes"]["client_hello"]
    assert grown in (1176, 1178)  # OpenSSL 3.5, 3.6: the point formats that go


def test_resumption_happens_where_it_is_asked_for():
    needs_openssl()
    done = load("--rate", "60", arm="a: groups=X25519 resume=0.5")
    assert done.returncode == 0, done.stderr
    negotiated = strict_json(done.stdout)["arms"][0]["negotiated"]
    assert 10 <= negotiated["resumed"] <= 15, negotiated


def test_payload_arrives_whole():
    done = load("--rate", "10", arm=NULL + " payload=3MB")
    assert done.returncode == 0, done.stderr
    assert tally(first_trial(done))["completed"] == 5


def test_samples_hold_every_handshake(tmp_path):
    path = tmp_path / "samples.csv"
    done = load("--samples", path, "--workers", "2")
    assert done.returncode == 0, done.stderr
    lines = path.read_text(encoding="utf-8").splitlines()
    assert len(lines) == 21
    assert lines[0].startswith("arm,trial,due_s,start_lag_us,tcp_us,tls_us")
    due = sorted(float(line.split(",")[2]) for line in lines[1:])
    assert all(abs(d - i / 40) < 1e-6 for i, d in enumerate(due))


def children_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
        return [int(word) for word in f.read().split()]


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as f:
            return f.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def start_long(*words):
    return subprocess.Popen([PROGRAM, "load", "--duration", "20s", "--warmup", "0", "--rate", "50",
                             "--no-calibrate", "--arm", NULL, *words], env=environment(),
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for_child(process):
    """The embedded server, once it serves and the load has begun."""
    def look():
        for child in children_of(process.pid):
            with contextlib.suppress(OSError), open(f"/proc/{child}/cmdline", "rb") as f:
                if (b"--control-fd" in f.read() and "server" in faults.threads(child) and
                        "client" in faults.threads(process.pid)):
                    return child
        return None
    return faults.until(look, "an embedded server that is asked")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_the_embedded_server_is_gone_whatever_ends_the_run(number):
    process = start_long("--trials", "1", "-q")
    child = wait_for_child(process)
    assert is_alive(child)
    process.send_signal(number)
    process.communicate(timeout=120)
    faults.until(lambda: not is_alive(child), "the end of the embedded server")


def test_an_interrupt_keeps_finished_trials(tmp_path):
    process = start_long("--trials", "1000", "--duration", "500ms", "--json", "-", "-q", "-o",
                         tmp_path / "r")
    faults.until((tmp_path / "r" / "result.json").exists, "a trial")
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=120)
    result = strict_json(out)
    assert result["interrupted"] is True and result["interrupted_by"] == "SIGINT"
    assert 1 <= len(result["arms"][0]["trials"]) < 1000


def test_a_killed_server_is_an_error_and_not_a_hang():
    process = start_long("--trials", "1", "--duration", "3s", "--grace", "1s", "-q")
    os.kill(wait_for_child(process), signal.SIGKILL)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "embedded server" in err


# ---- failures are data ----

def until_it_goes(conn):
    while conn.recv(65536):
        pass


def silent(conn, _number):
    until_it_goes(conn)


def closes(conn, _number):
    scripted.read_record(conn)


def resets(conn, _number):
    scripted.read_record(conn)
    scripted.reset(conn)


@pytest.mark.parametrize("script,expected", [
    (hostile.after_hello(scripted.alert(2, 40)), ("tls", "alert", 40)),
    (hostile.after_hello(scripted.alert(2, 80)), ("tls", "alert", 80)),
    (hostile.after_hello(scripted.alert(2, 112)), ("tls", "alert", 112)),
    (hostile.after_hello(b"HTTP/1.1 400 Bad Request\r\n\r\n"), ("tls", "not-tls", None)),
    (hostile.after_hello(b"SSH-2.0-OpenSSH_9.2\r\n"), ("tls", "not-tls", None)),
    (closes, ("tls", "eof", None)),
    (resets, ("tls", "errno", 104)),
])
def test_each_bad_answer_has_its_cause(script, expected):
    needs_openssl()
    with scripted.server(script) as port:
        done = load("--target", f"127.0.0.1:{port}", arm=REAL)
    assert done.returncode == 1, done.stderr
    trial = first_trial(done)
    assert tally(trial)["failed"] == 20
    assert "latency_us" not in trial or not trial["latency_us"]
    (phase, cause, code), = failures(trial)
    assert (phase, cause) == expected[:2]
    assert expected[2] is None or code == expected[2]


def test_a_listener_that_never_speaks_is_a_timeout_in_tls():
    with scripted.server(silent) as port:
        done = load("--target", f"127.0.0.1:{port}", "--timeout", "300ms", arm=NULL + " verify=off")
    trial = first_trial(done)
    assert tally(trial)["timed_out"] == 20
    assert failures(trial) == {("tls", "timeout", 0): 20}
    assert "after a ClientHello of" in trial["failures"][0]["detail"]


def test_a_run_against_silence_ends_at_duration_plus_grace():
    """One that waited for the timeout, ten minutes, would not end before this test does."""
    with scripted.server(silent) as port:
        done = load("--target", f"127.0.0.1:{port}", "--timeout", "10m", arm=NULL + " verify=off",
                    timeout=120)
    trial = first_trial(done)
    assert tally(trial)["unfinished"] == 20
    assert trial["censored"] is True and trial["oldest_unfinished_ns"] >= 1e9


def test_a_refused_port_is_exit_1_without_latency():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        done = load("--target", f"127.0.0.1:{s.getsockname()[1]}")
    assert done.returncode == 1
    assert "not one handshake" in done.stderr
    trial = first_trial(done)
    assert failures(trial) == {("tcp", "errno", 111): 20}
    assert "latency_us" not in trial or not trial["latency_us"]


@pytest.fixture(name="target")
def _target(tmp_path):
    """A server of ours for proxies to stand before: its port and its root."""
    port_file, root_file = tmp_path / "port", tmp_path / "root.pem"
    with subprocess.Popen([PROGRAM, "serve", "--listen", "127.0.0.1:0", "--port-file", port_file,
                           "--root-file", root_file], env=environment(),
                          stdout=subprocess.PIPE) as process:
        try:
            process.stdout.readline()
            yield int(port_file.read_text(encoding="ascii")), root_file
        finally:
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=20)


def through(forward, target, *words, arm="a: groups=X25519MLKEM768"):
    needs_openssl()
    port, root = target
    with scripted.proxy(port, forward) as front:
        return load("--target", f"127.0.0.1:{front}", "--roots", root, "--sni", "localhost",
                    *words, arm=arm)


def test_a_server_flight_byte_by_byte_is_one_success(target):
    def forward(client, upstream):
        scripted.both_ways(client, upstream, piece=1)

    done = through(forward, target, "--rate", "6")
    assert done.returncode == 0, done.stderr
    assert tally(first_trial(done))["completed"] == 3


def test_time_counts_from_the_hello_over_a_slow_flight(target):
    def forward(client, upstream):
        up = threading.Thread(target=scripted.pump, args=(client, upstream), daemon=True)
        up.start()
        first = upstream.recv(65536)
        client.sendall(first[:90])
        time.sleep(0.2)
        client.sendall(first[90:])
        scripted.pump(upstream, client)

    done = through(forward, target, "--rate", "6")
    assert done.returncode == 0, done.stderr
    assert first_trial(done)["latency_us"]["tls"]["min"] >= 200000


def test_a_middlebox_that_drops_the_second_segment_is_a_timeout_that_says_so(target):
    def forward(client, upstream):
        upstream.sendall(scripted.read_exactly(client, 700))
        until_it_goes(client)

    trial = first_trial(through(forward, target, "--timeout", "400ms"))
    assert tally(trial)["timed_out"] == 20
    detail = trial["failures"][0]["detail"]
    assert "after a ClientHello of 1" in detail and "bytes" in detail


def test_a_cut_in_the_middle_of_the_response_is_truncated(target):
    def forward(client, upstream):
        up = threading.Thread(target=scripted.pump, args=(client, upstream), daemon=True)
        up.start()
        passed = 0
        while passed < 20000:
            data = upstream.recv(20000 - passed)
            client.sendall(data)
            passed += len(data)
        client.shutdown(socket.SHUT_RDWR)

    trial = first_trial(through(forward, target, "--path", "/bytes/100000"))
    assert tally(trial)["failed"] == 20, trial
    assert {key[0] for key in failures(trial)} == {"response"}


def test_an_untrusted_certificate_is_refused(target):
    needs_openssl()
    done = load("--target", f"127.0.0.1:{target[0]}", "--sni", "localhost", arm="a: groups=X25519")
    assert done.returncode == 1
    (phase, cause, _code), = failures(first_trial(done))
    assert (phase, cause) == ("tls", "verify")


def test_a_status_of_failure_is_a_failure_of_the_response(target):
    needs_openssl()
    done = load("--target", f"127.0.0.1:{target[0]}", "--sni", "localhost", "--path", "/none",
                arm=REAL)
    assert failures(first_trial(done)) == {("response", "http-status", 404): 20}


def test_running_out_of_ports_is_our_own_failure(target):
    needs_openssl()
    done = load("--target", f"127.0.0.1:{target[0]}", "--source", "192.0.2.1", arm=REAL)
    trial = first_trial(done)
    assert all(f["local"] for f in trial["failures"])
    assert {f["phase"] for f in trial["failures"]} == {"tcp"}


def test_source_addresses_take_turns(target):
    seen = []
    needs_openssl()

    def script(conn, _number):
        seen.append(conn.getpeername()[0])

    with scripted.server(script) as port:
        load("--target", f"127.0.0.1:{port}", "--source", "127.0.0.2-127.0.0.5", arm=REAL)
    assert set(seen) == {f"127.0.0.{i}" for i in range(2, 6)}


def test_arrivals_are_even_at_the_server():
    """A second's work in one burst has gaps of nothing; a machine that is busy has some."""
    times = []

    def script(_conn, _number):
        times.append(time.monotonic())

    with scripted.server(script) as port:
        load("--target", f"127.0.0.1:{port}", "--rate", "50", "--duration", "2s", "--workers",
             "12", arm=NULL + " verify=off")
    times.sort()
    gaps = sorted(b - a for a, b in zip(times, times[1:]))
    assert len(times) == 100
    assert 0.5 / 50 < gaps[len(gaps) // 2] < 2 / 50, gaps


def test_a_name_with_several_addresses_falls_back_to_the_one_that_listens(target):
    needs_openssl()
    done = load("--target", f"localhost.:{target[0]}", "--roots", target[1],
                arm="a: groups=X25519")
    assert done.returncode == 0, done.stderr
    assert tally(first_trial(done))["completed"] == 20
