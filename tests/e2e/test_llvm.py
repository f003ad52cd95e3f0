# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Samples know which pass of LLVM a thread is in, and on which function it works."""

import collections
import glob
import json
import os

import crates
import debian_toolchains
import time_trace
from compiles import BOOTSTRAP
from lab import Skip, each

# One function that takes most of the compile, a generic with several instances, and small ones.
STEPS = 600
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
        rows = t.dumped(trace)
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


@each(("stable", "debug"), ("stable", "release"), ("nightly", "release"), ("1.96", "release"), ("1.85", "debug"))
def test_samples_have_passes_and_functions(t, compiler, how):
    t.need_capture()
    rustc = (debian_toolchains.toolchain(t, compiler) if compiler[0] == "1" else t.toolchain(compiler)).rustc
    argv = [rustc, planted(t), *FLAGS, *(["-O"] if how == "release" else []), "-o", t.path("planted.rlib")]
    run = t.record(argv, options=SAMPLES, exact=False)
    seen = Seen(t, run.trace)
    told = seen.assert_known()
    assert is_huge(seen.functions.most_common(1)[0][0]), seen.functions.most_common(3)
    assert any("DAGToDAGISel" in (p or "") for p in seen.passes), seen.passes
    if how == "release":
        assert seen.passes["InstCombinePass"], seen.passes
    assert {e["scope"] for e in seen.entries} <= {"function", "scc", "module", "none"}
    in_components = [e for e in seen.entries if e["scope"] == "scc"]
    assert all(e["pass"] == "ModuleToPostOrderCGSCCPassAdaptor" for e in in_components), in_components
    if how == "release":
        # A pass may be replacing the function, and pass managers do something in between.
        n = sum(1 for e in in_components if e["function"])
        assert n >= 0.5 * seen.passes["ModuleToPostOrderCGSCCPassAdaptor"], (n, seen.passes)
        told += ", %d have the first of a component" % n
    return told


def test_samples_beside_probes_have_them_too(t):
    argv = [t.rustc, planted(t), *FLAGS, "-O", "-o", t.path("planted.rlib")]
    run = t.record(argv, options=("-q", "--sample=1999"))
    seen = Seen(t, run.trace)
    told = seen.assert_known()
    assert is_huge(seen.functions.most_common(1)[0][0]), seen.functions.most_common(3)
    return told


@each(("-g",), ("-O", "-Ccodegen-units=1"), ("-O", "-g", "-Ccodegen-units=16"))
def test_functions_have_the_time_of_llvms_own_trace(t, *flags):
    """In one process; docs/llvm.md has more ways to compile."""
    t.need_capture()
    source = crates.source("semver")
    arguments = ("--crate-name=semver", "--crate-type=lib", "--edition=2018", "--cap-lints=allow",
                 "-Cembed-bitcode=no", *flags, source)
    # Where the machine takes its CPUs away between two clocks, these seem apart.
    for attempt in range(3):
        try:
            return time_trace.recorded(t, t.rustc, arguments, BOOTSTRAP,
                                       "compared%d" % attempt).assert_alike()
        except AssertionError:
            if attempt == 2:
                raise


def test_a_compiler_whose_llvm_is_not_understood_has_none(t):
    """LLVM 14 of Debian's 1.63 makes no entries for the optimiser: nothing is said."""
    t.need_capture()
    rustc = debian_toolchains.toolchain(t, "1.63").rustc
    run = t.record([rustc, planted(t), *FLAGS, "-O", "-o", t.path("planted.rlib")], options=SAMPLES, exact=False)
    seen = Seen(t, run.trace)
    assert len(seen.samples) >= 50 and not seen.entries, len(seen.entries)
    (library,) = glob.glob(os.path.join(debian_toolchains.libraries("1.63"), "librustc_driver-*.so"))
    plan = t.run_qprof("plan", library)
    assert "passes and functions are not known in samples: PassManager::run()" in plan.stdout, plan.stdout[-400:]
    why = "libLLVM-14.so: PassManager::run() makes no entry that is understood"
    for options in ((), ("--by", "generic"), ("--by", "pass"), ("--markdown",)):
        assert said_why(t, run.trace, *options) == why, options
    assert json.loads(report(t, run.trace, "--json"))["llvm"]["why_unknown"] == why


def report(t, trace, *options):
    return t.text("report", *options, trace)


def said_why(t, trace, *options):
    """The reason that a report has, on a line or wrapped."""
    lines = report(t, trace, *options).splitlines()
    (first,) = [i for i, line in enumerate(lines) if "passes and functions are not known:" in line]
    said = [lines[first].partition("not known:")[2].strip()]
    for line in lines[first + 1:]:
        if not line.startswith("      "):
            break
        said.append(line.strip())
    return " ".join(said).strip()


# Its constructor works, and then rustc finds nothing in it.
BACKEND = """
#include <time.h>
__attribute__((constructor)) static void work(void)
{
	while (clock() < CLOCKS_PER_SEC)
		;
}
"""


def test_another_code_generator_is_named(t):
    """rustc loads a code generator by its name."""
    t.need_capture()
    name = "librustc_codegen_cranelift-1.so"
    built = t.plain(["cc", "-O1", "-shared", "-fPIC", "-o", t.path(name), t.write("work.c", BACKEND)])
    if built.status:
        raise Skip("no C compiler")
    argv = [t.rustc, planted(t), "--crate-type=lib", "-Zcodegen-backend=" + t.path(name)]
    run = t.capture(argv, options=SAMPLES, env=BOOTSTRAP, exact=False)
    assert run.status == 1, run.stderr.decode()
    why = name + " generates code, not LLVM"
    for options in ((), ("--by", "generic"), ("--markdown",)):
        assert said_why(t, run.trace, *options) == why, options
    assert json.loads(report(t, run.trace, "--json"))["llvm"]["why_unknown"] == why
