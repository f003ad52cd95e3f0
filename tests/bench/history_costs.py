# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Measures a history of synthetic builds in a file, without root and rustc."""

import os

from formats import run
from targets import Row

# The targets of trends are for this many builds.
MANY = 10000
TRENDS = {
    "trend": "",
    "trend_crate": " --crate",
    "trend_crate_query": " --crate --query",
    "trend_query": " --query",
    "trend_crate_item": " --crate --item",
    "trend_item": " --item",
}


def measure(build, builds):
    v = {name: float(value) for name, value in
         (line.split() for line in run(os.path.join(build, "tests/bench/history"),
                                       str(builds)).splitlines())}
    print("history of %d builds of 60 crates, %d rows each; %.0f bytes each with names" % (
        v["builds"], v["rows"], v["bytes_per_build"]))
    print("a build is added in %.1f ms\n" % v["add_ms"])
    rows = [Row("history, KB of a further build", v["bytes_per_later_build"] / 1000, "KB", most=68)]
    for name, words in TRENDS.items():
        if builds == MANY:
            rows.append(Row("trend%s, %d builds" % (words, builds), v[name], "s", most=0.2))
        else:
            print("trend%s: %.3f s" % (words, v[name]))
    if builds != MANY:
        print("the targets of trends are for --builds %d\n" % MANY)
    return rows
