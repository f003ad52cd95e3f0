# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A workspace for cargo that needs no other crate: a library, one with a build script, a procedural
macro, a library that uses both, and a program."""

import os

import lab

MANIFEST = """[package]
name = "%s"
version = "0.1.0"
edition = "2021"
%s
[dependencies]
%s
"""

BASE = """
pub struct Bag<T> { items: Vec<T> }
impl<T: Clone + Ord + std::fmt::Debug> Bag<T> {
    pub fn new() -> Self { Bag { items: Vec::new() } }
    pub fn add(&mut self, item: T) -> &mut Self { self.items.push(item); self }
    pub fn sorted(&self) -> Vec<T> { let mut all = self.items.clone(); all.sort(); all }
}
pub fn words(text: &str) -> Bag<String> {
    let mut bag = Bag::new();
    for word in text.split_whitespace() { bag.add(word.to_lowercase()); }
    bag
}
"""

FILES = {
    "Cargo.toml": '[workspace]\nresolver = "2"\nmembers = ["base", "made", "derived", "both", '
                  '"app"]\n',
    "base/Cargo.toml": MANIFEST % ("base", "", ""),
    "base/src/lib.rs": BASE,
    "made/Cargo.toml": MANIFEST % ("made", "", ""),
    "made/build.rs": 'fn main() { println!("cargo:rustc-cfg=made"); '
                     'println!("cargo:rustc-check-cfg=cfg(made)"); }\n',
    "made/src/lib.rs": "#[cfg(made)] pub fn made() -> bool { true }\n",
    "derived/Cargo.toml": MANIFEST % ("derived", "[lib]\nproc-macro = true", ""),
    "derived/src/lib.rs": "extern crate proc_macro;\n#[proc_macro] pub fn seven("
                          "_: proc_macro::TokenStream) -> proc_macro::TokenStream "
                          '{ "7u32".parse().unwrap() }\n',
    "both/Cargo.toml": MANIFEST % ("both", "", 'base = { path = "../base" }\n'
                                   'derived = { path = "../derived" }'),
    "both/src/lib.rs": "pub fn both() -> Vec<u32> { let mut bag = base::Bag::new(); "
                       "bag.add(derived::seven!()).add(3); bag.sorted() }\n",
    "app/Cargo.toml": MANIFEST % ("app", "", 'both = { path = "../both" }\n'
                                  'made = { path = "../made" }'),
    "app/src/main.rs": 'fn main() { println!("{:?} {}", both::both(), made::made()); }\n',
}

# {name in the report: whether dependents start with the crate's metadata}
COMPILES = {
    "base": True,
    "made": True,
    "made (build script)": False,
    "derived (proc-macro)": False,
    "both": True,
    "app (bin)": False,
}


def make(t, name="workspace", more=None):
    """Write the workspace, with `more` {path: text} in place of its own; returns its directory."""
    return make_files(t, {**FILES, **(more or {})}, name)


def make_files(t, files, name="workspace"):
    """Write {path: text} into a directory, which is returned."""
    top = t.mkdir(name)
    for path, text in files.items():
        directory = os.path.join(name, os.path.dirname(path))
        for depth in range(1, directory.count("/") + 2):
            t.mkdir("/".join(directory.split("/")[:depth]))
        t.write(os.path.join(name, path), text)
    return top


def cargo(t, *arguments, toolchain="stable"):
    """Arguments and environment of a cargo that uses only this toolchain."""
    chosen = t.toolchain(toolchain)
    argv = [os.path.join(chosen.sysroot, "bin/cargo"), *arguments, "--offline"]
    return argv, {"RUSTC": chosen.rustc, "CARGO_TARGET_DIR": t.path("target")}


def recorded(t, toolchain="stable"):
    """A build of it in which each execution is recorded, that several tests read: its trace, and what
    was said."""
    def record():
        argv, env = cargo(t, "build", "-v", "-j2", toolchain=toolchain)
        run = t.record(argv, ("--interval", "10min"), env=env, cwd=make(t))
        directory = t.mkdir("recorded")
        os.rename(run.trace, os.path.join(directory, "trace.qpt"))
        t.write("recorded/said", run.stderr.decode())
        return directory

    t.need_capture()
    directory = t.shared("workspace-" + toolchain, record)
    return os.path.join(directory, "trace.qpt"), lab.read_text(os.path.join(directory, "said"))
