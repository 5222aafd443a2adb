# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# cache.sh - the folder of libraries: one entry per name, version and flags.
#
# An entry is made under another name beside and renamed when it is whole, so a
# half-made one is never used. current/NAME-ARCH names the entry chosen last.
#
# Sourced. Uses: arch, common.sh. Sets: cache, work (a temporary folder), log.

# One run at a time in a cache; what a killed run left behind goes.
cache_open() {
	cache=$(cache_dir)
	mkdir -p "$cache/current"
	exec 9>"$cache/lock"
	flock -n 9 || { say "waiting for another tools/deps" && flock 9; }
	rm -rf "$cache"/.new.* "$cache"/.work.*
	work=$(mktemp -d "$cache/.work.XXXXXX")
	trap 'rm -rf "$work" "$cache"/.new.*' EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
	log=$cache/deps.log
	: >"$log"
}

# An empty folder to make an entry in.
cache_new() {
	local temp
	temp=$(mktemp -d "$cache/.new.XXXXXX")
	chmod 755 "$temp"
	printf '%s\n' "$temp"
}

# The entry chosen last, if it is still there.
cache_choice() { # NAME
	local file=$cache/current/$1-$arch entry
	[ -f "$file" ] && entry=$(<"$file") && [ -n "$entry" ] && [ -d "$cache/$entry" ] &&
		printf '%s\n' "$entry"
}

cache_choose() { # NAME ENTRY
	printf '%s\n' "$2" >"$cache/current/$1-$arch.new"
	mv "$cache/current/$1-$arch.new" "$cache/current/$1-$arch"
}

cache_forget() { # NAME
	rm -f "$cache/current/$1-$arch"
}
