# SPDX-License-Identifier: Apache-2.0
"""Does `pqc-bench compare` tell results apart that differ, and no others?

The results are made by the program on the null backend, whose cost is known, and then changed
in what a test is about.
"""
import copy
import csv
import io
import json

import pytest

from conftest import assert_one_line, assert_usage_error, run, strict_json
from test_html import KNOWN, Page, chromium, opened  # noqa: F401 (chromium is a fixture)

ARMS = ("--arm=classical: groups=X25519 backend=null null-client=200us null-server=200us",
        "--arm=pq: groups=X25519MLKEM768 backend=null null-client=300us null-server=300us",
        "--arm=control: groups=X25519 backend=null null-client=200us null-server=200us")


def measure(path, *arms, handshakes=20, repeats=4):
    done = run("cpu", "--quiet", f"--json={path}", f"--handshakes={handshakes}",
               f"--repeats={repeats}", "--no-primitives", *(arms or ARMS))
    assert done.returncode == 0, done.stderr
    return json.loads(path.read_text())


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    return measure(tmp_path_factory.mktemp("compare") / "measured.json")


def scaled(result, factor, arms=("classical", "pq", "control"), sides=("client", "server"),
           scatter=0.001):
    """The same result with other CPU times: `factor` times 200 us, 300 us for pq."""
    made = copy.deepcopy(result)
    for arm in made["arms"]:
        base = 300.0 if arm["name"] == "pq" else 200.0
        times = factor if arm["name"] in arms else 1
        for i, trial in enumerate(arm["trials"]):
            trial["valid"] = True
            for side in ("client", "server"):
                us = base * (times if side in sides else 1) * (1 + scatter * (i % 3 - 1))
                trial["cpu_us"][side] = {"handshake": us, "setup": 1.0, "teardown": 1.0,
                                         "total": us}
        for side in ("client", "server"):
            us = base * (times if side in sides else 1)
            arm["cpu_us"][side]["median"] = us
            arm["cpu_us"][side].pop("low", None)
            arm["cpu_us"][side].pop("high", None)
    made["validity"] = {"valid": True, "problems": []}
    made["comparisons"] = []
    for arm in ("pq", "control"):
        for side in ("client", "server"):
            base = 200.0 * (factor if "classical" in arms and side in sides else 1)
            mine = (300.0 if arm == "pq" else 200.0)
            mine *= factor if arm in arms and side in sides else 1
            made["comparisons"].append({
                "baseline": "classical", "arm": arm, "metric": f"cpu_us.{side}",
                "baseline_value": base, "value": mine, "difference": mine - base,
                "low": mine - base - 0.1, "high": mine - base + 0.1, "ratio": mine / base,
                "ratio_low": mine / base - 0.001, "ratio_high": mine / base + 0.001,
                "confidence": 0.95, "verdict": "slower" if mine > base else "no-difference"})
    return made


def write(path, result):
    path.write_text(json.dumps(result))
    return str(path)


@pytest.fixture
def before(tmp_path, measured):
    return write(tmp_path / "before.json", scaled(measured, 1))


def compare(*words):
    done = run("compare", "--json=-", *words)
    return done, strict_json(done.stdout) if done.stdout else None


def rows(compared, metric, arm="classical"):
    return [r for r in compared["rows"] if r["metric"] == metric and r.get("arm") == arm]


def row(compared, metric, arm="classical"):
    (found,) = rows(compared, metric, arm)
    return found


# ---- what is found ----


def test_the_same_result_is_no_different_from_itself(before):
    done, compared = compare(before, before)
    assert done.returncode == 0, done.stderr
    assert {r["verdict"] for r in compared["rows"] if r["main"]} == {"no-difference"}
    assert all(r["change"] == 0 for r in compared["rows"])
    assert compared["differences"] == []


def test_two_runs_on_the_null_backend_do_not_differ(tmp_path, measured):
    first = write(tmp_path / "a.json", measured)
    measure(tmp_path / "b.json")
    done, compared = compare("--anyway", first, str(tmp_path / "b.json"))
    assert done.returncode == 0, done.stderr
    assert not [r for r in compared["rows"]
                if r["main"] and r["verdict"] in ("slower", "faster", "more", "fewer")]


