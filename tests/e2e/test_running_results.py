# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Results of queries without probes, where a compiler was not read to its end."""

import signal

import crates
import lab
from lab import each
from test_keys_running import cpu_seconds, rustc_that_hangs, wait_until_it_hangs

# Results of these are fed, which no execution makes (docs/exactness.md).
FED = ("crate_for_resolver", "crate_name", "def_span", "features_query", "output_filenames",
       "type_of")
WITHOUT = ("-q", "-e", "default,-query-provider", "--sample")


def argv_of(t, toolchain, out, crate=crates.LONG):
    return [t.toolchain(toolchain).rustc,
            *crates.arguments(crate, t.mkdir(out), "--emit=metadata")]


def results(t, trace):
    """{query: (number, whether there may be more)} of a report."""
    report = t.report(trace)
    assert report["losses"]["results"] == 0, report["losses"]
    rows = {row["name"]: row for row in report["queries"] if "results" in row}
    for row in rows.values():
        # No number that is marked is shown as an exact one.
        assert not row.get("results_at_least") or row["count"] is None, row
    return {name: (row["results"], row.get("results_at_least", False))
            for name, row in rows.items()}


def stop(t, profiler):
    profiler.send_signal(signal.SIGINT)
    _, err = profiler.communicate(timeout=lab.TIMEOUT)
    assert profiler.returncode in (0, 130), err.decode()


@each(*(lab.toolchains() or ("stable",)))
def test_a_recording_ends_in_mid_compile(t, toolchain):
    """It was attached to in mid-compile, too: all results so far are counted."""
    exact = t.capture(argv_of(t, toolchain, "exact"), trace="exact.qpt")
    assert exact.status == 0, exact.stderr.decode()
    counts = t.counts(exact.trace)
    compiler = t.start_plain(argv_of(t, toolchain, "out"))
    lab.wait_for("the compiler", lambda: cpu_seconds(compiler.pid) > 0.3)
    compiler.send_signal(signal.SIGSTOP)
    profiler = t.start_qprof(*WITHOUT, "-o", t.path("trace.qpt"), "--pid", str(compiler.pid))
    t.attached(profiler)
    compiler.send_signal(signal.SIGCONT)
    before = cpu_seconds(compiler.pid)
    lab.wait_for("samples", lambda: cpu_seconds(compiler.pid) > before + 0.2)
    compiler.send_signal(signal.SIGSTOP)
    stop(t, profiler)
    compiler.send_signal(signal.SIGCONT)
    _, err = compiler.communicate(timeout=lab.TIMEOUT)
    assert compiler.returncode == 0, err.decode()
    found = results(t, t.path("trace.qpt"))
    assert found and all(more for _, more in found.values()), found
    # The report leaves out queries that no sample met.
    dumped = t.run_qprof("dump", t.path("trace.qpt")).stdout
    read = {name: int(n) for _, more, name, n, _ in lab.RESULTS.findall(dumped) if more and int(n)}
    assert len(read) >= 50 and all(read[name] == n for name, (n, _) in found.items()), read
    wrong = {name: (n, counts.get(name)) for name, n in read.items()
             if name not in FED and not 1 <= n <= counts.get(name, 0)}
    assert not wrong, wrong
    return "%d queries, %d of %d results" % (
        len(read), sum(read.values()), sum(counts.values()))


@each("killed", "running")
def test_a_sum_with_one_that_was_not_read(t, how):
    """The first compiler is whole; the second one is read, but never comes to its end."""
    hangs = rustc_that_hangs(t)
    first = argv_of(t, "stable", "first", crates.SHORT)
    shell = t.start_plain(["sh", "-c", 'while ! [ -e go ]; do sleep 0.1; done; "$@"; exec $HANGS',
                           "sh", *first], env={"HANGS": " ".join(hangs)})
    profiler = t.start_qprof(*WITHOUT, "-o", t.path("trace.qpt"), "--pid", str(shell.pid))
    t.attached(profiler)
    t.write("go", "")
    lab.wait_for("the second compiler", lambda: lab.name_of(shell.pid) == "rustc")
    wait_until_it_hangs(t, shell.pid)
    if how == "killed":
        shell.kill()
        shell.wait()
    stop(t, profiler)
    found = results(t, t.path("trace.qpt"))
    # One that is killed is read as it dies, and makes no more.
    assert found["typeck"][1] == (how == "running"), found["typeck"]
    return "%d results of typeck" % found["typeck"][0]
