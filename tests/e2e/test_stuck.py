# SPDX-License-Identifier: Apache-2.0 OR MIT
"""stuck shows what an already hanging compiler is doing."""

import os
import pty
import select
import shutil
import signal
import time

import lab
import workspace
from slow_loader import driver

SPIN = """
#![allow(long_running_const_eval)]
const fn spin(n: u64) -> u64 { let mut i = 0; while i < n { i = i.wrapping_add(1); } i }
"""
FOR_EVER = "spin(u64::MAX)"
# CPU seconds that a compiler needs to reach the constant, with room to spare.
BEGINNING = 0.5


def compiling(t, source, *arguments, rustc=None):
    """A compiler at work on this source, after it has used some CPU time."""
    t.need_capture()
    path = t.write("hang.rs", SPIN + source)
    process = t.start_plain(
        [rustc or t.rustc, "--crate-type=lib", "--emit=metadata", "-o", t.path("hang.rmeta"),
         *arguments, path])
    deadline = time.monotonic() + lab.TIMEOUT
    while cpu_seconds(process.pid) < BEGINNING and time.monotonic() < deadline:
        time.sleep(0.02)
    assert process.poll() is None, process.communicate()
    return process


def cpu_seconds(pid):
    with open("/proc/%d/stat" % pid) as f:
        fields = f.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def look(t, pid, *options):
    snapshot = t.json("stuck", "--once", "--json", "-i", "200ms", *options, "-p", str(pid))
    assert snapshot["schema"] == "qprof-stuck/1"
    return snapshot


def thread_in(snapshot, query):
    threads = [thread for p in snapshot["processes"] for thread in p["threads"]
               if query in [row["name"] for row in thread["open"]]]
    assert len(threads) == 1, snapshot
    return threads[0]


def names(thread, kind="Query"):
    return [row["name"] for row in thread["open"] if row["kind"] == kind]


def test_queries_entered_before_are_on_the_stack(t):
    process = compiling(t, "pub const X: u64 = %s;" % FOR_EVER)
    # A thread that does not stop within 2 s has no stack.
    snapshot, _ = look_until(t, process.pid, lambda snapshot: [
        thread for p in snapshot["processes"] for thread in p["threads"]
        if thread["open"] and thread["stack"] == "whole"])
    assert [(p["pid"], p["crate"]) for p in snapshot["processes"]] == [(process.pid, "hang")]
    thread = thread_in(snapshot, "eval_to_allocation_raw")
    assert thread["stack"] == "whole" and thread["consistent"], thread
    assert names(thread) == ["analysis", "eval_to_const_value_raw", "eval_to_allocation_raw"]
    assert {row["entered"] for row in thread["open"]} == {"before"}, thread
    assert any("rustc_const_eval" in f for f in thread["functions"] if f), thread
    others = [o for p in snapshot["processes"] for o in p["threads"] if o["tid"] != thread["tid"]]
    assert others and not any(o["open"] for o in others), others


def test_queries_entered_later_have_their_times(t):
    """One constant after the other: each is entered anew, within a longer analysis."""
    constants = "\n".join("pub const X%d: u64 = spin(100_000);" % i for i in range(3000))
    process = compiling(t, constants)
    # A snapshot may fall between two constants.
    snapshot, _ = look_until(t, process.pid, lambda snapshot: "eval_to_allocation_raw" in [
        row["name"] for p in snapshot["processes"] for thread in p["threads"]
        for row in thread["open"]], "-i", "1s")
    thread = thread_in(snapshot, "eval_to_allocation_raw")
    entered = {row["name"]: row for row in thread["open"]}
    assert entered["analysis"]["entered"] == "before", thread
    assert entered["eval_to_allocation_raw"]["entered"] == "exactly", thread
    assert entered["eval_to_allocation_raw"]["elapsed_ns"] < 1_000_000_000
    assert (entered["eval_to_const_value_raw"]["start_ns"]
            <= entered["eval_to_allocation_raw"]["start_ns"])


