# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Followed processes, ends of recordings, and errors at their beginning."""

import glob
import os
import re
import shutil
import signal
import struct
import subprocess
import time

import crates
import lab
from gate import Gate
from lab import Skip, each
from slow_loader import store_plan

USAGE, FAILURE, NOT_FOUND = 2, 125, 127


def rustc(t, crate, name="out", *extra):
    return [t.rustc] + crates.arguments(crate, t.mkdir(name), *extra)


def looped(command, times):
    """A shell that runs a command repeatedly, like a build."""
    return ["sh", "-c", 'n=%d; while [ $n -gt 0 ]; do "$@"; n=$((n - 1)); done' % times, "sh",
            *command]


def one_error_line(done, *words):
    """Fails unless the status is 125 and the only line has all the words; returns the line."""
    assert done.returncode == FAILURE, (done.returncode, done.stderr)
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("qprof-bpf: error: "), lines[0]
    for word in words:
        assert word.lower() in lines[0].lower(), "no '%s' in: %s" % (word, lines[0])
    return lines[0]


# ---- A running process --------------------------------------------------------------------------


@lab.alone("it attaches between two moments of a compile")
def test_running_rustc(t):
    """Attached in the middle: ends without a recorded start are counted, and no span is invented."""
    t.need_capture()
    gate = Gate(t)
    victim = t.start_plain(gate.command("out", "-O"))
    gate.reached()
    before_ns = time.monotonic_ns()
    profiler = t.start_qprof("-q", "-o", t.path("trace.qpt"), "--pid", str(victim.pid))
    t.attached(profiler)
    gate.go_on()
    _, err = profiler.communicate(timeout=lab.TIMEOUT)
    assert profiler.returncode == 0, err.decode()
    assert victim.wait() == 0

    document = t.report(t.path("trace.qpt"))
    (process,) = document["processes"]
    assert process["pid"] == victim.pid and process["attached_late"], process
    assert process["crate"] == "regex_syntax" and process["exit"] == 0, process
    assert document["lost"] == 0 and document["losses"]["end_without_start"] > 0, document["losses"]
    spans = t.spans(t.path("trace.qpt"))
    assert spans
    early = [s for s in spans if s["start_ns"] < before_ns]
    assert not early, "started before the probes: %s" % early[:3]
    assert all(s["start_ns"] <= s["end_ns"] for s in spans)
    return "%d ends without a start" % document["losses"]["end_without_start"]


def test_parent_of_rustc(t):
    """A build tool: its running children are followed, and later ones too."""
    t.need_capture()
    gate = Gate(t)
    parent = t.start_plain(looped(gate.command("out"), 2))
    gate.reached()
    (first,) = lab.children(parent.pid)
    profiler = t.start_qprof("-q", "-o", t.path("trace.qpt"), "--pid", str(parent.pid))
    t.attached(profiler)
    gate.go_on()
    assert profiler.wait(timeout=lab.TIMEOUT) == 0, profiler.stderr.read()
    assert parent.wait() == 0

    processes = t.report(t.path("trace.qpt"))["processes"]
    assert len(processes) == 2, processes
    by_pid = {p["pid"]: p for p in processes}
    assert by_pid[first]["attached_late"], "the running child"
    (second,) = [p for p in processes if p["pid"] != first]
    assert not second["attached_late"] and second["exit"] == 0, second


def open_fifo(path):
    """Release the reader of a FIFO."""
    def has_reader():
        try:
            os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
        except OSError:
            return False
        return True

    lab.wait_for("a reader of " + path, has_reader)


