#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# C sources are as clang-format leaves them. Versions disagree on details; 14 decides.
set -u

clang_format=$(command -v clang-format-14 || command -v clang-format) || {
	echo "clang-format is not installed" >&2
	exit 77
}
case $($clang_format --version) in
*"version 14."*) ;;
*)
	echo "$($clang_format --version): the format is checked with version 14" >&2
	exit 77
	;;
esac
find bpf include user tests -name '*.[ch]' -print0 | sort -z |
	xargs -0 -n 50 -P "$(nproc)" "$clang_format" --dry-run -Werror