def test_a_deep_one(t):
    """Constants that need each other. The number on the stack at once depends on rustc."""
    chain = "\n".join("pub const X%d: u64 = X%d + 1;" % (i, i + 1) for i in range(20))
    process = compiling(t, chain + "pub const X20: u64 = %s;" % FOR_EVER)
    thread = thread_in(look(t, process.pid), "analysis")
    assert thread["stack"] == "whole", thread
    n = names(thread).count("eval_to_allocation_raw")
    assert n >= 10 and names(thread).count("eval_to_const_value_raw") == n, names(thread)
    text = t.run_qprof("stuck", "--once", "-i", "100ms", "-p", str(process.pid)).stdout
    assert "more\n" in text and text.count("  eval_to_allocation_raw(hang::X") < n, text
    full = t.run_qprof("stuck", "--once", "--full", "-i", "100ms", "-p", str(process.pid)).stdout
    assert full.count("  eval_to_allocation_raw(hang::X") == n, full


def test_incremental(t):
    process = compiling(t, "pub const X: u64 = %s;" % FOR_EVER, "-Cincremental=" + t.path("incr"))
    thread = thread_in(look(t, process.pid), "eval_to_allocation_raw")
    assert names(thread) == ["analysis", "eval_to_const_value_raw", "eval_to_allocation_raw"]


def test_below_another_process(t):
    """If the process is not a compiler, its children are shown."""
    t.need_capture()
    source = t.write("hang.rs", SPIN + "pub const X: u64 = %s;" % FOR_EVER)
    shell = t.start_plain(
        ["sh", "-c", '"$@" & wait', "sh", t.rustc, "--crate-type=lib", "--emit=metadata",
         "--crate-name=below", source])
    snapshot = {"processes": []}
    deadline = time.monotonic() + lab.TIMEOUT
    while not snapshot["processes"] and time.monotonic() < deadline:
        snapshot = look(t, shell.pid)
    assert [p["crate"] for p in snapshot["processes"]] == ["below"], snapshot
    os.kill(snapshot["processes"][0]["pid"], signal.SIGKILL)


def look_until(t, pid, seen, *options):
    """(the first snapshot in which seen() is true, the value of seen())"""
    deadline = time.monotonic() + lab.TIMEOUT
    found, snapshot = None, None
    while not found and time.monotonic() < deadline:
        snapshot = look(t, pid, *options)
        found = seen(snapshot)
    assert found, snapshot
    return snapshot, found


def waits_for(t):
    """The text of a shell script that waits forever without starting a process."""
    path = t.path("never")
    os.mkfifo(path)
    return "#!/bin/sh\nread line < %s\n" % path


def test_where_cargo_waits_for_a_build_script(t):
    """No compiler runs; other programs are listed."""
    t.need_capture()
    t.mkdir("package")
    t.mkdir("package/src")
    t.write("package/Cargo.toml", '[package]\nname = "waiting-x"\nversion = "0.1.0"\n')
    t.write("package/src/lib.rs", "")
    t.write("package/build.rs", 'fn main() { std::fs::read("%s").unwrap(); }' % t.path("never"))
    waits_for(t)
    argv, env = workspace.cargo(t, "build")
    cargo = t.start_plain(argv, env=env, cwd=t.path("package"))

    def script(snapshot):
        return [o for o in snapshot["others"] if o["kind"] == "build script"]

    snapshot, (other,) = look_until(t, cargo.pid, script)
    assert other["subject"] == "waiting-x" and other["parent_pid"] == cargo.pid, other
    assert [o["pid"] for o in snapshot["others"]] == [cargo.pid, other["pid"]], snapshot
    text = t.run_qprof("stuck", "--once", "-i", "100ms", "-p", str(cargo.pid)).stdout
    os.kill(other["pid"], signal.SIGKILL)
    assert text.startswith("no compiler runs now\ncargo: process %d" % cargo.pid), text
    assert "\n  build script of waiting-x: process %d, started " % other["pid"] in text, text


def test_where_a_compiler_waits_for_its_linker(t):
    t.need_capture()
    linker = t.write("cc", waits_for(t))
    os.chmod(linker, 0o755)
    source = t.write("main.rs", "fn main() {}")
    rustc = t.start_plain([t.rustc, "-Clinker=" + linker, "-o", t.path("main"), source])
    snapshot, (other,) = look_until(t, rustc.pid, lambda snapshot: [
        o for o in snapshot["others"] if o["kind"] == "linker"])
    assert [p["pid"] for p in snapshot["processes"]] == [rustc.pid], snapshot
    assert (other["kind"], other["name"]) == ("linker", "cc"), other
    text = t.run_qprof("stuck", "--once", "-i", "100ms", "-p", str(rustc.pid)).stdout
    os.kill(other["pid"], signal.SIGKILL)
    assert "\n  linker cc: process %d, started " % other["pid"] in text, text


