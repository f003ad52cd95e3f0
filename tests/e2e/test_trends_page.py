# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The page of `history page`, used in Chromium like a user would; its changes are those of `trend`."""

import os
import subprocess
import sys

from browser import Browser
from lab import ROOT
from test_page import READY, assert_quiet

NO_COMPILER = True

# The rows of the table in a section, cell by cell.
CELLS = """[...document.querySelectorAll('#%s tbody tr')].map((row) =>
  [...row.children].map((cell) => cell.textContent))"""
GENERATOR = os.path.join(ROOT, "tests/fixtures/synthetic_history.py")


def store(t):
    """A history of 60 builds with two planted changes."""
    lines = subprocess.run([sys.executable, "-B", GENERATOR], capture_output=True, text=True, check=True).stdout
    t.text("history", "merge", "--store", t.path("history.db"), t.write("history.jsonl", lines))
    return t.path("history.db")


def change(t, history, *options):
    """The one change of a trend."""
    trend = t.json("trend", "--store", history, "--json", *options)
    (found,) = trend["changes"]
    return found, len(trend["points"])


def test_page_of_trends(t):
    history, page = store(t), t.path("page.html")
    done = t.run_qprof("history", "page", "--store", history, "-o", page)
    assert done.returncode == 0 and done.stdout == "", done
    assert "open %s in a browser; nothing was sent anywhere" % page in done.stderr, done.stderr
    cpu, points = change(t, history, "--crate", "codec")
    llvm, _ = change(t, history, "--llvm", "codec::main_part")
    count, _ = change(t, history, "--crate", "parser", "--metric", "count")
    with Browser(t.dir) as b:
        b.open(page)
        b.wait(READY)
        # The largest changes come first, and say since which commit.
        rows = b.ask(CELLS % "changes")
        assert [row[:4] + row[6:7] for row in rows[:3]] == [
            ["codec", "crate", "CPU time", "+%.1f %%" % (100 * cpu["change"]), cpu["commit"][:12]],
            ["codec::main_part", "in LLVM", "CPU time", "+%.1f %%" % (100 * llvm["change"]), llvm["commit"][:12]],
            ["parser", "crate", "Executions", "+%.1f %%" % (100 * count["change"]), count["commit"][:12]]], rows
        # A name leads to its chart: a point for each build, and the change marked.
        b.ask("document.querySelectorAll('#changes tbody tr')[2].querySelector('button').click()")
        b.wait("document.getElementById('chart-title').textContent === 'Executions of parser'")
        assert b.ask("document.querySelectorAll('#chart circle').length") == points
        assert b.ask("document.querySelectorAll('#chart circle.changed').length") == 1
        assert count["commit"][:12] in b.ask("document.querySelector('.changes-list').textContent")
        # The browser's Back leads to the chart before.
        b.ask("history.back()")
        b.wait("document.getElementById('chart-title').textContent === 'CPU time of the build'")
        assert len(b.ask(CELLS % "chart")) == 10 and b.ask(CELLS % "all")
        b.scheme(True)
        b.settle()
        assert_quiet(b)
        trends = b.ask("app.trends.length")
    return "%d trends" % trends


def test_without_a_store_there_is_no_page(t):
    done = t.run_qprof("history", "page", "--store", t.path("none.db"), "-o", t.path("page.html"))
    assert done.returncode == 125 and done.stderr.count("\n") == 1, done
    assert not os.path.exists(t.path("page.html"))
