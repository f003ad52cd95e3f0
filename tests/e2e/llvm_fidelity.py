# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Compares LLVM's functions by samples with LLVM's own trace of the same process (time_trace.py), for
several ways to compile, and writes the table in docs/llvm.md anew. Fails if they differ by more than
the errors."""

import argparse
import json
import os
import sys

import crates
import lab
import time_trace
from compiles import BOOTSTRAP

BEGIN, END = "<!-- by sudo make llvm-fidelity; do not edit -->\n", "<!-- to here -->\n"
HEAD = """| regex-syntax | functions above 1 % | largest difference, in errors | samples alike | call graph: trace, samples | no function | left out |
|---|---:|---:|---:|---:|---:|---:|
"""
WAYS = (
    ("stable", "debug, 16 units", ("-Ccodegen-units=16",)),
    ("stable", "debug, `-g`, 16 units", ("-g", "-Ccodegen-units=16")),
    ("stable", "`-O`, 1 unit", ("-O", "-Ccodegen-units=1")),
    ("stable", "`-O`, 16 units, ThinLTO of these", ("-O", "-Ccodegen-units=16")),
    ("stable", "`-O -g`, 16 units", ("-O", "-g", "-Ccodegen-units=16")),
    ("stable", "in a program, `-Clto=thin`", ("-O", "-Clto=thin")),
    ("stable", "in a program, `-Clto=fat`", ("-O", "-Clto=fat")),
    ("nightly", "`-O`, 1 unit", ("-O", "-Ccodegen-units=1")),
)
CRATE = "regex-syntax"
PROGRAM = """fn main() {
    for word in std::env::args().skip(1) {
        println!("{:?}", regex_syntax::Parser::new().parse(&word));
    }
}
"""


def program(t, rustc, flags):
    """Arguments for a program with the crate, and what is needed of it."""
    out = t.mkdir("dependency")
    done = t.plain([rustc, *crates.arguments(CRATE, out, "-O")], env=BOOTSTRAP)
    assert done.status == 0, done.stderr.decode()
    return ("--crate-name=app", "--edition=2021", *flags, "--extern",
            "regex_syntax=" + os.path.join(out, "libregex_syntax.rlib"), t.write("main.rs", PROGRAM))


def assert_defined_in(t, trace):
    """With LTO a program compiles other crates' functions: they are used in it, and defined in these."""
    document = t.run_qprof("report", "--json", trace)
    assert document.returncode == 0, document.stderr
    rows = json.loads(document.stdout)["llvm"]["generics"]
    used = {crate["name"] for row in rows for crate in row["crates"]}
    others = [row for row in rows if row["crate"] == "regex_syntax"]
    assert used == {"app"} and len(others) >= 10, (used, len(others))


def row(t, toolchain, how, flags):
    rustc = t.toolchain(toolchain).rustc
    lto = any("lto" in flag for flag in flags)
    arguments = program(t, rustc, flags) if lto else [
        word for word in crates.arguments(CRATE, "out", "-Cembed-bitcode=no", *flags)
        if word not in ("--out-dir", "out")]
    compared = time_trace.recorded(t, rustc, arguments, BOOTSTRAP)
    compared.assert_alike()
    if lto:
        assert_defined_in(t, t.path("compared.qpt"))
    functions = compared.functions()
    n = compared.same + sum(compared.different.values())
    rest = ["%.2f s, %.2f s" % compared.rest(name)[:2] for name in time_trace.NO_FUNCTION]
    return "| %s, %s | %d | %.1f | %.1f %% of %s | %s | %s | %.1f %% |\n" % (
        toolchain, how, len(functions), max(abs(of) for _, of in functions), 100 * compared.same / n,
        "{:,}".format(n), *rest, 100 * compared.own / (n + compared.own))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True)
    parser.add_argument("--only", help="words of the ways to compile; prints their rows")
    parser.add_argument("page", help="docs/llvm.md")
    args = parser.parse_args()
    table, failed = HEAD, False
    for toolchain, how, flags in WAYS:
        if args.only and args.only not in toolchain + ", " + how:
            continue
        with lab.Lab(args.build) as t:
            try:
                line = row(t, toolchain, how, flags)
            except AssertionError as e:
                failed, line = True, "| %s, %s | differs: %s\n" % (toolchain, how, e)
        print(line, end="", flush=True)
        table += line
    if failed:
        sys.exit("llvm-fidelity: %s stays as it is" % args.page)
    if args.only:
        return
    with open(args.page, encoding="utf-8") as f:
        before, _, rest = f.read().partition(BEGIN)
    _, _, after = rest.partition(END)
    with open(args.page, "w", encoding="utf-8") as f:
        f.write(before + BEGIN + table + END + after)


if __name__ == "__main__":
    main()
