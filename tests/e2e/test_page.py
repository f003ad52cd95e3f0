# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The page of `export -f html`, used in Chromium like a user would; its numbers equal the report's."""

import collections
import base64
import glob
import gzip
import json
import os
import urllib.parse

import crates
from browser import Browser
from lab import ROOT, each, no_compiler
from test_export import build, on_cpu
from test_measureme import do_import, self_profile

READY = "document.documentElement.dataset.ready"
VIEWS = ("summary", "timeline", "queries", "tables", "flame")


def make_page(t, trace, *options):
    path = t.path("page.html")
    done = t.run_qprof("export", "--force", "-f", "html", "-o", path, *options, trace)
    assert done.returncode == 0 and done.stdout == "", done
    assert "open %s in a browser; nothing was sent anywhere" % path in done.stderr, done.stderr
    return path, done.stderr


def opened(t, trace, *options):
    browser = Browser(t.dir)
    browser.open(make_page(t, trace, *options)[0])
    browser.wait(READY)
    return browser


def assert_quiet(browser):
    """The console is empty, and the page requested nothing but itself."""
    assert not browser.complaints, browser.complaints
    assert all(url.startswith("file:///") and url.split("#")[0].endswith("/page.html")
               for url in browser.requests), browser.requests


def open_view(b, name):
    """Click the view's tab."""
    left, top, width, height = b.place("#tab-" + name)
    b.click(left + width / 2, top + height / 2)
    assert b.ask("document.querySelectorAll('[role=tabpanel]:not([hidden])').length") == 1
    assert b.ask("document.getElementById('view-%s').hidden" % name) is False
    assert b.ask("document.getElementById('tab-%s').getAttribute('aria-selected')" % name) == "true"


# ---- Numbers -----------------------------------------------------------------------------------

# All pages of a table, cell by cell: [[value, ...], ...]
TABLE = """(() => {
  const view = document.getElementById('view-tables'), rows = [];
  for (;;) {
    for (const row of view.querySelectorAll('tbody tr'))
      rows.push(Array.from(row.querySelectorAll('[data-value]'), (cell) => cell.dataset.value));
    const next = Array.from(view.querySelectorAll('button')).find((b) => b.textContent === 'Next');
    if (!next || next.disabled) return rows;
    next.click();
  }
})()"""


# Whether a column is in descending or ascending order.
SORTED = """(() => {
  const head = document.querySelectorAll('#view-tables thead th')[%d];
  const cells = [...document.querySelectorAll('#view-tables tbody tr')].map((row) => row.children[%d].dataset.value);
  const value = head.className === 'number' ? Number : String, up = head.ariaSort === 'ascending';
  return cells.every((cell, k) => !k || (up ? value(cells[k - 1]) <= value(cell) : value(cells[k - 1]) >= value(cell)));
})()"""


def table(b, which):
    b.ask("document.querySelectorAll('[name=table]')[%d].click()" % which)
    return b.ask(TABLE)


@each((), ("--raw",))
def test_tables_are_the_report(t, *options):
    trace = build(t)
    done = t.run_qprof("report", "--json", "--by", "crate", *options, trace)
    report = json.loads(done.stdout)
    with opened(t, trace, *options) as b:
        open_view(b, "tables")
        queries, passes = table(b, 0), table(b, 2)
        rows = queries + passes
        # A query and an activity may have one name.
        found = sorted((row[0], *map(int, row[1:4])) for row in rows)
        truth = sorted((row["name"], row["count"], row["total_ns"], row["self_ns"])
                       for row in report["queries"])
        assert found == truth, set(found) ^ set(truth)
        names = {row[0] for row in passes}
        assert "analysis" not in names and "type_check_crate" in names, names
        found = {row[0]: tuple(map(int, row[1:5])) for row in table(b, 1)}
        truth = {row["name"]: (row["processes"], row["count"], row["wall_ns"], row["self_ns"])
                 for row in report["groups"]}
        assert found == truth, (found, truth)
        done = t.run_qprof("report", "--json", "--by", "item", *options, trace)
        truth = {row["name"]: (row["executions"], row["self_ns"])
                 for row in json.loads(done.stdout)["items"] if row["name"] is not None}
        found = {row[0]: tuple(map(int, row[1:3])) for row in table(b, 3)}
        assert len(truth) > 100 and found == truth, set(found.items()) ^ set(truth.items())
        # The flame graph agrees, too: sums of its frames by query, on the CPU and in all.
        for stacks, waits in (("app.model.flame", False), ("withWaits(app.model.flame)", True)):
            flame = dict(b.ask("""(() => {
              const {about} = app.model, flame = %s, sums = new Map();
              for (let i = 0; i < flame.n; i++)
                if (flame.depth[i])
                  sums.set(about.frames[flame.frame[i]], (sums.get(about.frames[flame.frame[i]]) || 0) + flame.self[i]);
              return [...sums];
            })()""" % stacks))
            truth = on_cpu(report)
            if waits:
                truth = collections.Counter()
                for row in report["queries"]:
                    truth[row["name"]] += row["self_ns"]
            assert {name: ns for name, ns in flame.items() if ns and "[" not in name} == \
                {name: ns for name, ns in truth.items() if ns}, stacks
        assert_quiet(b)
    return "%d queries and passes" % len(rows)


