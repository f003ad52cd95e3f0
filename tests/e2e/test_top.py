# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The interactive view, driven by tmux: the screen after keys, resizes and signals."""

import itertools
import os
import re
import shlex
import shutil
import signal
import subprocess

import crates
import lab
from lab import Skip, wait_for
from test_keys_running import rustc_that_hangs
from test_manners import all_owners, as_nobody
from test_without_root import User

GOLDEN = os.path.join(lab.ROOT, "tests/golden")


class Screen:
    """A terminal of 80x24 that runs a command, in its own tmux server."""

    numbers = itertools.count()

    def __init__(self, t, command, env=None):
        if not shutil.which("tmux"):
            raise Skip("no tmux")
        self.socket = t.path("tmux%d" % next(self.numbers))
        self.env = t.qprof_env({"LANG": "C.UTF-8", "SHELL": "/bin/sh", **(env or {})})
        self.env.pop("TMUX", None)
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24", "-c", t.dir,
                  command)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run(["tmux", "-S", self.socket, "kill-server"], capture_output=True)

    def tmux(self, *arguments):
        done = subprocess.run(["tmux", "-S", self.socket, *arguments], capture_output=True,
                              text=True, env=self.env, timeout=lab.TIMEOUT)
        assert done.returncode == 0, "tmux %s: %s" % (" ".join(arguments), done.stderr)
        return done.stdout

    def text(self, *options):
        return self.tmux("capture-pane", "-p", *options)

    def keys(self, *keys):
        for key in keys:
            self.tmux("send-keys", key)

    def resize(self, columns, lines):
        self.tmux("resize-window", "-x", str(columns), "-y", str(lines))

    def wait(self, *parts):
        """Wait until all of these are on the screen at once; returns the screen."""
        last = [""]

        def there():
            # Other output may be wrapped, even at a space.
            for how in ((), ("-J",)):
                last[0] = self.text(*how)
                if all(part in last[0] for part in parts):
                    return True
            return False

        try:
            wait_for(" ".join(parts), there)
        except AssertionError as error:
            raise AssertionError("%s; the screen is:\n%s" % (error, last[0])) from None
        return last[0]


def rows(text):
    """The lines of the table: below its titles, and above the keys."""
    lines = text.rstrip("\n").split("\n")
    return [line for line in lines[3:-1] if line.strip()]


def top(t, *arguments):
    """A command line that prints the status at its end, and keeps the terminal open."""
    line = " ".join(shlex.quote(a) for a in (t.qprof, *lab.exactly(("top", *arguments))))
    return "trap : INT; %s; echo status=$?; sleep 1000" % line


def events(text):
    """The number of executions of queries in the first line."""
    found = re.search(r"queries ([\d,]+)", text)
    return int(found.group(1).replace(",", "")) if found else 0


def wait_events(s, count):
    wait_for("%d events" % count, lambda: events(s.text()) >= count)


def script(t, compiles, status=0, gate=None):
    """A script that compiles repeatedly and prints each number. All but the first compile wait
    until the file `gate` exists."""
    line = " ".join(shlex.quote(a) for a in [t.rustc] + crates.arguments(crates.LONG, t.mkdir("out")))
    wait = "while [ $i != 0 ] && [ ! -e %s ]; do sleep 0.1; done; " % shlex.quote(gate) if gate else ""
    text = "for i in %s; do %s%s; echo built $i; done; exit %d\n"
    return t.write("build.sh", text % (" ".join(map(str, range(compiles))), wait, line, status))


