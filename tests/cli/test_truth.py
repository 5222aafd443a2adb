# SPDX-License-Identifier: Apache-2.0
"""Are known costs and known sizes what comes out at the end, in the JSON that users read?"""
import pathlib
import subprocess
import sys

import pytest

from conftest import LONG, PROGRAM, ROOT, listed, run, strict_json


def measure(*arms, handshakes=40, repeats=1, more=()):
    words = [word for arm in arms for word in ("--arm", arm)]
    done = run("cpu", "--handshakes", handshakes, "--repeats", repeats, "--no-primitives",
               "--json", "-", *more, *words, timeout=600)
    assert done.returncode == 0, done.stderr
    return strict_json(done.stdout)


def has_backend(name):
    return any(f"{b['name']}-{b['version']}".startswith((name + ".", name + "-"))
               for b in listed()["backends"])


def near(value, expected, share):
    return abs(value - expected) <= share * expected


def test_a_known_cost_is_measured_within_two_percent():
    result = measure("a: backend=null groups=X25519 null-client=2ms null-server=1ms", repeats=3)
    cpu = result["arms"][0]["cpu_us"]
    assert near(cpu["client"]["handshake"]["value"], 2000, 0.02), cpu
    assert near(cpu["server"]["handshake"]["value"], 1000, 0.02), cpu


def test_the_accounts_balance():
    result = measure("a: backend=null groups=X25519 null-client=1ms null-server=1ms", repeats=2)
    accounts = result["accounts"]
    found = accounts["reported_cpu_s"] + accounts["harness_cpu_s"]
    assert near(found, accounts["process_cpu_s"], 0.05), accounts
    # 20 watched, and 3 repeats of 40 and a warm-up.
    assert near(accounts["reported_cpu_s"], (20 + 3 * 41) * 2e-3, 0.05), accounts


# As they are published: without SNI, OpenSSL's three default suites, and the smallest
# self-signed certificate; or leaf and intermediate.
PUBLISHED = ("backend=openssl-3.5 sni=off cipher=TLS_AES_256_GCM_SHA384:"
             "TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256 ")
BARE, LONG_CHAIN = PUBLISHED + "chain=bare ", PUBLISHED + "chain=leaf+intermediate "
SIZES = [  # arm, client, server (least and most: ECDSA signatures vary), HelloRetryRequests
    (BARE + "groups=X25519", 297, 649, 654, 0),
    (BARE + "groups=X25519MLKEM768", 1473, 1737, 1742, 0),
    (BARE + "groups=MLKEM1024", 1825, 2185, 2190, 0),
    (BARE + "groups=X25519 cert=rsa-2048", 297, 1233, 1233, 0),
    (BARE + "groups=X25519MLKEM768 cert=mldsa65", 1473, 10103, 10103, 0),
    (BARE + "groups=X25519MLKEM768:X25519:MLKEM1024 server-groups=MLKEM1024",
     3242, 2278, 2284, 1),
    (LONG_CHAIN + "groups=X25519", 297, 1131, 1138, 0),
    (LONG_CHAIN + "groups=X25519 cert=rsa-2048", 297, 2110, 2112, 0),
    (LONG_CHAIN + "groups=X25519 cert=mldsa44", 297, 10675, 10675, 0),
    (LONG_CHAIN + "groups=X25519 cert=mldsa65", 297, 14622, 14622, 0),
    (LONG_CHAIN + "groups=X25519 cert=mldsa87", 297, 19856, 19856, 0),
    (LONG_CHAIN + "groups=X25519MLKEM768 cert=mldsa87", 1473, 20944, 20944, 0),
]


@pytest.mark.skipif(not has_backend("openssl-3.5"), reason="needs OpenSSL 3.5")
def test_published_sizes_come_out_exactly():
    result = measure(*(f"row{i}: {row[0]}" for i, row in enumerate(SIZES)), handshakes=30)
    for arm, (settings, client, least, most, hrr) in zip(result["arms"], SIZES):
        ranges = arm["bytes"]["ranges"]
        assert (ranges["client"]["min"], ranges["client"]["max"]) == (client, client), settings
        assert least <= ranges["server"]["min"] <= ranges["server"]["max"] <= most, (
            settings, ranges)
        assert arm["negotiated"]["hrr"] == 30 * hrr, settings
        assert arm["round_trips"]["mean"] == 1 + hrr, settings
    assert result["validity"]["problems"] == [] or all(
        problem["severity"] == "note" for problem in result["validity"]["problems"])


