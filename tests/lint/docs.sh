#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# tests/lint/docs.sh ROOT: prose of the pages fits 120 columns, README.md has at most 250 lines,
# docs/architecture.md 120, and its cells 200 characters, and links lead to files and headings of this
# tree. Tables, code, lines of a single link, and generated pages may be wider.
#
# tests/lint/docs.sh --paths ROOT: the files that pages name in `backquotes` and that are not there.
set -u

paths=
[ "$1" = --paths ] && paths=1 && shift
cd "$1" || exit 1
pages=$(ls README.md CONTRIBUTING.md CHANGELOG.md docs/*.md)
bad=0

complain() {
	echo "$1" >&2
	bad=1
}

# A heading's anchor, as GitHub makes it.
anchors() {
	sed -n 's/^##* //p' "$1" | tr 'A-Z' 'a-z' | sed 's/[^a-z0-9 _-]//g; s/ /-/g'
}

# PAGE TARGET
check_link() {
	file=${2%%#*}
	target=$1
	[ -z "$file" ] || target=$(dirname "$1")/$file
	[ -e "$target" ] || { complain "$1: link to $2: no such file" && return; }
	case $2 in
	*#*) anchors "$target" | grep -qx -e "${2#*#}" || complain "$1: link to $2: no such heading" ;;
	esac
}

# The names that are not there, each with its place.
missing_paths() {
	# shellcheck disable=SC2086
	grep -noE '`(bpf|user|include|tests|vmlinux|docs)/[A-Za-z0-9_./-]+`' $pages |
		while IFS=: read -r page line path; do
			path=$(echo "$path" | tr -d '`')
			[ -e "$path" ] || echo "$page:$line: $path: no such file"
		done
}

if [ -n "$paths" ]; then
	missing=$(missing_paths)
	[ -z "$missing" ] || complain "$missing"
	exit $bad
fi

for page in $pages; do
	case $(sed -n 1,4p "$page") in
	*'do not edit'* | *'no line by hand'* | *'writes this page anew'*) ;;
	*)
		long=$(awk 'length > 120 && !/^\|/ && !/^    / && !/^\(?\[[^]]*\]\([^)]*\)\)?[.,]?$/ {
			print FILENAME ":" FNR }' "$page")
		[ -z "$long" ] || complain "prose of more than 120 columns: $long"
		;;
	esac
	for link in $(grep -v '^    ' "$page" | grep -oE '\]\([^) ]+\)' | sed 's/^](//; s/)$//'); do
		case $link in
		http://* | https://*) ;;
		*) check_link "$page" "$link" ;;
		esac
	done
done
[ "$(wc -l <README.md)" -le 250 ] || complain "README.md has more than 250 lines"
long=$(awk -F'|' '/^\|/ { for (i = 2; i < NF; i++) if (length($i) > 202) print FILENAME ":" FNR }' \
	docs/architecture.md)
[ -z "$long" ] || complain "cells of more than 200 characters: $long"
[ "$(wc -l <docs/architecture.md)" -le 120 ] || complain "docs/architecture.md has more than 120 lines"
exit $bad
