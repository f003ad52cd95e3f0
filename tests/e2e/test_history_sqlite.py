# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A history in a SQLite file: many writers, killed ones, files that cannot be used."""

import contextlib
import os
import pwd
import re
import signal
import sqlite3
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "fixtures"))
import lab
import synthetic_history

NO_COMPILER = True

NOBODY = pwd.getpwnam("nobody")
WRITERS, EACH = 16, 4
FAILED = 125


def parts(t, n, each):
    """Files of JSON lines, each of `each` builds."""
    noise, files = synthetic_history.Noise(), []
    for part in range(n):
        rows = [row for i in range(each) for row in synthetic_history.build_rows(noise, part * each + i)]
        files.append(t.write("part%d.jsonl" % part, "".join(synthetic_history.json.dumps(r) + "\n" for r in rows)))
    return files


def history(t, *arguments):
    return t.run_qprof("history", *arguments)


def made(t, name="history.db", builds=2):
    store = t.path(name)
    for part in parts(t, 1, builds):
        done = history(t, "merge", "--store", store, part)
        assert done.returncode == 0, done
    return store


def rows_of_builds(t, store):
    """The number of rows of each build."""
    done, counts = history(t, "export", "--store", store), {}
    assert done.returncode == 0, done
    for line in done.stdout.splitlines():
        build = synthetic_history.json.loads(line)["build"]
        counts[build] = counts.get(build, 0) + 1
    return counts


def assert_sound(store):
    with sqlite3.connect(store) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def count(store):
    """The builds of a file that another process may be making."""
    with contextlib.closing(sqlite3.connect(store)) as db:
        try:
            return db.execute("SELECT count(*) FROM builds").fetchone()[0]
        except sqlite3.OperationalError:
            return 0


def refused(t, store, *words, command=("list",)):
    """One line, with the cause and the next step."""
    done = history(t, command[0], "--store", store, *command[1:])
    lines = done.stderr.splitlines()
    assert done.returncode == FAILED and not done.stdout and len(lines) == 1, done
    assert all(word in lines[0] for word in words), (words, lines)


def test_sixteen_writers_at_once(t):
    store, files = t.path("history.db"), parts(t, WRITERS, EACH)
    # Each twice: a build that is there already is not added again.
    writers = [t.start_qprof("history", "merge", "--store", store, f) for f in files * 2]
    for writer in writers:
        _, err = writer.communicate()
        assert writer.returncode == 0, err
    counts = rows_of_builds(t, store)
    assert len(counts) == WRITERS * EACH and len(set(counts.values())) == 1, counts
    assert_sound(store)
    assert os.stat(store).st_mode & 0o777 == 0o600
    return "%d builds" % len(counts)