def test_parent_that_exits_first(t):
    """A shell ends, and its background child starts a compiler after that."""
    t.need_capture()
    for name in ("end", "go"):
        os.mkfifo(t.path(name))
        os.chmod(t.path(name), 0o666)
    script = '(read line <go; "$@") & read line <end; :'
    parent = t.start_plain(["sh", "-c", script, "sh", *rustc(t, crates.SHORT)])
    profiler = t.start_qprof("-q", "-o", t.path("trace.qpt"), "--pid", str(parent.pid))
    lab.wait_for("the recording", lambda: lab.begun(profiler))
    open_fifo(t.path("end"))
    assert parent.wait() == 0
    open_fifo(t.path("go"))
    assert profiler.wait(timeout=lab.TIMEOUT) == 0, profiler.stderr.read()
    (process,) = t.report(t.path("trace.qpt"))["processes"]
    assert process["exit"] == 0, process


def test_several_pids(t):
    t.need_capture()
    gates = [Gate(t) for _ in range(3)]
    builds = [t.start_plain(gate.command("out%d" % i)) for i, gate in enumerate(gates)]
    for gate in gates:
        gate.reached()
    pids = [str(b.pid) for b in builds]
    profiler = t.start_qprof("-q", "-o", t.path("trace.qpt"), "-p", pids[0], "--pid", pids[1])
    t.attached(profiler)
    for gate in gates:
        gate.go_on()
    assert profiler.wait(timeout=lab.TIMEOUT) == 0, profiler.stderr.read()
    assert [b.wait() for b in builds] == [0, 0, 0]
    seen = {p["pid"] for p in t.report(t.path("trace.qpt"))["processes"]}
    assert seen == {b.pid for b in builds[:2]}, "and no other's: %s" % seen


def test_unreaped_child(t):
    """A zombie child can be neither followed nor waited for."""
    t.need_capture()
    # sh starts the child, and cat never waits for it.
    parent = t.start_plain(["sh", "-c", "true & exec cat"], stdin=subprocess.PIPE)
    (child,) = lab.wait_for("the child", lambda: lab.children(parent.pid))
    lab.wait_for("its exit", lambda: not lab.alive(child))
    profiler = t.start_qprof("-q", "-o", t.path("trace.qpt"), "--pid", str(parent.pid))
    lab.wait_for("the recording", lambda: lab.begun(profiler))
    parent.stdin.close()
    parent.stdin = None
    assert profiler.wait(timeout=lab.TIMEOUT) == 0, profiler.stderr.read()


def test_one_library_by_two_paths(t):
    """A hard link has the same inode, which the kernel probes: nothing is counted twice."""
    # Links change the library's ctime, so its plan is made again; use a copy of the toolchain.
    compiler, linked = t.own_toolchain("real"), t.mkdir("linked")
    parts = [t.path("real", name) for name in ("bin", "lib")]
    copy = subprocess.run(["cp", "-al", *parts, linked], capture_output=True, text=True)
    if copy.returncode:
        raise Skip("cannot link the toolchain: " + copy.stderr.strip().splitlines()[-1])
    store_plan(t, compiler)
    _, *arguments = rustc(t, crates.SHORT, "out", "--emit=metadata")
    compile = [compiler, *arguments]
    once = t.capture(compile, trace="once.qpt")
    other = os.path.join(linked, "bin/rustc")
    both = t.capture(["sh", "-c", '"$0" "$@" && %s "$@"' % other, *compile],
                     env=lab.known(compiler))
    assert (once.status, both.status) == (0, 0), both.stderr.decode()
    a, b = t.counts(both.trace), t.counts(once.trace) + t.counts(once.trace)
    assert a == b, {k: (a[k], b[k]) for k in set(a) | set(b) if a[k] != b[k]}


def test_others_are_not_recorded(t):
    """A rustc outside the command hits the same probes and is not recorded."""
    t.need_capture()
    other = t.start_plain(looped(rustc(t, crates.SHORT, "other"), 1000))
    run = t.capture(rustc(t, "memchr", "ours"))
    assert run.status == 0 and other.poll() is None, "the other build ended too early"
    (process,) = t.report(run.trace)["processes"]
    assert process["crate"] == "memchr"


