# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A breakpoint is written only to a proven start of an instruction, in the file that was proven.

The tests find the breakpoints in the memory of a process that maps the file, and ask neither the
profiler nor its plan.
"""

import os
import shutil
import signal
import struct
import subprocess
import time
import zlib

import elf
import lab
from lab import Skip, each
from slow_loader import compile_in_time, planners
from test_follow import start_recording

ATTACKER = 54321
LOST = 122  # the mappers count as compilers, and their queries are lost
MARGIN = 3  # seconds; a plan is stored for files that were last changed two seconds ago

MAPPER = """
import mmap, os, sys
fd = os.open(sys.argv[1], os.O_RDONLY)
size = os.fstat(fd).st_size
m = mmap.mmap(fd, size, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_EXEC)
print("mapped", flush=True)
for line in sys.stdin:
    found = []
    for at in range(0, size, 1 << 16):
        here, there = m[at:at + (1 << 16)], os.pread(fd, 1 << 16, at)
        if here != there:
            found += [at + i for i in range(len(here)) if here[i] != there[i]]
    print(*found, flush=True)
"""


class Mapper:
    """A process that maps a file like a loader, and prints the offsets of its breakpoints."""

    def __init__(self, t, path, **kwargs):
        # Our own python may be in a home that is closed to others.
        python = shutil.which("python3", path="/usr/bin:/bin")
        if not python:
            raise Skip("no python3 in /usr/bin")
        self.process = t.start([python, "-c", MAPPER, path], text=True,
                               stdin=subprocess.PIPE, **kwargs)
        assert self.process.stdout.readline() == "mapped\n", self.process.communicate()

    def breakpoints(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return {int(word) for word in self.process.stdout.readline().split()}

    def end(self):
        self.process.kill()


def as_attacker():
    return dict(user=ATTACKER, group=ATTACKER, extra_groups=[])


def attackers(t, name):
    """A directory of the attacker's, within their reach."""
    os.chmod(t.dir, 0o755)
    path = t.mkdir(name)
    os.chown(path, ATTACKER, ATTACKER)
    return path


def library_of(t):
    lib = os.path.join(t.toolchain().sysroot, "lib")
    return os.path.join(lib, next(n for n in os.listdir(lib) if n.startswith("librustc_driver")))


def attackers_copy(t, name="librustc_driver-copy.so", directory="theirs"):
    path = os.path.join(attackers(t, directory), name)
    shutil.copy(library_of(t), path)
    os.chown(path, ATTACKER, ATTACKER)
    return path


def mapped_code(pid, library):
    """(address, size, offset) of the executable mappings of a file; none if the process is gone."""
    try:
        with open("/proc/%d/maps" % pid) as f:
            lines = f.readlines()
    except (FileNotFoundError, ProcessLookupError):
        return
    for line in lines:
        fields = line.split(None, 5)
        if len(fields) == 6 and fields[5].strip() == library and "x" in fields[1]:
            start, end = (int(word, 16) for word in fields[0].split("-"))
            yield start, end - start, int(fields[2], 16)


def breakpoints_of(pid, library):
    """Offsets in the library at which a process's memory differs from the file."""
    found = set()
    with open("/proc/%d/mem" % pid, "rb", 0) as mem, open(library, "rb") as f:
        for start, size, offset in mapped_code(pid, library):
            for at in range(0, size, 1 << 16):
                length = min(1 << 16, size - at)
                here = os.pread(mem.fileno(), length, start + at)
                there = os.pread(f.fileno(), length, offset + at)
                if here != there:
                    found |= {offset + at + i for i in range(len(there)) if here[i] != there[i]}
    return found


def record_waiting_compiler(t, *options):
    """A recording of a rustc that waits for its source; (profiler, pid of the compiler)."""
    library = library_of(t)
    profiler = t.start_qprof("-q", *options, "--force", "-o", t.path("w.qpt"), "--", t.rustc, "-",
                             "--crate-type=lib", "--emit=metadata", "-o", t.path("w.rmeta"),
                             stdin=subprocess.PIPE)

    def compiler():
        assert profiler.poll() is None, profiler.communicate()
        todo = [profiler.pid]
        while todo:
            pid = todo.pop()
            if pid != profiler.pid and any(mapped_code(pid, library)):
                return pid
            todo += lab.children(pid)
        return None

    pid = lab.wait_for("the compiler's library", compiler)
    t.attached(profiler)
    return profiler, pid


