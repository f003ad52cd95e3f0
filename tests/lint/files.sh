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
# shellcheck disable=SC2086
awk '
	function complain(what) { print file ": " what; bad = 1 }
	function close_file() {
		if (file && !licence) complain("no SPDX line")
		if (file && lines > 800) complain("more than 800 lines")
	}
	FNR == 1 { close_file(); file = FILENAME; licence = 0 }
	FNR <= 5 && /SPDX-License-Identifier: / { licence = 1 }
	/[ \t]$/ { complain("trailing space in line " FNR) }
	{ lines = FNR }
	END { close_file(); exit bad }' $sources >&2 || status=1
for file in bpf/*.[ch]; do
	head -n 2 "$file" | grep -q 'GPL-2.0-only OR BSD-2-Clause' ||
		complain "$file: the kernel half is GPL-2.0-only OR BSD-2-Clause"
done
exit $status
