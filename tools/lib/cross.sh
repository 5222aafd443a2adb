# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# cross.sh - what building for arm64 on another machine needs: Debian's cross compiler, an
# emulator that runs the tests, and the few libraries of this release for arm64, unpacked
# into the cache, not installed:
#
#   DIR/include   DIR/lib/lib*.a   DIR/lib/libcmocka.so*   DIR/lib/pkgconfig
#
# Sourced. Uses: cache, work, arch, triplet, refresh, log, common.sh, archive.sh, cache.sh.

cross_packages=(gcc-aarch64-linux-gnu g++-aarch64-linux-gnu libc6-dev-arm64-cross
	qemu-user-static)
cross_libraries=(libjansson-dev libinih-dev zlib1g-dev libzstd-dev libcmocka-dev libcmocka0)
cross_sysroot=/usr/aarch64-linux-gnu

# From here on all that is fetched is for arm64.
cross_begin() {
	local codename
	[ "$archive_kind" = debian ] || die "--cross needs a Debian archive: give --debian-mirror URL"
	codename=$(. /etc/os-release && printf '%s' "${VERSION_CODENAME:-}")
	[ -n "$codename" ] || die '--cross: /etc/os-release names no release of Debian'
	arch=arm64 cross_prefix=aarch64-linux-gnu- cross_suite=$codename
	triplet=$("${cross_prefix}gcc" -print-multiarch)
	archive_own_suite=$codename
}

# One package into a folder; of this release, whose C library the compiler has.
cross_unpack() { # PACKAGE TO
	archive_only_suite=$cross_suite
	archive_fetch "$1" . || return 1
	archive_only_suite=''
	dpkg-deb -x "$archive_deb" "$2"
	printf '%s %s\n' "$1" "$archive_version" >>"$2/VERSIONS"
}

cross_write_pc() { # ENTRY-FOLDER NAME LIBRARY FROM TEMP
	local version
	version=$(sed -n 's/^Version: //p' "$4/usr/lib/$triplet/pkgconfig/$2.pc")
	printf 'Name: %s\nDescription: %s for %s\nVersion: %s\nLibs: -L%s -l%s\nCflags: -I%s\n' \
		"$2" "$2" "$arch" "$version" "$1/lib" "$3" "$1/include" >"$5/lib/pkgconfig/$2.pc"
}

cross_fill() { # FROM TEMP ENTRY-FOLDER
	local pair lib=$1/usr/lib/$triplet
	mkdir -p "$2/lib/pkgconfig"
	cp -r "$1/usr/include" "$2/include"
	[ ! -d "$2/include/$triplet" ] || cp -r "$2/include/$triplet"/. "$2/include/"
	cp "$lib"/lib{jansson,inih,z,zstd}.a "$2/lib/"
	cp -P "$lib"/libcmocka.so* "$2/lib/"
	for pair in jansson=jansson inih=inih zlib=z libzstd=zstd cmocka=cmocka; do
		cross_write_pc "$3" "${pair%=*}" "${pair#*=}" "$1" "$2"
	done
	cp "$1/VERSIONS" "$2/VERSION"
}

# Returns 1 with the reason in archive_why. Sets cross_libraries_dir.
cross_use_libraries() {
	local entry temp package from=$work/cross
	if [ "$refresh" = yes ] || ! entry=$(cache_choice cross-libraries); then
		mkdir "$from"
		for package in "${cross_libraries[@]}"; do cross_unpack "$package" "$from" || return 1; done
		entry=cross-libraries-$cross_suite-$arch-$(sha256sum <"$from/VERSIONS" | cut -c1-8)
		if [ ! -d "$cache/$entry" ]; then
			temp=$(cache_new)
			cross_fill "$from" "$temp" "$cache/$entry"
			mv -T "$temp" "$cache/$entry"
		fi
		cache_choose cross-libraries "$entry"
	fi
	cross_libraries_dir=$cache/$entry
	say "libraries for $arch: $cross_libraries_dir"
}

# The part of meson's machine file that names the tools.
cross_write_machine() {
	cat <<-EOF
		[binaries]
		c = '${cross_prefix}gcc'
		ar = '${cross_prefix}gcc-ar'
		nm = '${cross_prefix}nm'
		strip = '${cross_prefix}strip'
		pkg-config = 'pkg-config'
		pkgconfig = 'pkg-config'
		exe_wrapper = ['qemu-aarch64-static', '-L', '$cross_sysroot',
		  '-E', 'LD_LIBRARY_PATH=$cross_libraries_dir/lib']
		[host_machine]
		system = 'linux'
		cpu_family = 'aarch64'
		cpu = 'aarch64'
		endian = 'little'
		[properties]
		pkg_config_libdir = '$cross_libraries_dir/lib/pkgconfig'
	EOF
}
