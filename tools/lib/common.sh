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

# Copies a build's output to a log and tells how far it is: a line that changes
# on a terminal, elsewhere one every ten seconds. Reads ninja's "[12/404] ...".
ninja_progress() { # LABEL LOG
	local line next=$((SECONDS + 10)) shown=no
	while IFS= read -r line; do
		printf '%s\n' "$line" >>"$2"
		[[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]] || continue
		if [ -t 1 ]; then
			printf '\r%s: %4ds  %s: %d of %d ' "${me:?}" "$SECONDS" "$1" \
				"${BASH_REMATCH[@]:1:2}"
			shown=yes
		elif [ "$SECONDS" -ge "$next" ]; then
			say "$1: ${BASH_REMATCH[1]} of ${BASH_REMATCH[2]}"
			next=$((SECONDS + 10))
		fi
	done
	[ "$shown" = no ] || printf '\n'
}
