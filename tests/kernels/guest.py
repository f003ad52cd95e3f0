# SPDX-License-Identifier: Apache-2.0 OR MIT
"""
Tries qprof-bpf's features under this kernel, one by one, in a virtual machine of run.py.

Each feature becomes a line of $RESULTS/features at once: JSON with its name, its result (ok,
refused, not here, FAILED), and the reason. `refused` is a feature that ends with one error line:
run.py knows the kernels on which it may.
"""

import argparse
import collections
import contextlib
import glob
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../e2e"))

import compiles  # noqa: E402
import crates  # noqa: E402
import equality  # noqa: E402
import lab  # noqa: E402
import test_budget  # noqa: E402
import test_follow  # noqa: E402
import test_stuck  # noqa: E402
import test_without_root  # noqa: E402
from compiles import BOOTSTRAP  # noqa: E402

FAILURE = 125
REFUSAL = "qprof-bpf: error: "
# A ptrace stop lasts for a little less than 3 s; HELD adds this slow machine's delay.
PATIENCE, HELD = 2.5, 8
# The BPF tests in which many threads hit probes at once.
CROWDED = (("callers", "in_many_threads_and_processes"), ("spans", "many_threads"),
           ("spans", "intervals_of_many_threads"))
BPF_TEST_SECONDS = 300
# The kernel has some thousand perf events to remove, and takes up to a second for each here.
REMOVAL_SECONDS = 1800
FEW_ROUNDS = 3
CRATES = 4  # of the repeatedly built workspace
TINY = "pub fn twice(n: u32) -> u32 { n.wrapping_mul(2) }\n"
BROKEN = "pub fn twice(n: u32) -> u32 { n.wrapping_mul(two) }\nfn left(\n"

# Without uprobe_multi links a recording has only queries by default.
MULTI = tuple(map(int, re.findall(r"\d+", os.uname().release)[:2])) >= (6, 6)

FEATURES = []


def feature(name, quick=False):
    def mark(function):
        FEATURES.append((name, function, quick))
        return function

    return mark


class Refused(Exception):
    """qprof-bpf does not support this here; the error line."""


def refuse(status, stderr):
    """Raise Refused if a recording ended with an error line."""
    lines = stderr.decode().splitlines() if isinstance(stderr, bytes) else stderr.splitlines()
    if status == FAILURE and lines and lines[-1].startswith(REFUSAL):
        raise Refused(lines[-1][len(REFUSAL):])


class Late(Exception):
    """A compiler went on without its probes, and is marked as late; the message has the waiting
    time."""


class Lab(lab.Lab):
    def capture(self, *args, **kwargs):
        run = super().capture(*args, **kwargs)
        refuse(run.status, run.stderr)
        return run


# ---- Counts -------------------------------------------------------------------------------------


class World:
    """Shared by the features: one crate, and rustc's profile of it."""

    def __init__(self, options):
        self.options = options
        self.build = options.build
        self.tiny_crate()
        self.t = Lab(self.build).__enter__()
        self.compile = compiles.Compile(self.t, self.t.toolchain(), "tiny", "debug")
        self.truth = None

    def tiny_crate(self):
        """Make the tests of tests/e2e compile a tiny crate instead of larger ones."""
        source = "/tmp/registry/tiny-1/src"
        os.makedirs(source)
        with open(source + "/lib.rs", "w") as f:
            f.write(TINY)
        crates.REGISTRY = "/tmp/registry"
        crates.FEATURES = {"tiny": ""}
        crates.SHORT = crates.LONG = "tiny"
        test_stuck.BEGINNING = 8

    def profile(self):
        """Rustc's own profile of all events, without a recording."""
        if self.truth is None:
            _, self.truth = self.compile.profiled(
                "truth", lambda argv: self.t.plain(argv, env=BOOTSTRAP), equality.EVENTS)
        return self.truth

    def capture(self, name, options):
        run = self.t.capture(self.compile.argv(name), options, env=BOOTSTRAP,
                             trace=name + ".qpt")
        assert run.status == 0, (run.status, run.stderr.decode())
        return run

    def assert_queries(self, trace):
        document = self.t.report(trace)
        assert document["lost"] == 0, "lost: %s" % document["losses"]
        counts = collections.Counter(
            span["query"] for span in self.t.spans(trace) if span.get("kind", "Query") == "Query")
        assert_equal(counts, self.profile().counts())
        return "%d of %d queries" % (sum(counts.values()), sum(self.profile().counts().values()))


def assert_equal(counts, truth):
    wrong = {name: (counts[name], truth[name]) for name in counts.keys() | truth.keys()
             if counts[name] != truth[name]}
    assert not wrong, "%d queries, rustc's %d; (ours, rustc's): %s" % (
        sum(counts.values()), sum(truth.values()), dict(list(wrong.items())[:3]))


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


