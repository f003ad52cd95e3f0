# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The peak of a compiler's memory is the kernel's own number, in every kind of recording."""

import json
import sys

import crates
import workspace
from lab import each

# Prints what wait4(2) reports of the program that it runs: the largest of the program's own peak
# and those of its children. A compile to metadata has none.
WAITER = """
import os, sys
pid = os.fork()
if not pid:
    os.execv(sys.argv[1], sys.argv[1:])
_, status, used = os.wait4(pid, 0)
print(used.ru_maxrss)
sys.exit(os.waitstatus_to_exitcode(status))
"""


def rows(t, trace):
    """Of the dump and of each report, {crate: its peak in bytes}."""
    def printed(*arguments):
        return t.text(*arguments, trace)

    lines = [line for line in printed("dump").splitlines() if line.startswith('{"type":"process"')]
    yield {row["crate"]: row.get("peak_bytes") for row in map(json.loads, lines)}
    report = json.loads(printed("report", "--json"))
    yield {row["crate"]: row["peak_bytes"] for row in report["processes"]}
    yield {row["crate"]: row["peak_bytes"] for row in report["build"]["crates"]}
    if "faults" in report.get("samples", {}) and report["samples"]["faults"]["n"]:
        memory = json.loads(printed("report", "--memory", "--json"))
        yield {row["name"]: row["peak_bytes"] for row in memory["crates"]}


@each(((),), (("-e", "none", "--sample", "--memory"),), (("--memory", "--no-keys"),))
def test_a_peak_is_that_of_wait4(t, options):
    compile_ = [t.rustc] + crates.arguments("memchr", t.mkdir("out"), "--emit=metadata")
    done = t.record([sys.executable, "-c", WAITER, *compile_], options=("-q", *options))
    # The kernel keeps pages, and ru_maxrss has KiB: neither is rounded.
    peak = int(done.stdout) << 10
    assert peak > 50 << 20
    found = list(rows(t, done.trace))
    assert len(found) == 3 + ("--memory" in options)
    assert all(peaks == {"memchr": peak} for peaks in found), (peak, found)
    return "%d KiB" % (peak >> 10)


def test_each_compiler_of_a_build_has_a_peak(t):
    trace, _ = workspace.recorded(t)
    crates_ = t.report(trace)["build"]["crates"]
    assert len(crates_) == len(workspace.COMPILES)
    assert all(row["peak_bytes"] > 30 << 20 for row in crates_), crates_
