# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# uplot.sh - uPlot, which draws the curves of the HTML report: the system's
# package node-uplot where it is installed, else the two files of a newer one.
#
#   DIR/uPlot.iife.min.js   DIR/uPlot.min.css
#
# Sourced. Uses: cache, work, arch, refresh, log, common.sh, archive.sh,
# cache.sh.

uplot_system=/usr/share/nodejs/uplot/dist

uplot_is_whole() { # DIR
	[ -s "$1/uPlot.iife.min.js" ] && [ -s "$1/uPlot.min.css" ]
}

uplot_make_entry() { # ENTRY
	local temp
	dpkg-deb -x "$archive_deb" "$work/uplot"
	uplot_is_whole "$work/uplot$uplot_system" ||
		die "package node-uplot $archive_version holds no uPlot.iife.min.js"
	temp=$(cache_new)
	cp "$work/uplot$uplot_system"/{uPlot.iife.min.js,uPlot.min.css} "$temp/"
	mv -T "$temp" "$cache/$1"
}

# Sets uplot_dir. Returns 1 with the reason in archive_why.
uplot_use() {
	local entry
	if uplot_is_whole "$uplot_system"; then
		uplot_dir=$uplot_system
		say "uPlot: $uplot_dir"
		return
	fi
	if [ "$refresh" = no ] && entry=$(cache_choice uplot); then
		:
	elif archive_fetch node-uplot .; then
		entry=uplot-$archive_version-all
		[ -d "$cache/$entry" ] || uplot_make_entry "$entry"
		cache_choose uplot "$entry"
	elif entry=$(cache_choice uplot); then
		warn "keeping what the cache has: $archive_why"
	else
		return 1
	fi
	uplot_dir=$cache/$entry
	say "uPlot: $uplot_dir"
}
