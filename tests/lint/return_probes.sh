#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# tests/lint/return_probes.sh PLACE...        every text file there but documents: sources, scripts
# tests/lint/return_probes.sh --object FILE   a compiled BPF object
#
# A return probe on a compiler's frame replaces a return address; rustc unwinds on every error and
# aborts at the trampoline. None may be in the tree, in any spelling. Comments may speak of them,
# and so may this checker and its test.
set -eu

words='uretprobe|kretprobe|uprobe\.session|kprobe\.session|UPROBE_SESSION|KPROBE_SESSION'
words="$words|UPROBE_MULTI_RETURN|KPROBE_MULTI_RETURN|retprobe *=|BPF_KRETPROBE|BPF_URETPROBE|fexit"
# perf probe, and the file in tracefs that it writes to.
words="$words|perf probe.*%return|\\br[0-9]*:[uk]probes/"

if [ "$1" = --object ]; then
	if readelf -SW "$2" | grep -nE "$words"; then
		echo "$2: a program's section asks for a return probe" >&2
		exit 1
	fi
	exit 0
fi

status=0
# The file without comments, as far as a single line shows them.
code_of() {
	case $1 in
	# -fpreprocessed takes the comments out and expands nothing.
	*.[chsS]) gcc -fpreprocessed -dD -E -P -x c "$1" 2>/dev/null ;;
	*.rs) sed 's,^[[:space:]]*//.*,,' "$1" ;;
	*) sed 's,^[[:space:]]*#.*,,' "$1" ;;
	esac
}

# A preprocessor for each file would take half a minute: first the text files that may have a word.
for file in $(find "$@" -type f ! -name '*.md' ! -path '*/lint/*return_probes.sh' -print0 |
	xargs -0 grep -Iil 'probe\|fexit' | sort); do
	if code_of "$file" | grep -E "$words"; then
		echo "$file: asks for a return probe" >&2
		status=1
	fi
done
exit $status