@pytest.mark.parametrize("factor, word", [(1.1, "slower"), (0.9, "faster")])
def test_a_build_that_costs_more_or_less_is_called_so_in_every_arm(tmp_path, measured, before,
                                                                  factor, word):
    after = write(tmp_path / "after.json", scaled(measured, factor))
    done, compared = compare(before, after)
    assert done.returncode == 0, done.stderr
    for side in ("client", "server"):
        for arm in (None, "classical", "pq", "control"):
            found = row(compared, f"cpu_us.{side}", arm)
            assert found["verdict"] == word, found
            assert found["change"] == pytest.approx(factor - 1, abs=1e-6)
            assert found["low"] < factor - 1 < found["high"]
    # The arms' own ratio has not changed.
    assert row(compared, "ratio.cpu_us.client", "pq")["verdict"] == "no-difference"


def test_a_change_of_one_arm_and_side_is_found_there_and_in_its_ratio_alone(tmp_path, measured,
                                                                           before):
    after = write(tmp_path / "after.json",
                  scaled(measured, 1.1, arms=("pq",), sides=("server",)))
    _, compared = compare(before, after)
    assert row(compared, "cpu_us.server", "pq")["verdict"] == "slower"
    assert row(compared, "cpu_us.client", "pq")["verdict"] == "no-difference"
    assert row(compared, "cpu_us.server")["verdict"] == "no-difference"
    assert row(compared, "ratio.cpu_us.server", "pq")["verdict"] == "more"
    assert row(compared, "ratio.cpu_us.server", "pq")["change"] == pytest.approx(0.1, abs=1e-6)


def test_repeats_that_scatter_leave_a_difference_open(tmp_path, measured):
    first = write(tmp_path / "a.json", scaled(measured, 1, scatter=0.1))
    second = write(tmp_path / "b.json", scaled(measured, 1.1, scatter=0.1))
    _, compared = compare(first, second)
    assert row(compared, "cpu_us.client")["verdict"] == "inconclusive"


def test_a_control_that_shifts_by_itself_is_the_noise_floor(tmp_path, measured, before):
    after = write(tmp_path / "after.json", scaled(measured, 1.06, arms=("control", "pq")))
    _, compared = compare(before, after)
    found = row(compared, "cpu_us.client", "pq")
    assert found["noise_floor"] == pytest.approx(0.058, abs=0.002)
    assert found["verdict"] != "slower"


def test_a_host_that_slows_down_is_taken_out(tmp_path, measured):
    """A library's arm is compared in units of the work that was timed beside it."""
    made = []
    for name, slow in (("a", 1.0), ("b", 1.3)):
        result = scaled(measured, slow)
        for arm in result["arms"]:
            arm["client_backend"] = arm["server_backend"] = "openssl-3.5.7"
            for trial in arm["trials"]:
                trial["work_us"] = {side: 250.0 * slow for side in ("client", "server")}
                trial["cpu_per_work"] = {side: trial["cpu_us"][side]["total"] / (250.0 * slow)
                                         for side in ("client", "server")}
        made.append(write(tmp_path / f"{name}.json", result))
    _, compared = compare(*made)
    found = row(compared, "cpu_us.client")
    assert found["scaled"] and found["verdict"] == "no-difference"
    assert found["as_measured"] == pytest.approx(0.3, abs=1e-6)
    assert found["change"] == pytest.approx(0, abs=1e-6)


# ---- several results a side ----


def test_several_results_a_side_narrow_the_interval(tmp_path, measured):
    widths = []
    for runs in (1, 3):
        sides = []
        for side, factor in (("a", 1), ("b", 1.05)):
            for i in range(runs):
                place = tmp_path / f"{side}{runs}" / str(i)
                place.mkdir(parents=True)
                write(place / "result.json", scaled(measured, factor * (1 + 0.001 * i)))
            sides.append(str(tmp_path / f"{side}{runs}"))
        if runs == 1:
            sides = [f"{side}/0" for side in sides]
        done, compared = compare(*sides)
        assert done.returncode == 0, done.stderr
        found = row(compared, "cpu_us.client")
        assert found["verdict"] == "slower"
        assert found["change"] == pytest.approx(0.05, abs=1e-3)
        widths.append(found["high"] - found["low"])
        assert [len(s["files"]) for s in compared["sides"]] == [runs, runs]
    assert widths[1] < 0.7 * widths[0]


def test_results_of_a_side_that_scatter_widen_it(tmp_path, measured):
    files = [write(tmp_path / f"{i}.json", scaled(measured, factor))
             for i, factor in enumerate((0.9, 1.0, 1.1, 1.0, 1.1, 1.2))]
    _, compared = compare(",".join(files[:3]), ",".join(files[3:]))
    found = row(compared, "cpu_us.client")
    assert found["verdict"] == "inconclusive"
    assert found["low"] < 0 < found["high"]


