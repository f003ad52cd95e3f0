# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Names of what queries are about, of compilers that do not come to drop their query context."""

import json
import os
import re
import shutil
import signal
import subprocess
import time

import keys
import lab
from lab import each
from test_harmless import status_of

# The compiler evaluates this for ever; it has typechecked `planted_before` then.
HANGS = """#![allow(long_running_const_eval)]
const fn slow(n: u64) -> u64 { let mut i = 0; while i < n { i = i.wrapping_add(1); } i }
pub mod one {
    pub fn before() -> u64 { super::slow(3) }
    pub const BEFORE: [u8; super::slow(5) as usize] = [0; 5];
    pub fn planted() -> [u8; super::slow(u64::MAX) as usize % 7] { loop {} }
}
"""
SCRIPT = '"$@" >stdout 2>stderr; echo $? >status'


def rustc_that_hangs(t, toolchain="stable", out="out"):
    return [t.toolchain(toolchain).rustc, "--crate-name=hangs", "--crate-type=lib",
            "--emit=metadata", "--out-dir", t.mkdir(out), t.write("hangs.rs", HANGS)]


def cpu_seconds(pid):
    with open("/proc/%d/stat" % pid) as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wait_until_it_hangs(t, pid):
    """Nothing else in this crate takes as long, under probes too."""
    lab.wait_for("the compiler to hang", lambda: cpu_seconds(pid) > 1)


def start(t, toolchain="stable", before=()):
    """A recording of a compiler that hangs: (profiler, the compiler's pid, directory)."""
    out = t.mkdir("run")
    # Else the compiler may run on before its plan is made.
    assert t.run_qprof("plan", t.toolchain(toolchain).rustc).returncode == 0
    profiler = t.start_qprof("-q", "-o", t.path("trace.qpt"), "--", "sh", "-c", SCRIPT, "sh",
                             *before, *rustc_that_hangs(t, toolchain), cwd=out,
                             env=lab.known(t.toolchain(toolchain).rustc))
    t.attached(profiler)
    (shell,) = [pid for pid in lab.children(profiler.pid) if lab.name_of(pid) == "sh"]
    (compiler,) = lab.wait_for("the compiler", lambda: lab.children(shell))
    wait_until_it_hangs(t, compiler)
    return profiler, compiler, out


def assert_named(t, trace):
    events = {(query, event) for _, query, event in keys.executions(t, trace)}
    paths = {event for _, event in events}
    for path in ("hangs::one::before", "hangs::one::BEFORE", "hangs::one::planted"):
        assert path in paths, sorted(paths)
    return len(events)


@each(*(("stable", sig) for sig in (signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT, signal.SIGTERM)),
      ("nightly", signal.SIGKILL))
def test_a_killed_compiler(t, toolchain, sig):
    profiler, compiler, out = start(t, toolchain)
    os.kill(compiler, sig)
    if sig == signal.SIGSEGV:
        # The compiler's handler prints where it is, and goes on; the next one is deadly.
        lab.wait_for("its message", lambda: os.path.getsize(os.path.join(out, "stderr")) > 1000)
        time.sleep(0.5)
        os.kill(compiler, sig)
    _, err = profiler.communicate(timeout=lab.TIMEOUT)
    assert profiler.returncode == 0, err.decode()
    assert status_of(out) == 128 + sig
    document = t.report(t.path("trace.qpt"))
    assert document["lost"] == 0 and document["problem"] is None, document
    return "%d executions" % assert_named(t, t.path("trace.qpt"))


def test_a_compiler_that_another_thread_ends(t):
    """By exit_group(): the thread in the query only sees SIGKILL."""
    if not shutil.which("cc"):
        raise lab.Skip("no C compiler")
    source = os.path.join(os.path.dirname(__file__), "programs", "exits.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-pthread", "-o", t.path("exits.so"), source],
                   check=True)
    os.chmod(t.path("exits.so"), 0o755)
    profiler, _, out = start(
        t, before=("env", "LD_PRELOAD=" + t.path("exits.so"), "EXITS=" + t.path("now")))
    t.write("now", "")
    _, err = profiler.communicate(timeout=lab.TIMEOUT)
    assert profiler.returncode == 0, err.decode()
    assert status_of(out) == 7
    assert_named(t, t.path("trace.qpt"))


# ---- What a compiler that hangs is about ----------------------------------------------------------

# 2^32 obligations, none of which is like another.
TRAITS = """pub struct Z;
pub struct S<N>(N);
pub trait Hard<T> {}
impl<T> Hard<T> for Z {}
impl<N, T> Hard<T> for S<N> where N: Hard<(T, u8)>, N: Hard<(T, u16)> {}
type S8<N> = S<S<S<S<S<S<S<S<N>>>>>>>>;
pub fn need<A: Hard<()>>() {}
pub mod one {
    pub fn planted() { super::need::<super::S8<super::S8<super::S8<super::S8<super::Z>>>>>() }
}
"""


# In which query of `planted`.
STUCK = {"check_well_formed": HANGS, "typeck": TRAITS}


@each(*((toolchain, query) for toolchain in lab.toolchains() or ("stable",) for query in STUCK))
def test_stuck(t, toolchain, query):
    """Attached to in the middle, in a constant or in the solver of traits: the function is named."""
    t.need_capture()
    compiler = t.start_plain([t.toolchain(toolchain).rustc, "--crate-name=hangs",
                              "--crate-type=lib", "--emit=metadata", "--out-dir", t.mkdir("out"),
                              t.write("hangs.rs", STUCK[query])])
    wait_until_it_hangs(t, compiler.pid)
    argv = ("stuck", "--once", "--interval", "300ms", "--pid", str(compiler.pid))
    done, as_json = t.run_qprof(*argv), t.run_qprof(*argv, "--json")
    assert compiler.poll() is None
    compiler.kill()
    assert done.returncode == as_json.returncode == 0, (done.stderr, as_json.stderr)
    assert re.search(r"  %s\w*\(hangs::one::planted\)\n" % query, done.stdout), done.stdout
    (process,) = json.loads(as_json.stdout)["processes"]
    rows = [row for thread in process["threads"] for row in thread["open"]]
    assert [row for row in rows
            if row["name"].startswith(query) and row["key"] == "hangs::one::planted"], rows
    assert all(row["entered"] == "before" for row in rows), rows


# ---- --slow --------------------------------------------------------------------------------------


def test_slow(t):
    """A line names the item, though the compiler has not ended."""
    text = HANGS.replace("u64::MAX", "400_000")
    text += "pub mod two { pub fn planted() -> [u8; super::slow(400_001) as usize % 7] { loop {} } }\n"
    run = t.record([t.rustc, "--crate-name=hangs", "--crate-type=lib", "--emit=metadata",
                    "--out-dir", t.mkdir("out"), t.write("slow.rs", text)],
                   ("-q", "--slow", "100ms"))
    lines = [line for line in run.stderr.decode().splitlines() if "slow: " in line]
    # One ends while the compiler has the other one to evaluate; then the names are copied. No query has a probe.
    assert any(re.search(r"slow: eval_to_allocation_raw\(hangs::\S+\) \S+ m?s \(by samples\) in ", line)
               for line in lines), lines
    assert not any(s.get("kind", "Query") == "Query" for s in t.spans(run.trace))
