# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Compilers that nobody could foresee: each is recorded from its first query."""

import os
import shutil

import crates
import lab


def unforeseen_compiler(t, name):
    """A toolchain of its own, with a library of its own, and a compiler under another name."""
    real = t.toolchain().sysroot
    fake = t.mkdir("toolchain")
    for directory in ("bin", "lib"):
        t.mkdir("toolchain/" + directory)
    compiler = os.path.join(fake, "bin", name)
    shutil.copy2(os.path.join(real, "bin/rustc"), compiler)
    for entry in os.listdir(os.path.join(real, "lib")):
        source, target = os.path.join(real, "lib", entry), os.path.join(fake, "lib", entry)
        if entry.startswith("librustc_driver"):
            shutil.copy2(source, target)
        else:
            os.symlink(source, target)
    return compiler


def nothing_known(t):
    """No plan was made before, and no rustc is there to make one of."""
    bin = t.mkdir("bin")
    for name in ("sh", "sleep", "python3"):
        os.symlink(shutil.which(name), os.path.join(bin, name))
    return {"XDG_CACHE_HOME": t.mkdir("cache"), "PATH": bin}


def test_unforeseen_toolchain(t):
    """Two compilers at once, of a toolchain that no plan was ever made of: none is late."""
    compiler = unforeseen_compiler(t, "my-own-compiler")
    command = [compiler] + crates.arguments(crates.SHORT, t.mkdir("out"), "--emit=metadata")
    known = t.capture([t.rustc] + command[1:], trace="known.qpt")
    assert known.status == 0, known
    script = '"$@" & "$@"; wait'
    run = t.capture(["sh", "-c", script, "sh", *command], env=nothing_known(t))
    assert run.status == 0, run
    processes = t.report(run.trace)["processes"]
    assert len(processes) == 2, processes
    assert not any(p["attached_late"] for p in processes), (processes, run.stderr)
    counts = t.counts(run.trace)
    for name, count in t.counts(known.trace).items():
        assert counts[name] == 2 * count, (name, counts[name], count)
    return "%d executions of each" % (sum(counts.values()) // 2)


def test_process_that_waits_is_not_stopped_for_its_parent(t):
    """A shell with job control would say so; and a parent that waits sees nothing but the end."""
    compiler = unforeseen_compiler(t, "rustc")
    script = t.write("parent.py", """
import os, sys
pid = os.spawnvp(os.P_NOWAIT, sys.argv[1], sys.argv[1:])
got, status = os.waitpid(pid, os.WUNTRACED | os.WCONTINUED)
sys.exit(0 if os.WIFEXITED(status) else 99)
""")
    command = [compiler] + crates.arguments(crates.SHORT, t.mkdir("out"), "--emit=metadata")
    run = t.capture(["python3", script, *command], env=nothing_known(t))
    assert run.status == 0, run
    (process,) = t.report(run.trace)["processes"]
    assert not process["attached_late"], process


def test_killed_while_compilers_wait(t):
    """Whoever waits for a plan when we are killed runs on, and its build with it."""
    compiler = unforeseen_compiler(t, "rustc")
    out = t.mkdir("out")
    command = [compiler] + crates.arguments(crates.SHORT, out, "--emit=metadata")
    parent = t.start_plain(["sh", "-c", 'sleep 2; "$@"', "sh", *command])
    profiler = t.start_qprof("-q", "-o", t.path("x.qpt"), "--pid", str(parent.pid),
                             env=nothing_known(t))
    traced = lab.wait_for("a compiler that waits", lambda: tracees_of(profiler.pid))
    assert traced
    profiler.kill()
    assert parent.wait(timeout=60) == 0
    assert os.listdir(out), "the compiler did not finish"


def tracees_of(tracer):
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/status" % pid) as f:
                if "TracerPid:\t%d\n" % tracer in f.read():
                    found.append(int(pid))
        except OSError:  # it is gone
            continue
    return found
