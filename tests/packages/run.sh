#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# tests/packages/run.sh DIR: installs, runs and removes the packages in DIR in small systems of
# Debian 12 and 13, checks their form, and makes them anew elsewhere: the bytes must be the same.
#
# The systems come from debootstrap and stay in PACKAGE_CACHE (~/.cache/qprof-bpf-packages).
# PACKAGE_RELEASES="trixie" tries some, PACKAGE_MIRROR is where they come from.
set -u

dir=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
cache=${PACKAGE_CACHE:-$HOME/.cache/qprof-bpf-packages}
mirror=${PACKAGE_MIRROR:-http://deb.debian.org/debian}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
passed=0 failed=0 skipped=0

# A check's status: 0 good, 77 cannot be made here (the last line says why), else bad.
check() {
	name=$1
	shift
	"$@" >"$log" 2>&1
	case $? in
	0) echo "PASS $name" && passed=$((passed + 1)) ;;
	77) echo "SKIP $name: $(tail -n 1 "$log")" && skipped=$((skipped + 1)) ;;
	*) cat "$log" && echo "FAIL $name" && failed=$((failed + 1)) ;;
	esac
}

# A directory that was not finished has another name.
make_root() {
	root=$cache/$1
	[ ! -e "$root" ] || return 0
	rm -rf "$root.new"
	mkdir -p "$cache"
	debootstrap --variant=minbase "$1" "$root.new" "$mirror" || return 1
	chroot "$root.new" apt-get -q update && mv "$root.new" "$root"
}

# Below a mount namespace of its own, so that nothing stays mounted.
inside() {
	mkdir -p "$cache/archives-$1"
	place=$(mktemp -d)
	unshare --mount --propagation private "$here/enter.sh" "$cache/$1" "$place" \
		"$cache/archives-$1" "$top" "$dir" "$2"
	status=$?
	rmdir "$place"
	return $status
}

# The file, its directory and what is around it differ.
made_again() {
	elsewhere=$(mktemp -d)/a/much/longer/path
	mkdir -p "$elsewhere"
	(cd "$top" && git ls-files -z --cached --others --exclude-standard |
		tar -c --null -T - --ignore-failed-read) | tar -x -m -C "$elsewhere" &&
		(umask 077 && TZ=Pacific/Apia LC_ALL=C.UTF-8 make -C "$elsewhere" deb tarball) &&
		for file in "$dir"/*.deb "$dir"/*.tar.gz; do
			cmp "$file" "$elsewhere/build/packages/${file##*/}" || same=no
		done
	status=$?
	rm -rf "${elsewhere%/a/*}"
	[ $status = 0 ] && [ "${same:-yes}" = yes ]
}

# By the last commit, unless SOURCE_DATE_EPOCH is set.
dated() {
	[ "$(SOURCE_DATE_EPOCH='' "$top/user/package/date.sh")" = "$(git -C "$top" log -1 --format=%ct)" ] &&
		[ "$(SOURCE_DATE_EPOCH=5 "$top/user/package/date.sh")" = 5 ]
}

check "sbom: one of a plain build is dated by the last commit" dated
check "deb: lintian finds no error" lintian --fail-on error "$dir"/*.deb
check "sbom: it lists what the programs load and contain" python3 -B "$here/sbom.py" "$dir"
check "both: made again elsewhere, the bytes are the same" made_again
for release in ${PACKAGE_RELEASES:-bookworm trixie}; do
	check "$release: debootstrap" make_root "$release"
	for what in deb tarball recipe; do
		check "$release: $what" inside "$release" "$what"
	done
done
echo "packages: $passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ] && [ $passed -gt 0 ]
