# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# common.sh - what every script here prints and how it fails.
#
# Sourced, never run. The caller sets `me` (its name in messages).

# One line to the person who waits, with the seconds since the script began.
say() {
	printf '%s: %4ds  %s\n' "${me:?}" "$SECONDS" "$*"
}

warn() {
	printf '%s: warning: %s\n' "${me:?}" "$*" >&2
}

die() {
	printf '%s: error: %s\n' "${me:?}" "$*" >&2
	exit 1
}

# Wrong use of the command line: another exit code, as in the program itself.
usage_die() {
	printf '%s: %s\nTry: %s --help\n' "${me:?}" "$*" "$me" >&2
	exit 2
}

# The help of a script is the comment that opens it: from the third line on.
show_help() {
	awk 'NR > 2 { if ($0 !~ /^#/) exit; sub(/^# ?/, ""); print }' "$0"
}

cache_dir() {
	printf '%s/pqc-bench\n' "${XDG_CACHE_HOME:-${HOME:-/root}/.cache}"
}
