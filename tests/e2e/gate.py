# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A compile that waits in the middle of a query until the test continues it."""

import os
import shutil
import tempfile

import crates
import lab


class Gate:
    """A crate that includes the text of a FIFO, so its compiler waits in the middle of expansion."""

    def __init__(self, t, crate=crates.LONG):
        self.t = t
        self.crate = crate
        self.place = tempfile.mkdtemp(dir=t.dir)
        os.chmod(self.place, 0o755)
        self.fifo = os.path.join(self.place, "text")
        os.mkfifo(self.fifo)
        os.chmod(self.fifo, 0o666)
        sources = os.path.dirname(crates.source(crate))
        self.source = shutil.copytree(sources, os.path.join(self.place, "src")) + "/lib.rs"
        with open(self.source, "a") as f:
            f.write('\nconst _: &str = include_str!("%s");\n' % self.fifo)

    def command(self, out, *extra):
        return [self.t.rustc] + crates.arguments(self.crate, self.t.mkdir(out), *extra,
                                                 at=self.source)

    def open_for_writing(self):
        """[descriptor], or None while no compiler has opened the FIFO."""
        try:
            return [os.open(self.fifo, os.O_WRONLY | os.O_NONBLOCK)]
        except OSError:
            return None

    def reached(self):
        """Wait for a compiler, which then waits for go_on()."""
        (self.fd,) = lab.wait_for("a compiler at the gate", self.open_for_writing)

    def go_on(self):
        """Continue the compiler; later compiles of the crate do not wait."""
        new = os.path.join(self.place, "empty")
        with open(new, "w"):
            pass
        os.chmod(new, 0o644)
        os.rename(new, self.fifo)
        os.close(self.fd)
