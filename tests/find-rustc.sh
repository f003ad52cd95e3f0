#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Prints the path of the rustc of the user who ran this. sudo replaces PATH and may replace HOME, so
# the user database leads to their ~/.cargo/bin. RUSTC overrides the search.
set -eu

if [ -n "${RUSTC:-}" ]; then
	command -v "$RUSTC" && exit
	echo "find-rustc: RUSTC=$RUSTC is not a command" >&2
	exit 1
fi

user_home=$HOME
if [ "$(id -u)" = 0 ] && [ -n "${SUDO_UID:-}" ]; then
	user_home=$(getent passwd "$SUDO_UID" | cut -d: -f6)
fi
for rustc in "${CARGO_HOME:-$user_home/.cargo}/bin/rustc" "$user_home/.cargo/bin/rustc"; do
	if [ -x "$rustc" ]; then
		echo "$rustc"
		exit
	fi
done
command -v rustc && exit
echo "find-rustc: no rustc in $user_home/.cargo/bin or the PATH; install it from https://rustup.rs, or set RUSTC" >&2
exit 1
