# SPDX-License-Identifier: Apache-2.0
"""What went wrong in the field, over a link: an extra round trip that nobody noticed, "connect"
that may or may not include TLS, a ClientHello in pieces."""
import csv
import pathlib
import re
import sys

import pytest

import middlebox
from conftest import PROGRAM, listed, strict_json
from test_link import load, needs_link, over_link

BOX = pathlib.Path(middlebox.__file__).resolve()
needs_openssl = pytest.mark.skipif(
    not any(backend["name"] == "openssl" for backend in listed()["backends"]),
    reason="no OpenSSL backend is installed")


def by_name(result):
    return {arm["name"]: arm for arm in result["arms"]}


def median_us(arm, phase):
    return arm["trials"][0]["latency_us"][phase]["p50"]


@needs_link
@needs_openssl
def test_an_extra_round_trip_is_counted_and_takes_its_time():
    """One key share against two at a server that has X25519 alone. (C3)"""
    arms = by_name(load("--link", "rtt=100ms", "--interleave", "connection",
                        "--arm", "one: groups=*X25519MLKEM768:X25519 server-groups=X25519",
                        "--arm", "two: groups=*X25519MLKEM768:*X25519 server-groups=X25519"))
    for name, trips in (("one", 2), ("two", 1)):
        arm = arms[name]
        seen = arm["negotiated"]
        assert seen["group"] == "X25519"
        assert seen["hrr"] == (seen["handshakes"] if trips == 2 else 0)
        assert arm["network"]["tls_round_trips"]["min"] == trips
        assert arm["trials"][0]["latency_us"]["tls"]["min"] >= trips * 100e3
    assert median_us(arms["one"], "tls") / median_us(arms["two"], "tls") == \
        pytest.approx(2, rel=0.1)


@needs_link
@needs_openssl
def test_connecting_and_tls_are_two_times_and_a_retry_lengthens_one_of_them(tmp_path):
    """tcp is a round trip, tls is one, with a HelloRetryRequest two. (B12)"""
    samples, table = tmp_path / "samples.csv", tmp_path / "table.csv"
    arms = by_name(load("--link", "rtt=100ms", "--interleave", "connection", "--samples", samples,
                        "--csv", table, "--arm", "plain: groups=X25519", "--arm",
                        "retry: groups=*X25519:X25519MLKEM768 server-groups=X25519MLKEM768"))
    for name, trips in (("plain", 1), ("retry", 2)):
        assert median_us(arms[name], "tls") / median_us(arms[name], "tcp") == \
            pytest.approx(trips, rel=0.1)
    with open(samples, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            # What includes the other would be longer than both together.
            assert float(row["tcp_us"]) >= 100e3 and float(row["tls_us"]) >= 100e3
            assert float(row["response_us"]) >= float(row["tcp_us"]) + float(row["tls_us"]) + 100e3
    with open(table, newline="", encoding="utf-8") as file:
        metrics = {row["metric"] for row in csv.DictReader(file) if row["arm"] == "retry"}
    assert {"latency_us.tcp", "latency_us.tls"} <= metrics


# As browsers do: two shares; with such a name more than a segment.
HELLO = "groups=*X25519MLKEM768:*X25519"
NAME = "a-name-of-some-length.in-a-domain-of-some-depth.example.example"


def through_middlebox(mode, arms, samples, *words):
    """load, at the other end of a link from a middlebox and a server behind it."""
    more = " ".join(words) + "".join(f" --arm '{arm} verify=off'" for arm in arms)
    client = (f"{sys.executable} {BOX} wait $SERVER 4433 && exec {PROGRAM} load -q --no-calibrate"
              f" --target $SERVER:4433 --sni {NAME} --trials 1 --warmup 0s --json - --samples"
              f" {samples} --interleave connection {more}")
    server = (f"{PROGRAM} serve --listen 127.0.0.1:8443 >&2 &"
              f" exec {sys.executable} {BOX} {mode} $SERVER 4433 8443")
    text, _ = over_link("rtt=20ms", client, server)
    with open(samples, newline="", encoding="utf-8") as file:
        return strict_json(text), list(csv.DictReader(file))


@needs_link
@needs_openssl
def test_every_cut_of_a_client_hello_works_and_others_do_not_wait(tmp_path):
    """Cut at 1, 5, 700 and 1460 bytes, the second piece later. (C9)"""
    result, rows = through_middlebox("split", [f"a: {HELLO}"], tmp_path / "samples.csv",
                                     "--rate", "8", "--duration", "2s")
    arm, = result["arms"]
    trial = arm["trials"][0]
    assert arm["bytes"]["client_hello"] > max(middlebox.CUTS)
    assert trial["tally"]["completed"] == trial["tally"]["scheduled"] == 16 == len(rows)
    times = [float(row["tls_us"]) for row in rows]
    late = [time for time in times if time >= middlebox.GAP_S * 1e6]
    # Each cut twice; the eight between them would have waited with a server of one mind.
    assert len(late) == 8
    assert max(time for time in times if time not in late) < min(late)


@needs_link
@needs_openssl
def test_a_hello_whose_second_segment_is_swallowed_is_named_with_its_size(tmp_path):
    """A middlebox that takes one segment for a whole hello. (C9)"""
    result, _ = through_middlebox("swallow", ["small: groups=X25519", f"large: {HELLO}"],
                                  tmp_path / "samples.csv", "--rate", "6", "--duration", "1s",
                                  "--timeout", "1s")
    small, large = (arm["trials"][0] for arm in result["arms"])
    assert small["tally"]["completed"] == small["tally"]["scheduled"] == 3
    assert large["tally"]["timed_out"] == large["tally"]["scheduled"] == 3
    failure, = large["failures"]
    assert (failure["phase"], failure["cause"]) == ("tls", "timeout")
    size = int(re.fullmatch(r"after a ClientHello of (\d+) bytes", failure["detail"]).group(1))
    assert size > middlebox.SEGMENT
