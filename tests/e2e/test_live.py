# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Live counts: NDJSON, blocks, and the table on a terminal."""

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import termios
import time

import crates
import explained
import lab


def long_build(t, name="out"):
    return [t.rustc] + crates.arguments(crates.LONG, t.mkdir(name))


def short_build(t):
    return [t.rustc] + crates.arguments(crates.SHORT, t.mkdir("out"))


def test_json(t):
    """One object per interval; counts only grow, and the last one equals the report."""
    run = t.record(short_build(t), options=("--json", "--interval", "50ms"))
    lines = [json.loads(line) for line in run.stdout.splitlines()]
    assert len(lines) >= 3, "%d intervals" % len(lines)
    seen = -1
    for line in lines:
        assert line["schema"] == "qprof-live/2"
        assert line["events"] >= seen
        seen = line["events"]
    assert lines[0]["events"] < seen, "no progress to be seen"
    assert seen == sum(t.counts(run.trace).values())
    last = lab.by_name(lines[-1]["queries"])
    assert last == t.counts(run.trace), last - t.counts(run.trace)


def test_counts_without_probes(t):
    """No query has a probe: while the compiler runs, its own numbers are read, and they only grow."""
    run = t.record(long_build(t), options=("--json", "-i", "200ms"), exact=False)
    lines = [json.loads(line) for line in run.stdout.splitlines()]
    queries = [{row["name"]: row for row in line["sampled"] if row["kind"] == "Query"}
               for line in lines]
    counts = [{name: row["count"] for name, row in of.items() if row["count"] is not None}
              for of in queries]
    read = [i for i, line in enumerate(lines) if line["running"] and counts[i]]
    assert read, "the compiler was never read"
    for before, after in zip(counts, counts[1:]):
        # Of some it is known in the end that not all of their results are executions.
        less = {name: (n, after[name]) for name, n in before.items() if after.get(name, n) < n}
        assert not less, less
    for i in read:
        assert all(row.get("at_least") for row in queries[i].values() if row["count"]), i
    report = {row["name"]: row["count"] for row in t.report(run.trace)["queries"]
              if row["kind"] == "Query"}
    assert len(counts[-1]) > 100, counts[-1]
    wrong = {name: (n, report[name]) for name, n in counts[-1].items()
             if name in report and n != report[name]}
    assert not wrong, wrong
    assert not any(row.get("at_least") for row in queries[-1].values()), queries[-1]


def test_blocks(t):
    """Not on a terminal: one block per interval, without control codes, then the summary."""
    run = t.capture(short_build(t), options=("--interval", "20ms"))
    assert run.status == 0
    text = (run.stdout + run.stderr).decode()
    assert "\033" not in text, "escape codes in a pipe"
    assert len(re.findall(r"queries .*/s\)  activities", text)) >= 3, text[:2000]
    assert "typeck" in text and "lost 0" in text, text[-2000:]


def test_a_pipe_gets_the_report_only(t):
    """No table while it runs, as nobody sees it change."""
    run = t.capture(short_build(t), options=())
    assert (run.status, run.stdout) == (0, b""), run
    text = run.stderr.decode()
    assert "events/s" not in text and "rate/s" not in text, text[:2000]
    assert text.count("typeck") >= 1 and text.count("\nlost: 0") == 1, text[-2000:]


def test_samples_alone(t):
    """Without probes the rows are those of samples."""
    run = t.record(long_build(t), options=("--json", "-i", "100ms", "--sample=1999", "-e", "none"))
    lines = [json.loads(line) for line in run.stdout.splitlines()]
    last = lines[-1]
    assert (last["events"], last["queries"]) == (0, []), last
    assert last["samples"] == sum(row["samples"] for row in last["sampled"]) > 0, last
    rows = {row["name"]: row for row in last["sampled"]}
    assert rows["typeck"]["kind"] == "Query" and rows["typeck"]["self_ns"] > 0, rows
    assert rows["analysis"]["total_ns"] >= rows["typeck"]["total_ns"], rows
    # The line of the compiler has a query with samples, and the function within.
    now = [now for line in lines for now in line.get("now", ())]
    assert {row["crate"] for row in now} == {"regex_syntax"}, now
    assert {row["name"] for row in now} <= {row or "(no query)" for row in rows}, now
    assert any(row["function"] for row in now), now
    run = t.capture(short_build(t), options=("-i", "20ms", "--sample=1999", "-e", "none"))
    text = (run.stdout + run.stderr).decode()
    assert re.search(r"  samples [\d,]+ \(\d+[^)]*/s\)", text) and "self %" in text, text[:2000]


def test_quiet(t):
    run = t.capture(short_build(t), options=("-q",))
    assert (run.stdout, run.stderr) == (b"", b""), run


def test_slow(t):
    """One line for each interval over the threshold that explains its time; nothing else with -q."""
    run = t.capture(short_build(t), options=("-q", "--slow", "2ms"))
    assert (run.status, run.stdout) == (0, b""), run
    line = r"^qprof-bpf: slow: ([^\s(]+)\S* [\d.]+ m?s \(self .*\) in semver, process \d+$"
    reported = re.findall(line, run.stderr.decode(), re.M)
    assert reported and len(reported) == len(run.stderr.splitlines()), run.stderr.decode()
    assert sorted(reported) == sorted(explained.names(t.spans(run.trace), 2_000_000))  # in any order


