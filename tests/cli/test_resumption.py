# SPDX-License-Identifier: Apache-2.0
"""pqc-bench load: sessions that resume, tickets, early data; what the server accepted."""
import contextlib
import os
import re
import socket
import subprocess

import pytest

from conftest import assert_usage_error, environment, listed, run, strict_json
from test_load import QUICK, failures, first_trial, tally
from test_link import needs_link
from test_serve import serving
import peers
import scripted

pytestmark = pytest.mark.skipif(not any(b["name"] == "openssl" for b in listed()["backends"]),
                                reason="no OpenSSL backend is installed")

ALONE = "a: groups=X25519 verify=off "


def load(arm, *words):
    done = run("load", *QUICK, "--workers", "1", "--arm", arm, *words)
    assert done.returncode == 0, done.stderr
    return strict_json(done.stdout)


def negotiated(result):
    return result["arms"][0]["negotiated"]


def problems(result):
    return {p["code"]: p["message"] for p in result["validity"]["problems"]}


def samples(result, phase="tls"):
    trial = result["arms"][0]["trials"][0]
    return {name: part["latency_us"][phase]["count"]
            for name, part in trial.get("by_handshake", {}).items()}


def completed(result):
    trial = result["arms"][0]["trials"][0]
    assert trial["failures"] == []
    return tally(trial)["completed"]


@contextlib.contextmanager
def through(choose):
    """A port whose connections each go to the port that choose(number) names."""
    def script(conn, number):
        with socket.create_connection(("127.0.0.1", choose(number))) as upstream:
            for end in (conn, upstream):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            scripted.both_ways(conn, upstream)

    with scripted.server(script) as port:
        yield port


@contextlib.contextmanager
def two_servers(tmp_path, *words, other=None):
    """Two servers with ticket keys of their own: their ports."""
    for name in "ab":
        (tmp_path / name).mkdir()
    with serving(tmp_path / "a", *words) as one, \
            serving(tmp_path / "b", *(words if other is None else other)) as two:
        yield one, two


# ---- the share ----

@pytest.mark.parametrize("more", ["", " early-data=1000", " early-data=1000 anti-replay=off",
                                  " tls=1.2 groups=X25519:secp256r1"])
def test_the_share_accepted_is_the_share_asked(more):
    arm = ("a: " if "groups" in more else "a: groups=X25519 ") + "resume=0.9" + more
    result = load(arm, "--rate", "300", "--duration", "1s", "--warmup", "1s", "--workers", "2")
    seen = negotiated(result)
    assert seen["handshakes"] == completed(result) == 300
    assert abs(seen["resume_asked"] - 270) <= 2  # of each worker less than one off
    assert abs(seen["resumed"] - seen["resume_asked"]) <= 3, seen
    early = seen["early_data_accepted"]
    assert early == (seen["resumed"] if "early" in more else 0)
    assert seen["early_data_rejected"] == 0
    kind = "early_data" if "early" in more else "resumed"
    assert samples(result) == {"full": 300 - seen["resumed"], kind: seen["resumed"]}


@pytest.mark.skipif(os.cpu_count() < 2, reason="needs two cores")
@pytest.mark.parametrize("early", [(), ("--early-data", "1000"),
                                   ("--early-data", "1000", "--anti-replay=off")])
def test_a_ticket_of_one_server_worker_is_good_at_the_others(tmp_path, early):
    """The kernel spreads the connections over both workers."""
    arm = ALONE + "resume=0.9" + (" early-data=1000" if early else "")
    with serving(tmp_path, "--tickets", "2", "--cores", "0-1", *early) as server:
        result = load(arm, "--target", f"127.0.0.1:{server[1]}", "--rate", "100", "--duration",
                      "1s")
    seen = negotiated(result)
    assert completed(result) == 100
    assert seen["resume_offered"] == seen["resumed"] >= 80, seen
    if early:
        assert seen["early_data_accepted"] == seen["resumed"]


def needs_peer(name):
    return pytest.param(name, marks=pytest.mark.skipif(not peers.is_there(name),
                                                       reason=f"needs {name}"))


