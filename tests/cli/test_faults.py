# SPDX-License-Identifier: Apache-2.0
"""Something breaks while a load runs: is what was finished kept, and what was lost named?"""
import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

import pytest

from conftest import LONG, run
import faults
from faults import loading, problems, total

needs_long = pytest.mark.skipif(not LONG, reason="takes long; ./check --long")
ROOT = pathlib.Path(__file__).resolve().parents[2]


# ---- the run itself is ended ----

def test_a_run_killed_outright_leaves_its_finished_trials(tmp_path):
    with loading(tmp_path, arms=("a", "b")) as load:
        load.wait_for_trials(2)
        load.process.kill()
        assert load.end() == -signal.SIGKILL
        text, result = load.report()
        compared = run("compare", load.result_directory, load.result_directory)
    assert result["interrupted"] is True and "interrupted_by" not in result
    assert "UNFINISHED" in text
    assert compared.returncode == 0, compared.stderr
    assert 2 <= load.trials() < 10
    assert total(result, "completed") == total(result, "scheduled") > 0
    load.assert_nothing_left()


def test_a_cpu_run_killed_outright_leaves_its_finished_repeats(tmp_path):
    words = ["cpu", "--handshakes", "50", "--repeats", "1000", "--no-primitives", "-q", "-o",
             tmp_path / "r", "--arm", "a: groups=X25519 backend=null null-client=20us"]
    path = tmp_path / "r" / "result.json"
    process = subprocess.Popen([faults.PROGRAM, *map(str, words)])
    try:
        faults.until(path.exists, "a repeat")
    finally:
        process.kill()
        process.wait(10)
    done = run("report", tmp_path / "r")
    assert done.returncode == 0 and "UNFINISHED" in done.stdout, done


@pytest.mark.parametrize("kill_server", [False, True])
def test_a_search_for_a_capacity_that_is_killed_leaves_its_probes(kill_server, tmp_path):
    path = tmp_path / "r" / "result.json"
    words = ["capacity", "--slo", "p99=10ms", "--probe-duration", "100ms", "--warmup", "0",
             "--budget", "60s", "--precision", "0.1%", "-q", "-o", tmp_path / "r", "--arm",
             f"a: {faults.NULL} null-server=1ms"]

    def probes():
        with contextlib.suppress(OSError):
            return len(faults.strict_json(path.read_text())["capacity"]["probes"])
        return 0

    process = subprocess.Popen([faults.PROGRAM, *map(str, words)], stderr=subprocess.PIPE,
                               encoding="utf-8")
    try:
        faults.until(lambda: probes() >= 3, "three probes")
        if kill_server:
            task = f"/proc/{process.pid}/task/{process.pid}/children"
            os.kill(int(pathlib.Path(task).read_text().split()[0]), signal.SIGKILL)
            _, err = process.communicate(timeout=20)
            assert process.returncode == 1 and "embedded server: it is gone" in err
    finally:
        process.kill()
        process.communicate(timeout=10)
    result = faults.strict_json(path.read_text())
    assert result["interrupted"] is True and probes() >= 3
    assert ("interrupted_by" in result) == ("ended-early" in problems(result)) == kill_server
    done = run("report", tmp_path / "r")
    assert done.returncode == 0 and ("UNFINISHED" in done.stdout) == (not kill_server), done


def test_a_killed_run_does_not_mix_with_the_result_before_it(tmp_path):
    (tmp_path / "r").mkdir()
    for name in ("result.txt", "report.html"):
        (tmp_path / "r" / name).write_text("of yesterday")
    with loading(tmp_path) as load:
        load.wait_for_trials(1)
        load.process.kill()
        load.end()
    assert [path.name for path in (tmp_path / "r").iterdir()] == ["result.json"]


def test_json_into_a_file_is_kept_too_and_a_pipe_gets_one_result(tmp_path):
    path = tmp_path / "r.json"
    with loading(tmp_path, "--json", path, out=False) as load:
        faults.until(path.exists, "a trial")
        load.process.kill()
        load.end()
    assert faults.strict_json(path.read_text())["interrupted"] is True
    (tmp_path / "other").mkdir()
    with loading(tmp_path / "other", "--json", "/dev/stdout", "--trials", "3", "-q",
                 out=False) as load:
        assert load.end() == 0
    assert faults.strict_json(load.stdout)["interrupted"] is False


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_a_load_with_all_its_files(number, tmp_path):
    with loading(tmp_path, arms=("a", "b")) as load:
        load.wait_for_trials(2)
        load.process.send_signal(number)
        assert load.end(20) == -number
    text, result = load.report()
    assert result["interrupted_by"] == number.name and number.name in text
    assert load.stderr == "" and (tmp_path / "r" / "report.html").exists()
    assert result["comparisons"]
    load.assert_nothing_left()


