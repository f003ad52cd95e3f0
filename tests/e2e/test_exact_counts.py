# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Recordings equal rustc's own profiles: event by event in one process, label by label in two.
These are some crates and modes; `make fidelity` compares them all."""

import collections
import re
import shlex

import crates
import equality
import lab
from compiles import BOOTSTRAP, EDITS, MODES, Compile
from lab import Skip, each

# Each in one toolchain.
OTHERS = (("stable", "regex-syntax", "debug"), ("nightly", "memchr", "release"),
          ("stable", "smallvec", "edited-incremental"))
QUERIES = ("-q", "-e", "query-provider")


def summary_of(case):
    kinds = collections.Counter()
    for (kind, _), n in case.one.counts.items():
        kinds[kind] += n
    differ = sum(case.one.relabelled.values())
    return "%s, %d threads%s" % (
        ", ".join("%d %s" % (kinds[kind], kind) for kind in equality.KINDS if kinds[kind]),
        case.one.n_threads, differ and ", %d labels differ for known reasons" % differ or "")


@each(*((toolchain, crates.SHORT, mode) for toolchain in lab.toolchains() or ("stable",)
        for mode in MODES), *OTHERS)
def test_counts(t, toolchain, crate, mode):
    """All kinds, in `-e all` and in the default."""
    t.need_capture()
    case = equality.Case(Compile(t, t.toolchain(toolchain), crate, mode),
                         equality.SPREAD_RUNS if mode == "threads" else 1)
    case.assert_explained()
    if mode == "second-incremental":
        assert any(kind == "IncrementalLoadResult" for kind, _ in case.default)
    return summary_of(case)


@each(*(lab.toolchains() or ("stable",)))
def test_queries_alone(t, toolchain):
    """The counts are the same if only queries are recorded."""
    t.need_capture()
    compile = Compile(t, t.toolchain(toolchain), crates.SHORT, "debug")
    run = t.record(compile.argv("ours"), QUERIES, env=BOOTSTRAP)
    _, alone = compile.profiled("truth", lambda argv: t.plain(argv, env=BOOTSTRAP))
    assert t.counts(run.trace) == alone.counts()
    return "%d events" % sum(alone.counts().values())


def test_parallel_front_end(t):
    """Each thread has its own intervals, which nest and include waiting, as in rustc's profile."""
    t.need_capture()
    compile = Compile(t, t.toolchain(), crates.LONG, "threads")
    for attempt in range(5):
        run, profile = compile.profiled(
            "both%d." % attempt, lambda argv: t.capture(argv, equality.ALL, env=BOOTSTRAP),
            equality.EVENTS)
        one = equality.OneProcess(equality.Case.spans(t, run), profile, equality.plan_of(compile))
        assert not one.unexplained(), one.unexplained()
        waits = sum(n for (kind, _), n in one.counts.items() if kind == "QueryBlocked")
        if waits:
            break
    assert waits and waits == sum(
        n for (kind, _), n in one.truth.items() if kind == "QueryBlocked"), waits
    assert one.n_threads > 4, one.n_threads
    return "%d times blocked, %d threads" % (waits, one.n_threads)


@each((crates.LONG, "threads", "QueryBlocked"),
      (crates.SHORT, "second-incremental", "IncrementalLoadResult"))
def test_optional_probes_that_nobody_expected(t, crate, mode, kind):
    """The probes of waiting, or of incremental compilation, are attached for the first compiler
    that needs them, before it begins."""
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
        n = sum(n for (of, _), n in one.counts.items() if of == kind)
        if n and not late:
            break
    assert n and not late, done.stderr
    return "%d times %s" % (n, kind)


def test_three_crates_are_here(t):
    """The fidelity page needs three crates; a missing one must not pass unnoticed."""
    if not lab.toolchains():
        raise Skip("no rustc; see https://rustup.rs")
    for crate in EDITS:
        crates.source(crate)
