#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Layers and sizes of src/: who may include whom, and how long a thing may get.

Reads text only: `#include "layer/file.h"` lines, and functions as they are laid
out here (the opening and the closing brace each alone in column 0). Functions of
the C library that hide an error or write without a bound are refused. A pure table
may be longer than the limit where it says so: a comment /* table */ inside the
function or the line above it, or among the first 15 lines of a file.

Prints FILE:LINE: what is wrong; exit status 1 if anything is.
"""
import argparse
import pathlib
import re
import sys

# What each layer may include besides itself.
LAYERS = {
    "base": set(),
    "stats": {"base"},
    "tls": {"base"},
    "net": {"base"},
    "result": {"stats", "base"},
    "report": {"result", "stats", "base"},
    "run": {"result", "tls", "net", "stats", "base"},
    "cli": {"run", "report", "result", "tls", "net", "stats", "base"},
}
TOP = "(top)"  # files that lie in src/ itself: main.c
LAYERS[TOP] = set(LAYERS)

MAX_FUNCTION_LINES = 60
MAX_PARAMETERS = 6
MAX_NESTING = 4
MAX_FILE_LINES = {".c": 600, ".h": 250}
TABLE_MARK = re.compile(r"/\*\s*table\b")
# A comment above a function whose parameters a library has fixed.
FOREIGN_MARK = re.compile(r"the type of .* callback")
REFUSED = re.compile(r"(?<![\w.>])(ato[ifl]|atoll|strcpy|strcat|v?sprintf|gets|strtok)\s*\(")
INCLUDE = re.compile(r'\s*#\s*include\s+"([^"]+)"')


def blank_out(text):
    """The text with comments, strings and characters blanked, lines kept."""
    pattern = re.compile(
        r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
    return pattern.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)


def check_includes(path, layer, lines):
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        target, slash, _ = match.group(1).partition("/")
        if not slash or target not in LAYERS:
            yield number, f'"{match.group(1)}" does not start with a layer: write "layer/file.h"'
        elif target != layer and target not in LAYERS[layer]:
            yield number, f"{layer} may not include {target}"


def check_calls(code):
    for number, line in enumerate(code, 1):
        for match in REFUSED.finditer(line):
            yield number, f"{match.group(1)}() is not used here"


def check_file_size(path, lines):
    limit = MAX_FILE_LINES[path.suffix]
    if len(lines) > limit and not any(TABLE_MARK.search(line) for line in lines[:15]):
        yield len(lines), f"{len(lines)} lines in a {path.suffix} file, more than {limit}"


def count_parameters(signature):
    """Commas at the top level of the parameter list, plus one."""
    signature = re.sub(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)", "", signature)
    match = re.search(r"\w\s*\(", signature)
    if not match:
        return 0
    depth, commas, inside = 1, 0, ""
    for char in signature[match.end():]:
        depth += {"(": 1, ")": -1}.get(char, 0)
        if depth == 0:
            break
        commas += char == "," and depth == 1
        inside += char
    return 0 if inside.strip() in ("", "void") else commas + 1


def find_functions(code):
    """(first line, opening brace, closing brace) of each function, from 0."""
    opening = None
    for number, line in enumerate(code):
        if line.rstrip() == "{":
            opening = number
        elif line.startswith("}") and opening is not None:
            first = opening
            while first > 0 and not re.search(r"[;}#]|^\s*$", code[first - 1]):
                first -= 1
            if "(" in "".join(code[first:opening]):
                yield first, opening, number
            opening = None


def deepest_block(code, opening, closing):
    """Depth of blocks in a function (its own braces: 0) and where."""
    depth, worst, where = -1, 0, opening
    for number in range(opening, closing + 1):
        for char in code[number]:
            depth += {"{": 1, "}": -1}.get(char, 0)
            if depth > worst:
                worst, where = depth, number
    return worst, where


def check_functions(lines, code):
    for first, opening, closing in find_functions(code):
        length = closing - first + 1
        marked = any(TABLE_MARK.search(line) for line in lines[max(first - 1, 0):closing])
        if length > MAX_FUNCTION_LINES and not marked:
            yield first + 1, f"function of {length} lines, more than {MAX_FUNCTION_LINES}"
        parameters = count_parameters(" ".join(code[first:opening]))
        foreign = any(FOREIGN_MARK.search(line) for line in lines[max(first - 3, 0):first])
        if parameters > MAX_PARAMETERS and not foreign:
            yield first + 1, f"{parameters} parameters, more than {MAX_PARAMETERS}"
        depth, where = deepest_block(code, opening, closing)
        if depth > MAX_NESTING:
            yield where + 1, f"blocks nested {depth} deep, more than {MAX_NESTING}"


def check_file(path, source):
    text = path.read_text(encoding="utf-8", errors="replace")
    lines, code = text.splitlines(), blank_out(text).splitlines()
    parts = path.relative_to(source).parts
    layer = parts[0] if len(parts) > 1 else TOP
    if layer not in LAYERS:
        yield 1, f"src/{layer} is not a layer"
        return
    yield from check_includes(path, layer, lines)
    yield from check_file_size(path, lines)
    yield from check_calls(code)
    yield from check_functions(lines, code)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("root", nargs="?", type=pathlib.Path,
                        default=pathlib.Path(__file__).resolve().parent.parent)
    root = parser.parse_args().root
    source, bad = root / "src", 0
    files = sorted(p for p in source.rglob("*") if p.suffix in MAX_FILE_LINES)
    if not files:
        print(f"no C files under {source}")
        return 1
    for path in files:
        for line, message in sorted(check_file(path, source)):
            print(f"{path.relative_to(root)}:{line}: {message}")
            bad += 1
    print(f"{len(files)} files, {bad} violations")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