# ---- A command ----------------------------------------------------------------------------------


@each(0, 1, 42, 125)
def test_exit_status_passes_through(t, status):
    run = t.capture(["sh", "-c", "exit %d" % status])
    assert run.status == status, run


@each("TERM", "KILL", "SEGV")
def test_signal_passes_through(t, name):
    run = t.capture(["sh", "-c", "kill -%s $$" % name])
    assert run.status == -getattr(signal, "SIG" + name), run


def test_grandchildren(t):
    """Two levels down, in the background, through a shell: all compilers are recorded."""
    compile = rustc(t, crates.SHORT)
    script = '(sh -c \'"$@"\' sh "$@") & wait; "$@"'
    run = t.record(["sh", "-c", script, "sh", *compile])
    processes = t.report(run.trace)["processes"]
    assert [p["exit"] for p in processes] == [0, 0], processes


@lab.alone("compilers wait for a plan, and for no longer than they are held")
def test_first_time_through_rustup(t):
    """rustc by its name, with an unknown library: no query is missed."""
    flags = ["--emit=metadata", *crates.arguments(crates.SHORT, t.mkdir("out"))]
    direct = t.capture([t.rustc, *flags], trace="direct.qpt")
    assert direct.status == 0, direct.stderr.decode()
    cold = t.capture([lab.rustc_shim(), *flags], env={"XDG_CACHE_HOME": t.cache()})
    assert cold.status == 0, cold.stderr.decode()
    assert t.counts(cold.trace) == t.counts(direct.trace)
    assert t.report(cold.trace)["losses"]["end_without_start"] == 0


def test_runs_as_the_invoking_user(t):
    t.need_capture()
    nobody = lab.pwd.getpwnam("nobody")
    os.chmod(t.dir, 0o777)
    env = {"SUDO_UID": str(nobody.pw_uid), "SUDO_GID": str(nobody.pw_gid), "SUDO_USER": "nobody"}
    run = t.capture(["sh", "-c", "id -u; id -g; id -G; echo ${SUDO_UID-none}"], env=env)
    uid, gid, groups, left = run.stdout.decode().splitlines()
    assert (int(uid), int(gid)) == (nobody.pw_uid, nobody.pw_gid), run.stdout
    assert "0" not in groups.split(), "kept root's group"
    assert left == "none", "sudo's variables are left"
    assert os.stat(run.trace).st_uid == nobody.pw_uid, "the trace is not theirs"


def test_pid_and_command(t):
    done = t.run_qprof("--pid", "1", "--", "true")
    assert done.returncode == USAGE and "--pid" in done.stderr, done.stderr


def test_neither_pid_nor_command(t):
    done = t.run_qprof("-o", "x.qpt")
    assert done.returncode == USAGE, done.stderr


def test_command_not_found(t):
    t.need_capture()
    done = t.run_qprof("-o", t.path("x.qpt"), "--", "no-such-command")
    assert done.returncode == NOT_FOUND and "no-such-command" in done.stderr, done.stderr


def test_plan_of_a_toolchain_that_is_not_there(t):
    done = t.run_qprof("plan", "+no-such-toolchain")
    assert done.returncode == 125, done
    assert "`rustc +no-such-toolchain --print sysroot` failed" in done.stderr, done.stderr


# ---- Ends of a recording ------------------------------------------------------------------------


def start_in_a_group(t, *options):
    """A recorded build in its own process group, like a terminal's foreground job."""
    profiler = t.start_qprof(
        *options, "-o", t.path("trace.qpt"), "--", *looped(rustc(t, crates.LONG), 1000),
        start_new_session=True,
    )
    links = t.attached(profiler)
    # A compiler still runs when its output is there: the second output tells that the first ended.
    output = t.path("out", "libregex_syntax.rlib")
    lab.wait_for("a compile", lambda: os.path.exists(output))
    os.remove(output)
    lab.wait_for("another", lambda: os.path.exists(output))
    return profiler, links


