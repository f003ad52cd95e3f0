# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A history on ClickHouse servers: real ones, and some that answer wrongly."""

import contextlib
import http.server
import json
import os
import shutil
import ssl
import subprocess
import sys
import threading

import clickhouse
import lab

NO_COMPILER = True

SYNTHETIC = os.path.join(lab.ROOT, "tests/fixtures/synthetic_history.py")
BUILDS, PUSHERS = 96, 8


def synthetic():
    return subprocess.run([sys.executable, SYNTHETIC], capture_output=True, text=True, check=True).stdout


def environment(t, **more):
    """With a spool and credentials of the test's own."""
    return {**t.qprof_env(), "XDG_STATE_HOME": t.path("state"), "XDG_CONFIG_HOME": t.path("config"), **more}


def history(t, *arguments, **more):
    return t.run_qprof("history", *arguments, env=environment(t, **more))


def works(done):
    assert done.returncode == 0, done
    return done


def make_former(server, database, cluster=""):
    """Tables as version 1 had them."""
    def alter(table, what):
        server.ask("ALTER TABLE %s %s %s" % (table, "ON CLUSTER `%s`" % cluster if cluster else "", what),
                   database=database)

    end = "_local" if cluster else ""
    alter("build" + end, "DROP COLUMN results")
    alter("build" + end, "DROP COLUMN uncounted")
    alter("build" + end, "ADD COLUMN budget_ppm Nullable(Int64)")
    alter("compile" + end, "DROP COLUMN results")
    # A replica's name would not be free again at once.
    if not cluster:
        server.ask("DROP TABLE llvm", database=database)
    alter("qprof_schema", "DROP PARTITION tuple()")
    server.ask("INSERT INTO qprof_schema VALUES (1, '%s')" % cluster, database=database)


# ---- Every build is there once -----------------------------------------------------------------


def lines_of(builds):
    """The lines of so many small builds, and how many rows of queries each has."""
    first = [json.loads(line) for line in synthetic().splitlines()]
    rows = first[:1 + next(i for i, row in enumerate(first[1:]) if row["table"] == "build")]
    for number in builds:
        for row in rows:
            row.update(build="f1ee7000-0000-4000-8000-%012d" % number, start_ns=1790000000000000000 + number)
            yield json.dumps(row) + "\n"


def push(t, server, pusher):
    """Start a process that adds its builds."""
    mine = range(pusher, BUILDS, PUSHERS)
    lines = t.write("builds-%d.jsonl" % pusher, "".join(lines_of(mine)))
    return t.start([t.qprof, "history", "merge", "--store", server.address + "/fleet", lines],
                   env=environment(t))


def counted(server, table, what="count()"):
    return int(server.ask("SELECT %s FROM fleet.%s_local FINAL" % (what, table)))


def nothing_waits(t, server):
    done = history(t, "add", "--store", server.address + "/fleet")
    return done.returncode == 0 and "wait" not in done.stderr


def migrated(t, *store):
    done = history(t, "migrate", *store)
    return done.returncode == 0 and done


def cluster(t):
    """Two servers with our tables, made of the former version's. Some servers that began on a busy machine
    never took the statements of a cluster from ZooKeeper: then two others are tried."""
    for which in ("", "-again"):
        servers = clickhouse.two(t, which)
        address = servers[0].address + "/fleet"
        try:
            lab.wait_for("tables on both servers",
                         lambda: migrated(t, "--store", address, "--cluster", clickhouse.CLUSTER), 120)
            make_former(servers[0], "fleet", clickhouse.CLUSTER)
            done = lab.wait_for("tables of this version", lambda: migrated(t, "--store", address), 120)
        except AssertionError as e:
            failed = "%s\n%s" % (e, servers[0].said())
            for server in servers:
                server.kill()
            continue
        assert "of version 4 now" in done.stderr, done
        return servers
    raise AssertionError(failed)