def test_command(t):
    """A build, from its first compiler to its exit status; every kind of key; two sizes."""
    t.need_capture()
    trace = t.path("trace.qpt")
    gate = t.path("gate")
    build = script(t, 2, status=7, gate=gate)
    with Screen(t, top(t, "-i", "100ms", "-o", trace, "--", "sh", build)) as s:
        s.wait("recording", "lost 0", "compilers 1 (", "regex_syntax", "[on-cpu]")
        wait_events(s, 10000)
        assert "> regex_syntax" in s.text()

        s.keys("Space")
        paused = s.wait("PAUSED at")
        s.keys("Enter")
        s.wait("Queries of regex_syntax (", "[on-cpu]")
        wait_for("all rows", lambda: len(rows(s.text())) == 20)
        # A long filter would be cut at the end of the line.
        found = [row[2:].split()[0] for row in rows(s.text())]
        name = next(name for name in found if len(name) <= 15 and not name.endswith("."))
        s.keys("/", *name, "Enter")
        s.wait("filter: %s  by on-cpu" % name)
        # A capture of the screen may show half a redraw. A name may be cut before the part that the
        # filter found.
        wait_for("rows with it", lambda: 0 < len(rows(s.text())) < 20 and all(
            name in row or row[2:].split()[0].endswith("..") for row in rows(s.text())))
        s.keys("Escape")
        wait_for("all rows", lambda: len(rows(s.text())) == 20)
        s.keys(">", ">", "r")
        s.wait("[count]", "by count, reversed")
        s.keys("Tab", "Tab")
        s.wait("Threads of regex_syntax (", "rustc", "last ended")
        s.keys("?")
        s.wait("any key: back", "select a row")
        s.keys("x", "Escape")
        still = s.wait("Processes  1 of 1")
        assert still.split("\n")[0] == paused.split("\n")[0], "it went on while paused"

        s.resize(60, 15)
        wait_for("15 lines", lambda: fits(s.text(), 60, 15))
        s.resize(80, 24)
        wait_for("24 lines", lambda: fits(s.text(), 80, 24))

        open(gate, "w").close()
        s.keys("Space")
        finished = s.wait("finished,", "compilers 2 (0 running)", "done")
        s.keys("q")
        after = s.wait("status=7")
    assert "built 0\nbuilt 1\n" in after, after
    assert "Processes" not in after, "the screen is still there: %s" % after
    recorded = t.report(trace)["query_executions"]
    assert events(finished) == recorded, (recorded, finished)


def test_item(t):
    """The function whose constant is evaluated is on the screen meanwhile."""
    t.need_capture()
    rustc = shlex.join(rustc_that_hangs(t))
    with Screen(t, top(t, "-o", t.path("trace.qpt"), "--", "sh", "-c", rustc)) as s:
        s.resize(120, 24)
        row = re.search(r"> hangs +(\d+) .*", s.wait("> hangs", "one::planted"))
        assert "one::planted" in row.group(), row
        s.keys("Enter")
        s.wait("Queries of hangs (", "  in ", "planted")
        os.kill(int(row.group(1)), signal.SIGKILL)
        s.wait("finished,")
        assert "  in " not in s.text().split("\n")[1], s.text()
        s.keys("q")
        s.wait("status=137")


def hottest(t, screen):
    """Wait for the function of a compiler that hangs in const evaluation, among its threads."""
    screen.resize(120, 24)
    screen.wait("> hangs")
    screen.keys("Enter", "Tab", "Tab")
    return screen.wait("Threads of hangs (", "hottest function", "rustc_const_eval ")


def test_hottest_function(t):
    """Beside the probes and without any, in the recording and where it is followed."""
    t.need_capture()
    rustc = shlex.join(rustc_that_hangs(t))
    for i, events in enumerate(((), ("-e", "none"))):
        trace = t.path("trace%d.qpt" % i)
        with Screen(t, top(t, "-i", "200ms", "--sample", *events, "-o", trace, "--", "sh", "-c",
                           rustc)) as s:
            hottest(t, s)
            with Screen(t, top(t, "-i", "200ms", trace)) as other:
                hottest(t, other)
            s.keys("p")
            pid = re.search(r"> hangs +(\d+) ", s.wait("Processes  1 of 1")).group(1)
            os.kill(int(pid), signal.SIGKILL)
            s.wait("finished,")
            s.keys("q")
            s.wait("status=137")


