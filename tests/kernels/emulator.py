#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""
Finds the QEMU that runs the guests. Before 8.1, two faults of QEMU's translation look like faults
of the kernel or of its programs:

- it may run outdated code that another processor of the guest changed: "Oops: int3";
- it can restore wrong flags after an interrupt, with bits that no x86 processor sets: a warning at
  exc_debug_kernel, and programs that die of SIGSEGV.

If the system's QEMU is older, a newer one is unpacked in the cache, not installed. It comes from
Debian's backports to the system's release, like the kernels (fetch.py).
"""

import collections
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

import fetch

NAME = "qemu-system-x86_64"
PACKAGES = ("qemu-system-x86", "qemu-system-common", "qemu-system-data", "seabios")
SOUND = (8, 1)

# argv: the command; version: two numbers
Emulator = collections.namedtuple("Emulator", "argv version")


def probe(argv):
    """The emulator, or None if it does not run here."""
    try:
        shown = subprocess.run([*argv, "--version"], text=True, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL).stdout
    except OSError:
        return None
    found = re.search(r"version (\d+)\.(\d+)", shown)
    return Emulator(argv, (int(found[1]), int(found[2]))) if found else None


def unpacked(root):
    share = root + "/usr/share/"
    return probe([root + "/usr/bin/" + NAME, "-L", share + "qemu", "-L", share + "seabios"])


def download(cache, root):
    fetch.say("QEMU is older than %d.%d: downloading one of %s" % (*SOUND, fetch.backports()))
    if not cache.suites():
        raise fetch.Missing("no lists of packages")
    with tempfile.TemporaryDirectory(dir=cache.dir, prefix="unpack-") as tmp:
        names = ["%s/%s" % (package, fetch.backports()) for package in PACKAGES]
        done = cache.apt("apt-get", "-q", "download", *names, cwd=tmp)
        debs = glob.glob(tmp + "/*.deb")
        if len(debs) != len(PACKAGES):
            raise fetch.Missing("cannot download QEMU: %s" % done.stdout.strip().splitlines()[-1])
        for deb in debs:
            subprocess.run(["dpkg-deb", "-x", deb, tmp + "/root"], check=True)
        shutil.rmtree(root, ignore_errors=True)
        os.rename(tmp + "/root", root)


def find(cache):
    """The system's QEMU if it is sound, else the one in the cache, else the system's anyway."""
    system = probe([NAME])
    if system and system.version >= SOUND:
        return system
    root = os.path.join(cache.dir, "qemu-" + fetch.backports())
    try:
        if not unpacked(root):
            download(cache, root)
    except fetch.Missing as why:
        fetch.say(str(why))
    newer = unpacked(root)
    if not newer and system:
        fetch.say("QEMU %d.%d: see emulator.py for its faults" % system.version)
    if not newer and not system:
        raise SystemExit("kernels: no %s here" % NAME)
    return newer or system


def threads(emulator, together):
    """Two processors that take turns in one thread never run outdated code, and leave room for
    other guests."""
    return "multi" if emulator.version >= SOUND and not together else "single"


if __name__ == "__main__":
    print(*find(fetch.Cache()), file=sys.stdout)