@pytest.mark.skipif(not has_backend("openssl-3.5"), reason="needs OpenSSL 3.5")
def test_the_hybrid_adds_its_shares_and_nothing_else():
    result = measure("x: backend=openssl-3.5 groups=X25519",
                     "pq: backend=openssl-3.5 groups=X25519MLKEM768")
    differences = {c["metric"]: c for c in result["comparisons"]}
    client = differences["bytes.client"]
    assert (client["difference"], client["low"], client["high"]) == (1176, 1176, 1176)
    assert client["verdict"] == "more"
    # 1088, and what the two arms' signatures happen to differ by.
    assert abs(differences["bytes.server"]["difference"] - 1088) < 3
    hello = {(m["sender"], m["name"]): m for m in result["arms"][1]["bytes"]["messages"]}
    assert hello["server", "ServerHello"]["min"] == 1210


@pytest.mark.skipif(not has_backend("openssl-3.5"), reason="needs OpenSSL 3.5")
def test_a_resumed_handshake_and_its_ticket_have_their_published_sizes():
    result = measure(BARE.join(("x: ", "groups=X25519 resume=1 tickets=1")),
                     BARE.join(("pq: ", "groups=X25519MLKEM768 resume=1 tickets=1")),
                     "two: backend=openssl-3.5 groups=X25519 tickets=2")
    for arm, server in zip(result["arms"], (496, 1584)):
        ranges = arm["bytes"]["ranges"]
        assert arm["negotiated"]["resumed"] == 40
        assert ranges["server"]["max"] + ranges["tickets"]["max"] == server
    assert result["arms"][2]["bytes"]["ranges"]["tickets"]["min"] == 2 * 255
    assert result["arms"][2]["negotiated"]["resumed"] == 0


@pytest.mark.skipif(not has_backend("openssl"), reason="needs OpenSSL")
def test_a_share_of_resumed_sessions_is_offered_and_its_bytes_compared_by_the_mean():
    result = measure("full: backend=openssl groups=X25519",
                     "half: backend=openssl groups=X25519 resume=0.5")
    assert result["arms"][1]["negotiated"]["resumed"] == 20
    metrics = {c["metric"]: c for c in result["comparisons"]}
    assert metrics["bytes.client"]["verdict"] == "more"  # a ticket goes with half the hellos
    assert metrics["bytes.server"]["verdict"] == "fewer"  # half the certificates stay away
    assert metrics["bytes.client"]["low"] < metrics["bytes.client"]["difference"]


@pytest.mark.skipif(not has_backend("openssl"), reason="needs OpenSSL")
def test_tls_12_takes_two_round_trips_and_names_a_missing_curve():
    result = measure("a: backend=openssl groups=X25519:secp256r1 tls=1.2",
                     "b: backend=openssl groups=X25519 tls=1.2 cert=rsa-2048")
    for arm in result["arms"]:
        assert arm["negotiated"]["tls"] == "1.2"
        assert arm["round_trips"]["mean"] == 2
        assert arm["negotiated"]["group"] == "X25519"
    done = run("cpu", "--handshakes", 5, "--repeats", 1, "--arm",
               "a: backend=openssl groups=X25519 tls=1.2")
    assert done.returncode == 1
    assert "alert 40" in done.stderr and "needs secp256r1" in done.stderr, done.stderr


@pytest.mark.skipif(not LONG, reason="minutes; PQC_BENCH_LONG=yes")
@pytest.mark.parametrize("backend", ["openssl", "aws-lc"])
def test_the_harness_costs_less_than_three_percent_of_a_handshake(backend):
    if not has_backend(backend):
        pytest.skip(f"needs {backend}")
    script = pathlib.Path(ROOT) / "tools" / "harness-cost"
    done = subprocess.run([sys.executable, script, PROGRAM, "--backend", backend, "--few", "20",
                           "--more", "60", "--twice"],
                          capture_output=True, text=True, check=False, timeout=1800)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(not LONG, reason="minutes; PQC_BENCH_LONG=yes")
@pytest.mark.skipif(not has_backend("openssl"), reason="needs OpenSSL")
def test_noise_is_called_noise_and_the_hybrid_is_found():
    words = []
    for seed in range(10):
        result = measure("classical: groups=X25519", "pq: groups=X25519MLKEM768",
                         "control: groups=X25519", handshakes=400, repeats=5,
                         more=("--seed", seed))
        for c in result["comparisons"]:
            if c["metric"].startswith("cpu_us."):
                words.append((c["arm"], c["metric"], c["verdict"]))
    assert sum(word[2] in ("slower", "faster") for word in words if word[0] == "control") <= 1
    assert all(word[2] == "slower" for word in words if word[0] == "pq"), words
