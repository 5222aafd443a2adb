# SPDX-License-Identifier: Apache-2.0
"""Is what is written strict, complete, the same in every locale, and refused early where it
cannot be written? (G2 to G6 and the habits of a command line)"""
import csv
import io
import json
import os
import re
import shutil
import stat
import subprocess

import pytest

from conftest import (ARM_A, ARM_B, FAST, NULL_ARMS, PROGRAM, assert_one_line,
                      assert_usage_error, environment, run, run_null, strict_json)


def test_the_table_goes_to_stdout_and_nothing_to_stderr():
    done = run_null()
    assert (done.returncode, done.stderr) == (0, "")
    assert re.search(r"^control\s+X25519", done.stdout, re.MULTILINE)
    assert max(map(len, done.stdout.splitlines())) <= 100


def test_json_on_stdout_takes_the_table_s_place():
    done = run_null("--json", "-")
    assert (done.returncode, done.stderr) == (0, "")
    result = strict_json(done.stdout)
    assert result["schema"] == "pqc-bench/1"
    assert [arm["name"] for arm in result["arms"]] == ["a", "b", "control"]


@pytest.mark.parametrize("words", [["--handshakes", "1", "--repeats", "1"],
                                   ["--handshakes", "1", "--repeats", "3"],
                                   ["--handshakes", "2", "--repeats", "1"]])
def test_the_smallest_runs_are_strict_json_too(words):
    done = run("cpu", "--arm", ARM_A, "--arm", ARM_B, *words, "--json", "-")
    assert done.returncode == 0, done.stderr
    strict_json(done.stdout)
    assert not re.search(r"\b(nan|inf|infinity)\b", done.stdout, re.IGNORECASE)


def test_csv_is_a_table_of_one_width():
    done = run_null("--csv", "-")
    assert (done.returncode, done.stderr) == (0, "")
    rows = list(csv.reader(io.StringIO(done.stdout, newline=""), strict=True))
    assert len({len(row) for row in rows}) == 1
    assert len(rows) > 10


def test_one_output_at_most_takes_stdout():
    assert_usage_error(run_null("--json", "-", "--csv", "-"), "--csv -", "taken by --json")
    assert_usage_error(run_null("--csv", "-", "--markdown", "-"), "--markdown -")


def test_quiet_says_nothing_and_still_writes(tmp_path):
    done = run_null("-q", "--json", tmp_path / "r.json")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    strict_json((tmp_path / "r.json").read_text())
    assert run_null("--quiet", "--json", "-").stdout.startswith("{")


def test_files_of_all_formats_agree_with_the_report_made_later(tmp_path):
    folder = tmp_path / "a" / "b"
    done = run_null("-o", folder, "--markdown", tmp_path / "r.md")
    assert done.returncode == 0, done.stderr
    assert sorted(os.listdir(folder)) == ["report.html", "result.csv", "result.json", "result.md",
                                          "result.txt"]
    later = run("report", folder)
    assert later.stdout == done.stdout
    for word, file in (("json", "result.json"), ("csv", "result.csv"), ("markdown", "result.md"),
                       ("html", "report.html")):
        made = run("report", "--details", "--format", word, folder / "result.json", encoding=None)
        assert made.stdout == (folder / file).read_bytes(), word
    brief = run("report", "--format", "markdown", folder)
    assert (tmp_path / "r.md").read_text() == brief.stdout
    made = run("report", "-o", tmp_path / "again.json", "--format=json", folder)
    assert made.returncode == 0
    assert (tmp_path / "again.json").read_text() == (folder / "result.json").read_text()


def test_nothing_but_the_results_is_left_in_the_directory(tmp_path):
    run_null("-q", "-o", tmp_path, "--json", tmp_path / "x.json")
    assert sorted(os.listdir(tmp_path)) == ["report.html", "result.csv", "result.json",
                                            "result.md", "result.txt", "x.json"]


BAD_PLACES = ["/nonexistent/dir/x", "/proc/x", "/dev/null/x", "/"]


@pytest.mark.parametrize("option", ["--json", "--csv", "--markdown"])
@pytest.mark.parametrize("place", BAD_PLACES)
def test_a_file_that_cannot_be_written_fails_before_the_run(option, place):
    done = run("cpu", option, place, "--handshakes", "1000000", timeout=5)
    assert (done.returncode, done.stdout) == (1, "")
    assert_one_line(done, f"{option}: ", place)


