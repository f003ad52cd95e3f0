#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# tests/cmocka.sh SUITE BUILD_DIR TEST...: runs cmocka programs, shows each test's result, and closes
# with the sums. A test that started and has no result (a crash) has failed. With CI=true, as root
# and where the kernel has BPF, so has one that was skipped: there nothing may be.
set -u

suite=$1
build=$2
shift 2
log=$build/tests/$suite/log
passed=0 failed=0 skipped=0

count() {
	grep -c "$1" "$log"
}

for test in "$@"; do
	echo "# ${test##*/}"
	CMOCKA_MESSAGE_OUTPUT=stdout timeout 120 "$test" >"$log" 2>&1
	status=$?
	# The closing list repeats the names of the failed.
	sed -e '/^\[ RUN  /d' -e '/^\[=====/d' -e '/^\[  PASSED/d' \
		-e '/^\[  FAILED  \] [0-9]* test(s)/,$d' "$log"
	run=$(count '^\[ RUN      \] ')
	ok=$(count '^\[       OK \] ')
	skip=$(grep '^\[  SKIPPED \] ' "$log" | grep -v 'test(s)' | sort -u | wc -l)
	fail=$((run - ok - skip))
	if [ $status -ne 0 ] && [ $fail -eq 0 ]; then
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
