# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Unforeseen compilers: each is recorded from its first query."""

import os
import re
import shlex
import shutil
import signal
import subprocess
import threading
import time

import crates
import lab
from slow_loader import (
    SlowLoader, assert_in_time, compile_in_time, driver, state_of, stop_planner, store_plan,
)

LOST = lab.MOST_LOST


def nothing_known(t):
    """An environment without stored plans, and without a rustc to plan in advance."""
    bin = t.mkdir("bin")
    for name in ("sh", "sleep", "python3"):
        os.symlink(shutil.which(name), os.path.join(bin, name))
    return {"XDG_CACHE_HOME": t.mkdir("cache"), "PATH": bin}


# Not quiet: the output has the waiting times, which explain a late compiler.
SAYS_WHY = ("-i", "1s")


def talk(run):
    """A recording's messages, without its tables."""
    lines = run.stderr.decode().splitlines()
    return "\n".join(line for line in lines if line.startswith("qprof-bpf: "))


def capture_unforeseen(t, loaders, command):
    """Like t.capture() with nothing_known(); the compilers go on once the probes are there."""
    trace = t.path("trace.qpt")
    profiler = t.start_qprof(*SAYS_WHY, "-o", trace, "--", *command, env=nothing_known(t))
    t.attached(profiler)
    for loader in loaders:
        loader.go_on()
    out, err = profiler.communicate(timeout=lab.TIMEOUT)
    assert profiler.returncode == 0, err.decode()
    return lab.Run(profiler.returncode, out, err, trace)