def without_codes(text):
    return re.sub(r"\033(\[[0-9;?]*[A-Za-z]|[78])", "", text)


def read_terminal(master, seconds):
    """The output until the other end is closed."""
    drawn = b""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if not select.select([master], [], [], 0.2)[0]:
            continue
        try:
            data = os.read(master, 65536)
        except OSError:  # EIO: the other end is closed
            break
        if not data:
            break
        drawn += data
    return drawn


def test_table(t):
    """On a terminal: redrawn in place, no line wider than the screen, settings restored."""
    t.need_capture()
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    before = termios.tcgetattr(slave)
    process = t.start_qprof(
        "--interval", "200ms", "-o", t.path("trace.qpt"), "--", *long_build(t),
        stdin=slave, stdout=slave, stderr=slave,
    )
    keep = os.dup(slave)
    os.close(slave)
    drawn = b""
    while process.poll() is None:
        if select.select([master], [], [], 0.2)[0]:
            drawn += os.read(master, 65536)
    after = termios.tcgetattr(keep)
    os.close(keep)
    drawn += read_terminal(master, 5)
    os.close(master)

    assert process.returncode == 0
    assert after == before, "terminal settings changed"
    text = drawn.decode()
    assert text.count("\033[") > 10, "not redrawn"
    plain = without_codes(text)
    for title in ("query", "count", "rate", "total", "on-cpu", "off-cpu", "mean", "max", "lost"):
        assert title in plain.lower(), title
    assert "typeck" in plain
    # The report at the end, too.
    assert "all queries: --by query" in plain, plain[-3000:]
    rows = re.split(r"\r|\n|\033\[[0-9;]*[HABEFG]", text[: text.index("qprof-bpf: recorded")])
    # Places of items are links, which are never cut. A message may follow a row on its line.
    rows = [row.partition("qprof-bpf: ")[0] for row in map(without_codes, rows)
            if ".rs:" not in row and not row.startswith("item (")]
    widest = max(rows, key=len)
    assert len(widest) <= 80, widest


def test_threads_of_short_processes_are_named(t):
    """Ten compilers, each of which lives for less time than passes between two reads of the ring."""
    t.need_capture()
    source = t.path("m.rs")
    with open(source, "w") as f:
        f.write("pub fn f() {}")
    loop = "for i in 1 2 3 4 5 6 7 8 9 10; do %s --crate-type lib --emit=metadata --out-dir %s %s; done"
    done = t.record(["sh", "-c", loop % (t.rustc, t.mkdir("out"), source)], options=("-q",))
    lines = t.dumped(done.trace)
    used = {(x["process"], x["tid"]) for x in lines if x.get("type") == "span"}
    named = {(x["process"], x["tid"]) for x in lines if x.get("type") == "thread" and x["name"]}
    assert len({process for process, _ in used}) == 10, used
    assert used == named, used - named


def test_interval_is_checked(t):
    done = t.run_qprof("--interval", "0", "--", "true")
    assert done.returncode == 2 and "interval" in done.stderr, done.stderr


# ---- Output without a reader ---------------------------------------------------------------------


def record_unread(t, *options, **files):
    """A recording whose compile is over, and whose output nothing has read."""
    t.need_capture()
    done = t.path("done")
    script = '"$@"; touch %s' % done
    process = t.start_qprof("-o", t.path("trace.qpt"), *options, "--", "sh", "-c", script, "sh",
                            *long_build(t), **files)
    lab.wait_for("the compile", lambda: os.path.exists(done), lab.TIMEOUT)
    return process


def end_unread(t, process):
    """Check that nothing was lost and that a signal ends the recording."""
    begin = time.monotonic()
    process.send_signal(signal.SIGTERM)
    process.wait(timeout=lab.TIMEOUT)
    seconds = time.monotonic() - begin
    losses = t.report(t.path("trace.qpt"))["losses"]
    assert not losses["ring_full"], losses
    assert sum(t.counts(t.path("trace.qpt")).values()) > 100000
    assert seconds < 60, seconds
    return "%.1f s" % seconds


def test_json_that_nothing_reads(t):
    process = record_unread(t, "--json", "-i", "10ms")
    time.sleep(1)
    assert process.poll() is None, "nothing was left to be written"
    return end_unread(t, process)


def test_json_that_is_read_late(t):
    """Some objects are missing, but no line is cut, and the last one is complete."""
    process = record_unread(t, "--json", "-i", "10ms")
    out, err = process.communicate(timeout=lab.TIMEOUT)
    assert process.returncode == 0, err
    lines = [json.loads(line) for line in out.splitlines()]
    assert b"not shown: their reader was too slow" in err, err
    assert lines[-1]["events"] == sum(t.counts(t.path("trace.qpt")).values())


def test_slow_lines_that_nothing_reads(t):
    return end_unread(t, record_unread(t, "-q", "--slow", "1us"))


def test_a_terminal_that_is_stopped(t):
    """As by Ctrl-S."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    termios.tcflow(slave, termios.TCOOFF)
    process = record_unread(t, "--interval", "50ms", stdin=slave, stdout=slave, stderr=slave)
    try:
        assert process.poll() is None, "nothing was left to be written"
        return end_unread(t, process)
    finally:
        os.close(slave)
        os.close(master)
