#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Runs a command as the user who ran sudo, so the built files are theirs. Runs it unchanged without
# such a user, or if they cannot write here.
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
# An earlier run without sudo may have left files of root's.
for dir in build build-debug build-san build-release; do
	[ ! -d "$dir" ] || chown -R "$SUDO_UID:${SUDO_GID:-$SUDO_UID}" "$dir"
done

home=$(getent passwd "$SUDO_UID" | cut -d: -f6)
# The parent make's job server belongs to root.
unset MAKEFLAGS MFLAGS MAKELEVEL
HOME=${home:-/} exec setpriv --reuid="$SUDO_UID" --regid="${SUDO_GID:-$SUDO_UID}" --clear-groups "$@"
