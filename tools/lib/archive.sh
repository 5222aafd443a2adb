# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# archive.sh - single packages of a newer release, without touching this system.
#
# apt runs in a private root: own sources, own state, own cache. The machine's
# own keyring checks the signatures, and its own proxy and credentials apply.
# Nothing is installed and nothing of /etc/apt or /var/lib/apt is written.
#
# Sourced. Uses: work (a temporary folder), log, arch, archive_mirror,
# archive_keyring (both may be empty), and common.sh. Call archive_find first.

# Set archive_types to 'deb deb-src' before the first fetch where sources are wanted too.
archive_opened='' archive_why='' archive_types=deb
# archive_own_suite: this system's release, to be read too; archive_only_suite: take from it alone.
archive_own_suite='' archive_only_suite=''

# What the machine's own apt uses, one repository a line: URI RELEASE ORIGIN.
# Before the first "apt-get update" apt can tell all but the origin.
archive_own_sources() {
	local found
	found=$(apt-get indextargets --format \
		'$(CREATED_BY) $(REPO_URI) $(RELEASE) $(COMPONENT) $(ORIGIN)' 2>>"$log" |
		awk '$1 == "Packages" && $4 == "main" { print $2, $3, $5 }')
	[ -n "$found" ] || found=$(apt-get -q update --print-uris 2>>"$log" |
		sed -n "s|^'\(.*/\)dists/\(.*\)/main/binary-.*/Packages.*|\1 \2 unknown|p")
	printf '%s\n' "$found" | grep -v '^cdrom:' || true
}

# The archive of this machine's distribution: sets archive_kind (debian, ubuntu
# or none), archive_uri, and archive_security_uri (empty where none is known).
archive_find() {
	local uri release origin id=''
	archive_kind=none archive_uri='' archive_security_uri=''
	[ ! -r /etc/os-release ] || id=$(. /etc/os-release && printf '%s' "${ID:-}")
	if [ -n "$archive_mirror" ]; then
		archive_kind=debian archive_uri=$archive_mirror
		return
	fi
	while read -r uri release origin; do
		[ "$origin" != unknown ] || origin=$id
		case ${origin,,} in debian | ubuntu) ;; *) continue ;; esac
		case $release in
		*-security | */updates) archive_security_uri=${archive_security_uri:-$uri} ;;
		*) [ -n "$archive_uri" ] || archive_kind=${origin,,} archive_uri=$uri ;;
		esac
	done < <(archive_own_sources)
}

# The keyring that signs the archive; its name differs between releases.
archive_find_keyring() {
	local file
	for file in "$archive_keyring" \
		"/usr/share/keyrings/$archive_kind-archive-keyring.gpg" \
		"/usr/share/keyrings/$archive_kind-archive-keyring.pgp"; do
		if [ -n "$file" ] && [ -r "$file" ]; then
			printf '%s\n' "$file"
			return
		fi
	done
	return 1
}

archive_write_source() { # URI SUITES COMPONENTS KEYRING
	printf 'Types: %s\nURIs: %s\nSuites: %s\nComponents: %s\nSigned-By: %s\n\n' \
		"$archive_types" "$@"
}

archive_write_config() {
	local root=$1
	# The machine's proxy, certificates and retries, but not its hooks.
	apt-config dump | grep -E '^Acquire::' |
		grep -Ev '^Acquire::(IndexTargets|Languages|Changelogs|GzipIndexes)'
	cat <<-EOF
		APT::Architecture "$arch";
		APT::Architectures "$arch";
		APT::Sandbox::User "root";
		Acquire::Languages "none";
		Acquire::PDiffs "false";
		Dir::Etc "$root/etc";
		Dir::Etc::parts "$root/etc/apt.conf.d";
		Dir::Etc::netrc "/etc/apt/auth.conf";
		Dir::Etc::netrcparts "/etc/apt/auth.conf.d";
		Dir::State "$root/state";
		Dir::State::status "$root/status";
		Dir::Cache "$root/cache";
	EOF
}

