# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A FUSE file system with one file, served without libfuse.

    fuse.py MOUNT_POINT FILE USER NAME

serves the bytes of FILE as MOUNT_POINT/NAME to all users, as if USER had mounted it, and prints
"ready". Once the file "MOUNT_POINT.stall" exists, only the process that looked the file up first
gets answers.
"""

import ctypes
import os
import struct
import sys

LOOKUP, FORGET, GETATTR, OPEN, READ, STATFS, RELEASE = 1, 2, 3, 14, 15, 17, 18
GETXATTR, LISTXATTR, FLUSH, INIT, OPENDIR, READDIR, RELEASEDIR = 22, 23, 25, 26, 27, 28, 29
ACCESS, INTERRUPT, BATCH_FORGET = 34, 36, 42
ENOENT, ENOSYS = 2, 38
DIRECTORY, FILE = 1, 2


def attributes(node, size, user):
    mode = 0o40755 if node == DIRECTORY else 0o100755
    return struct.pack("<QQQQQQIIIIIIIIII", node, size, size // 512 + 1, 0, 0, 0, 0, 0, 0, mode, 1,
                       user, user, 0, 4096, 0)


def answer(op, node, body, data, user, name):
    """(error, bytes) of the answer; None if this request needs none."""
    size = len(data) if node == FILE else 0
    if op == INIT:
        return 0, struct.pack("<IIIIHHIIHHI28x", 7, 26, 65536, 0, 8, 8, 65536, 1, 0, 0, 0)
    if op == LOOKUP:
        if node != DIRECTORY or body.rstrip(b"\0").decode() != name:
            return ENOENT, b""
        return 0, struct.pack("<QQQQII", FILE, 0, 0, 0, 0, 0) + attributes(FILE, len(data), user)
    if op == GETATTR:
        return 0, struct.pack("<QII", 0, 0, 0) + attributes(node, size, user)
    if op in (OPEN, OPENDIR):
        return 0, struct.pack("<QII", 1, 0, 0)
    if op == READ:
        offset, length = struct.unpack_from("<QI", body, 8)
        return 0, data[offset:offset + length]
    if op == STATFS:
        return 0, struct.pack("<QQQQQIIII24x", 1, 1, 1, 1, 1, 4096, 255, 4096, 0)
    if op in (FORGET, BATCH_FORGET, INTERRUPT):
        return None
    if op in (FLUSH, RELEASE, RELEASEDIR, ACCESS, READDIR):
        return 0, b""
    return ENOSYS, b""


def main(place, path, user, name):
    fd = os.open("/dev/fuse", os.O_RDWR)
    options = "fd=%d,rootmode=40000,user_id=%s,group_id=%s,allow_other" % (fd, user, user)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(b"qprof-test", place.encode(), b"fuse", 6, options.encode()):
        sys.exit("cannot mount FUSE: " + os.strerror(ctypes.get_errno()))
    print("ready", flush=True)
    with open(path, "rb") as f:
        data = f.read()
    served = None
    while True:
        request = os.read(fd, 1 << 17)
        _, op, unique, node, _, _, pid, _ = struct.unpack_from("<IIQQIIII", request)
        if op == LOOKUP and served is None:
            served = pid
        if pid and pid != served and os.path.exists(place + ".stall"):
            print("stalled", pid, flush=True)
            continue
        found = answer(op, node, request[40:], data, int(user), name)
        if found:
            error, body = found
            try:
                os.write(fd, struct.pack("<IiQ", 16 + len(body), -error, unique) + body)
            except FileNotFoundError:
                pass  # the requesting process was killed


if __name__ == "__main__":
    main(*sys.argv[1:])
