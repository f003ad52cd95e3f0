#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# tests/fuzz/run.sh BUILD_DIR SECONDS FUZZER...: lets each fuzzer search for this time, from the seeds
# in tests/fuzz/seeds/<name>/ and <name>_small_bombs/ (the fixtures, for fuzzers of ELF files), the
# kept corpus, and the finds of earlier runs (in the build directory).
#
# To keep the finds:
#   rm tests/fuzz/corpus/NAME/*; build/tests/fuzz/NAME -set_cover_merge=1 tests/fuzz/corpus/NAME \
#       build/fuzz/found/NAME
set -u

build=$1
seconds=$2
shift 2
passed=0 failed=0

fixtures=$build/fuzz/fixtures
mkdir -p "$fixtures" "$build/fuzz/crashes"
# libFuzzer tries inputs up to the size of the largest seed, so the largest fixture is left out.
tests/fixtures/make-fixtures.sh "$fixtures" && rm -f "$fixtures/bodies.so" || exit 1

for fuzzer in "$@"; do
	name=${fuzzer##*/}
	found=$build/fuzz/found/$name
	seeds=tests/fuzz/seeds/$name
	mkdir -p "$found"
	[ -d "$seeds" ] || seeds=$fixtures
	bombs=${seeds}_small_bombs
	[ -d "$bombs" ] || bombs=
	corpus=tests/fuzz/corpus/$name
	[ -d "$corpus" ] || corpus=tests/fuzz/corpus/elf # shared by the fuzzers of ELF files
	# shellcheck disable=SC2086
	# The quarantine of freed memory counts towards the limit.
	if ASAN_OPTIONS="quarantine_size_mb=32:${ASAN_OPTIONS-}" "$fuzzer" \
		-max_total_time="$seconds" -timeout=10 -rss_limit_mb=512 -print_final_stats=1 \
		-artifact_prefix="$build/fuzz/crashes/$name-" "$found" "$seeds" $bombs $corpus \
		>"$build/fuzz/$name.log" 2>&1; then
		runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$build/fuzz/$name.log")
		echo "PASS $name ($runs runs in $seconds s)"
		passed=$((passed + 1))
	else
		tail -n 40 "$build/fuzz/$name.log"
		echo "FAIL $name; the input is in $build/fuzz/crashes/"
		failed=$((failed + 1))
	fi
done

echo "fuzz: $passed passed, $failed failed, 0 skipped"
[ $failed -eq 0 ]
