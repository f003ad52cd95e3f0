# SPDX-License-Identifier: Apache-2.0 OR MIT
"""record --traces: a trace for each build, rotated and kept."""

import glob
import json
import os
import re
import shutil
import signal
import stat
import subprocess
import time

import lab


def control_group(t):
    """A control group of the test's own: other compilers of the machine are not recorded."""
    return t.control_group(lab.remove_group)


class Service:
    """record --traces, of a control group."""

    def __init__(self, t, group, *options, launcher=()):
        self.t, self.group, self.dir = t, group, t.mkdir("traces")
        os.chmod(self.dir, 0o700)
        self.process = t.start(
            [*launcher, t.qprof, "--exact", "--no-sample", "-i", "100ms", "--cgroup", group, "--traces", self.dir,
             *options], env=t.qprof_env())
        lab.wait_for("the recording", lambda: lab.begun(self.process))

    def session(self):
        """A shell in a session of its own, that runs what it reads."""
        shell = subprocess.Popen(
            ["sh", "-c", "echo $$ >%s/cgroup.procs && exec sh" % self.group], cwd=self.t.dir,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True)
        return shell

    def compile(self, shell, crate):
        source = self.t.write(crate + ".rs", "pub fn f() {}")
        shell.stdin.write("%s --crate-name %s --crate-type lib --emit=metadata --out-dir %s %s; "
                          "echo $?\n" % (self.t.rustc, crate, self.t.dir, source))
        shell.stdin.flush()
        assert shell.stdout.readline() == "0\n"

    def traces(self, shell):
        return sorted(glob.glob("%s/qprof-*-u%d-p%d*.qpt" % (self.dir, os.getuid(), shell.pid)))

    def crates(self, shell):
        return sum((crates_of(self.t, trace) for trace in self.traces(shell)), [])

    def end(self):
        self.process.send_signal(signal.SIGINT)
        out, err = self.process.communicate(timeout=lab.TIMEOUT)
        assert not out, out
        # Of several traces, most must have lost most.
        if self.process.returncode:
            lab.check_end(self.process.returncode, err)


def crates_of(t, trace):
    """A compiler may be missing on a busy machine; then the trace counts it."""
    return [p["crate"] for p in t.report(trace)["processes"] if p["crate"]]


@lab.alone("a compiler of another test that is gone has no control group any more")
def test_builds_at_once_have_a_trace_each(t):
    t.need_capture()
    with control_group(t) as group:
        service = Service(t, group)
        one, two = service.session(), service.session()
        deadline, n = time.monotonic() + lab.TIMEOUT, 0
        while any(len(service.crates(shell)) < 2 for shell in (one, two)):
            assert time.monotonic() < deadline
            service.compile(one, "one_%d" % n)
            service.compile(two, "two_%d" % n)
            time.sleep(0.2)
            n += 1
        # They can be read while they are written.
        (trace,) = service.traces(one)
        unfinished = t.run_qprof("report", trace)
        assert unfinished.returncode == 0, unfinished.stderr
        for shell in (one, two):
            shell.communicate()
        # The build is over, and its trace is complete.
        lab.wait_for("the trace", lambda: "unfinished" not in t.run_qprof("report", trace).stderr)
        service.end()
        assert all(crate.startswith("one_") for crate in service.crates(one))
        assert all(crate.startswith("two_") for crate in service.crates(two))
        assert len(os.listdir(service.dir)) == 2, os.listdir(service.dir)
        for shell in (one, two):
            assert_own_cost(t.report(*service.traces(shell)))


def assert_own_cost(report):
    """The cost is that of the compilers in the trace, and of no other build."""
    cost, compilers = report["cost"], len(report["processes"])
    assert cost["breakpoints"] % compilers == 0 and cost["breakpoints"] > 500 * compilers, cost
    # Each interval has two; the rest are of calls that executed nothing.
    spans = sum(row["count"] for row in report["queries"])
    assert 2 * spans <= cost["hits"] < 10 * spans, (cost, spans)
    assert 0 < cost["own_ns"] < 60e9 and cost["set_up_ns"] is None, cost
    assert cost["added_ns"] == sum(
        cost[part + "_ns"] for part in ("probes", "breakpoints", "samples", "names", "own")), cost