@lab.alone("two servers, a ZooKeeper and eight writers")
def test_each_build_is_on_both_servers_once(t):
    servers = one, other = cluster(t)
    pushers = [push(t, servers[i % 2], i) for i in range(PUSHERS)]
    lab.wait_for("some builds", lambda: counted(one, "build") >= BUILDS // 10)
    assert all(pusher.poll() is None for pusher in pushers[:2]), "they are at their end already"
    other.kill()
    for pusher in pushers[:2]:
        pusher.kill()
        pusher.wait()
    for pusher in pushers[2:]:
        pusher.communicate(timeout=lab.TIMEOUT)
    other.start().ready()
    # Those that were killed, and those whose server was away.
    again = [push(t, one, i) for i in range(PUSHERS)]
    for pusher in again:
        pusher.communicate(timeout=lab.TIMEOUT)
        assert pusher.returncode == 0
    for server in servers:
        lab.wait_for("the spool to be empty", lambda: nothing_waits(t, server))
    rows = sum('"table": "query"' in line for line in lines_of(range(1)))
    for server in servers:
        lab.wait_for("all builds", lambda: counted(server, "build") == BUILDS)
        assert counted(server, "build", "uniqExact(build)") == BUILDS
        lab.wait_for("all rows", lambda: counted(server, "query") == BUILDS * rows)
        assert server.ask("SELECT DISTINCT count() FROM fleet.query FINAL GROUP BY build") == "%d\n" % rows
    works(history(t, "prune", "--keep", "1s", "--store", one.address + "/fleet"))
    for server in servers:
        for table in ("build", "query", "llvm"):
            lab.wait_for("all rows to be gone", lambda: counted(server, table) == 0)
    # A build that was removed can come again.
    works(history(t, "merge", "--store", one.address + "/fleet",
                  t.write("again.jsonl", "".join(lines_of(range(1))))))
    assert counted(one, "build") == 1 and counted(one, "query") == rows
    return "%d builds" % BUILDS


# ---- The same answers --------------------------------------------------------------------------

# Times of queries are rounded in a file.
QUESTIONS = [("trend", "--crate", "parser", "--metric", "count"), ("trend", "--crate", "codec"),
             ("trend", "--metric", "wall"), ("trend", "--query", "typeck", "--metric", "count"),
             ("trend", "--branch", "main", "--last", "20"), ("history", "list")]


def as_set(lines):
    return {json.dumps(json.loads(line), sort_keys=True) for line in lines.splitlines()}


def documented():
    """The SELECTs of docs/fleet.md: its indented paragraphs."""
    text = lab.read_text(os.path.join(lab.ROOT, "docs/fleet.md"))
    paragraphs = text.split("## For Grafana")[1].split("\n\n")
    return [paragraph for paragraph in paragraphs if paragraph.startswith("    SELECT ")]


def assert_same_answers(t, question, file, address):
    answers = [works(t.run_qprof(*question, "--json", "--store", store, env=environment(t))).stdout
               for store in (file, address)]
    assert answers[0] == answers[1], question


def test_a_server_answers_as_a_file(t):
    server = clickhouse.one(t)
    address, file = server.address + "/ci", t.path("history.db")
    lines = t.write("history.jsonl", synthetic())
    for _ in range(2):
        works(history(t, "migrate", "--store", address))
    for store in (address, file):
        assert "60 builds added" in works(history(t, "merge", "--store", store, lines)).stderr
    assert "0 builds added, 60 known" in works(history(t, "merge", "--store", address, lines)).stderr
    for question in QUESTIONS:
        assert_same_answers(t, question, file, address)
    trend = works(t.run_qprof("trend", "--llvm", "codec::main_part", "--json", "--store", address,
                              env=environment(t))).stdout
    assert json.loads(trend)["llvm"] == "codec::main_part" and len(json.loads(trend)["points"]) == 60, trend
    # Rows that are there twice until the server merges them.
    server.ask("SYSTEM STOP MERGES")
    server.ask("INSERT INTO build SELECT * FROM build WHERE cityHash64(toString(build)) % 3 != 0",
               database="ci")
    assert server.ask("SELECT count() > 60 FROM build", database="ci") == "1\n"
    for question in QUESTIONS + [("history", "list", "--last", "7")]:
        assert_same_answers(t, question, file, address)
    listed = [works(history(t, "list", "--store", store)).stdout for store in (file, address)]
    assert listed[0] == listed[1], listed
    server.ask("SYSTEM START MERGES")
    for question in documented():
        server.ask(question, database="ci")
    exported = works(history(t, "export", "--store", address)).stdout
    assert as_set(exported) == as_set(synthetic())
    works(history(t, "prune", "--keep", "1s", "--store", address))
    left = json.loads(works(history(t, "list", "--json", "--store", address)).stdout)
    assert not left["builds"], left
    return "%d questions" % len(QUESTIONS + documented())


def test_tables_of_the_former_version(t):
    """As of a server: estimates and budgets are forgotten in the background, all else stays."""
    server = clickhouse.one(t)
    address, file = server.address + "/ci", t.path("former.db")
    works(history(t, "migrate", "--store", address))
    lines = lab.read_text(os.path.join(lab.ROOT, "tests/fixtures/history/version-2.jsonl"))
    make_former(server, "ci")
    for table in ("build", "compile", "query", "item"):
        rows = [line for line in lines.splitlines() if json.loads(line)["table"] == table]
        server.ask("INSERT INTO %s FORMAT JSONEachRow\n%s" % (table, "\n".join(rows)),
                   database="ci", input_format_skip_unknown_fields=1)
    refused = history(t, "list", "--store", address)
    assert refused.returncode == 125 and "history migrate" in refused.stderr, refused
    assert "of version 4 now" in works(history(t, "migrate", "--store", address)).stderr
    lab.wait_for("the mutations", lambda: server.ask(
        "SELECT count() FROM system.mutations WHERE database = 'ci' AND NOT is_done") == "0\n")
    works(history(t, "merge", "--store", file, os.path.join(lab.ROOT, "tests/fixtures/history/version-2.jsonl")))
    exported = [works(history(t, "export", "--store", store)).stdout for store in (address, file)]
    assert as_set(exported[0]) == as_set(exported[1])
    assert "estimated" not in exported[0] and "budget" not in exported[0]
    assert "of version 4 already" in works(history(t, "migrate", "--store", address)).stderr


def test_passwords(t):
    server = clickhouse.one(t)
    server.ask("CREATE DATABASE ci")
    store = ("--store", server.address + "/ci")
    right = {"QPROF_CLICKHOUSE_USER": "pusher", "QPROF_CLICKHOUSE_PASSWORD": "a secret"}
    works(history(t, "migrate", *store, **right))
    works(history(t, "list", *store, **right))
    wrong = history(t, "list", *store, QPROF_CLICKHOUSE_USER="pusher", QPROF_CLICKHOUSE_PASSWORD="hunter2")
    assert wrong.returncode == 125 and "does not accept the user" in wrong.stderr, wrong
    assert "hunter2" not in wrong.stderr and wrong.stderr.count("\n") == 1, wrong
    given = history(t, "list", "--store", server.address.replace("//", "//pusher:hunter2@"))
    assert given.returncode == 125 and "hunter2" not in given.stderr, given
    # A later version made them.
    server.ask("INSERT INTO ci.qprof_schema VALUES (99, '')")
    newer = history(t, "list", *store)
    assert newer.returncode == 125 and "version 99" in newer.stderr, newer


# ---- Servers that answer wrongly ---------------------------------------------------------------


class Wrong(http.server.BaseHTTPRequestHandler):
    """Answers as the first part of the path says."""

    def log_message(self, *_):
        pass

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        how = self.path.split("/")[1]
        if how == "redirect":
            self.send_response(302)
            self.send_header("Location", "http://127.0.0.1:1/")
            self.send_header("Content-Length", "0")
        elif how == "down":
            self.send_response(503)
            self.send_header("Content-Length", "0")
        elif how == "hangs":
            self.server.ends.wait()
            return
        elif how == "proxy":
            self.send_response(500)
            self.send_header("Content-Length", "14")
        elif how in ("chunks", "error", "extensions", "trailers"):
            self.protocol_version = "HTTP/1.1"
            self.send_response(500 if how == "error" else 200)
            self.send_header("Transfer-Encoding", "chunked")
        elif how == "headers":
            self.send_without_end(b"HTTP/1.1 200 OK\r\n", b"X-More: %s\r\n" % (b"a" * 8000))
            return
        else:
            self.send_response(200)
            if how != "endless":
                self.send_header("Content-Length", "1000" if how == "half" else "14")
        self.end_headers()
        if how in ("half", "endless", "page", "proxy"):
            self.wfile.write(b"<html></html>\n")
        if how == "chunks":
            # Names, types, and rows.
            self.send_without_end(chunk(b"version\tcluster\nInt64\tString\n"),
                                  chunk(b"1\t%s\n" % (b"a" * 65536)))
        if how == "extensions":
            self.send_without_end(b"e;more=", b"a" * 65536)
        if how == "trailers":
            self.send_without_end(chunk(b"<html></html>\n") + b"0\r\n", b"X-More: %s\r\n" % (b"a" * 8000))
        if how == "error":
            self.send_without_end(chunk(b"<html>"), chunk(b"a" * 65536))

    def send_without_end(self, first, more):
        with contextlib.suppress(OSError):
            self.wfile.write(first)
            while not self.server.ends.is_set():
                self.wfile.write(more)
                self.server.sent += len(more)


def chunk(data):
    return b"%x\r\n%s\r\n" % (len(data), data)


@contextlib.contextmanager
def wrong_server(certificate=None):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Wrong)
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    server.ends, server.sent = threading.Event(), 0
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server
    finally:
        server.ends.set()
        server.shutdown()
        thread.join()
        server.server_close()


