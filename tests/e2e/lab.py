# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Used by every test: a scratch directory, the toolchains, and ways to run and to record.

Commands under test run as the user who ran sudo, with and without the profiler, so that both runs
have the same environment.
"""

import collections
import contextlib
import fcntl
import functools
import glob
import json
import os
import pwd
import re
import shutil
import signal
import subprocess
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# E2E_TIMEOUT=40 finds a hang sooner.
TIMEOUT = int(os.environ.get("E2E_TIMEOUT", "600"))  # seconds; a hang is a failure

MOST_LOST = 122  # the exit status of a recording
# Options by which a recording is exact, or says how exact it is.
HOW_EXACT = ("--exact", "-e", "--events", "--callers", "--slow")
RECORDS = ("--", "-p", "--pid", "--system", "--cgroup")
COST_LINKS = 4  # links that measure the cost of probes; these come first, and go

# A line of dump: the label, and the kind unless it is a query.
TEXT = r'"((?:[^"\\]|\\.)*)"'
SPAN = re.compile(r'^\{"type":"span",[^\n]*?"query":%s(?:,"kind":%s)?' % (TEXT, TEXT), re.M)

EXECUTED = re.compile(r'^\{"type":"span","process":(\d+),"pid":\d+,"tid":\d+,"query":"([^"]*)",'
                      r'"kind":"Query"', re.M)
RESULTS = re.compile(r'^\{"type":"tally","process":(\d+),"kind":"QueryResults(AtLeast)?","name":"([^"]*)",'
                     r'"events":(\d+),"sum":(\d+)\}', re.M)


def assert_results(dumped):
    """Where both are known, the compiler's tables have as many executions as probes have seen."""
    if '"attached_late":true' in dumped:
        return
    executed = collections.Counter(EXECUTED.findall(dumped))
    results = {(process, name): (int(n) - int(unsure), float("inf") if more else int(n))
               for process, more, name, n, unsure in RESULTS.findall(dumped)}
    counted = {process for process, _ in results}
    wrong = ["%s: %d executions, %s to %s results" % (key[1], n, *results.get(key, (0, 0)))
             for key, n in executed.items() if key[0] in counted
             and not results.get(key, (0, 0))[0] <= n <= results.get(key, (0, 0))[1]]
    assert not wrong, "tables and probes differ: %s" % wrong[:10]

Run = collections.namedtuple("Run", "status stdout stderr trace")
Toolchain = collections.namedtuple("Toolchain", "name rustc sysroot")


class Skip(Exception):
    """Raised with the reason why a test cannot run here."""


class NotDownloaded(Skip):
    """A package that the test needs could not be downloaded: a fault of no machine, CI's included."""


def each(*cases):
    """The test runs once for each case: a tuple of arguments, or one argument."""

    def mark(function):
        function.cases = [case if isinstance(case, tuple) else (case,) for case in cases]
        return function

    return mark


def known(compiler):
    """Environment in which a compiler is known before a command starts it, as cargo's is. Else it is
    attached to as it maps its library, and is late on a busy machine."""
    return {"PATH": os.path.dirname(compiler) + ":" + os.environ["PATH"]}


def alone_lines(report):
    """The lines of a report or a comparison but those about other recordings: of other tests,
    perhaps."""
    return [line for line in report.splitlines()
            if not line.startswith(("beside ", "other recordings ran beside "))]


def alone(why):
    """The test runs by itself, because it would disturb other tests or be disturbed."""

    def mark(function):
        function.alone = why
        return function

    return mark


def no_compiler(function):
    """The test starts no compiler, so it may run beside one that is alone."""
    function.no_compiler = True
    return function


# ---- This machine ------------------------------------------------------------------------------


@functools.lru_cache
def invoker():
    """The passwd entry of the user who ran sudo, or of the current user."""
    if os.geteuid() == 0 and os.environ.get("SUDO_UID"):
        return pwd.getpwuid(int(os.environ["SUDO_UID"]))
    return pwd.getpwuid(os.geteuid())