def test_intervals_are_the_trace(t):
    """The page has the intervals that `dump` prints, with consistent depths and extents."""
    trace = build(t)
    lines = t.dumped(trace)
    start = lines[0]["clock_start_ns"]
    truth = sorted((s["pid"], s["tid"], s["depth"], s["start_ns"] - start, s["end_ns"] - start,
                    s["query"]) for s in lines if s.get("type") == "span")
    with opened(t, trace) as b:
        found = b.ask("""Array.from({length: app.model.spans.n}, (_, i) => {
          const m = app.model, s = m.spans;
          return [m.process(i).pid, m.threads[s.thread[i]].tid, s.depth[i], s.start[i], s.end[i], m.name(i)];
        })""")
        assert sorted(map(tuple, found)) == truth
        wrong = b.ask("""(() => {
          const m = app.model, s = m.spans;
          for (let i = 0; i < s.n; i++)
            for (const c of m.childrenOf(i))
              if (s.start[c] < s.start[i] || s.end[c] > s.end[i] || s.depth[c] <= s.depth[i]) return i;
          return -1;
        })()""")
        assert wrong == -1, wrong
    return "%d intervals" % len(truth)


# ---- Views -------------------------------------------------------------------------------------


def test_trace_of_queries(t):
    with opened(t, build(t)) as b:
        open_view(b, "queries")
        kinds = "['miss', 'pass'].map((k) => document.querySelectorAll('.box.' + k).length)"
        assert all(b.ask(kinds)), b.ask(kinds)
        important = "document.querySelectorAll('.box.important > .label').length"
        before = b.ask(important)
        assert before > 3
        # The threshold for important boxes can be set.
        b.ask("""document.querySelectorAll('#view-queries input').forEach((input) => {
          input.value = 1000000; input.dispatchEvent(new Event('change')); })""")
        assert b.ask(important) == 0
        # Keyboard: into the tree, along it, close and open a box.
        b.ask("document.querySelector('[role=treeitem]').focus()")
        b.key("End")
        b.key("Home")
        b.ask("document.querySelector('[role=treeitem][aria-expanded=true]').focus()")
        state = "document.activeElement.getAttribute('aria-expanded')"
        b.key("ArrowLeft")
        assert b.ask(state) == "false"
        b.key("ArrowRight")
        assert b.ask(state) == "true"
        b.key("ArrowRight")
        assert b.ask("Number(document.activeElement.getAttribute('aria-level'))") == 2
        assert "directly in it" in b.ask("document.querySelector('#view-queries .details').textContent")
        # The lists of the deepest and widest boxes; a click makes the first one the root of the tree.
        extent = b.ask("Number(document.querySelector('#view-queries .lists tbody td').dataset.value)")
        assert extent == b.ask("""(() => { const m = app.model, p = app.views.queries.process;
          return m.extent.reduce((most, n, i) => m.process(i).index === p ? Math.max(most, n) : most, 0); })()""")
        b.ask("document.querySelector('#view-queries .lists tbody button').click()")
        assert b.ask("document.querySelectorAll('.tree > [role=treeitem]').length") == 1
        assert_quiet(b)
    return "%d important boxes" % before