@feature("--budget")
def budget(world):
    return test_budget.with_budget(world.t, world.compile, "budget", "5%")


# ---- Followed processes -------------------------------------------------------------------------


@contextlib.contextmanager
def recording(t, *options, **kwargs):
    """A recording that has printed its first line, so it has begun."""
    profiler = t.start_qprof("--json", "-i", "200ms", "--force", "-o", t.path("live.qpt"), *options,
                             **kwargs)
    if not profiler.stdout.readline():
        err = profiler.stderr.read().decode()
        refuse(profiler.wait(), err)
        raise AssertionError(err)
    threading.Thread(target=profiler.stdout.read, daemon=True).start()
    yield profiler


def ended(profiler):
    err = profiler.stderr.read().decode()
    status = profiler.wait(timeout=lab.TIMEOUT)
    refuse(status, err)
    assert status == 0, (status, err)
    return err


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
    t = world.t
    source = t.write("broken.rs", BROKEN)
    argv = [t.rustc, "--crate-type=lib", "--out-dir", t.mkdir("out"), source]
    plain, ours = t.plain(argv), t.capture(argv)
    assert plain.status == 1, plain
    assert (ours.status, ours.stderr) == (plain.status, plain.stderr), (ours, plain)
    assert ours.stdout == plain.stdout
    return "status %d, %d bytes of stderr" % (ours.status, len(ours.stderr))


# ---- Two capabilities ---------------------------------------------------------------------------


@contextlib.contextmanager
def paranoid(level):
    path = "/proc/sys/kernel/perf_event_paranoid"
    with open(path) as f:
        before = f.read()
    try:
        with open(path, "w") as f:
            f.write(str(level))
        yield
    finally:
        with open(path, "w") as f:
            f.write(before)


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


# ---- BPF tests ----------------------------------------------------------------------------------


def run_bpf_test(build, name, pick=None):
    """(passed, skipped, names of failed tests) of a program."""
    env = {**os.environ, "CMOCKA_MESSAGE_OUTPUT": "stdout"}
    if pick:
        env["CMOCKA_TEST_FILTER"] = pick
    program = os.path.join(build, "tests/bpf/test_bpf_" + name)
    try:
        done = subprocess.run([program], env=env, stdout=subprocess.PIPE, errors="replace",
                              stderr=subprocess.STDOUT, timeout=BPF_TEST_SECONDS)
        out, status = done.stdout, done.returncode
    except subprocess.TimeoutExpired as late:
        out, status = (late.stdout or b"").decode(errors="replace"), None
    sys.stdout.write(out)
    sys.stdout.flush()
    ran = re.findall(r"^\[ RUN      \] (\S+)", out, re.M)
    passed = set(re.findall(r"^\[       OK \] (\S+)", out, re.M))
    skipped = set(re.findall(r"^\[  SKIPPED \] (\S+)$", out, re.M)) - {"test(s),"}
    failed = [test for test in ran if test not in passed | skipped]
    if status is None:
        failed.append("out of time")
    elif status != 0 and not failed:
        failed.append("status %d" % status)
    return len(passed), len(skipped & set(ran)), failed


def bpf_program(name):
    def run(world):
        passed, skipped, failed = run_bpf_test(world.build, name)
        assert not failed, "%d passed; failed: %s" % (passed, ", ".join(failed))
        return "%d passed%s" % (passed, ", %d skipped" % skipped if skipped else "")

    return run


def n_rounds(world):
    return FEW_ROUNDS if world.options.quick else world.options.rounds


def crowded(program, test):
    def run(world):
        rounds = n_rounds(world)
        for i in range(rounds):
            passed, _, failed = run_bpf_test(world.build, program, test)
            assert passed and not failed, "round %d of %d: %s" % (i + 1, rounds, failed or "none ran")
        return "%d rounds" % rounds

    return run


def add_bpf_tests(build):
    for program, test in CROWDED:
        FEATURES.append(("many threads: %s/%s" % (program, test), crowded(program, test),
                         program == "callers"))
    for path in sorted(glob.glob(os.path.join(build, "tests/bpf/test_bpf_*"))):
        name = os.path.basename(path)[len("test_bpf_"):]
        if "." not in name:
            FEATURES.append(("BPF tests: " + name, bpf_program(name), False))


# ---- A repeatedly built workspace ----------------------------------------------------------------


def make_workspace(t):
    top = t.mkdir("workspace")
    members = ["c%d" % i for i in range(CRATES)]
    for name in members:
        t.mkdir("workspace/" + name)
        t.mkdir("workspace/%s/src" % name)
        t.write("workspace/%s/Cargo.toml" % name,
                '[package]\nname = "%s"\nversion = "0.1.0"\nedition = "2021"\n' % name)
        t.write("workspace/%s/src/lib.rs" % name, "#![no_std]\n")
    t.write("workspace/Cargo.toml",
            '[workspace]\nresolver = "2"\nmembers = %s\n' % json.dumps(members))
    return top


