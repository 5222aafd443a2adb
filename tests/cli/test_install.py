# SPDX-License-Identifier: Apache-2.0
"""Does an installed program find its modules and scenarios, with man page and completion?"""
import os
import pathlib
import shutil
import subprocess

import pytest

from conftest import PROGRAM, environment, listed, run


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The root of an installation, somewhere it was not configured for."""
    build = pathlib.Path(PROGRAM).resolve().parent
    if not (build / "meson-private").is_dir() or not shutil.which("meson"):
        pytest.skip("the program does not stand in a build directory")
    root = tmp_path_factory.mktemp("root")
    done = subprocess.run(["meson", "install", "-C", build, "--no-rebuild", "--quiet"],
                          env=environment(DESTDIR=str(root)), capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0, done.stderr
    return root


def find(root, name):
    (path,) = root.rglob(name)
    return path


def in_place(root, *words):
    program = next(path for path in root.rglob("bin/pqc-bench"))
    return subprocess.run([program, *words], capture_output=True, text=True, check=False,
                          cwd="/", env=environment())


def test_it_loads_its_own_modules(installed):
    done = in_place(installed, "--version")
    assert done.returncode == 0
    assert done.stdout == run("--version").stdout
    assert len(done.stdout.splitlines()) == 1 + len(listed()["backends"])


def test_it_finds_scenarios_by_name(installed):
    done = in_place(installed, "run", "quick", "--check")
    assert (done.returncode, done.stderr) == (0, "")
    done = in_place(installed, "run", "nonesuch")
    assert "one-process" in done.stderr


def test_the_man_page_has_every_option(installed):
    page = find(installed, "pqc-bench.1")
    text = page.read_text()
    for command in listed()["commands"]:
        assert f".SS {command['name']}\n" in text
        for option in command["options"]:
            assert option["name"].replace("-", "\\-") in text
    for key in listed()["arm_keys"]:
        assert f".B {key['name']}=".replace("-", "\\-") in text
    if shutil.which("man"):
        done = subprocess.run(["man", "--warnings", "-l", page], capture_output=True, text=True,
                              check=False, env=environment(MANWIDTH="80", LC_ALL="C.UTF-8"))
        assert done.returncode == 0 and done.stderr == ""
        assert "EXIT STATUS" in done.stdout


COMPLETE = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
compopt() { :; }
_pqc_bench
printf '%s\\n' "${COMPREPLY[@]}"
"""


def complete(script, *words):
    done = subprocess.run(["bash", "-c", COMPLETE, "bash", script, *words], capture_output=True,
                          text=True, check=False, cwd=os.path.dirname(script))
    assert done.stderr == ""
    return done.stdout.split()


def test_the_completion_knows_commands_options_and_choices(installed):
    script = find(installed, "pqc-bench.bash")
    names = [command["name"] for command in listed()["commands"]]
    assert set(complete(script, "pqc-bench", "")) == {*names, "--help", "--version"}
    assert complete(script, "pqc-bench", "docto") == ["doctor"]
    assert complete(script, "pqc-bench", "cpu", "--handsh") == ["--handshakes"]
    assert complete(script, "pqc-bench", "cpu", "--no-prim") == ["--no-primitives"]
    assert complete(script, "pqc-bench", "report", "--format", "mark") == ["markdown"]
    assert complete(script, "pqc-bench", "cpu", "--handshakes", "") == []
    assert complete(script, "pqc-bench", "report", "pqc") == ["pqc-bench.bash"]


def test_nothing_else_is_installed(installed):
    files = sorted(path.name for path in installed.rglob("*") if path.is_file())
    expected = {"pqc-bench", "pqc-bench.1", "pqc-bench.bash"}
    for name in files:
        assert name in expected or name.endswith(".ini") or (
            name.startswith("pqc-bench-tls-") and name.endswith(".so")), name