def test_samples_alone(t):
    """Without intervals, queries and their times are those of samples."""
    t.need_capture()
    rustc = shlex.join(rustc_that_hangs(t))
    with Screen(t, top(t, "-i", "200ms", "--sample", "-e", "none", "-o", t.path("trace.qpt"),
                       "--", "sh", "-c", rustc)) as s:
        pid = re.search(r"> hangs +(\d+) ", s.wait("> hangs", "eval_to_")).group(1)
        s.keys("Enter")
        s.wait("Queries of hangs (", "eval_to_allocation_raw")
        os.kill(int(pid), signal.SIGKILL)
        s.wait("finished,")
        s.keys("q")
        s.wait("status=137")


def items_of(t, trace, timed=False):
    """Paths that a report by item has, or has times of."""
    document = t.json("report", "--by", "item", "--json", trace)
    return {row["name"] for row in document["items"] if row["name"] and (row["self_ns"] or not timed)}


def test_items_of_a_command(t):
    """Those of compilers that have ended, while the command runs on; the same for who follows the
    trace, and for who opens it afterwards."""
    t.need_capture()
    trace, gate = t.path("trace.qpt"), t.path("gate")
    run = t.record(["sh", script(t, 1)], ("-q",), trace="one.qpt")
    items = items_of(t, run.trace)
    build = script(t, 2, gate=gate)
    with Screen(t, top(t, "-i", "100ms", "-o", trace, "--", "sh", build)) as s, \
            Screen(t, "while [ ! -e %s ]; do sleep 0.1; done; %s" % (
                shlex.quote(trace), top(t, "-i", "100ms", trace))) as other:
        for view in (s, other):
            view.resize(120, 24)
            view.wait("recording", "compilers 1 (0 running)")
            view.keys("i")
            view.wait("Items  1 of %d" % len(items), "regex_syntax::", "lib.rs:1", "[on-cpu]")
        open(gate, "w").close()
        for view in (s, other):
            view.wait("finished,", "compilers 2 (0 running)")
            view.wait("Items  1 of %d" % (2 * len(items)))
            view.keys("q")
        s.wait("status=0")
    assert items_of(t, trace) == items
    with Screen(t, top(t, trace)) as s:
        s.keys("i")
        s.wait("Items  1 of %d" % (2 * len(items)), "finished,")
        first = rows(s.text())[0][2:].split()[0]
        s.keys("Enter")
        s.wait("Items of regex_syntax (", "1 of %d" % (len(items) + 1), "(no item)")
        s.keys("i")
        s.wait("Queries of regex_syntax (")
    assert any(path.endswith(first.lstrip(".")) for path in items), first
    return "%d items" % len(items)


def test_items_by_samples(t):
    """A default recording has those of its report, once the compiler has ended."""
    run = t.record(["sh", script(t, 1)], ("-q",), exact=False)
    items = items_of(t, run.trace, timed=True)
    with Screen(t, top(t, run.trace)) as s:
        s.keys("i")
        first = s.wait("Items  1 of %d" % len(items), "regex_syntax", "~")
        s.keys("Enter")
        s.wait("Items of regex_syntax (", "1 of %d" % (len(items) + 1), "(no item)")
    first = rows(first)[0][2:].split()[0]
    assert any(path.endswith(first.lstrip(".")) for path in items), first
    return "%d items" % len(items)


def test_no_items(t):
    """A reason is shown: here, that no keys were recorded."""
    run = t.record(["sh", script(t, 1)], ("-q", "--no-keys"))
    with Screen(t, top(t, run.trace)) as s:
        s.wait("finished,", "compilers 1 (0 running)")
        s.keys("i")
        s.wait("Items  0 of 0", "does not say what the queries were about (--no-keys?)")


