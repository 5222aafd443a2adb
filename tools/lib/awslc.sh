# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# awslc.sh - AWS-LC from the sources inside the package librust-aws-lc-sys-dev,
# built once into the cache with the layout of openssl.sh and its LICENSE.
#
# Sourced. Uses: cache, work, arch, triplet, refresh, log, cross_prefix (empty, or that of
# the tools of another architecture), common.sh, archive.sh, cache.sh.

awslc_flags=(
	-DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF
	-DCMAKE_POSITION_INDEPENDENT_CODE=ON
	-DDISABLE_GO=ON -DDISABLE_PERL=ON -DBUILD_TESTING=OFF -DBUILD_TOOL=OFF
)
# Where it was built is no part of what was built: its errors name source files.
awslc_c_flags='-fvisibility=hidden -ffile-prefix-map=@SOURCE@=aws-lc'

awslc_compiler() {
	if [ -n "$cross_prefix" ]; then printf '%sgcc\n' "$cross_prefix"; else
		printf '%s\n' "${CC:-cc}"
	fi
}

# Compiler and flags are part of the entry's name.
awslc_key() {
	{ "$(awslc_compiler)" --version | head -n 1 &&
		printf '%s\n' "${awslc_flags[@]}" "$awslc_c_flags"; } | sha256sum | cut -c1-8
}

awslc_build() { # SOURCE TO
	local build=$work/aws-lc-build c_flags=${awslc_c_flags//@SOURCE@/$1} flags
	flags=("${awslc_flags[@]}" "-DCMAKE_C_FLAGS=$c_flags" "-DCMAKE_CXX_FLAGS=$c_flags"
		"-DCMAKE_ASM_FLAGS=$c_flags")
	[ -z "$cross_prefix" ] || flags+=(-DCMAKE_SYSTEM_NAME=Linux
		"-DCMAKE_SYSTEM_PROCESSOR=${triplet%%-*}" "-DCMAKE_C_COMPILER=${cross_prefix}gcc"
		"-DCMAKE_CXX_COMPILER=${cross_prefix}g++" "-DCMAKE_ASM_COMPILER=${cross_prefix}gcc")
	say "building AWS-LC with $(nproc) jobs (one or two minutes, only this once)"
	cmake -G Ninja -S "$1" -B "$build" "${flags[@]}" >>"$log" 2>&1 &&
		ninja -C "$build" -j "$(nproc)" ssl crypto 2>&1 | ninja_progress "building AWS-LC" "$log" ||
		die "AWS-LC could not be built: see $log (or leave it out with --no-aws-lc)"
	mkdir -p "$2/lib"
	cp -rL "$1/include" "$2/include"
	cp "$build/ssl/libssl.a" "$build/crypto/libcrypto.a" "$2/lib/"
	cp "$1/LICENSE" "$2/"
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

# What the last run chose, if it was made with this compiler and these flags.
awslc_fitting_choice() {
	local entry
	entry=$(cache_choice aws-lc) && [[ $entry == *-"$(awslc_key)" ]] && printf '%s\n' "$entry"
}

awslc_is_cached() {
	[ "$refresh" = no ] && awslc_fitting_choice >/dev/null
}

# As openssl_use_release. Sets awslc_prefix.
awslc_use() {
	local entry
	if [ "$refresh" = no ] && entry=$(awslc_fitting_choice); then
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
