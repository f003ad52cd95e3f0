# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Samples know which pass of LLVM a thread is in, and on which function it works."""

import collections
import glob
import json
import math
import os

import debian_toolchains
from compiles import BOOTSTRAP
from lab import each

# One function that takes most of the compile, a generic with several instances, and small ones.
STEPS = 1200
SMALL = 200
SAMPLES = ("-q", "-e", "none", "--sample=1999")
# rustc asks for bitcode by default; cargo does not, as nothing needs it.
FLAGS = ("--crate-type=lib", "--crate-name=planted", "-Ccodegen-units=1", "-Cembed-bitcode=no")


def planted(t):
    steps = "".join("    if x & %d == 0 { y = y.wrapping_add(v[(x as usize) %% v.len()]) } else { x ^= y >> %d }\n"
                    "    x = x.wrapping_mul(%d).rotate_left(%d);\n" % (i * 7 + 1, i % 13 + 1, i * 2 + 3, i % 31)
                    for i in range(STEPS))
    text = "pub fn huge(mut x: u64, v: &[u64]) -> u64 {\n    let mut y = x;\n%s    x ^ y\n}\n" % steps
    text += "pub fn pairs<T: Ord + Copy>(v: &mut Vec<T>) { v.sort(); v.dedup() }\n"
    text += "pub fn all() { pairs::<u8>(&mut vec![]); pairs::<u16>(&mut vec![]); pairs::<(u8, i64)>(&mut vec![]) }\n"
    text += "".join("pub fn small_%d(a: u32) -> u32 { a.wrapping_mul(%d) / 7 + a %% %d }\n" % (i, i + 3, i + 2)
                    for i in range(SMALL))
    return t.write("planted.rs", text)


class Seen:
    """The samples of a trace, with their entries of LLVM."""

    def __init__(self, t, trace):
        done = t.run_qprof("dump", trace)
        assert done.returncode == 0, done.stderr
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        self.samples = [row for row in rows if row.get("type") == "sample" and row["cause"] == "cpu"]
        self.losses = [row["losses"] for row in rows if row.get("type") == "losses"][-1]
        self.entries = [s["llvm"] for s in self.samples if "llvm" in s]
        # A thread that builds IR is in LLVM, too, but never in a pass.
        threads = {s["tid"] for s in self.samples if s.get("llvm", {}).get("pass")}
        self.of_threads = [s for s in self.samples if s["tid"] in threads]
        self.functions = collections.Counter(e["function"] for e in self.entries if e["function"])
        self.passes = collections.Counter(e["pass"] for e in self.entries)

    def assert_known(self, share=0.5):
        assert len(self.of_threads) >= 50, len(self.of_threads)
        n = sum(1 for s in self.of_threads if s.get("llvm", {}).get("function"))
        assert n >= share * len(self.of_threads), (n, len(self.of_threads), self.passes.most_common(5))
        # All passes have names, but for a few whose class only symbols show.
        named = sum(1 for e in self.entries if e["pass"] or e["scope"] == "none")
        assert named >= 0.9 * len(self.entries), (named, len(self.entries))
        assert self.losses["llvm"] <= 0.02 * len(self.samples), self.losses
        return "%d of %d samples of LLVM's threads have a function" % (n, len(self.of_threads))


def is_huge(symbol):
    return "4huge" in symbol and "planted" in symbol


@each(*[(compiler, how) for compiler in ("stable", "nightly", "1.96", "1.85") for how in ("debug", "release")])
def test_samples_have_passes_and_functions(t, compiler, how):
    t.need_capture()
    rustc = (debian_toolchains.toolchain(t, compiler) if compiler[0] == "1" else t.toolchain(compiler)).rustc
    argv = [rustc, planted(t), *FLAGS, *(["-O"] if how == "release" else []), "-o", t.path("planted.rlib")]
    run = t.capture(argv, options=SAMPLES, exact=False)
    assert run.status == 0, run.stderr.decode()
    seen = Seen(t, run.trace)
    told = seen.assert_known()
    assert is_huge(seen.functions.most_common(1)[0][0]), seen.functions.most_common(3)
    assert any("DAGToDAGISel" in (p or "") for p in seen.passes), seen.passes
    if how == "release":
        assert seen.passes["InstCombinePass"], seen.passes
    assert {e["scope"] for e in seen.entries} <= {"function", "module", "none"}
    return told


