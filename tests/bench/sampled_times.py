# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The accuracy of self times of queries by samples, compared with rustc's own profile of the same runs.

Each compile is self-profiled and sampled at once, without probes. A sample counts for the innermost
query that its frames show, as rustc's profile of "query-provider" has no other intervals. A thread's
wait counts for the query in which it waited, as in the profile. In turns with them, compiles are
recorded by probes, exactly: their self times without what the probes took stand beside the others.
Times are summed over all runs; queries with 2 % or more of the truth are listed.

Waits below 50 us have no sample, and the profiler's own work is in the truth only. So shares are
compared, all get a high CPU priority, and the machine has to be idle. Half the sum of all differences
of shares is the part that is counted wrongly. The error is the standard error of the number of samples.
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

import lab  # noqa: E402
from compiles import MODES, Compile  # noqa: E402
from mm_profdata import Profile, summarize  # noqa: E402
from times import add_compile_arguments  # noqa: E402

BOOTSTRAP = {"RUSTC_BOOTSTRAP": "1"}
LISTED, TARGET_EACH, TARGET_SUM, ERRORS = 0.02, 0.03, 0.03, 3
NONE = "(no query)"


def record(t, trace, argv, *options):
    subprocess.run([t.qprof, "-q", *options, "--force", "-o", t.path(trace), "--", *argv],
                   env=t.qprof_env(BOOTSTRAP), cwd=t.dir, check=True)
    return t.path(trace)


def profiled(t, compile, hz):
    """Rustc's own profile of a compile, and the samples of it."""
    subprocess.run(["rm", "-rf", t.path("profile")], check=True)
    argv = compile.argv("sampled", None, "-Zself-profile=" + t.mkdir("profile"),
                        "-Zself-profile-events=query-provider")
    trace = record(t, "samples.qpt", argv, "-e", "none", "--sample=%d" % hz, "--off-cpu-stacks")
    (profile,) = glob.glob(t.path("profile") + "/*.mm_profdata")
    return profile, trace


def exact_of(t, compile):
    trace = record(t, "exact.qpt", compile.argv("exact"), "-e", "query-provider")
    return {row["name"]: row["self_ns"] for row in t.report(trace)["queries"]}


def truth_of(profile):
    rows, _ = summarize(Profile.read(profile))
    return {label: row.own for label, row in rows.items() if row.count}


def samples_of(t, trace):
    """Number of samples of the CPU, and ns of all, by the innermost query."""
    parents, queries = {}, {}
    n, ns = collections.Counter(), collections.Counter()
    dump = t.run_qprof("dump", trace)
    assert dump.returncode == 0, dump.stderr
    for line in dump.stdout.splitlines():
        row = json.loads(line)
        if row.get("type") == "stack":
            parents[row["id"]] = row["parent"]
            queries[row["id"]] = row.get("query") if row.get("kind") == "Query" else None
        elif row.get("type") == "sample":
            at = row["stack"]
            while at is not None and not queries[at]:
                at = parents[at]
            n[queries[at] if at is not None else NONE] += row["cause"] == "cpu"
            ns[queries[at] if at is not None else NONE] += row["value"]
    return n, ns


def wrong(truth, ours):
    """Half the sum of differences of shares."""
    whole, all_ours = sum(truth.values()), sum(ours.values())
    return sum(abs(truth.get(q, 0) / whole - ours.get(q, 0) / all_ours)
               for q in {*truth, *ours}) / 2


def print_table(truth, n, ns, exact, runs):
    whole, sampled, probed = (sum(times.values()) for times in (truth, ns, exact))
    good = listed = nearer = 0
    print("%-38s %9s %9s %7s %7s %9s %7s" % (
        "self time of, per compile", "truth ms", "sampled", "share", "error", "probed", "share"))
    for q in sorted(truth, key=truth.get, reverse=True):
        if truth[q] < LISTED * whole:
            break
        share, by_probes = ((times.get(q, 0) / total) / (truth[q] / whole)
                            for times, total in ((ns, sampled), (exact, probed)))
        error = 1 / max(n[q], 1) ** 0.5
        fits = abs(share - 1) <= max(TARGET_EACH, ERRORS * error)
        listed += 1
        good += fits
        nearer += abs(share - 1) < abs(by_probes - 1)
        print("%-38s %9.2f %9.2f %7.3f %6.1f%% %9.2f %7.3f%s" % (
            q, truth[q] / 1e6 / runs, ns[q] / 1e6 / runs, share, 100 * error,
            exact.get(q, 0) / 1e6 / runs, by_probes, "" if fits else "  too far"))
    print("all %44.2f %9.2f %25.2f" % tuple(x / 1e6 / runs for x in (whole, sampled, probed)))
    print("%d of %d within %.0f %% or %d standard errors; %d nearer than by probes" % (
        good, listed, 100 * TARGET_EACH, ERRORS, nearer))
    print("half the sum of differences of shares: %.1f %%, target %.0f %%; by probes %.1f %%" % (
        100 * wrong(truth, ns), 100 * TARGET_SUM, 100 * wrong(truth, exact)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_compile_arguments(parser)
    parser.add_argument("--mode", default="debug", choices=list(MODES))
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--hz", type=int, default=999)
    options = parser.parse_args()
    if lab.why_no_capture():
        sys.exit("sampled_times: " + lab.why_no_capture())
    os.setpriority(os.PRIO_PROCESS, 0, -20)
    truth, n, ns, exact = (collections.Counter() for _ in range(4))
    with lab.Lab(options.build) as t:
        compile = Compile(t, t.toolchain(options.toolchain), options.crate, options.mode)
        exact_of(t, compile)  # warms caches
        for _ in range(options.runs):
            profile, trace = profiled(t, compile, options.hz)
            truth.update(truth_of(profile))
            for total, part in zip((n, ns), samples_of(t, trace)):
                total.update(part)
            exact.update(exact_of(t, compile))
    del ns[NONE]
    print_table(truth, n, ns, exact, options.runs)


if __name__ == "__main__":
    main()
