# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The memory that a recording keeps for compilers that have ended."""

import signal
import subprocess
import time

import lab
from test_follow import start_recording

# A recording keeps data on the last 64 exited processes (EXITED_KEPT), so the first look is later.
# The second number makes other allocations, such as a thread's stack, small per compiler.
FIRST, MORE = 80, 64
# KB per compiler. One that is not freed takes 30 or more.
MOST_KEPT = 8

BUILD = """
while read n; do
    for i in $(seq "$n"); do "$@" || exit 1; done
    echo built
done
"""


def anonymous_kb(pid):
    """Memory without files and rings, which have a fixed size."""
    with open("/proc/%d/smaps_rollup" % pid) as f:
        (line,) = [line for line in f if line.startswith("Anonymous:")]
    return int(line.split()[1])


def tiny_compile(t):
    source = t.write("tiny.rs", "#![no_std]")
    return [t.rustc, "--crate-type=lib", "--emit=metadata", "-o", t.path("tiny.rmeta"), source]


def settled_kb(pid):
    """The memory after the profiler has finished its work; on a busy machine it lags behind the
    builds."""
    least = anonymous_kb(pid)
    unchanged = 0
    while unchanged < 10:
        time.sleep(0.2)
        now = anonymous_kb(pid)
        unchanged = unchanged + 1 if now >= least else 0
        least = min(least, now)
    return least


def kept_of_each(builder, profiler):
    """(KB that the recording keeps per compiler, compilers built): the growth between two numbers
    of compilers. It is measured again if it is too large, because some growth happens only once."""

    def build(n):
        builder.stdin.write(b"%d\n" % n)
        builder.stdin.flush()
        line = builder.stdout.readline()
        assert line == b"built\n", (line, builder.communicate())
        return settled_kb(profiler.pid)

    kept, built, last = MOST_KEPT, FIRST, build(FIRST)
    while kept >= MOST_KEPT and built < FIRST + 4 * MORE:
        now = build(MORE)
        kept, built, last = (now - last) / MORE, built + MORE, now
    return kept, built


def test_compilers_that_are_over_are_forgotten(t):
    """Every compiler was recorded."""
    profiler = t.start_qprof("-i", "1h", "-o", t.path("m.qpt"), "--", "sh", "-c", BUILD, "sh",
                             *tiny_compile(t), stdin=subprocess.PIPE)
    kept, built = kept_of_each(profiler, profiler)
    _, err = profiler.communicate()
    assert profiler.returncode == 0, err
    processes = t.report(t.path("m.qpt"))["processes"]
    assert len(processes) == built and all(p["queries"] for p in processes), len(processes)
    assert kept < MOST_KEPT, "%.1f KB for each compiler" % kept
    return "%.1f KB for each of %d" % (kept, built)


@lab.alone("it records, and holds, the compilers of all tests")
def test_compilers_of_the_whole_machine_are_forgotten(t):
    """Every compiler was stopped, looked at and followed."""
    t.need_capture()
    builder = t.start_plain(["sh", "-c", BUILD, "sh", *tiny_compile(t)], stdin=subprocess.PIPE)
    profiler = start_recording(t, "--system")
    kept, built = kept_of_each(builder, profiler)
    profiler.send_signal(signal.SIGINT)
    lab.check_end(profiler.wait(timeout=lab.TIMEOUT), profiler.said())
    processes = t.report(t.path("trace.qpt"))["processes"]
    recorded = sum(bool(p["queries"]) for p in processes)
    # On a busy machine some compilers end before they are found.
    assert recorded > built / 2, (recorded, profiler.said())
    assert kept < MOST_KEPT, "%.1f KB for each compiler" % kept
    return "%.1f KB for each of %d" % (kept, built)
