# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Keys of queries equal rustc's own, and are shown where they should be."""

import base64
import collections
import gzip
import json
import os
import re
import shutil
import signal
import struct

import crates
import keys
import lab
import workspace
from compiles import BOOTSTRAP, Compile
from elf import Elf
from gate import Gate
from lab import each
from mm_profdata import Profile
from test_harmless import both, rustc_program
from test_measureme import do_export, do_import
from test_targets import fake_toolchain, start_in_a_group

FAILURE = 125

# `make fidelity` compares more.
EQUAL = (*(("stable", crates.SHORT, mode) for mode in ("debug", "metadata", "edited-incremental", "threads")),
         *(("nightly", crates.SHORT, mode)
           for mode in ("release", "first-incremental", "second-incremental")),
         ("nightly", crates.LONG, "debug"), ("stable", "quote", "debug"))


@each(*EQUAL)
def test_equal(t, toolchain, crate, mode):
    t.need_capture()
    found = keys.compare(Compile(t, t.toolchain(toolchain), crate, mode))
    found.assert_equal()
    return found.summary()


def test_other_crates(t):
    """In a compile that does not profile itself, paths of other crates are rustc's or missing."""
    t.need_capture()
    compile = Compile(t, t.toolchain(), crates.SHORT, "debug")
    paths, numbers, differing = keys.compare_plain(compile, keys.compare(compile))
    assert paths and numbers and not differing, (paths, numbers, differing)
    return "%d have a path, %d a number" % (paths, numbers)


# ---- However a compile ends ---------------------------------------------------------------------


def named(t, trace, crate):
    """{query: executions that are about something of the crate}"""
    return collections.Counter(
        query for _, query, event in keys.executions(t, trace) if keys.is_of(crate, event))


def assert_all_local_are_named(t, trace, crate, plan):
    """Every execution of a query whose key can only be of the crate itself; returns their number."""
    local = {query["name"] for query in plan["queries"] if query["key"] == "LocalDefId"}
    events = [event for _, query, event in keys.executions(t, trace) if query in local]
    assert events
    unnamed = [event for event in events if not keys.is_of(crate, event)]
    assert not unnamed, "%d of %d: %s" % (len(unnamed), len(events), unnamed[:5])
    return len(events)


def plan_of(t, rustc):
    return t.json("plan", "--json", rustc)


@each(*((toolchain, *case) for toolchain in lab.toolchains() or ("stable",)
        for case in (("good", (), {}), ("type_error", (), {}), ("borrow_error", (), {}),
                     ("ice", ("-Ztreat-err-as-bug",), BOOTSTRAP))))
def test_however_a_compile_ends(t, toolchain, program, flags, env):
    """With errors, and with a panic of the compiler, whose output is that of a plain run."""
    t.need_capture()
    argv = rustc_program(t, toolchain, program, *flags)
    plain, run = both(t, argv, env)
    assert plain.status == {"good": 0, "ice": 101}.get(program, 1), plain.stderr.decode()
    document = t.report(run.trace)
    assert document["lost"] == 0, document["losses"]
    n = assert_all_local_are_named(t, run.trace, program, plan_of(t, argv[0]))
    paths = {event for _, _, event in keys.executions(t, run.trace)}
    assert program + "::main" in paths, sorted(paths)[:20]
    return "%d executions are named" % n


def test_ctrl_c_while_a_compiler_runs(t):
    """The compilers that have ended have names, the one that Ctrl-C ended may have none."""
    profiler, links = start_in_a_group(t, "-q")
    os.killpg(profiler.pid, signal.SIGINT)
    profiler.communicate(timeout=lab.TIMEOUT)
    trace = t.path("trace.qpt")
    document = t.report(trace)
    assert document["problem"] is None and document["lost"] == 0, document["losses"]
    ended = [process["pid"] for process in document["processes"] if process["exit"] == 0]
    assert ended, document["processes"]
    assert sum(named(t, trace, "regex_syntax").values()) > 50000
    lab.assert_gone(links)


