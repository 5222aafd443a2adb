# SPDX-License-Identifier: Apache-2.0
"""Does the emulated link do to packets what was asked, and leave nothing behind?"""
import contextlib
import csv
import json
import math
import os
import pathlib
import re
import select
import shutil
import statistics
import struct
import subprocess
import tempfile

import pytest

from conftest import PROGRAM, assert_usage_error, environment, run, strict_json

LINK_RUN = pathlib.Path(PROGRAM).resolve().parent / "tests" / "link" / "link_run"
NO_LINK = 77


def _try():
    if not LINK_RUN.exists():
        return f"{LINK_RUN} is not built"
    done = subprocess.run([LINK_RUN, "rtt=0", "true"], capture_output=True, text=True,
                          check=False, timeout=30)
    return done.stderr.strip() if done.returncode == NO_LINK else None


WHY_NOT = _try()
needs_link = pytest.mark.skipif(WHY_NOT is not None, reason=str(WHY_NOT))
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")


def needs_tool(name):
    return pytest.mark.skipif(shutil.which(name) is None, reason=f"needs {name}")


def over_link(spec, client, server=None, timeout=60, **variables):
    """The client's output and the counters of each way."""
    words = [LINK_RUN, spec, client] + ([server] if server else [])
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=timeout,
                          env=environment(**variables))
    assert done.returncode == 0, done
    ways = {}
    for line in done.stderr.splitlines():
        match = re.match(r"(up|down) packets=", line)
        if match:
            ways[match.group(1)] = {key: int(value)
                                    for key, value in re.findall(r"(\w+)=(\d+)", line)}
    assert set(ways) == {"up", "down"}, done.stderr
    return done.stdout, ways


def ping_times(text):
    return [float(word) for word in re.findall(r"time=([0-9.]+) ms", text)]


@needs_link
@needs_tool("ping")
def test_a_round_trip_is_never_shorter_than_asked_and_grows_with_it():
    medians = {}
    for rtt in (40, 120):
        text, _ = over_link(f"rtt={rtt}ms", "ping -c 100 -i 0.01 $SERVER")
        times = ping_times(text)
        assert len(times) == 100
        assert min(times) >= rtt
        medians[rtt] = statistics.median(times)
    assert medians[120] / medians[40] == pytest.approx(3, rel=0.05)


@needs_link
@needs_tool("ping")
def test_each_way_loses_its_own_share():
    count, loss = 3000, 0.05
    _, ways = over_link("up.loss=5%", f"ping -c {count} -i 0.001 -W 0.1 -q $SERVER; true",
                        SEED="7")
    sigma = math.sqrt(count * loss * (1 - loss))
    assert ways["up"]["packets"] == count
    assert abs(ways["up"]["lost"] - count * loss) < 4 * sigma
    assert ways["up"]["delivered"] == count - ways["up"]["lost"] == ways["down"]["packets"]
    assert ways["down"]["lost"] == 0


@needs_link
@needs_tool("ping")
def test_the_same_seed_loses_the_same_packets():
    def received(seed):
        text, _ = over_link("rtt=2ms,loss=20%", "ping -c 200 -i 0.002 -W 0.1 $SERVER; true",
                            SEED=seed)
        return re.findall(r"icmp_seq=(\d+)", text)

    first = received("3")
    assert first == received("3")
    assert first != received("4")


@needs_link
@needs_tool("iperf3")
@pytest.mark.parametrize("way", ["up", "down"])
def test_a_bulk_transfer_fills_the_rate_and_no_more(way):
    text, ways = over_link(f"rtt=10ms,{way}.rate=20mbit,queue=400",
                           "for i in 1 2 3 4 5 6 7 8 9; do "
                           "  iperf3 -J -t 4 -O 1 -c $SERVER" +
                           (" -R" if way == "down" else "") + " && exit; sleep 0.2; done; exit 1",
                           "iperf3 -s")
    # What iperf3 cannot reach yet it says as JSON too: the last one counts.
    report = json.loads(text[text.rindex('{\n\t"start"'):])
    carried = report["end"]["sum_received"]["bits_per_second"]
    # A busy machine may leave the line idle for a while; bench/link asks for 2 % on a quiet one.
    assert 0.8 * 20e6 < carried * 1500 / 1448 < 1.02 * 20e6
    assert ways[way]["overflow"] == 0


