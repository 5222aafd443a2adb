# SPDX-License-Identifier: Apache-2.0
"""Does plan give the worked example of docs/PLAN.md to the last digit, in every format, and
refuse what makes no plan?"""
import csv
import io
import re
import shlex

import pytest

from conftest import ROOT, assert_one_line, assert_usage_error, listed, run, run_null, strict_json

EXAMPLE = ROOT / "tests" / "golden" / "plan-example.json"
PEAK = ["--peak", "10k/s"]
PAGE = (ROOT / "docs" / "PLAN.md").read_text(encoding="utf-8")


def example_words():
    """The command of the worked example, as the page has it."""
    line = re.search(r"^    pqc-bench plan (tests/golden/plan-example.json .*)$", PAGE,
                     re.MULTILINE).group(1)
    return shlex.split(line)


def by_hand():
    """The page's last table: the way to a figure, and its five numbers."""
    rows = re.findall(r"^\| `([\w.]+)` \|((?: [\d.]+ \|){5})$", PAGE, re.MULTILINE)
    assert len(rows) == 10
    return [(name, [float(cell) for cell in cells.split("|") if cell.strip()])
            for name, cells in rows]


def figure_at(plan, path):
    for part in path.split("."):
        plan = plan[int(part)] if part.isdigit() else plan[part]
    return plan


def test_the_worked_example_is_what_the_program_says():
    done = run("plan", *example_words(), cwd=ROOT)
    assert (done.returncode, done.stderr) == (0, "")
    plan = strict_json(done.stdout)
    assert plan["schema"] == "pqc-bench-plan/1"
    for name, numbers in by_hand():
        figure = figure_at(plan, name)
        got = [figure["before"]["value"], figure["after"]["value"], figure["change"]["value"],
               figure["change"]["low"], figure["change"]["high"]]
        assert got == pytest.approx(numbers, rel=1e-12), name


def test_text_csv_markdown_and_json_agree(tmp_path):
    words = [word for word in example_words()[1:] if word not in ("--json", "-")]
    done = run("plan", EXAMPLE, *words, "--json", tmp_path / "p.json", "--csv",
               tmp_path / "p.csv", "--markdown", tmp_path / "p.md")
    assert (done.returncode, done.stderr) == (0, "")
    assert "+1.01 cores (+19 %" in done.stdout and "What this assumes" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 100
    cores = strict_json((tmp_path / "p.json").read_text())["cores"]
    rows = list(csv.DictReader(io.StringIO((tmp_path / "p.csv").read_text(), newline="")))
    change = [row for row in rows if (row["metric"], row["when"]) == ("cores", "change")]
    assert [float(change[0][key]) for key in ("value", "low", "high")] == \
        pytest.approx([cores["change"][key] for key in ("value", "low", "high")])
    assert "| cores |" in (tmp_path / "p.md").read_text()
    assert {row["unit"] for row in rows} == {"us", "cores", "GB", "EUR", "ms"}


def test_every_given_number_and_default_stands_in_the_assumptions():
    done = run("plan", EXAMPLE, "--peak", "12345/s", "--mean", "0.37", "--resumed", "0.71",
               "--hybrid-clients", "0.63", "--hrr", "0.029", "--utilisation", "0.57",
               "--other-cpu", "83us", "--response", "4321", "--price", "gb=0.077")
    assert done.returncode == 0
    assumed = done.stdout[done.stdout.index("What this assumes"):]
    for number in ("12345 new", "37 %", "71 %", "63 %", "2.9 %", "57 %", "83 us", "4321 bytes",
                   "0.077 for a GB", "730 hours"):
        assert number in " ".join(assumed.split()), number
    assert "price of cores" not in done.stdout and "price a month" in done.stdout


def test_without_a_price_no_cost_is_shown():
    done = run("plan", EXAMPLE, *PEAK, "--json", "-")
    assert done.returncode == 0
    assert not [key for key in strict_json(done.stdout) if key.startswith("price")]
    text = run("plan", EXAMPLE, *PEAK).stdout
    assert "price a month" not in text and "No price was given" in " ".join(text.split())


def test_a_mix_in_a_file_is_the_mix_on_the_command_line(tmp_path):
    mix = tmp_path / "mix.csv"
    mix.write_text("rtt, share ,rate\r\n\r\n20ms,0.5\r\n# far\r\n 80ms , 40% ,10mbit\r\n"
                   "250ms,0.1,\r\n")
    lines = [run("plan", EXAMPLE, *PEAK, "--csv", "-", "--rtt-mix", value)
             for value in (mix, "20ms:0.5,80ms:0.4:10mbit,250ms:0.1")]
    assert [line.returncode for line in lines] == [0, 0]
    assert lines[0].stdout == lines[1].stdout
    assert "handshake.80ms.10000000bit,ms,before," in lines[0].stdout


@pytest.mark.parametrize("content, part", [
    ("20ms,0.5\n", "add up to 0.5"), ("", "add up to 0;"), ("20ms\n", "line 1: '20ms': too few"),
    ("rtt,share\n20ms,0.5,1mbit,x\n", "line 2: '20ms,0.5,1mbit,x': too many"),
    ("20ms,1\n20,0\n", "line 2: '20'"), ("1m,1\n", "more than 20s"),
    ("20ms,1" + " " * 200 + "x\n", "too long"), ("1ms,0.01\n" * 65, "line 65: more than 64"),
])
def test_a_bad_file_is_named_with_its_line(tmp_path, content, part):
    mix = tmp_path / "mix.csv"
    mix.write_text(content)
    assert_usage_error(run("plan", EXAMPLE, *PEAK, "--rtt-mix", mix), "--rtt-mix: ", str(mix),
                       part)


