#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# tests/lint/test_rebuild.sh BUILD_DIR: after a build, make has nothing to do; an edit of the
# header that both halves share (pretended, with -W) compiles both again, an edit of the miner what
# knows the revision of its plans, and a new flag everything.
set -eu

case $1 in
build-san) mode=SANITIZE=1 ;;
build-debug) mode=DEBUG=1 ;;
*) mode= ;;
esac
unset MAKEFLAGS MFLAGS MAKELEVEL

would_run() {
	# shellcheck disable=SC2086 # $mode may be nothing
	make --no-print-directory -n $mode "$@" all
}

expect() {
	echo "$1" | grep -qe "$2" || {
		echo "$3" >&2
		exit 1
	}
}

if would_run | grep -e ' -c -o '; then
	echo "a second make compiles again" >&2
	exit 1
fi
edited=$(would_run -W include/qprof/wire.h)
expect "$edited" '-target bpf .*bpf/[a-z_]*\.bpf\.c' "wire.h does not rebuild the BPF object"
expect "$edited" ' user/capture/.*\.c' "wire.h does not rebuild the capture"
expect "$(would_run -W user/plan/mine/body.c)" ' -DPLAN_REVISION=[0-9]*u .*user/plan/codec\.c' \
	"plans of an older miner stay in the cache"
expect "$(would_run -W vmlinux/vmlinux.h)" '-target bpf ' "vmlinux.h does not rebuild the BPF object"
expect "$(would_run EXTRA_CFLAGS=-DX)" ' user/cli/main\.c' "a new flag does not rebuild"
