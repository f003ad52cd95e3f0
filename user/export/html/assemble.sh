#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# assemble.sh SOURCES OUT PAGE: a page from its parts: OUT/head.html is what goes before the data,
# OUT/tail.html what goes behind it. The page's policy names the hashes of its one script and its
# one style, so that a browser runs nothing else, whatever the data may hold.
set -eu

from=$1 to=$2 page=$3
# Each module may use what those before it define.
case $page in
page) # of `export -f html`
	styles="style"
	modules="core format data model dom find table summary timeline queries tables flame main" ;;
trends) # of `history page`
	styles="style trends"
	modules="core format dom table trends" ;;
*)
	echo "assemble.sh: no page $page" >&2
	exit 2 ;;
esac

# As a policy has it. With a wrong one the page would be blank.
hash_of() {
	hash=$(sha256sum <"$1" | cut -c 1-64 | tr a-f A-F | basenc --base16 -d | base64)
	if [ ${#hash} -ne 44 ]; then
		echo "assemble.sh: cannot hash $1; it needs basenc, of coreutils 8.31 or later" >&2
		return 1
	fi
	printf 'sha256-%s' "$hash"
}

{
	echo '"use strict";'
	for module in $modules; do
		cat "$from/$module.js"
	done
} >"$to/page.js"
for style in $styles; do
	cat "$from/$style.css"
done >"$to/page.css"

script_hash=$(hash_of "$to/page.js")
style_hash=$(hash_of "$to/page.css")

# Without a newline after <script>: the hash is of the text between the tags.
{
	printf '<script>'
	cat "$to/page.js"
	printf '</script>\n</body>\n</html>\n'
} >"$to/tail.html"

# The parts of the page are told apart by lines of their own.
{
	sed -e '/^@style@$/,$d' -e "s|@script-hash@|$script_hash|" \
		-e "s|@style-hash@|$style_hash|" "$from/$page.html"
	printf '<style>'
	cat "$to/page.css"
	printf '</style>\n'
	sed '1,/^@style@$/d' "$from/$page.html"
} >"$to/head.html"
