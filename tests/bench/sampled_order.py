# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Whether the queries that take most come in the true order if a budget leaves most of them to samples.

rustdoc documents a crate, and profiles itself while it is recorded with --budget. Self times of both
are summed over all runs. The first rows of rustc's profile have to be the first rows of ours, in the
same order; two rows whose times by samples differ by less than three standard errors may come in
either order.
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
SHOWN = 10


def document(t, options):
    """One run: rustc's own profile, and the report of our trace."""
    subprocess.run(["rm", "-rf", t.path("profile")], check=True)
    rustdoc = os.path.join(t.toolchain(options.toolchain).sysroot, "bin/rustdoc")
    argv = [rustdoc, *crates.arguments(options.crate, t.mkdir("out")),
            "-Zself-profile=" + t.mkdir("profile"), "-Zself-profile-events=" + EVENTS]
    run = t.capture(argv, ("-q", "-e", EVENTS, "--budget", options.budget),
                    {**BOOTSTRAP, "XDG_CACHE_HOME": t.mkdir("cache")})
    if run.status:
        sys.exit("sampled_order: rustdoc failed: %s" % run.stderr.decode()[-1000:])
    (profile,) = glob.glob(t.path("profile") + "/*.mm_profdata")
    return profile, t.report(run.trace)


class Sums:
    def __init__(self):
        self.truth, self.ours, self.variance = (collections.Counter() for _ in range(3))
        self.exact = collections.Counter()

    def add(self, profile, report):
        for label, row in summarize(Profile.read(profile))[0].items():
            self.truth[label] += row.own
        for row in report["queries"]:
            self.ours[row["name"]] += row["best_self_ns"]
            self.variance[row["name"]] += (row["best_self_error_ns"] or 0) ** 2
            self.exact[row["name"]] += row["count"] is not None

    def error(self, *names):
        return math.sqrt(sum(self.variance[name] for name in names))

    def are_equal(self, a, b):
        return abs(self.ours[a] - self.ours[b]) <= ERRORS * self.error(a, b)


def misplaced(sums, n):
    """Pairs of the first `n` true rows, or of one of them and a later one, in the wrong order."""
    order = sorted(sums.truth, key=sums.truth.get, reverse=True)
    for i, first in enumerate(order[:n]):
        for second in order[i + 1:]:
            if sums.ours[second] > sums.ours[first]:
                yield first, second


def print_table(sums, runs):
    order = sorted(sums.truth, key=sums.truth.get, reverse=True)
    ranks = {q: i + 1 for i, q in enumerate(sorted(sums.ours, key=sums.ours.get, reverse=True))}
    print("%-34s %9s %5s %9s %9s %s" % ("self time of, per run", "truth ms", "rank", "ours", "error",
                                        "probed"))
    for q in order[:SHOWN]:
        print("%-34s %9.2f %5s %9.2f %9.2f %s" % (
            q, sums.truth[q] / 1e6 / runs, ranks.get(q, "-"), sums.ours[q] / 1e6 / runs,
            sums.error(q) / 1e6 / runs, "%d of %d" % (sums.exact[q], runs)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build")
    parser.add_argument("--toolchain", default="stable")
    parser.add_argument("--crate", default=crates.LONG)
    parser.add_argument("--budget", default="5%")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--first", type=int, default=5)
    options = parser.parse_args()
    if lab.why_no_capture():
        sys.exit("sampled_order: " + lab.why_no_capture())
    sums = Sums()
    with lab.Lab(options.build) as t:
        for _ in range(options.runs):
            sums.add(*document(t, options))
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
