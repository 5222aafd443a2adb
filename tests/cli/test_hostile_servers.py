# SPDX-License-Identifier: Apache-2.0
"""A server says everything wrong that TLS 1.3 and HTTP allow to be said: is each a failure with
its phase and cause, in bounded memory, and does the run end in time?"""
import concurrent.futures
import contextlib
import pathlib
import re
import subprocess
import time

import pytest

from conftest import PROGRAM, environment, listed, run, strict_json
import hostile
import scripted

BACKENDS = [name for name in ("openssl", "aws-lc")
            if name in {b["name"] for b in listed()["backends"]}]
ARM = "groups=*X25519:secp256r1 verify=off cipher=TLS_CHACHA20_POLY1305_SHA256"
SHORT_S, LONG_S, GRACE_S = 0.6, 6, 6  # until a timeout: that is waited for, that must not come
AT_ONCE = 4
MEMORY_KB = 8192  # more than a run against a good server may take

pytestmark = pytest.mark.skipif(not BACKENDS, reason="no TLS library is installed")

# Nothing says that these must fail: a record, or an answer, that is still to come.
WAITS = {"record that never ends", "empty handshake record", "message interleaved with an alert"}
# OpenSSL goes on, or waits for what follows, where RFC 8446 says that it must abort.
LENIENT = {"legacy version 0x0304", "unknown extension", "65 kB of extensions",
           "retry with an empty cookie", "HelloRequest of TLS 1.2", "unknown encrypted extension",
           "certificate entry with an unknown extension", "CCS behind the handshake"}
# Legal, without end: the time ends them.
TIMED_OUT = {"KeyUpdates without end", "KeyUpdates that ask for one, without end",
             "tickets without end", "a terabyte announced", "a body without end",
             "chunks without end", "a head byte by byte", "a body byte by byte"}
ALERTS = {10, 20, 22, 42, 47, 50, 51, 70, 80, 109, 110, 116}


def peak_kb(pid):
    try:
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    found = re.search(r"VmHWM:\s*(\d+)", status)
    return int(found.group(1)) if found else 0


def attack(script, timeout_s=LONG_S):
    """Two connections of each library; the result, and the most memory that it took."""
    with scripted.server(script) as port:
        words = [PROGRAM, "load", "--target", f"127.0.0.1:{port}", "--rate",
                 str(10 * len(BACKENDS)), "--duration", "200ms", "--warmup", "0", "--trials", "1",
                 "--timeout", f"{timeout_s}s", "--grace", f"{GRACE_S}s", "--no-calibrate",
                 "--interleave", "connection", "--json", "-"]
        for name in BACKENDS:
            words += ["--arm", f"{name}: {ARM} backend={name}"]
        peak, out = 0, None
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env=environment(), encoding="utf-8") as process:
            until = time.monotonic() + 30
            while out is None and time.monotonic() < until:
                peak = max(peak, peak_kb(process.pid))
                with contextlib.suppress(subprocess.TimeoutExpired):
                    out, _ = process.communicate(timeout=0.02)
            if out is None:
                process.kill()
            assert process.wait(10) in (0, 1), process.returncode
    return strict_json(out), peak


def outcomes(result):
    """library: (completed, {(phase, cause, code)}); every arrival is counted."""
    found = {}
    for arm in result["arms"]:
        trial = arm["trials"][0]
        tally = trial["tally"]
        kinds = {(f["phase"], f["cause"], f["code"]) for f in trial.get("failures", [])}
        counted = sum(f["count"] for f in trial.get("failures", []))
        assert tally["scheduled"] == 2 and tally["unfinished"] == tally["not_started"] == 0, tally
        assert counted == tally["failed"] + tally["timed_out"], (counted, tally)
        assert all(f["local"] is False for f in trial.get("failures", []))
        found[arm["name"]] = (tally["completed"], kinds)
    return found


def complain(name, library, completed, kinds, phase):
    """What is wrong with an outcome, or None."""
    if library == "openssl" and name in LENIENT:
        return None
    if completed or not kinds:
        return f"{completed} handshakes were completed"
    for where, cause, code in kinds:
        if where != phase:
            return f"phase {where}"
        if name in TIMED_OUT | WAITS:
            if cause != "timeout":
                return f"ended by {cause} {code}"
        elif cause == "refused" and code not in ALERTS:
            return f"alert {code}"
        elif cause not in ("refused", "not-tls", "version", "closed", "not-http"):
            return f"ended by {cause}"
    return None


def good(server):
    server.data(hostile.OK)


def run_all(scripts, phase_of, at_once=AT_ONCE):
    _, base = attack(hostile.served(good))
    wrong = []

    def one(item):
        name, script = item
        timeout_s = SHORT_S if name in TIMED_OUT | WAITS | LENIENT else LONG_S
        result, peak = attack(script, timeout_s)
        if result["elapsed_s"] > 0.2 + max(timeout_s, GRACE_S) + 1:
            wrong.append(f"{name}: took {result['elapsed_s']:.1f} s")
        if peak > base + MEMORY_KB:
            wrong.append(f"{name}: took {peak - base} kB more")
        for library, (completed, kinds) in outcomes(result).items():
            why = complain(name, library, completed, kinds, phase_of(name))
            if why:
                wrong.append(f"{name}, {library}: {why}")

    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        list(pool.map(one, scripts.items()))
    assert not wrong, "\n".join(wrong)


def test_the_good_server_is_good():
    result, _ = attack(hostile.served(good))
    assert outcomes(result) == {name: (2, set()) for name in BACKENDS}


@pytest.mark.parametrize("group", ["RECORDS", "HELLOS", "FLIGHTS"])
def test_a_handshake_that_is_wrong_is_a_failure_in_tls(group):
    run_all(getattr(hostile, group), lambda name: "tls")


def test_what_is_wrong_behind_the_handshake_is_a_failure_of_the_response():
    run_all(hostile.AFTERWARDS, lambda name: "response")


@pytest.mark.parametrize("is_legal", [False, True])
def test_what_never_ends_is_ended(is_legal):
    """What is legal by the time; what is not by its own bound, long before."""
    first = {name for name, _ in list(hostile.FLOODS.items())[:7]}
    run_all({name: script for name, script in hostile.FLOODS.items()
             if (name in TIMED_OUT) == is_legal},
            lambda name: "tls" if name in first else "response", AT_ONCE if is_legal else 1)


def test_what_is_no_answer_is_a_failure_of_the_response():
    run_all({name: hostile.served(lambda s, data=data: s.data(data))
             for name, data in hostile.ANSWERS.items()}, lambda name: "response")


def test_a_stream_at_full_speed_holds_up_nobody(tmp_path):
    """A gigabyte without cryptography: reading it to its end would take the worker away."""
    null = "groups=X25519 backend=null verify=off"
    done = run("load", "--rate", "40", "--duration", "1s", "--warmup", "0", "--trials", "1",
               "--timeout", "300ms", "--grace", "1s", "--no-calibrate", "--interleave",
               "connection", "--json", "-", "--arm", f"large: {null} payload=1GiB", "--arm",
               f"small: {null}", "--workers", "1")
    result = strict_json(done.stdout)
    large, small = (arm["trials"][0] for arm in result["arms"])
    assert large["tally"]["completed"] + large["tally"]["timed_out"] == 20, large["tally"]
    assert large["tally"]["timed_out"] > 0
    assert small["tally"]["completed"] == 20, small["tally"]
