#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# tests/check.sh BUILD_DIR: every test. Goes on after a failure, and closes with the totals of all.
set -u

build=$1
: "${MAKE:=make}"
status=0
rm -f "$build"/*.total
# Gives what root writes here back to the person who ran sudo.
trap 'tests/as-user.sh true' EXIT

# shellcheck disable=SC2086 # $MAKE is a command line
{
	$MAKE unit || status=1
	$MAKE lint || status=1
	$MAKE fuzz FUZZ_SECONDS="${FUZZ_SECONDS:-5}" || status=1
}
# As root, if we are: these load BPF programs.
find "$build/tests/bpf" -name 'test_*' -type f ! -name '*.d' | sort |
	xargs tests/cmocka.sh bpf "$build" || status=1
tests/e2e/run.sh "$build" || status=1

echo
for suite in unit lint fuzz bpf e2e; do
	cat "$build/$suite.total" 2>/dev/null || {
		echo "$suite: did not run"
		status=1
	}
done
if [ $status = 0 ]; then echo "check: passed"; else echo "check: FAILED"; fi
exit $status
