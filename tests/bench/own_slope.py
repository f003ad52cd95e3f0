# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Our own CPU time for each second of a compile's, without set-up and end: the difference between a
short compile and a long one. The long one has the sources of regex-syntax many times, in modules."""

import os
import re
import shutil
import statistics

import crates
import overhead
import targets

CRATE = "regex-syntax"
# Some 2 s and 60 s of CPU time.
COPIES = (1, 25)
MOST_PERCENT = 1
ROUNDS = 3  # at most; they take minutes


def write_copies(t, n):
    """The path of a crate root with `n` copies of the crate."""
    root = t.mkdir("copies-%d" % n)
    for i in range(n):
        name = "copy%d" % i
        shutil.copytree(os.path.dirname(crates.source(CRATE)), os.path.join(root, name))
        os.rename(os.path.join(root, name, "lib.rs"), os.path.join(root, name, "mod.rs"))
        for directory, _, files in os.walk(os.path.join(root, name)):
            for file in files:
                rename_root(os.path.join(directory, file), name)
    path = os.path.join(root, "lib.rs")
    with open(path, "w") as f:
        f.writelines("pub mod copy%d;\n" % i for i in range(n))
    return path


def rename_root(path, module):
    with open(path) as f:
        text = f.read()
    with open(path, "w") as f:
        f.write(re.sub(r"\bcrate::", "crate::%s::" % module, text))


def measure(bench, rounds):
    """Print a table; returns the target rows."""
    samples = {}
    for n in COPIES:
        argv = [bench.rustc, *crates.arguments(CRATE, bench.t.mkdir("out"),
                                               at=write_copies(bench.t, n))]
        bench.run_command(overhead.OURS, argv)  # warms caches
        samples[n] = [bench.run_command(overhead.OURS, argv) for _ in range(min(rounds, ROUNDS))]
    short, long = (samples[n] for n in COPIES)
    slopes = [100 * (b.own_cpu - a.own_cpu) / (b.compile_cpu - a.compile_cpu)
              for a, b in zip(short, long)]
    print("own CPU time beside a compile's; %d rounds" % len(short))
    targets.print_columns(
        [("", "compile, CPU", "own CPU")] +
        [("%s, %d times" % (CRATE, n), "%.2f s" % overhead.median(samples[n], "compile_cpu"),
          "%.3f s" % overhead.median(samples[n], "own_cpu")) for n in COPIES])
    print("more for each second: %.2f %% [%.2f-%.2f]\n" % (
        statistics.median(slopes), min(slopes), max(slopes)))
    return [targets.Row("own CPU time, of a compile's", statistics.median(slopes), "%",
                        most=MOST_PERCENT)]
