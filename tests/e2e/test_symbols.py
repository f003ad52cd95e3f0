# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Libraries without a symbol table: their debug files."""

import json
import os
import shutil
import struct
import time

import mini_debug
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


def test_compressed_symbols(t):
    """As Fedora's packages have them: without the names that are exported anyway."""
    library = driver(t.rustc)
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


def test_the_line_that_installs_a_servers_debug_file(t):
    """plan prints it for a library without symbols; with the file, its plan has symbols."""
    compiler = fake_toolchain(t, strip_with_build_id)
    served = debug_file_of(t, driver(os.path.join(t.toolchain().sysroot, "bin/rustc")), "served", "debuginfo")
    said = t.run_qprof("plan", "--json", compiler).stderr
    line = said.partition("for all recordings: sudo ")[2]
    assert "/.build-id/%02x/" % BUILD_ID[0] in line, said
    t.mkdir("client")
    client = t.write("client/debuginfod-find", '#!/bin/sh\n[ "$*" = "debuginfo %s" ] && echo %s\n'
                     % (BUILD_ID.hex(), served))
    os.chmod(client, 0o755)
    t.mkdir("debug")
    script = 'PATH="%s:$PATH"; %s; sleep 2.1; exec "$@"' % (os.path.dirname(client), line.strip())
    done = t.plain(with_debug_root(t, ["sh", "-ec", script, "sh", t.qprof, "plan", "--json", compiler]),
                   env=t.qprof_env())
    assert done.status == 0, done
    assert json.loads(done.stdout)["symbols"] == "a debug file, found by the build-id", done
