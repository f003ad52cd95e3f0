# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Runs a command without perf events: a seccomp filter refuses them, as Debian's kernel does
without CAP_SYS_ADMIN."""

import ctypes
import os
import struct
import sys

PERF_EVENT_OPEN = 298  # x86-64
EACCES = 13
PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 22, 2
LOAD_WORD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, ERRNO = 0x7FFF0000, 0x00050000


def refuse():
    """The filter is set as root without no_new_privs, which would disable file capabilities."""
    program = b"".join(struct.pack("=HBBI", *instruction) for instruction in (
        (LOAD_WORD, 0, 0, 0),
        (JUMP_IF_EQUAL, 0, 1, PERF_EVENT_OPEN),
        (RETURN, 0, 0, ERRNO | EACCES),
        (RETURN, 0, 0, ALLOW),
    ))
    code = ctypes.create_string_buffer(program, len(program))
    filter = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, filter, 0, 0):
        raise OSError(ctypes.get_errno(), "no seccomp filter")


if __name__ == "__main__":
    refuse()
    os.execvp(sys.argv[1], sys.argv[1:])