def test_trace_of_queries_finds_and_hides_nothing_important(t):
    with opened(t, build(t)) as b:
        view = "app.views.queries"
        open_view(b, "queries")
        b.ask("document.querySelector('#view-queries input[type=search]').focus()")
        b.type("layout_of")
        counted = b.ask("document.querySelector('#view-queries .counts').textContent")
        truth = b.ask("""(() => { const m = app.model, p = %s.process;
          let n = 0;
          for (let i = 0; i < m.spans.n; i++)
            n += m.name(i).includes('layout_of') && m.isNode[m.spans.what[i]] && m.process(i).index === p;
          return n; })()""" % view)
        assert truth > 10 and counted.replace(",", "") == "%d boxes" % truth, (counted, truth)
        # The found box is open, focused and marked.
        b.key("Enter")
        assert b.ask("app.model.name(document.activeElement.span)").endswith("layout_of")
        assert b.ask("document.activeElement.classList.contains('found')")
        assert b.ask("Number(document.activeElement.getAttribute('aria-level'))") > 1
        # Up to a number, important children are shown; a chip stands for the others.
        wrong = b.ask("""(() => { const m = app.model, v = %s;
          let most = -1;
          for (let i = 0; i < m.spans.n; i++)
            if (m.process(i).index === v.process && (most < 0 || m.extent[i] > m.extent[most])) most = i;
          v.reveal(most);
          const top = document.querySelector('.tree > [role=treeitem]');
          const boxes = [...top.querySelectorAll(':scope > .group > .box')].map((box) => box.span);
          const children = [...m.childrenOf(most)].filter((i) => !m.isOff[m.spans.what[i]]);
          const shown = new Set(boxes);
          const important = children.slice(FIRST_BOXES).filter((i) => v.isImportant(i))
            .sort((a, c) => m.duration(c) - m.duration(a)).slice(0, BOXES_AT_ONCE - FIRST_BOXES);
          const before = boxes.length, chip = top.querySelector(':scope > .group > .more');
          if (!chip || children.length < 100) return 'nothing is hidden';
          if (important.some((i) => !shown.has(i))) return 'an important one is hidden';
          if (boxes.some((i, k) => k && m.spans.start[i] < m.spans.start[boxes[k - 1]])) return 'out of order';
          chip.click();
          return top.querySelectorAll(':scope > .group > .box').length > before ? '' : 'it does not open'; })()""" % view)
        assert wrong == "", wrong
        assert_quiet(b)
    return "%d boxes found" % truth


def test_hits_are_dots(t):
    program = os.path.join(ROOT, "tests/e2e/programs/type_error.rs")
    ran = t.capture([t.rustc, program], ("-q", "-e", "query-provider,query-cache-hit"))
    with opened(t, ran.trace) as b:
        open_view(b, "queries")
        dots = b.ask("document.querySelectorAll('.box.hit').length")
        assert dots > 10, dots
        # Hits are leaves, and count as children.
        assert b.ask("""(() => { const m = app.model, s = m.spans;
          for (let i = 0; i < s.n; i++)
            if (m.isHit[s.what[i]] && (m.childrenOf(i).length || m.parent[i] >= 0 && !m.extent[m.parent[i]]))
              return false;
          return true; })()""")
        assert_quiet(b)
    return "%d dots" % dots


def test_timeline(t):
    with opened(t, build(t)) as b:
        open_view(b, "timeline")
        view = "[app.views.timeline.from, app.views.timeline.to]"
        whole = b.ask(view)
        left, top, width, height = b.place("canvas.timeline")
        b.mouse("mouseWheel", left + width / 2, top + height / 2, deltaX=0, deltaY=-800)
        b.settle()
        zoomed = b.ask(view)
        assert zoomed[1] - zoomed[0] < (whole[1] - whole[0]) / 4, (whole, zoomed)
        b.ask("document.querySelector('canvas.timeline').focus()")
        b.key("ArrowRight")
        assert b.ask(view)[0] > zoomed[0]
        b.key("0", "0")
        assert b.ask(view) == whole
        # Find a query by its name; it is selected, and drawn where it is.
        b.ask("document.querySelector('#view-timeline input').focus()")
        b.type("typeck")
        assert "interval" in b.ask("document.querySelector('#view-timeline .counts').textContent")
        b.key("Enter")
        assert "typeck" in b.ask("document.querySelector('#view-timeline .details').textContent")
        hit = b.ask("""(() => { const v = app.views.timeline, m = app.model, i = v.selected;
          const row = v.rows.find((r) => r.thread === m.threads[m.spans.thread[i]]);
          const x = ((m.spans.start[i] + m.spans.end[i]) / 2 - v.from) * v.scale;
          const y = row.y - v.top + OVERVIEW + AXIS + m.spans.depth[i] * LANE + LANE / 2;
          return [x, y, v.spanAt(x, y), i];
        })()""")
        assert hit[2] == hit[3], hit
        # Keyboard: along a lane, into an interval and out of it again.
        b.ask("document.querySelector('canvas.timeline').focus()")
        at = "app.views.timeline.selected"
        b.ask("app.views.timeline.find.set('analysis')")
        b.ask("app.views.timeline.find.step(1)")
        outer = b.ask(at)
        b.key("i", "i")
        assert b.ask("app.model.parent[%s]" % at) == outer
        inner = b.ask(at)
        b.key("n", "n")
        b.key("p", "p")
        assert b.ask(at) == inner
        b.key("o", "o")
        assert b.ask(at) == outer
        assert "analysis" in b.ask("document.getElementById('said').textContent")
        # A folded compiler is one row; a click on its name unfolds it.
        b.key("0", "0")
        rows = "app.views.timeline.rows.length"
        b.ask("app.views.timeline.foldAll()")
        if b.ask("app.views.timeline.folded.every(Boolean)") is False:
            b.ask("app.views.timeline.foldAll()")
        assert b.ask(rows) == b.ask("app.model.processes.length") == 2
        left, top, _, _ = b.place("canvas.timeline")
        b.click(left + 20, top + 44 + 20 + 10)
        assert b.ask(rows) > 2
        b.ask("document.querySelector('canvas.timeline').focus()")
        b.key("f", "f")
        assert b.ask(rows) == 2
        # The list of intervals in view, for readers who cannot see the canvas.
        b.wait("document.querySelectorAll('#view-timeline tbody tr').length > 0")
        assert_quiet(b)


