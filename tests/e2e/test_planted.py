# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Something slow is planted in a workspace: it is the first line of its table."""

import re

import explained
import workspace

MACRO_MS, INSTANCES = 400, 300

# A loop at compile time, in the type of a function.
FUNCTION = """
const fn count(n: u64) -> u64 { let mut i = 0; while i < n { i = i.wrapping_add(1); } i }
pub mod slow { pub fn planted(_: [u8; super::count(300_000) as usize % 7]) {} }
"""

SLOW = ("base::slow::planted", "base::slow::planted::{{constant}}")

MACRO = """
#[proc_macro_derive(Planted)] pub fn planted(_: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let begin = std::time::Instant::now();
    while begin.elapsed() < std::time::Duration::from_millis(%d) {}
    proc_macro::TokenStream::new()
}
""" % MACRO_MS

GENERIC = """
#[derive(derived::Planted)] pub struct Derived;
pub fn huge<const N: usize>(from: &[u64]) -> u64 {
    let mut sum = 0;
    for (i, n) in from.iter().enumerate() { sum += n.wrapping_mul((i + N) as u64); }
    sum
}
pub fn all(from: &[u64]) -> u64 { %s }
""" % " + ".join("huge::<%d>(from)" % n for n in range(INSTANCES))

PLANTED = {
    "base/src/lib.rs": "#![allow(long_running_const_eval)]\n" + workspace.BASE + FUNCTION,
    "derived/src/lib.rs": workspace.FILES["derived/src/lib.rs"] + MACRO,
    "both/src/lib.rs": workspace.FILES["both/src/lib.rs"] + GENERIC,
}


def built(t):
    """The trace of a build of the workspace."""
    def record():
        top = workspace.make(t, more=PLANTED)
        argv, env = workspace.cargo(t, "build", "-j2")
        return t.record(argv, ("-q",), env=env, cwd=top).trace

    t.need_capture()
    return t.shared("planted.qpt", record)


def first(t, trace, *options):
    """The first row of a table of items: in the JSON, and as its line has it."""
    row = next(row for row in t.json("report", *options, "--json", trace)["items"] if row["name"] is not None)
    done = t.run_qprof("report", *options, "--wide", trace)
    lines = done.stdout[done.stdout.index("cpu %"):].splitlines()[1:]
    line = next(line for line in lines if not line.endswith("(no item)"))
    return row, line


def test_a_slow_function(t):
    row, line = first(t, built(t), "--by", "item")
    assert row["name"] in SLOW and row["name"] in line, (row, line)
    assert row["queries"][0]["name"].startswith("eval_"), row
    return line


def test_a_slow_function_in_the_report_of_the_build(t):
    """Its table of items has definitions of the workspace, the slowest first."""
    done = t.run_qprof("report", built(t))
    lines = done.stdout.splitlines()
    table = next(i for i, line in enumerate(lines) if line.startswith("item "))
    items = t.json("report", "--json", built(t))["build"]["items"]
    assert items[0]["name"] in SLOW and items[0]["file"] == "base/src/lib.rs", items[:3]
    assert "base/src/lib.rs:%d" % items[0]["line"] in lines[table + 1], done.stdout
    crates = {row["name"].split("::")[0] for row in items}
    assert crates <= {"base", "made", "derived", "both", "app", "build_script_build"}, crates
    return lines[table + 1]


def test_slow_names_it_once(t):
    """The innermost interval has a line, and none that is around it and as long.

    There are two slow ones, as an item has a name only while its compiler runs."""
    text = "#![allow(long_running_const_eval)]\n" + FUNCTION
    text += "pub mod too { pub fn planted(_: [u8; super::count(300_001) as usize % 7]) {} }\n"
    run = t.record([t.rustc, "--crate-name=base", "--crate-type=lib", "--emit=metadata",
                    "--out-dir", t.mkdir("out"), t.write("base.rs", text)],
                   ("-q", "--exact", "--no-sample", "--slow", "100ms"))
    lines = run.stderr.decode().splitlines()
    planted = [line for line in lines if "slow: eval_to_allocation_raw" in line]
    assert len(planted) == 2 and any("_raw(base::" in line for line in planted), lines
    spans = t.spans(run.trace)
    inner = max((s for s in spans if s["query"] == "eval_to_allocation_raw"),
                key=lambda s: s["end_ns"] - s["start_ns"])
    around = [s for s in spans if s["tid"] == inner["tid"] and s["depth"] < inner["depth"] and
              s["start_ns"] <= inner["start_ns"] and s["end_ns"] >= inner["end_ns"]]
    assert len(around) > 5, around
    named = [re.search(r"slow: ([^\s(]+)", line).group(1) for line in lines]
    assert sorted(named) == sorted(explained.names(spans, 100_000_000)), (named, lines)
    return "%s; of %d around it %d" % (planted[0], len(around), len(named) - 2)


def test_a_slow_macro(t):
    row = t.json("report", "--by", "macro", "--json", built(t))["macros"][0]
    assert "Planted" in row["name"] and row["expansions"] == 1, row
    assert row["total_ns"] >= MACRO_MS * 1e6 and row["crates"][0]["name"] == "both", row
    lines = t.run_qprof("report", "--by", "macro", built(t)).stdout.splitlines()
    table = next(i for i, line in enumerate(lines) if line.endswith("macro"))
    assert lines[table + 1].endswith("#[derive(derived::Planted)]"), lines
    return lines[table + 1]


def test_a_huge_generic(t):
    row, line = first(t, built(t), "--by", "item", "--sort", "instances")
    assert row["name"] == "both::huge" and row["name"] in line, (row, line)
    assert row["instances"] == INSTANCES, row
    return line
