#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# tests/e2e/clickhouse-packages.sh DIR: get Debian's ClickHouse and ZooKeeper with the libraries that
# this machine lacks, and unpack them into DIR/ROOT, whose path is printed. Nothing is installed. What is
# there already is kept. Fails, with a line that says why, if they cannot be had.
set -eu

fail() {
	echo "clickhouse-packages: $1" >&2
	exit 1
}

# The jars of ZooKeeper alone: its package also wants a web server, a test framework and a desktop.
JARS='libzookeeper-java libslf4j-java liblog4j1.2-java libdropwizard-metrics-java libnetty-java
	libsnappy-java libsnappy-jni libsnappy1v5 libcommons-cli-java'

# The packages that apt would install for a package: those that are missing here, by name.
missing() {
	apt-get -q -s -o APT::Install-Recommends=0 -o APT::Get::AllowUnauthenticated=0 \
		-o Debug::NoLocking=1 install "$1" 2>/dev/null | sed -n 's/^Inst \([^ ]*\).*/\1/p'
}

command -v apt-get >/dev/null || fail "this is no Debian: it has no apt-get"
version=$(apt-cache madison clickhouse-server | head -n 1 | cut -d '|' -f 2 | tr -d ' ')
[ -n "$version" ] || fail "apt's lists have no clickhouse-server"
mkdir -p "$1"
cd "$1"
root=$PWD/clickhouse-$version
if [ ! -d "$root" ]; then
	work=$(mktemp -d "$PWD/.getting-XXXXXX")
	trap 'rm -rf "$work"' EXIT
	mkdir "$work/deb" "$work/root"
	packages="clickhouse-server clickhouse-common $(missing clickhouse-server) $JARS"
	command -v java >/dev/null || packages="$packages $(missing openjdk-17-jre-headless)"
	# shellcheck disable=SC2086 # several words
	(cd "$work/deb" && apt-get -q -o APT::Sandbox::User=root download \
		$(printf '%s\n' $packages | sort -u) >&2) || fail "the packages cannot be downloaded"
	for deb in "$work"/deb/*.deb; do
		dpkg -x "$deb" "$work/root"
	done
	# Tests run side by side: another one may have been faster.
	mv -T "$work/root" "$root" 2>/dev/null || [ -d "$root" ]
fi
echo "$root"
