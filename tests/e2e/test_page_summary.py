# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The summary on which the page of `export -f html` opens; and names in a page that are hostile."""

import base64
import gzip
import json

import crates
import workspace
from browser import Browser
from lab import each
from test_build_report import FOR_TWO_SECONDS, SLOW
from test_export import build
from test_jobs import record_planted
from test_page import READY, VIEWS, assert_quiet, make_page, open_view, opened, table

# The rows of the tables of the summary, by their headings: {heading: [{title: value}]}
SUMMARY = """Object.fromEntries([...document.querySelectorAll('#view-summary section')].map((section) => {
  const titles = [...section.querySelectorAll('thead th')].map((head) => head.textContent);
  return [section.querySelector('h2').textContent, [...section.querySelectorAll('tbody tr')].map((row) =>
    Object.fromEntries([...row.children].map((cell, k) => [titles[k], cell.dataset.value])))];
}))"""
FIGURES = """Object.fromEntries([...document.querySelectorAll('.figures > div')].map((div) =>
  [div.querySelector('dt').textContent, [...div.querySelectorAll('dd')].map((dd) => dd.textContent)]))"""


CPU = "On the CPU"


def cpu_self(row):
    if row.get("self_by") != "spans" and "best_self_ns" in row:
        return row["best_self_ns"]  # an estimate is of time on the CPU
    return row.get("self_cpu_ns", row["self_ns"])


def most(rows, value):
    """The ten rows with the greatest values: the values, since names may have the same one."""
    return sorted((value(row) for row in rows if value(row)), reverse=True)[:10]


def test_summary_is_the_report(t):
    trace = build(t)
    report = t.json("report", "--json", trace)
    items = t.json("report", "--json", "--by", "item", trace)["items"]
    with opened(t, trace) as b:
        assert b.ask("location.hash") == "#summary"
        tables, figures = b.ask(SUMMARY), b.ask(FIGURES)
        assert figures["Wall time"][0] == b.ask("formatDuration(%d)" % report["build"]["wall_ns"]), figures
        assert figures["CPU time"][0] == b.ask("formatDuration(%d)" % report["build"]["cpu_ns"]), figures
        assert figures["Crates compiled"] == ["2", "1 failed"], figures
        assert set(figures) >= {"Peak memory", "Compilers at once"}, figures
        cost = report["cost"]["share_of_cpu"]
        assert figures["Recording cost"][0] == b.ask("formatPercent(%r, 1)" % cost), figures
        assert [row["Crate"] for row in tables["Crates"]] == [row["name"] for row in report["build"]["crates"]], tables
        assert [row["End"] for row in tables["Crates"]] == ["failed", ""], tables["Crates"]
        crates = {row["Crate"]: row for row in tables["Crates"]}
        assert len(crates) == len(report["build"]["crates"]) == 2, crates
        for row in report["build"]["crates"]:
            found = crates[row["name"]]
            for title, key in (("Wall", "wall_ns"), ("Front end", "front_end_ns"), ("Codegen", "codegen_ns"),
                               ("Link", "link_ns"), ("CPU", "cpu_ns"), ("Peak memory", "peak_bytes")):
                assert int(found[title]) == row[key], (title, found, row)
        queries, costly = tables["Queries that cost most"], tables["Items that cost most"]
        assert [int(row[CPU]) for row in queries] == most(report["queries"], cpu_self), queries
        assert {row["name"]: cpu_self(row) for row in report["queries"]}.items() >= {
            row["Query or pass"]: int(row[CPU]) for row in queries}.items(), queries
        # The registry's crate is not the user's own; the program that fails is.
        assert costly and all(row["Item"].startswith("type_error") for row in costly), costly
        own = [row for row in items if (row["name"] or "").startswith("type_error")]
        assert [int(row[CPU]) for row in costly] == most(own, cpu_self), costly
        # A name leads to its compiler in the timeline.
        b.ask("document.querySelectorAll('#view-summary > section')[1].querySelector('tbody button').click()")
        assert b.ask("location.hash") == "#timeline"
        # What failed comes first.
        first = report["build"]["crates"][0]
        assert b.ask("""(() => { const v = app.views.timeline, p = app.model.processes.find((p) => p.pid === %d);
          return [v.folded[p.index], v.from === p.start, v.to === p.end]; })()""" % first["pid"]) == [
              False, True, True]
        # The browser's Back leads to the summary again.
        b.ask("history.back()")
        b.wait("location.hash === '#summary' && !document.getElementById('view-summary').hidden")
        b.ask("[...document.querySelectorAll('#view-summary section')].at(-1).querySelector('tbody button').click()")
        name = queries[0]["Query or pass"]
        assert b.ask("app.model.name(app.views.timeline.selected)") == name
        assert_quiet(b)
    return "%d items, %d queries" % (len(costly), len(queries))


