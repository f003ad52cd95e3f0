# SPDX-License-Identifier: Apache-2.0 OR MIT
"""`cargo qprof`, as a new user types it: cargo finds the program by its other name in the PATH."""

import contextlib
import json
import os
import pwd
import shutil
import signal
import subprocess

import lab
import workspace
from lab import Skip
from test_sccache import start_server

USAGE, FAILURE, INTERRUPTED = 2, 125, -signal.SIGINT
MANIFEST = '[package]\nname = "%s"\nversion = "0.1.0"\nedition = "2021"\n'
LIBRARY = "pub fn sum(all: &[u32]) -> u32 { all.iter().sum() }\n"
# It reads a line, writes to both streams, and has a status of its own.
PROGRAM = """
fn main() {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
    println!("read {line:?}");
    eprintln!("to stderr");
    std::process::exit(7);
}
"""


class Project:
    """A project in a directory of its own, and how to run cargo there."""

    def __init__(self, t, files):
        t.need_capture()
        self.t, self.top = t, workspace.make_files(t, files, "project")
        names = t.mkdir("names")
        os.symlink(t.qprof, os.path.join(names, "cargo-qprof"))
        toolchain = t.toolchain()
        self.cargo = os.path.join(toolchain.sysroot, "bin/cargo")
        self.env = {"RUSTC": toolchain.rustc, "CARGO_TARGET_DIR": t.path("target"),
                    "XDG_STATE_HOME": t.mkdir("state"), "PATH": names + ":" + os.environ["PATH"],
                    "CARGO_NET_OFFLINE": "true", "CARGO_TERM_COLOR": "never"}
        for name in ("DISPLAY", "WAYLAND_DISPLAY"):
            self.env[name] = ""

    def start(self, *words, **more):
        """As root if it records, which then runs cargo as the invoker."""
        more = {"cwd": self.top, "stdin": subprocess.PIPE, "text": True, **more}
        if words[0] == "qprof":
            more["env"] = self.t.qprof_env(self.env)
        else:
            more.update(lab.as_invoker(), env=lab.environment(**self.env))
        return self.t.start([self.cargo, *words], **more)

    def run(self, *words, typed="", **more):
        process = self.start(*words, **more)
        out, err = process.communicate(typed, timeout=lab.TIMEOUT)
        return lab.Run(process.returncode, out, err, None)

    def kept(self, end=".qpt"):
        return sorted(os.path.join(path, name) for path, _, names in os.walk(self.t.path("state"))
                      for name in names if name.endswith(end))

    def edit(self, path, text):
        with open(os.path.join(self.top, path), "a") as f:
            f.write(text)


def test_record_look_change_compare(t):
    project = Project(t, {"Cargo.toml": MANIFEST % "tool", "src/lib.rs": LIBRARY})
    assert project.run("qprof", "report").status == FAILURE

    first = project.run("qprof", "check", "-q")
    assert (first.status, first.stdout) == (0, ""), first
    (trace,) = project.kept()
    assert first.stderr.startswith("compile   tool: "), first.stderr
    assert "qprof-bpf: kept %s; " % trace in first.stderr.splitlines()[-1], first.stderr
    assert os.stat(trace).st_uid == lab.invoker().pw_uid

    # Nothing to do: no empty report, and no trace that would be the newest.
    again = project.run("qprof", "check", "-q")
    (line,) = again.stderr.splitlines()
    assert again.status == 0 and "up to date" in line and "touch src/lib.rs" in line, again
    assert project.kept() == [trace]
    alone = project.run("qprof", "diff")
    assert alone.status == FAILURE and "there is one recording" in alone.stderr, alone

    project.edit("src/lib.rs", "pub fn more(n: &mut Vec<u32>) { n.sort(); n.dedup(); }\n")
    assert project.run("qprof", "c", "-q").status == 0
    assert project.kept()[0] == trace and len(project.kept()) == 2
    newest = project.kept()[1]
    shown = project.run("qprof", "report", "--json")
    assert json.loads(shown.stdout)["build"]["compiles"] == 1, shown
    assert json.loads(shown.stdout) == json.loads(t.text("report", "--json", newest))
    compared = project.run("qprof", "diff", "--json", "--metric", "count")
    assert compared.stdout == t.text("diff", "--json", "--metric", "count", trace, newest)
    page = project.run("qprof", "page")
    assert page.status == 0 and [page.stdout.strip()] == project.kept(".html"), page
    # Also where a browser was asked to open it, which may fail.
    browser = t.write("names/xdg-open", "#!/bin/sh\nexit 3\n")
    os.chmod(browser, 0o755)
    project.env["DISPLAY"] = ":none"
    assert project.run("qprof", "page").stdout == page.stdout
    project.env["DISPLAY"] = ""
    counts = project.run("qprof", "export", "-f", "counts", "-o", "-")
    assert "typeck," in counts.stdout, counts
    wrong = project.run("qprof", "report", "old.qpt")
    assert wrong.status == USAGE and "old.qpt" in wrong.stderr, wrong


