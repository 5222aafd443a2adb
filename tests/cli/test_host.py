# SPDX-License-Identifier: Apache-2.0
"""Does the program see the machine as it is: clock, cores, quota? (G7, G8, G10)"""
import os
import pathlib
import re

import pytest

from conftest import FAST, assert_one_line, listed, run, run_null, strict_json

CLOCKSOURCE = pathlib.Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")


def doctor(**more):
    done = run("doctor", "--watch", "100ms", "--json", "-", **more)
    return done, strict_json(done.stdout)


def test_the_doctor_s_verdict_is_its_exit_status():
    done, seen = doctor()
    faults = [finding for finding in seen["findings"] if finding["level"] == "fault"]
    assert seen["schema"] == "pqc-bench-doctor/1"
    assert seen["fit"] is not bool(faults)
    assert done.returncode == (1 if faults else 0)
    if faults:
        assert_one_line(done, faults[0]["what"])
    else:
        assert done.stderr == ""
    for finding in seen["findings"]:
        assert finding["level"] in ("fault", "warning", "note")
        assert finding["code"] and finding["what"] and finding["advice"]
    levels = [("fault", "warning", "note").index(f["level"]) for f in seen["findings"]]
    assert levels == sorted(levels)


def test_the_doctor_s_table_shows_facts_and_findings():
    done = run("doctor", "--watch", "100ms")
    _, seen = doctor()
    for name in seen["host"]:
        assert re.search(rf"^  {name}\s", done.stdout, re.MULTILINE), name
    for finding in seen["findings"]:
        if finding["code"] not in ("busy", "speed-changed", "steal"):
            assert finding["code"] in done.stdout


def test_the_doctor_names_facts_as_the_result_does(result):
    _, seen = doctor()
    host = result["hosts"][0]
    assert set(seen["host"]) == set(host) - {"role", "client_cores", "server_cores"}
    for key in ("cpu_model", "kernel", "cores", "clocksource"):
        assert seen["host"].get(key) == host.get(key)


def test_clock_facts_are_recorded(result):
    host = result["hosts"][0]
    if CLOCKSOURCE.exists():
        assert host["clocksource"] == CLOCKSOURCE.read_text().strip()
    assert host["clock_resolution_ns"] > 0
    assert host["clock_cost_ns"] > 0
    assert host["thread_clock_cost_ns"] > 0
    assert result["accounts"]["clock_cost_ns"] >= 0
    _, seen = doctor()
    if "steal" in seen["watched"]:
        assert 0 <= seen["watched"]["steal"] <= 1


def test_cores_are_those_allowed(result):
    allowed = os.sched_getaffinity(0)
    host = result["hosts"][0]
    assert host["cores_allowed"] == len(allowed)
    used = {int(host["client_cores"].split(",")[0].split("-")[0]),
            int(host["server_cores"].split(",")[0].split("-")[0])}
    assert used <= allowed
    assert len(used) == min(2, len(allowed))


def test_one_core_is_a_fault_and_said_in_the_result():
    one = {min(os.sched_getaffinity(0))}
    done, seen = doctor(preexec_fn=lambda: os.sched_setaffinity(0, one))
    assert done.returncode == 1
    assert [f["code"] for f in seen["findings"] if f["level"] == "fault"] == ["shared-cores"]
    done = run_null("--json", "-", preexec_fn=lambda: os.sched_setaffinity(0, one))
    assert "shared-cores" in [p["code"] for p in strict_json(done.stdout)["validity"]["problems"]]


class Quota:
    """A cgroup with half a CPU, v2 or v1; skips where none can be made."""

    def __enter__(self):
        name = f"pqc-bench-test-{os.getpid()}"
        for folder, set_quota in ((pathlib.Path("/sys/fs/cgroup"), self.set_v2),
                                  (pathlib.Path("/sys/fs/cgroup/cpu"), self.set_v1)):
            self.path = folder / name
            try:
                self.path.mkdir()
            except OSError:
                continue
            if set_quota():
                return self
            self.path.rmdir()
        pytest.skip("no cgroup can be made here")

    def write(self, name, text):
        """Only into a file that the kernel made: a plain directory is no cgroup."""
        try:
            with open(self.path / name, "r+", encoding="ascii") as file:
                file.write(text)
        except OSError:
            return False
        return True

    def set_v2(self):
        return self.write("cpu.max", "50000 100000")

    def set_v1(self):
        return (self.write("cpu.cfs_period_us", "100000")
                and self.write("cpu.cfs_quota_us", "50000"))

    def enter(self):
        (self.path / "cgroup.procs").write_text(str(os.getpid()))

    def __exit__(self, *_):
        self.path.rmdir()


def test_half_a_cpu_is_seen_and_is_a_fault():
    with Quota() as quota:
        done, seen = doctor(preexec_fn=quota.enter)
        assert seen["host"]["cgroup_cpus"] == 0.5
        assert done.returncode == 1
        assert_one_line(done, "0.5")
        done = run_null("--json", "-", preexec_fn=quota.enter)
        assert strict_json(done.stdout)["hosts"][0]["cgroup_cpus"] == 0.5


def test_a_short_handshake_is_not_counted_in_ticks():
    done = run("cpu", "--handshakes", "200", "--repeats", "3", "--no-primitives", "--json", "-",
               "--arm", "a: backend=null groups=X25519 null-client=200us null-server=100us")
    seen = strict_json(done.stdout)
    if "sanitizer" in seen["build"]:
        pytest.skip("a sanitizer takes its own time")
    cpu = seen["arms"][0]["cpu_us"]
    # A tick is a millisecond at least.
    assert 200 <= cpu["client"]["median"] <= 300
    assert 100 <= cpu["server"]["median"] <= 150


def test_the_lists_name_what_every_backend_has():
    done = run("list")
    assert (done.returncode, done.stderr) == (0, "")
    for backend in listed()["backends"]:
        assert f"{backend['name']}-{backend['version']}" in done.stdout
        for what in ("groups", "certificates", "ciphers"):
            for name in backend[what]:
                assert re.search(rf"^  {re.escape(name)}\s", done.stdout, re.MULTILINE)
    for command in listed()["commands"]:
        assert re.search(rf"^  {command['name']}\s", done.stdout, re.MULTILINE)


def test_a_run_in_which_every_handshake_fails_is_status_1_without_figures(tmp_path):
    done = run("cpu", *FAST, "--timeout", "1ms", "-o", tmp_path / "r", "--arm",
               "slow: backend=null groups=X25519 null-server=50ms")
    assert (done.returncode, done.stdout) == (1, "")
    assert_one_line(done, "slow")
    assert not (tmp_path / "r" / "result.json").exists()


def test_strict_turns_a_result_that_is_not_valid_into_status_1(tmp_path):
    words = ["--arm", "a: backend=null groups=X25519 null-delay=30ms null-delay-share=0.2",
             "--timeout", "10ms", "--handshakes", "40", "--repeats", "1"]
    done = run("cpu", *words, "--no-primitives", "--json", "-")
    result = strict_json(done.stdout)
    assert done.returncode == 0
    assert result["validity"]["valid"] is False
    done = run("cpu", *words, "--no-primitives", "--strict", "-o", tmp_path / "r")
    assert done.returncode == 1
    assert_one_line(done, "not valid: ")
    assert (tmp_path / "r" / "result.json").exists()