def test_critical_path(t):
    """The critical path is that of the report, and leads to the compile."""
    trace, _ = workspace.recorded(t)
    build = t.json("report", "--json", trace)["build"]
    steps = [step for step in build["critical_path"]["steps"] if step["part"] != "other"]
    with opened(t, trace) as b:
        rows = b.ask(SUMMARY)["What kept it from being faster"]
        assert len(steps) > 2 and len(rows) == min(len(steps), 5), (steps, rows)
        found = {(row["Crate"], int(row["Took"])) for row in rows}
        assert found <= {(step["name"], step["ns"]) for step in steps}, (steps, rows)
        assert [int(row["Saves"]) for row in rows] == sorted(
            (step["saved_ns"] if step["saved_ns"] is not None else -1 for step in steps), reverse=True)[:5], rows
        # The strip has all steps, as long as each was.
        parts = b.ask("[...document.querySelectorAll('.reasons > .bar > .step')].map((part) => Number(part.style.flexGrow))")
        wall = build["critical_path"]["wall_ns"]
        assert len(parts) == len(build["critical_path"]["steps"]), parts
        for part, step in zip(parts, build["critical_path"]["steps"]):
            assert abs(part - 1000 * step["ns"] / wall) < 0.1, (part, step)
        b.ask("document.querySelector('.reasons tbody button').click()")
        pids = [step["pid"] for step in steps if step["name"] == rows[0]["Crate"]]
        assert b.ask("app.views.timeline.folded[app.model.processes.findIndex((p) => p.pid === %d)]" % pids[0]) is False
        assert_quiet(b)
    return "%d steps" % len(steps)


def block_of(page, block):
    with open(page) as f:
        text = f.read()
    packed = text.partition('<script type="text/plain" id="%s">' % block)[2].partition("</script>")[0]
    return gzip.decompress(base64.b64decode(packed))


def replace_block(page, block, packed):
    """Give the page other bytes in a block."""
    with open(page) as f:
        text = f.read()
    begin = '<script type="text/plain" id="%s">' % block
    before, _, rest = text.partition(begin)
    _, end, after = rest.partition("</script>")
    assert end, block
    with open(page, "w") as f:
        f.write(before + begin + base64.b64encode(packed).decode() + end + after)


def test_summary_needs_no_interval(t):
    """It is there before the intervals are read: even where these cannot be read at all."""
    page = make_page(t, build(t))[0]
    replace_block(page, "spans", b"not packed")
    with Browser(t.dir) as b:
        b.open(page)
        b.wait("document.getElementById('loading').textContent.includes('cannot be shown')")
        assert b.ask("document.documentElement.dataset.ready") is None
        assert len(b.ask(SUMMARY)["Crates"]) == 2
        assert b.ask("document.getElementById('view-summary').hidden") is False


@each("samples", "default", "one", "killed")
def test_summary_of_other_recordings(t, kind):
    options = {"samples": ("-e", "none", "--sample")}.get(kind, ())
    argv = [t.rustc, *crates.arguments("semver", t.mkdir("out"))]
    if kind == "killed":
        slow = t.write("slow.rs", SLOW)
        argv = ["sh", "-c", "%s --crate-type lib --out-dir %s %s & %s; kill -9 $!; wait" % (
            t.rustc, t.mkdir("out"), slow, FOR_TWO_SECONDS)]
    trace = t.capture(argv, options=("-q", *options), exact=kind not in ("samples", "default")).trace
    report = t.json("report", "--json", trace)
    (crate,) = report["build"]["crates"]
    with opened(t, trace) as b:
        tables, figures = b.ask(SUMMARY), b.ask(FIGURES)
        (row,) = tables["Crate"]
        assert row["Crate"] == crate["name"] and int(row["Wall"]) == crate["wall_ns"], row
        # With one crate there is nothing to be parallel with, and nobody is alone.
        assert not {"Compilers at once", "Alone"} & {*figures, *row}, (figures, row)
        text = b.ask("document.getElementById('view-summary').textContent")
        if kind == "samples":
            assert int(row["CPU"]) == crate["cpu_ns"] and "Codegen" not in row, row
            assert figures["Queries executed"][0].startswith("≥") and "by samples" in text, figures
        elif kind == "default":
            assert figures["Queries executed"][0] == b.ask("'≥ ' + formatCount(%d)" % report["query_executions"]), figures
        elif kind == "killed":
            assert figures["Crates compiled"] == ["1", "1 killed"], figures
            assert "was killed by SIGKILL" in text and "was in eval_to_allocation_raw (" in text, text
        queries = tables["Queries that cost most"]
        assert [int(row[CPU]) for row in queries] == most(report["queries"], cpu_self), queries
        assert_quiet(b)
    return str(figures)