@each((), ("--callers",), ("-e", "query-cache-hit"), ("-e", "default"))
def test_every_breakpoint_is_on_an_instruction(t, *options):
    """Finds all breakpoints, and decodes from the functions' starts with Capstone."""
    t.need_capture()
    library = os.path.realpath(library_of(t))
    profiler, pid = record_waiting_compiler(t, *options)
    found = breakpoints_of(pid, library)
    profiler.communicate(b"pub fn f() {}", timeout=lab.TIMEOUT)
    assert profiler.returncode == 0
    assert len(found) > 20, len(found)
    bad = elf.not_instructions(library, found)
    assert not bad, "%d of %d, the first at %#x" % (len(bad), len(found), bad[0])
    return "%d breakpoints" % len(found)


# ---- Forged plans ------------------------------------------------------------------------------


SITE = struct.Struct("<QQIIIBBBiiiBiBB")
PAYLOAD = 28  # after magic, version, revision, checksum and length


def genuine_plan(t, library):
    """(file name, bytes) of a plan as qprof-bpf stores it."""
    cache = t.mkdir("genuine")
    os.chown(cache, 0, 0)
    t.text("plan", library, env={**os.environ, "XDG_CACHE_HOME": cache})
    # Beside it there is what is known of LLVM's library.
    kept = [os.path.join(at, name) for at, _, names in os.walk(cache) for name in names
            if name.startswith("plan-")]
    assert len(kept) == 1, kept
    with open(kept[0], "rb") as f:
        return os.path.basename(kept[0]), f.read()


def are_sites(plan, n, at):
    """Whether the plan has the records of n sites there: they are in the order of their roles."""
    before = 1
    for i in range(n):
        record = SITE.unpack_from(plan, at + i * SITE.size)
        if not (record[0] and record[1] and before <= record[5] < 16):
            return False
        before = record[5]
    return True


def sites_of(plan):
    """(number of sites, their offset in the plan)."""
    for at in range(PAYLOAD + 4, len(plan) - SITE.size):
        n = struct.unpack_from("<I", plan, at - 4)[0]
        if 100 < n <= (len(plan) - at) // SITE.size and are_sites(plan, n, at):
            return n, at
    raise AssertionError("no sites")


def forged_plan(plan, elf_file, addr):
    """A plan with all sites at one address of another file, with that file's checksum of the code."""
    plan = bytearray(plan)
    n, sites = sites_of(plan)
    offset = elf_file.offset_of(addr)
    for i in range(n):
        struct.pack_into("<QQ", plan, sites + i * SITE.size, addr, offset)
    # Behind the sites is where names are: first the address of the site at which they are read.
    struct.pack_into("<Q", plan, sites + n * SITE.size, addr)
    at = PAYLOAD + 4 + struct.unpack_from("<I", plan, PAYLOAD)[0]
    for _ in range(3):
        length = struct.unpack_from("<I", plan, at)[0]
        at += 4 + (0 if length == 0xffffffff else length)
    struct.pack_into("<I", plan, at + 8, zlib.crc32(elf_file.data[offset:offset + 8] * n))
    struct.pack_into("<I", plan, 16, zlib.crc32(plan[PAYLOAD:]))
    return bytes(plan)


def name_for(name, path):
    """The file name of a plan of this file, derived from that of another plan."""
    st = os.stat(path)
    return "plan-%x-%x-%x-%x-%x.%s" % (st.st_dev, st.st_ino, st.st_size, st.st_mtime_ns,
                                       st.st_ctime_ns, name.rpartition(".")[2])


def set_trap(t, uid):
    """A rustc that names a victim as its library, and a stored plan of it; (victim, PATH, cache)."""
    victim = t.path("victim")
    shutil.copy("/bin/sleep", victim)
    os.chown(victim, 0, 0)
    sysroot = t.mkdir("trap")
    os.makedirs(os.path.join(sysroot, "lib"))
    os.symlink(victim, os.path.join(sysroot, "lib/librustc_driver-x.so"))
    script = os.path.join(sysroot, "rustc")
    with open(script, "w") as f:
        f.write("#!/bin/sh\necho '%s'\n" % sysroot)
    os.chmod(script, 0o755)
    name, plan = genuine_plan(t, library_of(t))
    image = elf.Elf(victim)
    addr = image.loads[0][0] + 0x101
    cache = t.mkdir("cache/qprof-bpf")
    with open(os.path.join(cache, name_for(name, victim)), "wb") as f:
        f.write(forged_plan(plan, image, addr))
    for at, directories, names in os.walk(os.path.dirname(cache)):
        for entry in [at] + [os.path.join(at, n) for n in names]:
            os.chown(entry, uid, uid)
    time.sleep(MARGIN)
    return victim, sysroot + ":" + os.environ.get("PATH", "/usr/bin:/bin"), os.path.dirname(cache)


