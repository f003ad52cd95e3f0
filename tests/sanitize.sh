#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# tests/sanitize.sh BUILD_DIR PROGRAM TEST...: runs unit tests that were built with sanitizers, and
# then the commands that need no privileges, on the traces, profiles and histories of the
# repository. A report of a sanitizer is a failure; so is an exit with an error that has no line.
# With FAST=1, one of five command lines is run, and each view of some trace.
set -u

build=$1
qprof=$PWD/$2
shift 2
logs=$build/tests/stored
rm -rf "$logs"
mkdir -p "$logs/out"

# The leak checker stops the threads of the process by ptrace, which a container may forbid.
export UBSAN_OPTIONS="print_stacktrace=1:exitcode=99"
options="exitcode=99:detect_stack_use_after_return=1:allocator_may_return_null=1"
if ASAN_OPTIONS=detect_leaks=1 "$qprof" version 2>&1 | grep -q LeakSanitizer; then
	echo "sanitize: leaks are not looked for, as this environment forbids ptrace"
	options="$options:detect_leaks=0"
fi
export ASAN_OPTIONS="$options"

JOBS=$(nproc) tests/cmocka.sh unit "$build" "$@" >"$logs/unit" 2>&1
unit=$?
grep -v '^# \|^\[       OK \]\|^TEST_SEED' "$logs/unit"

# Each trace has a number of lines that five does not divide, so views take turns: all, as five is prime.
every=1
[ "${FAST:-}" != 1 ] || every=5

# One command line for each run. {} is a name of its own, for a file.
commands() {
	for trace in tests/golden/good-*.qpt; do
		for view in verify dump "dump --query a*" report "report --json" "report --full" \
			"report --markdown" "report --cost" "report --wide --by query" \
			"report --by item" "report --by module" "report --by macro" \
			"report --by cgu" "report --by crate" "report --by process" \
			"report --by thread --json" "report --functions" "report --memory" \
			"report --waits" "report --raw --by item --json" "diff $trace" \
			"diff --json $trace" "diff --markdown --metric count $trace" \
			"why typeck"; do
			echo "$view $trace"
		done
		for format in perfetto folded pprof speedscope counts html jsonl; do
			echo "export -f $format -o {} $trace"
		done
		echo "export -f measureme -o {} $trace"
		echo "history add --store {}.db --commit 1f2e3d4 --branch main $trace"
	done
	for trace in tests/golden/bad-*.qpt tests/golden/expands-[cmp]*.qpt; do
		echo "verify $trace"
		echo "report --json $trace"
		echo "export -f perfetto -o {} $trace"
	done
	for profile in tests/golden/mm/*.mm_profdata; do
		echo "import -o {} $profile"
	done
	# SQLite leaves files beside a store that it reads.
	cp tests/fixtures/history/version-6.db "$logs/store.db"
	cp tests/fixtures/history/version-4.db tests/fixtures/history/version-1.db "$logs"
	for question in list "list --json" trend "trend --json" "trend --metric count"; do
		case $question in
		list*) echo "history $question --store $logs/store.db" ;;
		*) echo "$question --store $logs/store.db" ;;
		esac
	done
	echo "history export -o {} --store $logs/store.db"
	echo "history page -o {} --store $logs/store.db"
	echo "history check --against main --fail-above 5% --store $logs/store.db"
	echo "history merge --store {}.db $logs/version-4.db"
	echo "history merge --store {}.db $logs/version-1.db"
	echo "history merge --store {}.db tests/fixtures/history/version-2.jsonl"
	echo "history merge --store {}.db tests/golden/history-rows.jsonl"
	echo doctor --json
	echo "report /dev/null"
	echo "report $logs/no-such-file"
}

# shellcheck disable=SC2016 # the inner shell's
commands | awk -v logs="$logs" -v every=$every 'NR % every == 0 { gsub(/{}/, logs "/out/" NR); print NR " " $0 }' |
	xargs -d '\n' -n 1 -P "$(nproc)" sh -c '
		qprof=$1 logs=$2
		number=${3%% *} line=${3#* }
		# shellcheck disable=SC2086 # words of a command line
		$qprof $line >"$logs/$number.stdout" 2>"$logs/$number.stderr" </dev/null
		status=$?
		if [ $status = 99 ] || [ $status -gt 125 ]; then
			echo "FAIL qprof-bpf $line: status $status"
			grep -m 12 "runtime error\|Sanitizer\|^    #" "$logs/$number.stderr"
		elif [ $status != 0 ] && [ ! -s "$logs/$number.stderr" ] && [ ! -s "$logs/$number.stdout" ]; then
			echo "FAIL qprof-bpf $line: status $status without a line"
		else
			echo "PASS $line"
		fi >"$logs/$number.result"' sh "$qprof" "$logs"

cat "$logs"/*.result | grep -A 12 '^FAIL'
passed=$(cat "$logs"/*.result | grep -c '^PASS')
failed=$(cat "$logs"/*.result | grep -c '^FAIL')
rm -rf "$logs"/out "$logs"/*.stdout
echo "sanitize: $passed passed, $failed failed, 0 skipped" | tee "$build/sanitize.total"
[ $unit = 0 ] && [ "$failed" = 0 ] && [ "$passed" -gt 0 ]