def test_timeline_shows_what_waits(t):
    with opened(t, build(t)) as b:
        kinds = set(b.ask("app.model.kinds"))
        assert "OffCpu" in kinds, kinds
        open_view(b, "timeline")
        # Off-CPU intervals have their own colour, and are hatched.
        assert b.ask("""(() => { const v = app.views.timeline, m = app.model;
          const k = m.kinds.indexOf('OffCpu');
          return v.colours[k] === cssColour('--off') && m.isOff[k]; })()""")


# Of the row of memory: its place, and whether pixels of the curve are drawn near its end.
MEMORY = """(() => {
  const v = app.views.timeline, row = v.rows.find((r) => r.memory), scale = devicePixelRatio;
  const x = v.gutter + (row.memory.at.at(-1) - v.from) * v.scale - 3, y = TOP - v.top + row.y + MEMORY - GAP - 2;
  const pixels = new Uint32Array(v.canvas.getContext('2d').getImageData(x * scale, y * scale, 1, GAP * scale).data.buffer);
  return {x, y, drawn: pixels[0] !== pixels.at(-1)};
})()"""


@each(("--memory=20",), ("--memory=20", "-e", "none"), ("--memory-light=20", "-e", "none"))
def test_timeline_has_the_memory_touched(t, *options):
    """Beside intervals and without any: the curve ends with the sum of the samples."""
    argv = [t.rustc] + crates.arguments("semver", t.mkdir("out"))
    trace = t.capture(argv, options=("-q", *options)).trace
    done = t.run_qprof("report", "--memory", "--json", trace)
    (crate,) = json.loads(done.stdout)["crates"]
    with opened(t, trace) as b:
        open_view(b, "timeline")
        memory = b.ask("app.views.timeline.rows.find((r) => r.memory).memory")
        assert memory["bytes"][-1] == crate["bytes"] and memory["bytes"] == sorted(memory["bytes"])
        assert memory["at"] == sorted(memory["at"]) and len(memory["at"]) == len(memory["bytes"])
        assert b.ask("app.model.touchedBy(app.model.processes[0], app.model.end)") == crate["bytes"]
        b.settle()
        row = b.ask(MEMORY)
        assert row["drawn"], row
        left, top, _, _ = b.place("canvas.timeline")
        b.mouse("mouseMoved", left + row["x"], top + row["y"])
        text = b.ask("document.querySelector('#tip').textContent")
        assert " touched by " in text and " resident at a time" in text, text
        assert b.ask("app.model.processes[0].peak_bytes") == crate["peak_bytes"] > 0
        assert_quiet(b)
    return "%d points" % len(memory["at"])