def watch_while(mapper, process):
    """All breakpoints that a mapper sees until a process ends."""
    seen = set()
    while process.poll() is None:
        seen |= mapper.breakpoints()
        time.sleep(0.02)
    return seen


def test_a_forged_plan_under_sudo_is_not_believed(t):
    t.need_capture()
    victim, path, cache = set_trap(t, ATTACKER)
    os.chmod(t.dir, 0o777)
    mapper = Mapper(t, victim)
    env = {"SUDO_UID": str(ATTACKER), "SUDO_GID": str(ATTACKER), "PATH": path, "HOME": cache,
           "XDG_CACHE_HOME": cache}
    profiler = t.start_qprof("-q", "-o", t.path("a.qpt"), "--", victim, "1", env=env)
    assert not watch_while(mapper, profiler)
    said = profiler.stderr.read().decode()
    mapper.end()
    assert "is no library of a compiler" in said, said


def test_a_forged_plan_with_capabilities_is_not_believed(t):
    t.need_capture()
    from test_without_root import BOTH, User
    with User(t, BOTH) as user:
        victim, path, cache = set_trap(t, user.pw.pw_uid)
        mapper = Mapper(t, victim)
        arguments = user.arguments(PATH=path, XDG_CACHE_HOME=cache)
        profiler = t.start([user.qprof, "-q", "-o", "b.qpt", "--", victim, "1"], **arguments)
        assert not watch_while(mapper, profiler)
        mapper.end()


def test_a_forged_plan_of_the_users_own_file_is_proven(t):
    """A library of the user's, with a plan in the user's own store that moves all sites by one."""
    t.need_capture()
    from test_without_root import BOTH, User
    with User(t, BOTH) as user:
        directory = t.mkdir("own/lib")
        library = os.path.join(directory, "librustc_driver-own.so")
        shutil.copy(library_of(t), library)
        os.chown(library, user.pw.pw_uid, user.pw.pw_gid)
        time.sleep(MARGIN)
        first = subprocess.run([user.qprof, "plan", library], timeout=lab.TIMEOUT,
                               **user.arguments())
        cache = os.path.join(user.home, ".cache/qprof-bpf")
        names = [n for n in os.listdir(cache) if n.startswith("plan-")]
        assert first.returncode == 0 and names == [name_for(names[0], library)], first.stderr
        with open(os.path.join(cache, names[0]), "r+b") as f:
            plan, image = f.read(), elf.Elf(library)
            addr = SITE.unpack_from(plan, sites_of(plan)[1])[0]
            f.seek(0)
            f.write(forged_plan(plan, image, addr + 1))
        again = subprocess.run([user.qprof, "plan", "-v", library], timeout=lab.TIMEOUT,
                               **user.arguments())
        assert "does not fit" in again.stderr and again.returncode == 0, again.stderr
        last = subprocess.run([user.qprof, "plan", library], timeout=lab.TIMEOUT,
                              **user.arguments())
        assert last.stdout == first.stdout and not last.stderr, last


def test_a_rustc_that_lies_leads_to_no_compiler(t):
    """The named library is a program: planning it fails with an error."""
    t.need_capture()
    victim, path, _ = set_trap(t, ATTACKER)
    done = t.run_qprof("plan", os.path.join(t.dir, "trap/lib/librustc_driver-x.so"))
    assert done.returncode != 0 and not done.stdout, done
    assert "is no library of a compiler" in done.stderr, done.stderr


# ---- Files that change -------------------------------------------------------------------------