@lab.alone("a compiler of another test that is gone has no control group any more")
def test_control_groups_of_a_session_have_a_trace_each(t):
    """As jobs of a CI that one shell starts."""
    t.need_capture()
    with control_group(t) as group:
        jobs = [os.path.join(group, name) for name in ("one", "two")]
        for job in jobs:
            os.mkdir(job)
        service = Service(t, group)
        shell, n = service.session(), 0
        deadline = time.monotonic() + lab.TIMEOUT
        while len(service.traces(shell)) < 2 or not all(
                crates_of(t, trace) for trace in service.traces(shell)):
            assert time.monotonic() < deadline
            for job in jobs:
                shell.stdin.write("echo $$ >%s/cgroup.procs\n" % job)
                service.compile(shell, "%s_%d" % (os.path.basename(job), n))
            time.sleep(0.2)
            n += 1
        shell.communicate()
        service.end()
        for job in jobs:
            lab.remove_group(job)
        traces = service.traces(shell)
        names = [{crate.partition("_")[0] for crate in crates_of(t, trace)} for trace in traces]
        assert sorted(names, key=min) == [{"one"}, {"two"}], names


@lab.alone("a compiler of another test that is gone has no control group any more")
def test_a_slow_disk_delays_no_other_trace(t):
    """Records are read on while one trace waits for the disk."""
    t.need_capture()
    if not shutil.which("cc"):
        raise lab.Skip("there is no C compiler")
    source = os.path.join(os.path.dirname(__file__), "programs", "slow_fsync.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", t.path("slow.so"), source], check=True)
    slow = t.write("slow", "")
    with control_group(t) as group:
        service = Service(t, group, launcher=[
            "env", "LD_PRELOAD=" + t.path("slow.so"), "SLOW_FSYNC=" + slow])
        one, two = service.session(), service.session()
        record_one(service, one, "one")
        one.communicate()
        lab.wait_for("the first trace to end", lambda: os.path.exists(slow + ".waits"))
        record_one(service, two, "two")
        two.communicate()
        assert "unfinished" in t.run_qprof("report", *service.traces(one)).stderr
        os.remove(slow)
        service.end()
        for shell in (one, two):
            (trace,) = service.traces(shell)
            assert "unfinished" not in t.run_qprof("report", trace).stderr
            assert not t.report(trace)["losses"].get("ring_full")


def record_one(service, shell, crate):
    """Compile until one compiler is in the shell's trace."""
    deadline, n = time.monotonic() + lab.TIMEOUT, 0
    while not service.crates(shell):
        assert time.monotonic() < deadline
        service.compile(shell, "%s_%d" % (crate, n))
        time.sleep(0.2)
        n += 1


def whole_traces(service, shell):
    """The shell's traces with a compiler that began after its library had probes: the first ones may
    begin before on a busy machine."""
    return [trace for trace in service.traces(shell) if not all(
        p["attached_late"] for p in service.t.report(trace)["processes"] if p["crate"])]


@lab.alone("a compiler of another test that is gone has no control group any more")
def test_a_trace_that_is_full_is_followed_by_another(t):
    t.need_capture()
    with control_group(t) as group:
        store = t.path("parts.db")
        service = Service(t, group, "--rotate", "1k", "--history", "--store", store)
        shell, crates = service.session(), []
        deadline = time.monotonic() + lab.TIMEOUT
        while len(whole_traces(service, shell)) < 3 and time.monotonic() < deadline:
            crates.append("crate_%d" % len(crates))
            service.compile(shell, crates[-1])
            time.sleep(0.2)
        shell.communicate()
        service.end()
        traces = service.traces(shell)
        assert len(whole_traces(service, shell)) >= 3, traces
        found = [crates_of(t, trace) for trace in traces]
        everywhere = sum(found, [])
        assert all(found) and set(everywhere) <= set(crates), (found, crates)
        assert len(everywhere) == len(set(everywhere)), found
        # Each is whole, with the names of queries and items.
        for trace in whole_traces(service, shell):
            dump = t.run_qprof("dump", trace).stdout
            assert '"query":"analysis"' in dump and re.search(r'"key":"crate_\d+::f"', dump), trace
        # None of them is a build.
        listed = t.json("history", "list", "--json", "--store", store)["builds"]
        states = {b["state"] for b in listed}
        assert states == {"part %d" % (n + 1) for n in range(len(traces))}, listed
        shown = t.run_qprof("history", "list", "--store", store).stdout
        assert "part 1" in shown, shown
        for question in (("trend",), ("history", "check", "--against", "main", "--fail-above", "5%")):
            done = t.run_qprof(*question, "--store", store)
            assert done.returncode == 125, done
            assert "not whole: %d" % len(traces) in done.stderr or "is part " in done.stderr, done


