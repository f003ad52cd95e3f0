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

# Runs a suite of make, and keeps its output and status. `nice` may be given before.
suite() {
	suite=$1
	shift
	# shellcheck disable=SC2086 # $MAKE is a command line
	"$@" $MAKE "$suite" FAST=1 >"$build/$suite.log" 2>&1
	echo $? >"$build/$suite.status"
}

# What has been shown once its status is there.
show() {
	cat "$build/$1.log"
	[ "$(cat "$build/$1.status")" = 0 ] || status=1
}

# The unit tests run under sanitizers. Some of their programs look like compilers, so nothing that
# records a whole machine runs beside them; the kernel half's tests record their own program.
suite sanitize &
# Not as the user who ran sudo: these tests load BPF programs.
find "$build/tests/bpf" -name 'test_*' -type f ! -name '*.[do]' | sort |
	xargs tests/cmocka.sh bpf "$build" || status=1
wait
show sanitize
# Many tests against rustc wait. What needs only CPUs takes the time that they leave.
{
	suite lint nice -n 19
	suite replay nice -n 19
} &
tests/e2e/run.sh "$build" || status=1
wait
show lint
show replay

echo
for suite in unit sanitize lint fuzz bpf e2e; do
	cat "$build/$suite.total" 2>/dev/null || {
		echo "$suite: did not run"
		status=1
	}
done
if [ $status = 0 ]; then echo "check: passed"; else echo "check: FAILED"; fi
exit $status
