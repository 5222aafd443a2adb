#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Count tests from the logs that the test runners wrote.

    tools/count_tests.py LOG...      prints: PASSED FAILED SKIPPED

A LOG is meson's testlog.json (the output of each program inside it is read for
cmocka's or TAP's own counts; a program with neither counts as one test) or a
JUnit XML file (pytest). A program that ended badly without naming a failed test,
by a crash or a timeout, counts as one failed test. A log that is not there, or
with no test in it, is an error: exit status 1.
"""
import json
import re
import sys
import xml.etree.ElementTree

CMOCKA = re.compile(r"^\[\s*(PASSED|FAILED|SKIPPED)\s*\] (?:.*: )?(\d+) test\(s\)", re.MULTILINE)
TAP = re.compile(r"^(not ok|ok)\b([^\n]*)", re.MULTILINE)
BAD = {"FAIL", "ERROR", "TIMEOUT", "INTERRUPT", "UNEXPECTEDPASS"}


def count_output(text):
    """(passed, failed, skipped) as a program's own output tells, or None."""
    counts = {"PASSED": 0, "FAILED": 0, "SKIPPED": 0}
    found = CMOCKA.findall(text)
    for kind, number in found:
        counts[kind] += int(number)
    if not found:
        found = TAP.findall(text)
        for kind, rest in found:
            skipped = re.search(r"#\s*skip", rest, re.IGNORECASE)
            counts["FAILED" if kind != "ok" else "SKIPPED" if skipped else "PASSED"] += 1
    return [counts["PASSED"], counts["FAILED"], counts["SKIPPED"]] if found else None


def count_program(test):
    result = test["result"]
    counts = count_output((test.get("stdout") or "") + "\n" + (test.get("stderr") or ""))
    if counts is None:
        counts = [0, 0, 0]
        if result not in BAD:
            counts[2 if result == "SKIP" else 0] = 1
    if result in BAD and counts[1] == 0:
        counts[1] = 1
    return counts


def count_meson(path):
    with open(path, encoding="utf-8") as log:
        return [count_program(json.loads(line)) for line in log if line.strip()]


def count_junit(path):
    for suite in xml.etree.ElementTree.parse(path).getroot().iter("testsuite"):
        total, skipped = int(suite.get("tests")), int(suite.get("skipped", 0))
        failed = int(suite.get("failures", 0)) + int(suite.get("errors", 0))
        yield [max(total - failed - skipped, 0), failed, skipped]


def main():
    sums = [0, 0, 0]
    for path in sys.argv[1:]:
        try:
            logs = list(count_junit(path) if path.endswith(".xml") else count_meson(path))
        except (OSError, ValueError, xml.etree.ElementTree.ParseError) as error:
            print(f"{path}: {error}", file=sys.stderr)
            return 1
        sums = [sum(column) for column in zip(sums, *logs)]
    print(*sums)
    return 0 if sum(sums) > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
