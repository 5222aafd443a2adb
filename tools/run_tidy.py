#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Run clang-tidy over src/, several files at a time, and only where something changed.

    tools/run_tidy.py BUILD_DIR

BUILD_DIR holds compile_commands.json. A file that passed is not looked at again
until it, a header of ours that it includes, its compile command, .clang-tidy or
clang-tidy itself changes: the keys of what passed are kept in BUILD_DIR/tidy-passed.
"""
import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

# A bound on the paths the analyzer walks per function: a tenth of the time, and no
# finding was lost.
ANALYZER = [f"--extra-arg={arg}" for arg in
            ("-Xclang", "-analyzer-config", "-Xclang", "max-nodes=30000")]
ROOT = pathlib.Path(__file__).resolve().parent.parent


def digest(*parts):
    sha = hashlib.sha256()
    for part in parts:
        sha.update(part if isinstance(part, bytes) else str(part).encode())
        sha.update(b"\0")
    return sha.hexdigest()


def common_key():
    version = subprocess.run(["clang-tidy", "--version"], capture_output=True, check=True).stdout
    return digest(version, ANALYZER, (ROOT / ".clang-tidy").read_bytes())


@functools.cache
def includes_of(path):
    """Files of src/ that a file includes by name, one level."""
    names = re.findall(rb'^\s*#\s*include\s+"([^"]+)"', path.read_bytes(), re.MULTILINE)
    found = (ROOT / "src" / name.decode() for name in names)
    return [header for header in found if header.is_file()]


def content_key(path):
    """Digest of a file with all that it includes of src/."""
    seen, todo = {path}, [path]
    while todo:
        new = set(includes_of(todo.pop())) - seen
        seen |= new
        todo += new
    return digest(*(part for file in sorted(seen) for part in (file, file.read_bytes())))


def sources(build):
    """path -> its compile commands, for the C files of src/ (clang-tidy tries each)."""
    commands = json.loads((build / "compile_commands.json").read_text())
    found = {}
    for entry in commands:
        path = pathlib.Path(entry["directory"], entry["file"]).resolve()
        if path.suffix == ".c" and path.is_relative_to(ROOT / "src"):
            found[path] = found.get(path, "") + entry["command"] + "\n"
    return found


def tidy(build, path):
    run = subprocess.run(
        ["clang-tidy", "--quiet", "--warnings-as-errors=*", *ANALYZER, "-p", build, path],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    return run.returncode, run.stdout if run.stdout else run.stderr


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    files, common = sources(build), common_key()
    if not files:
        print("no C files of src/ in compile_commands.json")
        return 1
    keys = {path: digest(common, command, content_key(path)) for path, command in files.items()}
    state = build / "tidy-passed"
    passed = set(state.read_text().split()) if state.exists() else set()
    todo = [path for path in files if keys[path] not in passed]
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for path, (code, output) in zip(todo, pool.map(lambda p: tidy(build, p), todo)):
            if code == 0:
                passed.add(keys[path])
            else:
                bad += 1
                print(f"{path.relative_to(ROOT)}:\n{output}")
    state.write_text("\n".join(sorted(passed & set(keys.values()))) + "\n")
    print(f"{len(files)} files, {len(todo)} looked at, {bad} with warnings")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