def test_tables_sort_filter_and_lead_to_the_timeline(t):
    with opened(t, build(t)) as b:
        open_view(b, "tables")
        b.ask("document.querySelectorAll('#view-tables thead th button')[0].click()")
        names = "Array.from(document.querySelectorAll('#view-tables tbody th'), (cell) => cell.textContent)"
        shown = b.ask(names)
        assert len(shown) == 50 and shown == sorted(shown), shown
        assert b.ask("document.querySelector('#view-tables th').getAttribute('aria-sort')") == "ascending"
        b.ask("document.querySelector('#view-tables input[type=search]').focus()")
        b.type("mir_built")
        assert b.ask(names) == ["mir_built"], b.ask(names)
        b.ask("document.querySelector('#view-tables tbody button').click()")
        assert b.ask("location.hash") == "#timeline"
        assert b.ask("app.model.name(app.views.timeline.selected)") == "mir_built"
        open_view(b, "tables")
        b.ask("document.querySelectorAll('[name=table]')[3].click()")
        path = b.ask("document.querySelector('#view-tables tbody th').dataset.value")
        b.ask("document.querySelector('#view-tables tbody button').click()")
        assert b.ask("location.hash") == "#timeline"
        selected = "app.views.timeline.selected"
        assert b.ask("app.model.key(%s)" % selected) == path
        assert path in b.ask("app.views.timeline.describe(%s)" % selected)
        # It is the longest of the item's executions, and so is the one in the trace of queries.
        assert b.ask("""(() => { const m = app.model, i = app.views.timeline.selected;
          for (let k = 0; k < m.spans.n; k++)
            if (m.key(k) === m.key(i) && m.kind(k) === 'Query' && m.duration(k) > m.duration(i)) return k;
          return -1; })()""") == -1
        longest = b.ask(selected)
        open_view(b, "tables")
        b.ask("document.querySelectorAll('#view-tables tbody tr:first-child button')[1].click()")
        assert b.ask("location.hash") == "#queries"
        assert b.ask("document.activeElement.span") == longest
        # Each column sorts.
        open_view(b, "tables")
        for i in range(b.ask("document.querySelectorAll('#view-tables thead th button').length")):
            b.ask("document.querySelectorAll('#view-tables thead th button')[%d].click()" % i)
            assert b.ask(SORTED % (i, i)), i
        assert_quiet(b)


def test_items_are_found_by_their_paths(t):
    """In the timeline and the trace of queries: by a part of a path, and by query(path)."""
    trace = build(t)
    spans = t.spans(trace, off_cpu=True)
    path = max((s["event"] for s in spans if s["query"] == "typeck"), key=len)
    part = path.split("::", 1)[1]
    with opened(t, trace) as b:
        for view, one, many in (("timeline", "interval", "intervals"), ("queries", "box", "boxes")):
            open_view(b, view)
            find = "app.views.%s.find" % view
            if view == "queries":
                b.ask("app.views.queries.choose(app.model.process(app.model.longestOfItems.get(%r)).index)" % path)
            pid = b.ask("app.model.processes[app.views.queries ? app.views.queries.process : 0].pid")
            here = [s for s in spans if view == "timeline" or s["pid"] == pid and
                    s["kind"] in ("Query", "GenericActivity", "QueryCacheHit")]
            for text, n in (
                    (part, sum(part.lower() in (s.get("event") or "").lower() for s in here)),
                    ("typeck(" + path, sum(path in (s.get("event") or "") and
                                           s["query"].endswith("typeck") for s in here))):
                b.ask("%s.input.value = ''" % find)
                b.ask("%s.input.focus()" % find)
                b.type(text)
                said = b.ask(find + ".counts.textContent").replace(",", "")
                assert n > 0 and said.split(" self")[0] == "%d %s" % (n, many if n > 1 else one), (text, n, said)
                # Enter goes to the longest, Shift and Enter back.
                b.key("Enter")
                first = b.ask(find + ".order[0]")
                assert b.ask(find + ".counts.textContent").startswith("1 of %d" % n)
                assert part in b.ask("app.model.label(%d)" % first)
                b.ask(find + ".step(-1)")
                assert b.ask(find + ".counts.textContent").startswith("%d of" % n)
                b.ask(find + ".step(1)")
                shown = "document.activeElement.span" if view == "queries" else "app.views.timeline.selected"
                assert b.ask(shown) == first
        # A box is labelled with the path.
        label = b.ask("document.activeElement.getAttribute('aria-label')")
        assert "typeck(%s)" % path in label, label
        assert b.ask("""[shortLabel('typeck', 'krate::ast::parse::Parser::bump', 99),
          shortLabel('typeck', 'krate::ast::parse::Parser::bump', 26),
          shortLabel('typeck', 'krate::ast::parse::Parser::bump', 12), shortLabel('typeck', '', 99),
          shortLabel('typeck', 'a::b', 12)]""") == [
              "typeck(krate::ast::parse::Parser::bump)", "typeck(…::Parser::bump)", "typeck", "typeck",
              "typeck(a::b)"]
        assert_quiet(b)
    return path


