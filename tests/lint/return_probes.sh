#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# tests/lint/return_probes.sh DIR...          sources
# tests/lint/return_probes.sh --object FILE   a compiled BPF object
#
# A return probe on a compiler's frame replaces a return address; rustc unwinds on every error and
# aborts at the trampoline. None may be in the tree, in any spelling. Comments may speak of them.
set -eu

words='uretprobe|kretprobe|uprobe\.session|kprobe\.session|UPROBE_SESSION|KPROBE_SESSION'
words="$words|UPROBE_MULTI_RETURN|KPROBE_MULTI_RETURN|retprobe *=|BPF_KRETPROBE|BPF_URETPROBE|fexit"

if [ "$1" = --object ]; then
	if readelf -SW "$2" | grep -nE "$words"; then
		echo "$2: a program's section asks for a return probe" >&2
		exit 1
	fi
	exit 0
fi

status=0
for file in $(find "$@" -name '*.[ch]' | sort); do
	# -fpreprocessed takes the comments out and expands nothing.
	if gcc -fpreprocessed -dD -E -P -x c "$file" 2>/dev/null | grep -E "$words"; then
		echo "$file: asks for a return probe" >&2
		status=1
	fi
done
exit $status
