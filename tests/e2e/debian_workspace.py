# SPDX-License-Identifier: Apache-2.0 OR MIT
"""
A realistic workspace: a program and a library over some 40 packages, with procedural macros and
build scripts, all from Debian's librust-*-dev sources, which tests/setup.sh installs.

`python3 debian_workspace.py DIR` writes it, for experiments.
"""

import collections
import os
import re
import sys

import crates
from lab import Skip

MANIFEST = """\
[workspace]
members = ["app", "model", "tool"]
resolver = "2"
[profile.dev]
debug = 0
"""
MEMBER = """\
[package]
name = "%s"
version = "0.1.0"
edition = "2021"
[dependencies]
%s
"""
# Packages of the registry, besides members.
NEEDS = {
    "app": ('model = { path = "../model" }', 'clap = { version = "4", features = ["derive"] }',
            'itertools = "0.10"', 'log = "0.4"', 'semver = "1"'),
    "model": ('serde = { version = "1", features = ["derive"] }', 'indexmap = "1"', 'rand = "0.8"',
              'bytes = "1"', 'crossbeam-channel = "0.5"', 'smallvec = "1"'),
    # For tests that need any build: few packages, in a few seconds.
    "tool": ('quote = "1"', 'semver = "1"', 'smallvec = "1"', 'itertools = "0.10"'),
}
SOURCES = {
    "app/src/main.rs": """\
use clap::Parser;
use itertools::Itertools;

#[derive(Parser)]
struct Options {
    #[arg(short, long)]
    at_least: Option<semver::Version>,
}

fn main() {
    let options = Options::parse();
    log::info!("{:?}", options.at_least);
    println!("{}", model::items().iter().map(|item| &item.name).join(", "));
}
""",
    "model/src/lib.rs": """\
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize)]
pub struct Item {
    pub name: String,
    pub number: u32,
}

pub fn items() -> Vec<Item> {
    vec![Item { name: "one".into(), number: rand::random() }]
}
""",
    "tool/src/main.rs": """\
use itertools::Itertools;

fn main() {
    let words: smallvec::SmallVec<[&str; 4]> = ["one", "two"].into_iter().collect();
    println!("{}", words.iter().join(", "));
}
""",
}
CONFIG = """\
[net]
offline = true
[source.crates-io]
replace-with = "here"
[source.here]
directory = "%s"
""" % crates.REGISTRY


def files():
    """(path in the workspace, text); .cargo makes it build without a network, from any directory."""
    yield "Cargo.toml", MANIFEST
    yield ".cargo/config.toml", CONFIG
    for member, needs in NEEDS.items():
        yield member + "/Cargo.toml", MEMBER % (member, "\n".join(needs))
    yield from SOURCES.items()


class Workspace:
    """The workspace in a test's directory, with its own cargo home, built by one toolchain."""

    def __init__(self, t, toolchain="stable"):
        self.t = t
        self.bin = os.path.join(t.toolchain(toolchain).sysroot, "bin")
        self.cargo = os.path.join(self.bin, "cargo")
        if not os.path.exists(self.cargo):
            raise Skip("no cargo beside %s" % t.rustc)
        for need in ("clap", "serde_derive", "rand", "crossbeam-channel"):
            crates.source(need)
        t.mkdir("workspace")
        for path, text in files():
            for directory in parents(path):
                t.mkdir("workspace/" + directory)
            t.write("workspace/" + path, text)
        self.dir = t.path("workspace")
        self.target = None
        self.new_target("target")

    def new_target(self, name):
        """Let cargo build into an empty directory of this name from now on."""
        self.target = self.t.mkdir(name)

    def env(self, **more):
        """The environment without the user's settings, with the toolchain's programs and not
        rustup's."""
        return {"CARGO_HOME": self.t.mkdir("cargo-home"), "CARGO_TARGET_DIR": self.target,
                "PATH": self.bin + ":" + os.environ["PATH"], "RUSTUP_TOOLCHAIN": "",
                "CARGO_TERM_COLOR": "never", "RUSTFLAGS": "", **more}

    def command(self, *arguments, jobs=2, verb="build"):
        return [self.cargo, verb, "-v", "-j%d" % jobs, "--offline", *arguments]


def parents(path):
    parts = path.split("/")[:-1]
    return ["/".join(parts[:i + 1]) for i in range(len(parts))]


def started_by_cargo(stderr):
    """Names of the crates that cargo ran a compiler for, by the output of `cargo -v`."""
    running = re.findall(r"^ *Running `(.*)`$", stderr, re.MULTILINE)
    # The other lines run build scripts.
    names = [re.search(r"(?:^|/| )(?:rustc|rustdoc)\S* .*?--crate-name (\S+)", line)
             for line in running]
    return collections.Counter(name[1] for name in names if name)


def packages(stderr):
    return set(re.findall(r"^ *(?:Compiling|Checking) (\S+) v", stderr, re.MULTILINE))


def main():
    (_, directory) = sys.argv
    for path, text in files():
        path = os.path.join(directory, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "x") as f:
            f.write(text)


if __name__ == "__main__":
    main()
