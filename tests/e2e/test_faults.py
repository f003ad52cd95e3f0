# SPDX-License-Identifier: Apache-2.0 OR MIT
"""One call of the system fails: no command hangs, dies, ends without a line, or prints less without one."""

import errno
import os
import shutil
import subprocess

from lab import ROOT, TIMEOUT, each, no_compiler

PROGRAMS = os.path.join(ROOT, "tests/e2e/programs")
GOLDEN = os.path.join(ROOT, "tests/golden")
TRACE = os.path.join(GOLDEN, "good-plain.qpt")
STORE = os.path.join(ROOT, "tests/fixtures/history/version-6.db")

ERRORS = {
    "open": ("EMFILE", "EACCES", "ENOENT"),
    "write": ("ENOSPC", "EIO"),
    "mmap": ("ENOMEM",),
    "bpf": ("EPERM", "ENOMEM", "EMFILE"),
    "perf": ("EMFILE", "EACCES"),
    "connect": ("ECONNREFUSED",),
}
# Calls of a kind that fail, one at a time, spread over all.
READING = 6
RECORDING = 3

COMMANDS = {
    "report": ("report", TRACE),
    "report --json": ("report", "--json", TRACE),
    "diff": ("diff", TRACE, TRACE),
    "dump": ("dump", TRACE),
    "why": ("why", "typeck", TRACE),
    "export": ("export", "--force", "-f", "perfetto", "-o", "out", TRACE),
    "measureme": ("export", "--force", "-f", "measureme", "-o", "files", TRACE),
    "add": ("history", "add", "--store", "new.db", "--commit", "1f2e3d4", "--branch", "main", TRACE),
    "list": ("history", "list", "--store", "store.db"),
    "history export": ("history", "export", "--force", "--store", "store.db", "-o", "out"),
    "page": ("history", "page", "--force", "--store", "store.db", "-o", "out"),
    "server": ("history", "list", "--store", "http://127.0.0.1:9/qprof"),
}


def library(t):
    """The library to preload, for the run of the tests."""
    def make():
        path = t.path("failing_calls.so")
        subprocess.run(["cc", "-O1", "-fPIC", "-shared", "-o", path,
                        os.path.join(PROGRAMS, "failing_calls.c"), "-ldl"], check=True)
        return path
    return t.shared("failing_calls.so", make)


def written(path):
    if not os.path.exists(path):
        return b""
    with open(path, "rb") as f:
        return f.read()


def run(t, arguments, calls, n, error):
    """Status, output and lines; the number of calls of that kind goes to the file "count"."""
    shutil.rmtree(t.path("files"), ignore_errors=True)
    for name in ("new.db", "new.db-wal", "new.db-shm", "new.db-journal", "out", "count"):
        if os.path.exists(t.path(name)):
            os.unlink(t.path(name))
    shutil.copy(STORE, t.path("store.db"))
    env = dict(t.qprof_env(), LD_PRELOAD=library(t), FAIL_COUNT=t.path("count"),
               FAIL_CALLS="%s:%d:%d" % (calls, n, getattr(errno, error)))
    done = subprocess.run([t.qprof, *arguments], env=env, cwd=t.dir, timeout=TIMEOUT,
                          stdin=subprocess.DEVNULL, capture_output=True)
    return done.returncode, done.stdout + written(t.path("out")), done.stderr.decode()


def spread(total, most):
    if total <= most:
        return range(1, total + 1)
    return sorted({1 + i * (total - 1) // (most - 1) for i in range(most)})


def faults(t, arguments, most):
    """Each call, error, status, output and lines; the first is without a fault."""
    for calls, errors in ERRORS.items():
        whole = run(t, arguments, calls, 0, errors[0])
        with open(t.path("count")) as f:
            total = int(f.read())
        yield calls, 0, None, *whole
        for n in spread(total, most):
            for error in errors:
                yield calls, n, error, *run(t, arguments, calls, n, error)


def check(where, status, err):
    assert 0 <= status < 128, (where, status, err)
    assert status == 0 or err, (where, status)
    assert "run again with -vv" not in err, (where, err)


@no_compiler
@each(*COMMANDS)
def test_a_fault_has_a_line_or_changes_nothing(t, name):
    whole, n_faults = None, 0
    for calls, n, error, status, out, err in faults(t, COMMANDS[name], READING):
        if not error:
            whole = out, err
            continue
        n_faults += 1
        where = "%s: call %d of %s: %s" % (name, n, calls, error)
        check(where, status, err)
        # The page and the history have times in them, of one length.
        if status == 0 and err == whole[1]:
            assert len(out) == len(whole[0]), where
        if status and error in ("EMFILE", "ENOSPC") and name != "server":  # curl has texts of its own
            assert os.strerror(getattr(errno, error)) in err or "the disk is full" in err, (where, err)
    return "%d faults" % n_faults


def test_a_fault_while_recording_has_a_line_or_loses_nothing(t):
    t.need_capture()
    n_faults = 0
    source = t.write("small.rs", "pub fn f(x: u32) -> u32 { x + 1 }\n")
    command = ("record", "-f", "-o", "trace.qpt", "--", t.rustc, "--crate-type", "lib", source)
    for calls, n, error, status, _, err in faults(t, command, RECORDING):
        where = "call %d of %s: %s" % (n, calls, error)
        check(where, status, err)
        n_faults += bool(error)
        if status == 0:
            verified = t.run_qprof("verify", t.path("trace.qpt"))
            assert verified.returncode == 0, (where, err, verified)
    return "%d faults" % n_faults


def test_doctor_ends_with_a_verdict(t):
    n_faults = 0
    for calls, n, error, status, out, err in faults(t, ("doctor",), 2):
        check("call %d of %s: %s" % (n, calls, error), status, err or out.decode())
        assert out, (calls, n, error, err)
        n_faults += bool(error)
    return "%d faults" % n_faults
