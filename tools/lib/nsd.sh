# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# nsd.sh - NSD, an authoritative DNS server, for the tests of key share prediction.
#
# The system's is used where there is one. Otherwise this release's package is unpacked into
# the cache, not installed: that would start a server on port 53.
#
#   DIR/bin/nsd   DIR/VERSION
#
# Sourced. Uses: cache, work, arch, refresh, log, install_packages, common.sh, cache.sh.

nsd_find_system() {
	PATH=$PATH:/usr/sbin:/usr/local/sbin command -v nsd
}

# With the libraries that it needs.
nsd_is_there() {
	local entry
	nsd_find_system >/dev/null || {
		[ "$refresh" = no ] && entry=$(cache_choice nsd) &&
			"$cache/$entry/bin/nsd" -v >>"$log" 2>&1
	}
}

# The libraries that the package needs, as packages.
nsd_libraries() {
	apt-cache depends nsd 2>>"$log" | sed -n 's/^ *|\?Depends: \(lib[^: ]*\).*/\1/p'
}

nsd_download() {
	mkdir -p "$work/nsd"
	(cd "$work/nsd" && { apt-get -q download nsd ||
		{ apt-get -q update && apt-get -q download nsd; }; }) >>"$log" 2>&1
}

nsd_make_entry() {
	local temp deb version entry libraries
	deb=$(printf '%s\n' "$work"/nsd/nsd_*.deb)
	version=$(dpkg-deb -f "$deb" Version)
	entry=nsd-$version-$arch
	mapfile -t libraries < <(nsd_libraries)
	[ ${#libraries[@]} -eq 0 ] || install_packages "${libraries[@]}"
	if [ ! -d "$cache/$entry" ]; then
		temp=$(cache_new)
		dpkg-deb -x "$deb" "$work/nsd/root"
		mkdir "$temp/bin"
		cp "$work/nsd/root/usr/sbin/nsd" "$temp/bin/nsd"
		printf '%s\n' "$version" >"$temp/VERSION"
		mv -T "$temp" "$cache/$entry"
	fi
	cache_choose nsd "$entry"
}

# Returns 1 with the reason in archive_why.
nsd_use() {
	local program entry
	if program=$(nsd_find_system); then
		cache_forget nsd
		say "nsd: $program of this system"
		return 0
	fi
	if ! nsd_is_there; then
		archive_why="package nsd could not be downloaded (see $log)"
		nsd_download || return 1
		nsd_make_entry
	fi
	entry=$(cache_choice nsd)
	say "nsd $(<"$cache/$entry/VERSION"): $cache/$entry"
}
