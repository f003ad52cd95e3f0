#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# tests/lint/headers.sh BUILD_DIR: every header compiles alone; those the kernel half reads with clang
# for BPF. A build shows both compilers' warnings.
set -u

build=$1
: "${CC:=gcc}" "${CLANG:=clang}"
flags="-std=gnu17 -D_GNU_SOURCE -Wall -Wextra -Werror -fsyntax-only -x c"
user="-Iuser -Iinclude -I$build $(pkg-config --cflags libbpf libelf zlib capstone libzstd json-c)"
# A header of bpf/ may leave functions to the file that includes it; the kernel dictates the
# parameters of a program.
bpf="-target bpf -D__TARGET_ARCH_x86 -Ivmlinux -Iinclude -Ibpf -Wno-unused-function -Wno-undefined-internal -Wno-unused-parameter"

# COMPILER...: each header of the list compiles. It is included: one given as the main file gets
# warnings of its own.
alone() {
	xargs -P "$(nproc)" -I{} "$@" -include {} /dev/null
}

status=0
# shellcheck disable=SC2086
find include user -name '*.h' | alone "$CC" $flags $user || status=1
# shellcheck disable=SC2086
{
	echo include/qprof/wire.h
	find bpf vmlinux -name '*.h'
} | alone "$CLANG" $flags $bpf || status=1
exit $status
