# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The questions to a history, as JSON, and whether two stores of the same rows answer them alike."""

import json
import os
import sys

import lab

sys.path.insert(0, os.path.join(lab.ROOT, "tests/fixtures"))
import synthetic_history as planted  # noqa: E402 (it is beside no test)

# A SQLite store rounds the times of queries and items.
TOLERANCE = 0.005
CHANGE_SLACK = 3e6  # ns; a change is a small difference of large numbers
NAMES = ("build", "commit", "crate", "query", "pass", "function", "path", "text")

BASE, NEW = (planted.commit(planted.COUNTS_AT - k)[:12] for k in (1, 0))
QUESTIONS = (
    ("history", "list"),
    ("history", "list", "--branch", "main", "--toolchain", "1.95", "--last", "7"),
    ("trend",),
    ("trend", "--metric", "wall"),
    ("trend", "--metric", "count"),
    ("trend", "--metric", "memory"),
    ("trend", "--crate", "codec"),
    ("trend", "--crate", "parser", "--metric", "count", "--last", "40"),
    ("trend", "--query", "typeck", "--metric", "count"),
    ("trend", "--crate", "codec", "--query", "mir_borrowck"),
    ("trend", "--item", "codec::main_part"),
    ("trend", "--llvm", "codec::main_part"),
    ("history", "diff", "--metric", "count", BASE, NEW),
    ("history", "diff", BASE, NEW),
    ("history", "check", "--commit", NEW, "--against", "main", "--metric", "count",
     "--fail-above", "1%", "--fail-above", "parser/*=2%"),
)


def answers(t, store):
    """Of each question its exit status and its document."""
    told = {}
    for question in QUESTIONS:
        done = t.run_qprof(*question, "--json", "--store", store)
        assert done.returncode in (0, 1), (question, done.stderr)
        told[question] = (done.returncode, json.loads(done.stdout))
    return told


def by_name(values):
    """A list of objects with names as these objects by name; rows of almost one size change places."""
    if not values or not all(isinstance(v, dict) for v in values):
        return None
    names = [tuple(str(v.get(n)) for n in NAMES) for v in values]
    return dict(zip(names, values)) if len(set(names)) == len(names) else None


def difference(a, b, at=()):
    """Where two answers differ, beyond what a store rounds, or None."""
    if isinstance(a, list) and isinstance(b, list):
        a, b = by_name(a) or dict(enumerate(a)), by_name(b) or dict(enumerate(b))
    if isinstance(a, dict) and isinstance(b, dict):
        if set(a) != set(b):
            return at, sorted(set(a) ^ set(b), key=str)
        found = (difference(a[key], b[key], at + (key,)) for key in a)
        return next((d for d in found if d), None)
    if type(a) in (int, float) and type(b) in (int, float):
        slack = CHANGE_SLACK if "change" in str(at) else 0
        return None if abs(a - b) <= TOLERANCE * max(abs(a), abs(b)) + slack else (at, a, b)
    return None if a == b else (at, a, b)


def assert_alike(t, store, other):
    """Both stores have the rows of tests/fixtures/synthetic_history.py."""
    one, two = answers(t, store), answers(t, other)
    for question in QUESTIONS:
        assert one[question][0] == two[question][0], (question, one[question][0], two[question][0])
        differs = difference(one[question][1], two[question][1])
        assert not differs, (question, differs)
