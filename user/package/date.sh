#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# user/package/date.sh [--changelog]: prints the seconds since 1970 that date what is built:
# SOURCE_DATE_EPOCH, else the last commit's, else, or with --changelog, debian/changelog's.
set -eu

cd "$(dirname "$0")/../.."
if [ $# = 0 ]; then
	[ -z "${SOURCE_DATE_EPOCH:-}" ] || { echo "$SOURCE_DATE_EPOCH" && exit; }
	git log -1 --format=%ct 2>/dev/null && exit
fi
date -u -d "$(sed -n 's/^ -- .*>  //p;T;q' debian/changelog)" +%s
