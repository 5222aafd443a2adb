# SPDX-License-Identifier: Apache-2.0
"""The program as a user runs it: PQC_BENCH names it, PQC_BENCH_LONG=yes adds slow tests."""
import json
import os
import pathlib
import signal
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("PQC_BENCH", str(ROOT / "build" / "pqc-bench"))
LONG = os.environ.get("PQC_BENCH_LONG", "no") == "yes"

# A shell that starts us in the background has us ignore these, and whoever we start, too.
for ignored in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
    if signal.getsignal(ignored) == signal.SIG_IGN:
        signal.signal(ignored, signal.default_int_handler if ignored == signal.SIGINT
                      else signal.SIG_DFL)

# Arms that take microseconds: the null backend does no cryptography.
FAST = ["--handshakes", "20", "--repeats", "2", "--no-primitives"]
ARM_A = "a: groups=X25519 backend=null null-client=20us null-server=20us"
ARM_B = "b: groups=X25519MLKEM768 backend=null null-client=20us null-server=20us"
ARM_C = "control: groups=X25519 backend=null null-client=20us null-server=20us"
NULL_ARMS = ["--arm", ARM_A, "--arm", ARM_B, "--arm", ARM_C]


def environment(**more):
    env = {key: value for key, value in os.environ.items()
           if not key.startswith("LC_") and key not in ("LANG", "LANGUAGE", "NO_COLOR")}
    env.update(more)
    return env


def run(*words, timeout=60, **more):
    """Run to the end; stdout and stderr as text unless told otherwise."""
    options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE,
               "stderr": subprocess.PIPE, "env": environment(), "encoding": "utf-8"}
    options.update(more)
    return subprocess.run([PROGRAM, *map(str, words)], timeout=timeout, check=False, **options)


def run_null(*words, **more):
    return run("cpu", *FAST, *NULL_ARMS, *words, **more)


def strict_json(text):
    """JSON as the standard has it: no NaN, no Infinity, no key twice."""
    def refuse(word):
        raise ValueError(f"{word} is no JSON")

    def once(pairs):
        keys = [key for key, _ in pairs]
        assert len(keys) == len(set(keys)), keys
        return dict(pairs)

    return json.loads(text, parse_constant=refuse, object_pairs_hook=once)


def assert_usage_error(done, *parts):
    """Exit status 2, nothing on stdout, one line on stderr that holds the parts."""
    assert (done.returncode, done.stdout) == (2, ""), done
    assert_one_line(done, *parts)


def assert_one_line(done, *parts):
    assert done.stderr.startswith("pqc-bench"), done.stderr
    assert done.stderr.endswith("\n") and done.stderr.count("\n") == 1, done.stderr
    for part in parts:
        assert part in done.stderr, (part, done.stderr)


_listed = None


def listed():
    """What `list --json -` says: backends, groups, arm keys, commands with their options."""
    global _listed
    if _listed is None:
        done = run("list", "--json", "-")
        assert done.returncode == 0, done.stderr
        _listed = strict_json(done.stdout)
    return _listed


@pytest.fixture
def result(tmp_path):
    """A small finished result, read from the file that was written."""
    done = run_null("-q", "-o", tmp_path / "result")
    assert done.returncode == 0, done.stderr
    return strict_json((tmp_path / "result" / "result.json").read_text(encoding="utf-8"))
