# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Real crates to compile: those of Debian's librust-*-dev packages that need no other crate.

tests/setup.sh installs them. One rustc compiles each, as cargo would with default features.
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


def arguments(name, out_dir, *extra, at=None):
    """rustc's arguments to compile the crate, or the source `at` a path, into a directory."""
    args = ["--crate-name", name.replace("-", "_"), "--crate-type", "lib", "--edition", EDITION]
    args += ["--cap-lints", "allow", "--out-dir", out_dir]
    for feature in FEATURES[name].split():
        args += ["--cfg", 'feature="%s"' % feature]
    return args + list(extra) + [at or source(name)]