def test_ctrl_c_with_pid_while_a_compiler_runs(t):
    """The compiler goes on after the recording: its names are read while it runs, and those of
    before the recording too."""
    t.need_capture()
    gate = Gate(t)
    build = t.start_plain(gate.command("out"))
    gate.reached()
    trace = t.path("trace.qpt")
    profiler = t.start_qprof("-q", "-i", "10ms", "-o", trace, "--pid", str(build.pid))
    t.attached(profiler)
    gate.go_on()
    lab.wait_for("queries", lambda: os.path.exists(trace) and os.path.getsize(trace) > 100000)
    status, _, err = t.interrupt(profiler)
    assert build.poll() is None, "it ended before the recording did"
    assert (status, build.wait()) == (0, 0), err
    document = t.report(trace)
    assert document["problem"] is None and document["lost"] == 0, document
    n = assert_all_local_are_named(t, trace, "regex_syntax", plan_of(t, t.rustc))
    return "%d executions are named" % n


# ---- Definitions of other crates ----------------------------------------------------------------


def of_other_crates(t, trace):
    """{(crate that is compiled, crate): [events]}, of a trace of several compilers."""
    compiled, events = {}, collections.defaultdict(list)
    for row in t.dumped(trace, "process", "span"):
        if row["type"] == "process":
            compiled[row["index"]] = row["crate"]
        elif row["kind"] == "Query" and row["event"]:
            crate = re.match(r"\w*", row["event"]).group()
            events[compiled[row["process"]], crate].append(row["event"])
    return events


@each(*(lab.toolchains() or ("stable",)))
def test_crates_of_one_build(t, toolchain):
    """A key in a crate that was compiled before in the build always has its path."""
    trace, _ = workspace.recorded(t, toolchain)
    events = of_other_crates(t, trace)
    asked = {("both", "base"), ("app", "both"), ("app", "made")}
    assert asked <= events.keys(), sorted(events)
    for pair in asked:
        numbers = [event for event in events[pair] if keys.NUMBERED.match(event)]
        assert not numbers, (pair, len(events[pair]), numbers[:5])
    assert "base::{{impl}}::sorted" in events["both", "base"], sorted(set(events["both", "base"]))
    core = events["app", "core"]
    named = sum(not keys.NUMBERED.match(event) for event in core)
    assert 0 < named < len(core), (named, len(core))
    return "%d executions about crates of the build; %d of %d about core have a path" % (
        sum(len(events[pair]) for pair in asked), named, len(core))


# ---- Without keys -------------------------------------------------------------------------------


def assert_no_items(t, trace):
    for options in ((), ("--json",)):
        done = t.run_qprof("report", "--by", "item", *options, trace)
        (line,) = done.stderr.splitlines()
        assert done.returncode == FAILURE and not done.stdout, done
        assert "does not say what its queries were about" in line, line


def test_no_keys(t):
    """--no-keys leaves out the keys, and nothing else."""
    t.need_capture()
    compile = Compile(t, t.toolchain(), crates.SHORT, "debug")
    with_keys = t.capture(compile.argv("out"), ("-q",), trace="with.qpt")
    without = t.capture(compile.argv("out"), ("-q", "--no-keys"), trace="without.qpt")
    a, b = t.span_counts(with_keys.trace), t.span_counts(without.trace)
    assert a == b, (a - b, b - a)
    assert t.counts(with_keys.trace) == t.counts(without.trace)
    assert named(t, with_keys.trace, crates.SHORT)
    assert not [span for span in t.spans(without.trace) if span["event"]]
    assert_no_items(t, without.trace)
    sizes = [os.path.getsize(run.trace) for run in (with_keys, without)]
    return "%d bytes, without keys %d" % tuple(sizes)


