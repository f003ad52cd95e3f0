# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Libraries that have neither a symbol table nor a debug file."""

import collections
import os
import shutil
import struct

import crates
import debian_toolchains
import equality
import keys
import lab
from compiles import BOOTSTRAP, Compile
from lab import each
from slow_loader import driver
from test_keys_running import HANGS, assert_named
from test_places import assert_all_sorts, assert_calls
from test_targets import shared_toolchain

VERSIONS = ("1.96", "1.85", "1.63")
# ITEMS, COUNTED and LABELLED compare other events, or more of them. No key of 1.63 is known.
ITEMS = [("1.96", "debug"), ("1.96", "second-incremental"), ("1.85", "debug"), ("1.85", "release"),
         ("1.85", "first-incremental")]
COUNTED = [("1.63", "debug"), ("1.63", "second-incremental"), ("1.96", "release"), ("1.85", "debug")]
LABELLED = [("1.96", "first-incremental"), ("1.96", "edited-incremental"), ("1.85", "second-incremental"),
            ("1.85", "edited-incremental")]
QUERIES = ("-q", "-e", "query-provider")
WHEN_TOLD = 'until [ -e "$0" ]; do sleep 0.1; done; "$@"'
# Why a load, a hashing or an execution may have another label than in rustc's own profile.
REASONS = {equality.SHARED, equality.NAMED_TOO_EARLY, equality.FED}
OF_QUERY = ("name", "end_sites", "request_sites", "start_exact", "end_exact", "invocation_id")
OF_SITE = ("role", "class", "address", "offset", "register", "slot", "vtable_offset", "sp_delta",
           "key_register", "key_slot")
# Queries of the 1.97 nightly whose type of key only symbols show: of their two types, both the
# functions that drop guards and those that grow tables were folded into one.
WITHOUT_TYPE = ("dropck_outlives", "type_op_prove_predicate")
# Queries of Debian's compilers whose key some start does not show.
UNREAD = {
    "1.96": {"closure_typeinfo", "def_kind", "lookup_deprecation_entry", "trigger_delayed_bug"},
    "1.85": {"check_mono_item"},
}
# Of an interval that is not a query; functions and scopes have no names in a copy.
OF_GUARD = ("kind", "label", "label_slot", "label_of_query", "end_sites", "exact", "problem")
# Members that differ in the plan of a copy without symbols; the arrays are compared apart.
# Code that feeds queries is found by the names of functions: without, results that may be fed stay results.
# LLVM's library is not beside the copy.
OTHER = {"file", "build_id", "symbols", "queries", "guards", "steps", "sites", "feeds_problem", "llvm"}


def hide_symbols(source, target):
    """A copy whose symbol table has no type. GNU strip breaks BOLT's layout."""
    shutil.copy2(source, target)
    with open(target, "r+b") as f:
        header = f.read(64)
        (sections,) = struct.unpack_from("<Q", header, 40)
        size, count = struct.unpack_from("<HH", header, 58)
        for at in range(sections + 4, sections + 4 + count * size, size):
            f.seek(at)
            if f.read(4) == struct.pack("<I", 2):  # SHT_SYMTAB
                f.seek(at)
                f.write(bytes(4))


def plan_of(t, library):
    return t.json("plan", "--json", library)


def sites_of(plan):
    """The values of OF_SITE, and the query; bodies have other numbers."""
    names = [q["name"] for q in plan["queries"]]
    return sorted((tuple(str(site[key]) for key in OF_SITE),
                   names[site["query"]] if site["query"] is not None else "")
                  for site in plan["sites"] if site["guard"] is None and site["role"] not in ("drop", "feed"))


def assert_same_keys(own, stripped):
    """The keys that are read, and their types; returns the queries whose type is missing."""
    for key in ("key", "key_sites", "start_role", "start_sites"):
        assert [q[key] for q in own["queries"]] == [q[key] for q in stripped["queries"]], key
    pairs = [(a, b) for a, b in zip(own["queries"], stripped["queries"])
             if a["key_type"] != b["key_type"]]
    assert not any(b["key_type"] for _, b in pairs), pairs
    assert not any(a["key"] for a, _ in pairs), pairs
    missing = {a["name"] for a, _ in pairs}
    assert missing <= set(WITHOUT_TYPE), missing - set(WITHOUT_TYPE)
    return missing


def address_of(plan, body):
    return plan["bodies"][body]["address"] if body is not None else ""


def places_of_guards(plan):
    """By number of a guard: its sites but the ends, by which it is told in any plan."""
    places = {}
    for site in plan["sites"]:
        if site["guard"] is not None and not site["role"].endswith("-end"):
            places.setdefault(site["guard"], []).append(site["address"])
    return {guard: tuple(sorted(addresses)) for guard, addresses in places.items()}


