# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The rights in force: under sudo, with file capabilities, and in the recorded command."""

import grp
import json
import os
import pty
import shutil
import subprocess

import crates
import lab
from lab import Skip, each, full_pipe, wait_for
from test_top import Screen
from test_without_root import BOTH, User, own_toolchain

FAILURE = 125
NAMELESS = 54321  # no user of the database
NOBODY = lab.pwd.getpwnam("nobody")
CAPABILITIES = ("CapInh", "CapPrm", "CapEff", "CapAmb")
GOLDEN = os.path.join(lab.ROOT, "tests/golden/good-plain.qpt")
# A recording keeps DAC_READ_SEARCH, KILL, SETGID, SETUID, SYS_PTRACE, SYS_RESOURCE, PERFMON,
# BPF, CHECKPOINT_RESTORE.
KEPT = sum(1 << cap for cap in (2, 5, 6, 7, 19, 24, 38, 39, 40))
SYS_ADMIN = 1 << 21
# Its child that reads other users' files keeps DAC_READ_SEARCH, SYS_PTRACE, CHECKPOINT_RESTORE.
LOOKS = sum(1 << cap for cap in (2, 19, 40))
PERFMON = 1 << 38


def need_root():
    if os.geteuid() != 0:
        raise Skip("needs root (sudo make check)")


def status_of(pid):
    """/proc/PID/status as a dictionary; {} if the process is gone."""
    try:
        with open("/proc/%d/status" % pid) as f:
            lines = f.read().splitlines()
    except OSError:
        return {}
    return {name: value.strip() for name, value in (line.split(":", 1) for line in lines)}


def sudo(t, uid=NAMELESS, gid=NAMELESS, groups=(0, 4)):
    """Arguments for subprocess to run as under sudo, with groups of root's."""
    env = {k: v for k, v in t.qprof_env().items() if not k.startswith(("SUDO_", "XDG_"))}
    env.update(SUDO_UID=str(uid), SUDO_GID=str(gid), HOME="/root")
    return dict(user=0, group=0, extra_groups=list(groups), env=env, cwd=t.dir,
                stdin=subprocess.DEVNULL)


def run(t, *arguments, **kwargs):
    return subprocess.run([t.qprof, *arguments], capture_output=True, text=True,
                          timeout=lab.TIMEOUT, **{**sudo(t), **kwargs})


# ---- Output under sudo ---------------------------------------------------------------------------


@each("replace", "create")
def test_a_group_of_roots_writes_nothing(t, how):
    """Root's group may write here; the invoker is not in it."""
    t.need_capture()
    os.mkdir(t.path("shared"))
    os.chmod(t.path("shared"), 0o775)
    with open(t.path("shared/precious"), "w") as f:
        f.write("precious")
    os.chmod(t.path("shared/precious"), 0o664)
    before = os.stat(t.path("shared/precious"))
    name = {"replace": "precious", "create": "new"}[how]
    done = run(t, "-q", "--force", "-o", "shared/" + name, "--", "true")
    assert done.returncode == FAILURE and "Permission denied" in done.stderr, done
    after = os.stat(t.path("shared/precious"))
    assert (after.st_ino, after.st_uid, after.st_size) == (before.st_ino, 0, 8), after
    assert os.listdir(t.path("shared")) == ["precious"]


def test_a_group_of_the_invokers_writes(t):
    """A group of the invoker's in the database, as a login has it, too."""
    t.need_capture()
    members = [(g.gr_gid, lab.pwd.getpwnam(name)) for g in grp.getgrall()
               for name in g.gr_mem if name != "root"]
    if not members:
        raise lab.Skip("no user here has a second group")
    gid, user = members[0]
    os.mkdir(t.path("shared"))
    os.chown(t.path("shared"), 0, gid)
    os.chmod(t.path("shared"), 0o770)
    done = run(t, "-q", "-o", t.path("shared/a.qpt"), "--", "true",
               **sudo(t, user.pw_uid, user.pw_gid))
    assert done.returncode == 0, done
    assert os.stat(t.path("shared/a.qpt")).st_uid == user.pw_uid


@each((NAMELESS, NAMELESS), (NOBODY.pw_uid, NOBODY.pw_gid))
def test_the_command_is_the_invoker(t, uid, gid):
    """The command has the invoker's ids and groups and no capability; its bounding set is unchanged."""
    t.need_capture()
    os.chmod(t.dir, 0o777)
    done = run(t, "-q", "-o", "a.qpt", "--", "cat", "/proc/self/status", **sudo(t, uid, gid))
    assert done.returncode == 0, done
    found = {k: v.split() for k, v in (line.split(":", 1) for line in done.stdout.splitlines())}
    try:
        groups = os.getgrouplist(lab.pwd.getpwuid(uid).pw_name, gid)
    except KeyError:
        groups = [gid]
    assert found["Uid"] == [str(uid)] * 4 and found["Gid"] == [str(gid)] * 4, found
    assert sorted(map(int, found["Groups"])) == sorted(groups), found
    assert {int(found[name][0], 16) for name in CAPABILITIES} == {0}, found
    assert found["CapBnd"] == [status_of(os.getpid())["CapBnd"]], found
    assert found["NoNewPrivs"] == ["0"], found