WRONG = {"redirect": "redirects to another address", "down": "status 503", "half": "broke off",
         "endless": "does not say where it ends", "page": "not ClickHouse's", "proxy": "status 500",
         "hangs": "does not answer in time", "chunks": "more than 512 MiB", "error": "status 500",
         "headers": "headers without end", "trailers": "its answer",
         "extensions": "first lines are without end"}
# What a server may send that is asked twice, with what its socket holds.
SENT_MAX = {how: 32 << 20 for how in ("error", "headers", "trailers", "extensions")}


def waits(t, done, n):
    """The build is in the spool, and one line says so."""
    files = [name for _, _, names in os.walk(t.path("state")) for name in names if name.endswith(".jsonl")]
    words = "1 build waits in " if n == 1 else "%d builds wait in " % n
    assert len(files) == n and words in done.stderr, (files, done)


def allow(t, seconds):
    """A server may take so long."""
    os.makedirs(t.path("config/qprof-bpf"), exist_ok=True)
    os.chmod(t.write("config/qprof-bpf/clickhouse", "timeout = %d\n" % seconds), 0o600)


def test_wrong_answers(t):
    lines = t.write("one.jsonl", "".join(lines_of(range(1))))
    with wrong_server() as server:
        for how, words in WRONG.items():
            store = ("--store", "http://127.0.0.1:%d/%s/ci" % (server.server_address[1], how))
            server.sent = 0
            allow(t, 1 if how == "hangs" else 300)
            asked = history(t, "list", *store)
            assert asked.returncode == 125 and words in asked.stderr, (how, asked)
            assert asked.stderr.count("\n") == 1, asked
            shutil.rmtree(t.path("state"), ignore_errors=True)
            added = history(t, "merge", *store, lines)
            assert added.returncode == 125 and words in added.stderr, (how, added)
            waits(t, added, 1)
            assert server.sent <= SENT_MAX.get(how, server.sent), (how, server.sent)
    away = history(t, "list", "--store", "http://127.0.0.1:%d/ci" % clickhouse.free_ports(1)[0])
    assert away.returncode == 125 and "connect" in away.stderr.lower(), away