def guards_of(plan):
    """Of all guards: what they are, all their sites, and their arguments, by their place."""
    names = [q["name"] for q in plan["queries"]]
    places = places_of_guards(plan)
    assert len(set(places.values())) == len(plan["guards"]), "guards without a place of their own"
    guards = {places[i]: {"is": [g[key] for key in OF_GUARD] + [address_of(plan, g["body"])],
                          "sites": []} for i, g in enumerate(plan["guards"])}
    for site in plan["sites"]:
        if site["guard"] is not None:
            guards[places[site["guard"]]]["sites"].append(
                tuple(str(site[key]) for key in OF_SITE)
                + (names[site["query"]] if site["query"] is not None else "",
                   address_of(plan, site["body"])))
    for guard in guards.values():
        guard["sites"].sort()
    return guards, {places[i]: g["argument"] for i, g in enumerate(plan["guards"])}


def steps_of(plan):
    """How the query of a load is found: by the return addresses on the stack."""
    places = places_of_guards(plan)
    return sorted((places[s["guard"]], s["return_address"], address_of(plan, s["body"]),
                   str([s[key] for key in ("register", "slot", "vtable_offset")]))
                  for s in plan["steps"])


def assert_same_guards(own, stripped):
    (guards, arguments), (others, without) = guards_of(own), guards_of(stripped)
    assert guards.keys() == others.keys(), guards.keys() ^ others.keys()
    differing = {place: (guards[place], others[place])
                 for place in guards if guards[place] != others[place]}
    assert not differing, differing
    lost = [(arguments[place], without[place])
            for place in arguments if arguments[place] != without[place]]
    assert not lost, lost
    assert steps_of(own) == steps_of(stripped)
    return len(guards), len(own["steps"])


def assert_same_queries(own, stripped):
    for key in OF_QUERY:
        assert [q[key] for q in own["queries"]] == [q[key] for q in stripped["queries"]], key
    missing = assert_same_keys(own, stripped)
    sites = sites_of(own)
    assert sites == sites_of(stripped)
    differing = {key for key in own if own[key] != stripped[key]}
    assert differing <= OTHER, differing - OTHER
    return len(sites), len(missing)


@each(*(lab.toolchains() or ("stable",)))
def test_same_plan_without_symbols(t, toolchain):
    """All sites of queries are found in a copy whose symbol table is hidden.

    So are the queries' keys and where they are, and whether names of definitions, of other crates,
    of files and of macros are known. The types of a few keys are missing, none of which is read. Of other
    intervals, all is the same.
    """
    library = driver(t.toolchain(toolchain).rustc)
    copy = t.path(os.path.basename(library))
    hide_symbols(library, copy)
    own, stripped = plan_of(t, library), plan_of(t, copy)
    assert own["symbols"] == "the library" and stripped["symbols"] == "the library's code"
    return ("%d sites and all keys equal, %d types of keys missing; "
            "%d other intervals and %d steps equal"
            % (assert_same_queries(own, stripped) + assert_same_guards(own, stripped)))


@each(*(lab.toolchains() or ("stable",)))
def test_items_without_symbols(t, toolchain):
    """Keys of queries equal rustc's own, names included."""
    t.need_capture()
    rustc = shared_toolchain(t, hide_symbols, t.toolchain(toolchain))
    toolchain = lab.Toolchain("stripped", rustc, os.path.dirname(os.path.dirname(rustc)))
    found = keys.compare(Compile(t, toolchain, crates.SHORT, "debug"))
    found.assert_equal()
    return found.summary()


@each(*ITEMS)
def test_debian_items(t, version, mode):
    """Likewise of Debian's compilers."""
    t.need_capture()
    compile = Compile(t, debian_toolchains.toolchain(t, version), crates.SHORT, mode)
    plan = plan_of(t, debian_toolchains.library(version))
    unread = {q["name"] for q in plan["queries"]
              if q["key"] not in (None, "()") and q["key_sites"] < q["start_sites"]}
    assert unread <= UNREAD[version], unread
    found = keys.compare(compile, plan)
    found.assert_equal()
    return found.summary()


@each("1.96", "1.85")
def test_debian_items_of_a_killed_compiler(t, version):
    """Its names are read when it dies, as it does not come to drop its query context."""
    t.need_capture()
    rustc = debian_toolchains.toolchain(t, version).rustc
    assert t.run_qprof("plan", debian_toolchains.library(version)).returncode == 0
    run = t.capture(["timeout", "-s", "KILL", "4", rustc, "--crate-name=hangs",
                     "--crate-type=lib", "--emit=metadata", "--out-dir", t.mkdir("out"),
                     t.write("hangs.rs", HANGS)], ("-q",))
    assert run.status, "it was not killed"
    return "%d executions" % assert_named(t, run.trace)