@pytest.mark.parametrize("words, parts", [
    ([], ["--peak: must be given"]),
    ([*PEAK, "--rtt-mix", "20ms:0.5,80ms:0.4"], ["--rtt-mix: ", "add up to 0.9"]),
    ([*PEAK, "--rtt-mix", "20ms:2"], ["--rtt-mix: ", "'2'"]),
    ([*PEAK, "--rtt-mix", "20ms:1,"], ["--rtt-mix: ", "too few"]),
    ([*PEAK, "--rtt-mix", "/nonexistent"], ["--rtt-mix: ", "'/nonexistent'", "no file"]),
    ([*PEAK, "--rtt-mix", "/"], ["--rtt-mix: ", "not a file"]),
    ([*PEAK, "--price", "0.04"], ["--price: ", "'0.04': no '='"]),
    ([*PEAK, "--price", "core-hour=-1"], ["--price: core-hour: ", "'-1'"]),
    ([*PEAK, "--price", "gb=" + "9" * 300], ["--price: gb: ", "is more than 1e+09"]),
    ([*PEAK, "--rtt-mix", "20ms:1:1bit"], ["--rtt-mix: ", "'1bit' is less than 1kbit"]),
    ([*PEAK, "--price", "core=1"], ["--price: ", "'core' is no price"]),
    ([*PEAK, "--price", "currency=EUR"], ["--price: ", "has no price"]),
    ([*PEAK, "--price", "gb=1,currency=E=1"], ["--price: currency: ", "'E=1'"]),
    ([*PEAK, "--before", "nobody"], ["--before: 'nobody' is no arm", "classical, hybrid"]),
    ([*PEAK, "--after", "resumed"], ["--after: ", "full handshakes"]),
    ([*PEAK, "--json", "-", "--csv", "-"], ["--csv -"]),
])
def test_what_makes_no_plan_is_refused(words, parts):
    assert_usage_error(run("plan", EXAMPLE, *words), *parts)


def test_a_result_that_is_none_is_refused(tmp_path):
    done = run("plan", *PEAK, tmp_path / "none.json")
    assert (done.returncode, done.stdout) == (1, "")
    assert_one_line(done, "none.json")


def test_a_result_with_a_fault_says_so_and_strict_refuses_it(tmp_path):
    text = EXAMPLE.read_text().replace('"valid": true', '"valid": false').replace(
        '"problems": []',
        '"problems": [{"code": "errors", "severity": "fault", "message": "many"}]')
    broken = tmp_path / "broken.json"
    broken.write_text(text)
    done = run("plan", *PEAK, broken)
    assert done.returncode == 0 and "NOT VALID, errors: many" in done.stdout
    strict = run("plan", *PEAK, "--strict", broken)
    assert strict.returncode == 1 and strict.stdout == done.stdout
    assert_one_line(strict, "not valid")


def test_names_of_strangers_are_harmless():
    hostile = ROOT / "tests" / "golden" / "cpu-hostile.json"
    done = run("plan", *PEAK, "--after", "b\u00fccher \u202eright to left", hostile)
    assert done.returncode == 0
    assert not set("\x1b\x07\u202e") & set(done.stdout)


def test_a_result_just_measured_makes_a_plan(tmp_path):
    assert run_null("-q", "-o", tmp_path / "r").returncode == 0
    done = run("plan", "--peak", "100/s", "--json", "-", tmp_path / "r")
    assert done.returncode == 0, done.stderr
    plan = strict_json(done.stdout)
    assert plan["cores"]["before"]["value"] > 0
    full = [cost for cost in plan["one_handshake"] if cost["handshake"] == "full"]
    assert [cost["arm"] for cost in full] == ["a", "b"]


@pytest.mark.skipif(not any(backend["name"] == "openssl" for backend in listed()["backends"]),
                    reason="no OpenSSL backend is installed")
def test_its_scenario_measures_every_sort_of_handshake(tmp_path):
    done = run("run", ROOT / "scenarios" / "plan.ini", "-q", "-o", tmp_path, "--set",
               "handshakes=10", "--set", "repeats=2", "--set", "primitives=off")
    assert done.returncode == 0, done.stderr
    done = run("plan", *PEAK, "--json", "-", tmp_path)
    assert done.returncode == 0, done.stderr
    costs = strict_json(done.stdout)["one_handshake"]
    assert [(cost["when"], cost["handshake"], cost.get("arm")) for cost in costs] == [
        ("before", "full", "classical"), ("before", "resumed", "resumed"),
        ("after", "full", "hybrid"), ("after", "resumed", "resumed.hybrid"),
        ("after", "hrr", "retry")]
    by_name = {(cost["when"], cost["handshake"]): cost for cost in costs}
    # Counted, not derived: the hybrid's share alone is more than a thousand bytes each way.
    for sort in ("full", "resumed"):
        for side in ("client_bytes", "server_bytes"):
            assert by_name["after", sort][side] > by_name["before", sort][side] + 1000
    assert by_name["before", "resumed"]["server_bytes"] < by_name["before", "full"]["server_bytes"]