@lab.alone("a compiler of another test that is gone has no control group any more")
def test_what_does_not_fit_is_removed(t):
    """Of the traces only, and not of other files."""
    t.need_capture()
    with control_group(t) as group:
        old = "qprof-20200101T000000Z-u%d-p1.qpt" % os.getuid()
        directory = t.mkdir("traces")
        with open(os.path.join(directory, old), "wb") as f:
            f.write(b"x" * 100000)
        kept = ["other.qpt", "qprof-notes", old.replace(".qpt", "-before-regression.qpt")]
        for name in kept:
            with open(os.path.join(directory, name), "wb") as f:
                f.write(b"x" * 100000)
        os.symlink("other.qpt", os.path.join(directory, old.replace("p1", "p2")))
        for path in glob.glob(directory + "/*"):
            os.utime(path, (1, 1), follow_symlinks=False)
        t.mkdir = lambda _: directory
        service = Service(t, group, "--keep", "7d")
        lab.wait_for("the old trace to go", lambda: not os.path.exists(directory + "/" + old))
        service.end()
        assert sorted(os.listdir(directory)) == sorted(
            [*kept, old.replace("p1", "p2")])


def test_a_directory_of_others_is_refused(t):
    t.need_capture()
    directory = t.mkdir("traces")
    os.chmod(directory, 0o777)
    done = t.run_qprof("record", "--system", "--traces", directory)
    assert done.returncode == 125 and "other users may write to" in done.stderr, done.stderr
    for wrong in (["--pid", "1", "--traces", directory], ["--system", "--rotate", "1h"],
                  ["--system", "--traces", directory, "-o", "x.qpt"]):
        done = t.run_qprof("record", *wrong)
        assert done.returncode and "--traces" in done.stderr, done.stderr


@lab.alone("a compiler of another test that is gone has no control group any more")
def test_traces_of_all_users_are_roots_under_sudo(t):
    """They have command lines of others, so they are not given to the user who runs sudo, and
    where that user could put a link nothing is written."""
    t.need_capture()
    if os.getuid():
        raise lab.Skip("takes root")
    sudo = ["env", "SUDO_UID=65534", "SUDO_GID=65534", "SUDO_USER=nobody"]
    theirs, mine = t.mkdir("theirs"), t.mkdir("theirs/mine")
    os.chmod(mine, 0o700)
    link = os.path.join(theirs, "link")
    os.symlink("/etc", link)
    os.chown(theirs, 65534, 65534)
    for directory, why in ((theirs, "other users may write to"), (mine, "may replace")):
        done = subprocess.run([*sudo, t.qprof, "record", "--system", "--traces", directory],
                              capture_output=True, text=True, env=t.qprof_env())
        assert done.returncode == 125 and why in done.stderr, done.stderr
        assert not [name for name in os.listdir(directory) if name.endswith(".qpt")]
    shared = t.mkdir("shared")
    os.chmod(shared, 0o1777)
    link = os.path.join(shared, "link")
    os.symlink(t.mkdir("roots"), link)
    os.chown(link, 65534, 65534, follow_symlinks=False)
    done = t.run_qprof("record", "--system", "--traces", link)
    assert done.returncode == 125 and "a symlink of another user" in done.stderr, done.stderr
    with control_group(t) as group:
        service = Service(t, group, launcher=sudo)
        shell = service.session()
        record_one(service, shell, "crate")
        shell.communicate()
        service.end()
        for name in os.listdir(service.dir):
            st = os.lstat(os.path.join(service.dir, name))
            assert (st.st_uid, st.st_gid, stat.S_IMODE(st.st_mode)) == (0, 0, 0o600), (name, st)


