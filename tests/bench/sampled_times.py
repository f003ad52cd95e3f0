# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The accuracy of self times of queries by samples, compared with rustc's own profile of the same runs.

Each compile is self-profiled and sampled at once, without probes. A sample counts for the innermost
query that its frames show, as rustc's profile of "query-provider" has no other intervals. A thread's
wait counts for the query in which it waited, as in the profile. In turns with them, compiles are
recorded by probes, exactly: their self times without what the probes took stand beside the others.
Times are summed over all runs; queries with 2 % or more of the truth are listed.

With --items, the truth has rustc's keys too, and the recording is a default one: times are those of
a query about one item, as the job of each sample says.

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
from equality import plan_of  # noqa: E402
from keys import MEMORY, PATHS, path_of, within  # noqa: E402
from mm_profdata import SEPARATOR, UNKNOWN, Profile, summarize  # noqa: E402
from times import add_compile_arguments, raise_priority  # noqa: E402

BOOTSTRAP = {"RUSTC_BOOTSTRAP": "1"}
LISTED, TARGET_EACH, TARGET_SUM, ERRORS = 0.02, 0.03, 0.03, 3
NONE = "(no query)"


def record(t, trace, argv, *options):
    subprocess.run([t.qprof, "-q", *options, "--force", "-o", t.path(trace), "--", *argv],
                   env=t.qprof_env(BOOTSTRAP), cwd=t.dir, check=True)
    return t.path(trace)


def profiled(t, compile, hz, events="query-provider", ours=("-e", "none")):
    """Rustc's own profile of a compile, and the samples of it."""
    subprocess.run(["rm", "-rf", t.path("profile")], check=True)
    argv = compile.argv("sampled", None, "-Zself-profile=" + t.mkdir("profile"),
                        "-Zself-profile-events=" + events)
    trace = record(t, "samples.qpt", argv, *ours, "--sample=%d" % hz, "--off-cpu-stacks")
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


class Items:
    """Times by query and item: "QUERY ITEM", or the query alone if its key is no item's."""

    def __init__(self, compile):
        self.types = {q["name"]: q["key_type"] if q["key"] == MEMORY else None
                      for q in plan_of(compile)["queries"] if q["key"] in (MEMORY, *PATHS)}

    def named(self, query, key):
        if query not in self.types or not key:
            return query
        of = self.types[query]
        return query + " " + (within(of, key) if of else path_of(key))

    def truth_of(self, path):
        """What rustc executes to print its keys has no name in its profile."""
        profile = Profile.read(path)
        own, names = collections.Counter(), {}
        for events in profile.by_thread().values():
            stack = []
            for event in reversed(events):
                while stack and not (stack[-1].start_ns <= event.start_ns
                                     and event.end_ns <= stack[-1].end_ns):
                    stack.pop()
                length = event.end_ns - event.start_ns
                if stack:
                    own[stack[-1].invocation] -= length
                own[event.invocation] += length
                stack.append(event)
        for id in own:
            query, *key = profile.text(id).split(SEPARATOR)
            names[id] = self.named(query, key[0] if key else "")
        times = collections.Counter()
        for id, ns in own.items():
            times[names[id]] += ns
        del times[UNKNOWN]
        return times

    @staticmethod
    def samples_of(t, trace):
        jobs = {}
        n, ns = collections.Counter(), collections.Counter()
        for line in t.run_qprof("dump", trace).stdout.splitlines():
            row = json.loads(line)
            if row.get("type") == "job":
                jobs[row["id"]] = " ".join(filter(None, (row["query"], row["event"])))
            elif row.get("type") == "sample":
                name = jobs.get(row.get("job"), NONE)
                n[name] += row["cause"] == "cpu"
                ns[name] += row["value"]
        return n, ns


def wrong(truth, ours):
    """Half the sum of differences of shares."""
    whole, all_ours = sum(truth.values()), sum(ours.values())
    return sum(abs(truth.get(q, 0) / whole - ours.get(q, 0) / all_ours)
               for q in {*truth, *ours}) / 2


def print_table(truth, n, ns, exact, runs):
    whole, sampled, probed = (sum(times.values()) for times in (truth, ns, exact))
    good = listed = nearer = 0
    print("%-38s %9s %9s %7s %7s" % (
        "self time of, per compile", "truth ms", "sampled", "share", "error") +
          (" %9s %7s" % ("probed", "share") if exact else ""))
    for q in sorted(truth, key=truth.get, reverse=True):
        if truth[q] < LISTED * whole:
            break
        share, by_probes = ((times.get(q, 0) / max(total, 1)) / (truth[q] / whole)
                            for times, total in ((ns, sampled), (exact, probed)))
        error = 1 / max(n[q], 1) ** 0.5
        fits = abs(share - 1) <= max(TARGET_EACH, ERRORS * error)
        listed += 1
        good += fits
        nearer += abs(share - 1) < abs(by_probes - 1)
        print("%-38s %9.2f %9.2f %7.3f %6.1f%%" % (
            q, truth[q] / 1e6 / runs, ns[q] / 1e6 / runs, share, 100 * error) +
              (" %9.2f %7.3f" % (exact.get(q, 0) / 1e6 / runs, by_probes) if exact else "") +
              ("" if fits else "  too far"))
    print("all %44.2f %9.2f" % (whole / 1e6 / runs, sampled / 1e6 / runs) +
          (" %25.2f" % (probed / 1e6 / runs) if exact else ""))
    print("%d of %d within %.0f %% or %d standard errors" % (
        good, listed, 100 * TARGET_EACH, ERRORS) +
          ("; %d nearer than by probes" % nearer if exact else ""))
    print("half the sum of differences of shares: %.1f %%, target %.0f %%" % (
        100 * wrong(truth, ns), 100 * TARGET_SUM) +
          ("; by probes %.1f %%" % (100 * wrong(truth, exact)) if exact else ""))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_compile_arguments(parser)
    parser.add_argument("--mode", default="debug", choices=list(MODES))
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--hz", type=int, default=999)
    parser.add_argument("--items", action="store_true", help="by query and item")
    options = parser.parse_args()
    if lab.why_no_capture():
        sys.exit("sampled_times: " + lab.why_no_capture())
    raise_priority()
    truth, n, ns, exact = (collections.Counter() for _ in range(4))
    with lab.Lab(options.build) as t:
        compile = Compile(t, t.toolchain(options.toolchain), options.crate, options.mode)
        exact_of(t, compile)  # warms caches
        items = Items(compile) if options.items else None
        for _ in range(options.runs):
            if items:
                profile, trace = profiled(t, compile, options.hz, "query-provider,query-keys", ())
                truth.update(items.truth_of(profile))
                parts = items.samples_of(t, trace)
            else:
                profile, trace = profiled(t, compile, options.hz)
                truth.update(truth_of(profile))
                parts = samples_of(t, trace)
                exact.update(exact_of(t, compile))
            for total, part in zip((n, ns), parts):
                total.update(part)
    del ns[NONE]
    print_table(truth, n, ns, exact, options.runs)


if __name__ == "__main__":
    main()