def test_under_sudo(t):
    """The build and the trace are the invoker's, and the terminal is restored."""
    t.need_capture()
    nobody, env = as_nobody(t)
    os.mkdir(t.path("sub"))
    os.chown(t.path("sub"), nobody, -1)
    with User(t, "cap_bpf") as user:
        build = [user.rustc] + crates.arguments(crates.SHORT, t.path("sub"), "--emit=link")
        line = shlex.join([t.qprof, "top", "-o", "sub/a.qpt", "--", *build])
        modes = "stty -g > %s" % t.path("modes")
        command = "%s; %s; echo status=$?; %s.after; sleep 1000" % (modes, line, modes)
        with Screen(t, command, env) as s:
            s.wait("finished,", "compilers 1 (0 running)")
            s.keys("q")
            after = s.wait("status=0", "wrote sub/a.qpt")
            wait_for("the modes", lambda: os.path.exists(t.path("modes.after"))
                     and os.path.getsize(t.path("modes.after")))
    assert "Processes" not in after, "the screen is still there: %s" % after
    with open(t.path("modes")) as before, open(t.path("modes.after")) as restored:
        assert before.read() == restored.read()
    assert len(os.listdir(t.path("sub"))) == 2, os.listdir(t.path("sub"))
    assert all_owners(t.path("sub")) == {nobody}


def fits(text, columns, lines):
    """Whether the screen has all its parts, with the keys in the last line, and no line is too long."""
    got = text.rstrip("\n").split("\n")
    whole = "> regex_syntax" in text and "lost 0" in got[0] and got[-1].startswith("q quit")
    return whole and len(got) == lines and max(map(len, got)) <= columns


def test_leaving(t):
    """q leaves a running command alone; Ctrl-C interrupts it."""
    t.need_capture()
    build = script(t, 1000)
    with Screen(t, top(t, "-i", "100ms", "-o", t.path("trace.qpt"), "--", "sh", build)) as s:
        s.wait("recording", "regex_syntax")
        s.keys("q")
        s.wait("the command continues, and is still recorded")
        s.wait("built 0")
        s.keys("C-c")
        s.wait("wrote %s" % t.path("trace.qpt"), "status=130")
    assert len(t.report(t.path("trace.qpt"))["processes"]) >= 1


def test_pid(t):
    """A running process goes on after the view has ended, and no probe stays."""
    t.need_capture()
    build = t.start_plain(["sh", script(t, 1000)])
    with Screen(t, top(t, "-i", "100ms", "-o", t.path("trace.qpt"), "-p", str(build.pid))) as s:
        s.wait("recording", "regex_syntax")
        wait_events(s, 1000)
        recorder = recorder_of(t)
        links = wait_for("links", lambda: lab.links_of(recorder))
        s.keys("q")
        s.wait("0 lost; wrote", "status=0")
    assert build.poll() is None
    lab.assert_gone(links)


class Pid:
    def __init__(self, pid):
        self.pid = pid


def recorder_of(t):
    """The recording process, which is the child of the view."""
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/cmdline" % entry) as f:
                command = f.read()
        except OSError:
            continue
        is_ours = command.startswith(t.qprof + "\0top") and t.dir in command
        found = is_ours and lab.children(int(entry))
        if found:
            return Pid(found[0])
    raise AssertionError("nothing records")


def test_killed(t):
    """If the view is killed, the recording of running processes ends in order, and is whole."""
    t.need_capture()
    trace = t.path("trace.qpt")
    build = t.start_plain(["sh", script(t, 1000)])
    with Screen(t, top(t, "-i", "100ms", "-o", trace, "-p", str(build.pid))) as s:
        s.wait("recording", "regex_syntax")
        wait_events(s, 1000)
        recorder = recorder_of(t)
        with open("/proc/%d/stat" % recorder.pid) as f:
            parent = int(f.read().rpartition(")")[2].split()[1])
        os.kill(parent, signal.SIGKILL)
        s.wait("status=137")
        wait_for("the recording to end", lambda: not lab.alive(recorder.pid))
    assert build.poll() is None
    assert t.run_qprof("verify", trace).returncode == 0