# ---- Commands that only read ---------------------------------------------------------------------

READERS = {
    "report": ["report", "FILE"],
    "dump": ["dump", "FILE"],
    "verify": ["verify", "FILE"],
    "diff": ["diff", "FILE", "OTHER"],
    "export": ["export", "-f", "folded", "-o", "-", "FILE"],
    "import": ["import", "-o", "out.qpt", "FILE"],
    "plan": ["plan", "FILE"],
    "why": ["why", "typeck", "FILE"],
    "dump schema": ["dump", "--schema"],
    "diff schema": ["diff", "--schema"],
    "help": ["help", "--man", "record"],
    "record help": ["record", "--help"],
    "version": ["version"],
    "record version": ["record", "--version"],
}


def words(t, command, path):
    """The command line of a reader of this file."""
    if not os.path.exists(t.path("other.qpt")):
        shutil.copy(GOLDEN, t.path("other.qpt"))
    places = {"FILE": path, "OTHER": t.path("other.qpt")}
    return [places.get(word, word) for word in READERS[command]]


def has_none(status):
    return (status and {int(status[name], 16) for name in CAPABILITIES} == {0}
            and status["NoNewPrivs"] == "1")


def blocked(t, program, command, **how):
    """Start a reader that blocks on a FIFO or a full pipe; its status once it has dropped its
    rights."""
    os.mkfifo(t.path("fifo"), 0o666)
    os.chmod(t.path("fifo"), 0o666)
    argv = [program] + words(t, command, t.path("fifo"))
    end, other = full_pipe()
    process = t.start(argv, **{**how, "stdout": end, "stderr": end})
    try:
        last = [{}]

        def dropped():
            last[0] = status_of(process.pid) or last[0]
            return has_none(last[0])

        try:
            wait_for("rights to be dropped", dropped, 60)
        except AssertionError:
            raise AssertionError("it waits with %s" % {k: v for k, v in last[0].items() if k in (
                *CAPABILITIES, "Uid", "Groups", "NoNewPrivs", "State")}) from None
        # The kernel reads the credentials for the first lines and for the last ones apart.
        return status_of(process.pid)
    finally:
        process.kill()
        process.wait()
        os.close(end)
        os.close(other)


@lab.no_compiler
@each(*READERS)
def test_readers_drop_capabilities(t, command):
    """Readers drop capabilities before they open a file."""
    need_root()
    qprof = t.path("qprof-bpf")
    shutil.copy(t.qprof, qprof)
    os.chmod(qprof, 0o755)
    done = subprocess.run(["setcap", BOTH + "+ep", qprof], capture_output=True, text=True)
    if done.returncode:
        raise Skip("cannot set file capabilities: " + done.stderr.strip())
    os.chmod(t.dir, 0o777)
    how = dict(user=NOBODY.pw_uid, group=NOBODY.pw_gid, extra_groups=[])
    status = blocked(t, qprof, command, **how)
    assert status["Uid"].split() == [str(NOBODY.pw_uid)] * 4, status


@lab.no_compiler
@each(*READERS)
def test_readers_become_the_invoker(t, command):
    need_root()
    os.chmod(t.dir, 0o777)
    status = blocked(t, t.qprof, command, **sudo(t))
    assert status["Uid"].split() == [str(NAMELESS)] * 4, status
    assert status["Gid"].split() == [str(NAMELESS)] * 4, status
    assert status["Groups"].split() == [str(NAMELESS)], status
    assert int(status["CapBnd"], 16) == 0, status


def hidden(t):
    """A directory with a trace that only root can look into."""
    os.mkdir(t.path("hidden"), 0o700)
    shutil.copy(GOLDEN, t.path("hidden/there"))


@lab.no_compiler
@each("report", "dump", "verify", "diff", "export", "import", "plan")
def test_a_file_that_only_root_sees_is_not_revealed(t, command):
    need_root()
    hidden(t)
    os.chmod(t.dir, 0o777)
    seen = []
    for name in ("there", "missing"):
        path = t.path("hidden", name)
        done = run(t, *words(t, command, path))
        seen.append((done.returncode, done.stdout, done.stderr.replace(name, "NAME")))
    assert seen[0] == seen[1] and seen[0][0] != 0, seen
    if command in ("report", "export"):
        assert "sudo does not help" in seen[0][2], seen


