#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# function_length.sh counts from the name to the closing brace, and draws the line where it says.
set -eu

checker=$(dirname "$0")/function_length.sh
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
printf 'static int\nf(int x)\n{\n\tx++;\n\tx++;\n\treturn x;\n}\n' >"$dir/x.c"

status=0
"$checker" 6 "$dir" || status=$?
[ $status -ne 77 ] || exit 77
[ $status -eq 0 ]
! "$checker" 5 "$dir" 2>/dev/null
