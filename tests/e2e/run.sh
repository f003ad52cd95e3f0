#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# tests/e2e/run.sh BUILD_DIR [WORD...]: tests against the real rustc; a WORD picks those whose name
# has it. As root they run in full; what cannot run says why.
set -u

build=$1
shift
# A mount namespace of its own: mounts of tests are invisible outside, and end with the tests.
alone=
[ "$(id -u)" = 0 ] && unshare --mount true 2>/dev/null && alone="unshare --mount"
# No __pycache__ in the checkout: we may be root there.
# shellcheck disable=SC2086
exec $alone "${PYTHON:-python3}" -B "$(dirname "$0")/runner.py" --build "$build" "$@"
