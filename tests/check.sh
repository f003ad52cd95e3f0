#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# tests/check.sh BUILD_DIR: runs every test, goes on after a failure, and closes with all totals.
set -u

build=$1
: "${MAKE:=make}"
status=0
rm -f "$build"/*.total
# Gives root's files in the build directories to the user who ran sudo.
trap 'tests/as-user.sh true' EXIT

# These suites are independent, so they run in parallel; their outputs are shown one by one.
# The unit tests run under sanitizers.
for suite in sanitize lint replay; do
	# shellcheck disable=SC2086 # $MAKE is a command line
	{
		$MAKE $suite FAST=1 >"$build/$suite.log" 2>&1
		echo $? >"$build/$suite.status"
	} &
done
wait
for suite in sanitize lint replay; do
	cat "$build/$suite.log"
	[ "$(cat "$build/$suite.status")" = 0 ] || status=1
done
# Not as the user who ran sudo: these tests load BPF programs.
find "$build/tests/bpf" -name 'test_*' -type f ! -name '*.[do]' | sort |
	xargs tests/cmocka.sh bpf "$build" || status=1
tests/e2e/run.sh "$build" || status=1

echo
for suite in unit sanitize lint fuzz bpf e2e; do
	cat "$build/$suite.total" 2>/dev/null || {
		echo "$suite: did not run"
		status=1
	}
done
if [ $status = 0 ]; then echo "check: passed"; else echo "check: FAILED"; fi
exit $status