def test_three_sides_are_each_compared_with_the_first(tmp_path, measured, before):
    same = write(tmp_path / "same.json", scaled(measured, 1))
    more = write(tmp_path / "more.json", scaled(measured, 1.2))
    done, compared = compare(before, same, more)
    assert done.returncode == 0, done.stderr
    found = {r["in"]: r["verdict"] for r in rows(compared, "cpu_us.client")}
    assert found == {same: "no-difference", more: "slower"}


# ---- what differs, and what is refused ----


def edited(result, edit):
    made = scaled(result, 1)
    edit(made)
    return made


def other_machine(r):
    r["hosts"][0]["cpu_model"] = "Another CPU"


def other_group(r):
    r["arms"][1]["negotiated"]["counts"] = {"X25519": r["arms"][1]["negotiated"]["handshakes"]}
    r["arms"][1]["negotiated"]["group"] = "X25519"


def other_certificate(r):
    r["arms"][0]["spec"]["cert"] = "rsa-2048"


def sanitized(r):
    r["build"]["sanitizer"] = "address"


@pytest.mark.parametrize("edit, word", [(other_machine, "cpu_model"), (other_group, "group"),
                                        (other_certificate, "cert"), (sanitized, "sanitizer")])
def test_what_makes_no_sense_is_refused_in_words_unless_anyway(tmp_path, measured, before, edit,
                                                              word):
    after = write(tmp_path / "after.json", edited(measured, edit))
    done = run("compare", before, after)
    assert done.returncode == 1
    assert_one_line(done, "pqc-bench compare: ", word, "--anyway", str(after))
    assert word in done.stdout and "Changes" not in done.stdout
    done, compared = compare("--anyway", before, after)
    assert done.returncode == 0, done.stderr
    assert [d["name"] for d in compared["differences"] if d["forbids"]] == [word]
    assert compared["anyway"] and compared["rows"]


def other_kernel(r):
    r["hosts"][0]["kernel"] = "9.9.9"


def other_library(r):
    for arm in r["arms"]:
        arm["client_backend"] = "null-2"


def other_option(r):
    r["config"]["handshakes"] = "77"


def other_key(r):
    r["arms"][2]["spec"]["tickets"] = "3"


@pytest.mark.parametrize("edit, subject, name", [
    (other_kernel, "host", "kernel"), (other_library, "library", "client"),
    (other_option, "option", "handshakes"), (other_key, "arm", "tickets")])
def test_what_differs_is_listed_once_and_compared(tmp_path, measured, before, edit, subject,
                                                  name):
    after = write(tmp_path / "after.json", edited(measured, edit))
    done, compared = compare(before, after)
    assert done.returncode == 0, done.stderr
    assert [(d["subject"], d["name"], d["forbids"]) for d in compared["differences"]] == \
        [(subject, name, False)]


def test_a_result_that_was_interrupted_or_is_not_valid_says_so(tmp_path, measured, before):
    def edit(r):
        r["interrupted"] = True
        r["interrupted_by"] = "SIGINT"
        r["validity"] = {"valid": False, "problems": [
            {"code": "steal", "severity": "fault", "message": "stolen", "arm": "pq"}]}
    after = write(tmp_path / "after.json", edited(measured, edit))
    done, compared = compare(before, after)
    assert done.returncode == 0, done.stderr
    assert row(compared, "cpu_us.client", "pq")["verdict"] == "withheld"
    assert row(compared, "cpu_us.client")["verdict"] == "no-difference"
    assert {d["name"] for d in compared["differences"]} == {"interrupted", "valid"}
    done, compared = compare("--anyway", before, after)
    assert row(compared, "cpu_us.client", "pq")["verdict"] == "no-difference"


def test_two_repeats_give_no_interval(tmp_path, measured):
    def cut(r):
        for arm in r["arms"]:
            arm["trials"] = arm["trials"][:2]
    files = [write(tmp_path / f"{i}.json", edited(measured, cut)) for i in range(2)]
    done, compared = compare(*files)
    found = row(compared, "cpu_us.client")
    assert "low" not in found and found["verdict"] == "inconclusive"
    done = run("compare", "--fail-if=cpu_us.client > +5%", *files)
    assert done.returncode == 1 and "cannot be judged" in done.stderr


def test_kinds_are_not_mixed_even_anyway(tmp_path, before):
    load = tmp_path / "load.json"
    done = run("load", "--quiet", f"--json={load}", "--arm=classical: backend=null", "--rate=100",
               "--duration=300ms", "--warmup=0s", "--trials=1", "--no-calibrate")
    assert done.returncode == 0, done.stderr
    done = run("compare", "--anyway", before, str(load))
    assert done.returncode == 1
    assert_one_line(done, "kind cpu", "kind load", str(load))