def test_a_killed_writer_leaves_whole_builds(t):
    """A writer ends while it has half of a build: what it added before is there."""
    store, (whole,) = t.path("history.db"), parts(t, 1, 60)
    with open(whole, encoding="utf-8") as f:
        lines = f.readlines()
    size = len(lines) // 60
    assert all('"table": "build"' in line for line in lines[::size]), lines[::size]
    for n in 1, 7, 30:
        pipe = t.path("pipe%d" % n)
        os.mkfifo(pipe)
        writer = t.start_qprof("history", "merge", "--store", store, pipe)
        with open(pipe, "w", encoding="utf-8") as f:
            f.writelines(lines[: n * size + size // 2])
            f.flush()
            lab.wait_for("the builds", lambda n=n: os.path.exists(store) and count(store) == n)
            writer.send_signal(signal.SIGKILL)
            writer.communicate()
        counts = rows_of_builds(t, store)
        assert len(counts) == n and set(counts.values()) == {size}, counts
    done = history(t, "merge", "--store", store, whole)
    assert done.returncode == 0, done
    counts = rows_of_builds(t, store)
    assert len(counts) == 60 and set(counts.values()) == {size}, counts
    assert_sound(store)


def test_sqlite3_asks_as_we_do(t):
    """Views that need no function of ours have the rows of an export, and documented questions their answers."""
    store = made(t, builds=3)
    done = history(t, "export", "--store", store)
    lines = [synthetic_history.json.loads(line) for line in done.stdout.splitlines()]
    with contextlib.closing(sqlite3.connect(store)) as db:
        for table in "build", "compile", "query", "item", "llvm":
            expected = [row for row in lines if row["table"] == table]
            cursor = db.execute("SELECT * FROM \"%s\"" % table)
            names = [column[0] for column in cursor.description]
            rows = [dict(zip(names, row)) for row in cursor]
            assert len(rows) == len(expected) > 0, (table, len(rows))
            assert all({k: row[k] for k in names} in rows for row in expected), table
        documented = re.findall(r"^    sqlite> ((?:.|\n)+?;)$", lab.read_text(os.path.join(lab.ROOT, "docs/history.md")),
                                re.MULTILINE)
        assert len(documented) >= 3, documented
        for question in documented:
            assert db.execute(question.replace("syn", "codec")).fetchall(), question


def test_files_that_are_no_history_are_refused(t):
    newer, other, view = made(t), t.path("other.db"), made(t, "view.db")
    with sqlite3.connect(newer) as db:
        db.execute("PRAGMA user_version = 99")
    with sqlite3.connect(other) as db:
        db.execute("CREATE TABLE a(b)")
    with sqlite3.connect(view) as db:
        db.execute("CREATE TRIGGER more AFTER INSERT ON builds BEGIN DELETE FROM builds; END")
    text = t.write("text", "no database, but a text that is long enough to be one\n" * 100)
    refused(t, newer, "version 99", "newer")
    refused(t, newer, "version 99", command=("merge", made(t, "good.db")))
    refused(t, other, "another program")
    refused(t, view, "not those of a history")
    refused(t, text, "not a SQLite file")
    refused(t, t.mkdir("directory"), "is no file")
    refused(t, t.path("missing"), "there is no history", "history add")
    refused(t, t.write("empty", ""), "is empty", "history add")
    assert not os.path.exists(t.path("missing"))


def test_a_damaged_file_is_no_crash(t):
    good = open(made(t, builds=6), "rb").read()
    ends = set()
    for i in range(60):
        bad, at = bytearray(good), len(good) * i // 60 + 100
        bad[at:at + 40] = bytes((b * 7 + i) & 255 for b in bad[at:at + 40])
        with open(t.path("bad.db"), "wb") as f:
            f.write(bad)
        done = history(t, "export", "--store", t.path("bad.db"))
        assert done.returncode in (0, FAILED) and done.stderr.count("\n") == (done.returncode != 0), done
        ends.add(done.returncode)
    assert ends == {0, FAILED}, ends


def test_a_full_disk_is_named(t):
    big = parts(t, 1, 60)[0]
    with t.mounted("disk", "-t", "tmpfs", "-o", "size=320k", "none") as disk:
        refused_at = history(t, "merge", "--store", os.path.join(disk, "a.db"), big)
        assert refused_at.returncode == FAILED and "the disk is full" in refused_at.stderr, refused_at


def test_a_locked_file_is_named(t):
    store, files = made(t), parts(t, 2, 2)
    db = sqlite3.connect(store, isolation_level=None)
    db.execute("BEGIN IMMEDIATE")
    refused(t, store, "locked", "try again", command=("merge", files[1]))
    # Readers do not wait.
    assert len(rows_of_builds(t, store)) == 2
    db.close()


def test_an_invoker_without_rights(t):
    """Root's rights are gone before a file is opened, so a link leads only where its user may go."""
    env = t.qprof_env({"SUDO_UID": str(NOBODY.pw_uid), "SUDO_GID": str(NOBODY.pw_gid), "SUDO_USER": "nobody"})
    roots, part = made(t, "roots.db"), parts(t, 1, 2)[0]
    before = open(roots, "rb").read()
    os.chmod(t.dir, 0o755)
    os.chmod(part, 0o644)
    place = t.mkdir("theirs")
    os.chown(place, NOBODY.pw_uid, NOBODY.pw_gid)
    os.symlink(roots, os.path.join(place, "link.db"))
    for store in (os.path.join(place, "link.db"), t.path("roots.db"), t.path("new.db")):
        done = t.run_qprof("history", "merge", "--store", store, part, env=env)
        assert done.returncode == FAILED and done.stderr.count("\n") == 1, done
    assert open(roots, "rb").read() == before and not os.path.exists(t.path("new.db"))
    own = os.path.join(place, "own.db")
    done = t.run_qprof("history", "merge", "--store", own, part, env=env)
    assert done.returncode == 0 and os.stat(own).st_uid == NOBODY.pw_uid, done
    # Root reads it as it is, and does not write it.
    assert len(rows_of_builds(t, own)) == 2
    refused(t, own, "belongs to another user", command=("merge", part))


def test_pruning_makes_the_file_smaller(t):
    store = made(t, builds=60)
    before = os.stat(store).st_size
    done = history(t, "prune", "--keep", "1d", "--store", store)
    assert done.returncode == 0 and "60 builds removed" in done.stderr, done
    assert os.stat(store).st_size < before, before
    assert_sound(store)
    assert not rows_of_builds(t, store)
