# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# deb.sh - a binary package of what a build folder installs, the same bytes each time.
#
# Sourced. Uses: epoch (seconds; the time of every file), common.sh. The tools named here
# are those of Debian's package dpkg and of binutils.

# The name that Debian gives the machine that a file was built for.
deb_arch_of() { # ELF-FILE
	case $(readelf -h "$1" | sed -n 's/^ *Machine: *//p') in
	*X86-64*) echo amd64 ;;
	*AArch64*) echo arm64 ;;
	*) die "$1: built for a machine that no package is made for" ;;
	esac
}

deb_elf_files() { # ROOT
	find "$1" -type f -perm /111 -path '*/bin/*' -o -type f -name '*.so' | LC_ALL=C sort
}

# The C library's own parts are the only ones that may be left to the system.
deb_check_needed() { # ROOT
	local file library
	while read -r file; do
		for library in $(readelf -d "$file" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
			case $library in
			libc.so.6 | libm.so.6 | libdl.so.2 | libpthread.so.0 | libresolv.so.2 | ld-linux*) ;;
			*) die "${file##*/} needs $library, which no dependency of the package brings" ;;
			esac
		done
	done < <(deb_elf_files "$1")
}

# The newest version of a symbol that any file wants of the C library: "2.36".
deb_libc_version() { # ROOT
	deb_elf_files "$1" | xargs -d '\n' readelf -V |
		grep -o 'GLIBC_2\.[0-9.]*' | sed 's/GLIBC_//' | sort -uV | tail -n 1
}

deb_compress() { # FILE...
	gzip -9n "$@"
}

# What a package holds beside what the build installs.
deb_add_documents() { # ROOT SOURCE VERSION
	local doc=$1/usr/share/doc/pqc-bench source=$2
	install -d "$doc/examples"
	install -m 644 "$source"/{README.md,SECURITY.md,ARCHITECTURE.md} "$doc/"
	cp -r "$source/docs" "$doc/docs"
	cp -r "$source"/deploy/. "$doc/examples/"
	ln -s ../../pqc-bench/scenarios "$doc/scenarios"
	install -m 644 "$source/tools/deb/copyright" "$doc/copyright"
	install -m 644 "$source/CHANGELOG.md" "$doc/changelog"
	cat >"$doc/changelog.Debian" <<-EOF
		pqc-bench ($3) unstable; urgency=medium

		  * Built by tools/dist. What changed is told in changelog.gz.

		 -- $deb_maintainer  $(LC_ALL=C date -u -R -d "@$epoch")
	EOF
	chmod 644 "$doc/changelog.Debian"
	deb_compress "$doc/changelog" "$doc/changelog.Debian" "$1"/usr/share/man/man1/*.1
}

# The size that dpkg tells: each file in whole KiB, so that no file system has a say.
deb_installed_size() { # ROOT
	find "$1" -type f -printf '%s\n' | awk '{ sum += int(($1 + 1023) / 1024) } END { print sum + 0 }'
}

deb_write_control() { # ROOT SOURCE VERSION ARCH
	local root=$1 size libc
	libc=$(deb_libc_version "$root")
	size=$(deb_installed_size "$root")
	install -d "$root/DEBIAN"
	sed -e "s|@VERSION@|$3|" -e "s|@ARCH@|$4|" -e "s|@LIBC@|$libc|" -e "s|@SIZE@|$size|" \
		-e "s|@MAINTAINER@|$deb_maintainer|" "$2/tools/deb/control" >"$root/DEBIAN/control"
	(cd "$root" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum) \
		>"$root/DEBIAN/md5sums"
	say "$4: needs a C library of version $libc or newer, and nothing else"
}

deb_set_modes_and_times() { # ROOT
	find "$1" -type d -exec chmod 755 {} +
	find "$1" -type f ! -path '*/bin/*' -exec chmod 644 {} +
	find "$1" -print0 | xargs -0 touch --no-dereference --date="@$epoch"
}

# Makes FILE of what was installed under ROOT.
deb_make() { # ROOT SOURCE VERSION ARCH FILE
	local root=$1
	deb_check_needed "$root"
	deb_add_documents "$root" "$2" "$3"
	deb_write_control "$root" "$2" "$3" "$4"
	deb_set_modes_and_times "$root"
	SOURCE_DATE_EPOCH=$epoch dpkg-deb --root-owner-group -Zxz -z6 --threads-max=1 \
		--build "$root" "$5" >>"$log"
}
