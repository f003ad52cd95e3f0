# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The arguments of activities: equal to those of rustc's own profile, and what reports make of them."""

import collections
import os

import debian_toolchains
import lab
from compiles import BOOTSTRAP, profiled
from equality import Case
from lab import each
from test_stripped import hide_symbols
from test_targets import shared_toolchain

PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs")
EVENTS = "default,args"
SEPARATOR = "\x1e"
# In a run that does not profile itself there is no such interval.
PROFILED = ("mir_pass_",)

MODES = {
    "debug": (),
    "units": ("-O", "-Ccodegen-units=4"),
    "thin": ("-O", "-Clto=thin"),
    "fat": ("-O", "-Clto=fat"),
    "incremental": ("-O", "-Cincremental=state"),
}
TOOLCHAINS = tuple(lab.toolchains()) or ("stable",)
# Both do it again in the first build of the incremental mode; LTO takes long.
ONE_TOOLCHAIN = {"debug": "stable", "units": "stable", "fat": "stable", "thin": "nightly"}


def compile_macros(t, rustc):
    """The command that compiles a crate which uses macros."""
    done = t.plain([rustc, "--edition=2021", "--crate-type=proc-macro", "--out-dir", t.dir,
                    os.path.join(PROGRAMS, "macros.rs")])
    assert done.status == 0, done.stderr.decode()
    return [rustc, "--edition=2021", "--extern", "macros=" + t.path("libmacros.so"),
            "--out-dir", t.dir, os.path.join(PROGRAMS, "uses_macros.rs")]


def activities(t, trace):
    """Counts of (label, text of the event)."""
    return collections.Counter((row["query"], row["event"] or "") for row in t.spans(trace)
                               if row["kind"] == "GenericActivity")


def compare(t, argv, name):
    """(ours, rustc's): counts of each label that has an argument in rustc's profile."""
    run, profile = profiled(
        t, name, EVENTS,
        lambda _, *flags: t.capture([*argv, *flags], ("-q", "-e", "all"), env=BOOTSTRAP))
    Case.assert_nothing_lost(t, run)
    truth = collections.Counter(
        (label, SEPARATOR.join(arguments))
        for kind, _, (label, *arguments), interval in profile.event_texts()
        if kind == "GenericActivity" and interval and not label.startswith(PROFILED))
    labels = {label for label, text in truth if text}

    def of(counts):
        return {key: n for key, n in counts.items() if key[0] in labels}

    return of(activities(t, run.trace)), of(truth)


def comparisons(t, rustc, mode):
    """compare() of each compile in a mode."""
    argv = [*compile_macros(t, rustc), *MODES[mode]]
    for build in range(2 if mode == "incremental" else 1):
        yield compare(t, argv, "build%d." % build)


def assert_equal(t, rustc, mode):
    n, macros = 0, 0
    for ours, truth in comparisons(t, rustc, mode):
        assert ours == truth, (sorted(ours.items() - truth.items())[:5],
                               sorted(truth.items() - ours.items())[:5])
        n += sum(truth.values())
        macros += sum(truth[key] for key in truth if key[0].startswith("expand_"))
    return "%d activities with an argument, %d with a macro, of %d labels" % (
        n, macros, len({key[0] for key in truth}))


@each(*((toolchain, mode) for toolchain in TOOLCHAINS for mode in MODES
        if ONE_TOOLCHAIN.get(mode, toolchain) == toolchain))
def test_equal(t, toolchain, mode):
    t.need_capture()
    return assert_equal(t, t.toolchain(toolchain).rustc, mode)


@each(("stable", "incremental"), ("nightly", "debug"))
def test_equal_without_symbols(t, toolchain, mode):
    """The library has no symbol table: what describes a macro is told by what it does."""
    t.need_capture()
    return assert_equal(t, shared_toolchain(t, hide_symbols, t.toolchain(toolchain)), mode)


@each(("1.96", "fat"), ("1.96", "incremental"), ("1.85", "incremental"))
def test_equal_debian(t, version, mode):
    """Likewise of Debian's compilers, whose code is laid out in other ways."""
    t.need_capture()
    return assert_equal(t, debian_toolchains.toolchain(t, version).rustc, mode)


def report(t, trace, what):
    return t.json("report", "--by", what, "--json", trace)


def test_a_slow_derive_is_the_first_macro(t):
    argv = compile_macros(t, t.toolchain().rustc)
    run = t.record(argv)
    rows = report(t, run.trace, "macro")["macros"]
    assert [row["name"] for row in rows[:1]] == ["#[derive(Slow)]"], rows
    assert {row["name"]: row["expansions"] for row in rows} == {
        "#[derive(Slow)]": 2, "twice!": 1, "#[as_it_is]": 1}
    assert rows[0]["total_ns"] >= 60e6 and rows[0]["max_ns"] >= 30e6, rows[0]
    assert [crate["name"] for crate in rows[0]["crates"]] == ["uses_macros"], rows[0]
    text = t.run_qprof("report", "--by", "macro", run.trace).stdout
    lines = text[text.index("macro\n"):].splitlines()
    assert lines[1].endswith("#[derive(Slow)]"), text
    return lines[1]


def test_codegen_units_have_rustcs_names(t):
    argv = [*compile_macros(t, t.toolchain().rustc), *MODES["units"]]
    run, profile = profiled(
        t, "units", EVENTS, lambda _, *flags: t.capture([*argv, *flags], env=BOOTSTRAP))
    names = {arguments[0] for kind, _, (label, *arguments), _ in profile.event_texts()
             if kind == "GenericActivity" and label == "codegen_module"}
    units = {row["name"]: row for row in report(t, run.trace, "cgu")["units"]}
    assert len(names) >= 2 and names <= set(units), (names, units)
    for name in names:
        unit = units[name]
        assert unit["crate"] == "uses_macros" and unit["size"] and unit["tid"], unit
        assert unit["codegen_ns"] and unit["optimize_ns"] and unit["emit_ns"], unit
        parts = {key for key in unit if key.endswith("_ns")} - {"total_ns", "cpu_ns"}
        assert sum(unit[part] for part in parts) == unit["total_ns"] >= unit["cpu_ns"], unit
    return "%d units" % len(units)


def test_without_keys_there_are_no_arguments(t):
    argv = compile_macros(t, t.toolchain().rustc)
    run = t.record(argv, ("-q", "--no-keys"))
    assert not any(event for _, event in activities(t, run.trace))
    rows = report(t, run.trace, "macro")["macros"]
    assert [row["name"] for row in rows] == [None], rows