def tracers(pid):
    found = set()
    for tid in os.listdir("/proc/%d/task" % pid):
        with open("/proc/%d/task/%s/status" % (pid, tid)) as f:
            found |= {line.split()[1] for line in f if line.startswith("TracerPid")}
    return found


@lab.each("toolchain", "library")
def test_a_compiler_whose_files_are_gone(t, part):
    """It is read by its mapping, by the recording of it too."""
    compiler = t.own_toolchain("toolchain")
    rustc = compiling(t, "pub const SLOW: () = { spin(%s); };" % FOR_EVER, rustc=compiler)
    if part == "library":
        os.unlink(driver(compiler))
    else:
        shutil.rmtree(t.path("toolchain"))
    thread = thread_in(look(t, rustc.pid), "eval_to_allocation_raw")
    assert thread["open"][-1]["key"] == "hang::SLOW", thread
    profiler = t.start_qprof("-q", "-o", t.path("trace.qpt"), "-p", str(rustc.pid))
    t.attached(profiler)
    before = cpu_seconds(rustc.pid)
    lab.wait_for("samples", lambda: cpu_seconds(rustc.pid) > before + 0.2)
    profiler.send_signal(signal.SIGINT)
    _, err = profiler.communicate(timeout=lab.TIMEOUT)
    assert profiler.returncode == 0 and not err, err
    rustc.kill()
    rustc.wait()
    document = t.report(t.path("trace.qpt"))
    (process,) = document["processes"]
    (row,) = [q for q in process["queries"] if q["name"] == "eval_to_allocation_raw"]
    assert row["count"] >= 1, row


def test_killed_at_any_moment_it_leaves_the_compiler_running(t):
    process = compiling(t, "pub const X: u64 = %s;" % FOR_EVER)
    for i in range(5):
        qprof = t.start_qprof("stuck", "-i", "100ms", "-p", str(process.pid))
        t.attached(qprof)
        time.sleep(0.3 + 0.037 * i)
        qprof.kill()
        qprof.wait()
        before = cpu_seconds(process.pid)
        deadline = time.monotonic() + 30
        while cpu_seconds(process.pid) <= before and time.monotonic() < deadline:
            time.sleep(0.02)
        assert cpu_seconds(process.pid) > before, "it does not run any more"
        assert tracers(process.pid) == {"0"}
    assert process.poll() is None


def test_the_compiler_does_not_notice(t):
    """With ten snapshots per second the compiler behaves as usual; qprof-bpf ends after it."""
    constants = "\n".join("pub const X%d: u64 = spin(300_000);" % i for i in range(20))
    process = compiling(t, constants + "pub const Y: u8 = 256;")
    qprof = t.start_qprof("stuck", "-i", "100ms", "--json", "-p", str(process.pid))
    _, err = process.communicate()
    out, talk = qprof.communicate(timeout=lab.TIMEOUT)
    assert process.returncode == 1 and b"literal out of range" in err, err
    assert qprof.returncode == 0 and b"has exited" in talk, talk
    assert len(out.splitlines()) > 1, out


def read_some(master):
    try:
        return os.read(master, 65536)
    except OSError:  # EIO: the other end is closed
        return b""


def test_on_a_terminal_it_is_redrawn(t):
    process = compiling(t, "pub const X: u64 = %s;" % FOR_EVER)
    master, slave = pty.openpty()
    qprof = t.start_qprof("stuck", "-i", "100ms", "-p", str(process.pid), stdout=slave,
                          stderr=slave, env={"TERM": "xterm"})
    os.close(slave)
    drawn = b""
    deadline = time.monotonic() + lab.TIMEOUT
    while drawn.count(b"eval_to_allocation_raw") < 3 and time.monotonic() < deadline:
        if select.select([master], [], [], 0.2)[0]:
            drawn += os.read(master, 65536)
    assert drawn.count(b"eval_to_allocation_raw") >= 3, drawn
    assert b"\033[K" in drawn, drawn
    qprof.send_signal(signal.SIGINT)
    while qprof.poll() is None and time.monotonic() < deadline:
        if select.select([master], [], [], 0.2)[0]:
            drawn += read_some(master)
    assert qprof.returncode == 0
    while select.select([master], [], [], 0)[0]:
        more = read_some(master)
        if not more:
            break
        drawn += more
    assert drawn.endswith(b"\033[J") or b"\033[r" in drawn[-200:], drawn[-200:]
    os.close(master)
