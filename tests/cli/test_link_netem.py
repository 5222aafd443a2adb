# SPDX-License-Identifier: Apache-2.0
"""`--link netem`: does tc get its words, do packets go through the kernel's queue, are its losses
counted, and is what is missing named?

Where the kernel has no sch_netem a program of ours takes tc's place and sets up, with the real
tc, what the kernel has: a plain queue, a token bucket, a classifier that drops at random.
"""
import os
import shutil
import subprocess

import pytest

from conftest import assert_one_line, environment, run, strict_json
from test_link import (LINK_RUN, NO_LINK, ORDINARY, needs_link, needs_root, needs_tool,
                       over_link, ping_times)

REAL = shutil.which("tc", path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
needs_tc = pytest.mark.skipif(REAL is None, reason="needs tc")

HEAD = '#!/bin/sh\necho "$*" >>"$0.log"\ndev=$4\n'
PLAIN = f"exec {REAL} qdisc replace dev $dev root pfifo limit 1000\n"
# A full bucket holds two packets, its queue three.
BUCKET = f"exec {REAL} qdisc replace dev $dev root tbf rate 2mbit burst 3100 limit 4600\n"
# In cBPF: a random number's low byte below 26 of 256 is dropped (TC_ACT_SHOT).
RANDOM = f"""{REAL} qdisc replace dev $dev root handle 1: htb default 1 &&
{REAL} class add dev $dev parent 1: classid 1:1 htb rate 1gbit quantum 60000 &&
exec {REAL} filter add dev $dev parent 1: bpf bytecode \\
"5,32 0 0 4294963256,84 0 0 255,53 1 0 26,6 0 0 2,6 0 0 4294967295" da
"""


@pytest.fixture
def tc(tmp_path):
    """Puts a program in tc's place: its PATH and the log of its words."""
    def make(body):
        folder = tmp_path / "bin"
        folder.mkdir()
        program = folder / "tc"
        program.write_text(HEAD + body)
        program.chmod(0o755)
        return f"{folder}:{os.environ['PATH']}", folder / "tc.log"

    return make


def works(path):
    """Does this kernel have what the program in tc's place asks for?"""
    done = subprocess.run([LINK_RUN, "netem", "true"], capture_output=True, text=True, check=False,
                          timeout=30, env=environment(PATH=path))
    if done.returncode == NO_LINK:
        pytest.skip(done.stderr.strip())


def load(path, *words, seconds="2s", rate=100):
    done = run("load", "-q", "--no-calibrate", "--trials", "1", "--duration", seconds, "--warmup",
               "100ms", "--rate", rate, "--json", "-", *words, timeout=120,
               env=environment(PATH=path))
    assert done.returncode == 0, done
    return strict_json(done.stdout)


@needs_link
@needs_tc
@needs_tool("ping")
def test_packets_take_the_kernels_queue_and_tc_gets_its_words_for_each_way(tc):
    path, log = tc(PLAIN)
    works(path)
    log.unlink()
    text, ways = over_link("netem,rtt=30ms,up.loss=1%", "ping -c 50 -i 0.005 $SERVER", PATH=path)
    assert log.read_text().splitlines() == [
        "qdisc replace dev up0 root netem limit 100000 delay 15000us loss random 1%",
        "qdisc replace dev down0 root netem limit 100000 delay 15000us"]
    # Nobody delays or loses here but the kernel, which was not told to.
    assert len(ping_times(text)) == 50 and min(ping_times(text)) < 15
    for way in ways.values():
        assert way["packets"] == way["delivered"] == 50 and way["lost"] == 0


@needs_link
@needs_tc
def test_what_netem_loses_is_lost_to_its_connection(tc):
    path, _ = tc(RANDOM)
    works(path)
    result = load(path, "--link", "netem,loss=10%", "--arm", "a: groups=X25519 backend=null")
    link, network = result["link"], result["arms"][0]["network"]
    assert link["spec"]["emulator"] == "netem"
    for way, side in (("up", "client"), ("down", "server")):
        assert 0.05 < link[way]["lost"] / link[way]["packets"] < 0.16
        assert 0 < network[side]["dropped"] <= link[way]["lost"]
        assert 0 < network[side]["retransmits"]
        assert "late_p99_us" not in link[way]  # netem alone knows when a packet was due
    assert 0 < network["disturbed"] < network["tls_round_trips"]["count"]
    assert result["arms"][0]["trials"][0]["retransmits"] == \
        network["client"]["retransmits"] + network["server"]["retransmits"]


@needs_link
@needs_tc
@needs_tool("ping")
def test_every_packet_is_delivered_or_lost(tc):
    path, _ = tc(RANDOM)
    works(path)
    _, ways = over_link("netem", "ping -c 2000 -i 0.001 -W 0.1 -q $SERVER; true", PATH=path)
    assert ways["up"]["packets"] == 2000
    for way in ways.values():
        # Of the last ones nobody can tell yet.
        assert 0 <= way["packets"] - way["delivered"] - way["lost"] < 10
    assert ways["down"]["packets"] == ways["up"]["delivered"]
    assert abs(ways["up"]["lost"] - 2000 * 26 / 256) < 4 * (2000 * 26 / 256 * 230 / 256) ** 0.5


@needs_link
@needs_tc
def test_a_full_queue_of_the_kernels_is_told_from_a_loss(tc):
    path, _ = tc(BUCKET)
    works(path)
    result = load(path, "--link", "netem,rate=2mbit,queue=3", "--path", "/bytes/30000", "--arm",
                  "a: groups=X25519 backend=null", "--timeout", "20s", rate=5)
    down = result["link"]["down"]
    assert down["queue_full"] > 0 == down["lost"]
    server = result["arms"][0]["network"]["server"]
    assert 0 < server["dropped"] <= down["queue_full"]


@needs_link
@needs_tc
@needs_root
@needs_tool("setpriv")
def test_an_ordinary_users_tc_has_the_rights_it_needs(tc, tmp_path):
    path, log = tc(PLAIN)
    works(path)
    shutil.copy(LINK_RUN, tmp_path)
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_mode & 0o5 != 0o5 and folder.owner() == "root" and \
                str(folder).startswith("/tmp/pytest"):
            folder.chmod(0o755)
    log.chmod(0o666)
    script = ("mknod $0/tun c 10 200 && chmod 666 $0/tun && mount --bind $0/tun /dev/net/tun &&"
              f" exec {' '.join(ORDINARY)} $0/link_run netem 'echo $SERVER'")
    done = subprocess.run(["unshare", "-m", "sh", "-c", script, tmp_path], text=True,
                          capture_output=True, check=False, timeout=60,
                          env=environment(PATH=path))
    if "unshare" in done.stderr or "user namespace" in done.stderr:
        pytest.skip(done.stderr)
    assert (done.returncode, done.stdout) == (0, "198.18.0.2\n"), done


@needs_link
@pytest.mark.parametrize("body, parts", [
    ("exit 127\n", ["netem: no program tc (package iproute2)", "own emulator"]),
    ("echo 'Error: Specified qdisc kind is unknown.' >&2; exit 2\n",
     ["netem: tc says: Error: Specified qdisc kind is unknown.", "CONFIG_NET_SCH_NETEM"]),
    ("echo 'RTNETLINK answers: No such file or directory' >&2; exit 2\n", ["modprobe sch_netem"]),
    ("printf 'What is \"-12\"?\\033[31m\\nUsage\\n' >&2; exit 1\n",
     ["netem: tc says: What is \"-12\"?\\x1b[31m\n"]),
    ("exit 1\n", ["netem: tc says: nothing, but failed\n"]),
    ("yes | head -c 100000; exit 1\n", ["netem: tc says: y\n"]),
])
def test_what_is_missing_is_said_in_one_line(tc, body, parts):
    path, _ = tc(body)
    done = run("load", "--link", "netem,rtt=5ms", "--arm", "a: groups=X25519 backend=null",
               env=environment(PATH=path))
    assert (done.returncode, done.stdout) == (2, "")
    assert_one_line(done, "--link: ", *parts)


@needs_link
def test_doctor_says_whether_netem_can_be_had(tc):
    path, _ = tc("echo 'Error: Specified qdisc kind is unknown.' >&2; exit 2\n")
    done = run("doctor", "--watch", "100ms", "--json", "-", env=environment(PATH=path))
    finding, = [found for found in strict_json(done.stdout)["findings"]
                if found["code"] == "link-netem"]
    assert "kind is unknown" in finding["what"] and "sch_netem" in finding["what"]
    path = path.replace("/bin:", "/other:", 1)
    os.makedirs(path.split(":", maxsplit=1)[0])
    with open(path.split(":", maxsplit=1)[0] + "/tc", "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\n")
    os.chmod(file.name, 0o755)
    done = run("doctor", "--watch", "100ms", "--json", "-", env=environment(PATH=path))
    assert "link-netem" not in done.stdout


@needs_link
@needs_tc
@needs_tool("ping")
@needs_tool("python3")
def test_the_kernels_own_netem_delays_as_asked():
    done = subprocess.run([LINK_RUN, "netem", "true"], capture_output=True, text=True, check=False,
                          timeout=30)
    if done.returncode == NO_LINK:
        pytest.skip(done.stderr.strip())
    text, ways = over_link("netem,rtt=40ms", "ping -c 50 -i 0.01 $SERVER")
    assert min(ping_times(text)) >= 40 and ways["up"]["delivered"] == 50


def test_netem_has_no_largest():
    done = run("load", "--link", "netem,largest=1400")
    assert done.returncode == 2
    assert_one_line(done, "--link: ", "netem has no 'largest'")
