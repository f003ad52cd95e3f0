#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Runs a command as the person who ran sudo, so that what it builds is theirs; plainly when there
# is no such person, or when they could not write here anyway.
set -eu

if [ "$(id -u)" != 0 ] || [ "${SUDO_UID:-0}" = 0 ]; then
	exec "$@"
fi

as_user() {
	setpriv --reuid="$SUDO_UID" --regid="${SUDO_GID:-$SUDO_UID}" --clear-groups "$@"
}
if ! as_user test -w .; then
	exec "$@"
fi
# An earlier run as plain root may have left its own behind.
for dir in build build-debug build-san; do
	[ ! -d "$dir" ] || chown -R "$SUDO_UID:${SUDO_GID:-$SUDO_UID}" "$dir"
done

home=$(getent passwd "$SUDO_UID" | cut -d: -f6)
# The parent make's job server belongs to root.
unset MAKEFLAGS MFLAGS MAKELEVEL
HOME=${home:-/} exec setpriv --reuid="$SUDO_UID" --regid="${SUDO_GID:-$SUDO_UID}" --clear-groups "$@"
