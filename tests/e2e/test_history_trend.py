# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A history of real compiles: `trend` finds the commit that made them do more, however they are recorded."""


COMMITS, CHANGED = 6, 4  # the first commit with more to compile


def commit(i):
    return "%02x" % i * 20


def history(t):
    """The numbers of a crate that gets a hundred functions more at one commit. Every other build is exact."""
    store = t.path("history.db")
    for i in range(COMMITS):
        n = 120 if i >= CHANGED else 20
        source = t.write("lib.rs", "".join("pub fn f%d(n: u32) -> u32 { n + %d }\n" % (k, k) for k in range(n)))
        trace = t.capture([t.rustc, "--crate-type", "lib", "--crate-name", "grows", "--emit", "metadata",
                           "--out-dir", t.dir, source], exact=i % 2 == 0).trace
        done = t.run_qprof("history", "add", "--store", store, "--commit", commit(i), "--branch", "main", trace)
        assert done.returncode == 0 and not done.stdout, done
    return store


def asked(t, *question):
    return t.json("trend", "--json", *question)


def values(trend):
    return [p["value"] for p in trend["points"]]


def assert_compared(t, store):
    """By a gate, and by two commits."""
    for metric, base, new, status in (("results", 0, CHANGED, 1), ("results", 0, CHANGED - 1, 0),
                                      ("count", 0, CHANGED, 1), ("count", 0, CHANGED - 1, 0)):
        done = t.run_qprof("history", "check", "--store", store, "--against", "main", "--commit", commit(new),
                           "--metric", metric, "--fail-above", "grows/*=0%")
        assert done.returncode == status, (metric, new, done)
        diff = t.json("history", "diff", "--store", store, "--metric", metric, "--json",
                      commit(base), commit(new))
        (crate,) = diff["crates"]
        assert crate["significant"] == bool(status) and (crate["change"] > 0) == bool(status), (metric, new, crate)
    done = t.run_qprof("history", "check", "--store", store, "--against", "main", "--metric", "results",
                       "--fail-above", "typeck=1%")
    assert done.returncode == 2 and "no wall time, results or memory" in done.stderr, done


def test_the_commit_that_changed_something_is_found(t):
    t.need_capture()
    store, question = history(t), ("--query", "typeck", "--metric", "count")
    listed = t.json("history", "list", "--json", "--store", store)
    assert [b["commit"] for b in listed["builds"]] == [commit(i) for i in range(COMMITS)], listed
    assert [b["how"] for b in listed["builds"]] == ["exact", "sampled"] * (COMMITS // 2), listed
    # Counts of a query are exact in both.
    trend = asked(t, "--store", store, *question)
    assert values(trend) == [20] * CHANGED + [120] * (COMMITS - CHANGED), trend
    assert [(c["commit"], c["before"], c["after"]) for c in trend["changes"]] == [(commit(CHANGED), 20, 120)], trend
    assert not trend["notes"], trend
    text = t.run_qprof("trend", "--store", store, *question).stdout
    assert "\nSince %s of " % commit(CHANGED)[:12] in text, text
    # So are executions and results of the whole build; the crate's own name is that of reports.
    for what in ((), ("--crate", "grows")):
        results = asked(t, "--store", store, "--metric", "results", *what)
        assert [c["commit"] for c in results["changes"]] == [commit(CHANGED)], results
        assert len(set(values(results))) == 2 and not results["notes"], results
        counts = asked(t, "--store", store, "--metric", "count", *what)
        # They are of the queries that both kinds count.
        assert len(set(values(counts))) == 2 and None not in values(counts), counts
        (note,) = counts["notes"]
        assert "crate_name" in note and "crate_name" in counts["uncounted"].split(), counts
        assert [c["commit"] for c in counts["changes"]] == [commit(CHANGED)], counts
    assert_compared(t, store)
    return "%d builds" % COMMITS
