# SPDX-License-Identifier: Apache-2.0
"""pqc-bench load: which TLS library makes the handshakes where no arm says so."""
import pytest

from conftest import listed, run, strict_json

NAMES = {b["name"] for b in listed()["backends"]}
pytestmark = pytest.mark.skipif(not {"openssl", "aws-lc"} <= NAMES,
                                reason="needs OpenSSL and AWS-LC")
QUICK = ["--duration", "300ms", "--warmup", "0", "--trials", "1", "--rate", "40", "--json", "-"]


def libraries(*arms, calibrate=False):
    """The result, and (client, server) of each arm without versions."""
    words = [word for arm in arms for word in ("--arm", arm)]
    done = run("load", *QUICK, *([] if calibrate else ["--no-calibrate"]), *words)
    assert done.returncode == 0, done.stderr
    result = strict_json(done.stdout)
    assert all(a["trials"][0]["tally"]["completed"] > 0 for a in result["arms"])
    return result, [tuple(a[side + "_backend"].rsplit("-", 1)[0] for side in ("client", "server"))
                    for a in result["arms"]]


def usual_server():
    """What an embedded server is without a word about it."""
    return strict_json(run("cpu", "--arm", "a: groups=X25519", "--handshakes", "10", "--repeats",
                           "2", "--json", "-", "-q").stdout)["arms"][0]["server_backend"]


def test_the_cheapest_library_is_the_client_and_the_server_stays_as_it_was():
    result, seen = libraries("a: groups=X25519", "pq: groups=X25519MLKEM768")
    assert seen == [("aws-lc", "openssl")] * 2
    assert {a["server_backend"] for a in result["arms"]} == {usual_server()}


def test_all_arms_have_one_library_or_none_is_chosen():
    """X448 is not in AWS-LC: the arm beside it is not given another library."""
    assert libraries("a: groups=X25519", "b: groups=X448")[1] == [("openssl", "openssl")] * 2


def test_an_arm_that_names_its_library_keeps_the_others_as_they_were():
    assert libraries("a: groups=X25519", "b: groups=X25519 backend=aws-lc")[1] == [
        ("openssl", "openssl"), ("aws-lc", "aws-lc")]


def test_a_server_that_is_named_stays():
    assert libraries("a: groups=X25519 server-backend=aws-lc")[1] == [("aws-lc", "aws-lc")]


def notes(result):
    return [p for p in result["validity"]["problems"] if p["code"] == "client-library"]


def test_what_the_choice_does_to_the_latency_is_told():
    result, _ = libraries("a: groups=X25519", "b: groups=X25519MLKEM768", calibrate=True)
    note, = notes(result)
    assert note["severity"] == "note" and note["arm"] == "a"
    assert result["arms"][0]["client_backend"] in note["message"]
    assert usual_server() in note["message"]
    # Counted in no trial.
    assert [a["trials"][0]["tally"]["scheduled"] for a in result["arms"]] == [12, 12]
    assert not notes(libraries("a: groups=X448", calibrate=True)[0])