def test_every_failure_has_a_line(t):
    """Also where an allocation fails, in a store that is a file and in one that is away."""
    if not shutil.which("cc"):
        raise lab.Skip("there is no C compiler")
    source = os.path.join(os.path.dirname(__file__), "programs", "fails.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", t.path("fails.so"), source], check=True)
    works(history(t, "merge", "--store", t.path("some.db"), t.write("one.jsonl", "".join(lines_of(range(3))))))
    away, failed = "http://127.0.0.1:%d/ci" % clickhouse.free_ports(1)[0], 0
    for command, store in (("export", away), ("export", t.path("some.db")), ("list", t.path("some.db"))):
        for n in range(1, 31):
            done = history(t, command, "--store", store, LD_PRELOAD=t.path("fails.so"), FAILS=str(n))
            assert done.returncode in (0, 125), (command, store, n, done)
            assert done.returncode == 0 or done.stderr.startswith("qprof-bpf: "), (command, store, n, done)
            failed += "memory" in done.stderr
    assert failed, "no allocation failed"
    return "%d of them" % failed


def test_a_certificate_is_verified(t):
    key, certificate = t.path("key.pem"), t.path("certificate.pem")
    made = subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
                           "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1",
                           "-keyout", key, "-out", certificate], capture_output=True, text=True)
    assert made.returncode == 0, made
    with open(key) as f, open(certificate, "a") as both:
        both.write(f.read())
    with wrong_server(certificate) as server:
        store = ("--store", "https://127.0.0.1:%d/page/ci" % server.server_address[1])
        refused = history(t, "list", *store)
        assert refused.returncode == 125 and "certificate is not trusted" in refused.stderr, refused
        trusted = history(t, "list", *store, CURL_CA_BUNDLE=certificate)
        assert "not ClickHouse's" in trusted.stderr, trusted
