# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Recordings equal rustc's own profiles: event by event in one process, label by label in two.
These are some crates and modes; `make fidelity` compares them all."""

import collections
import re
import shlex

import crates
import equality
import lab
from compiles import BOOTSTRAP, EDITS, Compile
from lab import Skip, each

# Each mode in one toolchain.
CASES = (*(("stable", crates.SHORT, mode)
           for mode in ("debug", "first-incremental", "second-incremental", "threads")),
         *(("nightly", crates.SHORT, mode)
           for mode in ("debug", "metadata", "second-incremental", "threads")),
         ("nightly", "memchr", "release"), ("stable", "smallvec", "edited-incremental"))
QUERIES = ("-q", "-e", "query-provider")


def summary_of(case):
    kinds = collections.Counter()
    for (kind, _), n in case.one.counts.items():
        kinds[kind] += n
    differ = sum(case.one.relabelled.values())
    return "%s, %d threads%s" % (
        ", ".join("%d %s" % (kinds[kind], kind) for kind in equality.KINDS if kinds[kind]),
        case.one.n_threads, differ and ", %d labels differ for known reasons" % differ or "")


@each(*CASES)
def test_counts(t, toolchain, crate, mode):
    """All kinds, in `-e all` and in the default."""
    t.need_capture()
    case = equality.Case(Compile(t, t.toolchain(toolchain), crate, mode),
                         equality.SPREAD_RUNS if mode == "threads" else 1)
    case.assert_explained()
    if mode == "second-incremental":
        assert any(kind == "IncrementalLoadResult" for kind, _ in case.default)
    return summary_of(case)


def test_queries_alone(t):
    """The counts are the same if only queries are recorded."""
    t.need_capture()
    compile = Compile(t, t.toolchain(), crates.SHORT, "debug")
    run = t.record(compile.argv("ours"), QUERIES, env=BOOTSTRAP)
    _, alone = compile.profiled("truth", lambda argv: t.plain(argv, env=BOOTSTRAP))
    assert t.counts(run.trace) == alone.counts()
    return "%d events" % sum(alone.counts().values())


@each((crates.LONG, "threads", "QueryBlocked"),
      (crates.SHORT, "second-incremental", "IncrementalLoadResult"))
def test_optional_probes_that_nobody_expected(t, crate, mode, kind):
    """The probes of waiting, or of incremental compilation, are attached for the first compiler
    that needs them, before it begins. With several threads, each has its own intervals, which nest
    and include waiting, as in rustc's profile."""
    t.need_capture()
    compile = Compile(t, t.toolchain(), crate, mode)

    def run(argv):
        script = "%s -vV && exec %s" % (compile.rustc, shlex.join(argv))
        return t.capture(["sh", t.write("build.sh", script)], ("-v", "-e", "all"),
                         env=BOOTSTRAP)

    for attempt in range(5):
        done, profile = compile.profiled("both%d." % attempt, run, equality.EVENTS)
        assert len(re.findall(rb"attached \d+ more probes", done.stderr)) == 1, done.stderr
        one = equality.OneProcess(equality.Case.spans(t, done), profile, equality.plan_of(compile))
        late = b"had begun before the probes" in done.stderr
        assert late or not one.unexplained(), one.unexplained()
        n, truth = (sum(n for (of, _), n in counts.items() if of == kind)
                    for counts in (one.counts, one.truth))
        if n and not late:
            break
    assert n and not late, done.stderr
    assert kind != "QueryBlocked" or n == truth and one.n_threads > 4, (n, truth, one.n_threads)
    return "%d times %s, %d threads" % (n, kind, one.n_threads)


def test_three_crates_are_here(t):
    """The fidelity page needs three crates; a missing one must not pass unnoticed."""
    if not lab.toolchains():
        raise Skip("no rustc; see https://rustup.rs")
    for crate in EDITS:
        crates.source(crate)
