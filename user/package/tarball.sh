#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# user/package/tarball.sh OUT VERSION: makes OUT/qprof-bpf-VERSION-x86_64-linux.tar.gz. All libraries
# but glibc are in the program; their licences and its SBOM are beside it. The files lie as `make
# install` puts them below /usr/local.
set -eu

mkdir -p "$1"
out=$(cd "$1" && pwd)
version=$2
cd "$(dirname "$0")/../.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
name=qprof-bpf-$version-x86_64-linux
root=$work/$name
doc=$root/share/doc/qprof-bpf
sbom=build-release/qprof-bpf.spdx.json

SOURCE_DATE_EPOCH=$(user/package/date.sh --changelog)
export SOURCE_DATE_EPOCH

# Linked anew: make does not know when an installed library has changed. A list that was made without
# SOURCE_DATE_EPOCH has another date.
rm -f build-release/qprof-bpf "$sbom"
make --no-print-directory RELEASE=1 STATIC=all all sbom
make --no-print-directory -s RELEASE=1 STATIC=all install DESTDIR="$work/root" PREFIX=/usr/local
mv "$work/root/usr/local" "$root"
strip "$root/bin/qprof-bpf"

mkdir -p "$doc/docs"
cp README.md CHANGELOG.md LICENSE-* "$sbom" "$doc"
cp -r docs/*.md docs/images "$doc/docs"
python3 -B user/package/sbom.py --licences "$doc/licences" "$sbom"

find "$root" -type d -exec chmod 755 {} +
find "$root" -type f -exec chmod 644 {} +
chmod 755 "$root/bin/qprof-bpf"
tar -c -C "$work" --format=gnu --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 \
	--numeric-owner "$name" | gzip -9n >"$work/$name.tar.gz"
mv "$work/$name.tar.gz" "$out"
echo "tarball: $out/$name.tar.gz"
