#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# tests/lint/headers.sh BUILD_DIR: every header compiles alone, with gcc and clang; those the
# kernel half reads with clang for BPF.
set -u

build=$1
: "${CC:=gcc}" "${CLANG:=clang}"
flags="-std=gnu17 -D_GNU_SOURCE -Wall -Wextra -Werror -fsyntax-only -x c"
user="-Iuser -Iinclude -I$build $(pkg-config --cflags libbpf libelf zlib capstone libzstd json-c)"
# A header of bpf/ may leave functions to the file that includes it; the kernel dictates the
# parameters of a program.
bpf="-target bpf -D__TARGET_ARCH_x86 -Ivmlinux -Iinclude -Ibpf -Wno-unused-function -Wno-undefined-internal -Wno-unused-parameter"
status=0

# Through an including file: a header given as the main file gets warnings of its own.
alone() {
	header=$1
	shift
	printf '#include "%s"\n' "$PWD/$header" | "$@" - || {
		echo "$header: does not compile alone with: $*" >&2
		status=1
	}
}

for header in $(find include user -name '*.h' | sort); do
	# shellcheck disable=SC2086
	{
		alone "$header" $CC $flags $user
		alone "$header" $CLANG $flags $user -Wno-unused-function
	}
done
for header in include/qprof/wire.h $(find bpf vmlinux -name '*.h' | sort); do
	# shellcheck disable=SC2086
	alone "$header" $CLANG $flags $bpf
done
exit $status
