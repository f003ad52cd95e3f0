# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Debian's compilers, whose libraries have no symbol table: unpacked once, never installed."""

import functools
import os
import subprocess

import lab

# Directories of unpacked packages by version, each with usr/bin/rustc.
DIRECTORY = os.environ.get("DEBIAN_TOOLCHAINS") or os.path.join(
    lab.invoker().pw_dir, ".cache/qprof-bpf-toolchains")
SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "debian-toolchains.sh")


@functools.lru_cache
def get(*packages):
    """Download what is missing; the reason why there is none, or None."""
    done = subprocess.run([SCRIPT, DIRECTORY, *packages], capture_output=True, text=True)
    return (done.stderr.strip().splitlines() or ["unknown"])[-1] if done.returncode else None


def versions():
    return sorted(name for name in os.listdir(DIRECTORY) if name[0].isdigit())


def libraries(version):
    return os.path.join(DIRECTORY, version, "usr/lib/x86_64-linux-gnu")


def library(version):
    (name,) = [name for name in os.listdir(libraries(version)) if name.startswith("librustc_driver")]
    return os.path.join(libraries(version), name)


def toolchain(t, version):
    """As t.toolchain(), whose rustc is a script that sets where its libraries are."""
    root = os.path.join(DIRECTORY, version)
    if not os.path.isdir(root):
        why = get("rustc-web", "rustc")
        if why or not os.path.isdir(root):
            raise lab.NotDownloaded("no rustc %s of Debian: %s" % (version, why or "not in apt's lists"))
    rustc = t.write("rustc", "#!/bin/sh\nexport LD_LIBRARY_PATH=%s\nexec %s/usr/bin/rustc \"$@\"\n"
                    % (libraries(version), root))
    os.chmod(rustc, 0o755)
    return lab.Toolchain("debian-" + version, rustc, os.path.join(root, "usr"))
