# SPDX-License-Identifier: Apache-2.0 OR MIT
"""record --history and history add: the rows of real builds, and what keeps them out."""

import contextlib
import json
import os
import shlex
import shutil
import signal
import sqlite3
import subprocess

import crates
import lab
import workspace
from lab import each
from test_manners import all_owners, as_nobody
from test_service import Service, control_group, record_one
from test_without_root import User

FAILURE = 125
DAMAGED = 3


def rows_of(t, trace):
    """The rows of a trace by table."""
    text = t.text("export", "-f", "jsonl", "-o", "-", trace)
    rows = [json.loads(line) for line in text.splitlines()]
    tables = {name: [r for r in rows if r["table"] == name] for name in ("build", "compile", "query", "item", "llvm")}
    (build,) = tables["build"]
    assert all(build[name + "_rows"] == len(tables[name]) for name in ("compile", "query", "item", "llvm")), build
    return tables


def builds(t, store):
    return t.json("history", "list", "--store", store, "--json")["builds"]


def git(t, directory, *arguments):
    done = t.plain(["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments], cwd=directory)
    assert done.status == 0, (arguments, done.stderr)
    return done.stdout.decode().strip()


def repository(t):
    """A workspace that git has a commit of, made before anything is recorded."""
    if not shutil.which("git"):
        raise lab.Skip("there is no git")
    top = workspace.make(t)
    git(t, top, "init", "-q")
    git(t, top, "checkout", "-q", "-b", "feature")
    git(t, top, "add", ".")
    git(t, top, "commit", "-q", "-m", "1")
    return top, git(t, top, "rev-parse", "HEAD")


def sums_by_query(report, names):
    """{(name of the compile, query): [executions, CPU time]} of a report."""
    sums = {}
    queries = {row["name"] for row in report["queries"] if row["kind"] == "Query"}
    for process in report["processes"]:
        for row in process["queries"] if process["name"] in names else ():
            # An activity that has the name of a query is told from it.
            named = row["name"] + " (activity)" * (row["kind"] != "Query" and row["name"] in queries)
            of = sums.setdefault((process["name"], named), [0, 0])
            of[0] += row["count"]
            of[1] += row.get("self_cpu_ns", row["self_ns"])
    return sums


def assert_numbers_of_report(t, trace):
    """All numbers are those that the report of the same trace has."""
    tables, report = rows_of(t, trace), t.report(trace)
    (build,) = tables["build"]
    assert build["how"] == "exact" and build["state"] == "whole" and build["lost"] == 0, build
    assert build["executions"] == report["query_executions"]
    assert build["compiles"] == len(tables["compile"]) == report["build"]["compiles"]
    assert build["wall_ns"] == report["build"]["wall_ns"]
    compiles = sorted((c["crate"], c["wall_ns"], c["front_end_ns"], c["codegen_ns"], c["executions"])
                      for c in tables["compile"])
    assert compiles == sorted((c["name"], c["wall_ns"], c["front_end_ns"], c["codegen_ns"],
                               c["executions"]) for c in report["build"]["crates"])
    found = {(q["crate"], q["query"]): [q["count"], q["self_ns"]] for q in tables["query"]}
    expected = sums_by_query(report, {c["crate"] for c in tables["compile"]})
    # A query without executions and times has no row.
    assert found == {key: sums for key, sums in expected.items() if key in found or any(sums)}
    assert all(q["how"] == "exact" for q in tables["query"])
    for crate in {i["crate"] for i in tables["item"]}:
        items = [i for i in tables["item"] if i["crate"] == crate]
        name = next(p["crate"] for p in report["processes"] if p["name"] == crate)
        of_crate = t.json("report", "--json", "--by", "item", "--top", "0", "--crate", name, trace)
        known = {i["name"]: (i["executions"], i.get("self_cpu_ns", i["self_ns"])) for i in of_crate["items"]}
        if sum(p["crate"] == name for p in report["processes"]) == 1:
            assert all(known[i["item"]] == (i["count"], i["self_ns"]) for i in items), crate
        assert [i["self_ns"] for i in items] == sorted((i["self_ns"] for i in items), reverse=True)


def test_a_default_recording_has_rows(t):
    """Counts of rustc's tables, and times of samples, of queries and items, as the report has them."""
    t.need_capture()
    argv = [t.rustc] + crates.arguments(crates.LONG, t.dir, "--emit=metadata")
    run = t.record(argv, ("-q", "--history", "--store", t.path("default.db")), exact=False)
    tables, report = rows_of(t, run.trace), t.report(run.trace)
    (build,), (compiled,), (crate,) = tables["build"], tables["compile"], report["build"]["crates"]
    assert build["how"] == "sampled" and build["lost"] == 0, build
    assert build["results"] == compiled["results"] == crate["results"] > 0, (build, compiled)
    expected = {row["name"]: row for row in report["queries"] if row["kind"] == "Query"}
    found = {row["query"]: row for row in tables["query"] if row["kind"] == "query"}
    for name, row in found.items():
        assert row["how"] == "sampled" and row["self_ns"] == expected[name]["sampled_self_ns"], row
        assert row["count"] == (expected[name]["count"] or None), row
    counted = {name: row["count"] for name, row in found.items() if row["count"] is not None}
    assert len(counted) > 100, found
    assert build["executions"] == compiled["executions"] == sum(counted.values()), (build, compiled)
    assert set(build["uncounted"].split()) >= set(found) - set(counted), build
    by_item = t.json("report", "--json", "--by", "item", "--top", "0", run.trace)
    known = {i["name"]: i for i in by_item["items"]}
    assert tables["item"] and any(i["self_ns"] for i in tables["item"])
    for item in tables["item"]:
        of = known[item["item"]]
        assert (item["how"], item["count"]) == ("sampled", of["executions"] or None), (item, of)
        assert item["self_ns"] == of.get("self_cpu_ns", of["self_ns"]), (item, of)
    first = tables["item"][0]
    for what in (("--item", first["item"]), ("--item", first["item"], "--crate", first["crate"])):
        (point,) = t.json("trend", "--json", "--store", t.path("default.db"), *what)["points"]
        assert point["how"] == "sampled" and abs(point["value"] / first["self_ns"] - 1) < 0.05, (point, first)
    return "%d items" % len(tables["item"])


def test_a_mixed_history_has_no_step(t):
    """With and without --exact, a build, a crate and a query have the same executions and results."""
    t.need_capture()
    argv = [t.rustc] + crates.arguments(crates.SHORT, t.dir, "--emit=metadata")
    store, values = t.path("mixed.db"), {}
    for i, exact in enumerate((False, True, False)):
        t.record(argv, ("-q", "--history", "--store", store), trace="%d.qpt" % i, exact=exact)
    (crate,) = {row["crate"] for row in rows_of(t, t.path("1.qpt"))["compile"]}
    for what in ((), ("--crate", crate), ("--query", "typeck"), ("--query", "mir_built", "--crate", crate)):
        for metric in ("count",) if "--query" in what else ("count", "results"):
            trend = t.json("trend", "--json", "--store", store, "--metric", metric, *what)
            assert [p["left_out"] for p in trend["points"]] == [None] * 3, trend
            assert len({p["value"] for p in trend["points"]}) == 1, (what, metric, trend)
            values[metric] = trend["points"][0]["value"]
            # Those that are about each definition, or executed once, and no others.
            assert (trend["uncounted"] is None) == (metric == "results" or "--query" in what), trend
    return "%d executions, %d results" % (values["count"], values["results"])


def test_a_build_is_there_once_with_its_commit(t):
    top, commit = repository(t)
    argv, env = workspace.cargo(t, "build", "-q")
    store = t.path("history.db")
    options = ("-q", "--history", "--store", store, "--label", "a b", "--with-commands")
    run = t.record(argv, options, env=env, cwd=top)
    (build,) = builds(t, store)
    assert build["commit"] == commit and build["branch"] == "feature" and build["dirty"] == 0, build
    assert build["label"] == "a b" and build["command"] == " ".join(argv) and build["profile"] == "debug", build
    assert os.stat(store).st_uid == lab.invoker().pw_uid
    # Also under another name.
    shutil.copyfile(run.trace, t.path("copy.qpt"))
    again = t.run_qprof("history", "add", "--store", store, run.trace, t.path("copy.qpt"))
    assert again.returncode == 0 and "2 builds are in" in again.stderr, again
    assert builds(t, store) == [build]
    assert_numbers_of_report(t, run.trace)
    # A commit that was made since was not built.
    git(t, top, "commit", "-q", "--allow-empty", "-m", "2")
    other = t.path("other.db")
    moved = t.run_qprof("history", "add", "--store", other, run.trace)
    assert moved.returncode == 0 and "HEAD of %s has moved" % top in moved.stderr, moved
    (late,) = builds(t, other)
    assert late["commit"] is None and late["command"] is None, late
    given = t.path("given.db")
    t.run_qprof("history", "add", "--store", given, "--commit", commit, "--branch", "b", run.trace)
    assert [(b["commit"], b["branch"]) for b in builds(t, given)] == [(commit, "b")]


def test_a_repository_runs_nothing(t):
    """Its filter is named where git looks for it, and no single question about settings does."""
    if not shutil.which("git"):
        raise lab.Skip("there is no git")
    top, ran = t.mkdir("repository"), t.path("ran")
    source = os.path.join(top, "lib.rs")
    files = {"lib.rs": "pub fn f() -> u8 { 1 }\n", ".gitattributes": "*.rs filter=x\n"}
    for name, text in files.items():
        t.write(os.path.join("repository", name), text)
    program = t.write("filter.sh", "#!/bin/sh\ntouch %s\ncat\n" % ran)
    os.chmod(program, 0o755)
    included = t.write("included", "[filter \"x\"]\n\tclean = %s\n" % program)
    git(t, top, "init", "-q")
    git(t, top, "add", ".")
    git(t, top, "commit", "-q", "-m", "1")
    git(t, top, "config", "extensions.worktreeConfig", "true")
    git(t, top, "config", "includeIf.hasconfig:remote.*.url:https://x/**.path", included)
    git(t, top, "config", "--worktree", "remote.x.url", "https://x/y")
    os.utime(source, (1, 1))
    git(t, top, "status")
    assert os.path.exists(ran), "git itself runs it"
    os.unlink(ran)
    os.utime(source, (2, 2))
    store = t.path("history.db")
    t.record([t.rustc, "--crate-type=lib", "--emit=metadata", "lib.rs"],
             ("-q", "--history", "--store", store), cwd=top)
    (build,) = builds(t, store)
    assert build["commit"] == git(t, top, "rev-parse", "HEAD"), build
    assert not os.path.exists(ran)


def compile_once(t, *options, env=None, status=0):
    """Record one short compile with a history."""
    command = [t.rustc] + crates.arguments(crates.SHORT, t.dir, "--emit=metadata")
    run = t.capture(command, ("-q", "--history", *options), env=env)
    assert run.status == status, run.stderr
    return run


def test_the_history_under_sudo_is_the_invokers(t):
    t.need_capture()
    nobody, env = as_nobody(t)
    home = t.path("data")
    os.mkdir(home)
    os.chown(home, nobody, -1)
    with User(t, "cap_bpf") as user:
        command = [user.rustc] + crates.arguments(crates.SHORT, t.dir, "--emit=metadata")
        done = t.run_qprof("-q", "--history", "-o", t.path("a.qpt"), "--", *command,
                           env={**env, "XDG_DATA_HOME": home})
        assert done.returncode == 0 and done.stderr == "", done
    assert os.path.exists(os.path.join(home, "qprof-bpf/history.db"))
    assert all_owners(home) == {nobody}


@each("read-only", "no directory", "not a store", "no server")
def test_a_store_that_fails_fails_no_build(t, what):
    t.need_capture()
    stores = {"read-only": "/proc/history.db", "no directory": t.write("file", "") + "/history.db",
              "not a store": t.write("text", "text" * 500), "no server": "http://127.0.0.1:9/db"}
    run = compile_once(t, "--store", stores[what], env={"XDG_STATE_HOME": t.path("state"),
                                                        "XDG_DATA_HOME": t.path("data")})
    assert len(run.stderr.decode().splitlines()) == 1, run.stderr
    assert t.run_qprof("verify", run.trace).returncode == 0


def test_a_full_disk_and_a_locked_store_fail_no_build(t):
    t.need_capture()
    with t.mounted("disk", "-t", "tmpfs", "-o", "size=16k,mode=777", "none") as disk:
        run = compile_once(t, "--store", os.path.join(disk, "h.db"))
        assert run.stderr.count(b"\n") == 1 and b"the disk is full" in run.stderr, run.stderr
    store = t.path("locked.db")
    compile_once(t, "--store", store)
    with contextlib.closing(sqlite3.connect(store, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        run = compile_once(t, "--store", store)
        assert run.stderr.count(b"\n") == 1 and b"locked" in run.stderr, run.stderr
    # Nothing is lost: it can be added later.
    assert t.run_qprof("history", "add", "--store", store, run.trace).returncode == 0
    assert len(builds(t, store)) == 2


@each("SIGINT", "SIGTERM", "SIGHUP")
def test_a_signal_ends_the_waiting_for_a_store(t, name):
    t.need_capture()
    store, trace = t.path("held.db"), t.path("trace.qpt")
    compile_once(t, "--store", store)
    os.unlink(trace)
    command = shlex.join([t.rustc] + crates.arguments(crates.SHORT, t.dir, "--emit=metadata"))
    with contextlib.closing(sqlite3.connect(store, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        process = t.start([t.qprof, "--exact", "--no-sample", "--history", "--store", store, "-o", trace, "--",
                           "sh", "-c",
                           command + "; exit 3"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        lab.wait_for("the trace", lambda: os.path.exists(trace) and t.run_qprof("verify", trace).returncode == 0)
        adds = lab.wait_for("history add", lambda: adding(process.pid))
        process.send_signal(getattr(signal, name))
        _, err = process.communicate(timeout=lab.TIMEOUT)
        # The command's status stays, and what was started has ended.
        assert process.returncode == 3, (process.returncode, err)
        assert "1 build is not in the history yet: add its trace" in err and "locked" not in err, err
        assert not any(os.path.exists("/proc/%d" % pid) for pid in adds), adds
    assert len(builds(t, store)) == 1
    assert t.run_qprof("history", "add", "--store", store, trace).returncode == 0
    assert len(builds(t, store)) == 2


def adding(pid):
    """The children that add to a history."""
    found = []
    with contextlib.suppress(FileNotFoundError):
        for thread in os.listdir("/proc/%d/task" % pid):
            for child in lab.read_text("/proc/%d/task/%s/children" % (pid, thread)).split():
                if "history\0add" in lab.read_text("/proc/%s/cmdline" % child):
                    found.append(int(child))
    return found


@lab.alone("a compiler of another test that is gone has no control group any more")
def test_a_service_adds_each_build(t):
    t.need_capture()
    store = t.path("service.db")
    with control_group(t) as group:
        service = Service(t, group, "--history", "--store", store)
        one, two = service.session(), service.session()
        for shell, crate in (one, "one"), (two, "two"):
            record_one(service, shell, crate)
            shell.communicate()
        service.end()
        assert {b["build"] for b in builds(t, store)} == {
            rows_of(t, trace)["build"][0]["build"] for shell in (one, two) for trace in service.traces(shell)}


def has_build(t, store):
    done = t.run_qprof("history", "list", "--json", "--store", store)
    return done.returncode == 0 and json.loads(done.stdout)["builds"]


def is_whole(t, trace):
    return "unfinished" not in t.run_qprof("report", trace).stderr


@lab.alone("a compiler of another test that is gone has no control group any more")
def test_what_a_killed_service_left_is_added_by_the_next(t):
    t.need_capture()
    store = t.path("killed.db")
    with control_group(t) as group:
        service = Service(t, group, "--history", "--store", store)
        shells = [service.session() for _ in range(3)]
        for n, shell in enumerate(shells):
            record_one(service, shell, "crate_%d" % n)
        shells[0].communicate()
        lab.wait_for("the first build", lambda: has_build(t, store))
        with contextlib.closing(sqlite3.connect(store)) as other:
            other.execute("BEGIN IMMEDIATE")
            for shell in shells[1:]:
                shell.communicate()
            lab.wait_for("the traces", lambda: all(
                is_whole(t, trace) for shell in shells for trace in service.traces(shell)))
            service.process.kill()
            service.process.communicate()
            other.rollback()
        service = Service(t, group, "--history", "--store", store)
        service.end()
        assert {b["build"] for b in builds(t, store)} == {
            rows_of(t, trace)["build"][0]["build"] for shell in shells for trace in service.traces(shell)}


def test_a_failed_build_keeps_its_status(t):
    t.need_capture()
    bad = t.write("bad.rs", "fn main() { let x: u32 = \"\"; }")
    run = t.capture([t.rustc, "--crate-name", "bad", bad], ("-q", "--history", "--store", t.path("h.db")))
    assert run.status == 1, run.stderr
    # A trace keeps the command only if asked to.
    t.run_qprof("history", "add", "--store", t.path("again.db"), "--with-commands", run.trace)
    assert builds(t, t.path("again.db"))[0]["command"] is None
    (build,) = builds(t, t.path("h.db"))
    assert (build["compiles"], build["failed"]) == (1, 1), build


def test_damaged_and_empty_traces(t):
    t.need_capture()
    trace = compile_once(t, "--store", t.path("h.db")).trace
    whole = open(trace, "rb").read()
    with open(t.path("cut.qpt"), "wb") as f:
        f.write(whole[:-1])
    done = t.run_qprof("history", "add", "--store", t.path("cut.db"), t.path("cut.qpt"))
    assert done.returncode == 0 and "left out of trends" in done.stderr, done
    (build,) = builds(t, t.path("cut.db"))
    assert build["state"] == "unfinished", build
    for bad in ("missing.qpt", t.write("nothing.qpt", "")):
        done = t.run_qprof("history", "add", "--store", t.path("cut.db"), t.path(bad))
        assert done.returncode == DAMAGED and done.stderr.count("\n") == 1, done
    done = t.run_qprof("history", "add", "--store", t.path("cut.db"), trace)
    assert done.returncode == 0 and "added 1 build" in done.stderr, done
    (build,) = builds(t, t.path("cut.db"))
    assert build["state"] == "whole", build
    empty = t.run_qprof("-q", "-o", t.path("empty.qpt"), "--", "true")
    assert empty.returncode == 0, empty
    done = t.run_qprof("history", "add", "--store", t.path("e.db"), t.path("empty.qpt"))
    assert done.returncode == FAILURE and "no crate was compiled" in done.stderr, done
    done = t.run_qprof("export", "-f", "jsonl", "-o", "-", t.path("empty.qpt"))
    assert done.returncode == FAILURE and "no crate was compiled" in done.stderr, done


def test_an_imported_profile_has_rows(t):
    t.need_capture()
    trace = compile_once(t, "--store", t.path("h.db")).trace
    t.run_qprof("export", "-o", t.path("profiles"), trace)
    (profile,) = os.listdir(t.path("profiles"))
    assert t.run_qprof("import", "-o", t.path("b.qpt"), t.path("profiles", profile)).returncode == 0
    for _ in range(2):
        t.text("history", "add", "--store", t.path("i.db"), t.path("b.qpt"))
    assert len(builds(t, t.path("i.db"))) == 1
