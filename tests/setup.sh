#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Installs the dependencies of the build, the tests and the benchmark.
#
#   tests/setup.sh build|check|bench|kernels|packages            install what is missing (apt; elsewhere name it and stop)
#   tests/setup.sh --verify build|check|bench|kernels|packages   install nothing; name what is missing and stop
#
# rustc comes from rustup, so this script does not install it.
set -eu

# The build's dependencies: a name to test for, and the packages of apt, dnf, pacman and zypper.
needs_build() {
	cat <<-'END'
	cmd:gcc            gcc              gcc                  gcc         gcc
	cmd:clang          clang            clang                clang       clang
	cmd:pkg-config     pkg-config       pkgconf-pkg-config   pkgconf     pkg-config
	cmd:bpftool        bpftool          bpftool              bpf         bpftool
	lib:libc           libc6-dev        glibc-devel          glibc       glibc-devel
	pc:libbpf          libbpf-dev       libbpf-devel         libbpf      libbpf-devel
	pc:libelf          libelf-dev       elfutils-libelf-devel libelf     libelf-devel
	pc:libdw           libdw-dev        elfutils-devel       libelf      libdw-devel
	pc:zlib            zlib1g-dev       zlib-devel           zlib        zlib-devel
	pc:capstone        libcapstone-dev  capstone-devel       capstone    libcapstone-devel
	pc:libzstd         libzstd-dev      libzstd-devel        zstd        libzstd-devel
	pc:json-c          libjson-c-dev    json-c-devel         json-c      libjson-c-devel
	pc:ncursesw        libncurses-dev   ncurses-devel        ncurses     ncurses-devel
	pc:sqlite3         libsqlite3-dev   sqlite-devel         sqlite      sqlite3-devel
	pc:libcurl         libcurl4-openssl-dev libcurl-devel    curl        libcurl-devel
	END
}

# Further dependencies of the tests. A crate is the source code of a real Rust library.
needs_check() {
	needs_build
	cat <<-'END'
	pc:cmocka          libcmocka-dev    libcmocka-devel      cmocka      libcmocka-devel
	cmd:python3        python3          python3              python      python3
	cmd:clang-format   clang-format     clang-tools-extra    clang       clang-tools
	cmd:ctags          universal-ctags  ctags                ctags       ctags
	cmd:setpriv        util-linux       util-linux           util-linux  util-linux
	cmd:tmux           tmux             tmux                 tmux        tmux
	cmd:script         bsdutils         util-linux-script    util-linux  util-linux
	cmd:objcopy        binutils         binutils             binutils    binutils
	cmd:xz             xz-utils         xz                   xz          xz
	cmd:zsh            zsh              zsh                  zsh         zsh
	cmd:fish           fish             fish                 fish        fish
	cmd:groff          groff-base       groff-base           groff       groff
	cmd:setcap         libcap2-bin      libcap               libcap      libcap-progs
	cmd:sudo           sudo             sudo                 sudo        sudo
	cmd:sccache        sccache          sccache              sccache     sccache
	cmd:protoc         protobuf-compiler protobuf-compiler   protobuf    protobuf-devel
	cmd:chromium       chromium         chromium             chromium    chromium
	rt:fuzzer          libclang-rt-dev  compiler-rt          compiler-rt clang
	crate:regex-syntax librust-regex-syntax-dev  - - -
	crate:memchr       librust-memchr-dev        - - -
	crate:semver       librust-semver-dev        - - -
	crate:smallvec     librust-smallvec-dev      - - -
	crate:either       librust-either-dev        - - -
	crate:unicode-ident librust-unicode-ident-dev - - -
	crate:itertools    librust-itertools-dev     - - -
	crate:clap         librust-clap-dev          - - -
	crate:serde_derive librust-serde-derive-dev  - - -
	crate:indexmap     librust-indexmap-dev      - - -
	crate:rand         librust-rand-dev          - - -
	crate:bytes        librust-bytes-dev         - - -
	crate:crossbeam-channel librust-crossbeam-channel-dev - - -
	crate:log          librust-log-dev           - - -
	END
}

# The benchmark also measures the tables of this executable.
needs_bench() {
	needs_check
	cat <<-'END'
	go:1.19            golang-1.19-go   -  -  -
	END
}

# The dependencies of `make kernels`. The kernels come from Debian's archive on any distribution.
needs_kernels() {
	needs_build
	cat <<-'END'
	pc:cmocka          libcmocka-dev    -  -  -
	cmd:python3        python3          -  -  -
	cmd:setcap         libcap2-bin      -  -  -
	cmd:setpriv        util-linux       -  -  -
	cmd:qemu-system-x86_64 qemu-system-x86 - - -
	static:busybox     busybox-static   -  -  -
	cmd:cpio           cpio             -  -  -
	cmd:modprobe       kmod             -  -  -
	cmd:xz             xz-utils         -  -  -
	cmd:zstd           zstd             -  -  -
	key:debian-archive debian-archive-keyring - - -
	END
}

