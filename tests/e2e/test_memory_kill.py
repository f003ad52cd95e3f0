# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A compiler that the kernel kills for want of memory, in a control group that has too little."""

import contextlib
import os

from lab import Skip
from test_page import opened

# The interpreter of constants writes a GiB.
GREEDY = "pub static A: [u8; 1 << 30] = [1; 1 << 30];\n"
LIMIT = 200 << 20
NAMES = {"cgroup": ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes"),
         "cgroup2": ("memory.max", "memory.swap.max")}


def write(path, value):
    with open(path, "w") as f:
        f.write(str(value))


def read(path):
    with open(path) as f:
        return f.read().split()


@contextlib.contextmanager
def root_of_groups(t):
    """The kind and the root of the control groups by which memory is limited, in a mount of its own."""
    with t.mounted("groups2", "-t", "cgroup2", "none") as root:
        if "memory" in read(root + "/cgroup.controllers"):
            enabled = "memory" in read(root + "/cgroup.subtree_control")
            if not enabled:
                write(root + "/cgroup.subtree_control", "+memory")
            try:
                yield "cgroup2", root
            finally:
                if not enabled:
                    write(root + "/cgroup.subtree_control", "-memory")
            return
    with t.mounted("groups1", "-t", "cgroup", "-o", "memory", "none") as root:
        yield "cgroup", root


@contextlib.contextmanager
def small_group(t):
    """A control group of LIMIT bytes of memory, and without swap."""
    with root_of_groups(t) as (kind, root):
        group = "%s/qprof-e2e-%d" % (root, os.getpid())
        try:
            os.mkdir(group)
        except OSError as e:
            raise Skip("cannot make a control group: %s" % e)
        try:
            memory, swap = NAMES[kind]
            write("%s/%s" % (group, memory), LIMIT)
            if os.path.exists("%s/%s" % (group, swap)):  # not without swap in the kernel
                write("%s/%s" % (group, swap), LIMIT if kind == "cgroup" else 0)
            yield group
        finally:
            os.rmdir(group)


def killed(t):
    """A recording of such a compiler."""
    source = t.write("greedy.rs", GREEDY)
    with small_group(t) as group:
        script = 'echo $$ >%s/cgroup.procs && exec "$@"' % group
        done = t.capture(["sh", "-c", script, "sh", t.rustc, "--crate-type", "lib", "--out-dir",
                          t.mkdir("out"), source])
    assert done.status in (-9, 128 + 9), done.status
    return done


def test_a_compiler_is_killed_for_want_of_memory(t):
    done = killed(t)
    report = t.report(done.trace)
    (process,) = report["processes"]
    assert (process["signal"], process["killed_for_memory"]) == (9, True), process
    build = report["build"]
    assert (build["killed"], build["killed_for_memory"]) == (1, 1), build
    assert all(thread["killed_for_memory"] for thread in build["interrupted"]), build
    assert any(o["name"] == "eval_static_initializer" for thread in build["interrupted"]
               for o in thread["open"]), build["interrupted"]
    rows = t.dumped(done.trace, "process")
    assert rows[-1]["killed_for_memory"] is True, rows
    text = t.run_qprof("report", done.trace).stdout
    assert "exit: no memory" in text and "killed for want of memory, had at most " in text, text
    assert "1 killed for want of memory" in t.run_qprof("report", "--markdown", done.trace).stdout
    compared = t.run_qprof("diff", done.trace, done.trace)
    assert "1 of 1 compilers were killed for want of memory" in compared.stderr, compared.stderr
    return [line for line in text.splitlines() if "want of memory" in line][0].strip()


def test_the_page_says_who_was_killed_for_want_of_memory(t):
    with opened(t, killed(t).trace) as b:
        text = b.ask("document.getElementById('view-summary').textContent")
        assert "1 killed, 1 of them for want of memory" in text, text
        assert " was killed for want of memory. Its thread " in text, text
        assert "was in eval_static_initializer (" in text, text