def test_queries_without_a_probe(t):
    """They have counts and times, and lead to the intervals that samples made, and to no others."""
    t.need_capture()
    trace = record_planted(t).trace
    report = t.json("report", "--json", trace)
    rows = {row["name"]: row for row in report["queries"] if row["kind"] == "Query"}
    sampled_in = {name for name, row in rows.items() if row.get("sampled_max_ns")}
    with opened(t, trace) as b:
        assert "the executions that several samples met" in b.ask("document.getElementById('notes').textContent")
        tables, figures = b.ask(SUMMARY), b.ask(FIGURES)
        assert figures["Queries executed"][0] == b.ask("'≥ ' + formatCount(%d)" % report["query_executions"]), figures
        items = tables["Items that cost most"]
        assert items[0]["Item"] == "planted::here::LONG" and int(items[0][CPU]) > 0, items
        assert all(row["Item"].startswith("planted") for row in items), items
        both = [int(row[CPU]) + max(0, int(row.get("LLVM", 0))) for row in items]
        assert both == sorted(both, reverse=True), items
        found = {row["Query or pass"]: row for row in tables["Queries that cost most"]}["eval_to_allocation_raw"]
        assert int(found["Executions"]) == rows["eval_to_allocation_raw"]["count"], found
        buttons = b.ask("[...document.querySelectorAll('#view-summary tbody button')].map((button) => button.textContent)")
        assert set(buttons) & set(rows) <= sampled_in and "eval_to_allocation_raw" in buttons, buttons
        open_view(b, "tables")
        leading = b.ask("[...document.querySelectorAll('#view-tables tbody tr')].filter((row) => "
                        "row.querySelector('td.actions button')).map((row) => row.cells[0].textContent)")
        assert leading and set(leading) <= sampled_in, (leading, sampled_in)
        queries = table(b, 0)
        assert {row[0] for row in queries} == set(rows), queries
        assert {row[0]: int(row[1]) for row in queries} == {
            name: row["count"] if row["count"] is not None else row["results"] for name, row in rows.items()}
        assert all("0 ns" != cell for row in table(b, 3) for cell in row)
        open_view(b, "flame")
        names = b.ask("app.views.flame.tree.names")
        assert "eval_to_allocation_raw" in names and not any(name.startswith("[") for name in names), names
        assert_quiet(b)
    return "%d queries" % len(rows)


# ---- Hostile names -----------------------------------------------------------------------------

# Names, paths and commands that another user's files may have.
HOSTILE = ("<img src=x onerror=\"document.title='taken'\">", "</script><script>document.title='taken'</script>",
           "__proto__", "constructor", "\u202egnp.exe\u2066", "javascript:document.title='taken'", "x" * 50000,
           "\0\x1b[31m\n\r", "'\"><svg onload=\"document.title='taken'\">", "", "a::b</td></table>")
# Members whose values are the page's own words.
OWN = {"schema", "kind", "self_by", "watch", "cause"}


def made_hostile(value, key=None, n=[0]):
    """The document with another name in each place where the trace has one."""
    if isinstance(value, dict):
        return {name: made_hostile(member, name) for name, member in value.items()}
    if isinstance(value, list):
        if key and key.startswith("@"):
            return value  # titles of columns
        return [made_hostile(member, key) for member in value]
    if not isinstance(value, str) or key in OWN or key == "kinds" or key == "clock_start_ns":
        return value
    n[0] += 1
    hostile = HOSTILE[n[0] % len(HOSTILE)]
    return "//" + hostile if key in ("cwd", "file") and n[0] % 2 else hostile


def test_hostile_names_stay_names(t):
    """Whatever the names in a trace are, no view makes markup, scripts, requests or other links of them."""
    page = make_page(t, build(t))[0]
    for block in ("about", "report"):
        content = json.dumps(made_hostile(json.loads(block_of(page, block))), ensure_ascii=False).encode()
        replace_block(page, block, gzip.compress(content))
    with Browser(t.dir) as b:
        b.call("Emulation.setDeviceMetricsOverride", width=400, height=800, deviceScaleFactor=1, mobile=False)
        b.open(page)
        b.wait(READY)
        elements = "['script', 'img', 'svg', 'iframe'].map((tag) => document.querySelectorAll(tag).length)"
        first = b.ask(elements)
        assert first[1:] == [0, 0, 0], first
        for view in VIEWS:
            open_view(b, view)
            b.settle()
            if view == "tables":
                for i in range(4):
                    table(b, i)
            assert b.ask(elements) == first and "taken" not in b.ask("document.title"), view
            wide = b.ask("""[...document.querySelectorAll('body *')].filter((e) =>
              e.getBoundingClientRect().right > 400 && !e.closest('[hidden]')).map((e) =>
              e.tagName + '.' + e.className + ' ' + e.getBoundingClientRect().right + ' ' + e.textContent.slice(0, 40))""")
            assert b.ask("document.documentElement.scrollWidth") <= 400, (view, wide[:12])
            links = b.ask("[...document.querySelectorAll('a')].map((a) => a.href)")
            assert all(link.startswith("file:///") and not link.startswith("file:////") for link in links), links
            assert not b.ask("/[\\u202a-\\u202e\\u2066-\\u2069]/.test(document.body.textContent)"), view
        assert_quiet(b)
