#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# tests/cmocka.sh SUITE BUILD_DIR TEST...: runs cmocka programs, shows each test's result, and closes
# with the sums. A test that started and has no result (a crash) has failed. With CI=true, as root
# and with a BPF kernel, a skipped test has failed, too.
#
# JOBS programs run at once (default 1); their outputs are shown in the given order.
set -u

suite=$1
build=$2
shift 2
logs=$build/tests/$suite/logs
passed=0 failed=0 skipped=0
rm -rf "$logs"
mkdir -p "$logs"

# shellcheck disable=SC2016 # the inner shell's
printf '%s\0' "$@" | CMOCKA_MESSAGE_OUTPUT=stdout xargs -0 -n 1 -P "${JOBS:-1}" sh -c '
	log=$1/${2##*/}
	timeout 600 "$2" >"$log" 2>&1
	echo $? >"$log.status"' sh "$logs"

count() {
	grep -c "$1" "$log"
}

for test in "$@"; do
	echo "# ${test##*/}"
	log=$logs/${test##*/}
	status=$(cat "$log.status")
	# cmocka's closing list repeats the failed tests.
	sed -e '/^\[ RUN  /d' -e '/^\[=====/d' -e '/^\[  PASSED/d' \
		-e '/^\[  FAILED  \] [0-9]* test(s)/,$d' "$log"
	run=$(count '^\[ RUN      \] ')
	ok=$(count '^\[       OK \] ')
	skip=$(grep '^\[  SKIPPED \] ' "$log" | grep -v 'test(s)' | sort -u | wc -l)
	fail=$((run - ok - skip))
	# It crashed, or a sanitizer ended it.
	last=$(sed -n 's/^\[ RUN      \] //p' "$log" | tail -n 1)
	if [ -n "$last" ] && ! grep -q "^\[ *\(OK\|FAILED\|SKIPPED\) *\] $last\$" "$log"; then
		echo "[  FAILED  ] $last: ${test##*/} ended with status $status within it"
	fi
	if [ "$status" -ne 0 ] && [ $fail -eq 0 ]; then
		echo "[  FAILED  ] ${test##*/} ended with status $status"
		fail=1
	fi
	passed=$((passed + ok)) failed=$((failed + fail)) skipped=$((skipped + skip))
done

if [ "${CI:-}" = true ] && [ "$(id -u)" = 0 ] && [ -e /sys/kernel/btf/vmlinux ]; then
	[ $skipped -eq 0 ] || echo "$suite: nothing may be skipped on this machine"
	failed=$((failed + skipped)) skipped=0
fi
echo "$suite: $passed passed, $failed failed, $skipped skipped" | tee "$build/$suite.total"
[ $failed -eq 0 ] && [ $((passed + skipped)) -gt 0 ]
