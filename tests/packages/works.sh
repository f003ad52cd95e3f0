# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Sourced by the scripts that run inside.
# shellcheck shell=sh

fail() {
	echo "$1" >&2
	exit 1
}

[ -e /tmp/double.rs ] || echo 'pub fn double(n: u32) -> u32 { n * 2 }' >/tmp/double.rs

can_record() {
	[ -e /sys/kernel/btf/vmlinux ]
}

# A recording by the user who calls this, in a directory of their own.
records() {
	out=$(mktemp -d)
	qprof-bpf -q --exact -o "$out/x.qpt" -- rustc --crate-type lib --emit metadata \
		--out-dir "$out" /tmp/double.rs &&
		[ -s "$out/libdouble.rmeta" ] &&
		qprof-bpf report --by query "$out/x.qpt" | grep -q '^typeck  *[1-9]' &&
		qprof-bpf history add --store "$out/history.db" "$out/x.qpt" &&
		qprof-bpf history list --store "$out/history.db" --json | grep -q '"compiles":1,'
}

# Ends a script that needs a recording, where there can be none: the check is skipped, not passed.
recorded() {
	can_record && return
	echo "nothing was recorded: no /sys/kernel/btf/vmlinux"
	exit 77
}

works() {
	! ldd "$(command -v qprof-bpf)" | grep 'not found' || fail "a library is missing"
	qprof-bpf --version | grep -x 'qprof-bpf [0-9.]*' || fail "no version"
	can_record || return 0
	qprof-bpf doctor || fail "doctor found a problem"
	records || fail "no recording"
}