def test_flame_graph_by_item(t):
    """Items within modules; the sums are those of `report --by item`."""
    trace = build(t)
    done = t.run_qprof("report", "--json", "--by", "item", trace)
    rows = json.loads(done.stdout)["items"]
    with opened(t, trace) as b:
        open_view(b, "flame")
        total = b.ask("app.views.flame.tree.total[0]")
        b.ask("document.querySelectorAll('[name=flame]')[1].click()")
        # On the CPU at first, then with the time off it.
        for options, value in (((), lambda row: row.get("self_cpu_ns", row["self_ns"])),
                               (("--wall",), lambda row: row["self_ns"])):
            if options:
                b.ask("document.querySelector('#view-flame input[type=checkbox]').click()")
            whole = sum(value(row) for row in rows)
            assert b.ask("app.views.flame.tree.total[0]") == whole, options
            found = b.ask("""(() => { const t = app.views.flame.tree;
              return t.paths.map((path, i) => [path, t.self[i], t.count[i]]).filter(([path]) => path); })()""")
            own = {path: (ns, n) for path, ns, n in found if ns or n}
            assert own == {row["name"]: (value(row), row["executions"]) for row in rows
                           if row["name"] is not None and (value(row) or row["executions"])}
            folded = t.run_qprof("export", "-f", "folded", "--by", "item", *options, "-o", "-", trace).stdout
            assert sum(int(line.rsplit(" ", 1)[1]) for line in folded.splitlines()) == whole, options
        # The time of a node is that of what lies on it.
        assert b.ask("""(() => { const t = app.views.flame.tree;
          return t.names.every((_, i) => !t.children[i].length ||
            t.children[i].reduce((sum, child) => sum + t.total[child], 0) === t.total[i]); })()""")
        assert b.ask("modulesOf('a::<b::C as d::E>::f')") == ["a", "a::<b::C as d::E>", "a::<b::C as d::E>::f"]
        # A frame of an item leads to the timeline.
        path = next(row["name"] for row in rows if row["name"] is not None and row["executions"])
        b.ask("app.views.flame.zoomTo(app.views.flame.tree.paths.indexOf(%r))" % path)
        b.ask("document.querySelector('#view-flame .details button').click()")
        assert b.ask("app.model.key(app.views.timeline.selected)") == path
        # Back to queries, with the width chosen there.
        open_view(b, "flame")
        b.ask("document.querySelectorAll('[name=flame]')[0].click()")
        b.ask("document.querySelector('#view-flame input[type=checkbox]').click()")
        assert b.ask("app.views.flame.tree.total[0]") == total
        assert_quiet(b)


def test_places_are_links(t):
    """Items lead to their source: the file that the link is of has the function in that line."""
    trace, functions = build(t), 0
    rows = t.json("report", "--json", "--by", "item", trace)["items"]
    places = {row["name"]: "%s:%d" % (row["file"], row["line"]) for row in rows if row.get("file")}
    with opened(t, trace) as b:
        open_view(b, "tables")
        b.ask("document.querySelectorAll('[name=table]')[3].click()")
        links = b.ask("""[...document.querySelectorAll('#view-tables tbody tr')].map((row) =>
          [row.querySelector('th').dataset.value, row.querySelector('a')])
          .filter(([, link]) => link).map(([path, link]) => [path, link.parentElement.dataset.value, link.href])""")
        assert len(links) > 20, links
        for path, text, url in links:
            assert text == places[path] and url.startswith("file:///"), (path, text, url)
            with open(urllib.parse.unquote(url[len("file://"):])) as f:
                line = f.read().splitlines()[int(text.rpartition(":")[2]) - 1]
            functions += "fn " + path.rpartition("::")[2] in line
        assert functions > 10, functions
        assert b.ask("[shortFile('/a/registry/name-1.0/src/lib.rs:12', 27), shortFile('src/lib.rs:1', 27)]") == [
            "…/name-1.0/src/lib.rs:12", "src/lib.rs:1"]
        # It stands in the tooltip, and in the details as a link.
        path, text, _ = links[1]
        b.ask("app.showItem(%r, 'timeline')" % path)
        assert text in b.ask("app.views.timeline.describe(app.views.timeline.selected)")
        assert b.ask("document.querySelector('#view-timeline .details a').textContent") == text
        assert_quiet(b)
    return "%d functions" % functions


def test_without_keys_it_says_why(t):
    arguments = crates.arguments("semver", t.mkdir("out"), "--emit=metadata")
    trace, _ = do_import(t, self_profile(t, "profile", arguments, "default"))
    with opened(t, trace) as b:
        open_view(b, "tables")
        b.ask("document.querySelectorAll('[name=table]')[3].click()")
        assert "--no-keys" in b.ask("document.getElementById('view-tables').textContent")
        assert_quiet(b)


