# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Stacks that the kernel half has walked are those that libdw finds in the same registers and memory."""

import json
import os
import subprocess

import crates
import lab

HZ = 499
MOST = 1000
# Of stacks that do not reach the start of their thread: those of a compiler's first milliseconds.
MOST_CUT = 0.01
# Frames of 540 KB and the red zone of 100 KiB leave little of this stack: rustc switches to others.
SMALL_STACK = {"RUST_MIN_STACK": "1300000"}
# Blocks take much of the stack in few frames; operators take many frames.
BLOCKS, OPERATORS = 60, 900


def compare(t, argv, env=None):
    """The result of tests/stacks/compare.c, of a compile that must be as without it."""
    t.need_capture()
    tool = os.path.join(os.path.dirname(t.qprof), "tests/stacks/compare")
    if os.geteuid():
        raise lab.Skip("needs root")
    done = subprocess.run([tool, str(HZ), str(MOST), *argv], capture_output=True, text=True,
                          timeout=lab.TIMEOUT, env={**t.qprof_env(), **(env or {})})
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    print(result)
    assert result["differ"] == 0, (result, done.stderr)
    assert result["n"] > 20, (result, done.stderr)
    return result


def compile_of(t, crate, toolchain, *flags):
    out = t.mkdir("out")
    return [toolchain.rustc, *crates.arguments(crate, out, *flags)]


def nested(t, before, after, n):
    """n functions of an expression that the compiler walks by recursion."""
    inside = "[%s][0]" % ", ".join("x + %d" % i for i in range(100))
    return t.write("nested.rs", "".join(
        "pub fn f%d(x: u64) -> u64 { %s%s%s }\n" % (i, before, inside, after) for i in range(n)))


def assert_whole(result, more=0):
    cut = result["n"] - result["whole"]
    assert cut - more <= max(3, MOST_CUT * result["n"]), result


@lab.each(("stable", "-g"), ("stable", "-O"), ("nightly", "-Zthreads=4"))
def test_they_are_those_of_libdw(t, name, flag):
    toolchain = t.toolchain(name)
    if toolchain.name != name:
        raise lab.Skip("no %s toolchain" % name)
    # Tables are made while a toolchain's first compiles run, and stacks end without them.
    for _ in range(4):
        result = compare(t, compile_of(t, crates.LONG, toolchain, flag))
        if not result["no_map"]:
            break
    assert_whole(result)
    assert result["equal"] >= 0.99 * result["n"], result


def test_those_that_the_compiler_switched_to_are_walked(t):
    """The copy has the current stack only, and libdw goes as far as that."""
    source = nested(t, "{ " * BLOCKS, " }" * BLOCKS, 150)
    argv = [t.rustc, "--crate-type=lib", "--emit=metadata", "-o", t.path("nested.rmeta"), source]
    compare(t, argv)
    result = compare(t, argv, SMALL_STACK)
    assert_whole(result, result["too_deep"] + result["no_map"])
    switched = result["as_far"] - result["too_deep"] - result["no_map"]
    assert switched > 0, result
    return "%d of %d on another stack" % (switched, result["n"])


def test_a_stack_may_be_too_deep(t):
    argv = [t.rustc, "--crate-type=lib", "--emit=metadata", "-o", t.path("nested.rmeta"),
            nested(t, "", "".join(" ^ %d" % i for i in range(OPERATORS)), 150)]
    result = compare(t, argv)
    assert result["too_deep"] > 0 and result["deepest"] == 512, result
    assert_whole(result, result["too_deep"] + result["no_map"])
