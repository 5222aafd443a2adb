# SPDX-License-Identifier: Apache-2.0
"""Does the emulated link do to packets what was asked, and leave nothing behind?"""
import contextlib
import json
import math
import os
import pathlib
import re
import select
import shutil
import statistics
import subprocess
import tempfile

import pytest

from conftest import PROGRAM, environment

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
    text, ways = over_link(f"rtt=10ms,{way}.rate=20mbit,queue=200",
                           "for i in 1 2 3 4 5 6 7 8 9; do "
                           "  iperf3 -J -t 4 -O 1 -c $SERVER" +
                           (" -R" if way == "down" else "") + " && exit; sleep 0.2; done; exit 1",
                           "iperf3 -s")
    # What iperf3 cannot reach yet it says as JSON too: the last one counts.
    report = json.loads(text[text.rindex('{\n\t"start"'):])
    carried = report["end"]["sum_received"]["bits_per_second"]
    assert carried * 1500 / 1448 == pytest.approx(20e6, rel=0.02)
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
