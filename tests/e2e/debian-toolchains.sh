#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# tests/e2e/debian-toolchains.sh DIR PACKAGE..: get Debian's compilers of these packages (rustc-web,
# rustc), all versions in apt's lists, and unpack each into DIR/VERSION (1.96), where it runs from with
# LD_LIBRARY_PATH set to DIR/VERSION/usr/lib/x86_64-linux-gnu. Nothing is installed. What is there
# already is kept. Fails, with a line that says why, if there is none at the end.
set -eu

mkdir -p "$1"
cd "$1"
dir=$PWD
shift

fail() {
	echo "debian-toolchains: $1" >&2
	exit 1
}

# The packages that a compiler of version $2 (1.96) needs, whose package $3 has version $1.
packages() {
	std=libstd-rust${3#rustc}
	llvm=$(apt-cache show "$std-$2=$1" | sed -n 's/^Depends:.*\(libllvm[0-9]*\).*/\1/p' | head -n 1)
	echo "$3=$1 $std-$2=$1 $std-dev=$1 $llvm"
}

get() {
	work=$(mktemp -d "$dir/.getting-XXXXXX")
	# shellcheck disable=SC2064 # the directory of now
	trap "rm -rf '$work'" EXIT
	mkdir "$work/deb" "$work/root"
	# shellcheck disable=SC2046 # several words
	(cd "$work/deb" && apt-get -q -o APT::Sandbox::User=root download $(packages "$1" "$2" "$3") >&2) || return 1
	for deb in "$work"/deb/*.deb; do
		dpkg -x "$deb" "$work/root" || return 1
	done
	mv -T "$work/root" "$dir/$2" || return 1
	rm -rf "$work"
}

# Tests run side by side: the second one waits for the first one's.
exec 9>"$dir/.lock"
flock 9
command -v apt-get >/dev/null || fail "this is no Debian: it has no apt-get"
for package; do
	for full in $(apt-cache madison "$package" | cut -d '|' -f 2); do
		version=$(echo "$full" | cut -d . -f 1,2)
		[ -d "$version" ] || get "$full" "$version" "$package" ||
			echo "debian-toolchains: cannot get $package $full" >&2
	done
done
ls -d [0-9]* >/dev/null 2>&1 || fail "apt's lists have no package $*, or it cannot be downloaded"