def rename_text_of_symbols(source, target):
    """Rename rustc_span::Symbol::as_str() in the symbol table of a copy."""
    shutil.copy2(source, target)
    library = Elf(source)
    (found,) = {(at, name) for at, name, _, _ in library.symbols()
                if "rustc_span" in name and name.endswith("6Symbol6as_str")}
    at, name = found
    _, _, names = library.symtab()
    (start,) = struct.unpack_from("<I", library.data, at)
    with open(target, "r+b") as f:
        f.seek(names + start + len(name) - 1)
        f.write(b"R")


def test_names_that_cannot_be_found(t):
    """If the plan does not find how names are read, all else is recorded."""
    t.need_capture()
    rustc = fake_toolchain(t, rename_text_of_symbols)
    plan = plan_of(t, rustc)
    assert plan["names"] is False and plan["names_problem"], plan["names_problem"]
    compile = Compile(t, t.toolchain(), crates.SHORT, "debug")
    real = t.capture(compile.argv("out"), ("-q",), trace="real.qpt")
    argv = [rustc, *compile.argv("out")[1:]]
    run = t.capture(argv, ("-q",))
    assert (run.status, run.stderr) == (0, b""), run
    assert t.counts(run.trace) == t.counts(real.trace)
    events = {event for _, _, event in keys.executions(t, run.trace)}
    assert events <= {"", keys.UNIT}, sorted(events)[:5]
    assert_no_items(t, run.trace)
    run = t.capture(argv, ())
    assert plan["names_problem"] in run.stderr.decode(), run.stderr.decode()
    done = t.run_qprof("plan", rustc)
    assert "of definitions cannot be read: " + plan["names_problem"] in done.stdout, done.stdout
    return plan["names_problem"]


# ---- Where names are shown ----------------------------------------------------------------------


# A loop at compile time, within the type of a function or the value of a static.
SLOW = """#![allow(long_running_const_eval)]
const fn slow(n: u64) -> u64 { let mut i = 0; while i < n { i = i.wrapping_add(1); } i }
pub mod one { %s }
pub mod other { pub fn quick() -> u64 { super::slow(3) } }
"""


@each(("one::planted::{{constant}}", "pub fn planted() -> [u8; super::slow(400_000) as usize % 7] { loop {} }"),
      ("one::PLANTED", "pub static PLANTED: u64 = super::slow(400_000);"))
def test_a_slow_item_is_first(t, path, text):
    program = t.write("slow.rs", SLOW % text)
    run = t.record([t.rustc, "--crate-type=lib", "--emit=metadata", "--out-dir", t.mkdir("out"),
                    program])
    text = t.text("report", "--by", "item", run.trace)
    items = [line.split()[-1] for line in text[text.index("cpu %"):].splitlines()[1:]
             if line and not line.endswith("(no item)")]
    assert items[0] == "slow::" + path, text
    done = t.run_qprof("report", "--by", "item", "--json", run.trace)
    rows = json.loads(done.stdout)["items"]
    row = next(row for row in rows if row["name"] == "slow::" + path)
    others = sum(other["self_ns"] for other in rows if other["name"] not in (None, row["name"]))
    assert row["self_ns"] > others and row["queries"][0]["name"].startswith("eval_"), rows[:3]
    # Each execution is either about an item, or charged to one.
    executions = sum(t.counts(run.trace).values())
    assert sum(row["executions"] for row in rows) <= executions, executions
    return "%d of %d ms" % (row["self_ns"] / 1e6, sum(row["self_ns"] for row in rows) / 1e6)


def recorded(t):
    """A trace with keys, which several tests read."""
    def record():
        return t.record([t.rustc] + crates.arguments(crates.SHORT, t.mkdir("out")),
                        ("-q", "-e", "query-provider")).trace

    t.need_capture()
    return t.shared("keys.qpt", record)


