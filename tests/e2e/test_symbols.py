# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Libraries without a symbol table: their debug files."""

import contextlib
import http.server
import json
import os
import shlex
import shutil
import struct
import threading
import time

import crates
import lab
import mini_debug
from lab import each
from slow_loader import driver
from test_targets import fake_toolchain

SHT_SYMTAB, SHT_NOTE = 2, 7
BUILD_ID = bytes(range(0x30, 0x44))
NOTE = struct.pack("<III4s", 4, len(BUILD_ID), 3, b"GNU\0") + BUILD_ID


def add_build_id(path, section):
    """Make section header number `section` that of a build-id. rustup's libraries have none."""
    with open(path, "r+b") as f:
        f.seek(40)
        (headers,) = struct.unpack("<Q", f.read(8))
        f.seek(0, os.SEEK_END)
        note = (f.tell() + 3) & ~3
        f.seek(note)
        f.write(NOTE)
        at = headers + 64 * section
        f.seek(at + 4)
        f.write(struct.pack("<I", SHT_NOTE))
        f.seek(at + 24)
        f.write(struct.pack("<QQIIQQ", note, len(NOTE), 0, 0, 4, 0))


def sections(path):
    """(type, name) of each section."""
    with open(path, "rb") as f:
        data = f.read(64)
        (headers,) = struct.unpack_from("<Q", data, 40)
        count, names = struct.unpack_from("<HH", data, 60)
        f.seek(headers)
        table = [struct.unpack("<IIQQQQIIQQ", f.read(64)) for _ in range(count)]
        f.seek(table[names][4])
        text = f.read(table[names][5])
    return [(row[1], text[row[0]:text.index(b"\0", row[0])].decode()) for row in table]


def strip_with_build_id(source, target):
    """The symbol table's header becomes the build-id's: GNU strip breaks BOLT's layout."""
    shutil.copy2(source, target)
    add_build_id(target, [kind for kind, _ in sections(target)].index(SHT_SYMTAB))


def debug_file_of(t, library, directory="debug/.build-id/%02x" % BUILD_ID[0],
                  name=BUILD_ID[1:].hex() + ".debug"):
    """The same library with symbols and this build-id; its .comment goes for it."""
    path = os.path.join(t.mkdir(directory), name)
    shutil.copy2(library, path)
    add_build_id(path, [name for _, name in sections(path)].index(".comment"))
    return path


def with_debug_root(t, argv):
    """A command for which the test's directory is /usr/lib/debug."""
    script = 'mkdir -p /usr/lib/debug && mount --bind "$1" /usr/lib/debug && shift && exec "$@"'
    return ["unshare", "--mount", "sh", "-ec", script, "sh", t.path("debug"), *argv]


def plan_of(t, *argv, root=False):
    argv = [t.qprof, "plan", "--json", *argv]
    done = t.plain(with_debug_root(t, argv) if root else argv, env=t.qprof_env())
    assert done.status == 0, done
    return json.loads(done.stdout)


def test_debug_file(t):
    """A stripped library with a debug file has the very plan of the library with symbols."""
    t.need_capture()
    compiler = fake_toolchain(t, strip_with_build_id)
    library = driver(os.path.join(t.toolchain().sysroot, "bin/rustc"))
    path = debug_file_of(t, library)
    time.sleep(2.1)  # a file that was changed just now is not used
    # A stored plan with recovered names does not stand for one with symbols.
    assert plan_of(t, compiler)["symbols"] == "the library's code"
    own, plan = plan_of(t, library), plan_of(t, compiler, root=True)
    assert own["symbols"] == "the library" and own["symbols_file"] is None, own["symbols"]
    assert plan["symbols"] == "a debug file, found by the build-id", plan["symbols"]
    assert plan["build_id"] == BUILD_ID.hex(), plan["build_id"]
    for key in ("file", "build_id", "symbols", "symbols_file", "llvm"):
        own.pop(key), plan.pop(key)
    assert plan == own
    # The plan was stored, so the debug file is not needed any more.
    doctor = json.loads(t.run_qprof("doctor", "--json", compiler).stdout)
    found = [c for c in doctor["toolchains"] if c["wanted"]]
    assert found[0]["symbols"] == "a debug file, found by the build-id", found
    assert os.path.exists(path)


@each("stable", "nightly")
def test_compressed_symbols(t, which):
    """As Fedora's packages have them: without the names that are exported anyway."""
    library = driver(t.toolchain(which).rustc)
    copy = t.path(os.path.basename(library))
    mini_debug.strip(library, copy)
    own, plan = plan_of(t, library), plan_of(t, copy)
    assert plan["symbols"] == "the library's .gnu_debugdata", plan["symbols"]
    for key in ("file", "build_id", "symbols", "symbols_file", "llvm"):
        own.pop(key), plan.pop(key)
    differing = {key for key in own if own[key] != plan[key]}
    assert not differing, differing
    return "%d sites" % len(own["sites"])


def test_debug_file_of_another_build(t):
    compiler = fake_toolchain(t, strip_with_build_id)
    path = debug_file_of(t, driver(os.path.join(t.toolchain().sysroot, "bin/rustc")))
    with open(path, "r+b") as f:
        f.seek(-1, os.SEEK_END)
        f.write(b"!")
    time.sleep(2.1)
    assert plan_of(t, compiler, root=True)["symbols"] == "the library's code"


