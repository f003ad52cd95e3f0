#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# tests/e2e/debian-toolchains.sh DIR: get Debian's compilers of the package rustc-web, all versions in
# apt's lists, and unpack each into DIR/VERSION (1.96), where it runs from with LD_LIBRARY_PATH set to
# DIR/VERSION/usr/lib/x86_64-linux-gnu. Nothing is installed. What is there already is kept. Fails,
# with a line that says why, if there is none at the end.
set -eu

mkdir -p "$1"
cd "$1"
dir=$PWD

fail() {
	echo "debian-toolchains: $1" >&2
	exit 1
}

# The packages that a compiler of version $2 (1.96) needs, whose packages have version $1.
packages() {
	llvm=$(apt-cache show "libstd-rust-web-$2=$1" | sed -n 's/^Depends:.*\(libllvm[0-9]*\).*/\1/p' | head -n 1)
	echo "rustc-web=$1 libstd-rust-web-$2=$1 libstd-rust-web-dev=$1 $llvm"
}

get() {
	work=$(mktemp -d "$dir/.getting-XXXXXX")
	# shellcheck disable=SC2064 # the directory of now
	trap "rm -rf '$work'" EXIT
	mkdir "$work/deb" "$work/root"
	# shellcheck disable=SC2046 # several words
	(cd "$work/deb" && apt-get -q -o APT::Sandbox::User=root download $(packages "$1" "$2") >&2) || return 1
	for deb in "$work"/deb/*.deb; do
		dpkg -x "$deb" "$work/root"
	done
	mv "$work/root" "$dir/$2"
	rm -rf "$work"
}

command -v apt-get >/dev/null || fail "this is no Debian: it has no apt-get"
for full in $(apt-cache madison rustc-web | cut -d '|' -f 2); do
	version=$(echo "$full" | cut -d . -f 1,2)
	[ -d "$version" ] || get "$full" "$version" || echo "debian-toolchains: cannot get rustc-web $full" >&2
done
ls -d [0-9]* >/dev/null 2>&1 || fail "apt's lists have no package rustc-web, or it cannot be downloaded"
