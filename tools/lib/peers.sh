# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# peers.sh - servers that others wrote, to measure against: nginx and HAProxy, with an
# OpenSSL that offers X25519MLKEM768.
#
# One that the system has and that is new enough is used as it is. Otherwise it is built
# from its Debian source package, with few modules, on the static OpenSSL of the cache:
#
#   DIR/bin/nginx or DIR/bin/haproxy   DIR/VERSION
#
# The system's package is never installed: that would start a server on port 80.
#
# Sourced. Uses: top, cache, work, arch, refresh, log, openssl_prefixes, common.sh,
# archive.sh, cache.sh.

peers_packages=(dpkg-dev patch xz-utils make libpcre2-dev libcrypt-dev)

# Versions that are new enough; the series of the stable release is taken first.
peers_pattern() { # NAME
	case $1 in
	nginx) echo '^1\.(2[6-9]|[3-9][0-9])\.' ;;
	haproxy) echo '^(3|[4-9])\.' ;;
	esac
}

peers_stable_pattern() { # NAME
	case $1 in
	nginx) echo '^1\.26\.' ;;
	haproxy) echo '^3\.0\.' ;;
	esac
}

# What a program says of itself: VERSION OPENSSL-VERSION. The OpenSSL is the one it runs
# with, which need not be the one it was built with.
peers_versions() { # NAME PROGRAM
	case $1 in
	nginx) "$2" -V 2>&1 | sed -n -e 's|^nginx version: [^/]*/\([0-9.]*\).*|\1|p' \
		-e 's|^built with OpenSSL \([0-9.]*\).*|built \1|p' \
		-e 's|.*running with OpenSSL \([0-9.]*\).*|running \1|p' ;;
	haproxy) "$2" -vv 2>&1 | sed -n -e 's|^HAProxy version \([0-9.]*\).*|\1|p' \
		-e 's|^Built with OpenSSL version : OpenSSL \([0-9.]*\).*|built \1|p' \
		-e 's|^Running on OpenSSL version : OpenSSL \([0-9.]*\).*|running \1|p' ;;
	esac | awk '$1 == "built" && !library { library = $2 } $1 == "running" { library = $2 }
		NF == 1 { version = $1 } END { print version, library }'
}

# The system's own, where it will do: prints its path.
peers_find_system() { # NAME
	local program version library
	program=$(PATH=$PATH:/usr/sbin:/usr/local/sbin command -v "$1") || return 1
	read -r version library <<<"$(peers_versions "$1" "$program")"
	[[ $version =~ $(peers_pattern "$1") ]] && openssl_is_new_enough "$library" &&
		printf '%s\n' "$program"
}

# The newest 3.5 of the libraries there are, else the first of them.
peers_openssl() {
	local prefix best=''
	for prefix in "${openssl_prefixes[@]}"; do
		if [[ $(<"$prefix/VERSION") == 3.5.* ]]; then best=$prefix; fi
	done
	printf '%s\n' "${best:-${openssl_prefixes[0]}}"
}

peers_nginx_flags=(
	--without-http_gzip_module --without-http_proxy_module --without-http_fastcgi_module
	--without-http_uwsgi_module --without-http_scgi_module --without-http_grpc_module
	--without-http_memcached_module --with-http_ssl_module
)
peers_haproxy_flags=(TARGET=linux-glibc USE_OPENSSL=1 USE_LUA= USE_PCRE2= USE_SYSTEMD=)

# Compiler, flags and OpenSSL are part of the entry's name.
peers_key() { # NAME OPENSSL
	local -n flags=peers_${1}_flags
	{ "${CC:-cc}" --version | head -n 1 && printf '%s\n' "${flags[@]}" "${2##*/}"; } |
		sha256sum | cut -c1-8
}

