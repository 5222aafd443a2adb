#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""embed.py OUTPUT STYLE... -- SCRIPT...: the page's styles and scripts as C arrays.

Each is one element of the page; the script's hash goes into the page's policy, so that no
other script can run there.
"""
import base64
import hashlib
import pathlib
import re
import sys

REFUSED = re.compile(rb"</(script|style)|<!--", re.IGNORECASE)


def joined(paths):
    parts = []
    for path in paths:
        data = pathlib.Path(path).read_bytes().rstrip() + b"\n"
        found = REFUSED.search(data)
        if found or b"\0" in data or b"\r" in data:
            sys.exit(f"{path}: {found and found.group() or 'NUL or CR'} cannot stand in a page")
        data.decode("utf-8")
        parts.append(data)
    return b"".join(parts)


def array(name, data):
    rows = [", ".join(map(str, data[at:at + 24])) for at in range(0, len(data), 24)]
    return f"const unsigned char {name}[] = {{\n" + ",\n".join(rows + ["0"]) + "};\n"


def main():
    output, *rest = sys.argv[1:]
    middle = rest.index("--")
    style, script = joined(rest[:middle]), joined(rest[middle + 1:])
    digest = base64.b64encode(hashlib.sha256(script).digest()).decode()
    pathlib.Path(output).write_text(
        '#include "report/html_assets.h"\n\n'
        + array("html_assets_style", style) + array("html_assets_script", script)
        + f'const char html_assets_script_hash[] = "sha256-{digest}";\n', encoding="ascii")


main()
