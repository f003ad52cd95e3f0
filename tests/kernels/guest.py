# SPDX-License-Identifier: Apache-2.0 OR MIT
"""
Tries qprof-bpf's features under this kernel, one by one, in a virtual machine of run.py.

Each feature becomes a line of $RESULTS/features at once: JSON with its name, its result (ok,
refused, not here, FAILED), and the reason. `refused` is a feature that ends with one error line:
run.py knows the kernels on which it may.
"""

import argparse
import contextlib
import glob
import json
import os
import re
import signal
import subprocess
import sys
import time

from world import FEATURES, Late, Refused, World
import lab
import probes  # noqa: F401 it adds to FEATURES
import sampling  # noqa: F401

# The BPF tests in which many threads hit probes at once.
CROWDED = (("callers", "in_many_threads_and_processes"), ("spans", "many_threads"),
           ("spans", "intervals_of_many_threads"))
BPF_TEST_SECONDS = 300
# The kernel has some thousand perf events to remove, and takes up to a second for each here.
REMOVAL_SECONDS = 1800
FEW_ROUNDS = 3
CRATES = 4  # of the repeatedly built workspace
# Each tick of a clock may interrupt any program of a probe.
CROWDED_BY_SAMPLES = ("--sample=1999", "--memory=10", "--off-cpu-stacks")
UPROBE_MULTI = (6, 6)  # the first Linux that has it


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


def cargo_build(world, *options):
    t = world.t
    preemptible = facts()["preempt"] in ("lazy", "full", "real-time")
    # On other kernels BPF programs cannot be preempted.
    rounds = n_rounds(world) if preemptible else FEW_ROUNDS
    top = make_workspace(t)
    known = None
    for i in range(rounds):
        print("round %d of %d" % (i + 1, rounds), flush=True)
        argv = [os.environ["CARGO"], "build", "-j4", "--offline", "-q"]
        env = {"CARGO_TARGET_DIR": t.path("target%d" % i), "CARGO_HOME": t.mkdir("cargo")}
        run = t.capture(argv, ("-q", *options), env=env, cwd=top, trace="cargo.qpt")
        assert run.status == 0, "round %d: %s" % (i + 1, run.stderr.decode()[-600:])
        document = t.report(run.trace)
        assert document["lost"] == 0, "round %d: %s" % (i + 1, document["losses"])
        assert not options or document["samples"]["n"], "round %d: no samples" % (i + 1)
        # Rows that only samples have, such as those of hashing without probes, come by chance.
        counts = {p["crate"]: sorted((q["name"], q["count"]) for q in p["queries"]
                                     if q["count"] is not None)
                  for p in document["processes"] if p["crate"] in {"c%d" % n for n in range(CRATES)}}
        assert len(counts) == CRATES and all(counts.values()), "round %d: %s" % (i + 1, list(counts))
        known = known or counts
        assert counts == known, "round %d: counts differ from the first's: %s" % (
            i + 1, [(crate, sorted(set(counts[crate]) ^ set(known[crate]))[:4])
                    for crate in sorted(counts) if counts[crate] != known[crate]])
    return "%d rounds of %d crates" % (rounds, CRATES)


def sampled_cargo_build(world):
    """With all events, unless each of their thousands of probes is a perf event: these take minutes."""
    linux = tuple(map(int, os.uname().release.split(".")[:2]))
    events = "all" if linux >= UPROBE_MULTI else "query-provider"
    return cargo_build(world, "-e", events, *CROWDED_BY_SAMPLES) + ", events: " + events


# ---- All ----------------------------------------------------------------------------------------


def facts():
    def read(path):
        try:
            with open(path) as f:
                return f.read().strip()
        except OSError:
            return ""

    preempt = "real-time" if "PREEMPT_RT" in os.uname().version else (
        re.findall(r"\((\w+)\)", read("/sys/kernel/debug/sched/preempt")) or ["?"])[0]
    rustc = subprocess.run([os.environ["RUSTC"], "--version"], text=True, stdout=subprocess.PIPE)
    return {"release": os.uname().release, "preempt": preempt,
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
    FEATURES.append(("cargo build -j4, all causes of samples", sampled_cargo_build, False))
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
