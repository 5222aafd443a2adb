# SPDX-License-Identifier: Apache-2.0
"""Key share prediction: is the record found and read, does the one share save the round trip
and nothing else, and does no answer of a resolver do harm?"""
import contextlib
import struct

import pytest

import resolvers as dns
import scripted
from test_probe import serving
from conftest import FAST, assert_one_line, assert_usage_error, run, strict_json

ONCE = ["--handshakes", "3", "--repeats", "1", "--no-primitives", "-q", "--json", "-"]
NULL = "groups=X25519MLKEM768:X25519:secp256r1 server-groups=X25519 backend=null"
MANY = list(range(1000, 1700)) + [29]  # 1402 bytes: more than one datagram of 1232
ZONE = r"""
plain HTTPS 1 . alpn=h2 key9="\000\029\017\236"
_8443._https.plain HTTPS 1 . key9="\017\236"
_993._imaps.plain SVCB 1 . key9="\000\023"
order HTTPS 2 . key9="\000\023"
order HTTPS 1 . key9="\000\029"
unknown HTTPS 1 . key9="\254\001\000\023\000\029"
second HTTPS 1 . alpn=h2
second HTTPS 2 . key9="\000\029"
other HTTPS 1 . mandatory=key667 key9="\000\029" key667="x"
other HTTPS 2 . key9="\000\023"
cname CNAME plain
alias HTTPS 0 plain
far HTTPS 0 cname
round HTTPS 0 about
about HTTPS 0 round
gone HTTPS 0 .
foreign HTTPS 1 . key9="\254\001"
none A 127.0.0.1
many TYPE65 \# """ + f"{7 + 2 * len(MANY)} 0001000009{2 * len(MANY):04x}" + "".join(
    f"{code:04x}" for code in MANY) + r"""
empty TYPE65 \# 7 00010000090000
twice TYPE65 \# 11 00010000090004001d001d
half TYPE65 \# 10 00010000090003001d00
"""
ZONE = "\n".join(map(dns.unknown_form, ZONE.splitlines())) + "\n"


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    with dns.nsd(tmp_path_factory.mktemp("nsd"), ZONE) as address:
        yield address


def predict(resolver, name, how="dns", arm=NULL, **more):
    return run("cpu", *ONCE, "--resolver", resolver, "--predict", how, "--predict-name", name,
               "--arm", f"a: {arm}", **more)


def prediction(*args, **more):
    done = predict(*args, **more)
    assert done.returncode == 0, done.stderr
    return strict_json(done.stdout)["arms"][0]["prediction"]


@pytest.mark.parametrize("name, how, asked, server, share", [
    ("plain.test", "dns", "plain.test", "29,4588", "X25519"),
    ("plain.test:8443", "dns", "_8443._https.plain.test", "4588", "X25519MLKEM768"),
    ("plain.test:993", "dns:imaps", "_993._imaps.plain.test", "23", "secp256r1"),
    ("order.test", "dns", "order.test", "29", "X25519"),
    ("unknown.test", "dns", "unknown.test", "65025,23,29", "secp256r1"),
    ("other.test", "dns", "other.test", "23", "secp256r1"),
    ("cname.test", "dns", "cname.test", "29,4588", "X25519"),
    ("alias.test", "dns", "alias.test", "29,4588", "X25519"),
    ("far.test", "dns", "far.test", "29,4588", "X25519"),
])
def test_a_record_of_a_real_server_is_found(authority, name, how, asked, server, share):
    assert prediction(authority, name, how) == {"source": asked, "server": server,
                                                "share": share}


@pytest.mark.parametrize("name, reason", [
    ("none", "no such record"), ("nobody", "no such name"), ("gone", "no such service"),
    ("round", "aliases"), ("second", "has no tls-supported-groups"),
    ("foreign", "offers none of the server's groups"), ("empty", "an empty list"),
    ("twice", "a code point twice"), ("half", "half a code point"),
])
def test_without_a_good_record_the_usual_shares_are_sent_and_why_is_said(authority, name, reason):
    assert_no_prediction(authority, name, reason)


