# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Runs the tests of this directory: prints one line each, the slowest, and the totals.

A test is a function named test_*, which gets a Lab (lab.py) and the arguments of @each. It fails by
raising an exception, and reports that it cannot run here by raising Skip with the reason. With
CI=true, on a machine with rustc and BPF, a skipped test has failed, unless a download did
(NotDownloaded).

Each test runs in its own process, several at a time. Those marked @alone come first, one by one;
beside them run only those marked @no_compiler, or of a file with NO_COMPILER. The lines always come
in the same order.
"""

import argparse
import collections
import fcntl
import gc
import glob
import importlib
import inspect
import json
import multiprocessing
import multiprocessing.connection
import os
import resource
import signal
import sys
import tempfile
import time
import traceback

import lab
from lab import Lab, Skip

HERE = os.path.dirname(os.path.abspath(__file__))
SLOWEST = 10  # number of tests whose times are shown

Test = collections.namedtuple("Test", "name function arguments")
# cpu: CPU seconds of the test and of all children that it waited for.
Result = collections.namedtuple("Result", "name result said seconds cpu")


def collect(words):
    """The tests whose names contain all the words."""
    for path in sorted(glob.glob(os.path.join(HERE, "test_*.py"))):
        module = importlib.import_module(os.path.basename(path)[:-3])
        for name, function in inspect.getmembers(module, inspect.isfunction):
            if not name.startswith("test_") or function.__module__ != module.__name__:
                continue
            if hasattr(module, "NO_COMPILER"):
                lab.no_compiler(function)
            for arguments in getattr(function, "cases", [()]):
                words_of = [module.__name__[5:], name[5:], *map(str, arguments)]
                full = " ".join(words_of)
                if all(word in full for word in words):
                    yield Test(full, function, arguments)


def at(error):
    """The call chain through the tests' files to the error, with the failing line."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename.startswith(HERE)]
    places = ["%s:%d" % (os.path.basename(f.filename), f.lineno) for f in frames[1:]]
    return "%s `%s`" % (" > ".join(places), frames[-1].line)


def run_one(build, test):
    """("PASS" | "FAIL" | "SKIP", message)."""
    try:
        with Lab(build, hasattr(test.function, "no_compiler")) as t:
            said = test.function(t, *test.arguments)
        return "PASS", said or ""
    except Skip as skip:
        must_run = os.environ.get("CI") == "true" and not lab.why_no_capture()
        if must_run and not isinstance(skip, lab.NotDownloaded):
            return "FAIL", "skipped, and nothing may be on this machine: %s" % skip
        return "SKIP", str(skip)
    except AssertionError as error:
        return "FAIL", "%s: %s" % (at(error), error)
    except Exception as error:
        return "FAIL", "%s: %s" % (at(error), "".join(traceback.format_exception_only(error)))


def cpu_seconds():
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def take_turn(test):
    """Keep apart from tests of other runs on this machine, as run_all() keeps those of one run apart.
    The lock is that of the file that this returns, if any."""
    if os.geteuid() or hasattr(test.function, "no_compiler"):
        return None
    room = open("/run/qprof-e2e.room", "w")
    # Who wants the room alone waits at its door, and nobody else gets in meanwhile.
    with open("/run/qprof-e2e.door", "w") as door:
        fcntl.flock(door, fcntl.LOCK_EX)
        fcntl.flock(room, fcntl.LOCK_EX if hasattr(test.function, "alone") else fcntl.LOCK_SH)
    return room


def in_process(build, test, pipe):
    """Runs in the test's process."""
    _room = take_turn(test)
    # Tests hold millions of events, through which the collector would go again and again.
    gc.disable()
    start = time.monotonic()
    result, said = run_one(build, test)
    pipe.send(Result(test.name, result, said, time.monotonic() - start, cpu_seconds()))


def start_process(build, test):
    ours, theirs = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.Process(target=in_process, args=(build, test, theirs))
    process.start()
    theirs.close()
    return ours, process


def result_of(test, pipe, process):
    try:
        result = pipe.recv()
    except EOFError:
        result = None
    process.join()
    if result:
        return result
    return Result(test.name, "FAIL", "its process ended with %s" % process.exitcode, 0, 0)


