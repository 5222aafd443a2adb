# SPDX-License-Identifier: Apache-2.0
"""Does a scenario file run what it says, and is a bad one refused with file, line and key?"""
import os

import pytest

from conftest import ROOT, assert_one_line, assert_usage_error, listed, run, strict_json
from test_options import BAD

ARMS = "[arm a]\ngroups = X25519\nbackend = null\n[arm control]\ngroups = X25519\nbackend = null\n"
CPU = "handshakes = 20\nrepeats = 2\nprimitives = off\n"


def write(tmp_path, text, name="my.ini"):
    path = tmp_path / name
    path.write_text(text)
    return path


def keys_of_sections():
    for command in listed()["commands"]:
        if "section" not in command:
            continue
        for option in command["options"]:
            yield command, option


@pytest.mark.parametrize("case", keys_of_sections(),
                         ids=lambda c: f"{c[0]['section']}-{c[1]['name']}")
def test_a_bad_value_names_file_line_key_and_value(case, tmp_path):
    command, option = case
    for value in BAD[option["kind"]][::4]:  # each is tried on the command line already
        if value != value.strip():
            continue  # an INI file has no blanks around a value
        path = write(tmp_path, f"# a comment\n[{command['section']}]\n{option['name']} = {value}\n")
        done = run("run", "--check", path)
        if option["scenario"]:
            assert_usage_error(done, f"my.ini:3: {option['name']}: ", f"'{value[:20]}")
        else:
            assert_usage_error(done, f"my.ini:3: {option['name']}: only on the command line")


@pytest.mark.parametrize("text, parts", [
    ("", ["my.ini", "no section that runs"]),
    ("[cpu]\nhandshake = 3\n", ["my.ini:2: handshake: ", "did you mean handshakes?"]),
    ("[cpu]\nrepeats = 3\nrepeats = 3\n", ["my.ini:3: repeats: given before, on line 2"]),
    ("[cpu]\n[cpu]\n", ["my.ini:2: ", "given before"]),
    ("[cpu]\n[arm x]\ngroups = BOGUS\n", ["my.ini:3: groups: ", "BOGUS"]),
    ("[cpu]\n[bogus]\n", ["my.ini:2: [bogus]: no such section"]),
    ("[cpu]\nrepeats = 3 ; three\n", ["my.ini:2: a comment stands on a line of its own"]),
    ("[cpu]\nrepeats =\n  3\n", ["my.ini:3: begins with a blank"]),
    ("[cpu]\nrepeats: 3\n", ["my.ini:2: neither"]),
    ("[arm a]\nbackend = null\nbaseline = b\n[cpu]\n", ["[cpu]", "b"]),
    ("[arm a]\nbackend = nonesuch\n[cpu]\n", ["[cpu]", "nonesuch"]),
    ("[cpu]\nrepeats = " + "1" * 300 + "\n", ["my.ini:2: the line is longer"]),
])
def test_a_bad_file_is_refused(text, parts, tmp_path):
    assert_usage_error(run("run", write(tmp_path, text)), *parts)


def test_a_file_of_one_section_writes_into_the_directory_itself(tmp_path):
    path = write(tmp_path, f"[scenario]\ntitle = My title\n[cpu]\n{CPU}{ARMS}")
    done = run("run", path, "-o", tmp_path / "r")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("My title\n")
    assert done.stdout.endswith(f"Results: {tmp_path / 'r'}\n")
    result = strict_json((tmp_path / "r" / "result.json").read_text())
    assert [arm["name"] for arm in result["arms"]] == ["a", "control"]
    assert result["config"]["handshakes"] == "20"
    assert result["command"] == ["pqc-bench", "run", str(path), "-o", str(tmp_path / "r")]


def test_several_sections_have_directories_and_arms_of_their_own(tmp_path):
    path = write(tmp_path, f"[cpu]\n{CPU}[cpu two]\n{CPU}arm = b: groups=X25519 backend=null\n"
                 f"[cpu arm c]\nbackend = null\ngroups = secp256r1\n{ARMS}")
    done = run("run", path, "-o", tmp_path / "r")
    assert (done.returncode, done.stderr) == (0, "")
    one = strict_json((tmp_path / "r" / "cpu" / "result.json").read_text())
    two = strict_json((tmp_path / "r" / "cpu-two" / "result.json").read_text())
    assert [arm["name"] for arm in one["arms"]] == ["c", "a", "control"]
    assert [arm["name"] for arm in two["arms"]] == ["c", "a", "control", "b"]
    assert not (tmp_path / "r" / "result.json").exists()