def test_measureme(t):
    """The exported arguments are the paths, and so they are in an import of the export."""
    trace = recorded(t)
    ours = collections.Counter((query, event) for _, query, event in keys.executions(t, trace))
    assert sum(n for (_, event), n in ours.items() if event) > 10000
    (exported,) = do_export(t, trace)
    rows = collections.Counter()
    for (kind, label, *arguments), n in Profile.read(exported).rows().items():
        assert kind == "Query" and len(arguments) < 2, (kind, label, arguments)
        rows[label, arguments[0] if arguments else ""] += n
    assert rows == ours, (rows - ours, ours - rows)
    again, _ = do_import(t, exported)
    assert collections.Counter(
        (query, event) for _, query, event in keys.executions(t, again)) == ours
    done = [t.run_qprof("report", "--by", "item", "--json", path) for path in (trace, again)]
    ours, imported = ({row["name"]: row["executions"] for row in json.loads(d.stdout)["items"]
                       if row["name"]} for d in done)
    crate = crates.crate_name(crates.SHORT)
    assert all(keys.is_of(crate, name) for name in ours)
    # A profile does not say which crate a path is of, but the path begins with its name.
    assert imported == ours
    return "%d items" % len(ours)


GENERIC = """pub fn huge<const K: usize>(v: &mut Vec<u64>) -> u64 {
    let mut sum = K as u64;
    for i in 0..v.len() {
        match v[i] %% 5 {
            0 => sum += 1,
            1 => v.push(sum),
            2 => v.iter_mut().for_each(|x| *x += sum),
            3 => sum = sum.rotate_left(7),
            _ => sum ^= v[i],
        }
    }
    sum
}
pub fn twice<T: Copy>(t: T) -> (T, T) { (t, t) }
macro_rules! sums { ($v:ident $($k:literal)*) => { 0 $(+ huge::<$k>($v))* } }
pub fn all(v: &mut Vec<u64>) -> u64 {
    twice(1u8);
    twice(2u16);
    sums!(v %s)
}
"""


IN_BOTH_MODES = ("stable", "exact"), ("nightly", "default")


@each(*IN_BOTH_MODES)
def test_a_generic_function_with_many_instances_is_first(t, toolchain, mode):
    program = t.write("generic.rs", GENERIC % " ".join(map(str, range(40))))
    run = t.record([t.toolchain(toolchain).rustc, "--crate-type=lib", "--emit=obj",
                    "--out-dir", t.mkdir("out"), program], exact=mode == "exact")
    rows = t.json("report", "--by", "item", "--sort", "instances", "--json", run.trace)["items"]
    instances = {row["name"]: row["instances"] for row in rows}
    first = {row["name"] for row in rows[:2]}
    assert first == {"generic::huge", "generic::huge::{{closure}}"}, rows[:3]
    assert [instances["generic::" + name] for name in ("huge", "twice", "all")] == [40, 2, 1]


LIBRARY = """pub fn both<T: Copy>(t: T) -> (T, T) { (t, t) }
pub fn others<T: Copy>(t: T) -> [T; 3] { [t, t, t] }
pub fn plain(n: u64) -> u64 { let mut s = n; while s > 9 { s /= 2; } s }
#[inline]
pub fn inlined(n: u64) -> u64 { let mut s = 0; let mut i = 0; while i < n { s ^= i; i += 1; } s }
pub fn own() -> (u8, u8) { both(1u8) }
"""
PROGRAM = """fn main() {
    println!("{:?} {:?} {:?}", base::both(1u8), base::both(2u16), base::both(%d));
    println!("{:?} {:?}", base::others(3u32), base::others('c'));
    println!("{} {}", base::plain(3), base::inlined(4));
}
"""
BUILD = """set -e
rustc=$1 dir=$2
compile() { name=$1; shift; $rustc --edition=2021 --crate-name=$name -Csymbol-mangling-version=v0 \\
    -Ccodegen-units=1 --emit=link,llvm-ir --out-dir=$dir $dir/$name.rs "$@"; }
compile base --crate-type=lib
for name in first second; do compile $name --extern base=$dir/libbase.rlib; done
"""