def test_a_record_with_a_key_twice_is_not_taken():
    """NSD 4.12 loads none."""
    data = bytes.fromhex("00010000090002001700090002001d")

    def script(query):
        return [query.answer(dns.record(query.name, dns.HTTPS, data))]

    with dns.scripted(script) as (address, _):
        assert_no_prediction(address, "keys", "a key twice")


def assert_no_prediction(resolver, name, reason):
    done = predict(resolver, f"{name}.test")
    assert done.returncode == 0, done.stderr
    result = strict_json(done.stdout)
    assert reason in result["arms"][0]["prediction"]["reason"]
    assert "share" not in result["arms"][0]["prediction"]
    note, = [p for p in result["validity"]["problems"] if p["code"] == "no-prediction"]
    assert reason in note["message"]


def test_an_answer_too_large_for_a_datagram_is_had_over_tcp(authority):
    found = prediction(authority, "many.test")
    assert found["share"] == "X25519"
    assert found["server"].startswith("1000,1001,") and found["server"].endswith(",...")


def test_a_resolver_may_have_an_ipv6_address(tmp_path):
    with dns.nsd(tmp_path, ZONE, "::1") as address:
        assert prediction(address, "plain.test")["share"] == "X25519"


def messages(arm):
    """Their sizes by sender, name and number; a signature's size is left to chance."""
    return {(m["sender"], m["name"], m["index"]): (m["min"], m["max"])
            for m in arm["bytes"]["messages"] if m["name"] != "CertificateVerify"}


def test_a_prediction_saves_one_round_trip_and_changes_nothing_but_bytes(authority):
    lists = "groups=X25519MLKEM768:X25519 server-groups=X25519"
    done = run("cpu", "--handshakes", "20", "--repeats", "2", "--no-primitives", "-q", "--json",
               "-", "--resolver", authority, "--predict-name", "plain.test",
               "--arm", f"wrong: {lists}", "--arm", f"predicted: {lists} predict=dns",
               "--arm", f"by-hand: {lists.replace(':X', ':*X')}")
    assert done.returncode == 0, done.stderr
    wrong, predicted, by_hand = strict_json(done.stdout)["arms"]
    count = wrong["negotiated"]["handshakes"]
    assert count == 40
    assert [a["negotiated"]["hrr"] for a in (wrong, predicted, by_hand)] == [count, 0, 0]
    assert wrong["round_trips"]["mean"] - predicted["round_trips"]["mean"] == 1
    for key in ("group", "cipher", "signature", "tls", "handshakes", "counts", "resumed"):
        assert wrong["negotiated"].get(key) == predicted["negotiated"].get(key), key
    assert predicted["bytes"]["client"] == by_hand["bytes"]["client"]
    assert wrong["bytes"]["client"] - predicted["bytes"]["client"] == \
        wrong["bytes"]["client_hello"]
    # What is sent is the second ClientHello of the one that had to ask again; all else stays.
    asked, told = messages(wrong), messages(predicted)
    asked.pop(("server", "HelloRetryRequest", 0))
    asked.pop(("client", "ClientHello", 0))
    asked["client", "ClientHello", 0] = asked.pop(("client", "ClientHello", 1))
    assert told == asked


def test_a_wrong_prediction_recovers_is_counted_and_is_said():
    done = run("cpu", *ONCE, "--predict", "X25519MLKEM768", "--arm", f"a: {NULL}",
               "--arm", f"b: {NULL} predict=off", "--arm", f"c: {NULL} predict=29")
    assert done.returncode == 0, done.stderr
    result = strict_json(done.stdout)
    arms, problems = result["arms"], result["validity"]["problems"]
    assert [arm["negotiated"]["hrr"] for arm in arms] == [3, 3, 0]
    assert [arm["negotiated"]["group"] for arm in arms] == ["X25519"] * 3
    assert [(p["code"], p["arm"]) for p in problems if "prediction" in p["code"]] == [
        ("wrong-prediction", "a")]
    assert not [p for p in problems if p["code"] == "unexpected-hrr"]
    assert "prediction" not in arms[1]


