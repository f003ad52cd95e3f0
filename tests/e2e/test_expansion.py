# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Small traces that expand: each reader stops with an error that names the option to go on."""

import glob
import os
import resource
import subprocess

from lab import ROOT, TIMEOUT, each

# Limits on a reader's output and memory. Without limits these traces make 500 MB.
MOST_BYTES = 64 << 20
MOST_KB = 64 << 10

READERS = (
    ("report",), ("report", "--json"), ("report", "--wide", "--by", "thread"), ("dump",),
    ("export", "-f", "html", "-o", "out"), ("export", "-f", "perfetto", "-o", "out"),
    ("export", "-f", "folded", "-o", "out"), ("export", "-f", "measureme", "-o", "out"))


def traces():
    return sorted(glob.glob(os.path.join(ROOT, "tests/golden/expands-*.qpt")))


def limit():
    resource.setrlimit(resource.RLIMIT_FSIZE, (MOST_BYTES, MOST_BYTES))
    resource.setrlimit(resource.RLIMIT_AS, (8 * MOST_BYTES, 8 * MOST_BYTES))


def read(t, arguments, trace):
    """The reader's status and error lines. SIGXFSZ ends it if it writes too much."""
    with open(t.path("stdout"), "wb") as out:
        done = subprocess.run([t.qprof, *arguments, trace], stdout=out, stderr=subprocess.PIPE,
                              stdin=subprocess.DEVNULL, text=True, timeout=TIMEOUT, cwd=t.dir,
                              env=t.qprof_env(), preexec_fn=limit)
    subprocess.run(["rm", "-rf", *glob.glob(t.path("out*"))], check=True)
    return done.returncode, done.stderr


@each(*READERS)
def test_reader_stops(t, *arguments):
    """One trace has too many events only for readers that store each event."""
    stopped = 0
    for trace in traces():
        status, err = read(t, arguments, trace)
        assert status in (0, 125), (trace, status, err)
        if status:
            assert "expands to more than" in err or "would take more than" in err, (trace, err)
            assert err.endswith("use --no-limits\n"), (trace, err)
        stopped += status == 125
    assert stopped >= len(traces()) - 1 >= 5, (stopped, len(traces()))
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    assert most < MOST_KB, "%d KB" % most
    return "%d of %d stopped, %d KB at most" % (stopped, len(traces()), most)


def test_reading_on_all_the_same(t):
    """--no-limits turns the limits off."""
    (trace,) = [path for path in traces() if "losses" in path]
    status, err = read(t, ("report", "--no-limits"), trace)
    assert status == 0, err
