# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Runs the tests of this directory: one line each, and a closing line of totals.

A test is a function named test_*, which gets a Lab (lab.py), and the arguments that @each gives it.
It fails by raising, and says that it cannot run here by raising Skip with the reason. With CI=true
on a machine that has rustc and BPF, that counts as a failure: there nothing may be skipped.
"""

import argparse
import glob
import importlib
import inspect
import os
import signal
import sys
import time
import traceback

import lab
from lab import Lab, Skip

HERE = os.path.dirname(os.path.abspath(__file__))


def collect(words):
    """(name, function, arguments) of each test whose name has all the words."""
    for path in sorted(glob.glob(os.path.join(HERE, "test_*.py"))):
        module = importlib.import_module(os.path.basename(path)[:-3])
        for name, function in inspect.getmembers(module, inspect.isfunction):
            if not name.startswith("test_") or function.__module__ != module.__name__:
                continue
            for arguments in getattr(function, "cases", [()]):
                words_of = [module.__name__[5:], name[5:], *map(str, arguments)]
                full = " ".join(words_of)
                if all(word in full for word in words):
                    yield full, function, arguments


def at(error):
    """The way through our own files to where it was raised, with the line itself."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename.startswith(HERE)]
    places = ["%s:%d" % (os.path.basename(f.filename), f.lineno) for f in frames[1:]]
    return "%s `%s`" % (" > ".join(places), frames[-1].line)


def run_one(build, function, arguments):
    """("PASS" | "FAIL" | "SKIP", what to say about it)."""
    try:
        with Lab(build) as t:
            said = function(t, *arguments)
        return "PASS", said or ""
    except Skip as skip:
        if os.environ.get("CI") == "true" and not lab.why_no_capture():
            return "FAIL", "skipped, and nothing may be on this machine: %s" % skip
        return "SKIP", str(skip)
    except AssertionError as error:
        return "FAIL", "%s: %s" % (at(error), error)
    except Exception as error:
        return "FAIL", "%s: %s" % (at(error), "".join(traceback.format_exception_only(error)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build", help="where qprof-bpf was built")
    parser.add_argument("words", nargs="*", help="run tests whose name has these")
    options = parser.parse_args()
    # A shell starts background jobs with these ignored, and whoever we start would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)

    totals = {"PASS": 0, "FAIL": 0, "SKIP": 0}
    for name, function, arguments in collect(options.words):
        start = time.monotonic()
        result, said = run_one(options.build, function, arguments)
        totals[result] += 1
        print("%s %s (%.1f s)%s" % (result, name, time.monotonic() - start, said and ": " + said))
        sys.stdout.flush()

    line = "e2e: %(PASS)d passed, %(FAIL)d failed, %(SKIP)d skipped" % totals
    print(line)
    with open(os.path.join(options.build, "e2e.total"), "w") as f:
        f.write(line + "\n")
    return 1 if totals["FAIL"] or not sum(totals.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