@pytest.mark.parametrize("more", ["", " early-data=1000", " tls=1.2 groups=X25519:secp256r1"])
@pytest.mark.parametrize("name", [needs_peer("nginx"), needs_peer("haproxy")])
def test_others_servers_accept_the_share_asked(tmp_path, name, more):
    arm = ("a: verify=off " if "groups" in more else ALONE) + "resume=0.9" + more
    with peers.serving(name, tmp_path, early="early" in more) as port:
        result = load(arm, "--target", f"127.0.0.1:{port}", "--sni", "localhost", "--rate",
                      "300", "--duration", "1s", "--warmup", "1s", "--workers", "2")
    seen = negotiated(result)
    assert seen["handshakes"] == completed(result) == 300
    assert abs(seen["resume_asked"] - 270) <= 2
    assert abs(seen["resumed"] - seen["resume_asked"]) <= 3, seen
    if "early" in more:
        assert seen["early_data_accepted"] == seen["resumed"]


def test_full_and_resumed_ones_are_merged_exactly():
    result = load("a: groups=X25519 resume=0.5", "--trials", "2", "--workers", "3")
    for trial in result["arms"][0]["trials"]:
        for phase, row in trial["latency_us"].items():
            parts = [part["latency_us"][phase] for part in trial["by_handshake"].values()]
            assert row["count"] == sum(part["count"] for part in parts)
            assert row["min"] == min(part["min"] for part in parts)
            assert row["max"] == max(part["max"] for part in parts)
        assert set(trial["by_handshake"]) == {"full", "resumed"}


def test_samples_tell_how_each_handshake_began(tmp_path):
    path = tmp_path / "samples.csv"
    result = load("a: groups=X25519 resume=0.5 early-data=1000", "--samples", path)
    lines = [line.split(",") for line in path.read_text(encoding="utf-8").splitlines()]
    at = lines[0].index("early_data")
    early = [line[at] for line in lines[1:]]
    assert set(early) == {"0", "1"}
    assert early.count("1") == negotiated(result)["early_data_accepted"]


def test_without_resumption_nothing_is_split():
    result = load("a: groups=X25519")
    assert "by_handshake" not in result["arms"][0]["trials"][0]


# ---- D4: tickets ----

def own_certificate(tmp_path):
    key, cert = tmp_path / "key.pem", tmp_path / "cert.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=localhost", "-keyout", key,
                    "-out", cert], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    return ["-key", key, "-cert", cert]


@contextlib.contextmanager
def s_server(tmp_path, *words):
    with subprocess.Popen(["openssl", "s_server", "-accept", "127.0.0.1:0", "-www",
                           *own_certificate(tmp_path), *words], env=environment(),
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True) as process:
        try:
            for line in process.stdout:
                found = re.match(r"ACCEPT .*:(\d+)$", line.strip())
                if found:
                    break
            else:
                raise AssertionError("openssl s_server did not start")
            yield int(found[1])
        finally:
            process.kill()


@pytest.mark.parametrize("tickets", [0, 2, 20])
def test_a_server_sends_no_two_or_twenty_tickets(tmp_path, tickets):
    with s_server(tmp_path, "-tls1_3", "-num_tickets", str(tickets)) as port:
        result = load(ALONE + "resume=0.5", "--target", f"127.0.0.1:{port}", "--rate", "20",
                      "--duration", "1s")
    seen = negotiated(result)
    assert completed(result) == 20
    assert seen["resume_asked"] == 10
    ranges = result["arms"][0]["bytes"]["ranges"]
    if tickets == 0:
        assert (seen["resume_offered"], seen["resumed"]) == (0, 0)
        assert "not possible: no ticket" in problems(result)["not-resumed"]
        assert "tickets" not in ranges
        return
    assert seen["resume_offered"] == seen["resumed"] >= 8
    # As many on a full handshake as it says, one on a resumed one.
    assert ranges["tickets"]["count"] == 20
    least, most = ranges["tickets"]["min"], ranges["tickets"]["max"]
    assert tickets * (least - 32) < most < tickets * (least + 32)


def test_ticket_bytes_are_those_on_the_wire():
    arm = "a: backend=openssl groups=X25519 tickets=3"
    load_bytes = load(arm)["arms"][0]["bytes"]["ranges"]["tickets"]
    done = run("cpu", "--handshakes", "20", "--repeats", "2", "--no-primitives", "--arm", arm,
               "--json", "-")
    cpu_bytes = strict_json(done.stdout)["arms"][0]["bytes"]["ranges"]["tickets"]
    assert (load_bytes["min"], load_bytes["max"]) == (cpu_bytes["min"], cpu_bytes["max"])


