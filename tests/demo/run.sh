#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# tests/demo/run.sh BUILD_DIR: compiles the crate beside this script under the profiler.
set -eu

build=$1
here=$(dirname "$0")
rustc=$("$here/../find-rustc.sh")
# sudo's PATH, and that of root's shell, may not have it.
PATH=${rustc%/*}:$PATH

echo
echo "Compiling tests/demo with $rustc ($("$here/../as-user.sh" "$rustc" --version)):"
echo
"$build/qprof-bpf" --interval 0.5 -o "$build/demo.qpt" --force -- \
	"$rustc" --crate-name demo --crate-type lib --edition 2021 \
	-o "$build/libdemo.rlib" "$here/src/lib.rs"
echo
echo "Trace: $build/demo.qpt. No root needed from here on; try: $build/qprof-bpf report $build/demo.qpt"