# The dependencies of the packages, and of their test. They are made on Debian only.
needs_packages() {
	needs_build
	cat <<-'END'
	cmd:python3        python3          -  -  -
	cmd:dh             debhelper        -  -  -
	cmd:dpkg-buildpackage dpkg-dev      -  -  -
	cmd:lintian        lintian          -  -  -
	cmd:debootstrap    debootstrap      -  -  -
	a:capstone         libcapstone-dev  -  -  -
	a:dw               libdw-dev        -  -  -
	a:bz2              libbz2-dev       -  -  -
	a:lzma             liblzma-dev      -  -  -
	key:debian-archive debian-archive-keyring - - -
	END
}

# Debian keeps bpftool out of a user's PATH.
PATH=$PATH:/usr/sbin:/sbin

have() {
	name=${1#*:}
	case $1 in
	cmd:*) command -v "$name" >/dev/null 2>&1 ;;
	pc:*) pkg-config --exists "$name" 2>/dev/null ;;
	a:*) [ -e "$(gcc -print-file-name="lib$name.a")" ] ;;
	hdr:*) [ -e "/usr/include/$name" ] ;;
	lib:libc) [ -e /usr/include/stdlib.h ] ;;
	rt:fuzzer) [ -n "$(find "$(clang -print-resource-dir 2>/dev/null)" -name 'libclang_rt.fuzzer*.a' 2>/dev/null)" ] ;;
	# Some Debian releases lack it; the benchmark then skips its tables and says so.
	go:*) [ -x "/usr/lib/go-$name/bin/go" ] || ! apt-cache show "golang-$name-go" >/dev/null 2>&1 ;;
	static:*) command -v "$name" >/dev/null && ! ldd "$(command -v "$name")" >/dev/null 2>&1 ;;
	key:*) [ -e "/usr/share/keyrings/$name-keyring.gpg" ] ;;
	crate:*) [ -n "$(find /usr/share/cargo/registry -maxdepth 1 -name "$name-[0-9]*" 2>/dev/null)" ] ;;
	esac
}

# The packages of the missing dependencies, from $1's column.
missing() {
	"needs_$2" | while read -r need apt dnf pacman zypper; do
		have "$need" && continue
		eval "package=\$$1"
		[ "$package" = - ] || echo "$package"
	done | sort -u | tr '\n' ' '
}

manager() {
	for m in apt:apt-get dnf:dnf pacman:pacman zypper:zypper; do
		if command -v "${m#*:}" >/dev/null 2>&1; then
			echo "${m%:*}"
			return
		fi
	done
	echo none
}

# The command for a user to type.
command_for() {
	case $1 in
	apt) echo "apt-get install $2" ;;
	dnf) echo "dnf install $2" ;;
	pacman) echo "pacman -S --needed $2" ;;
	zypper) echo "zypper install $2" ;;
	none) echo "(these are Debian's names) $2" ;;
	esac
}

apt_install() {
	export DEBIAN_FRONTEND=noninteractive
	# A fresh image has no package lists, and stale lists name removed files.
	if [ -z "$(find /var/lib/apt/lists -name '*_Packages*' 2>/dev/null | head -n 1)" ]; then
		apt-get update
	fi
	# shellcheck disable=SC2086 # a list of words
	apt-get install -y --no-install-recommends $1 && return
	apt-get update
	# shellcheck disable=SC2086
	apt-get install -y --no-install-recommends $1
}

# BTF and rustc come in no package.
mention_kernel() {
	[ -e /sys/kernel/btf/vmlinux ] ||
		echo "setup: note: no /sys/kernel/btf/vmlinux: this kernel has no BTF; capture will not work here" >&2
	"$(dirname "$0")/find-rustc.sh" >/dev/null 2>&1 ||
		echo "setup: note: no rustc found; install it from https://rustup.rs" >&2
}

verify_only=0
if [ "${1:-}" = --verify ]; then
	verify_only=1
	shift
fi
what=${1:-check}
case $what in build | check | bench | kernels | packages) ;; *)
	echo "usage: tests/setup.sh [--verify] build|check|bench|kernels|packages" >&2
	exit 2
	;;
esac

m=$(manager)
column=$m
[ "$m" != none ] || column=apt
list=$(missing "$column" "$what")

if [ -n "$list" ]; then
	if [ $verify_only = 1 ] || [ "$m" != apt ]; then
		echo "setup: missing; install with: $(command_for "$m" "$list")" >&2
		exit 1
	fi
	if [ "$(id -u)" != 0 ]; then
		echo "setup: missing: $list" >&2
		echo "setup: run this target as root (sudo make ...), or: sudo $(command_for apt "$list")" >&2
		exit 1
	fi
	echo "setup: installing: $list"
	apt_install "$list"
	list=$(missing apt "$what")
	if [ -n "$list" ]; then
		echo "setup: installed, but still not found: $list" >&2
		exit 1
	fi
fi
[ $verify_only = 1 ] || mention_kernel
