#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Every source names its licence near its top; text files end lines cleanly; no file is huge.
set -u

status=0
complain() {
	echo "$1" >&2
	status=1
}

sources=$(find Makefile .ci bpf debian include user tests vmlinux -type f \( -name '*.[ch]' -o -name '*.sh' \
	-o -name '*.py' -o -name '*.rs' -o -name '*.js' -o -name '*.css' -o -name '*.html' -o -name run \
	-o -name Makefile -o -name rules -o -name '*.post*' \) | sort)
for file in $sources; do
	head -n 5 "$file" | grep -q 'SPDX-License-Identifier: ' || complain "$file: no SPDX line"
	if grep -nE '[ 	]+$' "$file"; then
		complain "$file: trailing space"
	fi
	[ "$(wc -l <"$file")" -le 800 ] || complain "$file: more than 800 lines"
done
for file in bpf/*.[ch]; do
	head -n 2 "$file" | grep -q 'GPL-2.0-only OR BSD-2-Clause' ||
		complain "$file: the kernel half is GPL-2.0-only OR BSD-2-Clause"
done
exit $status
