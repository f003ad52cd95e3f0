# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Recordings with samples of stacks: with and without probes, of compilers in all situations."""

import os
import re
import shutil
import signal

import crates
import lab
from gate import Gate
from test_follow import nothing_known
from test_security_hold import compiled, need_users, own_directory
from test_security_libraries import fixtures
from test_targets import looped, rustc
from test_without_root import BOTH, User

NO_PROBES = ("-e", "none")
ALICE, BOB = 51001, 51002  # users without any other process
MOST_KB = 512 * 1024


def lines(t, trace, status=0):
    """The lines of dump by their type; each stack is complete before the first sample that has it."""
    assert t.run_qprof("verify", trace).returncode == status
    found = {"span": [], "stack": {}, "sample": [], "process": [], "sampling": []}
    for line in t.dumped(trace):
        kind = line.get("type")
        if kind == "stack":
            above = found["stack"].get(line["parent"])
            assert line["depth"] == (above["depth"] if above else 0) + 1, line
            found["stack"][line["id"]] = line
        elif kind == "sample":
            assert line["stack"] is None or line["stack"] in found["stack"], line
            found["sample"].append(line)
        elif kind in found:
            found[kind].append(line)
    return found


def entries(found, sample):
    """The entries of a sample's stack, the innermost first."""
    number = sample["stack"]
    while number is not None:
        entry = found["stack"][number]
        yield entry
        number = entry["parent"]


def functions(found):
    return {(e.get("location") or {}).get("function") for e in found["stack"].values()}


def queries(found):
    return {e.get("query") for e in found["stack"].values()}


def assert_useful(found, causes=("cpu",)):
    """Most stacks reach the start of their thread, and show the compiler's functions and queries."""
    samples = [s for s in found["sample"] if s["cause"] in causes]
    assert len(samples) >= 20, len(samples)
    cut = [s for s in samples if s["cut"]]
    assert len(cut) * 2 < len(samples), "%d of %d are cut: %s" % (len(cut), len(samples), cut[:3])
    assert any(f and f.startswith("rustc_") for f in functions(found)), functions(found)
    assert queries(found) & {"typeck", "mir_borrowck", "mir_built"}, queries(found)
    return "%d samples, %d cut" % (len(samples), len(cut))


def test_samples_without_probes(t):
    run = t.record(rustc(t, crates.LONG), options=("--sample", *NO_PROBES))
    (line,) = [x for x in run.stderr.decode().splitlines() if ": recorded " in x]
    assert " samples" in line and " queries" not in line, line
    found = lines(t, run.trace)
    assert not found["span"], found["span"][:3]
    assert [(s["hz"], s["fault_period"], s["off_cpu"]) for s in found["sampling"]] == [(251, 0, False)]
    assert {s["cause"] for s in found["sample"]} == {"cpu"}
    (process,) = found["process"][-1:]
    assert process["crate"] == "regex_syntax" and process["exit_status"] == 0, process
    return assert_useful(found)


def test_samples_beside_probes(t):
    run = t.record(rustc(t, crates.LONG), options=("-q", "--sample=999", "--memory=50", "--off-cpu-stacks"))
    found = lines(t, run.trace)
    assert t.report(run.trace)["lost"] == 0
    assert len(found["span"]) > 1000
    # A sample names an interval that probes saw.
    seen = {s["query"] for s in found["sample"] if "query" in s}
    assert seen and seen <= {s["query"] for s in found["span"]}, seen
    causes = {s["cause"] for s in found["sample"]}
    assert {"cpu", "faults"} <= causes, causes
    assert {s["value"] for s in found["sample"] if s["cause"] == "faults"} == {50 * os.sysconf("SC_PAGESIZE")}
    return assert_useful(found)


def test_samples_of_a_compile_error(t):
    argv = [t.rustc, t.write("bad.rs", "fn main() { let x: i32 = \"s\"; }\n")]
    plain = t.plain(argv)
    run = t.capture(argv, options=("-q", "--sample=4999", "--memory=10", "--off-cpu-stacks", *NO_PROBES))
    assert (run.status, run.stdout, run.stderr) == (plain.status, plain.stdout, plain.stderr)
    assert run.status == 1
    found = lines(t, run.trace)
    assert found["sample"]


# Of a compile, the samples that end in no known file, in percent.
MOST_NO_MAP = 2


