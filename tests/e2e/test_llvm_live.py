# SPDX-License-Identifier: Apache-2.0 OR MIT
"""While LLVM works on one function for long, `stuck` and `top` show its pass and that function; in the
inliner `stuck` shows the first of those that it works on."""

import json

from lab import wait_for
from test_stuck import look_until
from test_top import Screen

# A box in each field, and a `?`: the drops of `build` are as many as the square of these.
FIELDS = 260
# Calls of the function that is judged, and in it.
CALLS, LENGTH = 5000, 10000
FLAGS = ("--crate-type=lib", "--crate-name=held", "-O", "-Ccodegen-units=1")


def held(t):
    fields = range(FIELDS)
    return t.write("held.rs", """
pub struct Node([u64; 4]);
impl Drop for Node { fn drop(&mut self) { std::hint::black_box(&self.0); } }
#[inline(never)]
pub fn make(x: u64) -> Option<Box<Node>> { if x == 0 { None } else { Some(Box::new(Node([x; 4]))) } }
pub struct Wide { %s }
pub fn build(s: u64) -> Option<Wide> { Some(Wide { %s }) }
""" % (", ".join("pub f%d: Box<Node>" % i for i in fields), ", ".join("f%d: make(s ^ %d)?" % (i, i) for i in fields)))


def command(t):
    return [t.rustc, held(t), *FLAGS, "-o", t.path("held.rlib")]


def test_stuck_shows_what_llvm_compiles(t):
    t.need_capture()
    process = t.start_plain(command(t))

    def in_build(snapshot):
        return [thread for p in snapshot["processes"] for thread in p["threads"]
                if (thread["llvm"] or {}).get("function") == "held::build" and thread["llvm"]["pass"]
                and thread["llvm"]["scope"] != "scc"]

    snapshot, (thread, *_) = look_until(t, process.pid, in_build)
    llvm = thread["llvm"]
    assert llvm["scope"] == "function" and "held" in llvm["symbol"] and "5build" in llvm["symbol"], llvm
    assert llvm["type"].startswith(llvm["pass"]), llvm
    assert thread["stack"] == "whole" and any(f and f.startswith("llvm::") for f in thread["functions"]), thread
    # Threads that are not in LLVM are known not to be.
    others = [o["llvm"] for p in snapshot["processes"] for o in p["threads"] if o["tid"] != thread["tid"]]
    assert others and not any(others), others

    def line():
        assert process.poll() is None, "the compiler has ended"
        done = t.run_qprof("stuck", "--once", "-i", "100ms", "-p", str(process.pid))
        return "(held::build)\n" in done.stdout and "  LLVM: " in done.stdout

    wait_for("a line about the function", line)
    return "%s(%s)" % (llvm["pass"], llvm["function"])


def judged(t):
    """The inliner takes most of this compile: it weighs `big`, which is too long, at each call."""
    return t.write("judged.rs", """
extern "C" { fn op(x: u64) -> u64; }
fn big(mut x: u64) -> u64 { unsafe { %s } x }
pub fn many(mut x: u64) -> u64 { %s x }
""" % ("x = op(x); " * LENGTH, "x = big(x); " * CALLS))


def test_stuck_shows_the_first_of_a_component(t):
    t.need_capture()
    most = "-Cllvm-args=-inline-threshold=%d" % (18 * LENGTH)
    process = t.start_plain([t.rustc, judged(t), "--crate-type=lib", "-O", "-Ccodegen-units=1", most,
                             "-o", t.path("judged.rlib")])
    looks = t.run_qprof("stuck", "--json", "-i", "100ms", "-p", str(process.pid)).stdout.splitlines()
    seen = [thread["llvm"] for look in looks for p in json.loads(look)["processes"]
            for thread in p["threads"] if thread["llvm"]]
    first = [llvm for llvm in seen if llvm["scope"] == "scc" and llvm["function"]]
    assert {llvm["function"] for llvm in first} == {"judged::many"}, seen
    assert {llvm["pass"] for llvm in first} == {"ModuleToPostOrderCGSCCPassAdaptor"}, first
    # Samples have 13 of 14 in the inliner.
    assert len(first) >= len(seen) / 2, seen
    return "%d looks, %d of them in a component" % (len(looks), len(first))


def test_top_shows_it_by_samples(t):
    t.need_capture()
    argv = [t.qprof, "top", "-i", "200ms", "-o", t.path("top.qpt"), "--", *command(t)]
    with Screen(t, " ".join(argv)) as s:
        s.resize(130, 24)
        s.wait("recording", "compilers 1 (1 running)", "hottest function")
        s.wait("(held::build)")
        s.keys("Enter", "Tab", "Tab")
        s.wait("Threads of held (", "(held::build)")
        s.keys("q")
