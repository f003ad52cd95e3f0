# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Reports say which functions LLVM spends its time on: a crate with planted ones."""

import json

from lab import each

INSTANCES = 200
SMALL = 1000
STEPS = 600
FLAGS = ("--crate-type=lib", "--crate-name=planted", "-Ccodegen-units=1", "-Cembed-bitcode=no")


def planted(t):
    body = "".join("    for j in 0..v.len() { let x = v[j] ^ s.wrapping_add(N * %d); v[j] = x.rotate_left(%d); "
                   "s = s.wrapping_mul(x | 1); if s & %d != 0 { s ^= v[(s as usize) %% v.len()] } }\n"
                   % (i * 7919 + 13, i + 1, 1 << i) for i in range(6))
    text = "#[inline(never)]\npub fn generic_big<const N: u64>(v: &mut [u64]) -> u64 {\n    let mut s = N;\n%s    s\n}\n" % body
    text += "pub fn use_all(v: &mut [u64]) -> u64 {\n    let mut s = 0u64;\n%s    s\n}\n" % "".join(
        "    s ^= generic_big::<%d>(v);\n" % i for i in range(INSTANCES))
    text += "pub fn huge(mut x: u64, v: &[u64]) -> u64 {\n    let mut y = x;\n%s    x ^ y\n}\n" % "".join(
        "    if x & %d == 0 { y = y.wrapping_add(v[(x as usize) %% v.len()]) } else { x ^= y >> %d }\n"
        % (i * 7 + 1, i % 13 + 1) for i in range(STEPS))
    text += "".join("pub fn small_%d(a: u32) -> u32 { a.wrapping_mul(%d) / 7 + a %% %d }\n" % (i, i + 3, i + 2)
                    for i in range(SMALL))
    return t.write("planted.rs", text)


def report(t, trace, *options):
    return t.text("report", *options, trace)


def assert_sums(document):
    """Time is of a function, of none or of one that is not known, and all of it is of what the stacks call LLVM."""
    llvm = document["llvm"]
    assert llvm["known"]
    for rows in (llvm["generics"], llvm["functions"]):
        assert sum(row["self_ns"] for row in rows) == (
            llvm["total_ns"] - llvm["no_function_ns"] - llvm["unknown_function_ns"])
    assert sum(row["self_ns"] for row in llvm["no_function"]) == llvm["no_function_ns"]
    # What is in no pass is no optimisation.
    for_ = {work: sum(row["self_ns"] for row in llvm["passes"] if row["for"] == work)
            for work in ("machine_code", "optimisation", "other")}
    assert for_["optimisation"] == llvm["optimisation_ns"] and for_["machine_code"] <= llvm["machine_code_ns"], (
        for_, llvm["optimisation_ns"], llvm["machine_code_ns"])
    assert sum(for_.values()) == sum(row["self_ns"] for row in llvm["passes"]) <= llvm["total_ns"]
    # Only LLVM's list tells of a sample that has no stack, or, for one in a hundred, whose stack is cut below LLVM.
    sampled = document["build"]["sampled"]
    more = llvm["total_ns"] - sampled["llvm_ns"]
    assert 0 <= more <= sampled["unknown_ns"] + 0.01 * sampled["llvm_ns"], (llvm["total_ns"], sampled)


def assert_items_have_both_parts(t, trace, functions):
    """The front end's time and that of LLVM for all instances are one row, of the largest first."""
    items = json.loads(report(t, trace, "--by", "item", "--json"))["items"]
    rows = {row["name"]: row for row in items}
    assert {row["name"] for row in [row for row in items if row["name"]][:2]} == {
        "planted::generic_big", "planted::huge"}, items[:4]
    for name in ("planted::generic_big", "planted::huge"):
        of = sum(row["self_ns"] for row in functions if row["generic"] == name)
        assert rows[name]["llvm_ns"] == of and rows[name]["self_ns"] > 0, rows[name]
    assert rows["planted::generic_big"]["instances"] == INSTANCES, rows["planted::generic_big"]
    assert {row["item"] for row in functions[:1]} == {"planted::huge"}, functions[:1]
    first = [row["name"] for row in json.loads(report(t, trace, "--json"))["build"]["items"][:2]]
    assert set(first) == {"planted::generic_big", "planted::huge"}, first


