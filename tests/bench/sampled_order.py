# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Whether the queries that take most come in the true order by samples.

rustdoc documents a crate and profiles itself, in turns alone and while it is recorded.
The profile of the runs alone is the truth. A profile is of wall-clock time, so nothing else may take
the CPU from these runs: they have a real-time priority. The profile of a recorded run would hold our
traps too, within some queries and not in others.

The first rows of the truth have to be the first rows of ours, in the same order; two rows may come
in either order if they differ by less than three standard errors, in the truth or in ours.
"""

import argparse
import collections
import glob
import math
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../e2e"))

import crates  # noqa: E402
import lab  # noqa: E402
from mm_profdata import Profile, summarize  # noqa: E402

BOOTSTRAP = {"RUSTC_BOOTSTRAP": "1"}
EVENTS = "query-provider"
ERRORS = 3
SHOWN = 12


def arguments(t, options):
    subprocess.run(["rm", "-rf", t.path("profile")], check=True)
    rustdoc = os.path.join(t.toolchain(options.toolchain).sysroot, "bin/rustdoc")
    return [rustdoc, *crates.arguments(options.crate, t.mkdir("out")),
            "-Zself-profile=" + t.mkdir("profile"), "-Zself-profile-events=" + EVENTS]


def undisturbed():
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))


def profile(t, options):
    """Self times of a run alone, in ns."""
    subprocess.run(arguments(t, options), check=True, cwd=t.dir, env={**os.environ, **BOOTSTRAP},
                   preexec_fn=undisturbed)
    (path,) = glob.glob(t.path("profile") + "/*.mm_profdata")
    return {label: row.own for label, row in summarize(Profile.read(path))[0].items()}


def record(t, options):
    """The report of a recorded run, which profiles itself too, as that is work of its own."""
    run = t.capture(arguments(t, options), ("-q",), BOOTSTRAP, exact=False)
    if run.status:
        sys.exit("sampled_order: rustdoc failed: %s" % run.stderr.decode()[-1000:])
    return t.report(run.trace)


class Sums:
    def __init__(self):
        self.truths = []
        self.ours, self.variance, self.exact = (collections.Counter() for _ in range(3))

    def add(self, truth, report):
        self.truths.append(truth)
        for row in report["queries"]:
            self.ours[row["name"]] += row["best_self_ns"]
            self.variance[row["name"]] += (row["best_self_error_ns"] or 0) ** 2
            self.exact[row["name"]] += row["count"] is not None

    def truth(self, name):
        return sum(truth.get(name, 0) for truth in self.truths)

    def error(self, *names):
        """Of our time of a query, or of a difference."""
        return math.sqrt(sum(self.variance[name] for name in names))

    def error_of_truth(self, a, b=None):
        """The same of the true time, by how much the runs differ."""
        each = [truth.get(a, 0) - truth.get(b, 0) for truth in self.truths]
        mean = sum(each) / len(each)
        return math.sqrt(sum((x - mean) ** 2 for x in each) * len(each) / max(1, len(each) - 1))

    def order(self):
        return sorted(set().union(*self.truths), key=self.truth, reverse=True)

    def are_equal(self, a, b):
        return (abs(self.ours[a] - self.ours[b]) <= ERRORS * self.error(a, b) or
                abs(self.truth(a) - self.truth(b)) <= ERRORS * self.error_of_truth(a, b))


def misplaced(sums, n):
    """Pairs of the first `n` true rows, or of one of them and a later one, in the wrong order."""
    order = sums.order()
    for i, first in enumerate(order[:n]):
        for second in order[i + 1:]:
            if sums.ours[second] > sums.ours[first]:
                yield first, second


def print_table(sums, runs):
    ranks = {q: i + 1 for i, q in enumerate(sorted(sums.ours, key=sums.ours.get, reverse=True))}
    print("%-34s %9s %9s %5s %9s %9s %s" % ("self time of, per run", "truth ms", "error", "rank",
                                            "ours", "error", "probed"))
    for q in sums.order()[:SHOWN]:
        print("%-34s %9.2f %9.2f %5s %9.2f %9.2f %s" % (
            q, sums.truth(q) / 1e6 / runs, sums.error_of_truth(q) / 1e6 / runs, ranks.get(q, "-"),
            sums.ours[q] / 1e6 / runs, sums.error(q) / 1e6 / runs,
            "%d of %d" % (sums.exact[q], runs)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build")
    parser.add_argument("--toolchain", default="stable")
    parser.add_argument("--crate", default=crates.LONG)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--first", type=int, default=5)
    options = parser.parse_args()
    if lab.why_no_capture():
        sys.exit("sampled_order: " + lab.why_no_capture())
    sums = Sums()
    with lab.Lab(options.build) as t:
        for _ in range(options.runs):
            sums.add(profile(t, options), record(t, options))
    print_table(sums, options.runs)
    wrong = list(misplaced(sums, options.first))
    bad = [pair for pair in wrong if not sums.are_equal(*pair)]
    for pair in wrong:
        print("%s before %s%s" % (pair[1], pair[0], "" if pair in bad else
                                  ": within %d standard errors" % ERRORS))
    print("the first %d are %s" % (options.first, "in another order" if bad else
                                   "in the true order, but for rows within errors" if wrong else
                                   "in the true order"))
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
