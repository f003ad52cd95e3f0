#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""confined.py COMMAND...: runs a command under the rules of Docker's default seccomp profile.

They are those of an x86-64 container without capabilities, as in moby's profiles/seccomp/default.json
of August 2026: calls that it does not allow fail, and so do those that are newer. Left out are the
arguments of personality(2). A command line of its own, as the rules are for what it executes: nothing
is imported from beside it, so a copy works anywhere."""

import ctypes
import os
import struct
import sys

EPERM, ENOSYS = 1, 38
REFUSED = (
    103, 134, 136, 139,       # syslog, uselib, ustat, sysfs
    153, 155, 156, 161, 163,  # vhangup, pivot_root, _sysctl, chroot, acct
    *range(164, 175),         # settimeofday, mount, umount2, swapon and off, reboot, names, iopl and ioperm
    *range(174, 186),         # of kernel modules, quotactl, nfsservctl, and some that no kernel has
    212, 227, 236,            # lookup_dcookie, clock_settime, vserver
    237, 238, 239, 450,       # mbind, of mempolicy
    246, 248, 249, 250, 256,  # kexec_load, of keys, migrate_pages
    272, 279, 298, 300, 304,  # unshare, move_pages, perf_event_open, fanotify_init, open_by_handle_at
    308, 312, 313, 320, 321,  # setns, kcmp, finit_module, kexec_file_load, bpf
    323, 425, 426, 427,       # userfaultfd, of io_uring
    *range(428, 434),         # open_tree, move_mount, fsopen, fsconfig, fsmount, fspick
    438, 440, 442, 443,       # pidfd_getfd, process_madvise, mount_setattr, quotactl_fd
    459, 460, 461,            # of security modules
)
FIRST_NEWER = 467
CLONE, CLONE3, SOCKET = 56, 435, 41
NAMESPACES = 0x7e020000
AF_ALG, AF_VSOCK = 38, 40
# Of a filter: load a word, compare, and return; the call's number and first argument.
LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
NUMBER, ARGUMENT = 0, 16
ALLOW, ERRNO = 0x7fff0000, 0x00050000
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, FILTER = 38, 22, 2


def rules():
    """(code, jump if so, jump if not, value) of each step."""
    steps = [(LOAD, 0, 0, NUMBER)]
    for call, error in [*((call, EPERM) for call in REFUSED), (CLONE3, ENOSYS)]:
        steps += [(EQUAL, 0, 1, call), (RETURN, 0, 0, ERRNO | error)]
    steps += [(AT_LEAST, 0, 1, FIRST_NEWER), (RETURN, 0, 0, ERRNO | EPERM)]
    steps += [(EQUAL, 0, 3, CLONE), (LOAD, 0, 0, ARGUMENT), (ANY_BIT, 5, 0, NAMESPACES), (RETURN, 0, 0, ALLOW)]
    steps += [(EQUAL, 0, 4, SOCKET), (LOAD, 0, 0, ARGUMENT), (EQUAL, 1, 0, AF_ALG), (EQUAL, 0, 1, AF_VSOCK)]
    return steps + [(RETURN, 0, 0, ERRNO | EPERM), (RETURN, 0, 0, ALLOW)]


def confine():
    libc = ctypes.CDLL(None, use_errno=True)
    steps = [struct.pack("HBBI", *step) for step in rules()]
    code = ctypes.create_string_buffer(b"".join(steps))
    program = struct.pack("HxxxxxxP", len(steps), ctypes.addressof(code))
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or \
            libc.prctl(PR_SET_SECCOMP, FILTER, ctypes.c_char_p(program)):
        raise OSError(ctypes.get_errno(), "prctl")


if __name__ == "__main__":
    confine()
    os.execvp(sys.argv[1], sys.argv[1:])
