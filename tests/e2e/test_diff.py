# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Comparing two builds finds what got slower, and nothing else."""

import json

import crates
import lab

ABOVE = 1
NO_VERDICT = 125
HEAD = ["wall time", "CPU time", "peak memory", "self time", "executions"]

SOURCE = """
#![allow(long_running_const_eval)]
pub enum Shape { Circle(u32), Square(u32), Named { sides: Vec<u32> } }
pub fn areas(all: &[Shape]) -> Vec<u32> {
    all.iter().map(|s| match s {
        Shape::Circle(r) => r * 3,
        Shape::Square(a) => a * a,
        Shape::Named { sides } => sides.iter().sum(),
    }).collect()
}
const fn work(mut n: u32) -> u32 {
    let mut sum = 0u32;
    while n > 0 { sum = sum.wrapping_mul(31).wrapping_add(n); n -= 1; }
    sum
}
pub const SUM: u32 = work(%d);
"""


def record(t, name, steps):
    """Record one compile in which a constant takes this many steps."""
    out = t.mkdir("out")
    source = t.write("demo.rs", SOURCE % steps)
    t.record(
        [t.rustc, "--crate-name", "demo", "--crate-type", "lib", "--out-dir", out, source],
        trace=name,
    )
    return name


@lab.alone("times are compared")
def test_slow_function(t):
    """The slow crate and query come first, and the limit is exceeded; one trace per side suffices."""
    record(t, "base.qpt", 1)
    record(t, "new.qpt", 1_000_000)
    done = t.run_qprof("diff", "--fail-above", "5%", "--json", "base.qpt", "new.qpt")
    document = json.loads(done.stdout)
    # Some machines take a program's pages away while it is in one loop for a second, and all is slower then.
    noisy = done.returncode == NO_VERDICT and document["noise"]["percent"] > 50
    assert noisy or done.returncode == ABOVE, (done.returncode, done.stderr)
    first = document["rows"][0]
    assert (first["crate"], first["type"]) == ("demo", "lib"), first
    assert first["query"] == "eval_to_allocation_raw" and first["significant"], first
    assert document["noise"]["percent"] >= 5, document["noise"]
    assert noisy or document["gates"][0]["exceeded"], document["gates"]
    text = lab.alone_lines(t.run_qprof("diff", "base.qpt", "new.qpt").stdout)
    assert [line.split(":")[0] for line in text[:5]] == HEAD, text
    item, row = (next(i for i, line in enumerate(text) if line.endswith("  " + title)) + 1
                 for title in ("item", "crate/query"))
    assert item < row < 24 and text[item].endswith("demo::SUM"), text
    assert text[row].endswith("demo/eval_to_allocation_raw"), text
    assert document["items"][0]["item"] == "demo::SUM", document["items"][0]
    # A constant is one execution, however long its loop takes.
    done = t.run_qprof("diff", "--metric", "count", "--fail-above", "0%", "base.qpt", "new.qpt")
    assert done.returncode == 0, done.stdout
    return text[0]


@lab.alone("times are compared")
def test_identical_builds(t):
    """Nothing grew: neither times, of builds in alternation as the help advises, nor executions."""
    sides = {"base": [], "new": []}
    for turn in range(3):
        for side, names in sides.items():
            names.append(record(t, "%s%d.qpt" % (side, turn), 1))
    words = [",".join(names) for names in sides.values()]
    done = t.run_qprof("diff", "--fail-above", "5%", *words)
    assert done.returncode != ABOVE, done.stdout
    # On a machine that does much else, there may be too much noise to say so.
    assert done.returncode == 0 or "(there is too much noise)" in done.stdout \
        or "(it may be noise, which " in done.stdout, done.stdout
    for base, new in zip(sides["base"], sides["new"]):
        done = t.run_qprof("diff", "--metric", "count", "--fail-above", "0%", base, new)
        assert done.returncode == 0, done.stdout
        line = next(line for line in done.stdout.splitlines() if line.startswith("executions:"))
        assert "no change" in line, done.stdout


