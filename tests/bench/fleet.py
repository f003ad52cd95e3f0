# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A history on a ClickHouse server: the time of trends at a million builds, whose rows the server
makes itself, and the disk that they take. No root, no rustc; Debian's server is
unpacked, or found where CLICKHOUSE_PACKAGES says."""

import subprocess
import time

import clickhouse
import lab

BUILDS = 1000000
CRATES, QUERIES, ITEMS = 5, 2, 1  # of each build; of each crate
# Of what the size of a build is computed: fewer builds would repeat their ids within a block.
USUAL = {"build": 1, "compile": 60, "query": 60 * 150, "item": 60 * 100}
MOST = 100000  # builds that a trend takes
PART = 1000000  # rows of an insert

# Ids are spread as those of real builds, so that they compress as badly. Times have 5 % of noise.
ID = "toUUID(UUIDNumToString(MD5(toString(b))))"
START = "toInt64(1700000000000000000 + b * 60000000000)"


def noisy(value, *by):
    return "toInt64(%s * (1 + cityHash64(%s) %% 1000 / 20000))" % (value, ", ".join(by))


BUILD_ROWS = """INSERT INTO build (build, start_ns, host, commit, branch, dirty,
    toolchain, profile, workspace, cpus, how, state, lost, cost_ppm, wall_ns, cpu_ns, peak_bytes,
    executions, compiles, failed, reused) SELECT {id}, {start}, 'ci-1',
    lower(hex(MD5(concat('c', toString(b))))), 'main', 0, 'rustc 1.95.0 (59807616e 2026-04-14)',
    'release', 'app', 8, 'exact', 'whole', 0, 20000, {wall}, {cpu}, 500000000, 1311600, {crates},
    0, 0 FROM (SELECT number AS b FROM system.numbers LIMIT {begin}, {n})"""
COMPILE_ROWS = """INSERT INTO compile (build, start_ns, number, crate, target, tool, wall_ns,
    cpu_ns, off_cpu_ns, peak_bytes, executions, exit_status) SELECT {id}, {start}, c, concat('crate_', toString(c)), 'lib',
    'rustc', {wall}, {cpu}, {off}, 200000000 + c, 21860, 0
    FROM (SELECT intDiv(number, {crates}) AS b, number % {crates} AS c FROM system.numbers
    LIMIT {begin}, {n})"""
QUERY_ROWS = """INSERT INTO query (build, start_ns, crate, query, kind, how, count, self_ns,
    total_ns) SELECT {id}, {start}, concat('crate_', toString(c)),
    concat('a_query_', toString(q)), 'query', 'exact', 100 + q * c, {cpu}, {wall}
    FROM (SELECT intDiv(number, {crates} * {each}) AS b, intDiv(number, {each}) % {crates} AS c,
    number % {each} AS q FROM system.numbers LIMIT {begin}, {n})"""
ITEM_ROWS = """INSERT INTO item (build, start_ns, crate, item, how, count, self_ns) SELECT {id}, {start}, concat('crate_', toString(c)),
    concat('crate_', toString(c), '::module::function_', toString(q)), 'exact', 10 + q, {cpu}
    FROM (SELECT intDiv(number, {crates} * {each}) AS b, intDiv(number, {each}) % {crates} AS c,
    number % {each} AS q FROM system.numbers LIMIT {begin}, {n})"""


def insert(server, database, rows, n, **texts):
    """In parts: each has an answer in time."""
    for begin in range(0, n, PART):
        server.ask(rows.format(begin=begin, n=min(PART, n - begin), id=ID, start=START, **texts),
                   database=database)


def fill(server, database, builds, crates, queries, items):
    insert(server, database, BUILD_ROWS, builds, crates=crates, wall=noisy("9e9", "b", "1"),
           cpu=noisy("5e10", "b", "2"))
    insert(server, database, COMPILE_ROWS, builds * crates, crates=crates,
           wall=noisy("3e8", "b", "c", "1"), cpu=noisy("4e8", "b", "c", "2"),
           off=noisy("1e7", "b", "c", "3"))
    for rows, each in ((QUERY_ROWS, queries), (ITEM_ROWS, items)):
        insert(server, database, rows, builds * crates * each, crates=crates, each=each,
               wall=noisy("1e7 / (q + 1)", "b", "c", "q", "1"),
               cpu=noisy("5e6 / (q + 1)", "b", "c", "q", "2"))


def print_sizes(server):
    print("\nDisk of %d builds:" % BUILDS)
    answer = server.ask("SELECT table, sum(rows), sum(bytes_on_disk) FROM system.parts WHERE active "
                        "AND database = 'many' AND table != 'qprof_schema' GROUP BY table "
                        "ORDER BY table")
    total = 0
    for line in answer.splitlines():
        table, rows, size = line.split("\t")
        each = int(size) / int(rows)
        total += USUAL[table] * each
        print("  %-8s %10s rows, %6.1f bytes each" % (table, rows, each))
    print("  a build of %s takes %.0f KB" % (
        ", ".join("%d rows of %s" % (n, table) for table, n in USUAL.items()), total / 1000))


def time_trends(t, store):
    print("\n`trend` at %d builds:" % BUILDS)
    for words in ((), ("--crate", "crate_1"), ("--crate", "crate_1", "--query", "a_query_1"),
                  ("--query", "a_query_1"),
                  ("--crate", "crate_1", "--item", "crate_1::module::function_0")):
        for last in ("1000", str(MOST)):
            begin = time.monotonic()
            done = subprocess.run([t.qprof, "trend", "--store", store, "--last", last, *words],
                                  capture_output=True, text=True, env=t.qprof_env())
            took = time.monotonic() - begin
            result = "%6.2f s" % took if not done.returncode else done.stderr.strip()
            print("  %-52s %-13s %s" % (" ".join(words) or "of the build",
                                       "--last %s" % last, result))


def measure(build):
    """Prints; there are no targets. [] as rows."""
    with lab.Lab(build) as t:
        try:
            server = clickhouse.one(t)
        except lab.NotDownloaded as e:
            print("\nfleet: not measured: %s" % e)
            return []
        store = server.address + "/many"
        subprocess.run([t.qprof, "history", "migrate", "--store", store], check=True,
                       env=t.qprof_env(), stderr=subprocess.DEVNULL)
        fill(server, "many", BUILDS, CRATES, QUERIES, ITEMS)
        print_sizes(server)
        time_trends(t, store)
    return []