def test_a_program_that_runs_has_the_terminal(t):
    project = Project(t, {"Cargo.toml": MANIFEST % "tool", "src/main.rs": PROGRAM})
    plain = project.run("run", "-q", typed="one\ntwo\n")
    shutil.rmtree(t.path("target"))
    run = project.run("qprof", "run", "-q", typed="one\ntwo\n")
    assert (run.status, run.stdout) == (plain.status, plain.stdout) == (7, 'read "one\\n"\n'), run
    said, report = run.stderr.split("\n", 1)
    assert said + "\n" == plain.stderr and report.startswith("compile   tool (bin): "), run.stderr


# It goes on after interrupts.
DEAF = """
extern "C" { fn signal(number: i32, handler: usize) -> usize; }
fn main() {
    unsafe { signal(2, 1); }
    println!("begun");
    std::io::stdin().read_line(&mut String::new()).unwrap();
    std::process::exit(7);
}
"""


def test_a_recording_ends_before_the_program(t):
    """The trace is whole then, and Ctrl-C is for the program alone."""
    project = Project(t, {"Cargo.toml": MANIFEST % "tool", "src/main.rs": DEAF})
    process = project.start("qprof", "run", "-q", start_new_session=True)
    assert process.stdout.readline() == "begun\n"
    lab.wait_for("a whole trace", lambda: project.kept() and
                 t.run_qprof("verify", project.kept()[0]).returncode == 0)
    for _ in range(3):
        os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate("line\n", timeout=lab.TIMEOUT)
    assert (process.returncode, out) == (7, ""), (process.returncode, out, err)
    assert err.startswith("compile   tool (bin): "), err


def test_what_fails_is_said_and_passed_on(t):
    project = Project(t, {"Cargo.toml": MANIFEST % "tool", "src/lib.rs": "fn wrong() -> u32 { }\n"})
    plain = project.run("check")
    failed = project.run("qprof", "check")
    assert failed.status == plain.status == 101 and "E0308" in failed.stderr, failed
    assert "exit: 1" in failed.stderr or "failed" in failed.stderr.split("E0308")[-1], failed
    unknown = project.run("qprof", "check", "--no-such")
    assert unknown.status == 1 and "nothing was compiled before the command failed" in \
        unknown.stderr, unknown
    empty = t.mkdir("empty")
    nowhere = project.run("qprof", "build", cwd=empty)
    assert nowhere.status == 101 and "could not find `Cargo.toml`" in nowhere.stderr, nowhere
    assert "nothing was compiled before the command failed" in nowhere.stderr, nowhere
    asked = project.run("qprof", "build", "--help", cwd=empty)
    assert asked.status == 0 and asked.stdout == project.run("build", "--help", cwd=empty).stdout
    assert len(project.kept()) == 1


WAITING = """
fn main() {
    std::fs::write("%s", "").unwrap();
    std::thread::sleep(std::time::Duration::from_secs(1000));
}
"""


def test_ctrl_c_ends_all_of_it(t):
    """The terminal sends SIGINT to every process; what was compiled is reported."""
    begun = t.path("begun")
    project = Project(t, {"Cargo.toml": MANIFEST % "tool", "src/lib.rs": LIBRARY,
                          "build.rs": WAITING % begun})
    process = project.start("qprof", "build", "-q", start_new_session=True)
    lab.wait_for("the build script", lambda: os.path.exists(begun))
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=lab.TIMEOUT)
    assert process.returncode == INTERRUPTED, (process.returncode, err)
    assert "tool (build script)" in err and len(project.kept()) == 1, err


def test_what_a_cache_had_is_not_up_to_date(t):
    project = Project(t, {"Cargo.toml": MANIFEST % "tool", "src/lib.rs": LIBRARY})
    server, env = start_server(t)
    project.env.update(env)
    assert project.run("check", "-q").status == 0
    shutil.rmtree(t.path("target"))
    done = project.run("qprof", "check", "-q")
    (line,) = done.stderr.splitlines()
    assert done.status == 0 and "had all of it (1 crate)" in line, (done, server.poll())
    assert "RUSTC_WRAPPER= before it" in line and not project.kept(), line


# ---- sudo ----------------------------------------------------------------------------------------

# What it was started with, and whether a command line anywhere has the secret.
LOOKING = r"""
fn main() {
    let secret = std::env::var("SECRET").unwrap();
    let mut found = String::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        if line.windows(secret.len()).any(|part| part == secret.as_bytes()) {
            found += &String::from_utf8_lossy(&line);
        }
    }
    let names = ["SECRET", "HOME", "PATH", "CARGO_ENCODED_RUSTFLAGS", "SUDO_UID", "LD_LIBRARY_PATH"];
    for name in names {
        println!("cargo:warning={name}={:?}", std::env::var(name));
    }
    println!("cargo:warning=found={found:?}");
}
"""