UNIT = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                    "../../user/record/qprof-bpf.service.in")

# As ProtectSystem=strict, StateDirectory= and CacheDirectory=, and the unit's capabilities.
SANDBOX = r"""
mount --make-rprivate /
mkdir -p /var/cache/qprof-bpf
for dir in "$1" /var/cache/qprof-bpf; do mount --bind "$dir" "$dir"; done
mount -o remount,ro,bind /
caps=$2
shift 2
exec setpriv --no-new-privs --inh-caps=-all --bounding-set="-all,$caps" "$@"
"""


def test_the_unit_is_valid(t):
    """systemd knows all of its settings."""
    if not shutil.which("systemd-analyze"):
        raise lab.Skip("there is no systemd-analyze")
    text = lab.read_text(UNIT).replace("@PREFIX@/bin/qprof-bpf", os.path.abspath(t.qprof))
    unit = t.write("qprof-bpf.service", re.sub("Documentation=.*\n", "", text))
    os.chmod(unit, 0o644)
    done = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True)
    assert done.returncode == 0 and "qprof-bpf.service" not in done.stderr, done.stderr


def allowed_calls():
    """The system calls of SystemCallFilter=, as systemd lists its groups here."""
    (words,) = re.findall("^SystemCallFilter=(.*)$", lab.read_text(UNIT), re.M)
    groups, calls = words.split(), set()
    while groups:
        word = groups.pop()
        if not word.startswith("@"):
            calls.add(word)
            continue
        done = subprocess.run(["systemd-analyze", "syscall-filter", word], capture_output=True,
                              text=True, check=True)
        lines = [line.strip() for line in done.stdout.splitlines()]
        groups += [line for line in lines if line and not line.startswith("#") and line != word]
    return calls


@lab.alone("a compiler of another test that is gone has no control group any more")
def test_it_makes_only_system_calls_that_the_unit_allows(t):
    t.need_capture()
    for program in ("systemd-analyze", "strace"):
        if not shutil.which(program):
            raise lab.Skip("there is no " + program)
    calls = t.path("calls")
    with control_group(t) as group:
        # strace is a process beside: qprof-bpf is the one that is started here.
        service = Service(t, group, "--keep", "7d", "--rotate", "1k", "--history", "--store",
                          t.path("history.db"), launcher=[
            "strace", "-D", "-f", "-qq", "-c", "-o", calls])
        shell = service.session()
        record_one(service, shell, "crate")
        shell.communicate()
        service.end()
    lab.wait_for("the list of calls", lambda: os.path.exists(calls) and "total" in lab.read_text(calls))
    made = set(re.findall(r"^ *[\d.]+ +[\d.]+ +\d+ +\d+ +(?:\d+ +)?(\w+)$", lab.read_text(calls),
                          re.M)) - {"total"}
    assert {"bpf", "perf_event_open", "ptrace", "fsync"} <= made, made
    assert made <= allowed_calls(), made - allowed_calls()
    return "%d calls" % len(made)


@lab.alone("a compiler of another test that is gone has no control group any more")
def test_it_records_in_the_units_sandbox(t):
    t.need_capture()
    if os.getuid() or not shutil.which("setpriv"):
        raise lab.Skip("takes root and setpriv")
    (capabilities,) = re.findall("^CapabilityBoundingSet=(.*)$", lab.read_text(UNIT), re.M)
    caps = ",".join("+" + name[len("CAP_"):].lower() for name in capabilities.split())
    with control_group(t) as group:
        store = os.path.join(t.mkdir("traces"), "history.db")
        service = Service(t, group, "--history", "--store", store, launcher=[
            "unshare", "--mount", "--net", "sh", "-ec", SANDBOX, "sh", t.mkdir("traces"), caps])
        shell = service.session()
        record_one(service, shell, "crate")
        shell.communicate()
        service.end()
        (process, *_) = t.report(service.traces(shell)[0])["processes"]
        assert process["crate"].startswith("crate_"), process
        listed = t.run_qprof("history", "list", "--json", "--store", store)
        assert len(json.loads(listed.stdout)["builds"]) == 1, listed
