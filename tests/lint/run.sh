#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# tests/lint/run.sh BUILD_DIR: the house rules that a machine can check, and the checkers' own tests.
set -u

build=$1
here=$(dirname "$0")
passed=0 failed=0 skipped=0

# A checker's status: 0 good, 77 cannot be checked here (it says why), else bad.
check() {
	name=$1
	shift
	"$@"
	case $? in
	0) echo "PASS $name" && passed=$((passed + 1)) ;;
	77) echo "SKIP $name" && skipped=$((skipped + 1)) ;;
	*) echo "FAIL $name" && failed=$((failed + 1)) ;;
	esac
}

check "return-probes: none in sources, scripts and tests" "$here/return_probes.sh" \
	Makefile .ci bpf include user tests vmlinux
check "return-probes: none in the BPF objects" sh -c 'for o; do "$0" --object "$o" || exit; done' \
	"$here/return_probes.sh" "$build/qprof.bpf.o" "$build/execs.bpf.o"
check "return-probes: the checker finds them" "$here/test_return_probes.sh"
check "headers: each compiles alone" "$here/headers.sh" "$build"
check "format: as clang-format has it" "$here/format.sh"
check "functions: none above 100 lines" "$here/function_length.sh" 100 user bpf tests
check "functions: the checker finds a long one" "$here/test_function_length.sh"
check "apart: no key or value of a map behind a parameter" \
	"$here/apart_memory.py" bpf/*.h bpf/*.c
check "apart: the checker finds them" "$here/test_apart_memory.sh"
check "circles: no files of user/ include each other in one" "$here/circles.py" user
check "circles: the checker finds one" "$here/test_circles.sh"
check "files: each has a licence and no trailing space" "$here/files.sh"
check "docs: widths, lengths and links" "$here/docs.sh" "$here/../.."
check "docs: files that pages name exist" "$here/docs.sh" --paths "$here/../.."
check "docs: the checker finds faults" "$here/test_docs.sh"
check "rebuild: a shared header rebuilds both halves" "$here/test_rebuild.sh" "$build"

echo "lint: $passed passed, $failed failed, $skipped skipped" | tee "$build/lint.total"
[ $failed -eq 0 ]