def test_tls_12_tickets_serve_a_server_that_sends_them_once(tmp_path):
    with s_server(tmp_path, "-tls1_2") as port:
        result = load("a: groups=X25519:secp256r1 verify=off tls=1.2 resume=0.9", "--target",
                      f"127.0.0.1:{port}", "--rate", "20", "--duration", "1s")
    seen = negotiated(result)
    assert completed(result) == 20
    assert seen["tls"] == "1.2"
    assert seen["resume_asked"] == seen["resume_offered"] == seen["resumed"] == 18


# ---- D5: other ticket keys ----

def test_a_restart_in_the_middle_makes_full_handshakes_and_no_failures(tmp_path):
    with two_servers(tmp_path, "--tickets", "2") as (one, two):
        with through(lambda number: (one if number < 15 else two)[1]) as port:
            result = load(ALONE + "resume=1", "--target", f"127.0.0.1:{port}", "--rate", "30",
                          "--duration", "1s")
    seen = negotiated(result)
    assert completed(result) == 30
    refused = seen["resume_offered"] - seen["resumed"]
    assert 1 <= refused <= 5, seen  # those that were on their way, then the new keys' tickets
    resumed = [int(re.search(r"resumed (\d+)", server[0].out)[1]) for server in (one, two)]
    assert sum(resumed) == seen["resumed"] and min(resumed) > 0


def test_keys_that_never_fit_resume_nothing_and_send_early_data_again_once(tmp_path):
    words = ("--tickets", "2", "--early-data", "1000")
    with two_servers(tmp_path, *words) as (one, two):
        with through(lambda number: (one, two)[number % 2][1]) as port:
            result = load(ALONE + "resume=1 early-data=1000", "--target", f"127.0.0.1:{port}",
                          "--rate", "10", "--duration", "2s")
    seen = negotiated(result)
    assert completed(result) == 20
    assert seen["resume_offered"] >= 18
    assert seen["resumed"] <= 2, seen
    assert seen["early_data_rejected"] == seen["resume_offered"] - seen["resumed"]
    assert "not-resumed" in problems(result)
    requests = [int(re.search(r"requests (\d+)", server[0].out)[1]) for server in (one, two)]
    assert sum(requests) == 20  # none twice


# ---- D7, D8, D9 ----

@pytest.mark.parametrize("replay", ["on", "off"])
def test_early_data_that_meets_a_retry_is_rejected_and_the_handshake_completes(replay):
    result = load("a: backend=openssl groups=*X25519:secp256r1 server-groups=secp256r1 resume=1 "
                  f"early-data=1000 anti-replay={replay}")
    seen = negotiated(result)
    assert completed(result) == seen["hrr"] == 20
    assert seen["early_data_rejected"] == seen["resume_offered"] >= 18
    assert seen["early_data_accepted"] == 0
    # Anti-replay of OpenSSL spends the ticket on the first hello; the second finds none.
    assert seen["resumed"] == (0 if replay == "on" else seen["resume_offered"])
    code = "not-resumed" if replay == "on" else "no-early-data"
    assert code in problems(result)


def test_early_data_at_a_downgraded_server_fails_with_its_own_reason(tmp_path):
    with two_servers(tmp_path, "--tickets", "2", "--early-data", "1000",
                     other=("--tls", "1.2")) as (one, two):
        with through(lambda number: (one if number < 15 else two)[1]) as port:
            done = run("load", *QUICK, "--workers", "1", "--arm", ALONE + "resume=1 early-data=1000", "--target",
                       f"127.0.0.1:{port}")
    trial = first_trial(done)
    counts = tally(trial)
    assert (counts["completed"], counts["failed"]) == (15, 5)
    (phase, cause, _code), = failures(trial)
    assert (phase, cause) == ("tls", "version")


