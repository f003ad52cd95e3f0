#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# return_probes.sh finds each spelling, and leaves comments alone.
set -eu

checker=$(dirname "$0")/return_probes.sh
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

finds() {
	printf '%s\n' "$1" >"$dir/x.c"
	if "$checker" "$dir" >/dev/null 2>&1; then
		echo "not found: $1" >&2
		exit 1
	fi
}

allows() {
	printf '%s\n' "$1" >"$dir/x.c"
	if ! "$checker" "$dir" >/dev/null 2>&1; then
		echo "found, though harmless: $1" >&2
		exit 1
	fi
}

finds 'SEC("uretprobe") int f(void *ctx) { return 0; }'
finds 'SEC("uretprobe.multi") int f(void *ctx) { return 0; }'
finds 'SEC("?uprobe.session") int f(void *ctx) { return 0; }'
finds 'SEC("kretprobe/do_exit") int f(void *ctx) { return 0; }'
finds 'int type = BPF_TRACE_UPROBE_SESSION;'
finds 'int flags = BPF_F_UPROBE_MULTI_RETURN;'
finds 'struct bpf_uprobe_opts o = { .retprobe = true };'
allows '/* a uretprobe would break unwinding */ int x;'
allows '// no uprobe.session here'
allows 'SEC("uprobe.multi") int f(void *ctx) { return 0; }'

# A section of a compiled object.
printf '%s\n' '__attribute__((section("uretprobe.multi"))) int f(void) { return 0; }' >"$dir/y.c"
gcc -c -o "$dir/y.o" "$dir/y.c"
! "$checker" --object "$dir/y.o" >/dev/null 2>&1
gcc -c -o "$dir/x.o" "$dir/x.c" -DSEC\(x\)=
"$checker" --object "$dir/x.o"
