#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# tests/lint/test_docs.sh: docs.sh accepts a good tree, and finds each fault in a bad one.
set -eu

here=$(dirname "$0")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

good() {
	rm -rf "$dir/tree" && mkdir -p "$dir/tree/docs"
	cd "$dir/tree"
	printf '# One\n\n[two](docs/two.md#a-heading-of-two)\n' >README.md
	printf '# C\n' >CONTRIBUTING.md
	printf '# C\n' >CHANGELOG.md
	printf '# A\n' >docs/architecture.md
	printf '# Two\n\n## A heading of `two`\n\n[one](../README.md)\n' >docs/two.md
	cd - >/dev/null
}

# WHAT: the tree is bad now.
refused() {
	if "$here/docs.sh" "$dir/tree" 2>/dev/null; then
		echo "test_docs: not found: $1" >&2
		exit 1
	fi
}

good
"$here/docs.sh" "$dir/tree"
"$here/docs.sh" --paths "$dir/tree"
echo 'See `docs/gone.c`.' >>"$dir/tree/docs/two.md"
if "$here/docs.sh" --paths "$dir/tree" 2>/dev/null; then
	echo "test_docs: not found: a name of no file" >&2
	exit 1
fi
good && echo '[gone](gone.md)' >>"$dir/tree/docs/two.md" && refused "a link to no file"
good && echo '[gone](two.md#gone)' >>"$dir/tree/docs/two.md" && refused "a link to no heading"
good && printf '%0121d\n' 0 >>"$dir/tree/docs/two.md" && refused "a long line"
good && yes '' | head -251 >>"$dir/tree/README.md" && refused "a long README"
good && printf '| %0200d |\n' 0 >>"$dir/tree/docs/architecture.md" &&
	"$here/docs.sh" "$dir/tree"
good && printf '| %0201d |\n' 0 >>"$dir/tree/docs/architecture.md" && refused "a long cell"
good && yes '' | head -121 >>"$dir/tree/docs/architecture.md" && refused "a long architecture page"
