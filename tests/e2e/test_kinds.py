# SPDX-License-Identifier: Apache-2.0 OR MIT
"""In JSON, each row of intervals has its kind: query, activity, load or another one."""

import collections
import glob
import json
import os

from lab import ROOT, each, no_compiler
from test_follow import compile_command

ROWS = ("queries", "pairs", "passes", "rows", "open")


def rows(document, name=None):
    """Each object in a list of rows, at any depth."""
    if isinstance(document, list):
        for item in document:
            if isinstance(item, dict) and name in ROWS:
                yield item
            yield from rows(item)
    elif isinstance(document, dict):
        for key, value in document.items():
            yield from rows(value, key)


def kinds_of(document):
    found = list(rows(document))
    assert all("kind" in row for row in found), [row for row in found if "kind" not in row][:1]
    return collections.Counter(row["kind"] for row in found)


@no_compiler
@each(("report", "--json"), ("diff", "--json"))
def test_rows_of_stored_traces(t, command, *options):
    kinds = collections.Counter()
    for trace in glob.glob(os.path.join(ROOT, "tests/golden/good*.qpt")):
        done = t.run_qprof(command, *options, *[trace] * (2 if command == "diff" else 1))
        if done.returncode == 0:
            kinds += kinds_of(json.loads(done.stdout))
    assert kinds["Query"] > 20, kinds


def test_a_report_agrees_with_the_intervals(t):
    """The report has as many intervals of each kind and name as the dump."""
    run = t.record(compile_command(t, "out"), ("--json", "-i", "50ms", "-e", "all"))
    listed = collections.Counter((s["kind"], s["query"]) for s in t.spans(run.trace))
    document = t.report(run.trace)
    found = collections.Counter()
    for row in document["queries"]:
        assert (row["kind"], row["name"]) not in found, row
        found[row["kind"], row["name"]] = row["count"]
    differ = {key for key in found.keys() | listed.keys() if found[key] != listed[key]}
    assert not differ, [(key, found[key], listed[key]) for key in sorted(differ)[:5]]
    # rustc has a query within an activity of its name.
    names = collections.Counter(name for _, name in found)
    both = {name for name in names if names[name] > 1}
    assert "check_externally_implementable_items" in both or t.toolchain().name != "stable", both
    kinds = collections.Counter(kind for kind, _ in found.elements())
    assert kinds["Query"] > 1000 and kinds["GenericActivity"] > 20, kinds
    live = [json.loads(line) for line in run.stdout.splitlines()]
    assert kinds_of(live)["Query"] > 0, live[:1]
    return ", ".join("%d %s" % (n, kind) for kind, n in sorted(kinds.items()))
