# SPDX-License-Identifier: Apache-2.0
"""The machine gives less while a load runs: disk, descriptors, ports, link, memory, CPU."""
import contextlib
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

import pytest

from conftest import run
import faults
from faults import loading, problems, total
from test_link import needs_link

CGROUP = pathlib.Path("/sys/fs/cgroup")


def can_unshare(*kinds):
    """Namespaces of our own, as root or in one of users."""
    return shutil.which("unshare") is not None and subprocess.run(
        ["unshare", "-r", *kinds, "true"], capture_output=True, check=False).returncode == 0


needs_net = pytest.mark.skipif(not can_unshare("-n"), reason="no network namespaces")
needs_mount = pytest.mark.skipif(not can_unshare("-m"), reason="no mount namespaces")


def inside(pid, *words):
    """Run in the namespaces of a process."""
    done = subprocess.run(["nsenter", "-t", str(pid), "-U", "--preserve-credentials", "-n", "-m",
                           *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done


# ---- disk ----

def on_tiny_disk(directory, size):
    return ["unshare", "-rmn", "sh", "-c",
            f"mkdir -p {directory}/r && mount -t tmpfs -o size={size} none {directory}/r && "
            "ip link set lo up && \"$@\"; status=$?; "
            f"mkdir -p {directory}/seen && cp {directory}/r/* {directory}/seen/; exit $status", "sh"]


@needs_mount
@needs_net
def test_a_full_disk_loses_no_result(tmp_path):
    with loading(tmp_path, "--trials", "6", around=on_tiny_disk(tmp_path, "16k")) as load:
        assert load.end() == 1
    assert "No space left on device" in load.stderr and "--output" in load.stderr
    saved = pathlib.Path(re.search(r"the result is in (\S+\.json)", load.stderr).group(1))
    result = faults.strict_json(saved.read_text())
    faults.check(result)
    assert len(result["arms"][0]["trials"]) == 6 and result["interrupted"] is False
    assert run("report", saved).returncode == 0
    assert re.search(r"^ *a\b", load.stdout, re.M), "the table is shown all the same"
    load.assert_nothing_left(rescued=1)
    for path in (tmp_path / "seen").iterdir():
        assert not path.name.endswith(".tmp")
        if path.suffix == ".json":
            assert faults.strict_json(path.read_text())


@needs_mount
@needs_net
def test_what_was_kept_before_the_disk_was_full_stays_whole(tmp_path):
    fill = (f"dd if=/dev/zero of={tmp_path}/r/ballast bs=1k 2>/dev/null; "
            f"test -s {tmp_path}/r/ballast")
    around = on_tiny_disk(tmp_path, "400k")
    with loading(tmp_path, "--trials", "8", around=around) as load:
        generator = load.find("load", "--rate")
        path = pathlib.Path(f"/proc/{generator}/root{tmp_path}/r/result.json")
        faults.until(path.exists, "a trial")
        inside(generator, "sh", "-c", fill)
        assert load.end() == 1
    assert "No space left on device" in load.stderr
    kept = faults.strict_json((tmp_path / "seen" / "result.json").read_text())
    assert kept["interrupted"] is True and 1 <= len(kept["arms"][0]["trials"]) <= 8
    load.assert_nothing_left(rescued=1)


@needs_mount
@needs_net
def test_a_sample_file_that_was_cut_is_named(tmp_path):
    with loading(tmp_path, "--samples", tmp_path / "r" / "s.csv", "--trials", "6", "--rate", "2000",
                 "--json", tmp_path / "whole.json", around=on_tiny_disk(tmp_path, "64k")) as load:
        assert load.end() == 1
    assert "--samples" in load.stderr and "is not whole" in load.stderr, load.stderr
    assert len(faults.strict_json((tmp_path / "whole.json").read_text())["arms"][0]["trials"]) == 6


# ---- descriptors, ports, link ----

def test_a_lowered_file_limit_is_our_own_failure_and_passes(tmp_path):
    with loading(tmp_path) as load:
        load.wait_for_trials(2)
        pid = load.process.pid
        before = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (5, before[1]))
        time.sleep(1)
        resource.prlimit(pid, resource.RLIMIT_NOFILE, before)
        assert load.end() == 0, load.stderr
    _, result = load.report()
    assert faults.failures(result)[("tcp", "errno", 24)] > 0
    assert all(f["local"] for t in result["arms"][0]["trials"] for f in t.get("failures", []))
    last = result["arms"][0]["trials"][-1]["tally"]
    assert last["completed"] == last["scheduled"]
    load.assert_nothing_left()


@needs_net
def test_ports_used_up_are_our_own_failure(tmp_path):
    around = ["unshare", "-rn", "sh", "-c",
              "ip link set lo up && echo 40000 40009 >/proc/sys/net/ipv4/ip_local_port_range && "
              "exec \"$@\"", "sh"]
    with loading(tmp_path, "--trials", "4", "--duration", "1s", around=around) as load:
        server = load.server()
        load.wait_for_trials(1)
        time.sleep(0.4)
        os.kill(server, signal.SIGSTOP)  # each connection keeps its port
        time.sleep(0.5)
        os.kill(server, signal.SIGCONT)
        assert load.end() == 0, load.stderr
    _, result = load.report()
    assert faults.failures(result)[("tcp", "errno", 99)] > 20
    assert all(f["local"] for t in result["arms"][0]["trials"]
               for f in t.get("failures", []) if f["code"] == 99)
    assert "errors" in problems(result)
    assert result["arms"][0]["trials"][-1]["tally"]["completed"] > 0
    load.assert_nothing_left()


@needs_net
def test_a_link_that_is_down_for_a_while_is_a_gap(tmp_path):
    around = ["unshare", "-rnm", "sh", "-c", "ip link set lo up && exec \"$@\"", "sh"]
    with loading(tmp_path, around=around) as load:
        load.wait_for_trials(2)
        inside(load.process.pid, "ip", "link", "set", "lo", "down")
        time.sleep(1)
        inside(load.process.pid, "ip", "link", "set", "lo", "up")
        assert load.end() == 0, load.stderr
    _, result = load.report()
    trials = result["arms"][0]["trials"]
    assert trials[0]["tally"]["completed"] == trials[0]["tally"]["scheduled"]
    assert trials[-1]["tally"]["completed"] == trials[-1]["tally"]["scheduled"]
    assert total(result, "scheduled") - total(result, "completed") > 50
    worst = min(trials, key=lambda t: t["tally"]["completed"])
    assert worst["censored"] and ("errors", worst["index"]) in [
        (p["code"], p.get("trial")) for p in result["validity"]["problems"]]
    load.assert_nothing_left()


@needs_link
@pytest.mark.parametrize("victim", ["program", "server", "link"])
def test_a_run_over_a_link_of_its_own_leaves_its_trials_and_nothing_else(victim, tmp_path):
    with loading(tmp_path, "--link", "rtt=5ms") as load:
        load.wait_for_trials(2)
        server, own = load.server(), load.process.pid
        link, = set(faults.marked(load.mark)) - {server, own}
        os.kill({"program": own, "server": server, "link": link}[victim], signal.SIGKILL)
        status = load.end()
    _, result = load.report()
    assert result["interrupted"] is True and load.trials() >= 2
    if victim == "program":
        assert status == -signal.SIGKILL and "interrupted_by" not in result
    else:
        assert status == 1 and "ended-early" in problems(result), load.stderr
    load.assert_nothing_left()


# ---- memory and CPU ----

class Group:
    """A control group of its own; v1's and v2's files by one name."""

    def __init__(self, controller, limits):
        unified = (CGROUP / "cgroup.controllers").exists()
        parent = CGROUP if unified else CGROUP / controller
        self.path = parent / f"pqc-bench-test-{os.getpid()}"
        self.path.mkdir()
        try:
            for names, value in limits:
                (self.path / names[0 if unified else 1]).write_text(value)
        except OSError:
            self.path.rmdir()
            raise

    def add(self, *pids):
        for pid in pids:
            (self.path / "cgroup.procs").write_text(str(pid))

    def remove(self):
        faults.until(lambda: not (self.path / "cgroup.procs").read_text(), "an empty group", 10)
        self.path.rmdir()


@contextlib.contextmanager
def group(controller, *limits):
    try:
        made = Group(controller, limits)
    except OSError as why:
        pytest.skip(f"no control group of our own: {why}")
    try:
        yield made
    finally:
        made.remove()


EATER = "hoard = []\nwhile True: hoard.append(bytearray(b'x') * 1000000)"


def test_killed_for_memory_it_leaves_its_finished_trials(tmp_path):
    with group("memory", (("memory.max", "memory.limit_in_bytes"), "64M")) as limited, \
            loading(tmp_path) as load:
        load.wait_for_trials(2)
        limited.add(load.process.pid)
        pathlib.Path(f"/proc/{load.process.pid}/oom_score_adj").write_text("1000")
        with subprocess.Popen([sys.executable, "-c", EATER],
                              preexec_fn=lambda: limited.add(os.getpid())) as eater:
            try:
                assert load.end() == -signal.SIGKILL
            finally:
                eater.kill()
        _, result = load.report()
        assert result["interrupted"] is True and load.trials() >= 2
        load.assert_nothing_left()


def test_a_quota_that_comes_during_the_run_is_named(tmp_path):
    with group("cpu", (("cpu.max", "cpu.cfs_quota_us"), "20000")) as limited, \
            loading(tmp_path, "--duration", "500ms", "--trials", "6") as load:
        load.wait_for_trials(1)
        limited.add(load.process.pid)
        assert load.end() == 0, load.stderr
    result = load.kept()
    named = {p["code"] for p in result["validity"]["problems"] if p.get("trial", 0) > 1}
    assert named & {"throttled", "client-saturated", "speed-changed"}, faults.dump(result)
    assert result["validity"]["valid"] is False
    load.assert_nothing_left()
