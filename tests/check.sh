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

# Runs a suite of make with a low priority, and keeps its output and status.
suite() {
	# shellcheck disable=SC2086 # $MAKE is a command line
	nice $MAKE "$1" FAST=1 >"$build/$1.log" 2>&1
	echo $? >"$build/$1.status"
}

# The kernel half's tests and many of those against rustc wait: what only computes takes the time that
# they leave, and is compiled in it. The unit tests run under sanitizers. Some of them have processes
# that look like compilers, so they begin when no test records the whole machine any more.
rm -f "$build/e2e.together"
{
	suite lint
	suite replay
	suite sanitize-bin
	until [ -e "$build/e2e.together" ]; do sleep 1; done
	suite sanitize
} &
# Not as the user who ran sudo: these tests load BPF programs.
find "$build/tests/bpf" -maxdepth 1 -name 'test_*' -type f ! -name '*.[do]' | sort |
	xargs tests/cmocka.sh bpf "$build" || status=1
tests/e2e/run.sh "$build" || status=1
: >"$build/e2e.together"
wait
for suite in lint replay sanitize; do
	cat "$build/$suite.log"
	[ "$(cat "$build/$suite.status")" = 0 ] || status=1
done

echo
for suite in unit sanitize lint fuzz bpf e2e; do
	cat "$build/$suite.total" 2>/dev/null || {
		echo "$suite: did not run"
		status=1
	}
done
if [ $status = 0 ]; then echo "check: passed"; else echo "check: FAILED"; fi
exit $status
