# SPDX-License-Identifier: Apache-2.0
"""Is every bad value of every option refused, by name, in one line, before anything runs?

The options are those of `list --json -`, so that a new one is tested without a word here.
"""
import pytest

from conftest import assert_usage_error, listed, run

NUMBERS = ["", " ", "-1", "nan", "NaN", "inf", "-inf", "1e400", "10x", "0x10", "1,5", "+1",
           "1 ", "--", "99999999999999999999999999"]
BAD = {
    "duration": NUMBERS + ["10", "1.5", "10 s", "1d", "s", "1e3s"],
    "rate": NUMBERS + ["0", "0/s", "1/0", "10/x"],
    "bytes": NUMBERS + ["1.5", "1kb5", "1Mbit", "KiB"],
    "bits": NUMBERS + ["0bit", "10", "10mbyte"],
    "count": NUMBERS + ["1.5", "1e3", "k", "1kk"],
    "share": NUMBERS + ["1.01", "101%", "50", "%"],
    "number": NUMBERS + ["."],
    "switch": ["", "maybe", "2", "ON OFF"],
    "choice": ["", "bogus", "|"],
    "cores": ["", "x", "-1", "0-", "0,,0", "9999999", "1-0", "0 0"],
    "text": [""],
    "list": [""],
}


def below_and_above(option):
    """Values just outside the option's range, as a user would write them."""
    if "low" not in option:
        return []
    low, high = option["low"], option["high"]
    if option["kind"] == "duration":
        return [f"{low - 1}ns" if low >= 1 else None, f"{high + 1}ns"]
    if option["kind"] in ("count", "bytes"):
        return [str(low - 1) if low >= 1 else None, str(high + 1)]
    return [None, str(high * 1.01)]


def all_bad():
    for command in listed()["commands"]:
        for option in command["options"]:
            values = BAD[option["kind"]] + [v for v in below_and_above(option) if v]
            yield command, option, values


def option_ids(case):
    return f"{case[0]['name']}--{case[1]['name']}"


@pytest.mark.parametrize("case", all_bad(), ids=option_ids)
def test_a_bad_value_is_named_with_its_option(case):
    command, option, values = case
    for value in values:
        done = run(command["name"], f"--{option['name']}={value}")
        assert_usage_error(done, f"pqc-bench {command['name']}: --{option['name']}: ",
                           f"'{value[:20].replace(chr(10), '')}")


@pytest.mark.parametrize("command", listed()["commands"], ids=lambda c: c["name"])
def test_a_value_is_needed_where_one_is_taken(command):
    for option in command["options"]:
        if option["kind"] == "switch":
            continue
        done = run(command["name"], f"--{option['name']}")
        assert_usage_error(done, f"--{option['name']}: needs a value ({option['argument']})")


@pytest.mark.parametrize("command", listed()["commands"], ids=lambda c: c["name"])
def test_options_are_not_abbreviated_and_the_nearest_is_suggested(command):
    for option in command["options"]:
        name = option["name"]
        done = run(command["name"], f"--{name}x=1")
        assert_usage_error(done, f"--{name}x: no such option", "did you mean --")
        if len(name) > 3:
            assert_usage_error(run(command["name"], f"--{name[:-1]}=1"),
                               f"--{name[:-1]}: no such option")


@pytest.mark.parametrize("command", listed()["commands"], ids=lambda c: c["name"])
def test_help_shows_every_option_and_an_example(command):
    done = run(command["name"], "--help")
    assert (done.returncode, done.stderr) == (0, "")
    for option in command["options"]:
        assert f"--{option['name']}" in done.stdout or f"--no-{option['name']}" in done.stdout
        if option.get("default") and option["kind"] != "switch":
            assert f"default {option['default']}" in " ".join(done.stdout.split())
    assert "\nExample" in done.stdout
    assert f"  pqc-bench {command['name']}" in done.stdout
    prose = done.stdout[:done.stdout.index("\nExample")]
    assert max(map(len, prose.splitlines())) <= 80


def test_control_characters_in_a_bad_value_stay_in_one_harmless_line():
    done = run("cpu", "--handshakes", "1\n2\x1b[31m\t\x7f\u202e")
    assert_usage_error(done, "--handshakes", r"\x0a", r"\x1b[31m")
    assert not set("\x1b\x7f\u202e\t") & set(done.stderr)


def test_a_very_long_bad_value_is_cut():
    done = run("cpu", "--handshakes", "9" * 100000)
    assert_usage_error(done, "--handshakes")
    assert len(done.stderr) < 1000


def test_bytes_that_are_no_utf8_are_made_harmless():
    done = run("cpu", b"--handshakes=\xff\xfe".decode("utf-8", "surrogateescape"))
    assert_usage_error(done, r"'\xff\xfe'")


@pytest.mark.parametrize("words, parts", [
    ([], ["pqc-bench: needs a command"]),
    (["cpuu"], ["cpuu: no such command", "did you mean cpu?"]),
    (["--verison"], ["--verison: no such option"]),
    (["xyzzy"], ["xyzzy: no such command"]),
    ([""], [": no such command"]),
    (["cpu", "operand"], ["pqc-bench cpu: 'operand': takes no operand"]),
    (["run"], ["pqc-bench run: needs SCENARIO"]),
    (["run", "a", "b"], ["pqc-bench run: 'b': one operand too many"]),
    (["report"], ["pqc-bench report: needs RESULT"]),
    (["cpu", "-Z"], ["-Z: no such option"]),
    (["cpu", "--no-handshakes"], ["--no-handshakes: no such option"]),
    (["cpu", "--no-quiet=on"], ["--no-quiet: takes no value"]),
    (["cpu", "--handshakes"], ["--handshakes: needs a value (COUNT)"]),
])
def test_a_wrong_command_line_is_one_line_and_status_2(words, parts):
    assert_usage_error(run(*words), *parts)


def test_help_and_version_of_the_program():
    done = run("--help")
    assert (done.returncode, done.stderr) == (0, "")
    for command in listed()["commands"]:
        assert f"  {command['name']}" in done.stdout
    assert "Exit status" in done.stdout
    done = run("--version")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0].startswith("pqc-bench ")
    for backend in listed()["backends"]:
        assert any(line.split()[0] == f"{backend['name']}-{backend['version']}"
                   for line in lines[1:])


def test_the_later_of_two_values_counts():
    done = run("cpu", "--handshakes", "10x", "--handshakes", "5")
    assert_usage_error(done, "10x")
    done = run("cpu", "--repeats=2", "--handshakes=3", "--handshakes=4", "--json", "-",
               "--no-primitives", "--arm", "a: backend=null groups=X25519")
    assert done.returncode == 0
    assert '"handshakes": "4"' in done.stdout