# ---- debuginfod ----------------------------------------------------------------------------------


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append(self.path)
        path = self.server.files.get(self.path)
        if not path:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(os.path.getsize(path)))
        self.end_headers()
        with open(path, "rb") as f:
            shutil.copyfileobj(f, self.wfile)

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def debuginfod(files):
    """A server of these files, by their paths in its URL: (what was asked for, its URL)."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.files, server.asked = files, []
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.asked, "http://127.0.0.1:%d" % server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


NOBODY = 65534
REQUEST = "/buildid/%s/debuginfo" % BUILD_ID.hex()


def stripped_and_served(t):
    """A compiler without symbols, its library with them, and the files of a server."""
    compiler = fake_toolchain(t, strip_with_build_id)
    library = driver(os.path.join(t.toolchain().sysroot, "bin/rustc"))
    served = debug_file_of(t, library, "served", "debuginfo")
    time.sleep(2.1)  # the plan of a file that was changed just now is not kept
    return compiler, library, {REQUEST: served}


def asking_env(t, url):
    return t.qprof_env({"DEBUGINFOD_URLS": url, "DEBUGINFOD_CACHE_PATH": t.path("client"),
                        "XDG_CACHE_HOME": t.mkdir("cache")})


def plan_by_server(t, compiler, env, asked):
    done = t.run_qprof("plan", "--json", "--debuginfod", compiler, env=env)
    assert done.returncode == 0 and asked == [REQUEST], (done.stderr, asked)
    plan = json.loads(done.stdout)
    assert plan["symbols"] == "a debug file from debuginfod", plan["symbols"]
    return plan, done.stderr


def test_debuginfod(t):
    """The plan with a server's debug file is that of the library with symbols."""
    t.need_capture()
    compiler, library, files = stripped_and_served(t)
    with debuginfod(files) as (asked, url):
        plan, said = plan_by_server(t, compiler, asking_env(t, url), asked)
    own = plan_of(t, library)
    for key in ("file", "build_id", "symbols", "symbols_file", "llvm"):
        own.pop(key), plan.pop(key)
    assert plan == own
    if lab.invoker().pw_uid:
        assert "only your recordings without root" in said, said
    else:
        assert not said, said


def test_recordings_ask_no_server(t):
    """They use the plan that was made with a server's debug file."""
    t.need_capture()
    if lab.invoker().pw_uid:
        raise lab.Skip("recordings with root use the plan of a root login only")
    compiler, _, files = stripped_and_served(t)
    with debuginfod(files) as (asked, url):
        env = asking_env(t, url)
        plan_by_server(t, compiler, env, asked)

        def counts(rustc, **more):
            argv = [rustc, *crates.arguments(crates.SHORT, t.mkdir("out"))]
            run = t.capture(argv, ("-q", "-e", "query-provider"), **more)
            assert run.status == 0, run.stderr
            return t.counts(run.trace)

        # Recovered names give the same counts, so only the stored plan shows which one is used.
        stored = t.run_qprof("plan", "--json", compiler, env=env)
        assert json.loads(stored.stdout)["symbols"] == "a debug file from debuginfod", stored
        assert counts(compiler, env=env) == counts(t.rustc)
        assert asked == [REQUEST], asked


def test_debuginfod_for_a_library_of_another_user(t):
    """The plan is shown, not kept; the command that is printed lets all find the debug file."""
    if os.geteuid():
        raise lab.Skip("only root may become another user")
    compiler, _, files = stripped_and_served(t)
    home = t.mkdir("home")
    os.chown(home, NOBODY, NOBODY)
    as_nobody = ["setpriv", "--reuid=%d" % NOBODY, "--regid=%d" % NOBODY, "--clear-groups",
                 "env", "-u", "XDG_CACHE_HOME", "-u", "SUDO_UID", "-u", "SUDO_GID", "HOME=" + home]
    with debuginfod(files) as (asked, url):
        done = t.plain([*as_nobody, "DEBUGINFOD_URLS=" + url, t.qprof, "plan", "--debuginfod", compiler])
        assert done.status == 0 and asked == [REQUEST], (done, asked)
    said = done.stderr.decode()
    assert "the plan was not kept, as the library is not yours" in said, said
    assert not os.path.exists(os.path.join(home, ".cache/qprof-bpf")), said
    command = shlex.split(said.partition(": sudo ")[2])
    t.mkdir("debug")
    done = t.plain(with_debug_root(t, ["sh", "-ec", '%s; sleep 2.1; exec "$@"' % shlex.join(command), "sh",
                                       *as_nobody, t.qprof, "plan", "--json", compiler]))
    assert done.status == 0, done
    assert json.loads(done.stdout)["symbols"] == "a debug file, found by the build-id", done


def test_debuginfod_errors(t):
    """Nothing asks a server by itself. Errors of the option name their cause."""
    compiler = fake_toolchain(t, strip_with_build_id)

    def refused(words, *argv, env, before=()):
        done = t.plain([*before, t.qprof, "plan", *argv], env=env)
        assert done.status and words in done.stderr.decode(), (words, done)

    with debuginfod({}) as (asked, url):
        env = asking_env(t, url)
        t.plain([t.qprof, "plan", compiler], env=env)
        assert not asked, asked
        refused("no server in DEBUGINFOD_URLS has the symbols of", "--debuginfod", compiler, env=env)
        assert asked == [REQUEST], asked
        if not os.geteuid():
            without = 'mount --bind /dev/null "$(ldconfig -p | sed -n "/libdebuginfod.so.1 .*x86-64/s/.* //p")"'
            refused("cannot load libdebuginfod.so.1", "--debuginfod", compiler, env=env,
                    before=["unshare", "--mount", "sh", "-ec", without + ' && exec "$@"', "sh"])
    env["DEBUGINFOD_CACHE_PATH"] = t.path("other")
    refused("Connection refused", "--debuginfod", compiler, env=env)
    env.pop("DEBUGINFOD_URLS")
    refused("no server is named", "--debuginfod", compiler, env=env)