def cargo_build(world):
    t = world.t
    preemptible = facts()["preempt"] in ("lazy", "full")
    # On other kernels BPF programs cannot be preempted.
    rounds = n_rounds(world) if preemptible else FEW_ROUNDS
    top = make_workspace(t)
    known = None
    for i in range(rounds):
        print("round %d of %d" % (i + 1, rounds), flush=True)
        argv = [os.environ["CARGO"], "build", "-j4", "--offline", "-q"]
        env = {"CARGO_TARGET_DIR": t.path("target%d" % i), "CARGO_HOME": t.mkdir("cargo")}
        run = t.capture(argv, ("-q", "--force"), env=env, cwd=top, trace="cargo.qpt")
        assert run.status == 0, "round %d: %s" % (i + 1, run.stderr.decode()[-600:])
        document = t.report(run.trace)
        assert document["lost"] == 0, "round %d: %s" % (i + 1, document["losses"])
        counts = {p["crate"]: sorted((q["name"], q["count"]) for q in p["queries"])
                  for p in document["processes"] if p["crate"] in {"c%d" % n for n in range(CRATES)}}
        assert len(counts) == CRATES and all(counts.values()), "round %d: %s" % (i + 1, list(counts))
        known = known or counts
        assert counts == known, "round %d: counts differ from the first's" % (i + 1)
    return "%d rounds of %d crates" % (rounds, CRATES)


# ---- All ----------------------------------------------------------------------------------------


def facts():
    def read(path):
        try:
            with open(path) as f:
                return f.read().strip()
        except OSError:
            return ""

    preempt = re.search(r"\((\w+)\)", read("/sys/kernel/debug/sched/preempt"))
    rustc = subprocess.run([os.environ["RUSTC"], "--version"], text=True, stdout=subprocess.PIPE)
    return {"release": os.uname().release, "preempt": preempt.group(1) if preempt else "?",
            "paranoid": read("/proc/sys/kernel/perf_event_paranoid"),
            "rustc": rustc.stdout.strip()}


def count_ours():
    names = []
    for path in glob.glob("/proc/[0-9]*/comm"):
        with contextlib.suppress(OSError), open(path) as f:
            names.append(f.read().strip())
    return names.count("qprof-bpf")


def wait_for_removal():
    """Before Linux 6.6 a recording leaves a process behind that removes its perf events."""
    begin = time.monotonic()
    while count_ours() and time.monotonic() < begin + REMOVAL_SECONDS:
        time.sleep(0.5)
    if time.monotonic() > begin + 1:
        print("# the perf events of the recording before were removed %.0f s later, %d processes left"
              % (time.monotonic() - begin, count_ours()), flush=True)


def run_one(world, function):
    try:
        return "ok", function(world) or ""
    except Refused as line:
        return "refused", str(line)
    except Late as line:
        return "late", str(line)
    except lab.Skip as why:
        return "not here", str(why)
    except AssertionError as error:
        return "FAILED", str(error) or "an assertion of %s" % function.__name__
    except subprocess.TimeoutExpired:
        return "FAILED", "out of time"
    except Exception as error:  # after any error, go on with the other features
        return "FAILED", "%s: %s" % (type(error).__name__, error)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="build")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--only", default="", help="features whose name this matches")
    options = parser.parse_args()
    # Only one toolchain: this machine takes half a minute to read another.
    os.environ.update(XDG_CACHE_HOME="/tmp/cache", RUSTUP_HOME="/tmp/none")
    signal.signal(signal.SIGINT, signal.default_int_handler)
    FEATURES.append(("cargo build -j4", cargo_build, False))
    add_bpf_tests(options.build)
    chosen = [(name, function) for name, function, quick in FEATURES
              if (quick or not options.quick) and re.search(options.only, name)]
    with open(os.path.join(os.environ["RESULTS"], "features"), "w", buffering=1) as out:
        out.write(json.dumps({**facts(), "features": [name for name, _ in chosen],
                              "all": [name for name, _, _ in FEATURES]}) + "\n")
        world = World(options)
        for name, function in chosen:
            print("# " + name, flush=True)
            wait_for_removal()
            begin = time.monotonic()
            result, why = run_one(world, function)
            why = " ".join(why.split())[:600]
            out.write(json.dumps({"feature": name, "result": result, "why": why,
                                  "seconds": round(time.monotonic() - begin, 1)}) + "\n")
            print("%s %s: %s" % (result, name, why), flush=True)


if __name__ == "__main__":
    main()
