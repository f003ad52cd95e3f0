# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Libraries without symbols whose relative relocations are packed, as those of Fedora are."""

import os

import crates
import debian_toolchains
import lab
import packed_relocations
from lab import each
from slow_loader import driver
from test_stripped import hide_symbols, plan_of
from test_targets import fake_toolchain


def hide_and_pack(source, target):
    hide_symbols(source, target)
    assert packed_relocations.convert(target) > 100_000


@each("stable", "Debian's 1.63")
def test_same_plan(t, which):
    """The linker's table of relocations makes no difference to a plan."""
    version = which.rpartition(" ")[2]
    if version[0].isdigit():
        debian_toolchains.toolchain(t, version)  # or skip
        library = debian_toolchains.library(version)
    else:
        library = driver(t.toolchain(which).rustc)
    plans = []
    for change in (hide_symbols, hide_and_pack):
        copy = os.path.join(t.mkdir(change.__name__), os.path.basename(library))
        change(library, copy)
        plans.append(plan_of(t, copy))
    own, packed = plans
    for key in ("file", "build_id"):  # without a build-id, that is made of the headers
        own.pop(key), packed.pop(key)
    assert own["symbols"] == "the library's code" and own["queries"], own["symbols"]
    differing = {key for key in own if own[key] != packed[key]}
    assert not differing, {key: (own[key], packed[key]) for key in differing}
    return "%d sites" % len(own["sites"])


def test_counts(t):
    """The loader takes such a library, and its compiles have the executions of the original."""
    t.need_capture()
    compiler = fake_toolchain(t, hide_and_pack)
    asked = t.plain([compiler, "-vV"])
    if b"DT_RELR" in asked.stderr + asked.stdout:
        raise lab.Skip("the C library loads no packed relocations")
    assert asked.status == 0, asked

    def counts(rustc):
        run = t.record([rustc, *crates.arguments(crates.SHORT, t.mkdir("out"))], ("-q", "-e", "query-provider"))
        return t.counts(run.trace)

    ours = counts(compiler)
    symbols = t.json("plan", "--json", compiler)["symbols"]
    assert symbols == "the library's code", symbols
    assert ours == counts(t.rustc) and sum(ours.values()) > 1000, ours
    return "%d queries" % sum(ours.values())