# ---- which arm is which ----


def renamed(result, old, new):
    text = json.dumps(scaled(result, 1))
    return json.loads(text.replace(f'"{old}"', f'"{new}"'))


def test_an_arm_of_another_name_is_matched_by_its_settings(tmp_path, measured, before):
    after = write(tmp_path / "after.json", renamed(measured, "pq", "hybrid"))
    done, compared = compare(before, after)
    assert done.returncode == 0, done.stderr
    assert row(compared, "cpu_us.client", "pq")["arm_there"] == "hybrid"
    assert compared["unmatched"] == []


def test_arms_are_paired_as_the_user_says(tmp_path, measured, before):
    def edit(r):
        r["arms"][1]["spec"]["tickets"] = "3"
    after = write(tmp_path / "after.json", renamed(edited(measured, edit), "pq", "hybrid"))
    # scaled() knows pq by its name: the settings differ now, so nothing matches by itself.
    changed = json.loads(open(after).read())
    changed["arms"][1]["spec"]["tickets"] = "3"
    after = write(tmp_path / "after.json", changed)
    _, compared = compare(before, after)
    assert not rows(compared, "cpu_us.client", "pq")
    assert sorted(compared["unmatched"]) == sorted([f"pq ({before})", f"hybrid ({after})"])
    _, compared = compare("--arm=pq=hybrid", before, after)
    assert row(compared, "cpu_us.client", "pq")["arm_there"] == "hybrid"


def test_a_pair_names_arms_that_are_there(before):
    for words, name in (("--arm=nobody=pq", "nobody"), ("--arm=pq=nobody", "nobody")):
        assert_usage_error(run("compare", words, before, before), "--arm", name)
    for bad in ("pq", "=pq", "pq=", "a=b=c"):
        assert_usage_error(run("compare", f"--arm={bad}", before, before), "--arm", "A=B")


def test_results_without_a_common_arm_are_refused(tmp_path, measured, before):
    alone = scaled(measured, 1)
    alone["arms"] = [dict(alone["arms"][1], name="other")]
    alone["arms"][0]["spec"]["tickets"] = "3"
    alone["comparisons"] = []
    done = run("compare", before, write(tmp_path / "alone.json", alone))
    assert done.returncode == 1
    assert_one_line(done, "no arm in common", "--arm A=B")


# ---- limits ----

LIMITS = [  # (limit, what a build with 10 % more gives)
    ("cpu_us.server > +5%", 3), ("cpu_us.server > +15%", 0), ("cpu_us.server>5%", 3),
    ("pq:cpu_us.client > +5%", 3), ("pq:cpu_us.client > 10", 3), ("pq:cpu_us.client > 40", 0),
    ("cpu_us.client < -5%", 0), ("cpu_us.client < +20%", 3), ("bytes.client > +0%", 0),
    ("ratio.cpu_us.client > +5%", 0),
]


@pytest.mark.parametrize("limit, status", LIMITS, ids=[limit for limit, _ in LIMITS])
def test_a_limit_is_broken_when_the_whole_interval_lies_beyond_it(tmp_path, measured, before,
                                                                 limit, status):
    after = write(tmp_path / "after.json", scaled(measured, 1.1))
    done, compared = compare(f"--fail-if={limit}", before, after)
    assert done.returncode == status, done.stderr
    assert compared["limits"][0]["state"] == ("broken" if status else "holds")
    if status:
        assert_one_line(done, "Broken: ", limit, "10", after)
    else:
        assert done.stderr == ""


def test_any_of_several_limits_is_enough_and_is_named(tmp_path, measured, before):
    after = write(tmp_path / "after.json", scaled(measured, 1.1))
    done = run("compare", "--quiet", "--fail-if=cpu_us.server > +50%",
               "--fail-if=cpu_us.client > +5%", before, after)
    assert done.returncode == 3 and done.stdout == ""
    assert_one_line(done, "cpu_us.client > +5%", "cpu_us.client of")


@pytest.mark.parametrize("bad", ["cpu_us.server", "> 5%", "cpu_us.server > ", "a:b:c > 5",
                                 "cpu_us.server = 5", "cpu_us.server > five", "pq: > 5%",
                                 "cpu_us.server > 5%%", "cpu_us.server > +-5%", "x" * 200 + " > 1"])