@pytest.mark.parametrize("place", ["/proc/x", "/dev/null", "/dev/null/x"])
def test_a_directory_that_cannot_be_made_fails_before_the_run(place):
    done = run("cpu", "-o", place, "--handshakes", "1000000", timeout=5)
    assert (done.returncode, done.stdout) == (1, "")
    assert_one_line(done, "--output: ", place)


@pytest.fixture
def device(tmp_path):
    """Makes a device of this test's own, so that a mistake here cannot replace the machine's."""
    def make(name, minor):
        path = tmp_path / name
        try:
            os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, minor))
            with open(path, "wb"):
                pass
        except OSError:
            pytest.skip("no device can be made here")
        return path

    return make


def test_devices_are_written_as_they_are(device):
    null = device("null", 3)
    assert run_null("-q", "--json", null).returncode == 0
    assert stat.S_ISCHR(null.stat().st_mode)


def test_pipes_are_written_as_they_are(tmp_path):
    done = run_null("-q", "--json", "/dev/stdout")
    strict_json(done.stdout)
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with subprocess.Popen([PROGRAM, "cpu", *FAST, *NULL_ARMS, "-q", "--csv", fifo]) as process:
        assert fifo.read_text().startswith("kind,")
        assert process.wait(20) == 0


def test_a_symbolic_link_leads_to_the_file(tmp_path):
    (tmp_path / "real.json").write_text("old")
    (tmp_path / "link.json").symlink_to("real.json")
    assert run_null("-q", "--json", tmp_path / "link.json").returncode == 0
    assert (tmp_path / "link.json").is_symlink()
    strict_json((tmp_path / "real.json").read_text())


def test_a_full_disk_under_stdout_is_told():
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = run_null(stdout=full)
    assert done.returncode == 1
    assert done.stderr == "pqc-bench: standard output: No space left on device\n"


def test_a_full_disk_under_a_file_is_told(device):
    full = device("full", 7)
    done = run_null("--json", full, "-q")
    assert done.returncode == 1
    assert_one_line(done, f"--json: {full}: ", "No space left on device")


@pytest.mark.parametrize("words", [["cpu", *FAST, *NULL_ARMS], ["list"], ["--help"],
                                   ["list", "--json", "-"]])
def test_a_reader_that_has_gone_costs_no_file_and_no_word(words, tmp_path):
    more = ["-o", str(tmp_path / "r")] if words[0] == "cpu" else []
    reader, writer = os.pipe()
    os.close(reader)
    done = run(*words, *more, stdout=writer)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")
    if more:
        strict_json((tmp_path / "r" / "result.json").read_text())


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_descriptors_do_not_end_up_in_the_files(closed, tmp_path):
    script = f'"$0" "$@" {closed}'
    done = subprocess.run(["sh", "-c", script, PROGRAM, "cpu", *FAST, *NULL_ARMS, "--json",
                           tmp_path / "r.json"], check=False, timeout=60, env=environment())
    assert done.returncode == 0
    strict_json((tmp_path / "r.json").read_text())


@pytest.fixture(scope="session")
def german(tmp_path_factory):
    """An environment in which the decimal separator of C programs is a comma."""
    env = environment(LC_ALL="de_DE.UTF-8")
    probe = ["python3", "-c", "import locale; locale.setlocale(locale.LC_ALL, ''); "
             "print(locale.localeconv()['decimal_point'])"]

    def has_comma():
        return subprocess.run(probe, env=env, capture_output=True, text=True,
                              check=False).stdout.strip() == ","

    if not has_comma() and shutil.which("localedef"):
        folder = tmp_path_factory.mktemp("locale")
        subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", folder / "de_DE.UTF-8"],
                       check=False, capture_output=True)
        env["LOCPATH"] = str(folder)
    if not has_comma():
        pytest.skip("no locale with a decimal comma can be had")
    return env


def test_numbers_have_a_point_in_every_locale(german, tmp_path):
    words = ["--seed", "1", "-o", tmp_path / "r"]
    done = run_null(*words, env=german)
    assert (done.returncode, done.stderr) == (0, "")
    assert not re.search(r"\d,\d", done.stdout)
    assert "█" in done.stdout
    result = strict_json((tmp_path / "r" / "result.json").read_text())
    assert isinstance(result["elapsed_s"], float)
    rows = list(csv.DictReader(open(tmp_path / "r" / "result.csv", newline="", encoding="utf-8")))
    assert all(re.fullmatch(r"[-+0-9.e]*", row["value"]) for row in rows)
    assert run("report", tmp_path / "r", env=german).stdout == done.stdout
    done = run("cpu", *FAST, "--arm", "a: backend=null null-client=0.02ms resume=0.5",
               "--json", "-", env=german)
    assert done.returncode in (0, 2), done.stderr
    assert strict_json(run("doctor", "--watch", "0.1s", "--json", "-", env=german).stdout)