def as_invoker():
    """Arguments for subprocess to run as the invoker."""
    if os.geteuid() != 0 or invoker().pw_uid == 0:
        return {}
    groups = os.getgrouplist(invoker().pw_name, invoker().pw_gid)
    return {"user": invoker().pw_uid, "group": invoker().pw_gid, "extra_groups": groups}


def environment(**more):
    """The invoker's environment, without sudo's variables, which could change diagnostics."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("SUDO_")}
    env.update(HOME=invoker().pw_dir, USER=invoker().pw_name, LOGNAME=invoker().pw_name)
    env.update(more)
    return env


@functools.lru_cache
def rustc_shim():
    found = subprocess.run(
        [os.path.join(ROOT, "tests/find-rustc.sh")], capture_output=True, text=True
    )
    return found.stdout.strip() if found.returncode == 0 else None


@functools.lru_cache
def toolchains():
    """The installed ones of stable and nightly; without rustup, the only toolchain."""
    if not rustc_shim():
        return {}
    found = {}
    for name in ("stable", "nightly", ""):
        if not name and found:
            break
        asked = subprocess.run(
            [rustc_shim()] + ([f"+{name}"] if name else []) + ["--print", "sysroot"],
            capture_output=True, text=True, env=environment(RUSTUP_AUTO_INSTALL="0"),
            **as_invoker(),
        )
        if asked.returncode == 0:
            sysroot = asked.stdout.strip()
            name = name or "default"
            found[name] = Toolchain(name, os.path.join(sysroot, "bin/rustc"), sysroot)
    return found


@functools.lru_cache
def why_no_capture():
    """The reason why recording is impossible here, or None."""
    if os.geteuid() != 0:
        return "needs root (sudo make check)"
    if not os.path.exists("/sys/kernel/btf/vmlinux"):
        return "this kernel has no BTF"
    if not toolchains():
        return "no rustc; see https://rustup.rs"
    listing = bpftool("prog", "list")
    if listing is None:
        return "BPF is not allowed here (bpftool prog list fails)"
    return None


def bpftool(*arguments):
    path = shutil.which("bpftool", path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    if not path:
        return None
    done = subprocess.run([path, "-j", *arguments], capture_output=True, text=True)
    return json.loads(done.stdout or "[]") if done.returncode == 0 else None


def read_text(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        return f.read()


def wait_for(what, condition, seconds=TIMEOUT):
    """Poll until condition() is true; returns its value. Polls once more after the time is over."""
    deadline = time.monotonic() + seconds
    while True:
        late = time.monotonic() >= deadline
        value = condition()
        if value:
            return value
        if late:
            raise AssertionError("waited %d s for %s" % (seconds, what))
        time.sleep(0.01)


def remove_group(group):
    """Remove a control group once nothing runs in it any more."""
    def try_remove():
        try:
            os.rmdir(group)
            return True
        except OSError:
            return False

    wait_for("the control group to be empty", try_remove)


def assert_runs(process):
    if process.poll() is not None:
        try:
            said = process.communicate(timeout=10)
        except subprocess.TimeoutExpired as e:  # a child has the pipes
            said = e.stdout, e.stderr
        raise AssertionError("qprof-bpf ended early: %r" % (said,))


def begun(process):
    """Whether a recording has begun: it has given up the capabilities of set-up, and its probes are
    in place."""
    assert_runs(process)
    return "NoNewPrivs:\t1" in read_text("/proc/%d/status" % process.pid)


def check_end(status, err):
    """Check the end of a recording. Most may be lost, depending on other load, and then the
    recording reports it."""
    err = err.decode() if isinstance(err, bytes) else err
    said = any(words in err for words in ("were lost; the main cause: ", "no interval was recorded",
                                          "no compiler was recorded, but "))
    assert status == (MOST_LOST if said else 0), (status, err)


def children(pid):
    """The children of all threads: cargo starts compilers from several threads."""
    found = []
    for path in glob.glob("/proc/%d/task/*/children" % pid):
        try:
            with open(path) as f:
                found += [int(word) for word in f.read().split()]
        except OSError:  # the thread has ended
            continue
    return found


def alive(pid):
    try:
        with open("/proc/%d/stat" % pid) as f:
            return f.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def name_of(pid):
    """The process's own name, or None if it is gone."""
    try:
        with open("/proc/%d/comm" % pid) as f:
            return f.read().rstrip("\n")
    except OSError:
        return None


