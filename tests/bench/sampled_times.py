# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The accuracy of self times of queries by samples, compared with rustc's own profile of the same runs.

Each compile is self-profiled and sampled at once, without probes. A sample counts for the innermost
query that its frames show, as rustc's profile of "query-provider" has no other intervals. Times are
summed over all runs; queries with 2 % or more of the truth are listed.

Rustc's times go on while a thread is off the CPU, samples do not. So shares are compared, all get a
high CPU priority, and the machine has to be idle: of another load, the truth holds most. Half the sum
of all differences of shares is the part that is counted wrongly. The error is the standard error of
the number of samples.
"""

import argparse
import collections
import glob
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../e2e"))

import crates  # noqa: E402
import lab  # noqa: E402
from mm_profdata import Profile, summarize  # noqa: E402
from times import add_compile_arguments  # noqa: E402

BOOTSTRAP = {"RUSTC_BOOTSTRAP": "1"}
LISTED, TARGET_EACH, TARGET_SUM, ERRORS = 0.02, 0.03, 0.03, 3
NONE = "(no query)"


def compile_once(t, options):
    argv = [t.toolchain(options.toolchain).rustc]
    argv += crates.arguments(options.crate, t.mkdir("out"), *options.flags)
    subprocess.run(["rm", "-rf", t.path("profile")], check=True)
    argv += ["-Zself-profile=" + t.mkdir("profile"), "-Zself-profile-events=query-provider"]
    trace = t.path("samples.qpt")
    subprocess.run(
        [t.qprof, "-q", "-e", "none", "--sample=%d" % options.hz, "--force",
         "-o", trace, "--", *argv], env=t.qprof_env(BOOTSTRAP), cwd=t.dir, check=True)
    (profile,) = glob.glob(t.path("profile") + "/*.mm_profdata")
    return profile, trace


def truth_of(profile):
    rows, _ = summarize(Profile.read(profile))
    return {label: row.own for label, row in rows.items() if row.count}


def samples_of(t, trace):
    """Number of samples, and their ns, by the innermost query."""
    parents, queries = {}, {}
    n, ns = collections.Counter(), collections.Counter()
    dump = t.run_qprof("dump", trace)
    assert dump.returncode == 0, dump.stderr
    for line in dump.stdout.splitlines():
        row = json.loads(line)
        if row.get("type") == "stack":
            parents[row["id"]] = row["parent"]
            queries[row["id"]] = row.get("query") if row.get("kind") == "Query" else None
        elif row.get("type") == "sample" and row["cause"] == "cpu":
            at = row["stack"]
            while at is not None and not queries[at]:
                at = parents[at]
            n[queries[at] if at is not None else NONE] += 1
            ns[queries[at] if at is not None else NONE] += row["value"]
    return n, ns


def print_table(truth, n, ns, runs):
    whole, sampled = sum(truth.values()), sum(v for q, v in ns.items() if q != NONE)
    good = listed = 0
    print("%-38s %9s %9s %7s %7s" % ("self time of, per compile", "truth ms", "ours ms", "share",
                                     "error"))
    for q in sorted(truth, key=truth.get, reverse=True):
        if truth[q] < LISTED * whole:
            break
        share = (ns[q] / sampled) / (truth[q] / whole)
        error = 1 / max(n[q], 1) ** 0.5
        fits = abs(share - 1) <= max(TARGET_EACH, ERRORS * error)
        listed += 1
        good += fits
        print("%-38s %9.2f %9.2f %7.3f %6.1f%%%s" % (
            q, truth[q] / 1e6 / runs, ns[q] / 1e6 / runs, share, 100 * error,
            "" if fits else "  too far"))
    wrong = sum(abs(truth.get(q, 0) / whole - ns[q] / sampled)
                for q in {*truth, *ns} - {NONE}) / 2
    print("all %43.2f %9.2f" % (whole / 1e6 / runs, sampled / 1e6 / runs))
    print("%d of %d within %.0f %% or %d standard errors" % (good, listed, 100 * TARGET_EACH, ERRORS))
    print("half the sum of differences of shares: %.1f %%, target %.0f %%" % (
        100 * wrong, 100 * TARGET_SUM))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_compile_arguments(parser)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--hz", type=int, default=999)
    options = parser.parse_args()
    if lab.why_no_capture():
        sys.exit("sampled_times: " + lab.why_no_capture())
    os.setpriority(os.PRIO_PROCESS, 0, -20)
    truth, n, ns = collections.Counter(), collections.Counter(), collections.Counter()
    with lab.Lab(options.build) as t:
        for _ in range(options.runs):
            profile, trace = compile_once(t, options)
            truth.update(truth_of(profile))
            for total, part in zip((n, ns), samples_of(t, trace)):
                total.update(part)
    print_table(truth, n, ns, options.runs)


if __name__ == "__main__":
    main()
