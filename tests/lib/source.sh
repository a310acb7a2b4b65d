# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# source.sh - where to configure from; sourced by check and tests/lib/machine.sh.

# source_tree BUILD: print a folder with ./configure that can be built out of tree. It is $TOP itself, or, when that is a fresh checkout or
# was built in place, a copy in BUILD/source: nothing is made outside of BUILD, and an installation built in place stays as it is.
source_tree() {
	local copy=$1/source
	if [ -x "$TOP/configure" ] && [ ! -f "$TOP/config.status" ]; then
		echo "$TOP"
		return
	fi
	mkdir -p "$copy" || return
	tar -C "$TOP" --exclude=./build --exclude=./.git -cf - . | tar -C "$copy" -xf - || return
	[ -x "$copy/configure" ] || (cd "$copy" && ./bootstrap) >"$1/bootstrap.log" 2>&1 || {
		cat "$1/bootstrap.log" >&2
		return 1
	}
	if [ -f "$copy/config.status" ]; then
		(cd "$copy" && ./config.status -q && make -s distclean) >"$1/bootstrap.log" 2>&1 || return
	fi
	echo "$copy"
}
