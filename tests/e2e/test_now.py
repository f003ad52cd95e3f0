# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The current queries of running compilers: in the live table, as JSON, and in `top`."""

import json
import os
import shlex
import signal

import lab
from lab import each
from test_keys_running import rustc_that_hangs
from test_top import Screen, top

# A derive that takes until the test ends it.
WAITS = """extern crate proc_macro;
#[proc_macro_derive(Waits)]
pub fn waits(_: proc_macro::TokenStream) -> proc_macro::TokenStream {
    while !std::path::Path::new("%s").exists() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    proc_macro::TokenStream::new()
}
"""
USES = "use waits::Waits; #[derive(Waits)] pub struct S;"


def rustc_that_waits(t, gate):
    """A compile that expands a macro until the file `gate` exists."""
    out = t.mkdir("macros")
    done = t.plain([t.rustc, "--edition=2021", "--crate-type=proc-macro", "--crate-name=waits",
                    "--out-dir", out, t.write("waits.rs", WAITS % gate)])
    assert done.status == 0, done.stderr.decode()
    return [t.rustc, "--edition=2021", "--crate-type=lib", "--crate-name=uses", "--emit=metadata",
            "--extern", "waits=" + os.path.join(out, "libwaits.so"), "--out-dir", t.mkdir("out"),
            t.write("uses.rs", USES)]


class Live:
    """A recording whose live view goes into a file."""

    def __init__(self, t, options, argv, exact=True):
        self.path = t.path("live")
        with open(self.path, "wb") as out:
            self.process = t.start_qprof("-i", "100ms", "-o", t.path("trace.qpt"), *options, "--",
                                         *argv, stdout=out, stderr=out, exact=exact)

    def text(self):
        with open(self.path, encoding="utf-8") as f:
            return f.read()

    def places(self):
        """(crate, name, event) of all objects so far."""
        whole = [line for line in self.text().splitlines(True) if line.endswith("}\n")]
        return {(now["crate"], now["name"], now["event"])
                for line in whole for now in json.loads(line).get("now", ())}

    def compiler(self):
        """The pid of the one that runs; the profiler may have other children."""
        (child,) = lab.wait_for("the compiler", lambda: [
            pid for pid in lab.children(self.process.pid) if lab.name_of(pid) == "rustc"])
        return child

    def end(self):
        self.process.wait(timeout=lab.TIMEOUT)
        return self.process.returncode


def ends_with(places, crate, end):
    return [name for its, name, event in places if its == crate and (event or "").endswith(end)]


@each("exact", "default")
def test_json(t, how):
    """The item that is evaluated, in each object once it is known; by default by samples."""
    live = Live(t, ("--json",), rustc_that_hangs(t), how == "exact")
    # Before, the constant's types are checked.
    (name, *_) = lab.wait_for("the item", lambda: [name for name in ends_with(
        live.places(), "hangs", "hangs::one::planted::{{constant}}") if name.startswith("eval_to_")])
    os.kill(live.compiler(), signal.SIGKILL)
    assert live.end() == -signal.SIGKILL
    last = json.loads([line for line in live.text().splitlines() if line.startswith("{")][-1])
    assert "now" not in last and last["running"] == 0, last
    return name


def test_blocks(t):
    live = Live(t, (), rustc_that_hangs(t))
    (line, *_) = lab.wait_for("the item", lambda: [
        line for line in live.text().splitlines()
        if line.startswith("  hangs  eval_to_") and "hangs::one::planted::{{constant}})" in line])
    os.kill(live.compiler(), signal.SIGKILL)
    live.end()
    return line.strip()


def test_no_keys(t):
    """Without keys there is the query."""
    live = Live(t, ("--json", "--no-keys"), rustc_that_hangs(t))
    lab.wait_for("the query", lambda: any(name.startswith("eval_") for _, name, _ in live.places()))
    assert not [place for place in live.places() if place[2]], live.places()
    os.kill(live.compiler(), signal.SIGKILL)
    live.end()


def test_an_argument(t):
    """An activity has its argument: here the macro."""
    gate = t.path("gate")
    live = Live(t, ("--json",), rustc_that_waits(t, gate))
    (name, *_) = lab.wait_for("the macro", lambda: ends_with(
        live.places(), "uses", "#[derive(Waits)]"))
    assert "expand" in name, name
    open(gate, "w").close()
    assert live.end() == 0
    return name


@each("top", "record")
def test_an_argument_on_a_terminal(t, command):
    t.need_capture()
    gate = t.path("gate")
    argv = rustc_that_waits(t, gate)
    options = ("-i", "100ms", "-o", t.path("trace.qpt"), "--", *argv)
    line = top(t, *options)
    if command == "record":
        line = line.replace(" top ", " record ", 1)
    with Screen(t, line) as s:
        s.resize(120, 24)
        s.wait("uses", "expand_", "(#[derive(Waits)])")
        open(gate, "w").close()
        if command == "top":
            s.wait("finished,")
            s.keys("q")
        s.wait("status=0")


def test_a_build_of_many(t):
    """Compilers beyond those that have a line are counted."""
    script = "".join(shlex.join(rustc_that_hangs(t, out="out%d" % i)) + " & " for i in range(10))
    live = Live(t, (), ["sh", "-c", script + "wait"])
    text = lab.wait_for("more compilers", lambda: live.text() if "more compilers\n" in live.text()
                        and "planted" in live.text() else None)
    blocks = text.split(" processes ")[1:]
    most = max(block.count("  hangs  ") for block in blocks)
    assert most == 8, most
    (shell,) = [pid for pid in lab.children(live.process.pid) if lab.name_of(pid) == "sh"]
    for pid in lab.children(shell):
        os.kill(pid, signal.SIGKILL)
    live.end()