def test_ctrl_c(t):
    """The whole group is interrupted: the build dies, the file is whole, the summary is printed."""
    profiler, links = start_in_a_group(t)
    os.killpg(profiler.pid, signal.SIGINT)
    out, err = profiler.communicate(timeout=lab.TIMEOUT)
    assert profiler.returncode in (-signal.SIGINT, 128 + signal.SIGINT), profiler.returncode
    # The executed queries depend on the machine; the heading does not.
    assert b"cpu %" in out + err and b"recorded" in err, "no summary: %s" % (out + err)[-500:]
    document = t.report(t.path("trace.qpt"))
    assert document["problem"] is None and document["queries"], document["problem"]
    lab.assert_gone(links)


def test_ctrl_c_with_pid(t):
    """Recording stops; the build goes on."""
    t.need_capture()
    gate = Gate(t)
    build = t.start_plain(gate.command("out"))
    gate.reached()
    profiler = t.start_qprof("-q", "-o", t.path("trace.qpt"), "--pid", str(build.pid))
    t.attached(profiler)
    status, _, err = t.interrupt(profiler)
    assert status == 0, (status, err)
    gate.go_on()
    assert build.wait() == 0
    document = t.report(t.path("trace.qpt"))
    assert document["problem"] is None, document["problem"]
    assert document["processes"][0]["exit"] is None, "it was still running"


def test_ctrl_c_twice(t):
    """The second SIGINT aborts, even while the build ignores the first."""
    t.need_capture()
    profiler = t.start_qprof(
        "-q", "-o", t.path("trace.qpt"), "--", "sh", "-c",
        "trap '' INT; echo ready; sleep 1000 & wait; sleep 1000", start_new_session=True,
    )

    def was_taken():
        """Whether the first signal was handled: the second is not blocked any more."""
        status = lab.read_text("/proc/%d/status" % profiler.pid)
        blocked = int(re.search(r"SigBlk:\s*(\w+)", status).group(1), 16)
        return not blocked & 1 << signal.SIGINT - 1

    assert profiler.stdout.readline() == b"ready\n"
    os.killpg(profiler.pid, signal.SIGINT)
    lab.wait_for("the first signal to be taken", was_taken)
    assert profiler.poll() is None

    def ends():
        """One that comes within 50 ms of the first counts as the same."""
        time.sleep(0.2)
        os.killpg(profiler.pid, signal.SIGINT)
        return profiler.poll() is not None

    lab.wait_for("the second signal to end the recording", ends)
    assert profiler.wait() != 0
    os.killpg(profiler.pid, signal.SIGKILL)


def test_sigterm(t):
    """SIGTERM to the profiler only is passed on to the command, and the file is whole."""
    profiler, _ = start_in_a_group(t, "-q")
    status, _, err = t.interrupt(profiler, signal.SIGTERM)
    assert status in (-signal.SIGTERM, 128 + signal.SIGTERM), (status, err)
    assert t.report(t.path("trace.qpt"))["problem"] is None
    lab.wait_for("the build to end", lambda: not lab.children(profiler.pid))


@each("INT", "QUIT", "USR1", "USR2")
def test_signal_is_passed_on(t, name):
    """A signal to the profiler only reaches the command once. A command that handles it goes on."""
    t.need_capture()
    script = (
        "n=6000; trap 'echo got; n=3' %s; echo ready; "
        "while [ $n -gt 0 ]; do sleep 0.1; n=$((n - 1)); done"
    )
    profiler = t.start_qprof("-q", "-o", t.path("trace.qpt"), "--", "sh", "-c", script % name)
    assert profiler.stdout.readline() == b"ready\n"
    status, out, err = t.interrupt(profiler, getattr(signal, "SIG" + name))
    assert (status, out) == (0, b"got\n"), (status, out, err)
    assert t.report(t.path("trace.qpt"))["problem"] is None


