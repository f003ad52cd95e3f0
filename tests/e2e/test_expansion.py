# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Small traces that expand: each is read, or refused with an error that names the option to go on."""

import glob
import os
import resource
import subprocess

from lab import ROOT, TIMEOUT, each

NO_COMPILER = True

# Limits on a reader's output and memory.
MOST_BYTES = 512 << 20
MOST_KB = 512 << 10
TOO_MUCH = "expands-too-much.qpt"
REFUSED = (TOO_MUCH, "expands-too-many-results.qpt")

READERS = (
    ("report",), ("report", "--json"), ("report", "--wide", "--by", "thread"), ("dump",),
    ("export", "-f", "html", "-o", "out"), ("export", "-f", "perfetto", "-o", "out"),
    ("export", "-f", "folded", "-o", "out"), ("export", "-f", "measureme", "-o", "out"))


def traces():
    return sorted(glob.glob(os.path.join(ROOT, "tests/golden/expands-*.qpt")))


def limit():
    resource.setrlimit(resource.RLIMIT_FSIZE, (MOST_BYTES, MOST_BYTES))
    resource.setrlimit(resource.RLIMIT_AS, (2 * MOST_BYTES, 2 * MOST_BYTES))


def read(t, arguments, trace):
    """The reader's status and error lines. SIGXFSZ ends it if it writes too much."""
    with open(t.path("stdout"), "wb") as out:
        done = subprocess.run([t.qprof, *arguments, trace], stdout=out, stderr=subprocess.PIPE,
                              stdin=subprocess.DEVNULL, text=True, timeout=TIMEOUT, cwd=t.dir,
                              env=t.qprof_env(), preexec_fn=limit)
    subprocess.run(["rm", "-rf", *glob.glob(t.path("out*"))], check=True)
    return done.returncode, done.stderr


@each(*READERS)
def test_a_trace_that_compresses_well_is_read(t, *arguments):
    """But for those that expand to more than any recording may."""
    for trace in traces():
        if trace.endswith(TOO_MUCH) and ("dump" in arguments or "perfetto" in arguments):
            continue  # they print 4 GiB first
        status, err = read(t, arguments, trace)
        if os.path.basename(trace) not in REFUSED:
            assert status == 0, (trace, err)
            continue
        assert status == 125, (trace, err)
        assert "expands to more than 4 GiB" in err and err.endswith("use --no-limits\n"), err
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    assert most < MOST_KB, "%d KB" % most
    return "%d traces, %d KB at most" % (len(traces()), most)


def test_reading_on_all_the_same(t):
    """--no-limits turns the limits off."""
    (trace,) = [path for path in traces() if path.endswith(TOO_MUCH)]
    status, err = read(t, ("report", "--no-limits"), trace)
    assert status == 0, err
