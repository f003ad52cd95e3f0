# SPDX-License-Identifier: Apache-2.0 OR MIT
"""CPU time of the compilers, and what recording added, are one figure each in all outputs of a trace."""

import json
import re

import workspace
from lab import each
from test_keys import page_blocks

# ppm: a history keeps what recording added as a share of that precision.
EXACT, OF_HISTORY = 0, 2


def recorded(t, *mode):
    top = workspace.make(t)
    argv, env = workspace.cargo(t, "build", "-j2")
    run = t.record(argv, options=("--interval", "10min", *mode), env=env, cwd=top, exact=False)
    return run


def nanoseconds(text):
    """A duration as it is printed -> what it may be: the least and the most."""
    number, unit = text.split()
    of = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "min": 60e9}[unit]
    half = of * 10.0 ** -len(number.partition(".")[2]) / 2
    return float(number) * of - half, float(number) * of + half


def printed(text, pattern):
    """All places where a text has the figure of a pattern, of which there is at least one."""
    found = re.findall(pattern.replace("TIME", r"([\d.]+ (?:[num]?s|min))"), text, re.MULTILINE)
    assert found, (pattern, text)
    return found


@each((), ("--exact",))
def test_all_outputs_have_one_figure(t, *mode):
    run = recorded(t, *mode)
    report, build_report = t.report(run.trace), t.text("report", run.trace)
    cost, build = report["cost"], report["build"]
    cpu, added, part = (cost[key] for key in ("cpu_ns", "added_ns", "in_compilers_ns"))
    assert cpu > part > 0 and added == part + cost["own_ns"], cost

    store = t.path("figures.db")
    t.text("history", "add", "--store", store, "--commit", "1f2e3d4", "--branch", "main", run.trace)
    (kept,) = t.json("history", "list", "--json", "--store", store)["builds"]
    (point,) = t.json("trend", "--json", "--store", store)["points"]
    diff = t.json("diff", "--json", run.trace, run.trace)
    t.text("export", "--force", "-f", "html", "-o", t.path("page.html"), run.trace)
    with open(t.path("page.html"), "rb") as file:
        (page,) = (json.loads(block) for block in page_blocks(file.read())
                   if block.startswith(b'{"schema":"qprof-report/'))

    numbers = [(cpu, build["cpu_ns"], EXACT), (cpu, kept["cpu_ns"], OF_HISTORY),
               (cpu, point["value"], OF_HISTORY), (part, kept["in_compilers_ns"], OF_HISTORY)]
    for side in ("base", "new"):
        numbers += [(cpu, diff["build"][side]["cpu_ns"]["median"], EXACT),
                    (part, diff["build"][side]["in_compilers_ns"], EXACT)]
    for expected, found, ppm in numbers:
        assert abs(found - expected) * 10**6 <= ppm * (cpu + part), (expected, found, numbers)
    assert page["cost"] == cost and page["build"]["cpu_ns"] == cpu, page["cost"]

    shown = {name: t.text(*arguments.split(), run.trace) for name, arguments in (
        ("markdown", "report --markdown"), ("cost", "report --cost"), ("query", "report --by query"))}
    compared = t.text("diff", run.trace, run.trace)
    listed = t.text("history", "list", "--wide", "--store", store)
    said = run.stderr.decode()
    assert build_report in said, said
    places = [(cpu, build_report, r"^threads   TIME of CPU time, "),
              (cpu, shown["markdown"], r"^- threads: TIME of CPU time, "),
              (cpu, shown["cost"], r"^100 %: TIME, the CPU time of the compilers without it$"),
              (cpu, compared, r"^CPU time: +TIME -> "), (cpu, compared, r"^CPU time: .* -> TIME, no change"),
              (cpu, t.text("trend", "--store", store), r"^ +TIME "),
              (cpu, listed, r" 1f2e3d4 +[\d.]+ m?s +TIME "),
              (added, shown["cost"], r"^together +TIME "), (part, shown["cost"], r"^  of it in compilers +TIME "),
              (part, compared, r"^CPU times are without what recording added in compilers: TIME in base, "),
              (part, compared, r" in base, TIME in new")]
    places += [(added, text, r"recording added TIME of CPU, [\d.]+ % of what the compilers used")
               for text in (build_report, shown["markdown"], shown["query"])]
    for expected, text, pattern in places:
        for found in printed(text, pattern):
            least, most = nanoseconds(found)
            ppm = OF_HISTORY * (cpu + part) / 10**6
            assert least - ppm <= expected <= most + ppm, (expected, found, pattern)
    # Nothing else has the name of one of them.
    for text in (build_report, shown["markdown"], shown["query"]):
        assert text.count("CPU time") == len(re.findall(r" of CPU time", text)), text

    # Crates have parts of it: the rest are cargo's questions.
    crates = {row["name"]: row["cpu_ns"] for row in build["crates"]}
    assert 0 < sum(crates.values()) <= cpu, (crates, cpu)
    sides = {row["name"]: row["base"]["cpu_ns"]["median"] for row in diff["crates"]}
    assert sides == crates, (sides, crates)
    return "%.1f s, %.1f s added" % (cpu / 1e9, added / 1e9)
