# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Comparing two builds finds what got slower, and nothing else."""

import json

import lab

ABOVE = 1

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
    done = t.capture(
        [t.rustc, "--crate-name", "demo", "--crate-type", "lib", "--out-dir", out, source],
        trace=name,
    )
    assert done.status == 0, done.stderr
    return name


@lab.alone("times are compared")
def test_slow_function(t):
    """The slow crate and query come first, and the limit is exceeded; one trace per side suffices."""
    record(t, "base.qpt", 1)
    record(t, "new.qpt", 1_000_000)
    done = t.run_qprof("diff", "--fail-above", "5%", "--json", "base.qpt", "new.qpt")
    assert done.returncode == ABOVE, (done.returncode, done.stderr)
    document = json.loads(done.stdout)
    first = document["rows"][0]
    assert (first["crate"], first["type"]) == ("demo", "lib"), first
    assert first["query"] == "eval_to_allocation_raw" and first["significant"], first
    assert document["noise"]["percent"] >= 5 and document["gates"][0]["exceeded"], document["gates"]
    text = t.run_qprof("diff", "base.qpt", "new.qpt").stdout.splitlines()
    assert text[3].endswith("demo/eval_to_allocation_raw"), text
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
    assert done.returncode == 0, done.stdout
    for base, new in zip(sides["base"], sides["new"]):
        done = t.run_qprof("diff", "--metric", "count", "--fail-above", "0%", base, new)
        assert done.returncode == 0, done.stdout
        assert "no change" in done.stdout.splitlines()[0], done.stdout