@lab.alone("compilers wait for a plan, and for no longer than they are held")
def test_unforeseen_toolchain(t):
    """Two compilers at once, of a toolchain without a plan: none is late."""
    compiler = t.own_toolchain("toolchain", "my-own-compiler")
    command = [compiler] + crates.arguments(crates.SHORT, t.mkdir("out"), "--emit=metadata")
    known = t.capture([t.rustc] + command[1:], trace="known.qpt")
    assert known.status == 0, known
    loaders = [SlowLoader(t) for _ in range(2)]
    both = " & ".join(shlex.join([*loader.launcher, *command]) for loader in loaders)
    run = capture_unforeseen(t, loaders, ["sh", "-c", both + "; wait"])
    processes = t.report(run.trace)["processes"]
    assert len(processes) == 2, talk(run)
    for process in processes:
        assert_in_time(process, talk(run))
    counts = t.counts(run.trace)
    for name, count in t.counts(known.trace).items():
        assert counts[name] == 2 * count, (name, counts[name], count)
    return "%d executions of each" % (sum(counts.values()) // 2)


@lab.alone("compilers wait for a plan, and for no longer than they are held")
def test_process_that_waits_is_not_stopped_for_its_parent(t):
    """The parent of a waiting compiler must see no stop: a shell with job control would report it."""
    compiler = t.own_toolchain("toolchain", "rustc")
    script = t.write("parent.py", """
import os, sys
pid = os.spawnvp(os.P_NOWAIT, sys.argv[1], sys.argv[1:])
got, status = os.waitpid(pid, os.WUNTRACED | os.WCONTINUED)
sys.exit(0 if os.WIFEXITED(status) else 99)
""")
    command = [compiler] + crates.arguments(crates.SHORT, t.mkdir("out"), "--emit=metadata")
    loader = SlowLoader(t)
    run = capture_unforeseen(t, [loader], ["python3", script, *loader.launcher, *command])
    (process,) = t.report(run.trace)["processes"]
    assert_in_time(process, talk(run))


# The status of a recording that lost more than half of its compilers.
MOSTLY_LOST = 122


def start_waiting(t):
    """(stopped planner, parent of a compiler that waits for its plan, profiler)"""
    env = nothing_known(t)
    for attempt in range(5):
        compiler = t.own_toolchain("toolchain%d" % attempt, "rustc")
        command = [compiler] + crates.arguments(crates.SHORT, t.mkdir("out"), "--emit=metadata")
        parent = t.start_plain(["sh", "-c", 'read line; "$@"', "sh", *command],
                               stdin=subprocess.PIPE)
        profiler = t.start_qprof("--force", "-o", t.path("x.qpt"), "--pid", str(parent.pid),
                                 env=env)
        lab.wait_for("the recording", lambda: lab.begun(profiler))
        parent.stdin.close()
        parent.stdin = None
        planner = lab.wait_for("a planner", lambda: stop_planner(profiler) or
                               parent.poll() is not None)
        if planner is not True and lab.wait_for("a compiler that waits", lambda: tracees_of(
                profiler.pid) or parent.poll() is not None) is not True:
            return planner, parent, profiler
    raise AssertionError("each plan was over before it could be stopped")


@lab.alone("compilers wait for a plan, and for no longer than they are held")
def test_killed_while_compilers_wait(t):
    """If the recorder is killed, a compiler that waits for its plan runs on."""
    _, parent, profiler = start_waiting(t)
    profiler.kill()
    assert parent.wait(timeout=lab.TIMEOUT) == 0
    assert os.listdir(t.path("out")), "the compiler did not finish"


@lab.alone("compilers wait for a plan, and for no longer than they are held")
def test_suspended_while_compilers_wait(t):
    """Ctrl-Z stops the recorder, not the build; a compiler that ran meanwhile is marked as late."""
    planner, parent, profiler = start_waiting(t)
    profiler.send_signal(signal.SIGTSTP)
    lab.wait_for("the profiler to stop", lambda: state_of(profiler.pid) == "T")
    try:
        assert parent.wait(timeout=lab.TIMEOUT) == 0
        assert state_of(profiler.pid) == "T" and os.listdir(t.path("out"))
    finally:
        profiler.send_signal(signal.SIGCONT)
        os.kill(planner, signal.SIGCONT)
    err = profiler.stderr.read().decode()
    status = profiler.wait(timeout=lab.TIMEOUT)
    assert "1 compiler waited " in err and "had begun before the probes" in err, err
    # The recording may end before the plan is made: then the compiler counts as lost.
    if status == MOSTLY_LOST:
        assert "1 of 1 compilers were lost" in err, err
        return
    assert status == 0, err
    (process,) = t.report(t.path("x.qpt"))["processes"]
    assert process["attached_late"], process


@lab.alone("compilers wait for a plan, and for no longer than they are held")
def test_other_namespaces(t):
    """A small container: its own pid namespace, and a toolchain that only it can see."""
    t.need_capture()
    compiler = t.own_toolchain("toolchain", "rustc")
    inside = t.mkdir("inside")
    script = 'mount --bind "$1" "$2" && shift 2 && "$@"'
    loader = SlowLoader(t)
    command = [*loader.launcher, os.path.join(inside, "bin/rustc")]
    command += crates.arguments(crates.SHORT, t.mkdir("out"), "--emit=metadata")
    contained = ["unshare", "--mount", "--pid", "--fork", "sh", "-c", script, "sh",
                 os.path.dirname(os.path.dirname(compiler)), inside, *command]
    if os.geteuid() or lab.invoker().pw_uid:
        raise lab.Skip("only root may make namespaces")
    store_plan(t, compiler)
    profiler = t.start_qprof("-q", "-o", t.path("trace.qpt"), "--", *contained)
    t.attached(profiler)
    loader.go_on()
    _, err = profiler.communicate(timeout=lab.TIMEOUT)
    assert profiler.returncode == 0, err
    assert not os.listdir(inside), "the mount is to be seen from here"
    (process,) = t.report(t.path("trace.qpt"))["processes"]
    assert not process["attached_late"] and process["pid"] > 10, process["pid"]
    arguments = command[len(loader.launcher) + 1:]
    known = t.capture([t.rustc] + arguments, trace="known.qpt")
    assert t.counts(t.path("trace.qpt")) == t.counts(known.trace)


# ---- Any compiler --------------------------------------------------------------------------------


def compile_command(t, name):
    return [t.rustc] + crates.arguments(crates.SHORT, t.mkdir(name), "--emit=metadata")


def start_recording(t, *options):
    """Start a recording and wait for its first line, which comes after the first interval.
    profiler.said() returns its messages so far."""
    with open(t.path("said"), "wb") as f:
        profiler = t.start_qprof("-v", "--json", "-i", "10ms", "-o", t.path("trace.qpt"), *options,
                                 stderr=f)
    profiler.said = lambda: lab.read_text(t.path("said"))
    assert profiler.stdout.readline(), profiler.said()
    threading.Thread(target=profiler.stdout.read, daemon=True).start()
    return profiler


def end_recording(profiler):
    profiler.send_signal(signal.SIGINT)
    lab.check_end(profiler.wait(timeout=lab.TIMEOUT), profiler.said())


def ours(t, processes):
    """Processes of this test: other compilers may run on the machine, too."""
    return [p for p in processes if t.dir in (p["command"] or "")]


@lab.alone("it records, and holds, the compilers of all tests")
def test_whole_machine(t):
    """Compilers of two toolchains, which are not children of the recorder."""
    t.need_capture()
    compiler = t.own_toolchain("toolchain", "my-own-compiler")
    # Making a plan may take longer than a ptrace stop, and this test is about something else.
    store_plan(t, compiler)
    profiler = start_recording(t, "--system")
    command = compile_command(t, "out")
    compile_in_time(t, profiler, command)
    compile_in_time(t, profiler, [compiler] + command[1:])
    end_recording(profiler)
    document = t.report(t.path("trace.qpt"))
    known = t.capture(command, trace="known.qpt")
    processes = ours(t, document["processes"])
    assert len(processes) == 2, len(processes)
    assert [p["attached_late"] for p in processes] == [False, False]
    assert all(p["exit"] == 0 and p["parent_pid"] for p in processes)
    expected = t.counts(known.trace)
    for process in processes:
        assert lab.by_name(process["queries"]) == expected


def replace_by_copy(path):
    """As an installer does: the new files are there before the old ones are gone."""
    copy = path + ".new"
    if os.path.isdir(path):
        shutil.copytree(path, copy, symlinks=True)
        shutil.rmtree(path)
    else:
        shutil.copy2(path, copy)
    os.rename(copy, path)


@lab.alone("it records, and holds, the compilers of all tests")
@lab.each("toolchain", "library")
def test_toolchain_that_is_replaced_by_a_copy(t, part):
    """Compiles before and after are complete, and the copy is not read anew."""
    t.need_capture()
    compiler = t.own_toolchain("toolchain")
    store_plan(t, compiler)
    profiler = start_recording(t, "--system")
    command = [compiler] + compile_command(t, "out")[1:]
    compile_in_time(t, profiler, command)
    replace_by_copy(driver(compiler) if part == "library" else t.path("toolchain"))
    compile_in_time(t, profiler, command)
    end_recording(profiler)
    said = profiler.said()
    about = [line for line in said.splitlines() if driver(compiler) in line]
    assert not [line for line in about if "reading " in line or "missing" in line], about
    processes = ours(t, t.report(t.path("trace.qpt"))["processes"])
    assert [p["attached_late"] for p in processes] == [False, False], said
    before, after = (lab.by_name(p["queries"]) for p in processes)
    assert sum(before.values()) > 1000 and before == after, (before, after)


@lab.alone("a compiler of another test that is gone has no control group any more")
def test_control_group(t):
    """Compilers outside the control group are not recorded."""
    t.need_capture()
    with t.control_group() as group:
        profiler = start_recording(t, "--cgroup", group)
        # Root may move itself to a control group.
        inside = ["sh", "-c", 'echo $$ >%s/cgroup.procs && exec "$@"' % group, "sh"]
        command = compile_command(t, "in")
        compile_in_time(t, profiler, command, lambda argv: t.start(inside + argv))
        assert t.plain(compile_command(t, "out")).status == 0
        end_recording(profiler)
    (process,) = t.report(t.path("trace.qpt"))["processes"]
    assert t.path("in") in process["command"] and not process["attached_late"]


@lab.alone("a compiler of another test that is gone has no control group any more")
def test_compiler_that_was_missed(t):
    """A compiler that ran while the recorder was stopped is counted and named. It was the only one,
    so the recording is lost."""
    t.need_capture()
    with t.control_group() as group:
        profiler = start_recording(t, "--cgroup", group)
        profiler.send_signal(signal.SIGSTOP)
        lab.wait_for("the profiler to stop", lambda: state_of(profiler.pid) == "T")
        inside = ["sh", "-c", 'echo $$ >%s/cgroup.procs && exec "$@"' % group, "sh"]
        compiler = subprocess.Popen(inside + compile_command(t, "in"), cwd=t.dir)
        assert compiler.wait() == 0
        profiler.send_signal(signal.SIGCONT)
        profiler.send_signal(signal.SIGINT)
        assert profiler.wait(timeout=lab.TIMEOUT) == LOST, profiler.said()
    err = profiler.said()
    # Others of the machine that are gone have no control group any more.
    assert re.search(r"\b(\d+) of \1 compilers were lost", err), repr(err)
    assert "process %d used " % compiler.pid in err and "it is missing" in err, err
    document = t.report(t.path("trace.qpt"))
    assert not ours(t, document["processes"]) and document["losses"]["compilers"], document["losses"]


def test_control_group_that_is_none(t):
    t.need_capture()
    done = t.run_qprof("-o", "x.qpt", "--cgroup", "/tmp")
    assert done.returncode == 125 and "/tmp is no control group" in done.stderr, done


def tracees_of(tracer):
    """Processes that any thread of the tracer traces."""
    found = []
    threads = os.listdir("/proc/%d/task" % tracer)
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/status" % pid) as f:
                text = f.read()
            if any("TracerPid:\t%s\n" % thread in text for thread in threads):
                found.append(int(pid))
        except OSError:  # the process is gone
            continue
    return found


def test_what_a_running_compiler_is_in_is_recorded_as_begun_before(t):
    """A macro waits for a file when the recording begins; then it gets it, and all of them end."""
    t.need_capture()
    query = "resolver_for_lowering_raw"
    os.mkfifo(t.path("included"))
    os.chmod(t.path("included"), 0o666)
    source = t.write("late.rs", 'pub const LATE: &str = include_str!("%s");' % t.path("included"))
    rustc = t.start_plain([t.rustc, "--crate-type=lib", "--emit=metadata", "-o",
                           t.path("late.rmeta"), source])
    deadline = time.monotonic() + lab.TIMEOUT
    while query not in t.run_qprof("stuck", "--once", "-i", "100ms", "-p",
                                 str(rustc.pid)).stdout:
        assert rustc.poll() is None and time.monotonic() < deadline
    trace = t.path("late.qpt")
    profiler = t.start_qprof("--exact", "--no-sample", "-o", trace, "-p", str(rustc.pid))
    t.attached(profiler)
    with open(t.path("included"), "w") as f:
        f.write("found")
    _, err = profiler.communicate(timeout=lab.TIMEOUT)
    assert profiler.returncode == 0 and rustc.wait() == 0, err
    assert b"qprof-bpf: late, compiler %d, started " % rustc.pid in err, err
    assert b"; recorded as begun before" in err, err
    spans = t.spans(trace, off_cpu=True)
    before = [s for s in spans if s.get("began_before")]
    waited, = (s for s in before if s["query"] == query)
    assert waited["flags"] == 0 and waited["invocation"] is not None, waited
    # Intervals that began in the recording nest in those that began before.
    inside = [s for s in spans if s["tid"] == waited["tid"] and s["end_ns"] < waited["end_ns"]]
    assert inside and all(s["depth"] > waited["depth"] for s in inside), (waited, inside)
    assert any(s["query"] == "analysis" for s in spans if s not in before), before
    text = t.run_qprof("report", trace).stdout
    assert "began before the recording: " in text, text


def test_a_compile_servers_compilers_are_recorded_for_their_clients(t):
    """Those of another client are named at the end."""
    t.need_capture()
    server = os.path.join(os.path.dirname(__file__), "programs", "compile_server.py")
    path = t.path("socket")
    t.start_plain(["python3", server, "--serve", path])
    lab.wait_for("the server", lambda: os.path.exists(path))
    out = t.mkdir("out")

    def compile(name):
        source = t.write(name + ".rs", "pub fn f() {}")
        return ["env", "SERVER=" + path, "python3", server, t.rustc, "--crate-name", name,
                "--crate-type=lib", "--emit=metadata", "-C", "extra-filename=-1", "--out-dir", out,
                source]

    script = "%s && touch begun && while test ! -e over; do sleep 0.1; done" % (
        shlex.join(compile("served")))
    profiler = t.start_qprof("-o", t.path("trace.qpt"), "--", "sh", "-c", script)
    lab.wait_for("the command", lambda: os.path.exists(t.path("begun")))
    other = t.start_plain(compile("stranger"))
    assert other.wait() == 0
    t.write("over", "")
    _, err = profiler.communicate(timeout=lab.TIMEOUT)
    assert profiler.returncode == 0, err
    crates_recorded = {p["crate"]: p for p in t.report(t.path("trace.qpt"))["processes"]}
    assert list(crates_recorded) == ["served"], crates_recorded
    assert not crates_recorded["served"]["attached_late"], err
    line, = (line for line in err.decode().splitlines() if "not recorded, as nothing recorded started" in line)
    assert "of crate stranger, started by python3, process " in line, line
    assert "--system records" in line, line
