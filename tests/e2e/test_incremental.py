# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Results that an incremental compile reused, compared with rustc's own numbers."""

import os
import re
import shutil

import crates
from compiles import BOOTSTRAP, profiled
import lab
from lab import each

CRATE = "semver"
# rustc encodes each node of the graph once, whether it was executed, reused or fed.
ENCODE = "incr_comp_encode_dep_graph"
OPTIONS = ("-q", "-e", "default,query-provider," + ENCODE)
BEFORE, AFTER = "Version::from_str(text)", "{ let _ = text.len(); Version::from_str(text) }"


class Builds:
    """A crate whose source can be edited; every build starts from the same state."""

    def __init__(self, t, toolchain):
        self.t = t
        self.rustc = toolchain.rustc
        self.source = t.mkdir("src")
        self.out = t.mkdir("out")
        shutil.copytree(os.path.dirname(crates.source(CRATE)), self.source, dirs_exist_ok=True)
        self.give(self.source)

    def give(self, path):
        self.t.give(path)
        for directory, _, files in os.walk(path):
            for name in [directory] + [os.path.join(directory, file) for file in files]:
                self.t.give(name)

    def edit(self):
        path = os.path.join(self.source, "lib.rs")
        with open(path) as f:
            text = f.read()
        assert BEFORE in text
        with open(path, "w") as f:
            f.write(text.replace(BEFORE, AFTER, 1))

    def argv(self, state, *extra):
        args = crates.arguments(CRATE, self.out, *extra, "-C", "incremental=" + state)
        return [self.rustc] + args[:-1] + [os.path.join(self.source, "lib.rs")]

    def state(self, name, before):
        path = self.t.path(name)
        if before:
            shutil.copytree(before, path, symlinks=True)
            self.give(path)
        return path if before else self.t.mkdir(name)

    def compare(self, name, before=None):
        """(our process, rustc's profile, rustc's count of nodes, our incremental state)"""
        def run(unique, *flags):
            state = self.state(unique + ".truth", before)
            return self.t.plain(self.argv(state, *flags, "-Zincremental-info"), env=BOOTSTRAP)

        truth, profile = profiled(self.t, name, "default", run)
        nodes = re.search(rb"Total Node Count: (\d+)", truth.stderr)
        ours = self.state(name + ".ours", before)
        run = self.t.record(self.argv(ours), OPTIONS, env=BOOTSTRAP, trace=name + ".qpt")
        report = self.t.report(run.trace)
        assert report["lost"] == 0, report["losses"]
        (process,) = report["processes"]
        return process, profile, int(nodes[1]), ours


def check(process, truth, nodes):
    rows = {row["name"]: row for row in process["queries"]}
    ours = process["incremental"]
    executed = [event.invocation for event in truth.intervals("Query")]
    loads = [event.invocation for event in truth.intervals("IncrementalLoadResult")]
    loaded = len(set(loads) - set(executed))
    assert rows[ENCODE]["count"] == nodes, (rows[ENCODE]["count"], nodes)
    assert ours["executed"] == len(executed), (ours, len(executed))
    assert ours["loads"] == len(loads), (ours, len(loads))
    assert sum(row.get("loads", 0) for row in rows.values()) == len(loads)
    # Two keys of one query in a row look like one key that was not found.
    assert ours["loaded"] <= loaded <= ours["loaded"] + len(loads) // 100, (ours, loaded)
    # Results that are only reused at the end have the highest numbers.
    assert max(executed) < ours["results"] <= nodes, (ours, max(executed), nodes)
    return "%d results of %d, %d executed, %d of %d loaded" % (
        ours["results"], nodes, ours["executed"], ours["loaded"], loaded)


@each(*(lab.toolchains() or ("stable",)))
def test_results_that_were_reused(t, toolchain):
    t.need_capture()
    builds = Builds(t, t.toolchain(toolchain))
    process, truth, nodes, state = builds.compare("first")
    # There is nothing to load, so the report has no row about it.
    assert "incremental" not in process
    assert not any("loads" in row for row in process["queries"])
    unchanged, truth, nodes, _ = builds.compare("unchanged", state)
    said = check(unchanged, truth, nodes)
    builds.edit()
    edited, truth, nodes, _ = builds.compare("edited", state)
    said += "; edited: " + check(edited, truth, nodes)
    assert edited["incremental"]["executed"] > unchanged["incremental"]["executed"]
    return said


def test_a_compile_error_does_not_add_results(t):
    """Executions that the error ends get ids of the recorder's own, which are no numbers of results."""
    source, out, state = t.path("demo.rs"), t.mkdir("out"), t.mkdir("state")
    command = [t.rustc, "--crate-type", "lib", "-C", "incremental=" + state, "--out-dir", out, source]
    for name, value in (("good", "1"), ("bad", '"text"')):
        t.write(source, "pub fn one() -> u32 { %s }\npub fn two() -> u32 { one() + 1 }\n" % value)
        run = t.capture(command, trace=name + ".qpt")
        assert run.status == (name == "bad"), run.stderr.decode()
        report = t.report(run.trace)
        (crate,), (process,) = report["build"]["crates"], report["processes"]
        assert crate["results"], crate
    ids = [span["invocation"] or 0 for span in t.spans(run.trace) if span["kind"] == "Query"]
    # rustc gives ids up to 100,000,000 to nothing but results.
    assert max(ids) > 100_000_000, max(ids)
    numbered = process["incremental"]["results"]
    assert numbered == 1 + max(i for i in ids if i <= 100_000_000), numbered
    assert 0 < numbered < 100_000, numbered
    return "%d results of the failed compile" % numbered
