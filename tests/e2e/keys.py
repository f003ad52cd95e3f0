# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Compares the definitions that our executions are about with those that rustc's own profiler
writes (query-keys): execution by execution, in one process that profiles itself while we record it.
Nothing is left out but what rustc executes to print its keys.

Compared are the executions of all queries whose key has a type that names a definition or a crate,
as the plan has it, and of queries that take no key. A definition of the crate that is compiled has
rustc's path. That of another crate has it too, or is the crate and a number; the shares are counted.
"""

import collections
import json
import re

import crates
from compiles import BOOTSTRAP
from equality import Case, plan_of
from lab import TEXT
from mm_profdata import SEPARATOR, UNKNOWN

EVENTS = "default,query-keys"
UNIT = "()"
# Types of keys, as in plan --json, that rustc prints as a path.
PATHS = ("DefId", "LocalDefId", "CrateNum")
# A definition in a key that rustc prints whole; the definition is the first in the text, but in a
# pair of two keys, which are printed as `(path,path)`, and in one other type the second.
MEMORY = "memory"
PAIRS = ("(DefId, DefId)", "(CrateNum, DefId)")
SECOND = "(LocalDefId, LocalDefId, Ident)"
WITHIN = re.compile(r"DefId\(\d+:\d+ ~ [^()]*\)")

# rustc prints keys of some types with {:?}: `DefId(0:1 ~ regex_syntax[62e4]::std)`, that of a module
# with `LocalModDefId(...)` around it.
DEBUG = re.compile(r"(LocalModDefId\()?DefId\(\d+:\d+ ~ (\w+)\[[0-9a-f]+\](.*)\)$")
# There, `{impl#3}` is `{{impl}}[3]` of other keys, `name#1` is `name[1]`; both leave out the first
# one's number, except that `{impl#0}` has it.
BRACES = re.compile(r"\{(\w+)#(\d+)\}")
NUMBER = re.compile(r"#(\d+)(?=::|$)")


def braces(match):
    name, number = match.groups()
    return "{{%s}}%s" % (name, "" if number == "0" else "[%s]" % number)


def path_of(key):
    """The path in rustc's text of a key."""
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
    definitions = WITHIN.findall(key.split(", value: ", 1)[-1])
    return path_of(definitions[1 if key_type == SECOND else 0])


# A definition of another crate whose path is not known.
NUMBERED = re.compile(r"(\w+)\[\d+\]$")


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
    text = t.text("dump", trace)
    for match in EXECUTION.finditer(text):
        query, event, invocation = match.groups()
        yield json.loads(invocation), unquote(query), unquote(event or "")


def their_executions(profile, types):
    """(invocation id, label, key or "") of each execution in rustc's profile. `types`: of keys that
    are in memory, by label"""
    for kind, invocation, (label, *key), interval in profile.event_texts():
        if kind == "Query" and interval:
            text = key[0] if key else ""
            yield invocation, label, within(types[label], text) if label in types else path_of(text)


def printing_began(profile):
    """When rustc has executed its queries, and begins to print keys."""
    return next(event.start_ns for event in profile.intervals("GenericActivity")
                if event.label == "self_profile_alloc_query_strings")


def executed_about(profile, plan, crate):
    """Counters before that: executions by query, and those by (query, path) about something of the crate."""
    began, queries, about = printing_began(profile), collections.Counter(), collections.Counter()
    types = {q["name"]: q["key_type"] if q["key"] == MEMORY else None
             for q in plan["queries"] if q["key"] in (MEMORY, *PATHS)}
    for event in profile.intervals():
        if event.start_ns >= began:
            continue
        label, *key = profile.text(event.invocation).split(SEPARATOR)
        queries[label] += 1
        if label in types and key:
            path = within(types[label], key[0]) if types[label] else path_of(key[0])
            about[label, path] += is_of(crate, path)
    return queries, +about


def ran_for_printing(profile):
    """
    Invocation ids of the executions that rustc's own printing of keys adds. It prints those of one
    query after the other, and what it executes for that (such as trimmed_def_paths, for types) has
    no name in its profile if the names of that query are written already.
    """
    began = printing_began(profile)
    unnamed = [event for event in profile.intervals() if event.label == UNKNOWN]
    assert all(event.start_ns >= began for event in unnamed), "rustc has no names of its queries"
    return {event.invocation for event in unnamed}


def shared_ids(spans):
    """
    Ids under which executions of several queries ran, where one is anonymous and depends on the
    other: in rustc's profile all of them have the name of the last.
    """
    query_of, shared = {}, set()
    for invocation, query, _ in spans:
        if query_of.setdefault(invocation, query) != query:
            shared.add(invocation)
    shared.discard(None)
    return shared


