# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# openssl.sh - OpenSSL headers and static libraries, each version in a folder of
# the cache with one layout, however it came:
#
#   DIR/include/openssl/*.h   DIR/lib/libssl.a   DIR/lib/libcrypto.a   DIR/VERSION
#
# Sourced. Uses: cache, work, arch, triplet, refresh, common.sh, archive.sh,
# cache.sh.

openssl_version_of() { # opensslv.h
	sed -n 's/^# *define  *OPENSSL_VERSION_STR  *"\([^"]*\)".*/\1/p' "$1"
}

openssl_is_new_enough() { # VERSION
	[[ $1 =~ ^(3\.([5-9]|[1-9][0-9])|[4-9]|[1-9][0-9])(\.|$) ]]
}

# Puts what lies under a prefix of any layout into the one layout.
openssl_normalise() { # FROM TO cp-options...
	local from=$1 to=$2 dir file found
	shift 2
	mkdir -p "$to/include/openssl" "$to/lib"
	# The architecture's own headers come last: they complete the common ones.
	for dir in "$from/include" "$from/usr/include" \
		"$from/include/$triplet" "$from/usr/include/$triplet"; do
		[ ! -d "$dir/openssl" ] || cp "$@" "$dir"/openssl/*.h "$to/include/openssl/"
	done
	for file in libssl.a libcrypto.a; do
		found=''
		for dir in "$from" "$from/lib64" "$from/lib" "$from/lib/$triplet" \
			"$from/usr/lib/$triplet" "$from/usr/lib64" "$from/usr/lib"; do
			[ -z "$found" ] && [ -f "$dir/$file" ] && found=$dir/$file
		done
		[ -n "$found" ] || return 1
		cp "$@" "$found" "$to/lib/"
	done
	[ -f "$to/include/openssl/opensslv.h" ] || return 1
	openssl_version_of "$to/include/openssl/opensslv.h" >"$to/VERSION"
}

# Adds a normalised folder unless its version is there already.
openssl_add() { # DIR
	local version have
	version=$(<"$1/VERSION")
	for have in "${openssl_prefixes[@]}"; do
		if [ "$(<"$have/VERSION")" = "$version" ]; then
			[ "$have" = "$1" ] || say "OpenSSL $version is there already: $1 is left out"
			return 0
		fi
	done
	openssl_prefixes+=("$1")
	say "OpenSSL $version: $1"
}

# A source build or an installed prefix: linked, not copied, so that the next
# build sees a library that was built anew.
openssl_use_folder() { # DIR
	local from entry version temp
	from=$(realpath -e -- "$1" 2>/dev/null) || die "--openssl $1: no such folder"
	entry=$cache/openssl-local-$(printf '%s' "$from" | sha256sum | cut -c1-12)-$arch
	temp=$(cache_new)
	openssl_normalise "$from" "$temp" -sf || die "--openssl $1: needs" \
		"include/openssl/*.h with libssl.a and libcrypto.a (build with static libraries)"
	version=$(<"$temp/VERSION")
	openssl_is_new_enough "$version" ||
		die "--openssl $1: this is OpenSSL $version; 3.5 or newer is needed"
	rm -rf "$entry"
	mv -T "$temp" "$entry"
	openssl_add "$entry"
}

# The version of the system's own libssl-dev, empty where it is not installed.
openssl_system_version() {
	dpkg-query -W -f='${db:Status-Status} ${Version}\n' "libssl-dev:$arch" 2>/dev/null |
		awk '$1 == "installed" { print $2 }'
}

openssl_make_entry() { # ENTRY FROM
	local temp
	temp=$(cache_new)
	openssl_normalise "$2" "$temp" -L || die "OpenSSL for $1: headers or static" \
		"libraries are missing in $2"
	mv -T "$temp" "$cache/$1"
}

# One kind of version (a pattern): the system's own, else what the last run
# chose, else the newest in the archive. Returns 1 where none can be had.
openssl_use_release() { # NAME PATTERN
	local name=openssl-$1 pattern=$2 entry system
	system=$(openssl_system_version)
	if [[ $system =~ $pattern ]]; then
		entry=openssl-$system-$arch
		[ -d "$cache/$entry" ] || openssl_make_entry "$entry" /usr
	elif [ "$refresh" = no ] && entry=$(cache_choice "$name"); then
		:
	elif archive_fetch libssl-dev "$pattern"; then
		entry=openssl-$archive_version-$arch
		if [ ! -d "$cache/$entry" ]; then
			dpkg-deb -x "$archive_deb" "$work/$name"
			openssl_make_entry "$entry" "$work/$name"
		fi
		cache_choose "$name" "$entry"
	elif entry=$(cache_choice "$name"); then
		warn "keeping what the cache has: $archive_why"
	else
		return 1
	fi
	openssl_add "$cache/$entry"
}
