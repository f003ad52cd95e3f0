# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A program that looks like a compiler, and lies in all that a recording reads of its memory."""

import os
import resource
import subprocess
import time

from test_security_hold import compiled

MOST_SECONDS = 300
MOST_KB = 512 * 1024
MOST_TRACE = 1 << 20
MOST_NAME = 1024 + 64

# Lies that leave the definition itself, its symbol and its text as they are.
NAMED = {"truth", "count", "all counts", "texts of 1 GiB", "texts of 2^63", "many texts",
         "again and again", "large again", "threads"}


def sites(t):
    """The addresses that the program takes: of the drop, and of a query's start and end."""
    plan = t.json("plan", "--json", t.rustc)
    assert plan["names"], plan["names_problem"]
    queries, found = plan["queries"], {"end": {}}
    for site in plan["sites"]:
        if site["role"] == "drop" and site["address"] != plan["finished"]:
            found["drop"] = site["address"]
        elif site["role"] == "end" and site["class"] == "emulated" and not site["sp_delta"]:
            found["end"][site["body"]] = site["address"]
    for site in plan["sites"]:
        if site["role"] != "start" or site["key_register"] != "rsi" or site["sp_delta"] != 8:
            continue
        query = queries[site["query"]]
        if query["key"] == "DefId" and query["provider"] == site["address"] and query["body"] in found["end"]:
            return plan["file"], (found["drop"], site["address"], found["end"][query["body"]]), query["name"]
    raise AssertionError("no query about a DefId starts at its provider")


def limited():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def record(t, argv):
    """The recorder's output, how long it took, and how much memory it or a child had at most."""
    env = t.qprof_env({"GLIBC_TUNABLES": "glibc.rtld.optional_static_tls=65536"})
    begin = time.monotonic()
    with open(t.path("said"), "w+") as said, open(t.path("errors"), "w+") as errors:
        process = subprocess.Popen([t.qprof, "-q", "--exact", "--no-sample", "-o", t.path("trace.qpt"), "--", *argv],
                                   cwd=t.dir, env=env, stdin=subprocess.DEVNULL, stdout=said,
                                   stderr=errors, preexec_fn=limited)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        for f in (said, errors):
            f.seek(0)
        return process.returncode, said.read(), errors.read(), time.monotonic() - begin, used.ru_maxrss


def test_a_compiler_that_lies(t):
    """The recording ends soon, with little memory and a small trace. A key whose definition is a lie is
    unknown; the truth told by the same program is not."""
    t.need_capture()
    program = compiled(t, "hostile_compiler")
    library, addresses, query = sites(t)
    status, said, errors, seconds, most = record(t, [program, library, *addresses])
    assert status == 0, (status, said[-2000:], errors[-2000:])
    lies = {}
    for line in said.splitlines():
        pid, way, text = line.split(" ", 2)
        name, _, end = text.partition(": ")
        assert end == "told", line
        lies[int(pid)] = (name, int(way))
    assert seconds < MOST_SECONDS and most < MOST_KB, (seconds, most)
    assert os.path.getsize(t.path("trace.qpt")) < MOST_TRACE
    named = {}
    for span in t.dumped(t.path("trace.qpt")):
        if span.get("type") == "span" and span["query"] == query and span["event"]:
            assert len(span["event"]) < MOST_NAME, span
            named.setdefault(lies[span["pid"]][0], []).append(span["event"])
    assert set(named) <= NAMED, named
    assert len(named["truth"]) == 1 and named["truth"][0].endswith("::item3"), named["truth"]
    done = t.run_qprof("report", "--by", "item", t.path("trace.qpt"))
    assert done.returncode == 0 and "::item3" in done.stdout, done
    return "%d lies, %.1f s, %d KB" % (len(lies), seconds, most)
