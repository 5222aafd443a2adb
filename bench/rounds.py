# SPDX-License-Identifier: Apache-2.0
"""What benches that compare tools round by round share."""
import statistics
import sys
import time


def wait_for_port(child, port_file, what):
    """The port that a server which was just started writes there."""
    while not (port_file.exists() and port_file.read_text().endswith("\n")):
        if child.poll() is not None:
            sys.exit(f"{what} ended")
        time.sleep(0.01)
    return int(port_file.read_text())


def add_peers(commands, peers):
    """--peer 'NAME=COMMAND', each."""
    for peer in peers:
        name, separator, command = peer.partition("=")
        if not separator:
            sys.exit(f"--peer {peer}: NAME=COMMAND")
        commands[name] = command
    return commands


def shown(values, digits=0):
    """Median [least, most]."""
    middle = statistics.median(values)
    return f"{middle:.{digits}f} [{min(values):.{digits}f}, {max(values):.{digits}f}]"