@lab.alone("it records, and holds, the compilers of all tests")
def test_a_path_that_is_swapped_does_not_matter(t):
    """Another file takes a library's name, during planning and just before attaching."""
    t.need_capture()
    victim = t.path("victim")
    size = os.path.getsize(library_of(t))
    with open(victim, "wb") as f:
        f.write(b"\x90" * size)  # nop takes any breakpoint
    victims = Mapper(t, victim)
    profiler = t.start_qprof("-q", "-o", t.path("s.qpt"), "--system",
                             env={"XDG_CACHE_HOME": t.cache()})
    lab.wait_for("the recording", lambda: lab.begun(profiler))
    attached = 0
    for i in range(3):
        library = attackers_copy(t, "librustc_driver-%d.so" % i)
        link = library + ".link"
        os.symlink(victim, link)
        before = lab.links_of(profiler)
        mapper = Mapper(t, library, **as_attacker())
        time.sleep(0.1 * i)
        os.rename(link, library)
        deadline = time.monotonic() + 5
        while time.monotonic() < deadline and lab.links_of(profiler) == before:
            assert not victims.breakpoints()
        time.sleep(0.2)
        assert not victims.breakpoints()
        mapper.end()
        attached += lab.links_of(profiler) != before
        assert profiler.poll() is None, profiler.communicate()
    victims.end()
    status, _, err = t.interrupt(profiler)
    lab.check_end(status, err)
    assert attached, "no library was attached: nothing was tested"
    return "%d of 3 were attached all the same" % attached


def forge_crc(data, offset, size, place, wanted):
    """Write 4 bytes at `place` that give a range the wanted CRC-32."""
    def crc(patch):
        struct.pack_into("<I", data, place, patch)
        return zlib.crc32(memoryview(data)[offset:offset + size])

    base = crc(0)
    rows = [(crc(1 << bit) ^ base, 1 << bit) for bit in range(32)]
    target, patch = wanted ^ base, 0
    for bit in reversed(range(32)):
        pivot = next((row for row in rows if row[0] >> bit & 1), None)
        assert pivot
        rows = [(r[0] ^ pivot[0], r[1] ^ pivot[1]) if r[0] >> bit & 1 else r
                for r in rows if r is not pivot]
        if target >> bit & 1:
            target, patch = target ^ pivot[0], patch ^ pivot[1]
    assert crc(patch) == wanted


def make_twin(source, path):
    """A copy with the same code and checksum of symbols, but symbols of wrappers moved by one."""
    image = elf.Elf(source)
    data, place, moved = bytearray(image.data), None, 0
    offset, size, _ = image.symtab()
    before = zlib.crc32(image.data[offset:offset + size])
    for at, name, kind, value in image.symbols():
        if kind == elf.STT_FUNC and "execute_query_non_incr" in name and moved < 37:
            struct.pack_into("<Q", data, at + 8, value + 1)
            moved += 1
        elif kind == 4 and place is None:  # the symbol of a source file's name
            place = at + 8
    assert moved == 37 and place, moved
    forge_crc(data, offset, size, place, before)
    with open(path, "wb") as f:
        f.write(data)
    os.chown(path, ATTACKER, ATTACKER)


@lab.alone("it records, and holds, the compilers of all tests")
def test_a_twin_with_moved_symbols_harms_nobody(t):
    """Processes that map the twin, or the library that it resembles, are unharmed in later runs."""
    t.need_capture()
    library = attackers_copy(t)
    twin = os.path.join(attackers(t, "twins"), "librustc_driver-twin.so")
    make_twin(library, twin)
    time.sleep(MARGIN)
    twins, ours = Mapper(t, twin, **as_attacker()), Mapper(t, library)
    for path in (twin, library):
        profiler = start_recording(t, "--force", "--system")
        mapper = Mapper(t, path, **as_attacker())
        lab.wait_for("a look at it", lambda: "process %d " % mapper.process.pid in profiler.said())
        lab.wait_for("the end of planning", lambda: not planners(profiler))
        found = ours.breakpoints() if path == twin else lab.wait_for("probes", ours.breakpoints)
        bad = elf.not_instructions(library, found) if found else []
        bad += elf.not_instructions(library, twins.breakpoints())
        assert not bad, "%d, the first at %#x" % (len(bad), bad[0])
        mapper.end()
        t.interrupt(profiler)
    twins.end()
    ours.end()


