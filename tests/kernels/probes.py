# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Features of recordings with probes."""

import collections
import json
import os
import re
import signal
import subprocess

from world import (BOOTSTRAP, MULTI, Lab, Late, assert_equal, ended, feature, paranoid, recording,
                   refuse)
import crates
import equality
import lab
import test_default
import test_follow
import test_stuck
import test_top
import test_without_root

# A ptrace stop lasts for a little less than 3 s; HELD adds this slow machine's delay.
PATIENCE, HELD = 2.5, 8


@feature("doctor", quick=True)
def doctor(world):
    done = world.t.run_qprof("doctor", "--json")
    document = json.loads(done.stdout)
    bad = [f for f in document["findings"] if f["state"] == "problem"]
    assert done.returncode == 0 and not bad, "status %d; %s" % (
        done.returncode, "; ".join("%s: %s" % (f["name"], f["says"]) for f in bad))
    notes = [f["name"] for f in document["findings"] if f["state"] not in ("ok", "problem")]
    return "notes: %s" % ", ".join(notes) if notes else ""


@feature("counts: default events", quick=True)
def default_events(world):
    world.profile()
    run = world.capture("default", ("-q",))
    ours = equality.counts_of(equality.Case.spans(world.t, run))
    truth = equality.truth_counts(world.profile())
    truth = collections.Counter({key: n for key, n in truth.items()
                                 if equality.of_default(*key) and (MULTI or key[0] == "Query")})
    wrong = {key: (ours[key], truth[key]) for key in ours.keys() | truth.keys()
             if ours[key] != truth[key] and not only_profiled(key, ours[key])}
    assert not wrong, "%d events, rustc's %d; (ours, rustc's): %s" % (
        sum(ours.values()), sum(truth.values()), dict(list(wrong.items())[:3]))
    return "%d %s" % (sum(ours.values()), "events" if MULTI else "queries")


def only_profiled(key, ours):
    """Whether only a rustc that profiles itself has these events."""
    return not ours and equality.matches(key[1], equality.ONLY_PROFILED)


@feature("counts: -e query-provider")
def query_provider(world):
    return world.assert_queries(world.capture("queries", ("-q", "-e", "query-provider")).trace)


@feature("counts: -e all")
def all_events(world):
    """Event by event, compared with the profile of the same process."""
    t = world.t
    both, profile = world.compile.profiled(
        "both", lambda argv: t.capture(argv, equality.ALL, env=BOOTSTRAP, trace="both.qpt"),
        equality.EVENTS)
    plan = equality.plan_of(world.compile)
    one = equality.OneProcess(equality.Case.spans(t, both), profile, plan)
    assert one.late <= equality.inexact(plan), one.late - equality.inexact(plan)
    assert not one.unexplained(), one.unexplained()
    return "%d events of %d threads" % (sum(one.counts.values()), one.n_threads)


@feature("counts: --callers")
def callers(world):
    run = world.capture("callers", ("-q", "-e", "query-provider", "--callers"))
    unknown = [span["query"] for span in world.t.spans(run.trace)
               if span.get("kind", "Query") == "Query" and not span.get("caller")]
    assert not unknown, "%d callers unknown: %s" % (len(unknown), unknown[:3])
    return world.assert_queries(run.trace)


@feature("--attach perf")
def attach_perf(world):
    """Few probes, because each takes long to detach."""
    truth = world.profile().counts()
    some = [name for name, _ in truth.most_common(12)]
    run = world.capture("perf", ("-q", "--attach", "perf", "-e", ",".join(some)))
    counts = world.t.counts(run.trace)
    assert_equal(counts, collections.Counter({name: truth[name] for name in some}))
    return "%d executions of %d queries" % (sum(counts.values()), len(some))


@feature("without options: counts and samples")
def default(world):
    """Counts are rustc's."""
    t = world.t
    run, profile = world.compile.profiled("default", lambda argv: t.capture(
        argv, ("-q",), BOOTSTRAP, trace="default.qpt", exact=False))
    assert run.status == 0, (run.status, run.stderr.decode())
    counted, truth = test_default.counts(t, run.trace), profile.counts()
    assert_equal(collections.Counter(counted), collections.Counter({name: truth[name] for name in counted}))
    assert t.report(run.trace)["samples"]["n"]
    return "%d queries counted" % len(counted)


# ---- Followed processes -------------------------------------------------------------------------


@feature("-p")
def follow_process(world):
    """A process that starts a compiler later, and a running compiler."""
    t = world.t
    build = t.start_plain(["sh", "-c", 'read line; "$@"', "sh", *world.compile.argv("followed")],
                          stdin=subprocess.PIPE, env=BOOTSTRAP)
    with recording(t, "-p", str(build.pid)) as profiler:
        build.communicate(b"\n")
        assert build.returncode == 0, build.returncode
        ended(profiler)
    (process,) = t.report(t.path("live.qpt"))["processes"]
    assert not process["attached_late"], process
    said = world.assert_queries(t.path("live.qpt"))
    constants = "\n".join("pub const X%d: u64 = spin(500);" % i for i in range(1600))
    compiler = test_stuck.compiling(t, constants)
    try:
        with recording(t, "-p", str(compiler.pid)) as profiler:
            compiler.wait(timeout=lab.TIMEOUT)
            ended(profiler)
    finally:
        compiler.kill()
    document = t.report(t.path("live.qpt"))
    (process,) = document["processes"]
    assert process["attached_late"] and document["lost"] == 0, document["losses"]
    names = {q["name"] for q in document["queries"]}
    assert "eval_to_allocation_raw" in names, sorted(names)
    return said