def test_settings_of_the_command_line_override_the_file(tmp_path):
    path = write(tmp_path, f"[cpu]\n{CPU}[cpu two]\n{CPU}{ARMS}")
    done = run("run", path, "-q", "-o", tmp_path / "r", "--seed", "5", "--set", "handshakes=7",
               "--set", "cpu.timeout=3s")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    for name in ("cpu", "cpu-two"):
        result = strict_json((tmp_path / "r" / name / "result.json").read_text())
        assert result["seed"] == 5
        assert result["config"]["handshakes"] == "7"
        assert result["config"]["timeout"] == "3s"


@pytest.mark.parametrize("setting, part", [
    ("bogus=1", "'bogus=1': no section"), ("handshakes=10x", "handshakes: '10x'"),
    ("load.handshakes=1", "no section"), ("handshakes", "no setting"), ("=1", "no setting"),
    ("json=x", "no section"), ("handshakes=", "no setting"),
])
def test_a_bad_setting_is_refused(setting, part, tmp_path):
    path = write(tmp_path, f"[cpu]\n{CPU}{ARMS}")
    assert_usage_error(run("run", path, "--set", setting), "--set: ", part)


def test_all_sections_are_checked_before_the_first_runs(tmp_path):
    path = write(tmp_path, "[cpu]\nhandshakes = 10000000\nrepeats = 1000\n"
                 "arm = a: backend=null groups=X25519\n"
                 "[cpu two]\narm = b: backend=null baseline=nobody\n")
    done = run("run", path, "-o", tmp_path / "r", timeout=10)
    assert_usage_error(done, "[cpu two]", "nobody")


def test_a_section_that_fails_does_not_stop_the_next(tmp_path):
    path = write(tmp_path, "[cpu bad]\nhandshakes = 2\nrepeats = 1\ntimeout = 1ms\n"
                 "arm = slow: backend=null groups=X25519 null-server=50ms\n"
                 f"[cpu good]\n{CPU}arm = a: backend=null groups=X25519\n")
    done = run("run", path, "-q", "-o", tmp_path / "r")
    assert done.returncode == 1
    assert_one_line(done, "[cpu bad]", "slow")
    assert (tmp_path / "r" / "cpu-good" / "result.json").exists()
    assert not (tmp_path / "r" / "cpu-bad" / "result.json").exists()


def test_check_runs_and_writes_nothing(tmp_path):
    path = write(tmp_path, "[cpu]\nhandshakes = 10000000\nrepeats = 1000\n" + ARMS)
    before = sorted(os.listdir(tmp_path))
    done = run("run", "--check", path, cwd=tmp_path, timeout=10)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert sorted(os.listdir(tmp_path)) == before


def test_without_a_directory_one_is_named_after_file_and_time(tmp_path):
    path = write(tmp_path, f"[cpu]\n{CPU}{ARMS}", name="my file.ini")
    done = run("run", path, "-q", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (folder,) = os.listdir(tmp_path / "results")
    assert folder.startswith("my-file-2") and folder.endswith("Z")
    assert (tmp_path / "results" / folder / "result.json").exists()


def test_a_scenario_comes_from_standard_input_as_well(tmp_path):
    done = run("run", "-", "-q", "-o", tmp_path / "r", stdin=None,
               input=f"[cpu]\n{CPU}{ARMS}")
    assert (done.returncode, done.stderr) == (0, "")
    done = run("run", "-", stdin=None, input="[cpu]\nbogus = 1\n")
    assert_usage_error(done, "standard input:2: bogus")


def test_a_scenario_that_is_not_there_names_those_that_are():
    assert_usage_error(run("run", "nonesuch"), "nonesuch: no such scenario file", "quick",
                       "one-process")
    assert_usage_error(run("run", "dir/nonesuch.ini"), "dir/nonesuch.ini: no such scenario file")


@pytest.mark.parametrize("path", sorted((ROOT / "scenarios").glob("*.ini")),
                         ids=lambda path: path.stem)
def test_the_scenarios_that_come_with_it_could_run_here(path):
    have = {name for backend in listed()["backends"]
            for name in (backend["name"], backend["name"] + "-" + backend["version"],
                         backend["name"] + "-" + ".".join(backend["version"].split(".")[:2]))}
    wanted = {line.split("=")[1].strip() for line in path.read_text().splitlines()
              if line.startswith("backend")}
    if not wanted <= have or not have - {"null", "null-1"}:
        pytest.skip(f"needs {sorted(wanted - have)}")
    for name in (path, path.stem):
        done = run("run", "--check", name)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