def test_ascii_is_drawn_where_the_terminal_knows_no_more():
    plain = run_null("--ascii", env=environment(LC_ALL="C.UTF-8"))
    assert plain.stdout.isascii()
    assert run_null(env=environment(LC_ALL="C")).stdout.isascii()
    assert not run_null(env=environment(LC_ALL="C.UTF-8")).stdout.isascii()


def test_no_colours_without_a_terminal():
    for words in (["list"], ["doctor", "--watch", "100ms"]):
        assert "\x1b" not in run(*words, env=environment(TERM="xterm")).stdout
    assert "\x1b" not in run_null(env=environment(TERM="xterm")).stdout


HOSTILE = 'a,"b"\n<script>\x1b[31m'


def hostile_result(result, tmp_path):
    """The result of a stranger: an arm whose name breaks formats."""
    old = result["arms"][1]["name"]
    result["arms"][1]["name"] = HOSTILE
    for comparison in result["comparisons"]:
        for key in ("arm", "baseline"):
            if comparison[key] == old:
                comparison[key] = HOSTILE
    for problem in result["validity"]["problems"]:
        if problem.get("arm") == old:
            problem["arm"] = HOSTILE
    path = tmp_path / "hostile.json"
    path.write_text(json.dumps(result))
    return path


def test_csv_survives_commas_quotes_and_newlines(result, tmp_path):
    path = hostile_result(result, tmp_path)
    done = run("report", "--format", "csv", path)
    if done.returncode == 2:
        assert_usage_error(done)  # refusing such a name is fine as well
        return
    rows = list(csv.reader(io.StringIO(done.stdout, newline=""), strict=True))
    assert len({len(row) for row in rows}) == 1
    names = {row[1] for row in rows[1:]}
    assert any("a,\"b\"" in name and "<script>" in name for name in names)


def test_text_and_markdown_of_a_stranger_drive_no_terminal(result, tmp_path):
    path = hostile_result(result, tmp_path)
    for word in ("text", "markdown"):
        done = run("report", "--format", word, path)
        assert "\x1b" not in done.stdout + done.stderr


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", "null", '{"schema": "x/1"}', "\0",
                                     '{"schema": "pqc-bench/1", "kind": "cpu", "arms": 1}'])
def test_what_is_no_result_is_refused_by_name(content, tmp_path):
    path = tmp_path / "bad.json"
    path.write_text(content)
    done = run("report", path)
    assert_usage_error(done, "bad.json")


def test_a_missing_result_is_named(tmp_path):
    done = run("report", tmp_path / "none.json")
    assert done.returncode == 1 and done.stdout == ""
    assert_one_line(done, "none.json", "No such file")
    done = run("report", tmp_path)
    assert done.returncode == 1
    assert_one_line(done, "result.json", "No such file")


def test_several_results_are_one_text_and_never_one_json(tmp_path):
    run_null("-q", "-o", tmp_path / "a")
    run_null("-q", "-o", tmp_path / "b")
    done = run("report", tmp_path / "a", tmp_path / "b")
    assert done.stdout.count("TLS handshakes in one process") == 2
    assert_usage_error(run("report", "--format=json", tmp_path / "a", tmp_path / "b"), "--format")


def test_the_result_tells_command_options_and_build(result):
    assert result["command"][:2] == ["pqc-bench", "cpu"]
    assert result["command"][2:6] == ["--handshakes", "20", "--repeats", "2"]
    config = result["config"]
    assert config["handshakes"] == "20" and config["timeout"] == "5s"
    assert config["primitives"] == "off" and int(config["seed"]) == result["seed"]
    assert config["arm.1"] == ARM_A
    assert set(config) >= {"client-cores", "server-cores"}
    build = result["build"]
    assert build["version"] and build["compiler"] and build["flags"]
    assert [backend["name"] for backend in build["backends"]] == ["null"]


def test_one_seed_gives_one_order():
    def order(seed):
        done = run_null("--seed", seed, "--json", "-")
        return [[trial["position"] for trial in arm["trials"]]
                for arm in strict_json(done.stdout)["arms"]]

    assert order("7") == order("7")