def test_load_predicts_as_cpu_does(authority):
    done = run("load", "--rate", "40", "--duration", "500ms", "--warmup", "0s", "--trials", "1",
               "--no-calibrate", "-q", "--json", "-", "--resolver", authority, "--predict-name",
               "plain.test", "--arm", f"wrong: {NULL}", "--arm", f"dns: {NULL} predict=dns")
    assert done.returncode == 0, done.stderr
    result = strict_json(done.stdout)
    wrong, predicted = (arm["negotiated"] for arm in result["arms"])
    assert wrong["hrr"] == wrong["handshakes"] > 0
    assert predicted["hrr"] == 0 < predicted["handshakes"]
    assert not [p for p in result["validity"]["problems"]
                if p["code"] == "unexpected-hrr" and p["arm"] == "dns"]


def extensions(record):
    """type -> body, in order, of a ClientHello in one record."""
    at = 5 + 4 + 34
    at += 1 + record[at]
    at += 2 + struct.unpack(">H", record[at:at + 2])[0]
    at += 1 + record[at] + 2
    found = {}
    while at < len(record):
        kind, size = struct.unpack(">2H", record[at:at + 4])
        found[kind] = record[at + 4:at + 4 + size]
        at += 4 + size
    return found


@pytest.mark.parametrize("backend", ["openssl-3.5", "null"])
def test_the_clients_list_is_the_same_on_the_wire(backend):
    hellos = []

    def listen(conn, _number):
        hellos.append(scripted.read_record(conn))

    with scripted.server(listen) as port:
        for words in ([], ["--predict", "23"]):
            run("load", "--target", f"localhost:{port}", "--rate", "20", "--duration", "100ms",
                "--warmup", "0s", "--trials", "1", "--no-calibrate", "-q", "--timeout", "2s",
                "--arm", f"a: groups=DEFAULT verify=off backend={backend}", *words)
            hellos.append(None)
    before, after = (extensions(hellos[i]) for i in (0, hellos.index(None) + 1))
    assert list(before) == list(after)
    assert before[10] == after[10]
    assert after[51][2:4] == b"\x00\x17" and len(after[51]) == 2 + 4 + 65
    assert {k: v for k, v in before.items() if k != 51} == \
        {k: v for k, v in after.items() if k != 51}


# A resolver that answers by a script.

def good(query, codes=(29,)):
    return query.answer(dns.record(query.name, query.kind, dns.svcb(1, "", codes)))


def test_queries_differ_in_id_and_port_and_carry_edns0():
    arms = [word for i in range(12) for word in ("--arm", f"a{i}: {NULL} predict=dns")]
    with dns.scripted(lambda query: [good(query)]) as (address, queries):
        done = run("cpu", *ONCE, "--resolver", address, "--predict-name", "a.test", *arms)
    assert done.returncode == 0, done.stderr
    assert len(queries) == 12
    for query in queries:
        assert (query.name, query.kind, query.cls) == ("a.test", dns.HTTPS, 1)
        assert query.flags == 0x0100 and query.counts == [1, 0, 0, 1]
        assert query.rest == b"\0" + struct.pack(">HHIH", dns.OPT, 1232, 0, 0)
    # Two equal ids among twelve: once in a thousand runs; five: never.
    assert len({query.number for query in queries}) > 8
    assert len({query.peer[1] for query in queries}) > 8
    steps = {(b.number - a.number) % 65536 for a, b in zip(queries, queries[1:])}
    assert len(steps) > 8


def test_a_forged_answer_ahead_of_the_true_one_is_passed_over():
    def script(query):
        forged = dns.record(query.name, query.kind, dns.svcb(1, "", [23]))
        return [query.answer(forged, number=query.number ^ 1),
                query.answer(forged, question=dns.wire_name("b.test") + query.question[-4:]),
                good(query)]

    with dns.scripted(script) as (address, _):
        assert prediction(address, "a.test")["server"] == "29"


def test_an_answer_that_is_cut_is_asked_for_again_over_tcp():
    def script(query):
        return [good(query)] if query.is_tcp else [query.answer(flags=0x8380)]

    with dns.scripted(script) as (address, queries):
        assert prediction(address, "a.test")["server"] == "29"
    assert [query.is_tcp for query in queries] == [False, True]