def sampled_alone(t, go, ended, profiler):
    """Let a shell go on that reads `go`, with the recording stopped until the file `ended` exists."""
    (fd,) = lab.wait_for("a shell that waits", lambda: opened(go))
    profiler.send_signal(signal.SIGSTOP)
    os.write(fd, b"\n")
    os.close(fd)
    lab.wait_for("the end of the compile", lambda: os.path.exists(ended))
    profiler.send_signal(signal.SIGCONT)
    assert profiler.wait() == 0


def assert_known(t, trace):
    """The last compile's samples end in known files."""
    found = lines(t, trace)
    last = found["process"][-1]["index"]
    samples = [s for s in found["sample"] if s["process"] == last]
    no_map = [s for s in samples if s["cut"] == "no_map"]
    assert len(samples) >= 200, len(samples)
    assert len(no_map) * 100 <= MOST_NO_MAP * len(samples), (len(no_map), len(samples), no_map[:3])
    return "%d of %d end in no known file" % (len(no_map), len(samples))


def begin_stopped(t, script):
    """A recording of a shell that has the compile as its arguments, and reads from a FIFO."""
    go, ended, trace = t.path("go"), t.path("ended"), t.path("trace.qpt")
    os.mkfifo(go)
    profiler = t.start_qprof("-q", "--sample=1999", "-i", "50ms", *NO_PROBES, "-o", trace, "--",
                             "sh", "-c", script.format(go=go, ended=ended), "sh",
                             *rustc(t, crates.LONG))
    return go, ended, trace, profiler


def has_whole_stack(t, trace):
    done = t.run_qprof("dump", trace)
    return any(line.startswith('{"type":"sample"') and '"cut":null' in line
               for line in done.stdout.splitlines())


def test_samples_while_the_recording_is_stopped(t):
    """The kernel half finds the mappings of a second compiler by itself, one at a sample."""
    go, ended, trace, profiler = begin_stopped(t, '"$@"; read line <{go}; "$@"; >{ended}')
    lab.wait_for("a stack to the start of a thread",
                 lambda: os.path.exists(trace) and has_whole_stack(t, trace))
    sampled_alone(t, go, ended, profiler)
    return assert_known(t, trace)


def test_samples_of_a_first_compile_while_the_recording_is_stopped(t):
    """The same of the first one, once its files have tables."""
    t.record(rustc(t, crates.LONG), options=("-q", "--sample", *NO_PROBES), trace="tables.qpt")
    go, ended, trace, profiler = begin_stopped(t, 'read line <{go}; "$@"; >{ended}')
    sampled_alone(t, go, ended, profiler)
    return assert_known(t, trace)


def opened(fifo):
    """[descriptor], or None while nobody reads."""
    try:
        return [os.open(fifo, os.O_WRONLY | os.O_NONBLOCK)]
    except OSError:
        return None


def test_samples_of_a_killed_recording(t):
    """kill -9: the trace is cut after a whole chunk, and has the stacks of all its samples."""
    t.need_capture()
    trace = t.path("trace.qpt")
    profiler = t.start_qprof("-q", "--sample", "-i", "50ms", *NO_PROBES, "-o", trace, "--",
                             *looped(rustc(t, crates.LONG), 5))
    lab.wait_for("samples", lambda: os.path.exists(trace) and os.path.getsize(trace) > 10000)
    profiler.send_signal(signal.SIGKILL)
    profiler.wait()
    found = lines(t, trace, status=1)
    assert found["sample"]
    assert "unfinished" in t.run_qprof("verify", trace).stdout


def test_samples_of_a_running_compiler(t):
    t.need_capture()
    gate = Gate(t)
    victim = t.start_plain(gate.command("out", "-O"))
    gate.reached()
    trace = t.path("trace.qpt")
    profiler = t.start_qprof("-q", "--sample", *NO_PROBES, "-o", trace, "--pid", str(victim.pid))
    lab.wait_for("the recording", lambda: lab.begun(profiler))
    gate.go_on()
    _, err = profiler.communicate(timeout=lab.TIMEOUT)
    assert profiler.returncode == 0, err.decode()
    assert victim.wait() == 0
    found = lines(t, trace)
    assert {p["pid"] for p in found["process"]} == {victim.pid}
    return assert_useful(found)


def test_samples_of_the_whole_machine(t):
    t.need_capture()
    trace = t.path("trace.qpt")
    profiler = t.start_qprof("-q", "--sample", *NO_PROBES, "-o", trace, "--system")
    lab.wait_for("the recording", lambda: lab.begun(profiler))
    victim = t.start_plain(rustc(t, crates.LONG))
    assert victim.wait(timeout=lab.TIMEOUT) == 0
    status, _, err = t.interrupt(profiler)
    assert status == 0, err.decode()
    found = lines(t, trace)
    own = [s for s in found["sample"] if s["pid"] == victim.pid]
    assert len(own) >= 20, len(own)


