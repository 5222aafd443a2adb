#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Write the results of this directory: hand-made input for the golden tests.

Run it in any directory; it writes *.json beside itself, the same bytes every time.
Histograms are encoded here by an implementation of HdrHistogram's V2 form of its own, so
that the reader is not checked against the writer it belongs to.

What each result is for stands at its function. After a change, run
    GOLDEN_WRITE=1 build/tests/unit/test_golden
and read the difference in the expected texts before committing it.
"""
import base64
import json
import pathlib
import struct
import zlib

HERE = pathlib.Path(__file__).resolve().parent
HALF = 1024  # half of the sub-buckets for 3 significant digits


def place(value):
    """Index of the bucket of a value (HdrHistogram, unit 1, 3 digits)."""
    bucket = max(value.bit_length(), 11) - 11
    return (bucket + 1) * HALF + (value >> bucket) - HALF


def zigzag(value):
    rest = (value << 1) ^ (value >> 63)
    rest &= (1 << 64) - 1
    out = bytearray()
    while rest > 0x7F and len(out) < 8:
        out.append(rest & 0x7F | 0x80)
        rest >>= 7
    out.append(rest)
    return bytes(out)


def encode(values):
    counts = {}
    for value in values:
        counts[place(value)] = counts.get(place(value), 0) + 1
    body, at = b"", 0
    for index in sorted(counts):
        gap = index - at
        if gap:
            body += zigzag(-gap) if gap > 1 else zigzag(0)
        body += zigzag(counts[index])
        at = index + 1
    highest = max(2047, (1 << max(values).bit_length()) - 1)
    plain = struct.pack(">IIIIQQd", 0x1C849303 | 0x10, len(body), 0, 3, 1, highest, 1.0) + body
    packed = zlib.compress(plain)
    return base64.b64encode(struct.pack(">II", 0x1C849304 | 0x10, len(packed)) + packed).decode()


def figure(value, half=None):
    """A value with an interval of half a width to each side."""
    if half is None:
        return {"value": value}
    return {"value": value, "low": round(value - half, 3), "high": round(value + half, 3)}


def spread(low, high=None, count=10000):
    high = low if high is None else high
    return {"min": low, "mean": (low + high) / 2, "max": high, "count": count}


def host(role="both"):
    return {
        "role": role, "client_cores": "1", "server_cores": "0",
        "cpu_model": "Example CPU E-2386G @ 3.50GHz", "arch": "x86_64", "kernel": "6.1.0",
        "os": "Debian GNU/Linux 12 (bookworm)", "libc": "glibc 2.36", "governor": "performance",
        "turbo": "off", "smt": "on", "clocksource": "tsc", "virtualization": "kvm",
        "congestion": "cubic", "cores": 4, "cores_allowed": 2, "cgroup_cpus": 1.5,
        "memory_bytes": 8589934592, "clock_resolution_ns": 1, "clock_cost_ns": 22,
        "thread_clock_cost_ns": 210, "file_limit_soft": 1024, "file_limit_hard": 1048576,
        "port_low": 32768, "port_high": 60999, "listen_backlog_max": 4096, "tun": True,
        "user_namespaces": True, "net_namespaces": True, "netem": False, "counters": True}


def build():
    return {"version": "0.1.0", "compiler": "gcc 12.2.0", "flags": "-O3",
            "backends": [{"name": "openssl-3.5.7", "version": "3.5.7",
                          "description": "OpenSSL 3.5.7"}]}


def result(kind, **fields):
    out = {"schema": "pqc-bench/1", "kind": kind, "started_at": "2026-01-02T03:04:05Z",
           "elapsed_s": 61.25, "interrupted": False, "command": ["pqc-bench", kind],
           "config": {"handshakes": "2000", "repeats": "5"}, "seed": 4711, "build": build(),
           "hosts": [host()], "validity": {"valid": True, "problems": []}}
    out.update(fields)
    return out


def tally(completed, failed=0, timed_out=0, unfinished=0, not_started=0):
    return {"scheduled": completed + failed + timed_out + unfinished + not_started,
            "completed": completed, "failed": failed, "timed_out": timed_out,
            "unfinished": unfinished, "not_started": not_started}


# --- kind cpu ---------------------------------------------------------------------------

def cpu_side(total, half):
    return {"median": total, "low": round(total - half, 3), "high": round(total + half, 3),
            "min": round(total * 0.97, 3), "handshake": figure(round(total * 0.8, 3), half),
            "setup": figure(round(total * 0.15, 3), half / 4),
            "teardown": figure(round(total * 0.05, 3), half / 8)}


def cpu_trials(client, server, repeats=5):
    trials = []
    for i in range(repeats):
        sway = 1 + (i - repeats // 2) / 200
        parts = {side: {"handshake": round(us * 0.8 * sway, 3), "setup": round(us * 0.15, 3),
                        "teardown": round(us * 0.05, 3), "total": round(us * sway, 3)}
                 for side, us in (("client", client), ("server", server))}
        trials.append({"index": i + 1, "position": i + 1, "started_s": 10.0 * i,
                       "elapsed_s": 9.5, "valid": True, "censored": False, "tally": tally(2000),
                       "failures": [], "cpu_us": parts,
                       "work_us": {side: 251.25 * sway for side in parts},
                       "cpu_per_work": {side: round(p["total"] / 251.25 / sway, 4)
                                        for side, p in parts.items()}, "steal": 0.001,
                       "speed_before_ns": 200123, "speed_after_ns": 200456})
    return trials


def message(sender, kind, low, high=None, index=0):
    return {"sender": sender, "type": kind, "index": index, **spread(low, high)}


def cpu_arm(name, group, us, sizes, hrr=False):
    """us: (client, server); sizes: (client bytes, server bytes, ClientHello, ServerHello)."""
    (client, server), (sent, answered, hello, answer) = us, sizes
    messages = [message("client", 1, hello), message("server", 2, answer),
                message("server", 8, 6), message("server", 11, 380),
                message("server", 15, 78, 80), message("server", 20, 52),
                message("client", 20, 52)]
    if hrr:
        messages.insert(1, message("server", 6, 88))
        messages.insert(2, message("client", 1, hello + 300, index=1))
    return {
        "name": name, "spec": {"groups": group, "cert": "ecdsa-p256"},
        "client_backend": "openssl-3.5.7", "server_backend": "openssl-3.5.7",
        "negotiated": {"group": group, "cipher": "TLS_AES_256_GCM_SHA384",
                       "signature": "ecdsa_secp256r1_sha256", "tls": "1.3",
                       "handshakes": 10000, "hrr": 10000 if hrr else 0, "resumed": 0,
                       "early_data_accepted": 0, "early_data_rejected": 0,
                       "counts": {group: 10000}},
        "round_trips": spread(2 if hrr else 1),
        "bytes": {"ranges": {"client": spread(sent), "server": spread(answered - 1, answered + 1),
                             "client_hello": spread(hello + 5),
                             "server_flight": spread(answered - 1, answered + 1)},
                  "messages": messages,
                  "flights": [{"sender": "client", **spread(hello + 5)},
                              {"sender": "server", **spread(answered)},
                              {"sender": "client", **spread(74)}]},
        "cpu_us": {"client": cpu_side(client, 2.5), "server": cpu_side(server, 2)},
        "instructions": {"client": figure(3.05e6, 1000), "server": figure(2.98e6, 1000)},
        "cycles": {"client": figure(1.21e6), "server": figure(1.1e6)},
        "primitives_us": {"client": figure(round(client * 0.62, 3)),
                          "server": figure(round(server * 0.55, 3))},
        "primitives_share": {"client": figure(0.62), "server": figure(0.55)},
        "primitives": [
            {"side": "client", "operation": "keygen", "subject": group, "times": 1,
             "us": figure(31.4, 0.2)},
            {"side": "client", "operation": "derive", "subject": group, "times": 1,
             "us": figure(40.25, 0.3)},
            {"side": "server", "operation": "sign", "subject": "ecdsa-p256", "times": 1,
             "us": figure(19.75, 0.1)}],
        "trials": cpu_trials(client, server)}


def compare(baseline, arm, metric, before, after, half, verdict, **more):
    difference = round(after - before, 3)
    out = {"baseline": baseline, "arm": arm, "metric": metric, "baseline_value": before,
           "value": after, "difference": difference, "low": round(difference - half, 3),
           "high": round(difference + half, 3), "ratio": round(after / before, 6),
           "confidence": 0.95, "noise_floor": 1.75, "verdict": verdict}
    out.update(more)
    return out


def cpu():
    """The default run: four arms and control, one of them with HelloRetryRequest."""
    us = {"classical": (276.4, 248.1), "pq": (405.2, 352.6), "ml-kem-1024": (511.9, 377.3),
          "rsa": (240.7, 905.5), "control": (277.1, 247.9)}
    arms = [
        cpu_arm("classical", "X25519", us["classical"], (297, 651, 224, 90)),
        cpu_arm("pq", "X25519MLKEM768", us["pq"], (1473, 1739, 1400, 1178)),
        cpu_arm("ml-kem-1024", "MLKEM1024", us["ml-kem-1024"], (3242, 2281, 1400, 1626), True),
        cpu_arm("rsa", "X25519", us["rsa"], (297, 1233, 224, 90)),
        cpu_arm("control", "X25519", us["control"], (297, 651, 224, 90))]
    comparisons = []
    words = {"pq": ("slower", "slower"), "ml-kem-1024": ("slower", "slower"),
             "rsa": ("faster", "slower"), "control": ("no-difference", "no-difference")}
    for arm, verdicts in words.items():
        for i, side in enumerate(("client", "server")):
            comparisons.append(compare("classical", arm, "cpu_us." + side, us["classical"][i],
                                       us[arm][i], 3.25, verdicts[i]))
            if arm == "control":  # it is the noise floor and has none itself
                del comparisons[-1]["noise_floor"]
    return result("cpu", arms=arms, comparisons=comparisons,
                  accounts={"process_cpu_s": 60.2, "reported_cpu_s": 57.9,
                            "harness_cpu_s": 1.9, "clock_cost_ns": 205},
                  validity={"valid": True, "problems": [
                      {"code": "clock", "severity": "note", "message":
                       "one reading of the thread clock costs 210 ns; it is subtracted"}]})


def plan_arm(name, group, cpu, sizes, resumed=0, hrr=0):
    """cpu: ((client, half), (server, half)); sizes: (client, server, ClientHello)."""
    return {
        "name": name, "spec": {"groups": group, "cert": "ecdsa-p256"},
        "client_backend": "openssl-3.5.7", "server_backend": "openssl-3.5.7",
        "negotiated": {"group": group, "cipher": "TLS_AES_256_GCM_SHA384", "tls": "1.3",
                       "handshakes": 10000, "hrr": hrr, "resume_asked": resumed,
                       "resume_offered": resumed, "resumed": resumed,
                       "counts": {group: 10000}},
        "bytes": {"ranges": {"client": spread(sizes[0]), "server": spread(sizes[1]),
                             "client_hello": spread(sizes[2])}},
        "cpu_us": {side: {"median": us, "low": us - half, "high": us + half}
                   for side, (us, half) in zip(("client", "server"), cpu)}}


def plan_example():
    """Round numbers, for the arithmetic of docs/PLAN.md: full, resumed and retried handshakes
    of X25519 and the hybrid, each compared with what it is to be compared with."""
    arms = [plan_arm("classical", "X25519", ((300, 10), (200, 10)), (300, 1000, 220)),
            plan_arm("hybrid", "X25519MLKEM768", ((430, 10), (310, 10)), (1500, 2100, 1420)),
            plan_arm("resumed", "X25519", ((250, 5), (150, 5)), (700, 300, 620), resumed=10000),
            plan_arm("resumed.hybrid", "X25519MLKEM768", ((350, 5), (250, 5)),
                     (1900, 1400, 1820), resumed=10000),
            plan_arm("retry", "X25519MLKEM768", ((470, 10), (320, 10)), (1726, 2199, 220),
                     hrr=10000)]
    differences = (("classical", "hybrid", (120, 10), (100, 10)),
                   ("resumed", "resumed.hybrid", (100, 5), (100, 6)),
                   ("hybrid", "retry", (40, 5), (10, 5)))
    comparisons = [compare(baseline, arm, "cpu_us." + side, 200, 200 + difference, half,
                           "slower")
                   for baseline, arm, *both in differences
                   for side, (difference, half) in zip(("client", "server"), both)]
    return result("cpu", arms=arms, comparisons=comparisons)


def cpu_interrupted():
    """Ended by Ctrl-C after two repeats; no control arm, so no noise floor."""
    arms = [cpu_arm("classical", "X25519", (276.4, 248.1), (297, 651, 224, 90)),
            cpu_arm("pq", "X25519MLKEM768", (285.2, 252.6), (1473, 1739, 1400, 1178))]
    for arm in arms:
        arm["trials"] = arm["trials"][:2]
        del arm["primitives"], arm["primitives_us"], arm["primitives_share"]
        del arm["instructions"], arm["cycles"]
    comparisons = [compare("classical", "pq", "cpu_us.client", 276.4, 285.2, 21.5,
                           "inconclusive", settle_s=372.5),
                   compare("classical", "pq", "cpu_us.server", 248.1, 252.6, 9.5,
                           "inconclusive")]
    for comparison in comparisons:
        del comparison["noise_floor"]
    return result("cpu", arms=arms, comparisons=comparisons, interrupted=True,
                  interrupted_by="SIGINT")


def cpu_failed():
    """One arm works, the other has no handshake at all: no figure for it, none compared."""
    good = cpu_arm("classical", "X25519", (276.4, 248.1), (297, 651, 224, 90))
    failures = [{"phase": "tls", "cause": "alert", "code": 40, "local": False, "count": 2000,
                 "detail": "handshake_failure: no group in common"}]
    bad = {"name": "pq", "spec": {"groups": "X25519MLKEM768"},
           "client_backend": "openssl-3.5.7", "server_backend": "aws-lc-1.50",
           "trials": [{"index": i + 1, "valid": False, "tally": tally(0, 2000),
                       "failures": failures} for i in range(2)]}
    comparison = {"baseline": "classical", "arm": "pq", "metric": "cpu_us.client",
                  "baseline_value": 276.4, "confidence": 0.95, "verdict": "withheld"}
    return result("cpu", arms=[good, bad], comparisons=[comparison],
                  validity={"valid": False, "problems": [
                      {"code": "errors", "severity": "fault", "arm": "pq", "trial": 1,
                       "message": "2000 of 2000 handshakes failed"}]})


def cpu_hostile():
    """Names and texts of strangers: CSV, formula, Markdown, HTML and terminal injection."""
    names = ['a,"b"\nc', "=cmd|' /C calc'!A0", "<script>alert(1)</script>",
             "red\x1b[31mname\x07", "b\u00fccher \u202eright to left", "| pipe `code` *bold*",
             "a name that is a good deal longer than any column of any table should be"]
    arms, comparisons = [], []
    for i, name in enumerate(names):
        arm = cpu_arm(name, "X25519", (276.4 + i, 248.1), (297, 651, 224, 90))
        for part in ("primitives", "primitives_us", "primitives_share", "instructions",
                     "cycles"):
            del arm[part]
        arm["negotiated"]["counts"] = {"</script>": 10000}
        arm["negotiated"]["group"] = "</script>"
        arm["trials"] = [{"index": 1, "valid": True, "tally": tally(9, 1), "failures": [
            {"phase": "tls", "cause": "not-tls", "code": 0, "local": False, "count": 1,
             "detail": "HTTP/1.1 400 \x1b]0;owned\x07<img src=x onerror=alert(1)>|\r\n"}]}]
        arms.append(arm)
        if i:
            comparisons.append(compare(names[0], name, "cpu_us.client", 276.4, 276.4 + i, 3.25,
                                       "no-difference"))
    one = host()
    one["cpu_model"] = "CPU\x1b[2J<b>"
    return result("cpu", arms=arms, comparisons=comparisons, hosts=[one],
                  validity={"valid": False, "problems": [
                      {"code": "errors", "severity": "fault", "arm": names[0],
                       "message": "\x1b[8mhidden\x1b[0m <b>bold</b>"}]})


# --- kind load --------------------------------------------------------------------------

def samples(base_us, count, tail_us):
    """A body around base with a tail of one in a hundred, always the same."""
    values = []
    for i in range(count):
        ns = base_us * 1000 + (i * 7919 % 1000) * base_us // 4
        if i % 100 == 99:
            ns += tail_us * 1000 * (1 + i * 31 % 97) // 97
        values.append(ns)
    return values


def load_trial(index, position, base_us, tail_us, count=12000):
    phases = {"tcp": samples(60, count, tail_us // 10), "tls": samples(base_us, count, tail_us),
              "ttfb": samples(90, count, tail_us // 5), "ttlb": samples(95, count, tail_us // 5),
              "response": samples(base_us + 160, count, tail_us)}
    lag = samples(4, count, 30)
    histograms = {name: encode(values) for name, values in phases.items()}
    histograms["start_lag"] = encode(lag)
    extremes = {name: {"min": min(values) / 1000, "max": max(values) / 1000}
                for name, values in phases.items()}
    causes = ["client-preempted"] * 7 + ["server-queue"] * 2 + ["unexplained"]
    slowest = [{"at_s": round(0.5 * i, 1), "tls_us": 2000.5 - i, "response_us": 2200.5 - i,
                "start_lag_us": 3.5, "run_delay_us": 900.25, "involuntary": 1,
                "retransmits": 0, "cause": cause} for i, cause in enumerate(causes)]
    return {"index": index, "position": position, "started_s": 70.0 * (position - 1),
            "elapsed_s": 40.0, "valid": True, "censored": False, "tally": tally(count),
            "failures": [], "due_per_s": 300, "achieved_per_s": 299.97,
            "latency_us": extremes, "histograms": histograms,
            "start_lag_us": {"min": min(lag) / 1000, "max": max(lag) / 1000},
            "client_cpu_us": base_us * 0.9, "server_cpu_us": base_us * 0.8,
            "client_busy": 0.143, "server_busy": 0.121, "retransmits": 2, "unclean_closes": 0,
            "slowest": slowest, "steal": 0.0004, "speed_before_ns": 200123,
            "speed_after_ns": 200999}


def load_arm(name, group, sizes, trials):
    count = sum(trial["tally"]["completed"] for trial in trials)
    out = {"name": name, "spec": {"groups": group}, "client_backend": "openssl-3.5.7",
           "server_backend": "openssl-3.5.7", "trials": trials}
    if count:
        out["negotiated"] = {"group": group, "cipher": "TLS_AES_256_GCM_SHA384", "tls": "1.3",
                             "handshakes": count, "hrr": 0, "counts": {group: count}}
        out["round_trips"] = spread(1, count=count)
        out["bytes"] = {"ranges": {"client": spread(sizes[0], count=count),
                                   "server": spread(sizes[1] - 1, sizes[1] + 1, count),
                                   "tickets": spread(510, count=count)}}
    return out


def network(count, segments, disturbed):
    """Of an arm over a link: the client's and the server's segments."""
    def side(number, lost):
        return {"flights": spread(1, count=count), "segments": spread(number, number + 2, count),
                "later_bytes": spread(150 * number, count=count),
                "retransmits": lost, "timeouts": lost // 2, "dropped": lost + 1}

    return {"tcp_round_trips": spread(1, count=count),
            "tls_round_trips": spread(1, 2, count), "disturbed": disturbed,
            "model_tcp_us": 50960.5, "model_tls_us": 62752.25,
            "model_ttlb_us": 53104.5,
            "client": side(segments, 7), "server": side(segments + 1, 9)}


def load_link():
    """Over an emulated link: what it was, what crossed it, how often one had to wait."""
    arms = [load_arm("classical", "X25519", (388, 651), [load_trial(1, 1, 50400, 1500)]),
            load_arm("pq", "X25519MLKEM768", (1564, 1739), [load_trial(1, 2, 50560, 1800)])]
    for arm, segments in zip(arms, (4, 5)):
        arm["network"] = network(12000, segments, 15)
    way = {"packets": 120000, "bytes": 23000123, "lost": 1200, "queue_full": 3, "too_large": 0, "overflow": 0,
           "late_p99_us": 128.0, "late_max_us": 497.5}
    spec = {"profile": "lte-m", "delay": "25ms", "loss": "0.01", "mtu": "1500", "cc": "cubic"}
    return result("load", config={**LOAD_CONFIG, "link": "lte-m,rtt=50ms,loss=1%"}, arms=arms,
                  link={"spec": spec, "up": way, "down": {**way, "lost": 1199}},
                  validity={"valid": True, "problems": [
                      {"code": "emulated-link", "severity": "note", "message":
                       "taken over an emulated link: delay=25ms,loss=0.01,mtu=1500,cc=cubic"}]})


LOAD_CONFIG = {"rate": "300/s", "duration": "40s", "warmup": "5s", "trials": "3"}


def load():
    """Three arms, three trials; published layout, causes of the slowest, notes."""
    arms = [load_arm("classical", "X25519", (388, 651),
                     [load_trial(i + 1, 3 * i + 1, 400 + i, 1500) for i in range(3)]),
            load_arm("pq", "X25519MLKEM768", (1564, 1739),
                     [load_trial(i + 1, 3 * i + 2, 560 + i, 1800) for i in range(3)]),
            load_arm("control", "X25519", (388, 651),
                     [load_trial(i + 1, 3 * i + 3, 401 + i, 1500) for i in range(3)])]
    comparisons = [
        compare("classical", "pq", "latency_us.tls.p50", 451.1, 631.3, 2.5, "slower"),
        compare("classical", "pq", "latency_us.tls.p99", 501.2, 701.5, 35.5, "slower",
                noise_floor=12.5),
        compare("classical", "pq", "latency_us.response.p99", 705.1, 901.5, 250.5,
                "inconclusive", settle_s=900),
        compare("classical", "control", "latency_us.tls.p50", 451.1, 452.3, 1.5,
                "no-difference"),
        compare("classical", "control", "latency_us.tls.p99", 501.2, 502.5, 15.5,
                "no-difference")]
    return result("load", config=LOAD_CONFIG, arms=arms, comparisons=comparisons,
                  validity={"valid": True, "problems": [
                      {"code": "loopback-hides-network", "severity": "note", "message":
                       "taken over loopback: 64 KiB MTU and no delay hide segmentation, "
                       "congestion windows and round trips; see --link"}]})


def load_resumed():
    """A baseline of full handshakes, an arm that mixes three sorts and one without tickets:
    what is told apart and compared like with like, what was asked and accepted; of a server
    that others wrote."""
    def mixed(index):
        sorts = {"full": samples(400, 100, 300), "resumed": samples(210, 600, 150),
                 "early_data": samples(190, 300, 150)}
        trial = {"index": index, "position": index, "elapsed_s": 10.0, "valid": True,
                 "tally": tally(1000), "due_per_s": 100, "achieved_per_s": 100.0,
                 "failures": [], "by_handshake": {}}
        together = sum(sorts.values(), [])
        for part, values in (*sorts.items(), (None, together)):
            row = {"latency_us": {"tls": {"min": min(values) / 1000, "max": max(values) / 1000}},
                   "histograms": {"tls": encode(values)}}
            if part is None:
                trial.update(row)
            else:
                trial["by_handshake"][part] = row
        return trial

    full = load_arm("full", "X25519", (388, 651),
                    [load_trial(i + 1, 3 * i + 1, 400, 300, 1000) for i in range(3)])
    mix = load_arm("mix", "X25519", (588, 451), [mixed(i + 1) for i in range(3)])
    mix["negotiated"].update(resume_asked=2700, resume_offered=2700, resumed=2700,
                             early_data_accepted=900, early_data_rejected=12)
    none = load_arm("no-ticket", "X25519", (388, 651),
                    [load_trial(i + 1, 3 * i + 3, 400, 300, 1000) for i in range(3)])
    none["negotiated"].update(resume_asked=2700)
    comparisons = [
        compare("full", "mix", "latency_us.tls.p50", 450.1, 240.3, 4.5, "faster"),
        compare("full", "mix", "by_handshake.full.latency_us.tls.p50", 450.1, 452.3, 5.5,
                "no-difference")]
    server = {"name": "nginx", "version": "1.26.3", "tls_library": "openssl-3.5.9"}
    return result("load", config=LOAD_CONFIG, arms=[full, mix, none], comparisons=comparisons,
                  server=server)


def load_few():
    """Eight samples of 1..8 ms (p50 4, p95 and p99 8, p99.9 marked), one trial, censored and
    not valid; a target and two machines."""
    values = [i * 1000000 for i in range(1, 9)]
    trial = {"index": 1, "valid": False, "censored": True, "elapsed_s": 3.0,
             "tally": tally(8, 2, 1, 3, 1), "due_per_s": 5, "achieved_per_s": 2.67,
             "failures": [{"phase": "tls", "cause": "alert", "code": 80, "count": 2},
                          {"phase": "tls", "cause": "timeout", "code": 0, "count": 1,
                           "detail": "after a ClientHello of 1484 bytes"}],
             "histograms": {"tls": encode(values)},
             "latency_us": {"tls": {"min": 1000, "max": 8000}},
             "client_busy": 0.92, "oldest_unfinished_ns": 2100000000}
    return result("load", config={"rate": "5/s", "target": "server.example:8443"},
                  arms=[load_arm("pq", "X25519MLKEM768", (1564, 1739), [trial])],
                  comparisons=[], hosts=[host("client"), host("server")],
                  validity={"valid": False, "problems": [
                      {"code": "client-saturated", "severity": "fault", "arm": "pq", "trial": 1,
                       "message": "the busiest worker was busy 92 % of the time"}]})


def load_refused():
    """Nothing completed: no latency anywhere, a local cause beside a remote one."""
    failures = [{"phase": "tcp", "cause": "connect", "code": 111, "count": 1400,
                 "detail": "Connection refused"},
                {"phase": "tcp", "cause": "ports", "code": 99, "local": True, "count": 100}]
    trial = {"index": 1, "position": 1, "valid": False, "elapsed_s": 5.0,
             "tally": tally(0, 1500), "due_per_s": 300, "achieved_per_s": 0,
             "failures": failures}
    arms = [load_arm(name, "X25519", (0, 1), [dict(trial)]) for name in ("classical", "pq")]
    comparison = {"baseline": "classical", "arm": "pq", "metric": "latency_us.tls.p50",
                  "confidence": 0.95, "verdict": "withheld"}
    return result("load", config=LOAD_CONFIG, arms=arms, comparisons=[comparison],
                  validity={"valid": False, "problems": [
                      {"code": "errors", "severity": "fault",
                       "message": "no handshake completed"}]})


def capacity_probe(index, position, rate, base_us, tail_us, valid=True, **more):
    trial = load_trial(index, position, base_us, tail_us, count=1200)
    del trial["slowest"]
    return {**trial, "elapsed_s": 2.0, "due_per_s": rate, "achieved_per_s": rate - 0.25,
            "valid": valid, **more}


def capacity():
    """Two arms with a capacity, a control, and one that the generator ends; a void probe."""
    full = {"server_busy": 0.985}
    trials = {
        "classical": [capacity_probe(1, 2, 900, 900, 3000), capacity_probe(2, 6, 1300, 9000, 40000,
                                                                            **full)],
        "pq": [capacity_probe(1, 1, 800, 1100, 3000),
               capacity_probe(2, 5, 1100, 9000, 50000, **full),
               capacity_probe(3, 9, 1000, 1100, 3000, valid=False, steal=0.031)],
        "control": [capacity_probe(1, 3, 910, 900, 3000), capacity_probe(2, 7, 1310, 9000, 40000,
                                                                          **full)],
        "small": [capacity_probe(1, 4, 2000, 300, 900),
                  capacity_probe(2, 8, 4000, 300, 900, valid=False, client_busy=0.93)],
    }
    groups = {"pq": ("X25519MLKEM768", (1564, 1739))}
    arms = [load_arm(name, *groups.get(name, ("X25519", (388, 651))), of)
            for name, of in trials.items()]
    outcomes = {(2, False): "void", (3, False): "void"}
    probes = sorted((trial["position"], name, trial) for name, of in trials.items()
                    for trial in of)
    answers = [
        {"arm": "classical", "per_s": {"value": 1240, "low": 1225, "high": 1256},
         "lower_bound_per_s": 900, "upper_bound_per_s": 1300, "limited_by": "server-cpu"},
        {"arm": "pq", "per_s": {"value": 1066, "low": 1050, "high": 1081},
         "lower_bound_per_s": 800, "upper_bound_per_s": 1100, "limited_by": "server-cpu"},
        {"arm": "control", "per_s": {"value": 1246, "low": 1229, "high": 1263},
         "lower_bound_per_s": 910, "upper_bound_per_s": 1310, "limited_by": "server-cpu"},
        {"arm": "small", "lower_bound_per_s": 2000, "limited_by": "client"}]

    def ratio(arm, after, value, low, high, verdict, **more):
        return {"baseline": "classical", "arm": arm, "metric": "capacity_per_s",
                "baseline_value": 1240, "value": after, "difference": 1240 * (value - 1),
                "low": 1240 * (low - 1), "high": 1240 * (high - 1), "confidence": 0.95,
                "ratio": value, "ratio_low": low, "ratio_high": high, "verdict": verdict, **more}
    return result(
        "capacity", config={"slo.1": "p99=10ms", "probe-duration": "2s"}, arms=arms,
        comparisons=[ratio("control", 1246, 1.005, 0.987, 1.023, "no-difference"),
                     ratio("pq", 1066, 0.86, 0.843, 0.877, "fewer", noise_floor=28.52)],
        capacity={
            "confidence": 0.95,
            "objectives": [{"metric": "tls.p99", "phase": "tls", "quantile": 0.99,
                            "limit_us": 10000},
                           {"metric": "failures", "limit": 0.001}],
            "arms": answers,
            "probes": [{"arm": name, "trial": trial["index"],
                        "outcome": outcomes.get((trial["index"], trial["valid"]),
                                                "held" if trial["index"] == 1 else "broke")}
                       for _, name, trial in probes]},
        validity={"valid": False, "problems": [
            {"code": "steal", "severity": "note", "arm": "pq", "trial": 3,
             "message": "the hypervisor took 3.1 % of the cores' time"},
            {"code": "client-saturated", "severity": "note", "arm": "small", "trial": 2,
             "message": "a worker was 93 % busy; start lag p99 40 us"},
            {"code": "client-limited", "severity": "fault", "arm": "small", "message":
             "the generator saturates first: the server holds at least 2000/s, and what is "
             "above is not known"}]})


def main():
    for make in (cpu, cpu_interrupted, cpu_failed, cpu_hostile, load, load_few, load_link,
                 load_refused, load_resumed, plan_example, capacity):
        path = HERE / (make.__name__.replace("_", "-") + ".json")
        path.write_text(json.dumps(make(), indent=1) + "\n", encoding="utf-8")


main()