@each(("truncate",), ("overwrite",))
def test_a_library_cut_while_callers_are_recorded(t, how):
    """The exit status is the command's, not that of a SIGBUS in the recorder."""
    rustc = t.own_toolchain("cut")
    library = os.path.join(t.path("cut"), "lib", os.path.basename(library_of(t)))
    source = t.write("a.rs", "pub fn f() {}")
    cut = ": >'%s'" if how == "truncate" else "cat /bin/sleep >'%s'"
    run = t.capture(["sh", "-c", "'%s' --crate-type=lib --emit=metadata -o '%s' '%s'; %s; exit 3"
                     % (rustc, t.path("a.rmeta"), source, cut % library)],
                    options=("-q", "--callers"))
    assert run.status == 3, run
    t.report(run.trace)


@lab.alone("it records, and holds, the compilers of all tests")
def test_a_library_cut_under_system_does_not_end_the_recording(t):
    """Any user may truncate their own library at any time: while it is planned, and later."""
    t.need_capture()
    profiler = start_recording(t, "--callers", "--system")
    for i, seconds in enumerate((0, 0.2, 0.5, 3)):
        library = attackers_copy(t, "librustc_driver-%d.so" % i)
        mapper = Mapper(t, library, **as_attacker())
        time.sleep(seconds)
        os.truncate(library, 0)
        time.sleep(0.5)
        assert profiler.poll() is None, profiler.communicate()
        mapper.process.kill()
    source = t.write("a.rs", "pub fn f() {}")
    command = [t.rustc, "--crate-type=lib", "--emit=metadata", "-o", t.path("a.rmeta"), source]
    compile_in_time(t, profiler, command)
    profiler.send_signal(signal.SIGINT)
    lab.check_end(profiler.wait(timeout=lab.TIMEOUT), profiler.said())
    assert t.report(t.path("trace.qpt"))["queries"]


# ---- Imported plans ----------------------------------------------------------------------------


def importing(t, exported, library, cache):
    return t.run_qprof("plan", "--import", exported, library,
                       env={**os.environ, "XDG_CACHE_HOME": cache})


def test_an_imported_plan_serves_recordings(t):
    """Written by one store, imported into another: nothing of the library is planned again."""
    t.need_capture()
    library, exported, cache = library_of(t), t.path("rustc.plan"), t.mkdir("imported")
    made = t.run_qprof("plan", "--output", exported, library,
                       env={**os.environ, "XDG_CACHE_HOME": t.mkdir("made")})
    assert made.returncode == 0, made.stderr
    done = importing(t, exported, library, cache)
    assert done.returncode == 0 and done.stdout == made.stdout, done.stderr
    kept = sorted(n.partition("-")[0] for n in os.listdir(os.path.join(cache, "qprof-bpf")))
    # The code of LLVM's library, too.
    assert kept == ["code", "code", "plan"], kept
    with open(t.path("a.rs"), "w") as f:
        f.write("pub fn a() {}\n")
    recorded = t.run_qprof("-v", "-o", t.path("a.qpt"), "--", "rustc", "--crate-type=lib",
                           "--emit=metadata", "-o", t.path("a.rmeta"), t.path("a.rs"),
                           env={**os.environ, "XDG_CACHE_HOME": cache})
    assert recorded.returncode == 0, recorded.stderr
    assert "for the first time" not in recorded.stderr, recorded.stderr


def test_a_plan_is_imported_for_its_own_library_only(t):
    """Damaged, cut off, of another user, of a library with one more byte: nothing is kept."""
    t.need_capture()
    library, exported, cache = t.path("librustc_driver-own.so"), t.path("rustc.plan"), t.mkdir("c")
    shutil.copy(library_of(t), library)
    made = t.run_qprof("plan", "--no-cache", "--output", exported, library)
    assert made.returncode == 0, made.stderr
    with open(exported, "rb") as f:
        good = f.read()

    def refused(why):
        done = importing(t, exported, library, cache)
        assert done.returncode and why in done.stderr, (why, done.stderr)
        assert not os.path.exists(os.path.join(cache, "qprof-bpf"))

    for bad in (good[:100000], good[:-1], good[:500] + b"x" + good[501:], b""):
        with open(exported, "wb") as f:
            f.write(bad)
        refused("damaged or cut off")
    with open(exported, "wb") as f:
        f.write(good)
    os.chown(exported, ATTACKER, ATTACKER)
    refused("other users may write to it")
    os.chown(exported, os.getuid(), -1)
    with open(library, "ab") as f:
        f.write(b"\0")
    time.sleep(MARGIN)
    refused("the plan of another library")