def test_samples_beside_probes_have_them_too(t):
    argv = [t.rustc, planted(t), *FLAGS, "-O", "-o", t.path("planted.rlib")]
    run = t.capture(argv, options=("-q", "--sample=1999"))
    assert run.status == 0, run.stderr.decode()
    seen = Seen(t, run.trace)
    told = seen.assert_known()
    assert is_huge(seen.functions.most_common(1)[0][0]), seen.functions.most_common(3)
    return told


def own_time(path):
    """Microseconds by function, in LLVM's own trace: of its outermost events."""
    with open(path) as f:
        events = [e for e in json.load(f)["traceEvents"] if e["ph"] == "X" and not e["name"].startswith("Total ")]
    times, until = collections.Counter(), collections.Counter()
    for e in sorted(events, key=lambda e: (e["ts"], -e["dur"])):
        detail = (e.get("args") or {}).get("detail", "")
        # A pass, a component of the call graph, a module or a loop.
        if e["name"] in ("RunPass", "RunLoopPass", "OptModule") or not detail or detail[0] in "([" or " " in detail:
            continue
        if e["ts"] >= until[e["tid"]]:
            times[detail] += e["dur"]
            until[e["tid"]] = e["ts"] + e["dur"]
    return times


def test_llvms_own_trace_has_the_same_hot_function(t):
    t.need_capture()
    argv = [t.rustc, planted(t), *FLAGS, "-O", "-Zllvm-time-trace", "-Zno-parallel-backend", "--out-dir", t.dir]
    run = t.capture(argv, options=SAMPLES, env=BOOTSTRAP, exact=False)
    assert run.status == 0, run.stderr.decode()
    (path,) = glob.glob(os.path.join(t.dir, "*.llvm_timings.json"))
    times, seen = own_time(path), Seen(t, run.trace)
    ours, theirs = seen.functions.most_common(1)[0][0], times.most_common(1)[0][0]
    assert ours == theirs, (seen.functions.most_common(3), times.most_common(3))
    assert set(seen.functions) <= set(times) | {None}, set(seen.functions) - set(times)
    n = sum(seen.functions.values())
    share, own = seen.functions[ours] / n, times[theirs] / sum(times.values())
    # LLVM's trace is of the wall clock, has whole calls only, and leaves out those below half a millisecond.
    error = 3 * math.sqrt(share * (1 - share) / n) + 0.1
    assert abs(share - own) <= error, (share, own, error)
    return "%s: %.0f %% of samples, %.0f %% by LLVM" % (ours, 100 * share, 100 * own)


def test_a_compiler_whose_llvm_is_not_understood_has_none(t):
    """LLVM 14 of Debian's 1.63 makes no entries for the optimiser: nothing is said."""
    t.need_capture()
    rustc = debian_toolchains.toolchain(t, "1.63").rustc
    run = t.capture([rustc, planted(t), *FLAGS, "-O", "-o", t.path("planted.rlib")], options=SAMPLES, exact=False)
    assert run.status == 0, run.stderr.decode()
    seen = Seen(t, run.trace)
    assert len(seen.samples) >= 50 and not seen.entries, len(seen.entries)
    (library,) = glob.glob(os.path.join(debian_toolchains.libraries("1.63"), "librustc_driver-*.so"))
    plan = t.run_qprof("plan", library)
    assert "passes and functions are not known in samples: PassManager::run()" in plan.stdout, plan.stdout[-400:]
