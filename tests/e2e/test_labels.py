# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The plan has every label, besides queries, of rustc's own profile."""

import collections
import json

import crates
import mm_profdata
from lab import each
from test_measureme import BOOTSTRAP, self_profile

EVENTS = "generic-activity,query-blocked,incr-cache-load,incr-result-hashing"
# The compiler builds these labels at run time, so no file holds them.
COMPUTED = ("mir_pass_",)
# LLVM's callbacks record these, and rustc registers the callbacks only if it profiles itself.
LLVM = ("LLVM ",)


def plan_of(t, toolchain):
    t.toolchain(toolchain)
    return t.json("plan", "--json", t.rustc)


def recorded(path):
    """{kind: {label without arguments: count}}"""
    labels = collections.defaultdict(collections.Counter)
    for record in mm_profdata.Profile.read(path).records():
        labels[record.kind][record.label] += 1
    return labels


def timers_of(t, arguments):
    """The labels of timers, which -Ztime-passes prints; its JSON also has the short ones."""
    flags = ["-Ztime-passes", "-Ztime-passes-format=json"]
    done = t.plain([t.rustc, *flags, *arguments], env=BOOTSTRAP)
    lines = (done.stdout + done.stderr).decode().splitlines()
    return {json.loads(line[5:])["pass"] for line in lines if line.startswith("time:")}


def arguments_of(t, incremental):
    options = ("-O", "-Cincremental=" + t.path(incremental))
    return crates.arguments("memchr", t.mkdir("out"), *options)


@each("stable", "nightly")
def test_labels_are_found(t, toolchain):
    plan = plan_of(t, toolchain)
    known = {g["label"] for g in plan["guards"] if g["kind"] == "GenericActivity" and g["label"]}
    slots = [g for g in plan["guards"] if g["label_slot"] is not None]
    labels, timers = collections.Counter(), set()
    for run in ("first", "second"):
        path = self_profile(t, run, arguments_of(t, "profiled"), EVENTS)
        labels += recorded(path)["GenericActivity"]
        timers |= timers_of(t, arguments_of(t, "timed"))
    missing = {
        label: n
        for label, n in labels.items()
        if label not in known
        and label not in timers
        and not (slots and label.startswith(COMPUTED))
        and not label.startswith(LLVM)
    }
    assert not missing, "labels (and how often) that the plan does not hold: %s" % missing
    return "%d of %d labels in the file, %d of timers" % (
        len(labels.keys() & known),
        len(labels),
        len(labels.keys() & timers - known),
    )
