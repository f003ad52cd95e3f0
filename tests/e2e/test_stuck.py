# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What a compiler that already hangs is doing."""

import json
import os
import pty
import select
import signal
import time

import lab
import workspace

SPIN = """
#![allow(long_running_const_eval)]
const fn spin(n: u64) -> u64 { let mut i = 0; while i < n { i = i.wrapping_add(1); } i }
"""
FOR_EVER = "spin(u64::MAX)"
# Seconds of processor time that a compiler takes to begin, with room to spare.
BEGINNING = 0.5


def compiling(t, source, *arguments):
    """A compiler at work on this, once it has run for a while."""
    t.need_capture()
    path = t.write("hang.rs", SPIN + source)
    process = t.start_plain(
        [t.rustc, "--crate-type=lib", "--emit=metadata", "-o", t.path("hang.rmeta"),
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
    done = t.run_qprof("stuck", "--once", "--json", "-i", "200ms", *options, "-p", str(pid))
    assert done.returncode == 0, done.stderr
    picture = json.loads(done.stdout)
    assert picture["schema"] == "qprof-stuck/1"
    return picture


def thread_in(picture, query):
    threads = [thread for p in picture["processes"] for thread in p["threads"]
               if query in [row["name"] for row in thread["open"]]]
    assert len(threads) == 1, picture
    return threads[0]


def names(thread, kind="Query"):
    return [row["name"] for row in thread["open"] if row["kind"] == kind]


def test_queries_entered_before_are_on_the_stack(t):
    process = compiling(t, "pub const X: u64 = %s;" % FOR_EVER)
    # A thread that is not stopped within 2 s has no stack.
    picture, _ = look_until(t, process.pid, lambda picture: [
        thread for p in picture["processes"] for thread in p["threads"]
        if thread["open"] and thread["stack"] == "whole"])
    assert [(p["pid"], p["crate"]) for p in picture["processes"]] == [(process.pid, "hang")]
    thread = thread_in(picture, "eval_to_allocation_raw")
    assert thread["stack"] == "whole" and thread["consistent"], thread
    assert names(thread) == ["analysis", "eval_to_const_value_raw", "eval_to_allocation_raw"]
    assert {row["entered"] for row in thread["open"]} == {"before"}, thread
    assert any("rustc_const_eval" in f for f in thread["functions"] if f), thread
    others = [o for p in picture["processes"] for o in p["threads"] if o["tid"] != thread["tid"]]
    assert others and not any(o["open"] for o in others), others


def test_queries_entered_later_have_their_times(t):
    """A constant after the other: each is entered anew, within an analysis that goes on."""
    constants = "\n".join("pub const X%d: u64 = spin(100_000);" % i for i in range(3000))
    process = compiling(t, constants)
    # It may be between two of them.
    picture, _ = look_until(t, process.pid, lambda picture: "eval_to_allocation_raw" in [
        row["name"] for p in picture["processes"] for thread in p["threads"]
        for row in thread["open"]], "-i", "3s")
    thread = thread_in(picture, "eval_to_allocation_raw")
    entered = {row["name"]: row for row in thread["open"]}
    assert entered["analysis"]["entered"] == "before", thread
    assert entered["eval_to_allocation_raw"]["entered"] == "exactly", thread
    assert entered["eval_to_allocation_raw"]["elapsed_ns"] < 3_000_000_000
    assert (entered["eval_to_const_value_raw"]["start_ns"]
            <= entered["eval_to_allocation_raw"]["start_ns"])


def test_a_deep_one(t):
    """Constants that need each other. How many are on the stack at once is rustc's affair."""
    chain = "\n".join("pub const X%d: u64 = X%d + 1;" % (i, i + 1) for i in range(20))
    process = compiling(t, chain + "pub const X20: u64 = %s;" % FOR_EVER)
    thread = thread_in(look(t, process.pid), "analysis")
    assert thread["stack"] == "whole", thread
    n = names(thread).count("eval_to_allocation_raw")
    assert n >= 10 and names(thread).count("eval_to_const_value_raw") == n, names(thread)
    text = t.run_qprof("stuck", "--once", "-i", "100ms", "-p", str(process.pid)).stdout
    assert "more\n" in text and text.count("  eval_to_allocation_raw\n") < n, text
    full = t.run_qprof("stuck", "--once", "--full", "-i", "100ms", "-p", str(process.pid)).stdout
    assert full.count("  eval_to_allocation_raw\n") == n, full


def test_incremental(t):
    process = compiling(t, "pub const X: u64 = %s;" % FOR_EVER, "-Cincremental=" + t.path("incr"))
    thread = thread_in(look(t, process.pid), "eval_to_allocation_raw")
    assert names(thread) == ["analysis", "eval_to_const_value_raw", "eval_to_allocation_raw"]


def test_below_another_process(t):
    """Of a process that is no compiler itself, those below it."""
    t.need_capture()
    source = t.write("hang.rs", SPIN + "pub const X: u64 = %s;" % FOR_EVER)
    shell = t.start_plain(
        ["sh", "-c", '"$@" & wait', "sh", t.rustc, "--crate-type=lib", "--emit=metadata",
         "--crate-name=below", source])
    picture = {"processes": []}
    deadline = time.monotonic() + lab.TIMEOUT
    while not picture["processes"] and time.monotonic() < deadline:
        picture = look(t, shell.pid)
    assert [p["crate"] for p in picture["processes"]] == ["below"], picture
    os.kill(picture["processes"][0]["pid"], signal.SIGKILL)


def look_until(t, pid, seen, *options):
    """The first picture in which something is seen, which is returned, too."""
    deadline = time.monotonic() + lab.TIMEOUT
    found, picture = None, None
    while not found and time.monotonic() < deadline:
        picture = look(t, pid, *options)
        found = seen(picture)
    assert found, picture
    return picture, found


def waits_for(t):
    """The text of a shell script that waits for ever, and starts nothing to do so."""
    path = t.path("never")
    os.mkfifo(path)
    return "#!/bin/sh\nread line < %s\n" % path


def test_where_cargo_waits_for_a_build_script(t):
    """No compiler runs; the programs that do are listed."""
    t.need_capture()
    t.mkdir("package")
    t.mkdir("package/src")
    t.write("package/Cargo.toml", '[package]\nname = "waiting-x"\nversion = "0.1.0"\n')
    t.write("package/src/lib.rs", "")
    t.write("package/build.rs", 'fn main() { std::fs::read("%s").unwrap(); }' % t.path("never"))
    waits_for(t)
    argv, env = workspace.cargo(t, "build")
    cargo = t.start_plain(argv, env=env, cwd=t.path("package"))

    def script(picture):
        return [o for o in picture["others"] if o["kind"] == "build script"]

    picture, (other,) = look_until(t, cargo.pid, script)
    assert other["subject"] == "waiting-x" and other["parent_pid"] == cargo.pid, other
    assert [o["pid"] for o in picture["others"]] == [cargo.pid, other["pid"]], picture
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
    picture, (other,) = look_until(t, rustc.pid, lambda picture: [
        o for o in picture["others"] if o["kind"] == "linker"])
    assert [p["pid"] for p in picture["processes"]] == [rustc.pid], picture
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
    """Looked at ten times a second, it does what it would do otherwise; then we end, too."""
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
    except OSError:  # EIO: nobody has the other end open any more
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
