#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# user/package/deb.sh OUT VERSION: makes OUT/qprof-bpf_VERSION_amd64.deb of a copy of the sources,
# so that debhelper leaves nothing in them.
set -eu

mkdir -p "$1"
out=$(cd "$1" && pwd)
version=$2
cd "$(dirname "$0")/../.."

packaged=$(sed -n '1s/.*(\(.*\)).*/\1/p' debian/changelog)
if [ "$packaged" != "$version" ]; then
	echo "deb: debian/changelog begins with version $packaged, user/base/version.h has $version" >&2
	exit 1
fi

# The same place each time, for ccache.
work=$out/work
rm -rf "$work"
mkdir "$work"
trap 'rm -rf "$work"' EXIT
sources=$work/qprof-bpf-$version
mkdir "$sources"
if [ -e .git ]; then
	git ls-files -z --cached --others --exclude-standard
else
	find . -path './build*' -prune -o -type f -print0
fi | tar -c --null -T - --ignore-failed-read | tar -x -C "$sources"

unset MAKEFLAGS MFLAGS MAKELEVEL
cd "$sources"
DEB_BUILD_OPTIONS="noautodbgsym parallel=$(nproc) ${DEB_BUILD_OPTIONS:-}" \
	dpkg-buildpackage --build=binary --no-sign >"$work/log" 2>&1 || {
	tail -n 50 "$work/log" >&2
	exit 1
}
mv "$work"/*.deb "$out"
echo "deb: $(cd "$out" && ls "$PWD"/qprof-bpf_"$version"_*.deb)"
