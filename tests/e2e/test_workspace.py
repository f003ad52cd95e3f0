# SPDX-License-Identifier: Apache-2.0 OR MIT
"""
Whole builds by cargo: every compiler is recorded, with the executions that rustc's own profiler
counts in the same build.

A compiler that only answers a question (`rustc -vV`, from cargo; `rustc --version`, from build
scripts) is a process in the trace without a crate or query. cargo's question for file names has the
crate name `___`. `cargo -v` prints none of them.
"""

import collections
import glob
import json
import os
import shutil
import time

import equality
import lab
from compiles import BOOTSTRAP
from debian_workspace import Workspace, packages, started_by_cargo
from lab import each
from mm_profdata import BadProfile, Profile
from slow_loader import assert_in_time, store_plan
from test_follow import start_recording

QUERIES = ("-q", "-e", "query-provider")
QUESTION = "___"


def self_profiled(t, workspace, **more):
    """The environment of a build in which each compiler also profiles itself."""
    directory = t.mkdir("profiles")
    flags = "-Zself-profile=%s -Zself-profile-events=query-provider" % directory
    return workspace.env(RUSTFLAGS=flags, RUSTDOCFLAGS=flags, **BOOTSTRAP, **more)


def profiles(t):
    """({pid: Profile}, pids of unreadable profiles): rustc sometimes leaves a profile without its
    strings (compiles.profiled_path)."""
    found, unreadable = {}, set()
    for path in glob.glob(t.path("profiles", "*.mm_profdata")):
        pid = int(path.rpartition("-")[2].split(".")[0])
        try:
            found[pid] = Profile.read(path)
        except BadProfile as e:
            assert "no stream" in str(e), (path, e)
            unreadable.add(pid)
    assert len(unreadable) <= max(2, len(found) // 10), unreadable
    return found, unreadable


def executed(process):
    return collections.Counter({q["name"]: q["count"] for q in process["queries"]})


def assert_equal(t, processes, truth, toolchain="stable"):
    """
    Compare each process's executions, query by query; returns their number. In an incremental
    build, labels of rustc's own profile may differ: then compare event by event, and accept known
    reasons only.
    """
    total = 0
    for process in processes:
        ours, theirs = executed(process), truth[process["pid"]].counts()
        total += ours.total()
        if ours == theirs:
            continue
        what = process["command"][:80], ours - theirs, theirs - ours
        assert "incremental=" in process["command"] and ours.total() == theirs.total(), what
        plan = t.run_qprof("plan", "--json", t.toolchain(toolchain).rustc)
        one = equality.OneProcess(t.spans(t.path("trace.qpt"), process=process["pid"]),
                                  truth[process["pid"]], json.loads(plan.stdout), ("Query",))
        assert not one.unexplained(), (what, one.unexplained())
    return total


def cargos_own(processes):
    """Processes that cargo started itself; build scripts run compilers, too."""
    (cargo,) = {p["parent_pid"] for p in processes if p["crate"] == QUESTION}
    return [p for p in processes if p["parent_pid"] == cargo]


def names(processes):
    return collections.Counter(
        p["crate"] for p in processes if p["crate"] not in (None, QUESTION))


def test_every_compiler(t):
    workspace = Workspace(t)
    run = t.capture(workspace.command(), QUERIES, env=self_profiled(t, workspace),
                    cwd=workspace.dir)
    text = run.stderr.decode()
    assert run.status == 0, text[-2000:]
    assert len(packages(text)) >= 30, packages(text)

    document = t.report(run.trace)
    assert document["lost"] == 0, document["losses"]
    assert document["losses"]["end_without_start"] == 0, document["losses"]
    processes = document["processes"]
    assert not [p for p in processes if p["attached_late"]]
    assert names(cargos_own(processes)) == started_by_cargo(text)

    truth, unreadable = profiles(t)
    compiling = [p for p in processes if p["crate"]]
    assert {p["pid"] for p in compiling} == truth.keys() | unreadable
    assert not [p for p in processes if not p["crate"] and p["queries"]]
    total = assert_equal(t, [p for p in compiling if p["pid"] in truth], truth)
    by_cargo = started_by_cargo(text).total()
    return "%d packages, %d compilers of cargo's, %d of scripts, %d only asked; %d queries" % (
        len(packages(text)), by_cargo, len(compiling) - 1 - by_cargo,
        len(processes) - len(compiling) + 1, total)


def attach_in_mid_build(t):
    """Those that started later and are late or missing, and what was recorded."""
    for place in ("profiles", "target"):
        shutil.rmtree(t.path(place), ignore_errors=True)
    if os.path.exists(t.path("trace.qpt")):
        os.unlink(t.path("trace.qpt"))
    workspace = Workspace(t)
    log = open(t.path("log"), "wb")
    build = t.start_plain(workspace.command("-p", "model"), cwd=workspace.dir, stderr=log,
                          env=self_profiled(t, workspace))
    lab.wait_for("the build to be under way", lambda: len(os.listdir(t.path("profiles"))) > 4)
    profiler = start_recording(t, "-e", "query-provider", "--pid", str(build.pid))
    running = {pid for pid in lab.children(build.pid) if lab.alive(pid)}
    attached_ns = time.time_ns()
    assert build.wait(timeout=lab.TIMEOUT) == 0, open(t.path("log")).read()[-2000:]
    status = profiler.wait(timeout=lab.TIMEOUT)
    document = t.report(t.path("trace.qpt"))
    assert status == 0 or status == 122 and document["losses"]["compilers"], profiler.said()
    assert document["lost"] == document["losses"]["compilers"], document["losses"]
    processes = {p["pid"]: p for p in document["processes"]}
    late = {pid for pid, p in processes.items() if p["attached_late"]}
    truth, _ = profiles(t)
    later = [pid for pid, profile in truth.items()
             if profile.metadata()["start_time"] > attached_ns and pid not in running]
    assert len(later) >= 3, later
    missed = {pid for pid in later if pid not in processes}
    assert len(missed) <= document["lost"], missed
    if document["lost"] or late & set(later):
        return missed | late & set(later) or {"lost": document["lost"]}, ""
    # Build scripts have no profile.
    assert running & truth.keys() <= processes.keys(), (running, processes.keys())
    total = assert_equal(t, [processes[pid] for pid in later], truth)
    return set(), "%d compilers before, %d late, %d later with %d queries" % (
        len(truth) - len(later), len(late), len(later), total)


def test_attached_in_mid_build(t):
    """Compilers that start later are complete; running ones are recorded and marked as late. On a busy
    machine a ptrace stop may end before the probes are there."""
    t.need_capture()
    for _ in range(3):
        late, said = attach_in_mid_build(t)
        if not late:
            break
    assert not late, late
    return said


# ---- Other compilers ----------------------------------------------------------------------------


SCRIPT = """\
use std::process::Command;

fn main() {
    let other = std::env::var("OTHER_RUSTC").unwrap();
    let out = std::env::var("OUT_DIR").unwrap();
    let flags = std::env::var("OTHER_FLAGS").unwrap();
    let mut command = Command::new(other);
    command.args(["--crate-name", "other", "--crate-type", "lib", "--out-dir", &out]);
    command.args(flags.split(' ')).arg("src/lib.rs");
    assert!(command.status().unwrap().success());
}
"""
LIBRARY = """\
//! Doubles.

/// Twice as many.
pub fn twice(words: &[String]) -> Vec<String> {
    words.iter().chain(words).map(|word| format!("{word}!")).collect()
}
"""


def one_package(t, workspace, script=None):
    """A single package, as an alternative to the workspace."""
    t.mkdir("package/src")
    t.give(t.mkdir("package"))
    t.write("package/Cargo.toml", '[package]\nname = "one"\nversion = "0.1.0"\nedition = "2021"\n')
    t.write("package/src/lib.rs", LIBRARY)
    if script:
        t.write("package/build.rs", script)
    return t.path("package")


def library_of(sysroot):
    """The library's file name, which has a hash of the contents."""
    (library,) = glob.glob(os.path.join(sysroot, "lib/librustc_driver*.so"))
    return os.path.basename(library)


def other_compiler(t):
    """A compiler of another toolchain than stable; without nightly, stable with a changed library."""
    if library_of(t.toolchain("nightly").sysroot) != library_of(t.toolchain().sysroot):
        return t.toolchain("nightly").rustc
    compiler = t.own_toolchain("toolchain")
    with open(t.path("toolchain/lib", library_of(t.path("toolchain"))), "ab") as f:
        f.write(b"\0")
    return compiler


def build_with_two_toolchains(t, cache):
    """Build and report. On a busy machine a plan may take longer than a ptrace stop: then the
    compiler must be marked as late, or be lost if it was short."""
    for place in ("profiles", "target", "package", "toolchain"):
        shutil.rmtree(t.path(place), ignore_errors=True)
    workspace = Workspace(t)
    env = self_profiled(t, workspace, OTHER_RUSTC=other_compiler(t), XDG_CACHE_HOME=t.mkdir(cache))
    env["OTHER_FLAGS"] = env["RUSTFLAGS"]
    run = t.capture(workspace.command(), ("-i", "10min", "-e", "query-provider"), env=env,
                    cwd=one_package(t, workspace, SCRIPT))
    err = run.stderr.decode()
    document = t.report(run.trace)
    assert run.status == 0 or run.status == 122 and document["losses"]["compilers"], err[-2000:]
    for process in document["processes"]:
        assert_in_time(process, err)
    return document


@lab.alone("compilers wait for a plan, and for no longer than they are held")
def test_two_toolchains(t):
    """A build script uses another toolchain; neither has a stored plan."""
    for attempt in range(5):
        document = build_with_two_toolchains(t, "cache%d" % attempt)
        processes = document["processes"]
        if not document["lost"] and not any(p["attached_late"] for p in processes):
            break
    assert not document["lost"], document["losses"]
    assert not [p for p in processes if p["attached_late"]], processes
    libraries = {p["crate"]: p["build_id"] for p in processes}
    assert libraries["other"] and libraries["one"], libraries
    assert libraries["other"] != libraries["one"], libraries
    truth, _ = profiles(t)
    total = assert_equal(t, [p for p in processes if p["pid"] in truth], truth)
    assert {"other", "one", "build_script_build"} <= names(processes).keys()
    return "%d queries" % total


@each(("check", "rustc"), ("clippy", "clippy-driver"), ("doc", "rustdoc"))
def test_other_drivers(t, verb, program):
    """Other commands of cargo, and other programs than rustc with the same library."""
    workspace = Workspace(t)
    if not os.path.exists(os.path.join(workspace.bin, program)):
        raise lab.Skip("no %s in the toolchain" % program)
    run = t.capture(workspace.command(verb=verb), QUERIES, env=self_profiled(t, workspace),
                    cwd=one_package(t, workspace))
    assert run.status == 0, run.stderr.decode()[-2000:]
    document = t.report(run.trace)
    assert document["lost"] == 0, document["losses"]
    truth, _ = profiles(t)
    (process,) = [p for p in document["processes"] if p["crate"] == "one"]
    assert program in process["command"], process["command"]
    assert not process["attached_late"]
    assert assert_equal(t, [process], truth) > 100
    return "%d queries" % sum(executed(process).values())


@each(("miri", "one miri"), ("my-own-driver", "one"))
def test_compilers_of_other_names(t, program, compiled):
    """cargo starts them as it starts miri: through a wrapper that takes rustc's place.

    Under miri's name, a compiler stands in for it, as the component is in no toolchain here.
    """
    workspace = Workspace(t)
    compiler = t.own_toolchain("toolchain", program)
    store_plan(t, compiler)  # making it may take longer than a ptrace stop
    wrapper = t.write("wrapper", '#!/bin/sh\nshift\nexec "%s" "$@"\n' % compiler)
    os.chmod(wrapper, 0o755)
    where = one_package(t, workspace)
    for attempt in range(5):
        workspace.new_target("target-%d" % attempt)
        run = t.capture(workspace.command(), (*QUERIES, "--force"), cwd=where,
                        env=self_profiled(t, workspace, RUSTC_WRAPPER=wrapper))
        err = run.stderr.decode()
        document = t.report(run.trace)
        # Only its mappings show that it is a compiler: on a busy machine it may be missed, and counts as lost.
        if not document["losses"]["compilers"]:
            break
    assert run.status == 0, err[-2000:]
    assert document["lost"] == 0, document["losses"]
    (process,) = [p for p in document["processes"] if p["crate"] == "one"]
    assert process["command"].startswith(compiler + " "), process["command"]
    assert [c["name"] for c in document["build"]["crates"]] == [compiled], document["build"]["crates"]
    assert not process["attached_late"], err
    truth, _ = profiles(t)
    assert assert_equal(t, [process], truth) > 100
    return "%d queries" % sum(executed(process).values())