@each("stable", "1.96", "1.85")
def test_places_without_symbols(t, toolchain):
    """Files and lines of definitions, and where macros were called, are those of the sources."""
    t.need_capture()
    rustc = (debian_toolchains.toolchain(t, toolchain).rustc if toolchain != "stable"
             else shared_toolchain(t, hide_symbols, t.toolchain(toolchain)))
    run, compared = assert_all_sorts(t, rustc, ())
    assert_calls(t, run, toolchain != "1.85")
    return "%d compared" % compared


@each(*COUNTED)
def test_debian_counts(t, version, mode):
    """Executions of each query equal those of rustc's own profile of the same process.

    Where two queries share an id, rustc has both under one label.
    """
    t.need_capture()
    toolchain = debian_toolchains.toolchain(t, version)
    compile = Compile(t, toolchain, crates.SHORT, mode)
    run, profile = compile.profiled(
        "both", lambda argv: t.capture(argv, QUERIES, env=BOOTSTRAP), "query-provider")
    assert run.status == 0, run.stderr.decode()
    ours, truth = t.counts(run.trace), profile.counts()
    spans = t.spans(run.trace)
    if ours != truth:
        plan = plan_of(t, debian_toolchains.library(version))
        one = equality.OneProcess(spans, profile, plan, ("Query",))
        assert {one.reasons[key] for key in one.relabelled} == {equality.SHARED}, one.relabelled
    late = sum(1 for span in spans if span["left"])
    assert not late, "%d ends are late" % late
    return "%d events, %d queries" % (sum(truth.values()), len(truth))


def followed(t, argv):
    """Record a shell that runs already; the compiler that it starts then is `argv`."""
    go, trace = t.path("go"), t.path("trace.qpt")
    if os.path.exists(go):
        os.unlink(go)
    shell = t.start_plain(["sh", "-c", WHEN_TOLD, go, *argv], env=BOOTSTRAP)
    profiler = t.start_qprof(*QUERIES, "--force", "-o", trace, "--pid", str(shell.pid))
    lab.wait_for("the recording", lambda: lab.begun(profiler))
    t.write("go", "")
    _, err = profiler.communicate(timeout=lab.TIMEOUT)
    assert profiler.returncode == 0, err.decode()
    return lab.Run(shell.wait(), b"", err, trace)


@each(*VERSIONS)
def test_debian_compiler_of_a_running_command(t, version):
    """A compiler is recorded from its first query on, if what starts it is followed by then."""
    t.need_capture()
    toolchain = debian_toolchains.toolchain(t, version)
    # A plan may take longer than the compiler waits for it; this keeps it.
    assert t.capture([toolchain.rustc, "-vV"]).status == 0
    compile = Compile(t, toolchain, crates.SHORT, "debug")
    run, profile = compile.profiled("both", lambda argv: followed(t, argv), "query-provider")
    assert t.counts(run.trace) == profile.counts()
    return "%d events" % sum(profile.counts().values())


@each(*LABELLED)
def test_debian_labels(t, version, mode):
    """Loads and hashings are of the queries that rustc's own profile of the same process has.

    Event by event, whatever their kind. Nothing shows whose a result is that one query feeds to
    another, with symbols or without.
    """
    t.need_capture()
    compile = Compile(t, debian_toolchains.toolchain(t, version), crates.SHORT, mode)
    run, profile = compile.profiled(
        "both", lambda argv: t.capture(argv, equality.ALL, env=BOOTSTRAP), equality.EVENTS)
    equality.Case.assert_nothing_lost(t, run)
    one = equality.OneProcess(t.spans(run.trace), profile,
                              plan_of(t, debian_toolchains.library(version)))
    # Bodies that leave executions to another function (plan/mine/between.h) have their ends.
    assert "Query" not in {kind for kind, _ in one.late}, one.late
    others = {key: n for key, n in one.relabelled.items() if one.reasons[key] not in REASONS}
    assert not others, others
    return labels_of(one)


def labels_of(one):
    """How many loads and hashings there are, and why how many have another label."""
    texts = []
    for kind in ("IncrementalLoadResult", "IncrementalResultHashing"):
        why = collections.Counter()
        for key, n in one.relabelled.items():
            why[one.reasons[key]] += n if key[0] == kind else 0
        texts.append("%d %s%s" % (
            sum(n for (of, _), n in one.counts.items() if of == kind), kind,
            "".join(", %d %s" % (n, reason) for reason, n in sorted(why.items()) if n)))
    return "; ".join(texts)
