# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Losses are reported, in the exit status too; and recordings without perf events."""

import json
import os
import subprocess
import sys

import crates
import lab
from lab import each
from slow_loader import SlowLoader, assert_in_time
from test_follow import compile_command, end_recording, nothing_known, ours, start_recording
from test_targets import one_error_line
from test_without_root import findings

LOST = lab.MOST_LOST
LAUNCHER = [sys.executable, "-B",
            os.path.join(os.path.dirname(os.path.abspath(__file__)), "without_perf_events.py")]


@each((0, LOST), (7, 7))
def test_most_is_lost(t, status, expected):
    """The recorder is stopped while the compiler runs, so the ring overflows. The command's failure
    takes precedence."""
    command = compile_command(t, "out")
    script = 'kill -STOP $PPID; "$@"; kill -CONT $PPID; exit %d' % status
    run = t.capture(["sh", "-c", script, "sh", *command], options=("-q", "--ring-size", "4k"))
    (line,) = run.stderr.decode().splitlines()
    assert run.status == expected, run
    assert " intervals were lost; the main cause: ring buffer full; " in line, line
    assert "--ring-size" in line, line
    losses = t.report(run.trace)["losses"]
    assert losses["ring_full"] > 100, losses
    first = t.run_qprof("report", run.trace).stdout.splitlines()[0]
    assert "intervals were lost; the main cause: ring buffer full" in first, first
    assert first in line, (first, line)
    return first


def test_some_is_lost(t):
    """A loss of less than half is in the report; the exit status stays 0."""
    command = compile_command(t, "out")
    script = '"$@" && "$@" && "$@" && "$@" && kill -STOP $PPID; "$@"; kill -CONT $PPID'
    run = t.capture(["sh", "-c", script, "sh", *command], options=("-q", "--ring-size", "512k"))
    document = t.report(run.trace)
    recorded = sum(q["count"] for q in document["queries"])
    assert 0 < document["lost"] < recorded, (document["lost"], recorded)
    assert (run.status, run.stderr) == (0, b""), run
    return "%d of %d" % (document["lost"], recorded)


def test_questions_are_no_loss(t):
    """A compiler that only answers executes no query."""
    run = t.capture([t.rustc, "-vV"])
    assert run.status == 0 and not run.stderr, run


def test_short_compilers_by_the_dozen_are_no_loss(t):
    """They end while they are looked at, and xargs looks like the client of a server."""
    source = t.write("few.rs", "pub fn f() {}")
    script = ('seq 40 | xargs -P64 -I{} "$0" --crate-type lib --emit=metadata --out-dir out{} %s; '
              'seq 100 | xargs -P64 -I{} "$0" -vV >/dev/null' % source)
    run = t.capture(["sh", "-c", script, t.rustc], ("--exact",))
    said = run.stderr.decode()
    assert run.status == 0 and " of 140 compilers, 0 lost" in said, said
    assert "missing" not in said and "had begun" not in said and "of a server" not in said, said
    names = t.span_counts(run.trace)
    assert names["Query", "crate_hash"] % 40 == 0 < names["Query", "crate_hash"], names


# ---- Perf events are refused --------------------------------------------------------------------


def needs_filter(t):
    t.need_capture()
    if os.geteuid() or lab.invoker().pw_uid:
        raise lab.Skip("only root may set a filter of system calls and keep its rights")


def refused(t, *arguments, env=None):
    needs_filter(t)
    return subprocess.run([*LAUNCHER, t.qprof, *arguments], capture_output=True, text=True,
                          timeout=lab.TIMEOUT, cwd=t.dir, env=t.qprof_env(env),
                          stdin=subprocess.DEVNULL)


def counts(t, trace):
    """Like t.counts(), but other users' programs that end before they are looked at may be lost."""
    document = t.report(trace)
    assert document["lost"] == document["losses"]["mappings"], document["losses"]
    return lab.by_name(document["queries"])


