# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A history of real compiles: `trend` finds the commit that made them do more."""

import json

COMMITS, CHANGED = 6, 4  # the first commit with more to compile


def commit(i):
    return "%02x" % i * 20


def history(t):
    """The numbers of a crate that gets a hundred functions more at one commit."""
    store = t.path("history.db")
    for i in range(COMMITS):
        n = 120 if i >= CHANGED else 20
        source = t.write("lib.rs", "".join("pub fn f%d(n: u32) -> u32 { n + %d }\n" % (k, k) for k in range(n)))
        trace = t.capture([t.rustc, "--crate-type", "lib", "--crate-name", "grows", "--emit", "metadata",
                           "--out-dir", t.dir, source]).trace
        done = t.run_qprof("history", "add", "--store", store, "--commit", commit(i), "--branch", "main", trace)
        assert done.returncode == 0 and not done.stdout, done
    return store


def test_the_commit_that_changed_something_is_found(t):
    t.need_capture()
    store, question = history(t), ("--query", "typeck", "--metric", "count")
    listed = json.loads(t.run_qprof("history", "list", "--json", "--store", store).stdout)
    assert [b["commit"] for b in listed["builds"]] == [commit(i) for i in range(COMMITS)], listed
    trend = json.loads(t.run_qprof("trend", "--store", store, "--json", *question).stdout)
    assert [p["value"] for p in trend["points"]] == [20] * CHANGED + [120] * (COMMITS - CHANGED), trend
    assert [(c["commit"], c["before"], c["after"]) for c in trend["changes"]] == [(commit(CHANGED), 20, 120)], trend
    text = t.run_qprof("trend", "--store", store, *question).stdout
    assert "\nSince %s of " % commit(CHANGED)[:12] in text, text
    # Of the whole build, too; the crate's own name is that of reports.
    for what in ((), ("--crate", "grows")):
        more = json.loads(t.run_qprof("trend", "--store", store, "--metric", "count", "--json", *what).stdout)
        assert [c["commit"] for c in more["changes"]] == [commit(CHANGED)], more
    return "%d builds" % COMMITS