def test_a_limit_that_is_none_is_refused_before_a_file_is_read(bad):
    done = run("compare", f"--fail-if={bad}", "/nowhere/a", "/nowhere/b")
    assert_usage_error(done, "--fail-if", "accepted")


def test_a_limit_on_what_is_not_there_is_refused(before):
    assert_usage_error(run("compare", "--fail-if=latency_us.tls.p99 > 5%", before, before),
                       "latency_us.tls.p99", "cpu_us.server")
    assert_usage_error(run("compare", "--fail-if=nobody:cpu_us.client > 5%", before, before),
                       "nobody")


# ---- files ----


def test_what_is_no_result_is_named(tmp_path, before):
    empty = tmp_path / "empty"
    empty.mkdir()
    cut = tmp_path / "cut.json"
    cut.write_text(open(before).read()[:1000])
    foreign = write(tmp_path / "foreign.json", {"schema": "something/1"})
    for path in (str(empty), str(cut), foreign):
        assert_usage_error(run("compare", before, path), path)
    done = run("compare", before, str(tmp_path / "missing.json"))
    assert done.returncode == 1
    assert_one_line(done, "missing.json")
    assert_usage_error(run("compare", before, f"{before},,{before}"), "two commas")
    assert_usage_error(run("compare", before), "RESULT")


def test_names_from_a_file_cannot_drive_a_terminal_or_a_spreadsheet(tmp_path, measured):
    evil = "\x1b[31m=HYPERLINK(1)\u202e"

    def edit(r):
        r["hosts"][0]["cpu_model"] = evil
        r["arms"][0]["spec"]["tickets"] = evil
    plain = write(tmp_path / "plain.json", scaled(measured, 1))
    after = write(tmp_path / "after.json", edited(measured, edit))
    for words in (["--ascii"], ["--markdown=-"], ["--csv=-"]):
        done = run("compare", "--anyway", *words, plain, after)
        assert done.returncode == 0, done.stderr
        assert "\x1b" not in done.stdout and "\u202e" not in done.stdout
    done = run("compare", plain, after)
    assert done.returncode == 1 and "\x1b" not in done.stderr


def test_every_format_has_every_row(tmp_path, measured, before):
    after = write(tmp_path / "after.json", scaled(measured, 1.1))
    paths = {name: tmp_path / f"out.{name}" for name in ("json", "csv", "markdown")}
    done = run("compare", *(f"--{name}={path}" for name, path in paths.items()), before, after)
    assert done.returncode == 0, done.stderr
    compared = strict_json(paths["json"].read_text())
    assert compared["schema"] == "pqc-bench-compare/1"
    table = list(csv.DictReader(io.StringIO(paths["csv"].read_text(), newline="")))
    assert [(r["metric"], r["arm"], r["verdict"]) for r in table] == \
        [(r["metric"], r.get("arm", ""), r["verdict"]) for r in compared["rows"]]
    assert paths["markdown"].read_text().startswith("## ")
    for text in (done.stdout, paths["markdown"].read_text()):
        assert "slower" in text and "+10 %" in text
    done = run("compare", "--json=-", "--csv=-", before, after)
    assert_usage_error(done, "--csv -")


@pytest.fixture
def hostile_page(tmp_path, measured, before):
    evil = "</script><img src='https://x.invalid/leak' onerror=document.title='owned'>"
    after = scaled(measured, 1.1)
    after["hosts"][0]["kernel"] = evil
    after["arms"][1]["spec"]["tickets"] = evil
    path = tmp_path / "compared.html"
    done = run("compare", f"--html={path}", before, write(tmp_path / "after.json", after))
    assert done.returncode == 0, done.stderr
    return path


def test_the_page_holds_every_change_and_no_element_of_a_stranger(hostile_page):
    page = Page(hostile_page.read_text(encoding="utf-8"))
    assert page.tags <= KNOWN, page.tags - KNOWN
    assert any("onerror=" in text for text in page.texts)
    (sheet,) = (strict_json(text) for text in page.data.values())
    names = [column["name"] for column in sheet["columns"]]
    table = [dict(zip(names, row)) for row in zip(*sheet["data"])]
    assert {r["arm"] for r in table if r["verdict"] == "slower"} == \
        {"all arms", "classical", "pq", "control"}


def test_the_page_is_drawn_without_a_complaint_or_a_request(chromium, hostile_page):  # noqa: F811
    opened(chromium, hostile_page)
    assert "compared with" in chromium.value("document.title")
    assert chromium.value("document.images.length") == 0
    assert chromium.value("document.querySelectorAll('figure .point').length") >= 8
    assert chromium.value("document.documentElement.dataset.errors") == "0"
