# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# awslc.sh - AWS-LC from the sources inside the package librust-aws-lc-sys-dev,
# built once into the cache with the layout of openssl.sh.
#
# Sourced. Uses: cache, work, arch, refresh, log, common.sh, archive.sh,
# cache.sh.

awslc_flags=(
	-DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF
	-DCMAKE_POSITION_INDEPENDENT_CODE=ON
	-DCMAKE_C_FLAGS=-fvisibility=hidden -DCMAKE_CXX_FLAGS=-fvisibility=hidden
	-DDISABLE_GO=ON -DDISABLE_PERL=ON -DBUILD_TESTING=OFF -DBUILD_TOOL=OFF
)

# Compiler and flags are part of the entry's name.
awslc_key() {
	{ "${CC:-cc}" --version | head -n 1 && printf '%s\n' "${awslc_flags[@]}"; } |
		sha256sum | cut -c1-8
}

awslc_build() { # SOURCE TO
	local build=$work/aws-lc-build
	say "building AWS-LC with $(nproc) jobs (one or two minutes, only this once)"
	cmake -G Ninja -S "$1" -B "$build" "${awslc_flags[@]}" >>"$log" 2>&1 &&
		ninja -C "$build" -j "$(nproc)" ssl crypto 2>&1 | ninja_progress "building AWS-LC" "$log" ||
		die "AWS-LC could not be built: see $log (or leave it out with --no-aws-lc)"
	mkdir -p "$2/lib"
	cp -rL "$1/include" "$2/include"
	cp "$build/ssl/libssl.a" "$build/crypto/libcrypto.a" "$2/lib/"
	sed -n 's/^#define AWSLC_VERSION_NUMBER_STRING "\([^"]*\)".*/\1/p' \
		"$1/include/openssl/base.h" >"$2/VERSION"
}

awslc_make_entry() { # ENTRY
	local temp source
	dpkg-deb -x "$archive_deb" "$work/aws-lc"
	source=$(printf '%s\n' "$work"/aws-lc/usr/share/cargo/registry/aws-lc-sys-*/aws-lc)
	[ -f "$source/CMakeLists.txt" ] ||
		die "package librust-aws-lc-sys-dev $archive_version holds no sources of AWS-LC"
	temp=$(cache_new)
	awslc_build "$source" "$temp"
	mv -T "$temp" "$cache/$1"
}

awslc_is_cached() {
	[ "$refresh" = no ] && cache_choice aws-lc >/dev/null
}

# As openssl_use_release. Sets awslc_prefix.
awslc_use() {
	local entry
	if [ "$refresh" = no ] && entry=$(cache_choice aws-lc); then
		:
	elif archive_fetch librust-aws-lc-sys-dev .; then
		entry=aws-lc-$archive_version-$arch-$(awslc_key)
		[ -d "$cache/$entry" ] || awslc_make_entry "$entry"
		cache_choose aws-lc "$entry"
	elif entry=$(cache_choice aws-lc); then
		warn "keeping what the cache has: $archive_why"
	else
		return 1
	fi
	awslc_prefix=$cache/$entry
	say "AWS-LC $(<"$awslc_prefix/VERSION"): $awslc_prefix"
}
