# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# build.sh - configure a build folder and build in it.
#
# Sourced. Uses: top, common.sh. The folder is never deleted: options that
# changed since the last time are set in place.

# Reads "key = value" of build-deps.ini as meson options: -Dkey=value lines.
build_deps_options() {
	sed -n 's/^\([a-z_]*\) = \(.*\)$/-D\1=\2/p' "$top/build-deps.ini" |
		sed "s/='\(.*\)'\$/=\1/"
}

# The compiler is that of the environment (CC) the first time.
build_configure() { # DIR MESON-OPTION...
	local dir=$1 signature deps
	shift
	mapfile -t deps < <(build_deps_options)
	signature=$(printf '%s\n' "$@" "${deps[@]}")
	if [ ! -f "$dir/build.ninja" ]; then
		meson setup --native-file "$top/build-deps.ini" "$@" "$dir" "$top"
	elif [ ! -f "$dir/configured-with" ] ||
		[ "$(<"$dir/configured-with")" != "$signature" ]; then
		meson configure "$dir" "$@" "${deps[@]}"
	fi || return
	printf '%s\n' "$signature" >"$dir/configured-with"
}