def names_within(snapshot):
    """The queries of the thread that computes a constant, or None."""
    for process in snapshot["processes"]:
        for thread in process["threads"]:
            names = test_stuck.names(thread)
            if "eval_to_allocation_raw" in names:
                return names
    return None


@feature("stuck")
def stuck(world):
    process = test_stuck.compiling(world.t, "pub const X: u64 = %s;" % test_stuck.FOR_EVER)
    try:
        _, names = test_stuck.look_until(world.t, process.pid, names_within)
    finally:
        process.kill()
    assert names == ["analysis", "eval_to_const_value_raw", "eval_to_allocation_raw"], names
    return " > ".join(names)


@feature("top")
def top(world):
    """On a terminal, until the command ends; its exit status is the command's."""
    t = world.t
    command = test_top.top(t, "-i", "200ms", "-o", t.path("top.qpt"), "--",
                           *world.compile.argv("top"))
    with test_top.Screen(t, command, BOOTSTRAP) as screen:
        screen.wait("finished,", "> tiny", "lost 0")
        screen.keys("Enter")
        screen.wait("Queries of tiny (")
        screen.keys("q")
        screen.wait("status=0")
    return world.assert_queries(t.path("top.qpt"))


@feature("--system")
def whole_machine(world):
    t = world.t
    with recording(t, "--system") as profiler:
        assert t.plain(world.compile.argv("system"), env=BOOTSTRAP).status == 0
        profiler.send_signal(signal.SIGINT)
        seconds = held(ended(profiler).encode())
    processes = t.report(t.path("live.qpt"))["processes"]
    (process,) = [p for p in processes if t.dir in (p["command"] or "")]
    if process["attached_late"]:
        # Perf events may take longer to attach than a ptrace stop may last.
        assert seconds > PATIENCE, "late, though held for %.1f s only" % seconds
        raise Late("held for %.1f s" % seconds)
    return world.assert_queries(t.path("live.qpt"))


def held(err):
    """The longest time in seconds that a compiler waited for its probes."""
    found = re.search(rb"1 compiler waited ([\d.]+) s|for their probes: ([\d.]+) s at most", err)
    return float(found.group(1) or found.group(2)) if found else 0.0


@feature("unforeseen toolchain")
def unforeseen(world):
    """A toolchain without a plan: the compiler is complete or marked as late, and never held for
    long."""
    t = world.t
    compiler = t.own_toolchain("toolchain", "my-own-compiler")
    command = [compiler] + world.compile.argv("unforeseen")[1:]
    env = {**test_follow.nothing_known(t), **BOOTSTRAP}
    run = t.capture(command, ("-v",), env=env, trace="unforeseen.qpt")
    assert run.status == 0, (run.status, run.stderr.decode()[-600:])
    seconds = held(run.stderr)
    assert seconds < HELD, "held for %.1f s" % seconds
    document = t.report(run.trace)
    assert len(document["processes"]) == 1, document["processes"]
    if document["processes"][0]["attached_late"]:
        assert seconds > PATIENCE, "late, though held for %.1f s only" % seconds
        raise Late("held for %.1f s" % seconds)
    return "%s, held %.1f s" % (world.assert_queries(run.trace), seconds)


@feature("failing compile")
def failing(world):
    return world.failing()


# ---- Two capabilities ---------------------------------------------------------------------------


def two_capabilities(world, level):
    """A known toolchain, and one without a plan."""
    with Lab(world.build) as t, paranoid(level), \
            test_without_root.User(t, test_without_root.BOTH) as user:
        command = user.compile(crates.SHORT)
        counts = user_counts(t, user, command)
        expected = t.counts(t.capture(command).trace)
        assert_equal(counts, expected)
        other = os.path.join(os.path.dirname(test_without_root.own_toolchain(t, user)), "other")
        os.rename(os.path.join(os.path.dirname(other), "rustc"), other)
        bare = os.path.join(t.mkdir("bin"), "sh")
        os.symlink("/bin/sh", bare)
        counts = user_counts(t, user, [other] + command[1:], PATH=t.path("bin"),
                             XDG_CACHE_HOME=os.path.join(user.home, "none"))
        assert_equal(counts, expected)
    return "%d queries" % sum(counts.values())


def user_counts(t, user, command, **env):
    trace = os.path.join(user.home, "trace.qpt")
    done = user.run("-q", "--force", "-o", trace, "--", *command, **env)
    refuse(done.returncode, done.stderr)
    assert (done.returncode, done.stderr) == (0, ""), done
    return t.counts(trace)


@feature("two capabilities, perf_event_paranoid 2")
def capabilities(world):
    return two_capabilities(world, 2)


@feature("two capabilities, perf_event_paranoid 3")
def capabilities_paranoid(world):
    return two_capabilities(world, 3)
