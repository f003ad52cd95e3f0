# SPDX-License-Identifier: Apache-2.0 OR MIT
"""60 synthetic commits with two planted regressions: these are found, at their commits, and no other."""

import io
import json

import clickhouse
from history_answers import answers, assert_alike, planted

NO_COMPILER = True

COUNTS, CPU = planted.commit(planted.COUNTS_AT), planted.commit(planted.CPU_AT)


def history(t, name="history.db"):
    """A SQLite store of the builds."""
    lines = io.StringIO()
    planted.write(lines)
    source = t.write("history.jsonl", lines.getvalue())
    t.text("history", "merge", "--store", t.path(name), source)
    return t.path(name)


def changes(t, store, *options):
    """The commit of each change of a trend, and how large it is."""
    done = t.run_qprof("trend", "--json", "--store", store, *options)
    assert done.returncode == 0, (options, done.stderr)
    return [(c["commit"], c["change"]) for c in json.loads(done.stdout)["changes"]]


def check_series(t, store, crate, options):
    counts = changes(t, store, *options, "--metric", "count")
    cpu = changes(t, store, *options)
    assert [c for c, _ in counts] == ([COUNTS] if crate == "parser" else []), (options, counts)
    assert [c for c, _ in cpu] == ([CPU] if crate == "codec" else []), (options, cpu)
    assert all(0.029 < change < 0.031 for _, change in counts), (options, counts)
    assert all(0.08 < change < 0.12 for _, change in cpu), (options, cpu)
    return 2


def test_planted_regressions_are_found(t):
    """In all series of crates, queries of crates and items, at the right commits, with no false alarm."""
    store, n = history(t), 0
    for crate in planted.CRATES:
        n += check_series(t, store, crate, ("--crate", crate))
        for query in planted.QUERIES:
            n += check_series(t, store, crate, ("--crate", crate, "--query", query))
        n += check_series(t, store, crate, ("--item", crate + "::main_part"))
    for metric in ("wall", "memory"):
        for crate in planted.CRATES:
            found = [c for c, _ in changes(t, store, "--crate", crate, "--metric", metric)]
            assert found == ([CPU] if (crate, metric) == ("codec", "wall") else []), (crate, found)
    # In the whole build they are 0.4 % and 1.4 %.
    assert [c for c, _ in changes(t, store, "--metric", "count")] == [COUNTS]
    assert [c for c, _ in changes(t, store)] == [CPU]
    return "%d series" % (n + 2 * len(planted.CRATES) + 2)


def test_commits_are_compared(t):
    """`history diff` shows the crate, and `history check` fails by the limit that it exceeds alone."""
    store = history(t)
    told = answers(t, store)
    diff = next(d for q, (_, d) in told.items() if q[:4] == ("history", "diff", "--metric", "count"))
    grown = [c["name"] for c in diff["crates"] if c["significant"]]
    assert grown == ["parser"] and diff["crates"][0]["change"] == 497, diff["crates"]
    status, checked = next(a for q, a in told.items() if q[1:2] == ("check",))
    assert status == 1 and [g["verdict"] for g in checked["gates"]] == ["passed", "exceeded"]
    before = planted.commit(planted.COUNTS_AT - 1)[:10]
    done = t.run_qprof("history", "check", "--store", store, "--commit", before, "--against", "main",
                       "--metric", "count", "--fail-above", "parser/*=0.1%")
    assert done.returncode == 0 and "no limit exceeded" in done.stdout, (done.stdout, done.stderr)
    done = t.run_qprof("history", "check", "--store", store, "--against", "dev", "--fail-above", "1%")
    assert done.returncode == 125 and "branch dev" in done.stderr, done.stderr
    done = t.run_qprof("history", "diff", "--store", store, "7", before)
    assert done.returncode == 125 and "several commits" in done.stderr, done.stderr


def fill_server(t, server):
    """The tables of a server, and the rows of all builds in them, each table by one insert."""
    store, lines, tables = server.address + "/history", io.StringIO(), {}
    t.text("history", "migrate", "--store", store)
    planted.write(lines)
    for line in lines.getvalue().splitlines(True):
        tables.setdefault(json.loads(line)["table"], []).append(line)
    for table, rows in tables.items():
        server.ask('INSERT INTO history."%s" FORMAT JSONEachRow\n%s' % (table, "".join(rows)),
                   input_format_skip_unknown_fields=1)
    return store


def test_both_stores_answer_alike(t):
    """Every question has one answer, whether a file or a ClickHouse server is asked."""
    assert_alike(t, history(t), fill_server(t, clickhouse.one(t)))
