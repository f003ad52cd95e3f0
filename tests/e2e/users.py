# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Three users' questions, and the recordings that answer them: a workspace of Debian's crates."""

import os
import shlex
import subprocess

import lab
from debian_workspace import Workspace

SCREEN = 24
CHANGED = """\
#[allow(long_running_const_eval)]
const fn work(mut n: u32) -> u32 {
    let mut sum = 0u32;
    while n > 0 { sum = sum.wrapping_mul(31).wrapping_add(n); n -= 1; }
    sum
}
pub mod limits {
    #[allow(long_running_const_eval)]
    pub const LIMIT: u32 = super::work(300_000);
}
"""
LATE = """
pub mod deep { pub const LATE: &str = include_str!("%s"); }
"""


class Walk:
    """The recordings, each made once, and what was said while they were made."""

    def __init__(self, t):
        t.need_capture()
        self.t, self.said = t, {}
        self.workspace = Workspace(t)
        self.main = self.workspace.dir + "/tool/src/main.rs"

    def record(self, name, argv, options=("-q",), **kwargs):
        """With the default options, as a user does; the exit status is the command's."""
        run = self.t.capture(argv, options, trace=name + ".qpt", exact=False, **kwargs)
        assert run.status == 0, (name, run.stderr.decode())
        self.said[name] = (run.stdout + run.stderr).decode()

    def build(self, name, *arguments, options=("-q",), **kwargs):
        w = self.workspace
        self.record(name, w.command(*arguments, "-p", "tool", **kwargs), options, env=w.env(),
                    cwd=w.dir)

    def edit(self, path, *changes):
        path = os.path.join(self.workspace.dir, path)
        with open(path, encoding="utf-8") as f:
            text = f.read()
        for old, new in changes:
            assert old in text, (path, old)
            text = text.replace(old, new)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)

    def builds(self):
        """Two clean builds; the program again; a clean build with a change and a new dependency.
        With each execution recorded, the program without the change and with it."""
        main, exact = "tool/src/main.rs", ("-q", "--exact", "--no-sample")
        self.workspace.new_target("before")
        self.build("before")
        self.workspace.new_target("target")
        self.build("build")
        self.edit(main, ("fn main", "\nfn main"))
        self.build("again", options=())
        self.edit(main, ("fn main", "\nfn main"))
        self.build("exact-build", options=exact)
        self.edit(main, ("fn main", CHANGED + "fn main"))
        self.build("exact-other", options=exact)
        self.edit("tool/Cargo.toml", ("[dependencies]\n", '[dependencies]\nlog = "0.4"\n'))
        self.workspace.new_target("changed")
        self.build("other")

    def targets(self):
        w = self.workspace
        commands = (w.command("-p", "tool", "--no-run", verb="test"),
                    w.command("-p", "tool", "--no-deps", verb="doc"))
        self.record("targets", ["sh", "-ec", "\n".join(map(shlex.join, commands))], env=w.env(),
                    cwd=w.dir)

    def slow(self):
        source = self.t.write("slow.rs", CHANGED)
        self.record("slow", [self.t.rustc, "--crate-name", "slow", "--crate-type", "lib",
                             "--out-dir", self.t.mkdir("out"), source],
                    ("-q", "--slow", "100ms"))

    def late(self):
        """A compiler that waits for a file is attached to; then the file comes."""
        t, fifo = self.t, self.t.path("included")
        os.mkfifo(fifo)
        os.chmod(fifo, 0o666)
        source = t.write("late.rs", LATE % fifo)
        rustc = t.start_plain([t.rustc, "--crate-type=lib", "--emit=metadata", "-o",
                               t.path("late.rmeta"), source])

        def stuck():
            assert rustc.poll() is None
            self.said["stuck"] = t.run_qprof("stuck", "--once", "-i", "200ms", "-p",
                                             str(rustc.pid)).stdout
            return "resolver_for_lowering_raw" in self.said["stuck"]

        lab.wait_for("the compiler to wait", stuck)
        profiler = t.start_qprof("-o", t.path("late.qpt"), "-p", str(rustc.pid), exact=False,
                                 stdout=subprocess.DEVNULL)
        t.attached(profiler)
        with open(fifo, "w", encoding="utf-8") as f:
            f.write("found")
        _, err = profiler.communicate(timeout=lab.TIMEOUT)
        assert profiler.returncode == 0 and rustc.wait() == 0, err
        self.said["late"] = err.decode()

    def outsiders(self):
        """Another build's compiler runs while a command is recorded."""
        t = self.t
        profiler = t.start_qprof("-o", t.path("outsiders.qpt"), "--", "sh", "-c",
                                 "touch begun; while test ! -e over; do sleep 0.1; done",
                                 exact=False, stdout=subprocess.DEVNULL)
        lab.wait_for("the command", lambda: os.path.exists(t.path("begun")))
        source = t.write("stranger.rs", "pub fn f() {}")
        done = t.plain([t.rustc, "--crate-type=lib", "--emit=metadata", "--out-dir",
                        t.mkdir("outside"), source])
        assert done.status == 0, done.stderr
        t.write("over", "")
        _, err = profiler.communicate(timeout=lab.TIMEOUT)
        assert profiler.returncode == 0, err
        self.said["outsiders"] = err.decode()

    def all(self):
        self.builds()
        self.targets()
        self.slow()
        self.late()
        self.outsiders()

    def trace(self, name):
        return self.t.path(name + ".qpt")
