#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# return_probes.sh finds each spelling, and leaves comments alone.
set -eu

checker=$(dirname "$0")/return_probes.sh
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

finds() {
	printf '%s\n' "$1" >"$dir/${2:-x.c}"
	if "$checker" "$dir" >/dev/null 2>&1; then
		echo "not found: $1" >&2
		exit 1
	fi
	rm "$dir/${2:-x.c}"
}

allows() {
	printf '%s\n' "$1" >"$dir/${2:-x.c}"
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
finds 'bpftrace -e "uretprobe:/lib/x.so:f { }"' x.sh
finds 'perf probe -x /lib/x.so "f%return"' x.sh
finds 'echo "r:uprobes/f /lib/x.so:0x10" >/sys/kernel/tracing/uprobe_events' run
finds 'bpf.attach_uretprobe(name="/lib/x.so", sym="f")' x.py
finds 'X := -DFLAGS=BPF_F_UPROBE_MULTI_RETURN' Makefile
allows '	# no uretprobe here' x.py
allows '// no uretprobe here' x.rs
allows 'a uretprobe replaces a return address' x.md
allows '/* a uretprobe would break unwinding */ int x;'
allows '// no uprobe.session here'
allows 'SEC("uprobe.multi") int f(void *ctx) { return 0; }'

# A section of a compiled object.
printf '%s\n' '__attribute__((section("uretprobe.multi"))) int f(void) { return 0; }' >"$dir/y.c"
gcc -c -o "$dir/y.o" "$dir/y.c"
! "$checker" --object "$dir/y.o" >/dev/null 2>&1
gcc -c -o "$dir/x.o" "$dir/x.c" -DSEC\(x\)=
"$checker" --object "$dir/x.o"
