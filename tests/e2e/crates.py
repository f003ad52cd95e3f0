# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Real crates to compile: those of Debian's librust-*-dev packages.

tests/setup.sh installs them. One rustc compiles each, as cargo would with default features; those
that need other crates are below NEEDS.
"""

import glob
import os

from lab import Skip

REGISTRY = "/usr/share/cargo/registry"

FEATURES = {
    "regex-syntax": (
        "default std unicode unicode-age unicode-bool unicode-case unicode-gencat unicode-perl "
        "unicode-script unicode-segment"
    ),
    "memchr": "default std alloc",
    "semver": "default std",
    "smallvec": "",
    "either": "default use_std std",
    "unicode-ident": "",
    "proc-macro2": "",
    "quote": "",
    "syn": "clone-impls derive extra-traits fold full parsing printing quote visit visit-mut",
}
# The crates that a crate needs, each behind those that it needs itself.
NEEDS = {
    "proc-macro2": ("unicode-ident",),
    "quote": ("unicode-ident", "proc-macro2"),
    "syn": ("unicode-ident", "proc-macro2", "quote"),
}
EDITION = "2018"

# A crate that compiles for some seconds, for tests that act in the middle of it.
LONG = "regex-syntax"
# A crate that compiles in a moment.
SHORT = "semver"


def source(name):
    found = sorted(glob.glob(os.path.join(REGISTRY, name + "-[0-9]*", "src/lib.rs")))
    if not found:
        raise Skip("no sources of %s: install librust-%s-dev" % (name, name))
    return found[-1]


def crate_name(name):
    return name.replace("-", "_")


def arguments(name, out_dir, *extra, at=None):
    """rustc's arguments to compile the crate, or the source `at` a path, into a directory."""
    args = ["--crate-name", crate_name(name), "--crate-type", "lib", "--edition", EDITION]
    args += ["--cap-lints", "allow", "--out-dir", out_dir]
    for feature in FEATURES[name].split():
        args += ["--cfg", 'feature="%s"' % feature]
    return args + list(extra) + [at or source(name)]


def extern(name, directory):
    """rustc's arguments that find the crates that a crate needs, compiled into a directory."""
    args = ["-L", "dependency=" + directory]
    for needed in NEEDS.get(name, ()):
        library = os.path.join(directory, "lib%s.rlib" % crate_name(needed))
        args += ["--extern", "%s=%s" % (crate_name(needed), library)]
    return args if name in NEEDS else []