@each("INT", "TERM")
def test_signal_during_set_up(t, name):
    """During set-up, rustc runs to print its sysroot: rustc is ended, and the command never runs."""
    slow = t.mkdir("slow")
    t.write("slow/rustc", "#!/bin/sh\necho $$ > %s\nexec sleep 60\n" % t.path("slow/pid"))
    os.chmod(t.path("slow/rustc"), 0o755)
    profiler = t.start_qprof(
        "-o", t.path("trace.qpt"), "--", "touch", t.path("ran"),
        env={"PATH": slow + ":" + os.environ["PATH"]},
    )
    lab.wait_for("rustc", lambda: os.path.exists(t.path("slow/pid")))
    time.sleep(1)
    number = getattr(signal, "SIG" + name)
    profiler.send_signal(number)
    _, err = profiler.communicate(timeout=lab.TIMEOUT)
    assert profiler.returncode == 128 + number, (profiler.returncode, err)
    with open(t.path("slow/pid")) as f:
        assert not lab.alive(int(f.read()))
    assert not os.path.exists(t.path("ran")), "the command ran all the same"
    assert not os.path.exists(t.path("trace.qpt")), "left a file behind"


def test_rustc_that_never_answers(t):
    """The compiler in the PATH is only likely: the command starts without its answer, after a line."""
    slow = t.mkdir("slow")
    t.write("slow/rustc", "#!/bin/sh\nexec sleep 1000\n")
    os.chmod(t.path("slow/rustc"), 0o755)
    real = ["sh", "-c", '"$@"', "sh", *rustc(t, crates.LONG)]
    run = t.capture(real, options=(), env={"PATH": slow + ":" + os.environ["PATH"]})
    assert run.status == 0, run
    text = run.stderr.decode()
    assert text.count("does not answer") == 1, text
    assert len(t.report(run.trace)["processes"]) == 1


def test_toolchain_that_is_not_there(t):
    """Its error is the command's own, once."""
    t.need_capture()
    plain = t.plain(["rustc", "+nosuch", "--version"])
    run = t.capture(["rustc", "+nosuch", "--version"], options=())
    assert run.status == plain.status, (run, plain)
    said = plain.stderr.decode().splitlines()[0]
    assert run.stderr.decode().count(said) == 1, run.stderr
    assert "sysroot" not in run.stderr.decode(), run.stderr


# ---- Errors -------------------------------------------------------------------------------------


def test_exited_pid(t):
    t.need_capture()
    gone = t.start_plain(["true"])
    gone.wait()
    done = t.run_qprof("-o", "x.qpt", "--pid", str(gone.pid))
    one_error_line(done, str(gone.pid))
    assert not os.path.exists(t.path("x.qpt")), "left a file behind"


def test_impossible_pid(t):
    t.need_capture()
    one_error_line(t.run_qprof("-o", "x.qpt", "--pid", "4194304"), "4194304")


@each("0", "-1", "abc", "1x", "99999999999")
def test_bad_pid(t, text):
    done = t.run_qprof("-o", "x.qpt", "--pid=" + text)
    assert done.returncode == USAGE and text in done.stderr, done.stderr


def test_pid_that_is_no_build(t):
    """Such a process may start rustc later, so it is no error; if it does not, a warning follows."""
    t.need_capture()
    sleeper = t.start_plain(["sleep", "1000"])
    profiler = t.start_qprof("-o", "x.qpt", "--pid", str(sleeper.pid), text=True)
    warning = profiler.stderr.readline()
    lab.wait_for("the recording", lambda: lab.begun(profiler))
    sleeper.kill()
    sleeper.wait()
    _, err = profiler.communicate(timeout=lab.TIMEOUT)
    *_, last = err.strip().splitlines()
    assert str(sleeper.pid) in warning and "no Rust compiler" in warning, warning
    assert "no Rust compiler ran" in last, last


