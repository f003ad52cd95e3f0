# SPDX-License-Identifier: Apache-2.0 OR MIT
"""--crate and --process: what is shown of a build is what the whole of it says of these compiles."""

import os

import exports
import lab
import workspace

FORMATS = ("perfetto", "folded", "pprof", "speedscope", "counts", "html")
# CPU times are without a part of what recording added, which is divided by other sums.
SAME = ("pid", "wall_ns", "front_end_ns", "codegen_ns", "link_ns", "executions", "peak_bytes")


def report(t, trace, *options):
    return t.json("report", "--json", *options, trace)


def test_report(t):
    """Each compile, chosen alone by name or number, has the figures that it has in the build."""
    trace, _ = workspace.recorded(t)
    whole = report(t, trace, "--full")
    for crate in whole["build"]["crates"]:
        own = {row["name"]: row["self_ns"] for row in whole["build"]["pairs"]
               if row["pid"] == crate["pid"]}
        for option, value in (("--crate", crate["name"]), ("--process", str(crate["pid"]))):
            if value == "made":
                continue  # it names the package
            part = report(t, trace, option, value)
            (only,) = part["build"]["crates"]
            assert {k: only[k] for k in SAME} == {k: crate[k] for k in SAME}, (only, crate)
            queries = {row["name"]: row["self_ns"] for row in part["queries"]
                       if row["kind"] == "Query"}
            assert own and {k: queries[k] for k in own} == own, (queries, own)
    lines = lab.alone_lines(t.run_qprof("report", "--crate", "both", trace).stdout)
    assert lines[0].startswith("compile   both: ") and lines[1].startswith("parts     front end ")
    assert len(lines) <= 40 and max(map(len, lines)) <= 80, lines
    # A package's library and build script.
    made = report(t, trace, "--crate", "made")["build"]["crates"]
    assert {c["name"] for c in made} == {"made", "made (build script)"}, made


def test_other_commands(t):
    trace, _ = workspace.recorded(t)
    for form in FORMATS:
        to = t.path("out." + form)
        done = t.run_qprof("export", "-f", form, "--max-size", "1m", "--crate", "derived",
                           "-o", to, trace)
        assert done.returncode == 0, (form, done.stderr)
        assert os.path.getsize(to), form
    with open(t.path("out.folded"), encoding="utf-8") as folded:
        tops = {line.split(";")[0].rsplit(" (", 1)[0] for line in folded}
    assert tops == {"derived (proc-macro)"}, tops
    with open(t.path("out.perfetto"), "rb") as perfetto:
        tracks = exports.Perfetto(perfetto.read()).tracks.values()
    assert sum("process" in track for track in tracks) == 1, tracks
    done = t.run_qprof("export", "-f", "measureme", "--crate", "both", "-o", t.path("mm"), trace)
    assert done.returncode == 0 and len(os.listdir(t.path("mm"))) == 1, done.stderr
    text = t.text("diff", "--json", "--crate", "base", trace, trace)
    assert '"crate":"base"' in text and '"crate":"derived"' not in text
    done = t.run_qprof("report", "--crate", "bas", trace)
    assert done.returncode == 125 and "--crate" in done.stderr, done