@lab.alone("a program of another test that is gone before it was looked at is a loss")
def test_unforeseen_toolchain_without_perf_events(t):
    """The compiler is found among the new programs while its loader works, and recorded completely."""
    needs_filter(t)
    compiler = t.own_toolchain("toolchain", "my-own-compiler")
    command = [compiler] + crates.arguments(crates.SHORT, t.mkdir("out"), "--emit=metadata")
    known = t.capture([t.rustc] + command[1:], trace="known.qpt")
    loader = SlowLoader(t)
    profiler = t.start([*LAUNCHER, t.qprof, "--exact", "-o", t.path("x.qpt"), "--", *loader.launcher,
                        *command], env=t.qprof_env(nothing_known(t)), text=True)
    t.attached(profiler)
    loader.go_on()
    _, err = profiler.communicate(timeout=lab.TIMEOUT)
    assert profiler.returncode == 0, err
    first, *_ = err.splitlines()
    assert "seccomp filter refuses perf_event_open(2)" in first and "/proc" in first, first
    (process,) = t.report(t.path("x.qpt"))["processes"]
    assert_in_time(process, err)
    assert process["attached_late"] == ("had begun before" in err), err
    assert counts(t, t.path("x.qpt")) == t.counts(known.trace)


@lab.alone("a program of another test that is gone before it was looked at is a loss")
def test_quiet_without_perf_events(t):
    done = refused(t, "-q", "--exact", "-o", t.path("x.qpt"), "--", *compile_command(t, "out"))
    assert (done.returncode, done.stderr) == (0, ""), done
    assert counts(t, t.path("x.qpt"))


@lab.alone("it records, and holds, the compilers of all tests")
def test_whole_machine_without_perf_events(t):
    """--system records a compiler that is not a child of the recorder."""
    needs_filter(t)
    known = t.capture(compile_command(t, "known"), trace="known.qpt")
    qprof = t.qprof
    launcher = t.write("launcher", "#!/bin/sh\nexec %s %s \"$@\"\n" % (" ".join(LAUNCHER), qprof))
    os.chmod(launcher, 0o755)
    loader = SlowLoader(t)
    t.qprof = launcher
    try:
        profiler = start_recording(t, "--system")
    finally:
        t.qprof = qprof
    compiler = t.start_plain([*loader.launcher, *compile_command(t, "out")])
    t.attached(profiler)
    loader.go_on()
    assert compiler.wait(timeout=lab.TIMEOUT) == 0, compiler.communicate()
    end_recording(profiler)
    (process,) = ours(t, t.report(t.path("trace.qpt"))["processes"])
    assert not process["attached_late"], process["command"]
    assert lab.by_name(process["queries"]) == t.counts(known.trace)


def test_samples_without_perf_events(t):
    """Without probes nothing would be recorded: the command does not run. With probes, one line says
    so, and queries are recorded."""
    needs_filter(t)
    ran = t.path("ran")
    done = refused(t, "-q", "-e", "none", "--sample", "-o", t.path("x.qpt"), "--", "touch", ran)
    one_error_line(done, "no samples", "seccomp filter refuses perf_event_open(2)", "seccomp profile")
    assert not os.path.exists(ran) and not os.path.exists(t.path("x.qpt")), os.listdir(t.dir)
    done = refused(t, "-q", "-e", "none", "--memory", "-o", t.path("x.qpt"), "--pid", str(os.getpid()))
    one_error_line(done, "no samples", "seccomp filter")
    done = refused(t, "--sample", "-o", t.path("x.qpt"), "--", *compile_command(t, "out"))
    (line,) = [x for x in done.stderr.splitlines() if "no samples are taken" in x]
    assert done.returncode == 0 and "seccomp filter refuses" in line and "seccomp profile" in line, done
    assert counts(t, t.path("x.qpt"))


def test_waits_without_perf_events(t):
    """The stacks of waits need none."""
    needs_filter(t)
    done = refused(t, "-q", "-e", "none", "--off-cpu-stacks", "-o", t.path("x.qpt"), "--",
                   *compile_command(t, "out"))
    assert (done.returncode, done.stderr) == (0, ""), done
    causes = [json.loads(x)["cause"] for x in t.run_qprof("dump", t.path("x.qpt")).stdout.splitlines()
              if '"sample"' in x and '"cause"' in x]
    assert set(causes) == {"off_cpu"}, causes[:10]


def test_doctor_without_perf_events(t):
    """doctor tries what a recording needs, and reports the replacement."""
    found = findings(refused(t, "doctor", "--json"))["mappings"]
    assert found["state"] == "note" and "a seccomp filter refuses" in found["says"], found
    assert "seccomp profile" in found["fix"], found
    ok = findings(t.run_qprof("doctor", "--json"))["mappings"]
    assert ok["state"] == "ok" and not ok["fix"], ok