def test_the_second_signal_ends_a_load_at_once_with_what_is_kept(tmp_path):
    with loading(tmp_path, "--duration", "300ms") as load:
        load.wait_for_trials(2)
        server = load.server()
        os.kill(server, signal.SIGSTOP)  # the first signal cannot end the run now
        load.process.send_signal(signal.SIGINT)
        with pytest.raises(subprocess.TimeoutExpired):
            load.process.wait(0.3)
        load.process.send_signal(signal.SIGINT)
        assert load.end(5) == -signal.SIGINT
        assert load.report()[1]["interrupted"] is True
        load.assert_nothing_left()


def test_sigpipe_is_nothing(tmp_path):
    with loading(tmp_path, "--trials", "4") as load:
        load.wait_for_trials(1)
        load.process.send_signal(signal.SIGPIPE)
        assert load.end() == 0
    assert load.report()[1]["interrupted"] is False


def test_a_reader_that_has_gone_costs_no_file(tmp_path):
    with loading(tmp_path, "--trials", "3") as load:
        load.process.stdout.close()
        load.process.stdout = None
        assert load.end() == 0
    assert load.report()[1]["interrupted"] is False
    assert (tmp_path / "r" / "report.html").exists()


def test_a_stopped_generator_goes_on_and_says_that_it_was_away(tmp_path):
    with loading(tmp_path, "--trials", "3", "--duration", "1s") as load:
        load.server()
        load.wait_for_trials(1)
        time.sleep(0.2)
        load.process.send_signal(signal.SIGSTOP)
        time.sleep(0.7)
        load.process.send_signal(signal.SIGCONT)
        assert load.end() == 0, load.stderr
    result = load.kept()
    away = [t for t in result["arms"][0]["trials"] if t["start_lag_us"]["max"] > 400e3]
    assert away and all(not t["valid"] for t in away), result["validity"]
    assert "client-saturated" in problems(result)
    assert total(result, "scheduled") == 600
    load.assert_nothing_left()


# ---- its server ----

def test_a_killed_server_costs_its_trial_and_not_the_ones_before(tmp_path):
    with loading(tmp_path, arms=("a", "b")) as load:
        load.wait_for_trials(3)
        os.kill(load.server(), signal.SIGKILL)
        assert load.end() == 1
    text, result = load.report()
    assert re.search(r"trial \d+ of 10, [ab]: embedded server: it is gone", load.stderr)
    assert result["interrupted_by"] == "an error" and "ended-early" in problems(result)
    assert "INTERRUPTED by an error" in text and "embedded server: it is gone" in text
    assert load.trials() >= 3 and result["comparisons"]
    load.assert_nothing_left()


@pytest.mark.parametrize("stopped_s", [2, pytest.param(10, marks=needs_long)])
def test_a_server_stopped_for_a_while_is_waited_for(stopped_s, tmp_path):
    with loading(tmp_path, "--trials", "4", "--duration", "1s") as load:
        server = load.server()
        load.wait_for_trials(1)
        time.sleep(0.4)  # between trials nothing would be lost
        os.kill(server, signal.SIGSTOP)
        time.sleep(stopped_s)
        os.kill(server, signal.SIGCONT)
        assert load.end() == 0, load.stderr
    _, result = load.report()
    assert result["interrupted"] is False
    assert total(result, "scheduled") == 800
    assert total(result, "timed_out") + total(result, "unfinished") > 20
    assert "errors" in problems(result)
    load.assert_nothing_left()


@needs_long
def test_a_server_stopped_for_good_is_given_up(tmp_path):
    with loading(tmp_path, "--trials", "4") as load:
        load.wait_for_trials(2)
        os.kill(load.server(), signal.SIGSTOP)
        assert load.end(60) == 1
    _, result = load.report()
    assert "embedded server: no answer for 30 s" in load.stderr
    assert result["interrupted_by"] == "an error" and load.trials() >= 2
    load.assert_nothing_left()


def test_a_server_killed_and_restarted_is_a_gap_with_its_cause(tmp_path):
    with faults.serving(tmp_path) as (process, port, _):
        with loading(tmp_path, "--target", f"127.0.0.1:{port}") as load:
            load.wait_for_trials(2)
            process.kill()
            process.wait(10)
            load.wait_for_trials(load.trials() + 2)
            with faults.serving(tmp_path, port=port):
                load.wait_for_trials(load.trials() + 2)
                assert load.end() == 0, load.stderr
    _, result = load.report()
    assert ("tcp", "errno", 111) in faults.failures(result)
    whole = [t["index"] for t in result["arms"][0]["trials"]
             if t["tally"]["completed"] == t["tally"]["scheduled"]]
    assert {1, 2, 10} <= set(whole) and len(whole) < 10
    assert "errors" in problems(result)
    load.assert_nothing_left()