def test_command_that_fails_before_a_compiler(t):
    """Nothing says that all was up to date."""
    t.need_capture()
    for command, text in (("false", "no Rust compiler ran while recording, and the command failed"),
                          ("true", "up to date")):
        done = t.run_qprof("-o", "x.qpt", "-f", "--", command)
        *_, last = done.stderr.strip().splitlines()
        assert text in last, done.stderr


def fake_toolchain(t, change, toolchain=None):
    """A toolchain like a real one, with a changed librustc_driver."""
    real = (toolchain or t.toolchain()).sysroot
    fake = t.mkdir("toolchain")
    for name in ("bin", "lib"):
        t.mkdir("toolchain/" + name)
    shutil.copy2(os.path.join(real, "bin/rustc"), os.path.join(fake, "bin/rustc"))
    for name in os.listdir(os.path.join(real, "lib")):
        source, target = os.path.join(real, "lib", name), os.path.join(fake, "lib", name)
        if name.startswith("librustc_driver"):
            change(source, target)
        else:
            os.symlink(source, target)
    return os.path.join(fake, "bin/rustc")


def shared_toolchain(t, change, toolchain=None):
    """fake_toolchain() for tests that only record: one for all, whose plan is stored."""
    real = toolchain or t.toolchain()

    def make():
        compiler = fake_toolchain(t, change, real)
        store_plan(t, compiler)
        return os.path.dirname(os.path.dirname(compiler))

    return os.path.join(t.shared("%s-%s" % (change.__name__, real.name), make), "bin/rustc")


def strip(source, target):
    """
    Make the sections of symbols and of the unwind table unknown: no name can be recovered. The
    loader and unwinders do not need them. GNU strip breaks BOLT's layout.
    """
    shutil.copy2(source, target)
    with open(target, "r+b") as f:
        header = f.read(64)
        (sections,) = struct.unpack_from("<Q", header, 40)
        size, count, names = struct.unpack_from("<HHH", header, 58)
        f.seek(sections)
        rows = [struct.unpack("<IIQQQQIIQQ", f.read(size)) for _ in range(count)]
        f.seek(rows[names][4])
        text = f.read(rows[names][5])
        for i, row in enumerate(rows):
            if row[1] == 2 or text[row[0]:].startswith(b".eh_frame\0"):  # SHT_SYMTAB
                f.seek(sections + i * size + 4)
                f.write(bytes(12))  # type and flags


def test_stripped_library(t):
    """If names cannot be recovered either, the error names a toolchain with symbols."""
    t.need_capture()
    compiler = fake_toolchain(t, strip)
    assert t.plain([compiler, "--version"]).status == 0
    one_error_line(t.run_qprof("plan", compiler), "stripped", "rustup")
    argv = [compiler, "--emit=metadata", "--out-dir", t.mkdir("out"), t.write("x.rs", "")]
    one_error_line(t.run_qprof("-o", "x.qpt", "--", *argv), "stripped", "rustup")
    assert not os.listdir(t.path("out")), "the command ran all the same"


def test_stripped_library_of_nobody(t):
    """The compiler in the PATH is only likely: if it is of no use, others are still recorded."""
    fake = os.path.dirname(fake_toolchain(t, strip))
    env = {"PATH": fake + ":" + os.environ["PATH"]}
    run = t.record(["sh", "-c", '"$@"', "sh", *rustc(t, crates.LONG)], options=(), env=env)
    text = run.stderr.decode()
    assert "stripped" in text and "going on without" in text, text
    assert len(t.report(run.trace)["processes"]) == 1
    refused = t.capture(["rustc", "--version"], env=env, trace="refused.qpt")
    assert refused.status == FAILURE and not os.path.exists(refused.trace), refused


def test_unwritable_output(t):
    t.need_capture()
    done = t.run_qprof("-o", "/proc/nowhere/x.qpt", "--", "touch", t.path("ran"))
    one_error_line(done, "/proc/nowhere/x.qpt", "-o")
    assert not os.path.exists(t.path("ran")), "the command ran all the same"