def test_a_resolver_without_edns0_is_asked_without():
    def script(query):
        return [query.answer(flags=0x8181)] if query.counts[3] else [good(query)]

    with dns.scripted(script) as (address, queries):
        assert prediction(address, "a.test")["server"] == "29"
    assert [query.counts[3] for query in queries] == [1, 0]


def test_names_that_lead_on_for_ever_are_followed_a_bounded_way():
    def script(query):
        number = int(query.name.split(".")[0][1:])
        return [query.answer(dns.record(query.name, dns.CNAME,
                                        dns.wire_name(f"a{number + 1}.test")))]

    with dns.scripted(script) as (address, queries):
        assert "aliases" in prediction(address, "a0.test")["reason"]
    assert len(queries) <= 10


@pytest.mark.parametrize("what", ["counts", "short", "error", "id", "silence", "pointer",
                                  "tcp-short"])
def test_answers_that_cannot_be_used_end_the_run_with_one_line(what):
    def script(query):
        return {
            "counts": [query.answer(counts=(1, 65535, 65535, 65535))],
            "short": [query.answer(dns.record(query.name, query.kind, b"\0\1\0"))[:-1]],
            "error": [query.answer(flags=0x8182)],
            "id": [query.answer(number=query.number ^ 0x8000)],
            "silence": [],
            "pointer": [query.answer(b"\xc0" + bytes([len(query.question) + 12]) + b"\0" * 10)],
            "tcp-short": [b"\0"] if query.is_tcp else [query.answer(flags=0x8380)],
        }[what]

    with dns.scripted(script) as (address, _):
        done = predict(address, "a.test")
    assert (done.returncode, done.stdout) == (1, ""), done
    assert_one_line(done, "DNS: a.test: ")


def test_an_answer_of_another_type_is_no_record():
    with dns.scripted(lambda q: [q.answer(dns.record(q.name, dns.SVCB, dns.svcb(1, "", [29])))]
                      ) as (address, _):
        assert prediction(address, "a.test")["reason"] == "no such record"


@pytest.mark.parametrize("words, parts", [
    (["--predict", "29,29"], ["--predict", "29,29", "accepted"]),
    (["--predict", "dns"], ["--predict-name"]),
    (["--predict", "dns", "--predict-name", "127.0.0.1"], ["--predict-name", "127.0.0.1"]),
    (["--resolver", "localhost"], ["--resolver", "localhost"]),
    (["--predict", "29", "--arm", "old: tls=1.2"], ["arm old", "predict"]),
    (["--predict", "29", "--arm", "a: groups=*X25519MLKEM768:*X25519 backend=aws-lc"],
     ["aws-lc", "key shares"]),
])
def test_what_cannot_be_predicted_is_refused_before_the_run(words, parts):
    assert_usage_error(run("cpu", *FAST, *words), *parts)


# What a probed server should publish.

def record_lines(target, *words):
    done = run("probe", "--rate", "1000", "--print-record", target, *words)
    assert done.stderr.count("\n") <= 1, done.stderr
    return done.stdout.splitlines()


@contextlib.contextmanager
def published(folder, *forms):
    """An authoritative server with the first of the forms that it knows."""
    with contextlib.ExitStack() as stack:
        for form in forms:
            try:
                resolver = stack.enter_context(dns.nsd(folder, form + "\n"))
                break
            except dns.ZoneRefused:
                continue
        else:
            raise AssertionError(forms)
        yield resolver


