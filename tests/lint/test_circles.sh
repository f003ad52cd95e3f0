#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# circles.py finds two files that include each other, and no circle in a file and its header.
set -eu

checker=$(dirname "$0")/circles.py
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/a"
echo '#include "a/x.h"' >"$dir/a/x.c"
echo '#include "a/y.h"' >"$dir/a/x.h"
: >"$dir/a/y.h"

"$checker" "$dir"
echo '#include "a/x.h"' >"$dir/a/y.c"
! "$checker" "$dir" 2>/dev/null