def test_numbers_are_those_of_the_report(t):
    """Executions, times and memory of the build and of its crate are the same in both."""
    record(t, "base.qpt", 1)
    whole = t.report("base.qpt")
    report, cost = whole["build"], whole["cost"]
    document = t.json("diff", "--json", "base.qpt", "base.qpt")
    (crate,), base = document["crates"], document["build"]["base"]
    (reported,) = report["crates"]
    assert crate["base"]["count"]["median"] == base["count"]["median"] == reported["executions"]
    assert base["wall_ns"]["median"] == report["wall_ns"]
    # A line says what recording added.
    assert base["in_compilers_ns"] == cost["in_compilers_ns"] > 0
    assert base["cpu_ns"]["median"] == report["cpu_ns"]
    assert crate["base"]["cpu_ns"]["median"] == reported["cpu_ns"]
    assert crate["base"]["peak_bytes"]["median"] == reported["peak_bytes"] > 0
    return "%d executions" % reported["executions"]


def test_recordings_that_cost_otherwise_are_compared(t):
    """One has samples, the other each execution: CPU times, counts and items are compared."""
    command = [t.rustc] + crates.arguments(crates.SHORT, t.mkdir("out"))
    for name, options in (("base.qpt", ()), ("new.qpt", ("--exact", "--no-sample"))):
        t.record(command, ("-q", *options), trace=name, exact=False)
    document = t.json("diff", "--json", "base.qpt", "new.qpt")
    build = document["build"]
    assert document["differences"][0] == "recording", document["differences"]
    beside = any(trace["other_recordings"] for trace in document["traces"])
    assert document["differences"][1:] == ["other_recordings"] * beside, document["differences"]
    assert {"cpu", "count", "results"} <= set(build["compared_metrics"]), build
    assert build["base"]["count"] == build["new"]["count"], build
    for name, side in (("base.qpt", "base"), ("new.qpt", "new")):
        cost = t.report(name)["cost"]
        assert build[side]["in_compilers_ns"] == cost["in_compilers_ns"] > 0, (build, cost)
    text = t.run_qprof("diff", "base.qpt", "new.qpt").stdout
    assert "and is taken out of CPU times\n" in text, text
    return "%d items" % len(document["items"])


def test_limits_on_what_a_build_took(t):
    """Memory needs one trace; wall time says that it needs more. The last line is the status."""
    record(t, "base.qpt", 1)
    for metric, limit, status in (("peak", "50%", 0), ("peak", "demo/*=1G", 0), ("count", "0%", 0),
                                  ("wall", "50%", NO_VERDICT)):
        done = t.run_qprof("diff", "--metric", metric, "--fail-above", limit, "base.qpt", "base.qpt")
        assert done.returncode == status, done
        assert done.stdout.splitlines()[-1].startswith("exit status %d: " % status), done.stdout
    done = t.run_qprof("diff", "--metric", "peak", "--fail-above", "typeck=5%", "base.qpt", "base.qpt")
    assert done.returncode == 2 and "no peak of memory" in done.stderr, done


def test_a_clean_build_and_an_incremental_one(t):
    """That is said first, and nothing passes or fails by it."""
    source = t.write("demo.rs", SOURCE % 1)
    command = [t.rustc, "--crate-name", "demo", "--crate-type", "lib", "-C",
               "incremental=" + t.mkdir("incremental"), "--out-dir", t.mkdir("out"), source]
    for name in ("clean.qpt", "again.qpt"):
        assert t.capture(command, trace=name).status == 0
        with open(source, "a") as f:
            f.write("pub fn more() {}\n")
    done = t.run_qprof("diff", "--fail-above", "5%", "clean.qpt", "again.qpt")
    assert done.returncode == NO_VERDICT, done
    first = lab.alone_lines(done.stdout)[0]
    assert first.startswith("different work: base is a clean build; in new 1 of 1 compiles "), first
    again = t.run_qprof("diff", "--metric", "count", "--fail-above", "5%", "again.qpt", "again.qpt")
    assert again.returncode == 0 and "different" not in again.stdout, again
