# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What each query was about: equal to rustc's own query keys, and where it is shown."""

import crates
import keys
import lab
from compiles import MODES, Compile
from lab import each

# `make fidelity` compares more.
EQUAL = (*((toolchain, crate, mode) for toolchain in lab.toolchains() or ("stable",)
           for crate, mode in (*((crates.SHORT, mode) for mode in MODES), (crates.LONG, "debug"),
                               (crates.LONG, "edited-incremental"))),
         ("stable", "syn", "debug"))


@each(*EQUAL)
def test_equal(t, toolchain, crate, mode):
    t.need_capture()
    found = keys.compare(Compile(t, t.toolchain(toolchain), crate, mode))
    found.assert_equal()
    return found.summary()