def test_flame_graph_zooms_and_searches(t):
    with opened(t, build(t)) as b:
        open_view(b, "flame")
        found = "document.querySelector('#view-flame .counts').textContent"
        b.ask("document.querySelector('#view-flame input[type=search]').focus()")
        b.type("^typeck$")
        assert "frame" in b.ask(found), b.ask(found)
        b.type("[")
        assert b.ask(found) == "not a regular expression"
        left, top, width, height = b.place("canvas.flame")
        b.click(left + 20, top + 19 * 2 + 8)
        assert b.ask("app.views.flame.path.length") == 3
        b.ask("document.querySelector('canvas.flame').focus()")
        b.key("Escape")
        assert b.ask("app.views.flame.top") == 0
        b.key("ArrowDown")
        assert b.ask("app.views.flame.tree.parent[app.views.flame.focus]") == 0
        # By self time: the same sum, each query once below the root.
        total = b.ask("app.views.flame.tree.total[0]")
        b.ask("""(() => { const s = document.querySelector('#view-flame select');
          s.value = 1; s.dispatchEvent(new Event('change')); })()""")
        assert b.ask("app.views.flame.tree.total[0]") == total
        names = b.ask("app.views.flame.tree.children[0].map((i) => app.views.flame.tree.names[i])")
        assert len(names) == len(set(names)), names
        # All compilers as one: no process, and each query once below its caller.
        b.ask("""(() => { const s = document.querySelector('#view-flame select');
          s.value = 2; s.dispatchEvent(new Event('change')); })()""")
        assert b.ask("app.views.flame.tree.total[0]") == total
        roots = b.ask("app.views.flame.tree.children[0].map((i) => app.views.flame.tree.names[i])")
        assert "analysis" in roots and len(roots) == len(set(roots)) < len(names), roots
        assert b.ask("""(() => { const t = app.views.flame.tree;
          return t.children.every((c) => c.every((i, k) => !k || t.total[i] <= t.total[c[k - 1]])); })()""")
        assert_quiet(b)


# ---- Manners -----------------------------------------------------------------------------------


def test_every_control_has_a_name(t):
    """Names are those that the browser passes to a screen reader."""
    with opened(t, build(t)) as b:
        for view in VIEWS:
            open_view(b, view)
            nodes = b.call("Accessibility.getFullAXTree")["nodes"]
            roles = {"button", "textbox", "searchbox", "combobox", "tab", "spinbutton", "radio",
                     "treeitem", "application", "tree", "tablist", "table"}
            nameless = [n for n in nodes if n.get("role", {}).get("value") in roles
                        and not n["ignored"] and not n.get("name", {}).get("value")]
            assert not nameless, (view, nameless[:3])
        # Arrows move along the tabs; only one tab is in the focus order.
        b.ask("document.getElementById('tab-flame').focus()")
        b.key("ArrowRight")
        assert b.ask("document.activeElement.id") == "tab-summary"
        assert b.ask("document.querySelectorAll('[role=tab][tabindex=\"0\"]').length") == 1


def test_a_narrow_window_scrolls_down_only(t):
    with opened(t, build(t)) as b:
        b.call("Emulation.setDeviceMetricsOverride", width=400, height=800, deviceScaleFactor=1, mobile=False)
        for view in VIEWS:
            open_view(b, view)
            b.settle()
            assert b.ask("document.documentElement.scrollWidth") <= 400, view


@each((("true",), "No compiler was recorded"), (("rustc", "--version"), "No query was executed"))
def test_of_nothing_it_says_why(t, command, said):
    ran = t.capture([t.rustc if word == "rustc" else word for word in command])
    with opened(t, ran.trace) as b:
        for view in VIEWS:
            open_view(b, view)
            assert said in b.ask("document.getElementById('view-%s').textContent" % view), view
        assert_quiet(b)


def test_deep_nesting_is_no_burden(t):
    program = os.path.join(ROOT, "tests/e2e/programs/const_chain.rs")
    ran = t.capture([t.rustc, "--emit=metadata", "-o", t.path("out.rmeta"), program])
    with opened(t, ran.trace) as b:
        deepest = b.ask("app.model.spans.depth.reduce((a, b) => Math.max(a, b), 0)")
        assert deepest > 200, deepest
        open_view(b, "queries")
        levels = "Math.max(...[...document.querySelectorAll('.box')].map((box) => box.level))"
        assert 20 < b.ask(levels) <= b.ask("LEVELS_AT_FIRST")
        # A deeper box is shown with its nearest ancestors.
        b.ask("""(() => { const m = app.model, v = app.views.queries;
          const i = m.greatest(1, (i) => m.spans.depth[i], (i) => m.isNode[m.spans.what[i]])[0];
          v.find.set(m.name(i)); v.showFound(i); })()""")
        assert b.ask("app.model.spans.depth[document.activeElement.span]") >= deepest - 1
        assert b.ask(levels) <= b.ask("LEVELS_AT_FIRST")
        assert "ancestors" in b.ask("document.querySelector('.crumbs').textContent")
        open_view(b, "flame")
        assert b.ask("app.views.flame.canvas.height / devicePixelRatio") <= b.ask("(MOST_ROWS + 1) * FLAME_ROW")
        assert_quiet(b)
    return "%d deep" % deepest


