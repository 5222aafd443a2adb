# SPDX-License-Identifier: Apache-2.0
"""Does what was built have what makes a memory error harder to use? Read from the files."""
import json
import pathlib
import re
import shutil
import subprocess

import pytest

from conftest import PROGRAM

BUILD = pathlib.Path(PROGRAM).resolve().parent
FILES = [pathlib.Path(PROGRAM).resolve(), *sorted((BUILD / "modules").glob("*.so"))]
ENDBR64 = bytes.fromhex("f30f1efa")

pytestmark = pytest.mark.skipif(shutil.which("readelf") is None, reason="needs readelf")


def readelf(*words):
    return subprocess.run(["readelf", "-W", *words], capture_output=True, text=True, check=True,
                          timeout=60).stdout


def arguments():
    """Of the compiler, for a file of ours in the program."""
    commands = json.loads((BUILD / "compile_commands.json").read_text(encoding="utf-8"))
    found = [command["command"] for command in commands
             if command["file"].endswith("src/base/text.c")]
    return found[0] if found else ""


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_addresses_are_drawn_and_what_was_bound_cannot_be_written(path):
    dynamic, segments = readelf("-d", path), readelf("-l", path)
    assert "DYN" in readelf("-h", path)
    if path == FILES[0]:
        assert re.search(r"FLAGS_1.*\bPIE\b", dynamic)
    assert re.search(r"\bBIND_NOW\b|FLAGS_1.*\bNOW\b", dynamic)
    assert "GNU_RELRO" in segments and "TEXTREL" not in dynamic


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_nothing_is_written_and_executed(path):
    flags = [line.split()[6:-1] for line in readelf("-l", path).splitlines()
             if re.match(r"\s+(LOAD|GNU_STACK)\s", line)]
    assert flags
    for words in flags:
        assert not {"W", "E"} <= set("".join(words)), words


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_stacks_and_buffers_are_guarded(path):
    symbols = readelf("--dyn-syms", path)
    assert "__stack_chk_fail" in symbols
    if "-O0" not in arguments() and "-fsanitize" not in arguments():
        assert re.search(r"__\w+_chk@", symbols), "nothing is fortified"


def machine(path):
    return re.search(r"Machine:\s+(.*)", readelf("-h", path)).group(1)


def first_bytes(path, function):
    """Where the symbol table says the function is, through the segment that holds it."""
    address = next(int(words[1], 16) for line in readelf("-s", path).splitlines()
                   if (words := line.split())[3:4] == ["FUNC"] and words[7:] == [function])
    for line in readelf("-l", path).splitlines():
        words = line.split()
        if words[:1] == ["LOAD"]:
            offset, virtual, _, size = (int(word, 16) for word in words[1:5])
            if virtual <= address < virtual + size:
                with open(path, "rb") as file:
                    file.seek(offset + address - virtual)
                    return file.read(len(ENDBR64))
    raise AssertionError(f"{function} is in no segment")


def test_a_jump_through_a_pointer_can_end_at_a_functions_start_alone():
    """The C library's own start code may lack the mark, and the file then has no property: so
    this looks at our code."""
    path = FILES[0]
    if "X86-64" not in machine(path) or "-fcf-protection" not in arguments():
        pytest.skip("not for this machine or compiler")
    assert first_bytes(path, "main") == ENDBR64


def test_the_compiler_was_asked_for_all_it_has():
    words = arguments()
    if not words:
        pytest.skip("no compile_commands.json beside the program")
    assert "-fstack-protector-strong" in words
    if "-O0" not in words and "-fsanitize" not in words:
        assert re.search(r"-D_FORTIFY_SOURCE=[23]", words)
