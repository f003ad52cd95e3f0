# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Samples know the execution that a thread is in, and what it is about, without a probe in it."""

import bisect
import collections
import json

import crates
from lab import each

# A probe reports its interval from its own hit on, and the compiler enters its job a little later:
# between the two, a trap of microseconds, they say different things.
SAME = 0.97


class Jobs:
    """The samples of the CPU in a trace, with their jobs, and the executions that probes saw."""

    def __init__(self, t, trace):
        done = t.run_qprof("dump", trace)
        assert done.returncode == 0, done.stderr
        self.jobs, self.samples, spans = {}, [], collections.defaultdict(list)
        for line in done.stdout.splitlines():
            row = json.loads(line)
            if row.get("type") == "job":
                self.jobs[row["id"]] = row
            elif row.get("type") == "span" and row["kind"] == "Query":
                spans[row["tid"]].append(row)
            elif row.get("type") == "sample" and row["cause"] == "cpu":
                self.samples.append(row)
        self.spans = {tid: sorted(rows, key=lambda s: s["start_ns"]) for tid, rows in spans.items()}
        self.starts = {tid: [s["start_ns"] for s in rows] for tid, rows in self.spans.items()}

    def innermost(self, sample):
        """The execution that the thread was in by its probes."""
        rows = self.spans.get(sample["tid"], [])
        at = bisect.bisect_right(self.starts.get(sample["tid"], []), sample["time_ns"])
        return next((s for s in reversed(rows[:at]) if s["end_ns"] >= sample["time_ns"]), None)

    def compare(self):
        n, others = collections.Counter(), collections.Counter()
        for sample in self.samples:
            # In the trap of a probe nothing is known of the moment.
            if "query" not in sample:
                continue
            # Nor where the unwind tables of a library are not there yet.
            if sample["cut"] == "no_map":
                continue
            span, job = self.innermost(sample), self.jobs.get(sample.get("job"))
            if not span or not job:
                n["unknown" if span else "no execution"] += 1
            elif job["query"] != span["query"]:
                n["another query"] += 1
                others[job["query"], span["query"]] += 1
            else:
                # An execution about nothing, or an unknown key, is about no item.
                theirs = "" if span.get("event") in (None, "()") else span["event"]
                n["same" if (job["event"] or "") == theirs else "another item"] += 1
        return n, others


def compile_argv(t, *flags):
    return [t.rustc, *crates.arguments("regex-syntax", t.mkdir("out"), *flags)]


@each(("stable",), ("nightly",), ("threads",))
def test_jobs_are_those_that_probes_see(t, how):
    t.need_capture()
    argv = compile_argv(t, "--emit=metadata", *(["-Zthreads=4"] if how == "threads" else []))
    if how == "nightly":
        argv[0] = t.toolchain("nightly").rustc
    env = {"RUSTC_BOOTSTRAP": "1"} if how == "threads" else None
    done = t.capture(argv, options=("-q", "--sample=1999"), env=env)
    assert done.status == 0, done.stderr.decode()
    n, others = Jobs(t, done.trace).compare()
    compared = sum(n.values()) - n["no execution"]
    assert compared >= 100, n
    assert n["same"] >= SAME * compared, (n, others)
    assert n["another item"] <= 0.005 * compared, (n, others)
    assert n["unknown"] <= 0.005 * compared, (n, others)
    return "%s: %s" % (how, dict(n))


# Two loops that the interpreter of constants runs, one three times as long.
PLANTED = """
pub const fn count(n: u32) -> u32 { let mut i = 0; while i < n { i += 1 } i }
#[allow(long_running_const_eval)]
pub mod here {
    pub const LONG: u32 = super::count(3_000_000);
    pub const SHORT: u32 = super::count(1_000_000);
}
"""


def record_planted(t, *options):
    argv = [t.rustc, "--edition=2021", "--crate-type=lib", "--crate-name=planted", "--emit=metadata",
            "--out-dir", t.mkdir("out"), t.write("planted.rs", PLANTED)]
    done = t.capture(argv, options=("-q", "-e", "default,-query-provider", "--sample=999", *options),
                     exact=False)
    assert done.status == 0, done.stderr.decode()
    return done


def test_items_have_times_without_a_probe_in_a_query(t):
    t.need_capture()
    done = record_planted(t)
    report = json.loads(t.run_qprof("report", "--by", "item", "--json", done.trace).stdout)
    first, second = report["items"][:2]
    assert (first["name"], second["name"]) == ("planted::here::LONG", "planted::here::SHORT"), report["items"][:5]
    assert 2 < first["self_ns"] / second["self_ns"] < 4.5, (first, second)
    assert first["queries"][0]["name"] == "eval_to_allocation_raw", first
    assert first["file"].endswith("planted.rs") and first["line"] == 5, first
    return "%s %.2f s, %s %.2f s" % (first["name"], first["self_ns"] / 1e9,
                                     second["name"], second["self_ns"] / 1e9)


def test_without_keys_no_item_is_named(t):
    t.need_capture()
    done = record_planted(t, "--no-keys")
    assert not any(j["event"] for j in Jobs(t, done.trace).jobs.values())
    refused = t.run_qprof("report", "--by", "item", done.trace)
    assert refused.returncode == 125 and "--no-keys" in refused.stderr, refused