def namespaces():
    found = set()
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            found.add(os.readlink(entry / "ns" / "net"))
    return found


def children_of(pid):
    return [int(word) for word in
            pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@needs_link
def test_nothing_is_left_when_the_owner_is_killed():
    with subprocess.Popen([LINK_RUN, "rtt=5ms", "echo up; exec sleep 600", "exec sleep 600"],
                          stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout.readline() == "up\n"
        children = children_of(owner.pid)
        assert len(children) == 3
        spaces = {os.readlink(f"/proc/{pid}/ns/net") for pid in children}
        assert len(spaces) == 2 and os.readlink("/proc/self/ns/net") not in spaces
        ends = [os.pidfd_open(pid) for pid in children]
        owner.kill()
    for end in ends:
        assert select.select([end], [], [], 20)[0], "a process lives on"
        os.close(end)
    assert not spaces & namespaces()


@needs_link
def test_the_hosts_devices_and_routes_are_untouched():
    def host():
        devices = pathlib.Path("/proc/net/dev").read_text(encoding="ascii").splitlines()
        return ([line.split(":")[0] for line in devices],
                pathlib.Path("/proc/net/route").read_text(encoding="ascii"))

    before = host()
    with subprocess.Popen([LINK_RUN, "rtt=5ms", "echo up; read line"], text=True,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as owner:
        assert owner.stdout.readline() == "up\n"
        assert host() == before
        owner.communicate("\n")
    assert host() == before


@needs_link
def test_an_unknown_congestion_control_is_refused_by_name():
    done = subprocess.run([LINK_RUN, "cc=nosuch", "true"], capture_output=True, text=True,
                          check=False, timeout=30)
    assert done.returncode == NO_LINK
    assert "'nosuch' is not in this kernel; it has" in done.stderr


ORDINARY = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]


@needs_link
@needs_root
@needs_tool("setpriv")
@needs_tool("ping")
def test_an_ordinary_user_can_where_the_device_is_open_to_users():
    """In a mount namespace of its own the device is as most systems have it."""
    script = ("mknod $0/tun c 10 200 && chmod 666 $0/tun && mount --bind $0/tun /dev/net/tun &&"
              f" exec {' '.join(ORDINARY)} $0/link_run rtt=10ms 'id -u; ping -c 2 $SERVER'")
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        shutil.copy(LINK_RUN, folder)
        done = subprocess.run(["unshare", "-m", "sh", "-c", script, folder], text=True,
                              capture_output=True, check=False, timeout=60)
    if "unshare" in done.stderr:
        pytest.skip(done.stderr)
    assert done.returncode == 0, done
    assert done.stdout.startswith("65534\n")
    assert min(ping_times(done.stdout)) >= 10


@needs_link
@needs_root
@needs_tool("setpriv")
def test_an_ordinary_user_is_told_what_is_missing():
    if os.stat("/dev/net/tun").st_mode & 0o6 == 0o6:
        pytest.skip("/dev/net/tun is open to users here")
    done = subprocess.run([*ORDINARY, LINK_RUN, "rtt=1ms", "true"], capture_output=True,
                          text=True, check=False, timeout=30)
    if done.returncode == 126 or "Permission denied" not in done.stderr:
        pytest.skip(done.stderr)
    assert done.returncode == NO_LINK
    assert "/dev/net/tun: Permission denied; run as root, or let users" in done.stderr


# ---- load --link ----

def load(*words, seconds="1s", rate=20, timeout=120):
    done = run("load", "-q", "--no-calibrate", "--trials", "1", "--duration", seconds, "--warmup",
               "100ms", "--rate", rate, "--json", "-", *words, timeout=timeout)
    assert done.returncode == 0, done
    return strict_json(done.stdout)


CHAIN = "chain=leaf+intermediate"
SHAPES = ["--arm", "classical: groups=X25519",
          "--arm", "hybrid: groups=X25519MLKEM768",
          "--arm", "retry: groups=*X25519:X25519MLKEM768 server-groups=X25519MLKEM768",
          "--arm", f"mldsa44: groups=X25519 cert=mldsa44 {CHAIN}",
          "--arm", f"mldsa65: groups=X25519 cert=mldsa65 {CHAIN}"]


def round_trips(result, phase):
    """Of every arm, the count of all its handshakes but for one in ten that was disturbed."""
    out = {}
    for arm in result["arms"]:
        seen = arm["network"][f"{phase}_round_trips"]
        assert seen["count"] == arm["trials"][0]["tally"]["completed"] > 0
        assert seen["mean"] - seen["min"] < 0.1
        out[arm["name"]] = seen["min"]
    return out


@needs_link
def test_round_trips_are_those_that_the_window_asks_for():
    """Certificates of an ML-DSA-65 chain are more than ten segments and less than 24."""
    narrow = load("--link", "rtt=40ms,initcwnd=10", *SHAPES)
    assert round_trips(narrow, "tcp") == dict.fromkeys(
        ("classical", "hybrid", "retry", "mldsa44", "mldsa65"), 1)
    expected = {"classical": 1, "hybrid": 1, "retry": 2, "mldsa44": 1, "mldsa65": 2}
    assert round_trips(narrow, "tls") == expected
    wide = load("--link", "rtt=40ms,initcwnd=24", *SHAPES)
    assert round_trips(wide, "tls") == {**expected, "mldsa65": 1}
    for arm in narrow["arms"]:
        # What is counted in packets takes its time in every handshake.
        trial = arm["trials"][0]
        assert trial["latency_us"]["tls"]["min"] >= 40e3 * expected[arm["name"]]
        assert trial["latency_us"]["tcp"]["min"] >= 40e3
        assert arm["network"]["server"]["flights"]["min"] == expected[arm["name"]]


@needs_link
def test_the_model_is_what_a_handshake_takes_but_for_its_computing():
    """At 1 Mbit/s the line decides: what more bytes cost is what the model says."""
    result = load("--link", "rate=1mbit", "--path", "/bytes/10000", rate=3, seconds="2s",
                  *("--arm", "classical: groups=X25519 cert=mldsa44"),
                  *("--arm", "hybrid: groups=X25519MLKEM768 cert=mldsa44"))
    model, least = {}, {}
    for arm in result["arms"]:
        model[arm["name"]] = arm["network"]["model_tls_us"]
        least[arm["name"]] = arm["trials"][0]["latency_us"]["tls"]["min"]
        assert least[arm["name"]] >= 0.98 * model[arm["name"]]
        # Ten thousand bytes and more: the line takes longer than anything that computes.
        last = arm["trials"][0]["latency_us"]["ttlb"]["min"]
        assert last == pytest.approx(arm["network"]["model_ttlb_us"], rel=0.25)
    assert least["hybrid"] - least["classical"] == \
        pytest.approx(model["hybrid"] - model["classical"], rel=0.25)


def test_doctor_says_whether_links_can_be_made():
    done = run("doctor", "--watch", "100ms", "--json", "-")
    assert strict_json(done.stdout)["links"] is (WHY_NOT is None)


@needs_link
def test_the_result_says_what_it_was_taken_over():
    result = load("--link", "5g,rtt=3ms,loss=0,up.loss=1%", "--arm", "a: groups=X25519 backend=null")
    codes = [problem["code"] for problem in result["validity"]["problems"]]
    assert "emulated-link" in codes and "loopback-hides-network" not in codes
    spec = result["link"]["spec"]
    assert (spec["profile"], spec["up.delay"], spec["up.loss"], spec["down.loss"]) == \
        ("5g", "1500us", "0.01", "0")
    assert spec["down.rate"] == "880000000bit"
    assert result["link"]["up"]["packets"] > result["link"]["up"]["lost"]


@needs_link
def test_samples_tell_what_each_handshake_did_to_the_link(tmp_path):
    path = tmp_path / "samples.csv"
    result = load("--link", "rtt=5ms,loss=3%", "--samples", path, "--arm",
                  "a: groups=X25519 backend=null", rate=100)
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    network = result["arms"][0]["network"]
    assert len(rows) == network["tls_round_trips"]["count"]
    for side in ("client", "server"):
        for key in ("retransmits", "timeouts", "dropped"):
            assert sum(int(row[f"{side}_{key}"]) for row in rows) == network[side][key]
        segments = [int(row[f"{side}_segments"]) for row in rows]
        assert (min(segments), max(segments)) == \
            (network[side]["segments"]["min"], network[side]["segments"]["max"])
    for row in rows:
        sent, got = (row[f"{side}_flight_us"].split(";") for side in ("client", "server"))
        assert (len(sent), len(got)) == (int(row["client_flights"]), int(row["server_flights"]))
        # A flight and its answer lie a way apart at least, as do SYN and ClientHello.
        assert int(sent[0]) >= 5000 and int(got[0]) >= int(sent[0]) + 2500
    disturbed = sum(row["client_dropped"] != "0" or row["server_dropped"] != "0" for row in rows)
    assert 0 < disturbed == network["disturbed"]


@needs_link
def test_a_path_that_swallows_full_segments_stops_the_larger_hello_alone():
    """The hybrid's ClientHello fills a segment; what a tunnel does to it is named."""
    result = load("--link", "rtt=5ms,up.largest=1000", "--timeout", "1s", "--interleave",
                  "connection", "--arm", "small: groups=X25519",
                  "--arm", "large: groups=X25519MLKEM768")
    small, large = (arm["trials"][0] for arm in result["arms"])
    assert small["tally"]["completed"] == small["tally"]["scheduled"] > 0
    assert large["tally"]["timed_out"] == large["tally"]["scheduled"] > 0
    failure, = large["failures"]
    assert (failure["phase"], failure["cause"]) == ("tls", "timeout")
    assert re.fullmatch(r"after a ClientHello of 1[0-9]{3} bytes", failure["detail"])
    assert result["link"]["up"]["too_large"] >= large["tally"]["timed_out"]


@needs_link
def test_lost_segments_are_named_as_the_cause_of_their_delay():
    result = load("--link", "rtt=10ms,loss=4%", "--arm", "a: groups=X25519 backend=null",
                  rate=200, seconds="2s")
    trial = result["arms"][0]["trials"][0]
    delayed = [slow for slow in trial["slowest"] if slow["retransmits"] > 0]
    named = [slow for slow in delayed if slow["cause"] == "retransmit"]
    assert trial["retransmits"] > 0 and len(delayed) > 5
    assert len(named) >= 0.8 * len(delayed)


@needs_link
def test_a_lost_syn_is_a_second_of_connecting_and_named(tmp_path):
    path = tmp_path / "samples.csv"
    load("--link", "rtt=10ms,up.loss=15%", "--samples", path, "--arm",
         "a: groups=X25519 backend=null", rate=100)
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    late = [row for row in rows if float(row["tcp_us"]) >= 1e6]
    clean = [row for row in rows if row["client_dropped"] == row["server_dropped"] == "0"]
    assert late and clean
    for row in late:
        assert int(row["client_timeouts"]) >= 1 and int(row["client_dropped"]) >= 1
        assert int(row["retransmits"]) >= 1
        assert row["tcp_round_trips"] == "1"
    assert not [row for row in clean if row in late]


def packets_of(path):
    """Enhanced packet blocks: how many, and which comments they have."""
    data, at, packets, comments = path.read_bytes(), 0, 0, []
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        if kind == 6:
            packets += 1
            captured = struct.unpack_from("<I", data, at + 20)[0]
            behind = at + 28 + (captured + 3) // 4 * 4
            if behind < at + length - 4:
                code, size = struct.unpack_from("<HH", data, behind)
                assert code == 1
                comments.append(data[behind + 4:behind + 4 + size].decode())
        assert struct.unpack_from("<I", data, at + length - 4)[0] == length
        at += length
    return packets, comments


@needs_link
def test_the_capture_holds_what_the_clients_end_saw(tmp_path):
    path = tmp_path / "link.pcapng"
    result = load("--link", "rtt=5ms,loss=3%", "--capture", path, "--arm",
                  "a: groups=X25519 backend=null", rate=100)
    up, down = result["link"]["up"], result["link"]["down"]
    packets, comments = packets_of(path)
    # After the figures were read the last connections may still have said goodbye.
    seen = up["packets"] + down["packets"] - down["lost"]
    assert seen <= packets <= seen + 20
    assert up["lost"] <= len(comments) <= up["lost"] + 20
    assert set(comments) == {"the link loses this packet"}


def test_the_key_log_is_for_its_owner_alone(tmp_path):
    path = tmp_path / "keys"
    path.write_text("old", encoding="ascii")
    path.chmod(0o666)
    result = load("--keylog", path, "--arm", "a: groups=X25519", "--warmup", "0s")
    assert path.stat().st_mode & 0o777 == 0o600
    lines = path.read_text(encoding="ascii").splitlines()
    assert all(re.fullmatch(r"[A-Z0-9_]+ [0-9a-f]{64} [0-9a-f]+", line) for line in lines)
    secrets = [line.split() for line in lines if line.startswith("CLIENT_HANDSHAKE_TRAFFIC")]
    assert len({words[1] for words in secrets}) == len(secrets) == \
        result["arms"][0]["trials"][0]["tally"]["completed"]


@needs_link
@needs_tool("tshark")
def test_wireshark_reads_the_capture_and_the_secrets_open_it(tmp_path):
    capture, keys = tmp_path / "link.pcapng", tmp_path / "keys"
    result = load("--link", "rtt=20ms", "--capture", capture, "--keylog", keys, "--warmup", "0s",
                  "--arm", "a: groups=*X25519:X25519MLKEM768 server-groups=X25519MLKEM768")
    done = subprocess.run(["tshark", "-o", f"tls.keylog_file:{keys}", "-r", capture, "-Y",
                           "http.request or tls.handshake.type == 1", "-T", "fields", "-e",
                           "tcp.stream", "-e", "http.request.method"], text=True,
                          capture_output=True, check=True, timeout=60)
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    completed = result["arms"][0]["trials"][0]["tally"]["completed"]
    # Two ClientHellos each, and behind them what only the secrets show.
    assert len({stream for stream, method in rows if method == "GET"}) == completed
    assert len(rows) == 3 * completed


@needs_link
def test_nothing_of_a_run_is_left_when_it_is_killed():
    words = [PROGRAM, "load", "-q", "--no-calibrate", "--link", "rtt=5ms", "--duration", "60s",
             "--arm", "a: groups=X25519 backend=null"]
    reader, writer = os.pipe()
    with subprocess.Popen(words, stderr=subprocess.DEVNULL, stdout=writer,
                          env=environment()) as owner:
        os.close(writer)
        children = []
        while len(children) < 2:
            assert owner.poll() is None
            children = children_of(owner.pid)
        ends = [os.pidfd_open(pid) for pid in children]
        spaces = {os.readlink(f"/proc/{pid}/ns/net") for pid in children}
        spaces.discard(os.readlink("/proc/self/ns/net"))
        owner.kill()
    for end in ends:
        assert select.select([end], [], [], 20)[0], "a process lives on"
        os.close(end)
    os.close(reader)
    assert not spaces & namespaces()


@pytest.mark.parametrize("words, parts", [
    (["--link", "moon"], ["--link: 'moon'", "lan, metro"]),
    (["--link", "rtt=5"], ["--link: rtt: '5'"]),
    (["--link", "los=5%"], ["--link: no key 'los'", "rtt, delay"]),
    (["--link", "lan", "--target", "127.0.0.1:443"], ["--link:", "--target 127.0.0.1:443"]),
    (["--link", "lan", "--source", "127.0.0.1-127.0.0.3"], ["--link:", "--source"]),
    (["--capture", "x.pcapng"], ["--capture: needs --link"]),
])
def test_what_cannot_be_is_refused_by_name(words, parts):
    assert_usage_error(run("load", *words), *parts)
