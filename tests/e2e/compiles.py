# SPDX-License-Identifier: Apache-2.0 OR MIT
"""One crate, compiled repeatedly from the same state, with or without rustc's own profile."""

import glob
import os
import shutil

import crates
from mm_profdata import BadProfile, Profile

# Unlocks -Zself-profile on stable. All runs set it, because it makes rustc run some more queries.
BOOTSTRAP = {"RUSTC_BOOTSTRAP": "1"}
MODES = {
    "debug": (),
    "release": ("-O",),
    "metadata": ("--emit=metadata",),
    "first-incremental": (),
    "second-incremental": (),
    "edited-incremental": (),
    "threads": ("-Zthreads=4",),
}
# The beginning of one function per crate, for the mode that edits it; no line moves.
EDITS = {
    "regex-syntax": ("lib.rs", "pub fn is_word_byte(c: u8) -> bool {"),
    "memchr": ("memchr/mod.rs", "pub fn memchr(needle: u8, haystack: &[u8]) -> Option<usize> {"),
    "semver": ("parse.rs", "fn wildcard(input: &str) -> Option<(char, &str)> {"),
    "smallvec": ("lib.rs", "fn layout_array<T>(n: usize) -> Result<Layout, CollectionAllocErr> {"),
}


def profiled_path(t, name, events, run, status=0):
    """
    Call run(unique name, *flags), which runs rustc with its self-profile; returns the call's result
    and the path of the profile. On a busy machine rustc sometimes exits while another of its
    threads holds the profiler, and the file lacks its strings; such a run is repeated.
    """
    for attempt in range(5):
        unique = "%s%d" % (name, attempt)
        directory = t.mkdir(unique + ".profile")
        done = run(unique, "-Zself-profile=" + directory, "-Zself-profile-events=" + events)
        assert done.status == status, done.stderr.decode()
        (path,) = glob.glob(os.path.join(directory, "*.mm_profdata"))
        try:
            Profile.read(path)
            return done, path
        except BadProfile as e:
            if "no stream" not in str(e):
                raise
            why = e
    raise why


def profiled(t, name, events, run):
    """Like profiled_path(), with the profile instead of its path."""
    done, path = profiled_path(t, name, events, run)
    return done, Profile.read(path)


class Compile:
    """One crate in one mode; every run starts from the same incremental state."""

    def __init__(self, t, toolchain, crate, mode):
        self.t = t
        self.rustc = toolchain.rustc
        self.crate = crate
        self.flags = MODES[mode]
        self.incremental = mode.endswith("incremental")
        self.source = crates.source(crate)
        self.before = None
        self.extern = crates.extern(crate, self.needed())
        if mode == "edited-incremental":
            self.source = shutil.copytree(os.path.dirname(self.source), t.path("src")) + "/lib.rs"
        if mode in ("second-incremental", "edited-incremental"):
            self.before = t.mkdir("before")
            done = t.plain(self.argv("setup", self.before), env=BOOTSTRAP)
            assert done.status == 0, done.stderr.decode()
        if mode == "edited-incremental":
            self.edit()

    def needed(self):
        """The directory of the crates that this one needs, which are compiled there."""
        directory = self.t.mkdir("needed")
        for name in crates.NEEDS.get(self.crate, ()):
            args = crates.arguments(name, directory, *crates.extern(name, directory))
            done = self.t.plain([self.rustc, *args], env=BOOTSTRAP)
            assert done.status == 0, done.stderr.decode()
        return directory

    def edit(self):
        file, function = EDITS[self.crate]
        path = os.path.join(os.path.dirname(self.source), file)
        with open(path) as f:
            text = f.read()
        assert text.count("\n" + function) == 1, (path, function)
        self.t.write(path, text.replace("\n" + function, "\n" + function + " let _edited = 1;"))

    def argv(self, name, incremental=None, *extra):
        # An incremental build is unchanged only if it writes to the same place.
        out = self.t.mkdir("incremental.out" if self.incremental else name + ".out")
        args = crates.arguments(self.crate, out, *self.extern, *self.flags, *extra,
                                at=self.source)
        if self.incremental:
            args += ["-C", "incremental=" + (incremental or self.state(name))]
        return [self.rustc] + args

    def state(self, name):
        path = self.t.path(name + ".incremental")
        if self.before:
            # The owners, too: rustc locks and renames files in there.
            shutil.copytree(self.before, path, symlinks=True)
            for directory, _, files in os.walk(path):
                self.t.give(directory)
                for file in files:
                    self.t.give(os.path.join(directory, file))
            return path
        return self.t.mkdir(name + ".incremental")

    def profiled(self, name, run, events="query-provider"):
        """profiled() for this compile; `run` gets the whole command."""
        return profiled(self.t, name, events, lambda unique, *flags: run(
            self.argv(unique, None, *flags)))