def test_doctor_does_not_reveal_it(t):
    t.need_capture()
    hidden(t)
    seen = []
    for name in ("there", "missing"):
        done = run(t, "doctor", "--json", t.path("hidden", name))
        assert '"toolchains"' in done.stdout, done
        seen.append([f["says"].replace(name, "NAME")
                     for f in json.loads(done.stdout)["findings"]
                     if f["section"] == "toolchains"])
    assert seen[0] == seen[1] and seen[0], seen


def test_a_root_login_reads_everything(t):
    need_root()
    hidden(t)
    os.chown(t.path("hidden"), NAMELESS, NAMELESS)
    env = {k: v for k, v in os.environ.items() if not k.startswith("SUDO_")}
    done = subprocess.run([t.qprof, "verify", t.path("hidden/there")], env=env,
                          capture_output=True, text=True, timeout=lab.TIMEOUT)
    assert done.returncode == 0, done


def test_plan_finds_the_invokers_rustc(t):
    """plan uses the invoker's PATH, not root's. The plan of a library that is not theirs is not
    stored in their cache."""
    t.need_capture()
    with User(t, BOTH) as user:
        how = sudo(t, NOBODY.pw_uid, NOBODY.pw_gid)
        how["env"].update(PATH="/usr/bin:/bin", CARGO_HOME=user.sysroot,
                          XDG_CACHE_HOME=os.path.join(user.home, "cache"))
        done = run(t, "plan", **how)
        assert done.returncode == 0 and os.path.realpath(user.sysroot) in done.stdout, done
        assert not os.path.exists(os.path.join(user.home, "cache"))


def test_a_set_user_id_file_is_refused(t):
    need_root()
    shutil.copy(t.qprof, t.path("qprof-bpf"))
    os.chmod(t.path("qprof-bpf"), 0o4755)
    how = dict(user=NOBODY.pw_uid, group=NOBODY.pw_gid, extra_groups=[], env={})
    for arguments in (["--", "id", "-u"], ["report", "/root/x.qpt"]):
        done = subprocess.run([t.path("qprof-bpf"), *arguments], capture_output=True, text=True,
                              cwd="/", timeout=lab.TIMEOUT, **how)
        assert done.returncode == FAILURE and "set-user-ID" in done.stderr, done
        assert not done.stdout, done


# ---- The terminal --------------------------------------------------------------------------------


@each("file", "command")
def test_no_description_of_a_terminal_is_read_with_rights(t, what):
    """TERMINFO names a directory of the user's; a FIFO in it reveals the rights of the process that
    opens it."""
    t.need_capture()
    with User(t, BOTH) as user:
        os.mkdir(t.path("terminfo"))
        os.mkdir(t.path("terminfo/m"))
        os.mkfifo(t.path("terminfo/m/mine"))
        os.chmod(t.path("terminfo/m/mine"), 0o666)
        shutil.copy(GOLDEN, t.path("a.qpt"))
        master, slave = pty.openpty()
        how = user.arguments(TERM="mine", TERMINFO=t.path("terminfo"),
                             TERMINFO_DIRS=t.path("terminfo"))
        how.update(stdin=slave, stdout=slave)
        rest = [t.path("a.qpt")] if what == "file" else ["-o", "b.qpt", "--", "sleep", "1"]
        process = t.start([user.qprof, "top", *rest], **how)
        try:
            opened = []

            def comes_or_ends():
                try:
                    opened.append(os.open(t.path("terminfo/m/mine"), os.O_WRONLY | os.O_NONBLOCK))
                except OSError:
                    return process.poll() is not None
                return True

            status = wait_for("a reader of TERMINFO, or the end", comes_or_ends)
            status = status_of(process.pid) if opened else None
            for fd in opened:
                os.close(fd)
            assert status is None or has_none(status), status
            assert process.wait(lab.TIMEOUT) == FAILURE
            assert "TERM names none" in process.stderr.read()
            # The recording was not begun.
            assert not os.path.exists(os.path.join(user.home, "b.qpt"))
        finally:
            os.close(master)
            os.close(slave)


def test_top_records_as_root_and_shows_as_the_invoker(t):
    t.need_capture()
    os.chmod(t.dir, 0o777)
    env = {"SUDO_UID": str(NOBODY.pw_uid), "SUDO_GID": str(NOBODY.pw_gid), "SUDO_USER": "nobody"}
    sleeper = t.start(["sleep", "1000"])
    line = "trap : INT; %s top -o a.qpt -p %d; echo status=$?; sleep 1000"
    with Screen(t, line % (t.qprof, sleeper.pid), env) as s:
        s.wait("recording")
        (shell,) = [int(pid) for pid in s.tmux("list-panes", "-F", "#{pane_pid}").split()]
        (view,) = [pid for pid in lab.children(shell)
                   if status_of(pid).get("Name") == "qprof-bpf"]
        (recorder,) = lab.children(view)
        assert has_none(status_of(view)), status_of(view)
        assert status_of(view)["Uid"].split() == [str(NOBODY.pw_uid)] * 4, status_of(view)
        assert status_of(recorder)["Uid"].split() == ["0"] * 4, status_of(recorder)
        # The invoker may not signal root's process; the view passes it on.
        s.keys("C-c")
        s.wait("status=")
        assert not lab.alive(recorder)
    assert os.stat(t.path("a.qpt")).st_uid == NOBODY.pw_uid
    assert t.report(t.path("a.qpt"))["problem"] is None


