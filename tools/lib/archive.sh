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
# archive_keyring (both may be empty), and common.sh.

# What the machine's own apt uses, one repository a line: URI RELEASE ORIGIN.
archive_own_sources() {
	apt-get indextargets --format \
		'$(CREATED_BY) $(REPO_URI) $(RELEASE) $(COMPONENT) $(ORIGIN)' 2>>"$log" |
		awk '$1 == "Packages" && $4 == "main" && $2 !~ /^cdrom:/ { print $2, $3, $5 }'
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
		# Before the first "apt-get update" apt does not know the origin.
		case $origin in
		Debian | Ubuntu) ;;
		*)
			[ "$origin" = '$(ORIGIN)' ] || continue
			origin=$id
			;;
		esac
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
	printf 'Types: deb\nURIs: %s\nSuites: %s\nComponents: %s\nSigned-By: %s\n\n' "$@"
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

# Makes the private root and reads the package lists; once per run.
archive_open() {
	local root=$work/apt keyring suites components=main
	[ -z "${archive_config:-}" ] || return 0
	[ "$archive_kind" != none ] || return 1
	keyring=$(archive_find_keyring) || die "no keyring to check the $archive_kind archive" \
		"with: install the package $archive_kind-archive-keyring, or give --keyring FILE"
	mkdir -p "$root"/etc/{apt.conf.d,preferences.d,sources.list.d} \
		"$root"/state/lists/partial "$root"/cache/archives/partial
	: >"$root/status"
	suites='trixie testing sid'
	[ "$archive_kind" = debian ] || suites='devel' components='main universe'
	{
		archive_write_source "$archive_uri" "$suites" "$components" "$keyring"
		if [ "$archive_kind" = debian ] && [ -n "$archive_security_uri" ]; then
			archive_write_source "$archive_security_uri" trixie-security main "$keyring"
		fi
	} >"$root/etc/sources.list.d/archive.sources"
	archive_write_config "$root" >"$root/apt.conf"
	archive_config=$root/apt.conf
	say "reading the package lists of: $suites (about 30 MB)"
	# One suite may be missing on a mirror; what matters is what can be had.
	APT_CONFIG=$archive_config apt-get -q update >"$root/update.log" 2>&1 || true
	cat "$root/update.log" >>"$log"
}

archive_problem() {
	grep -hE '^(E|W|Err)' "$work/apt/update.log" "$work/apt/download.log" 2>/dev/null |
		head -n 4 | sed 's/^/    /'
}

# Versions of a package that the lists name, newest first: VERSION SUITE.
archive_versions() {
	APT_CONFIG=$archive_config apt-cache madison "$1" 2>>"$log" |
		awk '{ split($6, at, "/"); print $3, at[1] }' | sort -rV -u -k1,1
}

# Downloads the newest version matching a pattern that really downloads: a list
# may name one that the mirror no longer holds. Sets archive_deb and
# archive_version.
archive_fetch() { # PACKAGE PATTERN
	local package=$1 pattern=$2 version suite tried='' debs=$work/apt/debs
	mkdir -p "$debs"
	: >"$work/apt/download.log"
	while read -r version suite; do
		[[ $version =~ $pattern ]] || continue
		tried+="${tried:+, }$version ($suite)"
		say "fetching $package $version from $suite"
		if (cd "$debs" && APT_CONFIG=$archive_config \
			apt-get -q download "$package=$version") >>"$work/apt/download.log" 2>&1; then
			archive_version=$version
			archive_deb=$(printf '%s\n' "$debs/${package}_"*.deb | tail -n 1)
			return 0
		fi
	done < <(archive_versions "$package")
	cat "$work/apt/download.log" >>"$log"
	if [ -n "$tried" ]; then
		warn "package $package: none of these could be downloaded: $tried"
	else
		warn "package $package: the archive's lists name no version matching $pattern"
	fi
	archive_problem >&2
	return 1
}
