# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The file and line of what each query was about: equal to where the sources have it."""

import collections
import os
import re

import crates
from lab import each

FUNCTION = re.compile(r"^\s*(?:pub(?:\([a-z]+\))? )?(?:const )?(?:unsafe )?fn (\w+)")


def places(t, trace):
    """{path: {(file, line)}} of all executions that have a place"""
    found = collections.defaultdict(set)
    for row in t.dumped(trace):
        if row.get("file"):
            found[row["event"]].add((row["file"], row["line"]))
    return found


def calls(t, trace):
    """{last part of the path: {(file, line)}} of the calls of macros that made it"""
    found = collections.defaultdict(set)
    for row in t.dumped(trace):
        if row.get("file"):
            found[row["event"].rsplit("::")[-1]].add((row.get("call_file"), row.get("call_line")))
    return found


def functions_of(source):
    """{name: [(file, line)]}, files relative to the directory above the sources"""
    found = collections.defaultdict(list)
    top = os.path.dirname(os.path.dirname(source))
    for directory, _, files in os.walk(os.path.dirname(source)):
        for name in files:
            path = os.path.join(directory, name)
            if not name.endswith(".rs"):
                continue
            with open(path) as f:
                for number, line in enumerate(f, 1):
                    match = FUNCTION.match(line)
                    if match:
                        found[match.group(1)].append((os.path.relpath(path, top), number))
    return found


def test_functions_of_a_crate(t):
    """Every function whose name is there once."""
    source = crates.source("regex-syntax")
    argv = [t.rustc] + crates.arguments(
        "regex-syntax", t.mkdir("out"), "--emit=metadata", at="src/lib.rs")
    run = t.record(argv, cwd=os.path.dirname(os.path.dirname(source)))
    ours, theirs = places(t, run.trace), functions_of(source)
    paths = collections.Counter(path.rsplit("::")[-1] for path in ours)
    compared = 0
    for path, found in ours.items():
        name = path.rsplit("::")[-1]
        if paths[name] == 1 and len(theirs[name]) == 1:
            assert found == {theirs[name][0]}, (path, found, theirs[name])
            compared += 1
    assert compared > 150, compared
    return "%d places, %d compared" % (len(ours), compared)


LONG = "    let mut all = [0u64; 4];\n" + "".join(
    "    all[%d] = all[%d].wrapping_mul(%d) + %d;\n" % (i % 4, (i + 1) % 4, i, i * i)
    for i in range(900)) + "    all[0]\n"
assert len(LONG) > 0x8000


def plain_text(prefix, n=20, comment="// a line\n"):
    return "".join("%s%spub fn %s_%d() -> u32 {\n    %d\n}\n" % (
        comment * (i % 3), "\n" * (i % 2), prefix, i, i) for i in range(n))


FILES = {
    "plain.rs": plain_text("plain"),
    "crlf.rs": plain_text("crlf").replace("\n", "\r\n"),
    "bom.rs": "\ufeff" + plain_text("bom"),
    "wide.rs": plain_text("wide", comment="// \u00fc\u4e16\U0001f980 a line\n"),
    "large.rs": plain_text("large", 40, "// %s\n" % ("x" * 2500)),
    "deep/mod.rs": "pub mod inner;\n" + plain_text("deep"),
    "deep/inner.rs": plain_text("inner"),
    "long.rs": "pub fn before() {}\n\npub fn long() -> u64 {\n" + LONG + "}\n\npub fn after() {}\n",
    "made.rs": "macro_rules! make {\n    ($name:ident) => {\n        pub fn $name() -> u32 { 1 }\n"
               "    };\n}\n\nmake!(made_by_a_macro);\n\n#[derive(Clone)]\npub struct Derived(u32);\n"
               "\nmacro_rules! outer {\n    ($name:ident) => {\n        make!($name);\n    };\n}\n\n"
               "outer!(made_by_two);\n\npub async fn waits() {}\n\n"
               "std::thread_local! {\n    pub static LOCAL: u32 = 1 + 1;\n}\n\n"
               "make! {\n" + 9000 * "    \n" + "made_at_length }\n",
    "lib.rs": "".join("pub mod %s;\n" % name for name in (
        "plain", "crlf", "bom", "wide", "large", "deep", "long", "made")),
}
assert len(FILES["large.rs"]) > 0x10000