def test_samples_of_an_ordinary_user(t):
    """CAP_BPF and CAP_PERFMON are enough for all samples, and none is needed to read them."""
    t.need_capture()
    with User(t, BOTH) as user:
        done = user.run("-q", "--sample=999", "--memory=20", "--off-cpu-stacks", *NO_PROBES, "-o", "trace.qpt",
                        "--", *user.compile(crates.LONG))
        assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), done
        trace = os.path.join(user.home, "trace.qpt")
        found = lines(t, trace)
        causes = {s["cause"] for s in found["sample"]}
        assert {"cpu", "faults"} <= causes, causes
        shown = user.run("report", "--functions", "trace.qpt")
        assert shown.returncode == 0 and "rustc_" in shown.stdout, shown
        return assert_useful(found) + ", causes: " + " ".join(sorted(causes))


def test_samples_or_events(t):
    """Without a probe there are samples, whether they are asked for or not."""
    t.need_capture()
    for options in ((), ("--sample",)):
        run = t.record([t.rustc, "-vV"], ("-q", *NO_PROBES, *options))
        (sampling,) = [line for line in t.dumped(run.trace)
                       if line.get("type") == "sampling"]
        assert sampling["hz"] == 251, sampling


def most_memory(pid):
    return int(re.search(r"VmHWM:\s+(\d+) kB", lab.read_text("/proc/%d/status" % pid)).group(1))


@lab.alone("it records, and holds, the compilers of all tests")
def test_samples_beside_hostile_processes(t):
    """Processes of another user map as code what is hard to read. The stacks of a compile beside them are
    whole, the recorder stays small, and nothing of theirs is stored."""
    need_users(t)
    program, place = compiled(t, "hostile_mappings"), fixtures(t)
    elf, library = os.path.join(place, "unwind.so"), t.path("librustc_driver-0.so")
    shutil.copy(os.path.join(place, "driver_v0.so"), library)
    trace = t.path("trace.qpt")
    with open(t.path("said"), "wb") as said:
        profiler = t.start_qprof("-v", "--sample=999", *NO_PROBES, "-o", trace, "--system", stderr=said,
                                 env=nothing_known(t))
    lab.wait_for("the recording", lambda: lab.begun(profiler))
    hostile = {}
    for i, way in enumerate(("many", "files", "lies", "swap", "shrink", "again")):
        user = BOB if i % 2 else ALICE
        hostile[way] = t.start([program, way, library, elf], cwd=own_directory(t, way, user), text=True,
                               user=user, group=user, extra_groups=[])
    victim = t.start_plain(rustc(t, crates.LONG))
    assert victim.wait(timeout=lab.TIMEOUT) == 0
    for way, process in hostile.items():
        out, err = process.communicate(timeout=lab.TIMEOUT)
        assert (process.returncode, out) == (0, "told\n"), (way, process.returncode, out, err)
    most = most_memory(profiler.pid)
    status, _, _ = t.interrupt(profiler)
    errors = lab.read_text(t.path("said"))
    # One that executes itself for ever may be gone before it is looked at. The victim may not.
    assert status == (lab.MOST_LOST if "compilers were lost" in errors else 0), errors
    assert not re.search(r"process %d .*: it is missing" % victim.pid, errors), errors
    assert most < MOST_KB, most
    found = lines(t, trace)
    own = [s for s in found["sample"] if s["pid"] == victim.pid]
    cut = [s for s in own if s["cut"]]
    assert len(own) >= 20 and len(cut) * 2 < len(own), (len(own), len(cut))
    # They were looked at. The 2,000 files of one of them make room for each other.
    assert errors.count("no room for the unwind tables of more files") == 0, errors[-3000:]
    refused = len(re.findall("it has no unwind tables", errors))
    assert refused, errors[-3000:]
    inodes = {"%x" % entry.stat(follow_symlinks=False).st_ino
              for way in hostile for entry in os.scandir(t.path(way))}
    stored = {name.split("-")[2] for _, _, names in os.walk(t.path("cache")) for name in names
              if name.startswith("code-")}
    assert stored and not stored & inodes, stored & inodes
    assert t.run_qprof("report", "--functions", trace).returncode == 0
    return "%d samples, %d KB, %d files without a table" % (len(own), most, refused)
