# SPDX-License-Identifier: Apache-2.0
"""Does a run that is stopped keep what is finished, and end as the signal asks? (G6)"""
import os
import pty
import re
import select
import signal
import subprocess
import time

import pytest

from conftest import ARM_A, ARM_C, PROGRAM, environment, strict_json
from faults import threads, until

ENDLESS = [PROGRAM, "cpu", "--handshakes", "25", "--repeats", "1000", "--no-primitives",
           "--arm", ARM_A, "--arm", ARM_C]


def start(*more, words=None, **options):
    settings = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "env": environment(),
                "encoding": "utf-8"}
    settings.update(options)
    return subprocess.Popen([*(words or ENDLESS), *map(str, more)], **settings)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_stopped_run_is_written_whole_and_marked(number, tmp_path):
    process = start("-o", tmp_path / "r", "--csv", tmp_path / "r.csv")
    until((tmp_path / "r" / "result.json").exists, "a repeat")
    process.send_signal(number)
    stdout, stderr = process.communicate(timeout=120)
    assert process.returncode == -number
    assert stderr == ""
    result = strict_json((tmp_path / "r" / "result.json").read_text())
    assert result["interrupted"] is True
    assert result["interrupted_by"] == number.name
    trials = [len(arm["trials"]) for arm in result["arms"]]
    assert min(trials) >= 1 and max(trials) < 1000 and len(set(trials)) == 1
    assert (tmp_path / "r.csv").read_text().startswith("kind,")
    assert re.search(r"interrupted|SIG", stdout)


def wait_for_work(process):
    """The first repeat has begun: its sides are threads of their own."""
    until(lambda: len(threads(process.pid)) > 1, "work")


def is_pending(process, number):
    """Sent, but not yet taken."""
    if process.poll() is not None:
        return False
    with open(f"/proc/{process.pid}/status", encoding="ascii") as file:
        pending = re.findall(r"^(?:SigPnd|ShdPnd):\s*([0-9a-f]+)$", file.read(), re.M)
    return any(int(mask, 16) >> (number - 1) & 1 for mask in pending)


def test_stopped_before_the_first_repeat_it_says_so(tmp_path):
    slow = [PROGRAM, "cpu", "--handshakes", "1000", "--repeats", "2", "--no-primitives",
            "--arm", "a: backend=null groups=X25519 null-client=20ms"]
    process = start("-o", tmp_path / "r", words=slow)
    wait_for_work(process)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=120)
    assert process.returncode == -signal.SIGINT
    assert stderr.count("\n") == 1 and "SIGINT" in stderr
    assert not (tmp_path / "r" / "result.json").exists()


def signal_twice(words):
    """Standard error: what the first signal has it say is not said where the second one ends
    it."""
    process = start(words=words)
    wait_for_work(process)
    process.send_signal(signal.SIGINT)
    until(lambda: process.poll() is not None or not is_pending(process, signal.SIGINT),
          "the first signal's arrival")
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=120)
    assert process.returncode == -signal.SIGINT
    return stderr


def test_the_second_signal_ends_at_once():
    """The first waits for a handshake of two seconds; where the machine is so busy that this
    is over before the second signal is sent, once more."""
    slow = [PROGRAM, "cpu", "--handshakes", "1000", "--repeats", "2", "--no-primitives",
            "--arm", "a: backend=null groups=X25519 null-client=1s null-server=1s",
            "--timeout", "1h"]
    assert any(signal_twice(slow) == "" for _ in range(5))


def test_nohup_is_respected(tmp_path):
    quick = [PROGRAM, "cpu", "--handshakes", "500", "--repeats", "100", "--no-primitives",
             "--arm", ARM_A, "--json", "-", "-o", tmp_path / "r"]
    process = start(words=quick,
                    preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    until((tmp_path / "r" / "result.json").exists, "a repeat")
    assert process.poll() is None
    process.send_signal(signal.SIGHUP)
    stdout, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    assert strict_json(stdout)["interrupted"] is False


def test_a_scenario_that_is_stopped_runs_no_further_section(tmp_path):
    scenario = tmp_path / "s.ini"
    scenario.write_text("[cpu one]\nhandshakes = 25\nrepeats = 1000\nprimitives = off\n"
                        "[cpu two]\nhandshakes = 25\nrepeats = 1000\n"
                        "[arm a]\ngroups = X25519\nbackend = null\nnull-client = 20us\n")
    process = start(words=[PROGRAM, "run", scenario, "-o", tmp_path / "r"])
    until((tmp_path / "r" / "cpu-one" / "result.json").exists, "a repeat")
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=120)
    assert (process.returncode, stderr) == (-signal.SIGINT, "")
    result = strict_json((tmp_path / "r" / "cpu-one" / "result.json").read_text())
    assert result["interrupted"] is True
    assert not (tmp_path / "r" / "cpu-two" / "result.json").exists()


def read_terminal(leader, until):
    """What the program wrote to its terminal, until it ended."""
    seen = b""
    while time.monotonic() < until:
        ready, _, _ = select.select([leader], [], [], 0.2)
        if not ready:
            continue
        try:
            part = os.read(leader, 4096)
        except OSError:
            break
        if not part:
            break
        seen += part
    return seen.decode("utf-8")


def left_on_screen(seen):
    """The line as the terminal shows it in the end: later text covers earlier."""
    line = []
    for part in seen.split("\r"):
        line[:len(part)] = part
    return "".join(line)


def test_progress_is_one_line_on_a_terminal_and_is_wiped():
    leader, follower = pty.openpty()
    process = start("--repeats", "12", "--handshakes", "500", stderr=follower)
    os.close(follower)
    seen = read_terminal(leader, time.monotonic() + 120)
    process.communicate(timeout=120)
    os.close(leader)
    assert process.returncode == 0
    assert re.search(r"\rcpu: .*repeat \d+ of 1[23]", seen), seen
    assert re.search(r"\d+ %", seen) and "left" in seen
    assert "\n" not in seen
    assert seen.endswith("\r") and left_on_screen(seen).strip() == ""


def test_no_progress_without_a_terminal_or_when_quiet():
    process = start("--repeats", "12", "--handshakes", "500")
    _, stderr = process.communicate(timeout=120)
    assert stderr == ""
    leader, follower = pty.openpty()
    process = start("--repeats", "5", "-q", stderr=follower)
    os.close(follower)
    assert read_terminal(leader, time.monotonic() + 120) == ""
    process.communicate(timeout=120)
    os.close(leader)
