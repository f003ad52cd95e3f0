# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The memory of a service (record --traces) while builds run at once: each in a session of its own,
and eight of one user, as more would share a trace. Their compiles start together, after one that the
service attaches to."""

import os
import re
import signal
import subprocess
import time

import crates
import lab
import targets

NUMBERS = (1, 8, 32)
PER_USER = 8
FIRST_USER = 40000
# Another user, who may read the toolchain wherever it is.
AS_USER = ("setpriv", "--reuid", "%d", "--clear-groups", "--inh-caps", "+dac_override",
           "--ambient-caps", "+dac_override")


def status_mib(pid, key):
    return int(re.search(key + r":\s+(\d+)", lab.read_text("/proc/%d/status" % pid))[1]) / 1024


def session(t, group, rustc, i):
    """A shell that compiles when it is told to, and then waits."""
    out = t.mkdir("out-%d" % i)
    words = [rustc, *crates.arguments(crates.SHORT, out)]
    as_user = [word % (FIRST_USER + i // PER_USER) if "%" in word else word for word in AS_USER]
    # Only root moves itself into the group.
    script = 'echo $$ >%s/cgroup.procs; exec %s sh -c \'read x; "$@"; echo; read x\' sh "$@"' % (
        group, " ".join(as_user))
    return subprocess.Popen(["sh", "-c", script, "sh", *words], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                            start_new_session=True)


def compile_in(shells):
    for shell in shells:
        shell.stdin.write(b"\n")
        shell.stdin.flush()
    for shell in shells:
        shell.stdout.readline()


def run(t, rustc, n):
    """The resident memory of the service, in MiB: before, at most, and after; and its traces."""
    traces = t.mkdir("traces-%d" % n)
    os.chmod(traces, 0o700)
    with t.control_group(lab.remove_group) as group:
        service = t.start([t.qprof, "--cgroup", group, "--traces", traces], env=t.qprof_env())
        lab.wait_for("the recording", lambda: lab.begun(service))
        before = status_mib(service.pid, "VmRSS")
        # The first compiler of a toolchain waits for its probes; too many at once would not.
        shells = [session(t, group, rustc, i) for i in range(n + 1)]
        compile_in(shells[:1])
        compile_in(shells[1:])
        time.sleep(2)
        most, after = status_mib(service.pid, "VmHWM"), status_mib(service.pid, "VmRSS")
        for shell in shells:
            shell.communicate()
        service.send_signal(signal.SIGINT)
        service.communicate(timeout=lab.TIMEOUT)
    return before, most, after, len(os.listdir(traces)) - 1


def measure(bench):
    """Print a table; there are no targets."""
    table = [("builds at once", "traces", "MiB before", "at most", "when all have compiled")]
    for n in NUMBERS:
        before, most, after, traces = run(bench.t, bench.rustc, n)
        table.append(("%d" % n, "%d" % traces, "%.0f" % before, "%.0f" % most, "%.0f" % after))
    targets.print_columns(table)
    print()
    return []