def test_an_agent_that_is_gone_costs_its_figures_alone(tmp_path):
    with faults.serving(tmp_path) as (_, port, _none), \
            faults.serving(tmp_path, "--agent", "127.0.0.1:0") as (agent, _port, where), \
            loading(tmp_path, "--target", f"127.0.0.1:{port}", "--agent", where) as load:
        load.wait_for_trials(2)
        agent.kill()
        assert load.end() == 0, load.stderr
    _, result = load.report()
    assert "agent-lost" in problems(result) and result["validity"]["valid"] is not None
    trials = result["arms"][0]["trials"]
    assert "server_cpu_us" in trials[0] and "server_cpu_us" not in trials[-1]
    assert total(result, "failed") == 0 and total(result, "completed") > 0


# ---- what it writes into ----

def test_a_results_directory_that_was_removed_is_made_again(tmp_path):
    with loading(tmp_path) as load:
        load.wait_for_trials(2)
        shutil.rmtree(tmp_path / "r")
        assert load.end() == 0, load.stderr
    assert load.trials() == 10 and (tmp_path / "r" / "result.txt").exists()
    load.assert_nothing_left()


def test_a_results_directory_that_became_a_file_loses_nothing(tmp_path):
    with loading(tmp_path) as load:
        load.wait_for_trials(2)
        shutil.rmtree(tmp_path / "r")
        (tmp_path / "r").write_text("in the way")
        assert load.end() == 1
    assert "--output" in load.stderr and "Not a directory" in load.stderr
    saved = pathlib.Path(re.search(r"the result is in (\S+\.json)", load.stderr).group(1))
    assert saved.parent == load.temporary and saved.stat().st_mode & 0o777 == 0o600
    result = faults.strict_json(saved.read_text())
    assert result["interrupted"] is False and len(result["arms"][0]["trials"]) == 10
    assert "not-kept" in problems(result)
    assert run("report", saved).returncode == 0
    assert re.search(r"^ *a\b", load.stdout, re.M), "the table is shown all the same"


# ---- clocks ----

STEPPING_CLOCK = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/time.h>
#include <time.h>
static long step_s(void)
{
    static long calls;
    return __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED) % 2 ? 7200 : -7200;
}
int clock_gettime(clockid_t clock, struct timespec *t)
{
    int (*real)(clockid_t, struct timespec *) = dlsym(RTLD_NEXT, "clock_gettime");
    int failed = real(clock, t);
    if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)
        t->tv_sec += step_s();
    return failed;
}
time_t time(time_t *out)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return out ? *out = t.tv_sec : t.tv_sec;
}
int gettimeofday(struct timeval *restrict tv, void *restrict zone)
{
    (void)zone;
    tv->tv_sec = time(NULL);
    tv->tv_usec = 0;
    return 0;
}
"""


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs cc")
def test_a_wall_clock_that_jumps_by_hours_at_every_look_changes_nothing(tmp_path):
    shim = tmp_path / "clock.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", shim, "-x", "c", "-", "-ldl"], check=True,
                   input=STEPPING_CLOCK, encoding="ascii")
    seen = subprocess.run(["date", "+%s"], env={**os.environ, "LD_PRELOAD": str(shim)},
                          capture_output=True, check=True)
    assert abs(int(seen.stdout) - time.time()) > 3600, "the clock does step"
    began = time.monotonic()
    with loading(tmp_path, "--trials", "3", variables={"LD_PRELOAD": str(shim)}) as load:
        assert load.end() == 0, load.stderr
    took = time.monotonic() - began
    _, result = load.report()
    assert 0.9 < result["elapsed_s"] < took
    for trial in result["arms"][0]["trials"]:
        assert trial["latency_us"]["response"]["max"] < took * 1e6
        assert trial["start_lag_us"]["max"] < took * 1e6
    assert total(result, "scheduled") == 180 and total(result, "completed") >= 170


def test_the_wall_clock_is_read_for_stamps_alone():
    reads = re.compile(r"CLOCK_REALTIME|CLOCK_TAI|gettimeofday|\btime\(")
    where = {str(path.relative_to(ROOT)) for path in (ROOT / "src").rglob("*.[ch]")
             if reads.search(path.read_text())}
    assert where == {"src/base/clock.c", "src/net/link_relay.c"}  # started_at, packets' times