def test_output_is_not_overwritten(t):
    t.need_capture()
    t.write("x.qpt", "precious")
    one_error_line(t.run_qprof("-o", "x.qpt", "--", "true"), "x.qpt", "--force")
    with open(t.path("x.qpt")) as f:
        assert f.read() == "precious"


def test_full_disk(t):
    """The build goes on, one line gives the reason, and the file is marked incomplete."""
    t.need_capture()
    with t.mounted("disk", "-t", "tmpfs", "-o", "size=64k", "none") as disk:
        t.give(disk)
        run = t.capture(rustc(t, crates.LONG), trace="disk/x.qpt")
        assert run.status == FAILURE, run
        assert os.path.exists(t.path("out", "libregex_syntax.rlib")), "the build did not finish"
        (line,) = run.stderr.decode().strip().splitlines()
        assert "No space left" in line and "-o" in line, line
        done = t.run_qprof("report", run.trace)
        assert "incomplete" in done.stdout and "cut short" in done.stderr, done
        # A failed export leaves no partial files.
        done = t.run_qprof("export", "-f", "measureme", "-o", disk + "/out", run.trace)
        assert done.returncode == FAILURE and "No space left" in done.stderr, done
        assert not glob.glob(disk + "/out/*"), "half an export was left"


def test_largest_file(t):
    """A file size limit of the profiler is like a full disk: neither build nor profiler dies."""
    t.need_capture()
    ours = ["sh", "-c", 'ulimit -S -f 16; exec "$@"', "sh"]
    theirs = ["sh", "-c", 'ulimit -S -f unlimited; exec "$@"', "sh"]
    command = [t.qprof, "-q", "-o", "x.qpt", "--", *theirs, *rustc(t, crates.SHORT)]
    done = subprocess.run(ours + command, capture_output=True, text=True, timeout=lab.TIMEOUT,
                          cwd=t.dir, env=t.qprof_env(), stdin=subprocess.DEVNULL)
    assert done.returncode == FAILURE, done
    assert os.path.exists(t.path("out", "libsemver.rlib")), "the build did not finish"
    (line,) = done.stderr.strip().splitlines()
    assert "File too large" in line and "ulimit -f" in line, line


def test_without_privileges(t):
    """The error names the missing capabilities and the command that helps."""
    if os.geteuid() == 0 and not shutil.which("setpriv"):
        raise Skip("no setpriv to step down with")
    os.chmod(t.dir, 0o777)
    # A copy in an open directory: the checkout may be in a home that nobody can enter.
    binary = shutil.copy(t.qprof, t.path("qprof-bpf"))
    os.chmod(binary, 0o755)
    argv = [binary, "--exact", "-o", t.path("x.qpt"), "--", "true"]
    if os.geteuid() == 0:
        argv = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *argv]
    env = {k: v for k, v in os.environ.items() if not k.startswith("SUDO_")}
    done = subprocess.run(argv, capture_output=True, text=True, cwd="/", env=env)
    one_error_line(done, "CAP_BPF", "CAP_PERFMON", "sudo")
    assert not os.path.exists(t.path("x.qpt")), "left a file behind"


def test_attach_perf(t):
    """
    Perf events, as on kernels before 6.6, give the same counts. Both sides record only
    query-provider, the default with perf events: the kernel takes 0.1 s to remove each perf event,
    so other kinds would add minutes.
    """
    argv = rustc(t, crates.SHORT, "out", "--emit=metadata")

    def counts(name, *options):
        run = t.record(argv, options=("-q", *options), trace=name + ".qpt")
        document = t.report(run.trace)
        assert document["lost"] == 0, document["losses"]
        return t.span_counts(run.trace)

    assert counts("perf", "--attach", "perf") == counts(
        "multi", "--attach", "multi", "-e", "query-provider")