# Each program that loads it notes whose rights it has.
PRELOADED = r"""
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
__attribute__((constructor)) static void note(void)
{
	FILE *f = getenv("WHO") ? fopen(getenv("WHO"), "a") : NULL;

	if (f)
		fprintf(f, "%d\n", (int)geteuid());
	if (f)
		fclose(f);
}
"""


@contextlib.contextmanager
def sudoer(t, project, **more):
    """Of a user whom sudo lets run this program, in a mount namespace that says so: the command line
    that words of `cargo qprof` are added to, and its environment."""
    if not shutil.which("sudo"):
        raise Skip("sudo is not installed")
    nobody = pwd.getpwnam("nobody")
    # sudo and its user need a program and a toolchain that are not in root's home.
    program = t.path("names/cargo-qprof")
    os.remove(program)
    shutil.copy(t.qprof, program)
    os.chmod(program, 0o755)
    rules = t.write("sudoers", "nobody ALL=(ALL) NOPASSWD: %s\n" % program)
    os.chown(rules, 0, 0)
    os.chmod(rules, 0o440)
    for path in (project.top, t.mkdir("home"), t.path("state"), t.mkdir("target")):
        for directory, _, names in os.walk(path):
            for name in (".", *names):
                os.chown(os.path.join(directory, name), nobody.pw_uid, nobody.pw_gid)
    with t.mounted("toolchain", "-o", "bind,ro", t.toolchain().sysroot) as sysroot:
        env = {**project.env, "RUSTC": os.path.join(sysroot, "bin/rustc"), "HOME": t.path("home"),
               "PATH": t.path("names") + ":/usr/bin:/bin"}
        script = 'mount --bind "$0" /etc/sudoers && exec setpriv --reuid=%d --regid=%d ' \
            '--clear-groups env "$@"' % (nobody.pw_uid, nobody.pw_gid)
        variables = ["%s=%s" % pair for pair in more.items()]
        yield ["unshare", "--mount", "sh", "-c", script, rules, *variables,
               os.path.join(sysroot, "bin/cargo"), "qprof", "--sudo"], env


def test_sudo_keeps_the_environment(t):
    """What runs with root's rights has none of it."""
    project = Project(t, {"Cargo.toml": MANIFEST % "tool", "src/lib.rs": LIBRARY,
                          "build.rs": LOOKING})
    nobody = pwd.getpwnam("nobody")
    preload, who = t.path("preload.so"), t.write("who", "")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", preload, t.write("preload.c", PRELOADED)], check=True)
    os.chmod(who, 0o666)
    with sudoer(t, project, LD_PRELOAD=preload, WHO=who) as (command, env):
        env = {**env, "SECRET": "a b'c\nd", "RUSTFLAGS": "-Cdebuginfo=0",
               "LD_LIBRARY_PATH": t.path("lib")}
        done = subprocess.run(
            [*command, "--history", "--store=" + t.path("state/h.db"), "build"],
            env=env, cwd=project.top, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=lab.TIMEOUT)
    assert done.returncode == 0, done
    users = set(lab.read_text(who).split())
    assert users == {str(nobody.pw_uid)}, users
    said = dict(line.split("warning: tool@0.1.0: ")[1].split("=", 1)
                for line in done.stderr.splitlines() if "warning: tool@" in line)
    wanted = {name: 'Ok(%s)' % json.dumps(env[name]) for name in ("SECRET", "HOME", "PATH")}
    # cargo passes RUSTFLAGS on by another name.
    wanted.update(CARGO_ENCODED_RUSTFLAGS='Ok("-Cdebuginfo=0")', SUDO_UID="Err(NotPresent)")
    assert {name: said[name] for name in wanted} == wanted, done.stderr
    assert env["LD_LIBRARY_PATH"] in said["LD_LIBRARY_PATH"], said
    assert said["found"] == '""', said
    assert "crates compiled: 2" in done.stderr, done.stderr
    (trace,) = project.kept()
    owners = {os.lstat(os.path.join(path, name)).st_uid
              for path, _, names in os.walk(t.path("target")) for name in names}
    assert owners == {os.stat(trace).st_uid} == {nobody.pw_uid}, owners


def test_a_signal_to_who_waits_for_sudo_ends_cargo(t):
    """sudo and the recording are root's, and the kernel keeps it from them."""
    begun = t.path("begun/file")
    project = Project(t, {"Cargo.toml": MANIFEST % "tool", "src/lib.rs": LIBRARY,
                          "build.rs": WAITING % begun})
    os.chmod(t.mkdir("begun"), 0o777)
    with sudoer(t, project) as (command, env):
        process = t.start([*command, "build", "-q"], env=env, cwd=project.top,
                          stdin=subprocess.DEVNULL, text=True)
        lab.wait_for("the build script", lambda: os.path.exists(begun))
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=lab.TIMEOUT)
    assert process.returncode == -signal.SIGTERM, (process.returncode, err)
    assert "tool (build script)" in err and len(project.kept()) == 1, err