# Runs in the source folder.
peers_make_nginx() { # OPENSSL TO SHIM
	./configure "${peers_nginx_flags[@]}" --prefix=/nonexistent \
		--with-cc="${CC:-cc}" --with-cc-opt="-O2 -Wno-error -I$1/include" \
		--with-ld-opt="-L$1/lib $3 -Wl,--no-as-needed -lz -lzstd -Wl,--as-needed" &&
		make -j "$(nproc)" && cp objs/nginx "$2/bin/nginx"
}

peers_make_haproxy() { # OPENSSL TO SHIM
	make -j "$(nproc)" "${peers_haproxy_flags[@]}" CC="${CC:-cc}" SSL_INC="$1/include" \
		SSL_LIB="$1/lib" ADDLIB="$3 -lz -lzstd -ldl -lpthread" haproxy &&
		cp haproxy "$2/bin/haproxy"
}

peers_build() { # NAME OPENSSL SOURCE TO
	local shim=$work/isoc23_shim.o
	mkdir -p "$4/bin"
	"${CC:-cc}" -O2 -c "$top/src/tls/isoc23_shim.c" -o "$shim" >>"$log" 2>&1 &&
		(cd "$3" && "peers_make_$1" "$2" "$4" "$shim") >>"$log" 2>&1 </dev/null
}

peers_unpack() { # TO
	if [ -n "$archive_dsc" ]; then
		dpkg-source --no-check -x "$archive_dsc" "$1"
	else
		mkdir "$1" && tar -xf "$archive_tar" --strip-components=1 -C "$1"
	fi
}

# Where a mirror has lost the distribution's part of a package, the authors' own sources do:
# what is built here serves the loopback interface.
peers_fetch() { # NAME
	local stable any
	stable=$(peers_stable_pattern "$1") any=$(peers_pattern "$1")
	archive_fetch_source "$1" "$stable" || archive_fetch_source "$1" "$any" && return
	archive_fetch_source "$1" "$stable" --tar-only ||
		archive_fetch_source "$1" "$any" --tar-only || return
	warn "$1 $archive_version: this archive has only the authors' sources, without Debian's" \
		"patches"
}

peers_make_entry() { # NAME ENTRY OPENSSL
	local temp source=$work/$1-source version library
	say "building $1 $archive_version (about a minute, only this once)"
	peers_unpack "$source" >>"$log" 2>&1 ||
		die "the sources of $1 $archive_version could not be unpacked: see $log"
	temp=$(cache_new)
	peers_build "$1" "$3" "$source" "$temp" ||
		die "$1 could not be built: see $log (only the tests and load --server need it)"
	read -r version library <<<"$(peers_versions "$1" "$temp/bin/$1")"
	openssl_is_new_enough "$library" || die "the $1 that was built runs with OpenSSL" \
		"'$library', and not with that of $3"
	strip "$temp/bin/$1" >>"$log" 2>&1 || true
	printf '%s\n' "$version" >"$temp/VERSION"
	mv -T "$temp" "$cache/$2"
	rm -rf "$source"
}

# Is there anything to fetch for it?
peers_is_there() { # NAME
	peers_find_system "$1" >/dev/null ||
		{ [ "$refresh" = no ] && cache_choice "$1" >/dev/null; }
}

# As openssl_use_release.
peers_use() { # NAME
	local name=$1 entry program openssl
	if program=$(peers_find_system "$name"); then
		cache_forget "$name"
		say "$name: $program of this system"
		return 0
	fi
	openssl=$(peers_openssl)
	if [ "$refresh" = no ] && entry=$(cache_choice "$name"); then
		:
	elif peers_fetch "$name"; then
		entry=$name-$archive_version${archive_tar:+-unpatched}-$arch-$(peers_key "$name" "$openssl")
		[ -d "$cache/$entry" ] || peers_make_entry "$name" "$entry" "$openssl"
		cache_choose "$name" "$entry"
	elif entry=$(cache_choice "$name"); then
		warn "keeping what the cache has: $archive_why"
	else
		return 1
	fi
	say "$name $(<"$cache/$entry/VERSION"): $cache/$entry"
}