def assert_diff_has_the_same(t, trace, llvm):
    """A comparison has the rows of a report, with their errors; of one trace with itself nothing changed."""
    document = t.json("diff", "--json", trace, trace)
    for rows, key, name in ((llvm["generics"], "generics", "function"), (llvm["functions"], "instances", "function"),
                            (llvm["passes"], "passes", "pass")):
        sums = {}
        for row in rows:
            of = row["path"] if name == "function" else row["name"] or "(unknown)"
            sums[of] = sums.get(of, 0) + row["self_ns"]
        found = {row[name]: row for row in document[key]}
        assert {of: row["base"]["self_ns"]["median"] for of, row in found.items()} == sums, key
        assert all(row["change"] == 0 and row["compared"] and not row["significant"] and row["change_error"] > 0
                   for row in found.values()), key
    alone = t.run_qprof("diff", "--by", "generic", "--fail-above", "planted::*=1%", trace, trace)
    assert "--fail-above planted::*=1%: self time " in alone.stdout and "no change" in alone.stdout, alone.stdout


def assert_history_has_the_same(t, trace, llvm):
    """A history keeps the first hundred functions and all passes, and a trend finds each."""
    store = t.path("llvm.db")
    t.text("history", "add", "--store", store, trace)
    lines = [json.loads(line) for line in t.run_qprof("history", "export", "--store", store, "-o", "-").stdout.splitlines()]
    kept = {(row["kind"], row["name"]): row["self_ns"] for row in lines if row["table"] == "llvm"}
    functions = [row["path"] for row in llvm["generics"]][:100]
    first = [row for row in llvm["generics"] if row["path"] in ("planted::generic_big", "planted::huge")]
    assert sum(kind == "function" for kind, _ in kept) == len(functions), len(kept)
    assert {name for kind, name in kept if kind == "pass"} == {row["name"] for row in llvm["passes"] if row["name"]}
    for row in first:
        # Times are rounded.
        assert abs(kept["function", row["path"]] / row["self_ns"] - 1) < 0.01, (kept["function", row["path"]], row)
        (point,) = t.json("trend", "--json", "--store", store, "--llvm", row["path"], "--crate", "planted")["points"]
        assert point["value"] == kept["function", row["path"]] and point["how"] == "sampled", (point, row)


@each(("legacy", "release"), ("v0", "debug"))
def test_planted_functions_are_the_first_rows(t, mangling, how):
    t.need_capture()
    argv = [t.rustc, planted(t), *FLAGS, *(["-O"] if how == "release" else []), "-o", t.path("planted.rlib")]
    # Stable's own choice is the legacy one.
    argv += ["-Csymbol-mangling-version=v0"] if mangling == "v0" else []
    run = t.record(argv, options=("-q", "--sample=1999"), exact=False)
    document = json.loads(report(t, run.trace, "--json"))
    assert_sums(document)
    generics, functions = document["llvm"]["generics"], document["llvm"]["functions"]
    paths = [row["path"] for row in generics]
    assert paths[:2] == ["planted::generic_big", "planted::huge"], paths[:5]
    # Not as many as samples met: all, by the compiler's table.
    assert generics[0]["instances"] == INSTANCES and not generics[0]["instances_at_least"], generics[0]
    assert {row["crate"] for row in generics[:2]} == {"planted"}, generics[:2]
    assert functions[0]["generic"] == "planted::huge", functions[:3]
    assert sum(path.startswith("planted::small_") for path in paths) <= SMALL
    table = report(t, run.trace, "--by", "generic")
    assert table.index("planted::generic_big\n") < table.index("planted::huge\n"), table
    row = table[:table.index("planted::generic_big\n")].splitlines()[-1].split()
    assert str(INSTANCES) in row and not any(">" in cell for cell in row), row
    assert_items_have_both_parts(t, run.trace, functions)
    assert "X86DAGToDAGISel" in report(t, run.trace, "--llvm", "huge"), "no pass of huge"
    assert "machine code, " in report(t, run.trace), "no line of LLVM"
    assert_diff_has_the_same(t, run.trace, document["llvm"])
    assert_history_has_the_same(t, run.trace, document["llvm"])
    return "%d instances, %d of them met" % (
        generics[0]["instances"], sum(row["generic"] == "planted::generic_big" for row in functions))


def test_an_exact_recording_knows_them_too(t):
    """By the executions; of two compilers instances are a lower limit."""
    t.need_capture()
    argv = [t.rustc, planted(t), *FLAGS, "-o", t.path("planted.rlib")]
    again = ["sh", "-ec", '"$@"; exec "$@"', "sh", *argv]
    for command, at_least in ((argv, False), (again, True)):
        run = t.record(command, options=("-q", "--exact", "--sample=1999"))
        document = json.loads(report(t, run.trace, "--json"))
        assert_sums(document)
        first, second = document["llvm"]["generics"][:2]
        assert [first["path"], second["path"]] == ["planted::generic_big", "planted::huge"], (first, second)
        assert first["instances"] >= INSTANCES and first["instances_at_least"] == at_least, first
        assert at_least or first["instances"] == INSTANCES, first