class Keys:
    """
    Counters of (invocation id, query, path): `ours`, and rustc's, `truth`. Where ours is a number,
    it is replaced by rustc's path if that is in the same crate, and counted in `numbered`.
    """

    def __init__(self, spans, profile, plan, crate, only_read=False):
        type_of = {query["name"]: query["key"] for query in plan["queries"]}
        types = {query["name"]: query["key_type"] for query in plan["queries"]
                 if query["key"] == MEMORY}
        # Those whose key a probe finds at each of their starts.
        read = {query["name"] for query in plan["queries"]
                if query["key_sites"] == query["start_sites"]}
        self.ours, self.truth = collections.Counter(), collections.Counter()
        self.numbered = 0
        self.printing = ran_for_printing(profile)
        spans = list(spans)
        self.shared = shared_ids(spans)
        self.crate = crate
        self.left_out = left_out = self.printing | self.shared
        self.compared = compared = {query for query, key in type_of.items()
                    if key in (UNIT, *PATHS) and (key == UNIT or query in read or not only_read)
                    or query in types and query in read}
        for invocation, query, event in spans:
            if invocation not in left_out and query in compared:
                self.ours[invocation, query, event] += 1
        for invocation, label, path in their_executions(profile, types):
            if invocation not in left_out and label in compared:
                self.truth[invocation, label, path] += 1
        self.match_numbers()
        self.in_memory = sum(n for (_, label, _), n in self.truth.items() if label in types)
        self.of_crate = sum(n for (_, _, path), n in self.truth.items() if is_of(crate, path))
        self.units = sum(n for (_, _, path), n in self.truth.items() if path == UNIT)

    def match_numbers(self):
        numbers = {}
        for (invocation, query, event), n in (self.ours - self.truth).items():
            match = NUMBERED.match(event)
            if match:
                numbers[invocation, query] = event, match.group(1), n
        for (invocation, query, path), n in (self.truth - self.ours).items():
            event, crate, count = numbers.get((invocation, query), ("", None, 0))
            if crate and count == n and is_of(crate, path):
                del self.ours[invocation, query, event]
                self.ours[invocation, query, path] += n
                self.numbered += n

    def in_plain(self, spans):
        """(with rustc's path, by number, differing): the executions about other crates in a compile
        that does not profile itself, held against those of rustc's profile with the same ids. That
        has more, which print keys."""
        ours = collections.Counter(
            (invocation, query, event) for invocation, query, event in spans
            if query in self.compared and invocation not in self.left_out and event != UNIT
            and not is_of(self.crate, event))
        equal = ours & self.truth
        # The standard library has a crate of the same name if it is memchr, so paths that begin
        # with this crate's name belong here too.
        truth_of = {(invocation, query): path for invocation, query, path in self.truth - equal}
        left, numbered = ours - equal, 0
        for (invocation, query, event), n in list(left.items()):
            match = NUMBERED.match(event)
            if match and is_of(match.group(1), truth_of.get((invocation, query), "")):
                numbered += n
                del left[invocation, query, event]
        return sum(equal.values()), numbered, sum(left.values())

    @property
    def without(self):
        """Executions of queries that take no key."""
        return self.units

    @property
    def foreign(self):
        """Executions about other crates and their definitions."""
        return sum(self.truth.values()) - self.of_crate - self.units

    @property
    def differing(self):
        return sum(((self.ours - self.truth) + (self.truth - self.ours)).values())

    def assert_equal(self):
        assert self.of_crate, "rustc's profile has no key of the crate"
        assert self.foreign > self.numbered, "no definition of another crate has a path"
        assert_same(self.ours, self.truth)

    def summary(self):
        return "%d keys of the crate, %d (), %d of other crates, %d of them by number; %d in memory; " \
            "left out: %d that ran to print keys, %d ids of several queries" % (
                self.of_crate, self.without, self.foreign, self.numbered, self.in_memory,
                len(self.printing), len(self.shared))


def assert_same(ours, truth):
    assert ours == truth, (
        "(id, query, path): %d are only ours: %s; %d are only rustc's: %s" % (
            *only(ours - truth), *only(truth - ours)))


def only(counter):
    return sum(counter.values()), counter.most_common(5)


def compare_plain(compile, found):
    """Keys.in_plain() of one more compile; not with -Zthreads, which changes the ids."""
    t = compile.t
    run = t.capture(compile.argv("plain-keys"), ("-q",), env=BOOTSTRAP, trace="plain-keys.qpt")
    Case.assert_nothing_lost(t, run)
    return found.in_plain(executions(t, run.trace))


def compare(compile, plan=None):
    """The keys of one compile, in a process that both record. `plan`: if rustc is a script; then
    those are left out of which the plan says that some start does not show them."""
    t = compile.t
    run, profile = compile.profiled(
        "keys", lambda argv: t.capture(argv, ("-q",), env=BOOTSTRAP, trace="keys.qpt"), EVENTS)
    Case.assert_nothing_lost(t, run)
    return Keys(executions(t, run.trace), profile, plan or plan_of(compile),
                crates.crate_name(compile.crate), only_read=plan is not None)