def test_new_visitors_do_not_resume_although_the_server_would(tmp_path):
    with serving(tmp_path, "--tickets", "2") as server:
        result = load(ALONE, "--target", f"127.0.0.1:{server[1]}")
    seen = negotiated(result)
    assert completed(result) == 20
    assert (seen["resume_asked"], seen["resume_offered"], seen["resumed"]) == (0, 0, 0)
    assert result["arms"][0]["bytes"]["ranges"]["tickets"]["min"] == 2 * 255
    assert "resumed 0)" in server[0].out


# ---- early data ----

def test_a_server_with_state_for_early_data_serves_resumptions_without_it():
    """The 1-RTT arm at a server that takes early data: other tickets, no early data."""
    result = load("a: backend=openssl groups=X25519 resume=1 server-early-data=1000",
                  "--max-in-flight", "1", "--grace", "20s")
    seen = negotiated(result)
    assert seen["resumed"] == completed(result) - 1 == 19
    assert seen["early_data_accepted"] == seen["early_data_rejected"] == 0
    assert result["arms"][0]["bytes"]["ranges"]["tickets"]["min"] == 87


def test_early_data_in_one_process_is_accepted_and_counted():
    done = run("cpu", "--handshakes", "20", "--repeats", "2", "--no-primitives", "--json", "-",
               "--arm", "a: backend=openssl groups=X25519 resume=1 early-data=100",
               "--arm", "b: backend=openssl groups=X25519 resume=1 server-early-data=100")
    assert done.returncode == 0, done.stderr
    early, later = [arm["negotiated"] for arm in strict_json(done.stdout)["arms"]]
    assert early["early_data_accepted"] == early["resumed"] == early["resume_asked"] == 40
    assert later["early_data_accepted"] == 0
    assert later["resumed"] == later["resume_offered"] == 40


def test_with_anti_replay_the_tickets_are_keys_to_state_and_smaller():
    sizes = {}
    for replay in ("on", "off"):
        result = load(f"a: backend=openssl groups=X25519 resume=1 early-data=1000 "
                      f"anti-replay={replay}")
        assert negotiated(result)["early_data_accepted"] >= 18
        sizes[replay] = result["arms"][0]["bytes"]["ranges"]["tickets"]["min"]
    assert sizes["on"] == 87 < sizes["off"]


@pytest.mark.parametrize("replay,accepted", [("on", 1), ("off", 3)])
def test_a_replayed_flight_is_served_as_often_as_anti_replay_lets_it(tmp_path, replay, accepted):
    """The client's first flight with its early data, sent to the server three times in all."""
    flights = []

    def forward(client, upstream):
        first = client.recv(65536)
        flights.append(first)
        upstream.sendall(first)
        scripted.both_ways(client, upstream)

    with serving(tmp_path, "--tickets", "2", "--early-data", "1000",
                 f"--anti-replay={replay}") as server:
        with scripted.proxy(server[1], forward) as port:
            result = load(ALONE + "resume=1 early-data=1000", "--target", f"127.0.0.1:{port}",
                          "--rate", "4")
        assert negotiated(result)["early_data_accepted"] == 1
        for _ in range(2):
            with socket.create_connection(("127.0.0.1", server[1]), timeout=5) as raw:
                raw.sendall(flights[-1])
                assert raw.recv(65536)
                raw.shutdown(socket.SHUT_WR)
                while raw.recv(65536):
                    pass
    assert f"early data {accepted}," in server[0].out, server[0].out


@needs_link
def test_early_data_saves_the_round_trip_of_the_handshake():
    result = load("a: groups=X25519MLKEM768 resume=0.5 early-data=1000", "--link", "rtt=60ms",
                  "--rate", "20", "--duration", "2s", "--warmup", "500ms")
    assert completed(result) == 40
    trial = result["arms"][0]["trials"][0]
    p50 = {name: part["latency_us"]["response"]["p50"] / 60000
           for name, part in trial["by_handshake"].items()}
    assert 3 <= p50["full"] < 3.5  # TCP, TLS, request: in round trips
    assert 2 <= p50["early_data"] < 2.5


@pytest.mark.parametrize("value", ["10", "30"])
def test_early_data_that_cannot_hold_the_request_is_refused(value):
    done = run("load", *QUICK, "--arm", f"a: groups=X25519 resume=1 early-data={value}")
    assert_usage_error(done, "arm a", f"early-data={value}", "accepted: ")