@pytest.mark.parametrize("groups, codes", [
    ("secp256r1/X25519/X25519MLKEM768", [23, 29, 4588]),
    ("X25519MLKEM768/X25519", [4588, 29]),
    ("X25519", [29]),
])
def test_the_record_that_probe_prints_predicts_that_servers_choice(tmp_path, groups, codes):
    with serving("--groups", groups) as target:
        port = target.rsplit(":", 1)[1]
        comment, named, generic = record_lines(target)
        assert comment.startswith(f"; {target}: ")
        owner = f"_{port}._https 3600 IN HTTPS 1 . "
        assert named == owner + "tls-supported-groups=" + ",".join(map(str, codes))
        assert generic == owner + 'key9="' + "".join(
            f"\\{code >> 8:03}\\{code & 255:03}" for code in codes) + '"'
        with published(tmp_path, named, generic) as resolver:
            done = run("load", "--target", target, "--rate", "20", "--duration", "300ms",
                       "--warmup", "0s", "--trials", "1", "--no-calibrate", "-q", "--json", "-",
                       "--resolver", resolver, "--predict", "dns", "--predict-name",
                       f"test:{port}", "--arm",
                       "a: groups=X25519MLKEM768:X25519:secp256r1 verify=off")
    assert done.returncode == 0, done.stderr
    arm, = strict_json(done.stdout)["arms"]
    assert arm["prediction"]["server"] == ",".join(map(str, codes))
    assert arm["negotiated"]["hrr"] == 0 < arm["negotiated"]["handshakes"]
    code_of = {"X25519MLKEM768": 4588, "X25519": 29, "secp256r1": 23}
    assert code_of[arm["negotiated"]["group"]] == codes[0] == code_of[arm["prediction"]["share"]]


def test_a_list_without_an_order_of_the_servers_own_is_marked_so():
    with serving("--groups", "X25519:X25519MLKEM768") as target:
        lines = record_lines(target)
    assert len(lines) == 4 and lines[1].startswith("; the server has no order of its own")


def test_a_server_with_a_name_gets_it_into_the_record():
    with serving() as target:
        lines = record_lines(target, "--sni", "www.a.test")
    port = target.rsplit(":", 1)[1]
    assert all(line.startswith(f"_{port}._https.www.a.test. ") for line in lines[1:])


def test_where_nothing_answers_there_is_no_record():
    def drop(conn, _number):
        conn.recv(65536)

    with scripted.server(drop) as port:
        lines = record_lines(f"127.0.0.1:{port}")
    assert len(lines) == 1 and "no record" in lines[0]


def test_a_record_and_json_do_not_share_standard_output():
    assert_usage_error(run("probe", "127.0.0.1:1", "--print-record", "--json", "-"),
                       "--print-record")


def test_probe_shows_what_a_prediction_would_save(authority):
    def hellos(*words):
        done = run("probe", "--rate", "1000", "--json", "-", *words)
        server, = strict_json(done.stdout)["servers"]
        return server["hellos"], server.get("prediction", "")

    with serving("--groups", "secp256r1") as target:
        plain, said = hellos(target)
        assert "predicted" not in plain and said == ""
        told, said = hellos(target, "--predict", "dns:imaps", "--predict-name", "plain.test:993",
                            "--resolver", authority)
        assert told["browser"]["hrr"] and told["browser"]["round_trips"] == 2
        assert not told["predicted"]["hrr"] and told["predicted"]["round_trips"] == 1
        assert told["predicted"]["group"] == told["browser"]["group"] == "secp256r1"
        assert said == "one share, secp256r1; the server's groups are said to be 23"
        wrong, _ = hellos(target, "--predict", "29")
        assert wrong["predicted"]["complete"] and wrong["predicted"]["hrr"]
        none, said = hellos(target, "--predict", "999")
        assert "predicted" not in none and said.startswith("none: ")
        assert_one_line(run("probe", target, "--predict", "dns"), "--predict-name")


def test_a_result_read_back_says_the_same_of_its_predictions(tmp_path):
    arms = ["--arm", f"a: {NULL} predict=29,4588", "--arm", f"b: {NULL} predict=999"]
    done = run("cpu", *FAST, "-q", "-o", tmp_path / "r", *arms)
    assert done.returncode == 0, done.stderr
    written = tmp_path / "r" / "result.json"
    again = run("report", written, "--format", "json")
    assert again.returncode == 0, again.stderr
    before, after = (strict_json(text)["arms"] for text in (
        written.read_text(encoding="utf-8"), again.stdout))
    assert [a["prediction"] for a in before] == [a["prediction"] for a in after]
    assert before[0]["prediction"] == {"source": "list", "server": "29,4588", "share": "X25519"}
    text = (tmp_path / "r" / "result.txt").read_text(encoding="utf-8")
    assert "a sent one key share, predicted: X25519;" in text
    assert "b sent its usual key shares, for want of a prediction" in text