def defined(t, crate):
    """{function of `base`: definitions in the LLVM IR of a crate}"""
    with open(t.path(crate + ".ll"), encoding="utf-8") as f:
        names = re.findall(r'^define [^@]*@"?([\w$.]+)', f.read(), re.M)
    return collections.Counter(match.group(1) for match in (
        re.search(r"4base\d+(both|others|plain|inlined|own)", name) for name in names) if match)


@each(*IN_BOTH_MODES)
def test_instances_of_several_crates(t, toolchain, mode):
    """The instances of a library's functions that the compiles of a build make are added up: the
    definitions in their LLVM IR. A function that is only called is not made again, nor an instance that is shared."""
    for name, text in (("base", LIBRARY), ("first", PROGRAM % 5), ("second", PROGRAM % 7)):
        t.write(name + ".rs", text)
    rustc = t.toolchain(toolchain).rustc
    run = t.record(["sh", "-c", BUILD, "sh", rustc, t.dir], ("-q",), lab.known(rustc),
                   exact=mode == "exact")
    made = sum((defined(t, crate) for crate in ("base", "first", "second")), collections.Counter())
    assert set(made) == {"both", "others", "plain", "inlined", "own"}, made
    assert made["both"] > 3 and made["plain"] == 1, made
    rows = t.json("report", "--by", "item", "--json", run.trace)["items"]
    found = {row["name"].partition("::")[2]: row["instances"] for row in rows
             if row["name"] and row["name"].startswith("base::")}
    assert {name: found[name] for name in made} == dict(made), (found, made)
    return ", ".join("%s %d" % item for item in sorted(made.items()))


@each(*(lab.toolchains() or ("stable",)))
def test_instances_are_the_items_that_rustc_generates(t, toolchain):
    """Without a probe in a query: by definition, those of the crate and of others that have a path, as many as rustc
    itself lists, and none too many."""
    program = t.write("generic.rs", GENERIC % " ".join(map(str, range(40))))
    argv = [t.toolchain(toolchain).rustc, "--crate-type=lib", "--emit=obj", "-Zprint-mono-items", "--out-dir",
            t.mkdir("out"), program]
    run = t.record(argv, env={"RUSTC_BOOTSTRAP": "1"}, exact=False)
    generated = re.findall(r"^MONO_ITEM fn (.*?) @@", run.stdout.decode(), re.M)
    # A path without its generic arguments, and a closure's without its number.
    plain = collections.Counter(re.sub(r"::<.*?>(?=::|$)|#0", "", name) for name in generated
                                if re.match(r"(huge|twice|all)\b", name))
    rows = t.json("report", "--by", "item", "--json", run.trace)["items"]
    found = {row["name"].partition("::")[2].replace("{{closure}}", "{closure}"): row["instances"] for row in rows
             if row["name"] and row["instances"]}
    assert found == dict(plain), (found, plain)
    lines = t.dumped(run.trace)
    listed = [line for line in lines if line.get("type") == "results" and line["query"] == "size_estimate"]
    own = sum(item.startswith("generic::") for line in listed for item in line["items"])
    assert own == sum(plain.values()) <= sum(len(line["items"]) for line in listed) <= len(generated), listed


def page_blocks(data):
    """The blocks of data in an HTML page."""
    for text in re.findall(rb'<script type="text/plain" id="\w+">([^<]+)</script>', data):
        yield gzip.decompress(base64.b64decode(text))


@each("perfetto", "html", "folded", "pprof", "speedscope", "counts")
def test_exports(t, form):
    """Those with single intervals have the paths; the others add up executions of a query."""
    trace, out = recorded(t), t.path("out." + form)
    t.text("export", "-f", form, "-o", out, trace)
    with open(out, "rb") as f:
        data = f.read()
    assert data
    if form == "html":
        data = b"\n".join(page_blocks(data))
    if form in ("perfetto", "html"):
        for path in (b"semver::parse::wildcard", b"semver::display::{{impl}}"):
            assert path in data, path
