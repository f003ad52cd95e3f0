#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# tests/packages/enter.sh ROOT PLACE ARCHIVES SOURCES PACKAGES WHAT: runs try_WHAT.sh in a copy of ROOT
# that exists in memory only, at PLACE. Belongs into a mount namespace of its own.
set -eu

root=$1 place=$2 archives=$3 sources=$4 packages=$5 what=$6
rustc=$("$sources/tests/find-rustc.sh")
toolchain=$("$rustc" --print sysroot)

mount -t tmpfs none "$place"
cd "$place"
mkdir upper work root
mount -t overlay -o "lowerdir=$root,upperdir=upper,workdir=work" none root
cd root
mount -t proc none proc
mount --rbind /sys sys
mount --rbind /dev dev
mount -t tmpfs none tmp
chmod 1777 tmp
mount --bind "$archives" var/cache/apt/archives
mkdir srv/tests srv/docs srv/packages srv/rust
mount --bind "$sources/tests/packages" srv/tests
mount --bind "$sources/docs" srv/docs
mount --bind "$packages" srv/packages
mount --bind "$toolchain" srv/rust
cp /etc/resolv.conf etc/resolv.conf
exec chroot . /usr/bin/env -i \
	PATH=/srv/rust/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
	LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive sh "/srv/tests/try_$what.sh" /srv/packages