def test_another_recording(t):
    """top finds a recording of another terminal, or gets its name, and follows its trace to the end."""
    trace, gate = t.path("trace.qpt"), t.path("gate")
    build = script(t, 2, gate=gate)
    process = t.start_qprof("-q", "-i", "100ms", "-o", trace, "--", "sh", build)
    t.attached(process)
    with Screen(t, top(t)) as s:
        # The name comes last. Other recordings may be on the list, too.
        s.resize(200, 24)
        s.wait(trace)
    with Screen(t, top(t, "-i", "100ms", trace)) as s:
        s.wait("recording", "regex_syntax")
        wait_events(s, 1000)
        open(gate, "w").close()
        s.wait("finished,", "compilers 2 (0 running)")
        s.keys("q")
        s.wait("status=0")
    assert process.wait(timeout=lab.TIMEOUT) == 0


def test_stopped_and_continued(t):
    """Ctrl-Z restores the terminal, fg takes it again, and SIGTERM restores it for good."""
    trace = os.path.join(GOLDEN, "good-kinds.qpt")
    line = "%s top -i 100ms %s" % (shlex.quote(t.qprof), shlex.quote(trace))
    with Screen(t, "PS1='ready> ' bash --norc --noprofile -i") as s:
        s.wait("ready>")
        s.tmux("send-keys", line, "Enter")
        s.wait("finished,", "q quit")
        s.keys("C-z")
        assert "q quit" not in s.wait("Stopped")
        s.tmux("send-keys", "fg", "Enter")
        s.wait("finished,", "q quit")
        s.keys("Tab")
        s.wait("Queries  1 of")
        s.keys("C-z")
        wait_for("it to stop again", lambda: s.text().count("Stopped") == 2)
        s.tmux("send-keys", "kill %1; fg; echo status=$?", "Enter")
        s.wait("status=143")
        s.tmux("send-keys", "clear; stty -a", "Enter")
        assert re.search(r"(^|[ ;])echo ", s.wait("speed", "extproc"), re.M), s.text()


def test_cut_short(t):
    with Screen(t, top(t, os.path.join(GOLDEN, "bad-killed.qpt"))) as s:
        s.wait("interrupted,", "unknown")
        s.keys("q")
        s.wait("status=0")


def colors(text):
    return set(re.findall(r"\033\[[0-9;]*\b(3[1-7])m", text))


def test_no_color(t):
    trace = os.path.join(GOLDEN, "good-kinds.qpt")
    with Screen(t, top(t, trace)) as s:
        s.wait("finished,", "q quit")
        assert colors(s.text("-e")), "no colours: %r" % s.text("-e")
    with Screen(t, top(t, trace), env={"NO_COLOR": "1"}) as s:
        s.wait("finished,", "q quit")
        assert not colors(s.text("-e")), "colours: %r" % s.text("-e")


def test_no_terminal(t):
    """One error line names the alternative."""
    trace = os.path.join(GOLDEN, "good-kinds.qpt")
    done = t.run_qprof("top", trace)
    assert done.returncode == 125, done
    assert "top needs a terminal: stdin is none" in done.stderr and "record" in done.stderr, done
    for term, why in (("dumb", "cannot move its cursor"), ("", "TERM is not set"),
                      ("no-such-terminal", "TERM names none")):
        with Screen(t, "TERM=%s; export TERM; %s" % (term, top(t, trace))) as s:
            s.wait("top needs a terminal", why, "status=125")


def test_failures(t):
    """Errors are printed on the restored terminal."""
    with Screen(t, top(t, t.path("none.qpt"))) as s:
        s.wait("none.qpt", "No such file", "status=125")
    t.need_capture()
    with Screen(t, top(t, "-o", t.path("a.qpt"), "--", t.path("no-such-command"))) as s:
        s.wait("no-such-command", "status=127")
    with Screen(t, top(t, "-p", "4194303")) as s:
        s.wait("there is no process 4194303", "status=125")
    assert not os.path.exists(t.path("a.qpt"))