# ---- Capabilities of a recording -----------------------------------------------------------------


def limited(process):
    """Wait until a recording has given up unneeded capabilities, and check the rest."""
    found = {}

    def is_limited():
        found.update(status_of(process.pid))
        done = found["CapPrm"] == found["CapBnd"] != status_of(os.getpid())["CapBnd"]
        return done or process.poll() is not None

    wait_for("its rights to be limited", is_limited)
    assert process.poll() is None, process.communicate()
    kept = int(found["CapEff"], 16)
    assert kept & ~SYS_ADMIN == KEPT & int(status_of(os.getpid())["CapEff"], 16), hex(kept)
    assert int(found["CapPrm"], 16) == kept == int(found["CapBnd"], 16), found
    assert int(found["CapInh"], 16) == int(found["CapAmb"], 16) == 0, found


def looks_with(process, kept):
    """The child that looks at processes has exactly these capabilities; returns its status."""
    def lookers():
        """A child that was too slow may still exist next to its successor."""
        found = [pid for pid in lab.children(process.pid)
                 if lab.alive(pid) and lab.name_of(pid) == "qprof-bpf: look"]
        return found if len(found) == 1 else None

    (child,) = wait_for("the child that looks", lookers)
    found = status_of(child)
    assert int(found["CapEff"], 16) == int(found["CapPrm"], 16) == kept, found
    assert int(found["CapInh"], 16) == int(found["CapAmb"], 16) == 0, found
    assert found["NoNewPrivs"] == "1", found
    return found


@each((BOTH, PERFMON), (BOTH + ",cap_sys_ptrace,cap_dac_read_search,cap_sys_admin", LOOKS & ~(1 << 40)))
def test_the_child_that_looks_has_fewer_rights(t, given, kept):
    """With file capabilities, too: the child has CAP_PERFMON only without CAP_SYS_PTRACE."""
    t.need_capture()
    with User(t, given) as user:
        sleeper = t.start(["sleep", "1000"], **user.arguments())
        profiler = t.start([user.qprof, "-q", "-o", "trace.qpt", "--pid", str(sleeper.pid)],
                           **user.arguments())
        wait_for("the end of set-up", lambda: status_of(profiler.pid)["NoNewPrivs"] == "1"
                 or profiler.poll() is not None)
        looks_with(profiler, kept)
        code, _, err = t.interrupt(profiler)
        assert (code, err) == (0, ""), (code, err)


@lab.alone("it records, and holds, the compilers of all tests")
def test_a_recording_gives_up_what_it_does_not_use(t):
    """It still attaches to a compiler of another user, in a directory that only they can enter."""
    t.need_capture()
    os.chmod(t.dir, 0o777)
    with User(t, BOTH) as user:
        compiler = own_toolchain(t, user)
        os.chown(t.path("old"), NOBODY.pw_uid, NOBODY.pw_gid)
        os.chmod(t.path("old"), 0o700)
        profiler = t.start([t.qprof, *lab.exactly(("-q", "-o", "a.qpt", "--system"))], **sudo(t))
        wait_for("the trace", lambda: os.path.exists(t.path("a.qpt"))
                 or profiler.poll() is not None)
        limited(profiler)
        found = looks_with(profiler, LOOKS)
        assert int(found["CapBnd"], 16) == LOOKS, found
        for _ in range(2):  # the first one may have to wait too long for its probes
            done = subprocess.run([compiler] + user.compile(crates.SHORT)[1:],
                                  timeout=lab.TIMEOUT, **user.arguments())
            assert done.returncode == 0, done
        code, _, err = t.interrupt(profiler)
    lab.check_end(code, err)
    *_, last = [p for p in t.report(t.path("a.qpt"))["processes"]
                if compiler in (p["command"] or "")]
    counts = lab.by_name(last["queries"])
    assert counts["typeck"] > 10, counts
    assert os.stat(t.path("a.qpt")).st_uid == NAMELESS


def test_stuck_gives_it_up_too(t):
    t.need_capture()
    sleeper = t.start(["sleep", "1000"])
    profiler = t.start([t.qprof, "stuck", "--json", "-p", str(sleeper.pid)], **sudo(t))
    limited(profiler)
