#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# tests/lint/function_length.sh LIMIT DIR...: no C function is longer than LIMIT lines.
set -u

limit=$1
shift
if ! ctags --version 2>/dev/null | grep -q '^Universal Ctags'; then
	echo "universal-ctags is not installed" >&2
	exit 77
fi
find "$@" -name '*.[ch]' | sort |
	ctags -L - --language-force=C --kinds-C=f --fields=+ne --fields=-l -f - --sort=no |
	awk -F'\t' -v limit="$limit" '
		{
			for (i = 4; i <= NF; i++) {
				if ($i ~ /^line:/) first = substr($i, 6)
				if ($i ~ /^end:/) last = substr($i, 5)
			}
			lines = last - first + 1
			if (lines > limit) {
				printf "%s:%d: %s() has %d lines; the limit is %d\n", $2, first, $1, lines, limit
				bad = 1
			}
		}
		END { exit bad }' >&2
