#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# tests/unit/run.sh BUILD_DIR TEST...: runs cmocka programs, shows each test's result, and closes
# with the sums. A test that started and has no result (a crash) has failed.
set -u

build=$1
shift
log=$build/tests/unit/log
passed=0 failed=0 skipped=0

count() {
	grep -c "$1" "$log"
}

for test in "$@"; do
	echo "# ${test##*/}"
	CMOCKA_MESSAGE_OUTPUT=stdout "$test" >"$log" 2>&1
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

echo "unit: $passed passed, $failed failed, $skipped skipped" | tee "$build/unit.total"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