def write_files(t):
    t.mkdir("src/deep")
    for name, text in FILES.items():
        with open(t.path("src", name), "w", newline="", encoding="utf-8") as f:
            f.write(text)


def assert_all_sorts(t, rustc, flags):
    """Compile FILES: each function has its line. The recording, and how many there were."""
    write_files(t)
    run = t.record([rustc, "--edition", "2021", "--crate-type", "lib",
                    "--crate-name", "sorts", "--out-dir", t.mkdir("out"), *flags, "src/lib.rs"],
                   cwd=t.dir)
    ours = {path.rsplit("::")[-1]: found for path, found in places(t, run.trace).items()}
    compared = 0
    for name, text in FILES.items():
        for number, line in enumerate(text.replace("\ufeff", "").split("\n"), 1):
            match = FUNCTION.match(line)
            if match:
                assert ours[match.group(1)] == {("src/" + name, number)}, (
                    match.group(1), ours.get(match.group(1)), number)
                compared += 1
    assert compared > 160, compared
    assert ours["made_by_a_macro"] == {("src/made.rs", 3)}, ours["made_by_a_macro"]
    (path,) = [path for path in places(t, run.trace) if re.match(r"sorts::made::\{\{impl\}\}$", path)]
    assert places(t, run.trace)[path] == {("src/made.rs", 9)}, path
    return run, compared


def assert_calls(t, run, local=True):
    """Items that macros of FILES made have the places where the macros were called.

    `local`: thread_local! of the standard library makes an item that has a place at all.
    """
    made = calls(t, run.trace)
    assert made["made_by_a_macro"] == {("src/made.rs", 7)}, made
    assert made["made_by_two"] == {("src/made.rs", 18)}, made
    assert made["made_at_length"] == {("src/made.rs", 26)}, made
    assert made["LOCAL"] == ({("src/made.rs", 22)} if local else set()), made["LOCAL"]
    assert ("src/made.rs", 9) in made["{{impl}}"], made
    assert made["waits"] == made["plain_1"] == {(None, None)}, made
    assert (None, None) in made["{{closure}}"], made


@each(("stable", ("-Cincremental=state",)), ("nightly", ()))
def test_all_sorts_of_files(t, toolchain, flags):
    """Line ends of Windows, a byte order mark, wide characters, more than 64 KiB, a function of
    more than 32 KiB, and what macros made."""
    run, compared = assert_all_sorts(t, t.toolchain(toolchain).rustc, flags)
    assert_calls(t, run)
    return "%d compared" % compared


def test_reports(t):
    """The table, its JSON, and a comparison have the places that the trace has."""
    write_files(t)
    run = t.record([t.rustc, "--edition", "2021", "--crate-type", "lib", "--crate-name", "sorts",
                    "--out-dir", t.mkdir("out"), "src/lib.rs"], cwd=t.dir)
    document = t.json("report", "--by", "item", "--json", run.trace)
    row = next(row for row in document["items"] if row["name"] == "sorts::long::long")
    assert (row["file"], row["line"]) == ("src/long.rs", 3), row
    row = next(row for row in document["items"] if row["name"] == "sorts::made::made_by_two")
    assert (row["file"], row["line"]) == ("src/made.rs", 3), row
    assert (row["call_file"], row["call_line"]) == ("src/made.rs", 18), row
    done = t.run_qprof("report", "--by", "item", "--wide", "--top", "0", run.trace)
    assert re.search(r" src/long\.rs:3 +sorts::long::long$", done.stdout, re.MULTILINE), done.stdout
    document = t.json("diff", "--by", "item", "--json", run.trace, run.trace)
    rows = [row for key in document if isinstance(document[key], list) for row in document[key]
            if isinstance(row, dict) and row.get("item") == "sorts::long::long"]
    assert rows and all((row["file"], row["line"]) == ("src/long.rs", 3) for row in rows), rows