def may_run_beside(test, running):
    """Whether a test may begin while others run. One that is alone excludes those that start compilers."""
    def is_alone(one):
        return hasattr(one.function, "alone")

    return hasattr(test.function, "no_compiler") or all(
        hasattr(other.function, "no_compiler") or not (is_alone(test) or is_alone(other))
        for other in running)


def take_next(waiting, running):
    """Remove and return the first (number, test) that may begin now, or None."""
    for i, (_, test) in enumerate(waiting):
        if may_run_beside(test, running):
            return waiting.pop(i)
    return None


def run_all(build, tests, jobs, took):
    """Run up to `jobs` tests at a time; yields results in the order of the tests. Those that are
    alone start first, so that others run beside them, and of each kind the slowest of the last run,
    so that no CPU is left with a long one at the end; without a last run, the last, as builds of
    workspaces take longest."""
    running, done, shown = {}, {}, 0
    waiting = sorted(reversed(list(enumerate(tests))), key=lambda item: (
        not hasattr(item[1].function, "alone"), -took.get(item[1].name, 0)))
    while waiting or running:
        while len(running) < jobs:
            begins = take_next(waiting, [tests[number] for number, _ in running.values()])
            if not begins:
                break
            number, test = begins
            if not hasattr(test.function, "alone") and not hasattr(test.function, "no_compiler"):
                # From now on none is alone: tests/check.sh waits for this file.
                open(os.path.join(build, "e2e.together"), "w").close()
            pipe, process = start_process(build, test)
            running[pipe] = number, process
        for pipe in multiprocessing.connection.wait(list(running)):
            number, process = running.pop(pipe)
            done[number] = result_of(tests[number], pipe, process)
            pipe.close()
        while shown in done:
            yield done.pop(shown)
            shown += 1


def show_slowest(results):
    if len(results) <= SLOWEST:
        return
    print("the slowest:")
    for r in sorted(results, key=lambda r: -r.seconds)[:SLOWEST]:
        print("  %5.1f s, %5.1f s of CPU: %s" % (r.seconds, r.cpu, r.name))
    print("all: %.0f s of CPU" % sum(r.cpu for r in results))


def last_seconds(path):
    """{test: seconds} of earlier runs; {} if there are none."""
    try:
        with open(path) as f:
            return json.load(f)
    except (OSError, ValueError):
        return {}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build", help="where qprof-bpf was built")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)) + 1,
                        help="how many tests run at a time (default: one for each CPU, and one, as some wait)")
    parser.add_argument("words", nargs="*", help="run tests whose name has these")
    options = parser.parse_args()
    # A shell starts background jobs with these signals ignored, and the tests would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)
    multiprocessing.set_start_method("fork")
    # Cache the answer for all tests.
    lab.why_no_capture()

    # First those that are alone, as they begin first.
    tests = sorted(collect(options.words), key=lambda test: not hasattr(test.function, "alone"))
    seconds = os.path.join(options.build, "e2e.seconds")
    took = last_seconds(seconds)
    results = []
    with tempfile.TemporaryDirectory(prefix="qprof-e2e-shared-") as lab.SHARED:
        os.chmod(lab.SHARED, 0o755)
        for r in run_all(options.build, tests, options.jobs, took):
            results.append(r)
            print("%s %s (%.1f s, CPU %.1f s)%s" % (
                r.result, r.name, r.seconds, r.cpu, r.said and ": " + r.said))
            sys.stdout.flush()
    with open(seconds, "w") as f:
        json.dump({**took, **{r.name: round(r.seconds, 1) for r in results}}, f, indent=0)
    show_slowest(results)

    totals = collections.Counter(r.result for r in results)
    line = "e2e: %d passed, %d failed, %d skipped" % (
        totals["PASS"], totals["FAIL"], totals["SKIP"])
    print(line)
    with open(os.path.join(options.build, "e2e.total"), "w") as f:
        f.write(line + "\n")
    return 1 if totals["FAIL"] or not results else 0


if __name__ == "__main__":
    sys.exit(main())
