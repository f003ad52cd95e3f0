# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Compares the definitions that our executions are about with those that rustc's own profiler
writes (query-keys): execution by execution, in one process that profiles itself while we record it.
Nothing is left out but what rustc executes to print its keys.

Compared are the executions of all queries whose key has a type that names a definition or a crate,
as the plan has it, if the key is of the crate that is compiled, and of queries that take no key.
Definitions of other crates have no name in our traces yet; these executions are only counted.
"""

import collections
import json
import re

import crates
from compiles import BOOTSTRAP
from equality import Case, plan_of
from lab import TEXT
from mm_profdata import UNKNOWN

EVENTS = "default,query-keys"
UNIT = "()"
# Types of keys, as in plan --json, that rustc prints as a path.
PATHS = ("DefId", "LocalDefId", "CrateNum")
# A definition in a key that rustc prints whole; the definition is the first in the text, but in a
# pair of two keys, which are printed as `(path,path)`, the second.
MEMORY = "memory"
PAIRS = ("(DefId, DefId)", "(CrateNum, DefId)")
WITHIN = re.compile(r"DefId\(\d+:\d+ ~ [^()]*\)")

# The standard library has crates of these names too, and rustc prints no more than the name.
AMBIGUOUS = ("memchr",)

# rustc prints keys of some types with {:?}: `DefId(0:1 ~ regex_syntax[62e4]::std)`, that of a module
# with `LocalModDefId(...)` around it. Crate 0 is the one that is compiled.
DEBUG = re.compile(r"(LocalModDefId\()?DefId\(0:\d+ ~ (\w+)\[[0-9a-f]+\](.*)\)$")
# There, `{impl#3}` is `{{impl}}[3]` of other keys, `name#1` is `name[1]`; both leave out the first
# one's number, except that `{impl#0}` has it.
BRACES = re.compile(r"\{(\w+)#(\d+)\}")
NUMBER = re.compile(r"#(\d+)(?=::|$)")


def braces(match):
    name, number = match.groups()
    return "{{%s}}%s" % (name, "" if number == "0" else "[%s]" % number)


def path_of(key):
    """The path in rustc's text of a key of the crate that is compiled; other keys as they are."""
    match = DEBUG.match(key)
    if not match:
        return key
    module, crate, rest = match.groups()
    if module:
        rest = rest[:-1]
    return crate + NUMBER.sub(r"[\1]", BRACES.sub(braces, rest))


def within(key_type, key):
    """The path of the definition in a key in memory."""
    if key_type in PAIRS:
        return key.strip("()").split(",")[1]
    return path_of(WITHIN.search(key.split(", value: ", 1)[-1]).group())


def is_of(crate, path):
    return path == crate or path.startswith(crate + "::")


# An execution in the dump: query, event, invocation id.
EXECUTION = re.compile(
    r'^\{"type":"span",[^\n]*?"query":%s,"kind":"Query","event":(?:null|%s),[^\n]*?'
    r'"invocation":(\w+)' % (TEXT, TEXT), re.M)


def unquote(text):
    return json.loads('"%s"' % text)


def executions(t, trace):
    """(invocation id, query, event or "") of each execution; parsing all lines takes long."""
    done = t.run_qprof("dump", trace)
    assert done.returncode == 0, "dump: %s" % done.stderr
    for match in EXECUTION.finditer(done.stdout):
        query, event, invocation = match.groups()
        yield json.loads(invocation), unquote(query), unquote(event or "")


def their_executions(profile, types):
    """(invocation id, label, key or "") of each execution in rustc's profile. `types`: of keys that
    are in memory, by label"""
    for kind, invocation, (label, *key), interval in profile.event_texts():
        if kind == "Query" and interval:
            text = key[0] if key else ""
            yield invocation, label, within(types[label], text) if label in types else path_of(text)


def ran_for_printing(profile):
    """
    Invocation ids of the executions that rustc's own printing of keys adds. It prints those of one
    query after the other, and what it executes for that (such as trimmed_def_paths, for types) has
    no name in its profile if the names of that query are written already.
    """
    began = next(event.start_ns for event in profile.intervals("GenericActivity")
                 if event.label == "self_profile_alloc_query_strings")
    unnamed = [event for event in profile.intervals() if event.label == UNKNOWN]
    assert all(event.start_ns >= began for event in unnamed), "rustc has no names of its queries"
    return {event.invocation for event in unnamed}


class Keys:
    """Counters of (invocation id, query, path): `ours`, and rustc's, `truth`."""

    def __init__(self, spans, profile, plan, crate):
        type_of = {query["name"]: query["key"] for query in plan["queries"]}
        types = {query["name"]: query["key_type"] for query in plan["queries"]
                 if query["key"] == MEMORY}
        # Those whose key a probe finds at each of their starts.
        read = {query["name"] for query in plan["queries"]
                if query["key_sites"] == query["start_sites"]}
        self.ours, self.truth = collections.Counter(), collections.Counter()
        self.foreign = collections.Counter()  # type of key: executions without a name in the trace
        self.printing = ran_for_printing(profile)
        for invocation, query, event in spans:
            if invocation in self.printing:
                continue
            if event:
                self.ours[invocation, query, event] += 1
            elif type_of[query] in PATHS or query in types:
                self.foreign[type_of[query]] += 1
        for invocation, label, path in their_executions(profile, types):
            key_type = type_of.get(label)
            known = key_type in PATHS or label in types and label in read
            if key_type == UNIT or known and is_of(crate, path):
                self.truth[invocation, label, path] += 1
        self.in_memory = sum(n for (_, label, _), n in self.truth.items() if label in types)
        self.of_crate = sum(n for (_, _, path), n in self.truth.items() if path != UNIT)

    @property
    def without(self):
        """Executions of queries that take no key."""
        return sum(self.truth.values()) - self.of_crate

    @property
    def differing(self):
        return sum(((self.ours - self.truth) + (self.truth - self.ours)).values())

    def assert_equal(self):
        assert self.of_crate, "rustc's profile has no key of the crate"
        assert self.ours == self.truth, (
            "(id, query, path): %d are only ours: %s; %d are only rustc's: %s; not compared: %s" % (
                *only(self.ours - self.truth), *only(self.truth - self.ours), self.not_compared()))

    def not_compared(self):
        return ", ".join("%d %s" % (n, name) for name, n in sorted(self.foreign.items()))

    def summary(self):
        return "%d keys of the crate (%d in memory), %d (), %d ran to print keys; of other crates: %s" % (
            self.of_crate, self.in_memory, self.without, len(self.printing),
            self.not_compared())


def only(counter):
    return sum(counter.values()), counter.most_common(5)


def compare(compile):
    """The keys of one compile, in a process that both record."""
    t = compile.t
    run, profile = compile.profiled(
        "keys", lambda argv: t.capture(argv, ("-q",), env=BOOTSTRAP, trace="keys.qpt"), EVENTS)
    Case.assert_nothing_lost(t, run)
    return Keys(executions(t, run.trace), profile, plan_of(compile),
                crates.crate_name(compile.crate))