def mounts_beneath(path):
    with open("/proc/self/mountinfo") as f:
        places = [line.split()[4] for line in f]
    return [place for place in places if place.startswith(path + "/")]


# ---- One test's own ----------------------------------------------------------------------------


# The directory of files that several tests of this run read (Lab.shared).
SHARED = None


def by_name(rows):
    """Executions by name: a query and an activity may share one."""
    counts = collections.Counter()
    for row in rows:
        counts[row["name"]] += row["count"] or 0
    return counts


def exactly(arguments):
    """Arguments of qprof-bpf: if they record, each execution is recorded, and nothing besides, as
    tests compare them."""
    words = [word.partition("=")[0] for word in arguments]
    options = words[:words.index("--") + 1] if "--" in words else words
    of_command = 1 if words and words[0] in ("record", "top") else 0
    if words and not of_command and not words[0].startswith("-"):
        return arguments
    if not set(options) & set(RECORDS) or set(options) & set(HOW_EXACT):
        return arguments
    how = ("--exact",) if "--sample" in options else ("--exact", "--no-sample")
    return (*arguments[:of_command], *how, *arguments[of_command:])


class Lab:
    def __init__(self, build, no_compiler=False):
        self.no_compiler = no_compiler
        self.qprof = os.path.abspath(os.path.join(build, "qprof-bpf"))
        self.started = []
        self.caches = []

    def __enter__(self):
        self.dir = tempfile.mkdtemp(prefix="qprof-e2e-")
        self.give(self.dir)
        return self

    def __exit__(self, *_):
        for process in self.started:
            if process.poll() is None:
                process.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):  # a child has the pipes
                process.communicate(timeout=10)
        # A toolchain may be mounted here: unmount it first, so that its files are not removed.
        for place in reversed(mounts_beneath(self.dir)):
            subprocess.run(["umount", "--lazy", place], check=True)
        for path in (self.dir, *self.caches):
            shutil.rmtree(path, ignore_errors=True)

    @contextlib.contextmanager
    def mounted(self, name, *arguments):
        """A directory of this name, mounted with these arguments."""
        place = self.mkdir(name)
        done = subprocess.run(["mount", *arguments, place], capture_output=True, text=True)
        if done.returncode:
            raise Skip("cannot mount %s: %s" % (name, done.stderr.strip()))
        try:
            yield place
        finally:
            subprocess.run(["umount", "--lazy", place], check=True)

    @contextlib.contextmanager
    def control_group(self, remove=os.rmdir):
        """A new control group, in its own mount: the machine's may be version 1."""
        with self.mounted("cgroups", "-t", "cgroup2", "none") as root:
            group = os.path.join(root, "qprof-e2e-%d" % os.getpid())
            os.mkdir(group)
            yield group
            remove(group)

    def give(self, path):
        """Make the invoker the owner of `path`."""
        os.chmod(path, 0o755)
        if os.geteuid() == 0:
            os.chown(path, invoker().pw_uid, invoker().pw_gid)

    def path(self, *parts):
        return os.path.join(self.dir, *parts)

    def mkdir(self, name):
        path = self.path(name)
        os.makedirs(path, exist_ok=True)
        self.give(path)
        return path

    def cache(self):
        """XDG_CACHE_HOME for recordings that remember nothing of others. Root takes no cache below
        a directory of the invoker's, and would use the machine's."""
        self.caches.append(tempfile.mkdtemp(prefix="qprof-e2e-cache-"))
        os.chmod(self.caches[-1], 0o755)
        return self.caches[-1]

    def write(self, name, text):
        with open(self.path(name), "w") as f:
            f.write(text)
        self.give(self.path(name))
        return self.path(name)

    def toolchain(self, name="stable"):
        assert not self.no_compiler, "a test that is marked @no_compiler asks for one"
        if not toolchains():
            raise Skip("no rustc; see https://rustup.rs")
        return toolchains().get(name) or next(iter(toolchains().values()))

    def own_toolchain(self, name, program="rustc"):
        """A copy of the toolchain with its own library, and its compiler under this name; returns
        its path."""
        real, copy = self.toolchain().sysroot, self.mkdir(name)
        for directory in ("bin", "lib"):
            self.mkdir(os.path.join(name, directory))
        compiler = os.path.join(copy, "bin", program)
        shutil.copy2(os.path.join(real, "bin/rustc"), compiler)
        for entry in os.listdir(os.path.join(real, "lib")):
            source, target = os.path.join(real, "lib", entry), os.path.join(copy, "lib", entry)
            (shutil.copy2 if entry.startswith("librustc_driver") else os.symlink)(source, target)
        return compiler

    @property
    def rustc(self):
        return self.toolchain().rustc

    def need_capture(self):
        reason = why_no_capture()
        if reason:
            raise Skip(reason)

    def plain(self, argv, env=None, cwd=None):
        """Run as the invoker; stdout and stderr are bytes."""
        done = subprocess.run(
            argv, capture_output=True, timeout=TIMEOUT, cwd=cwd or self.dir,
            env=environment(**(env or {})), stdin=subprocess.DEVNULL, **as_invoker(),
        )
        return Run(done.returncode, done.stdout, done.stderr, None)

    def qprof_env(self, env=None):
        """The profiler's environment: it keeps sudo's variables, so the profiler can step down."""
        return {**os.environ, "HOME": invoker().pw_dir, **(env or {})}

    def capture(self, argv, options=("-q",), env=None, cwd=None, trace="trace.qpt", exact=True):
        """Record a command, each execution unless the options say otherwise; its status and output
        must be the command's own."""
        self.need_capture()
        trace = self.path(trace)
        arguments = (*options, "--force", "-o", trace, "--", *argv)
        done = subprocess.run(
            [self.qprof, *(exactly(arguments) if exact else arguments)],
            capture_output=True, timeout=TIMEOUT, cwd=cwd or self.dir,
            env=self.qprof_env(env), stdin=subprocess.DEVNULL,
        )
        return Run(done.returncode, done.stdout, done.stderr, trace)

    def record(self, *arguments, **kwargs):
        """capture() of a command that succeeds."""
        run = self.capture(*arguments, **kwargs)
        assert run.status == 0, run.stderr.decode()
        return run

    def shared(self, name, make):
        """The path of a file or directory that several tests read and none changes. The first one
        makes it in its own directory; only the name distinguishes it from others."""
        if not SHARED:
            return make()
        path = os.path.join(SHARED, name)
        with open(path + ".lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not os.path.exists(path):
                # Both are below the directory for temporary files.
                os.rename(make(), path)
        return path

    def run_qprof(self, *arguments, **kwargs):
        """Run qprof-bpf with these arguments; a recording is exact; the output is text."""
        kwargs.setdefault("env", self.qprof_env())
        return subprocess.run(
            [self.qprof, *exactly(arguments)], capture_output=True, text=True, timeout=TIMEOUT,
            cwd=self.dir, stdin=subprocess.DEVNULL, **kwargs,
        )

    def text(self, *arguments, **kwargs):
        """What run_qprof() of a command that succeeds prints."""
        done = self.run_qprof(*arguments, **kwargs)
        assert done.returncode == 0, "%s: %s" % (arguments[0], done.stderr)
        return done.stdout

    def json(self, *arguments, **kwargs):
        return json.loads(self.text(*arguments, **kwargs))

    def start(self, argv, **kwargs):
        """Start a command, which is killed at the end of the test."""
        kwargs.setdefault("stdout", subprocess.PIPE)
        kwargs.setdefault("stderr", subprocess.PIPE)
        kwargs.setdefault("stdin", subprocess.DEVNULL)
        kwargs.setdefault("cwd", self.dir)
        process = subprocess.Popen(argv, **kwargs)
        self.started.append(process)
        return process

    def start_plain(self, argv, **kwargs):
        env = environment(**kwargs.pop("env", {}))
        return self.start(argv, env=env, **as_invoker(), **kwargs)

    def start_qprof(self, *arguments, **kwargs):
        """Start qprof-bpf; `exact` as in capture()."""
        self.need_capture()
        env = self.qprof_env(kwargs.pop("env", {}))
        if kwargs.pop("exact", True):
            arguments = exactly(arguments)
        return self.start([self.qprof, *arguments], env=env, **kwargs)

    def attached(self, process):
        """Wait until the probes of a started qprof-bpf are in place; returns the ids of their links."""

        def all_links():
            assert_runs(process)
            before = links_of(process)
            for _ in range(6):
                time.sleep(0.05)
                if before != links_of(process):
                    return None
            return before if len(before) > COST_LINKS else None

        wait_for("the recording", lambda: begun(process))
        return wait_for("probes", all_links)

    def report(self, trace):
        document = self.json("report", "--json", trace)
        assert document["schema"] == "qprof-report/3", document["schema"]
        return document

    def counts(self, trace):
        """Executions per query, over all processes; fails if anything was lost."""
        document = self.report(trace)
        assert document["lost"] == 0, "lost: %s" % document.get("losses")
        return by_name(document["queries"])

    def span_counts(self, trace):
        """{(kind, label): count} of spans(), without parsing each line."""
        dumped = self.text("dump", trace)
        found = collections.Counter(SPAN.findall(dumped))
        assert sum(found.values()) == dumped.count('\n{"type":"span"')
        assert_results(dumped)
        counts = collections.Counter()
        for (label, kind), n in found.items():
            kind = json.loads('"%s"' % kind) or "Query"
            if kind != "OffCpu":
                counts[kind, json.loads('"%s"' % label)] += n
        return counts

    def dumped(self, trace, *types, options=()):
        """The lines of a dump, parsed: all, or those of some types."""
        lines = self.text("dump", *options, trace).splitlines()
        if types:
            beginnings = tuple('{"type":"%s"' % kind for kind in types)
            lines = [line for line in lines if line.startswith(beginnings)]
        # Parsing all lines as one document takes half the time.
        return json.loads("[%s]" % ",".join(lines))

    def spans(self, trace, off_cpu=False, process=None):
        """Every span, or those of one process, in the order of the file: per thread in the order of
        their ends. Off-CPU intervals are left out by default, because they differ in every run."""
        only = [] if process is None else ["--process=%d" % process]
        return [span for span in self.dumped(trace, "span", options=only)
                if off_cpu or span.get("kind") != "OffCpu"]

    def interrupt(self, process, sig=signal.SIGINT):
        """Signal a started qprof-bpf and wait for its end: (status, stdout, stderr)."""
        process.send_signal(sig)
        out, err = process.communicate(timeout=TIMEOUT)
        return process.returncode, out, err


# ---- Leftovers in the kernel -------------------------------------------------------------------


def links_of(process):
    """Ids of the BPF links of probes that a process holds."""
    found = set()
    directory = "/proc/%d/fdinfo" % process.pid
    for fd in os.listdir(directory):
        try:
            with open(os.path.join(directory, fd)) as f:
                info = dict(line.split(":", 1) for line in f if ":" in line)
        except OSError:  # closed meanwhile
            continue
        if info.get("link_type", "").strip() in ("uprobe_multi", "perf"):
            found.add(int(info["link_id"]))
    return found


def full_pipe():
    """(write end of a full pipe, read end)"""
    other, end = os.pipe()
    os.set_blocking(end, False)
    try:
        while True:
            os.write(end, b"x" * 4096)
    except BlockingIOError:
        os.set_blocking(end, True)
    return end, other


def assert_gone(links):
    """The kernel frees links a moment after their owner's death."""
    assert links

    def left():
        # bpftool fails if a link disappears while it reads.
        there = bpftool("link", "list")
        return links if there is None else links & {link["id"] for link in there}

    wait_for("probes to be gone", lambda: not left())