# Makes the private root and reads the package lists; once per run. Returns 1
# where nothing can be read, with the reason in archive_why.
archive_open() {
	local root=$work/apt keyring suites='trixie testing sid' components=main
	if [ -n "$archive_opened" ]; then
		[ "$archive_opened" -eq 0 ] || archive_why='the same reason'
		return "$archive_opened"
	fi
	archive_opened=1
	archive_why="this system's apt has no Debian archive to take it from"
	[ "$archive_kind" != none ] || return 1
	archive_why="no keyring to check the $archive_kind archive with: install the package \
$archive_kind-archive-keyring, or give --keyring FILE"
	keyring=$(archive_find_keyring) || return 1
	[ "$archive_kind" = debian ] || suites='devel' components='main universe'
	[[ -z $archive_own_suite || " $suites " == *" $archive_own_suite "* ]] ||
		suites="$archive_own_suite $suites"
	archive_make_root "$root" "$suites" "$components" "$keyring"
	say "reading the package lists of: $suites (30 MB; with those of sources 60 MB)"
	# One suite may be missing on a mirror; what matters is what can be had.
	archive_apt apt-get -q update >"$work/update.log" 2>&1 || true
	cat "$work/update.log" >>"$log"
	archive_why="the package lists of $suites could not be read:
$(archive_complaints "$work/update.log")"
	[ -n "$(archive_apt apt-cache pkgnames libssl-dev 2>>"$log")" ] || return 1
	archive_opened=0
}

archive_make_root() { # ROOT SUITES COMPONENTS KEYRING
	local root=$1
	mkdir -p "$root"/etc/{apt.conf.d,preferences.d,sources.list.d} \
		"$root"/state/lists/partial "$root"/cache/archives/partial "$root"/debs
	: >"$root/status"
	{
		archive_write_source "$archive_uri" "$2" "$3" "$4"
		if [ "$archive_kind" = debian ] && [ -n "$archive_security_uri" ]; then
			archive_write_source "$archive_security_uri" \
				"trixie-security${archive_own_suite:+ $archive_own_suite-security}" main "$4"
		fi
	} >"$root/etc/sources.list.d/archive.sources"
	archive_write_config "$root" >"$root/apt.conf"
	archive_config=$root/apt.conf
}

# apt and its relatives in the private root.
archive_apt() {
	APT_CONFIG=$archive_config "$@"
}

archive_complaints() { # LOG
	grep -hE '^(E|W):' "$1" | head -n 3 | sed 's/^/    /'
}

# Versions of a package that the lists name, newest first: VERSION SUITE.
archive_versions() { # PACKAGE Packages|Sources
	archive_apt apt-cache madison "$1" 2>>"$log" | awk -v sort="$2" \
		'$NF == sort { split($6, at, "/"); print $3, at[1] }' | sort -rV -u -k1,1
}

# Into the current folder. apt checks what it fetches against the signed lists.
archive_get_Packages() { archive_apt apt-get -q download "$1=$2"; }

archive_get_Sources() {
	archive_apt apt-get -q source --only-source --download-only $archive_source_part "$1=$2"
}

# Downloads the newest version matching a pattern that really downloads, into an empty
# folder: a list may name one that the mirror no longer holds. Sets archive_version, or
# returns 1 with the reason in archive_why.
archive_download() { # Packages|Sources PACKAGE PATTERN FOLDER
	local sort=$1 package=$2 pattern=$3 folder=$4 version suite tried=''
	archive_open || return 1
	: >"$work/download.log"
	while read -r version suite; do
		[[ $version =~ $pattern ]] || continue
		[[ -z $archive_only_suite || ${suite%-security} == "$archive_only_suite" ]] || continue
		tried+="${tried:+, }$version from $suite"
		say "fetching $package $version from $suite"
		rm -rf "$folder" && mkdir "$folder"
		if (cd "$folder" && "archive_get_$sort" "$package" "$version") \
			>>"$work/download.log" 2>&1; then
			archive_version=$version
			return 0
		fi
	done < <(archive_versions "$package" "$sort")
	cat "$work/download.log" >>"$log"
	if [ -n "$tried" ]; then
		archive_why="package $package could not be downloaded ($tried):
$(archive_complaints "$work/download.log")"
	else
		archive_why="package $package for $arch: the lists have no fitting version"
	fi
	return 1
}

# A binary package: sets archive_deb.
archive_fetch() { # PACKAGE PATTERN
	archive_download Packages "$1" "$2" "$work/apt/debs" || return 1
	archive_deb=$(printf '%s\n' "$work/apt/debs/${1}_"*.deb)
	mv "$archive_deb" "$work/"
	archive_deb=$work/${archive_deb##*/}
}

# A source package: sets archive_dsc. With the third argument --tar-only just the authors'
# own tar file, which some mirrors hold alone: sets archive_tar.
archive_fetch_source() { # PACKAGE PATTERN [--tar-only]
	local archive_source_part=${3:-}
	archive_dsc='' archive_tar=''
	archive_download Sources "$1" "$2" "$work/apt/$1-source" || return 1
	archive_dsc=$(find "$work/apt/$1-source" -name '*.dsc')
	[ -n "$archive_dsc" ] || archive_tar=$(find "$work/apt/$1-source" -name '*.orig.tar.?z*' \
		! -name '*.asc')
}
