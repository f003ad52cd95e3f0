#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# tests/fuzz/replay.sh BUILD_DIR REPLAYER...: runs each fuzzer on its seeds, its kept corpus, and a
# fixed number of mutations of these with a fixed seed: the same every time. SEED and RUNS override
# both. The input of a failure is kept.
set -u

build=$1
shift
passed=0 failed=0
logs=$build/fuzz/replay
rm -rf "$logs"
mkdir -p "$logs" "$build/fuzz/crashes"
: "${SEED:=1}"

# Each takes some seconds at most.
runs() {
	case $1 in
	fuzz_function_name) echo 100000 ;;
	fuzz_former_history) echo 500 ;;
	fuzz_plan) echo 600 ;;
	fuzz_mm_reader | fuzz_proof | fuzz_trace_reader) echo 4000 ;;
	*) echo 10000 ;;
	esac
}

# The quarantine of freed memory counts towards the limit.
export ASAN_OPTIONS="quarantine_size_mb=32:max_allocation_size_mb=512:hard_rss_limit_mb=512:${ASAN_OPTIONS-}"
for replayer in "$@"; do
	name=${replayer##*/}
	crash=$build/fuzz/crashes/$name-replay
	places=
	for place in "tests/fuzz/seeds/$name" "tests/fuzz/seeds/${name}_small_bombs" \
		"tests/fuzz/corpus/$name"; do
		[ ! -d "$place" ] || places="$places $place"
	done
	# The other fuzzers read ELF files, and share a corpus.
	: "${places:= tests/fuzz/corpus/elf}"
	echo "$replayer ${SEED} ${RUNS:-$(runs "$name")} $crash$places"
done | xargs -L 1 -P "$(nproc)" sh -c '
	log=$1/${2##*/}
	shift
	"$@" >"$log" 2>&1
	echo $? >"$log.status"' sh "$logs"

for replayer in "$@"; do
	name=${replayer##*/}
	if [ "$(cat "$logs/$name.status" 2>/dev/null)" = 0 ]; then
		echo "PASS $name ($(tail -n 1 "$logs/$name"))"
		passed=$((passed + 1))
	else
		tail -n 40 "$logs/$name"
		echo "FAIL $name; the input is in $build/fuzz/crashes/"
		failed=$((failed + 1))
	fi
done

echo "fuzz: $passed passed, $failed failed, 0 skipped" | tee "$build/fuzz.total"
[ $failed -eq 0 ]