@no_compiler
def test_names_and_addresses_are_only_that(t):
    """Names and addresses reach no members of JavaScript objects, and no text changes the direction
    of its neighbours."""
    page = make_page(t, os.path.join(ROOT, "tests/golden/good-plain.qpt"))[0]
    block = base64.b64encode(gzip.compress(json.dumps(
        {"a": "\u202ename\u2066", "b": "x" * 1000}, ensure_ascii=False).encode())).decode()
    with Browser(t.dir) as b:
        b.open(page + "#constructor")
        b.wait(READY)
        assert b.ask("location.hash") == "#summary"
        texts = b.ask("""(async () => { const e = element("script", {type: "text/plain", id: "x"}, "%s");
          document.body.append(e);
          const {a, b} = await readDocument("x");
          return [a, shorten(b).length]; })()""" % block)
        assert texts == ["\ufffdname\ufffd", 401], texts
        assert b.ask("[999, 999499, 999500, 9995, 59.9995e9].map(formatDuration)") == [
            "999 ns", "999 µs", "1.00 ms", "10.0 µs", "60.0 s"]
        assert_quiet(b)


CONTRAST = """(() => {
  const luminance = (colour) => {
    const [pixel] = pixelsOf([colour]);
    return [0, 8, 16].map((bits) => (pixel >>> bits & 255) / 255)
      .map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
      .reduce((sum, c, k) => sum + c * [0.2126, 0.7152, 0.0722][k], 0);
  };
  const colours = Array.from({length: 500}, (_, i) => colourOf('query ' + i, %s));
  colours.push(...['--pass-fill', '--blocked', '--found'].map(cssColour));
  const ink = luminance(cssColour('--on-fill'));
  return Math.min(...colours.map(luminance).map((l) => (Math.max(l, ink) + 0.05) / (Math.min(l, ink) + 0.05)));
})()"""


def test_light_and_dark(t):
    with opened(t, build(t)) as b:
        colour = "getComputedStyle(document.body).backgroundColor"
        open_view(b, "timeline")
        light, drawn = b.ask(colour), b.screenshot()
        b.scheme(dark=True)
        assert b.ask(colour) != light
        assert b.screenshot() != drawn
        # Labels are readable on every colour of a name: a contrast of 4.5, as in WCAG.
        for dark in (False, True):
            b.scheme(dark)
            least = b.ask(CONTRAST % ("true" if dark else "false"))
            assert least >= 4.5, (dark, least)
        assert_quiet(b)


def test_intervals_beyond_the_size_limit_are_reported(t):
    trace = build(t)
    whole = os.path.getsize(make_page(t, trace)[0])
    # The size without intervals: tables, flame graphs and the page itself.
    path, said = make_page(t, trace, "--max-size", "1k")
    assert "intervals are left out, as the file is to be no larger than 1.00 KiB, which it is without" in said, said
    least = os.path.getsize(path)
    most = (whole + least) // 2
    path, said = make_page(t, trace, "--max-size", str(most))
    assert "intervals are left out, those shorter than" in said, said
    assert least < os.path.getsize(path) <= most < whole, (least, most, whole)
    with Browser(t.dir) as b:
        b.open(path)
        b.wait(READY)
        assert "are left out" in b.ask("document.getElementById('notes').textContent")


def test_items_of_an_imported_profile(t):
    """Items that queries were executed for; only rustc's own profiler records these."""
    arguments = crates.arguments("semver", t.mkdir("out"), "--emit=metadata")
    path = self_profile(t, "profile", arguments, "default,args")
    trace, _ = do_import(t, path)
    with opened(t, trace) as b:
        open_view(b, "tables")
        rows = table(b, 3)
        assert len(rows) > 100 and all(row[0] for row in rows), rows[:5]
        assert_quiet(b)
    return "%d items" % len(rows)


@no_compiler
def test_golden_traces(t):
    """The page and each view open for any valid trace."""
    n = 0
    traces = sorted(glob.glob(os.path.join(ROOT, "tests/golden/good-*.qpt")))
    with Browser(t.dir) as b:
        for trace in traces:
            b.open(make_page(t, trace)[0])
            b.wait(READY)
            for view in VIEWS:
                open_view(b, view)
                b.settle()
            assert_quiet(b)
            n += 1
    return "%d traces" % n
