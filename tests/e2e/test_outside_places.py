# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Recordings where there is no privilege to have: under Docker's rules, and in namespaces."""

import json
import os
import shutil
import signal
import subprocess

import confined
import lab
import workspace
from compiles import BOOTSTRAP, Compile
from lab import Skip, each
from mm_profdata import Profile
from test_harmless import PROGRAMS, steady
from test_outside import assert_equal, queries_of
from test_without_root import User

NAMESPACES = ("unshare", "-Urpmnf", "--mount-proc")
NO_CAPABILITIES = ("setpriv", "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs")
# Under Docker's rules, and before that: nothing; an unprivileged container; one whose root has all rights
# within, which are none for BPF.
PLACES = {"rules": (), "container": NAMESPACES + NO_CAPABILITIES, "its root": NAMESPACES}
REASONS = {"rules": "as CAP_BPF, CAP_PERFMON are missing", "container": "as this container has users of its own",
           "its root": "as this container has users of its own"}


class Place:
    """An unprivileged user in such a place, with the program by both names."""

    def __init__(self, t, name):
        self.t, self.user, self.name = t, User(t, None), name
        os.symlink(self.user.qprof, os.path.join(t.mkdir("names"), "cargo-qprof"))
        self.confined = shutil.copy(confined.__file__, t.path("confined.py"))

    def __enter__(self):
        self.user.__enter__()
        if self.name != "rules" and subprocess.run([*NAMESPACES, "true"], **self.user.arguments()).returncode:
            self.user.__exit__()
            raise Skip("users may make no namespaces here")
        return self

    def __exit__(self, *why):
        self.user.__exit__(*why)

    def give(self, top):
        """Make the user the owner of all in a directory; returns it."""
        for directory, _, names in os.walk(top):
            for name in (".", *names):
                os.chown(os.path.join(directory, name), self.user.pw.pw_uid, self.user.pw.pw_gid)
        return top

    def run(self, *argv, cwd=None, **env):
        path = ":".join((self.t.path("names"), self.user.sysroot + "/bin", os.environ["PATH"]))
        env = {"PATH": path, "RUSTC": self.user.rustc, "CARGO_NET_OFFLINE": "true", "RUSTC_ICE": "0", **env}
        done = subprocess.run([*PLACES[self.name], "python3", "-B", self.confined, *argv], timeout=lab.TIMEOUT,
                              **{**self.user.arguments(**env), "cwd": cwd or self.user.home, "text": False})
        return lab.Run(done.returncode, done.stdout, done.stderr, None)

    def record(self, *argv, **env):
        """The path of a whole trace of the command."""
        trace = os.path.join(self.user.home, "trace.qpt")
        done = self.run(self.user.qprof, "--force", "-o", trace, "--", *argv, **env)
        assert done.status == 0, done.stderr.decode()
        assert "recording from outside, %s: " % REASONS[self.name] in done.stderr.decode(), done.stderr
        return trace


# Three items that take nearly all of the time, each a third of the one before.
PLANTED = """
#![allow(long_running_const_eval)]
const fn turn(turns: u64) -> u64 {
    let (mut i, mut sum) = (0, 0u64);
    while i < turns {
        sum = sum.wrapping_mul(31).wrapping_add(i);
        i += 1;
    }
    sum
}
pub const FIRST: u64 = turn(900_000);
pub const SECOND: u64 = turn(300_000);
pub const THIRD: u64 = turn(100_000);
pub fn all() -> u64 { FIRST ^ SECOND ^ THIRD }
"""
SIGMAS = 4


def first_three(t, trace):
    """(name, share of the three's time, error of that), the largest first."""
    items = t.json("report", "--by", "item", "--json", trace)["items"][:3]
    total = sum(item["best_self_ns"] for item in items)
    return [(item["name"], item["best_self_ns"] / total, item["best_self_error_ns"] / total) for item in items]


@each(*PLACES)
def test_the_first_items_are_those_of_root(t, name):
    """Their shares differ by no more than the errors that are stated of both."""
    t.need_capture()
    source = t.write("planted.rs", PLANTED)
    command = ["--crate-type", "lib", "--emit=metadata", "-o", "planted.rmeta", source]
    root = first_three(t, t.capture([t.rustc, *command], exact=False).trace)
    with Place(t, name) as place:
        ours = first_three(t, place.record(place.user.rustc, *command))
    assert [item[0] for item in root] == ["planted::FIRST", "planted::SECOND", "planted::THIRD"], root
    assert [item[0] for item in ours] == [item[0] for item in root], (ours, root)
    for (_, share, error), (_, of_root, error_of_root) in zip(ours, root):
        assert abs(share - of_root) <= SIGMAS * (error ** 2 + error_of_root ** 2) ** 0.5, (ours, root)
    return " ".join("%.3f" % (share - of_root) for (_, share, _), (_, of_root, _) in zip(ours, root))


@each("regex-syntax", "syn", "memchr")
def test_counts_in_a_container_are_rustcs_own(t, crate):
    """As test_outside has it of a user outside of any. A compiler that was gone too early, as on a busy
    machine, has none that are exact."""
    compiled = Compile(t, t.toolchain(), crate, "debug")
    with Place(t, "container") as place:
        for attempt in range(5):
            traces = []

            def run(argv):
                place.give(argv[argv.index("--out-dir") + 1])
                (profile,) = (word.partition("=")[2] for word in argv if word.startswith("-Zself-profile="))
                place.give(profile)
                traces.append(place.record(place.user.rustc, *argv[1:], **BOOTSTRAP))
                return lab.Run(0, b"", b"", traces[-1])

            _, profile = compiled.profiled("truth%d." % attempt, run)
            exact = assert_equal(queries_of(t, traces[-1]), profile)
            if exact:
                break
    assert exact > 150, exact
    return "%d queries exact" % exact


EXITS = "fn main() { std::process::exit(3); }\n"
ABORTS = "fn main() { println!(\"out\"); eprintln!(\"err\"); std::process::abort(); }\n"
MAIN = "fn main() {}\n"
# (files, words of cargo, environment, status)
FAILING = {
    "compile error": ({"src/main.rs": "type_error.rs"}, ("build",), {}, 101),
    "ice": ({"src/main.rs": "ice.rs"}, ("rustc", "-q", "--", "-Ztreat-err-as-bug"), BOOTSTRAP, 101),
    "status 3": ({"src/main.rs": EXITS}, ("run", "-q"), {}, 3),
    "killed": ({"src/main.rs": ABORTS}, ("run", "-q"), {}, -signal.SIGABRT),
    "build script, status 3": ({"src/main.rs": MAIN, "build.rs": EXITS}, ("build",), {}, 101),
    "build script, killed": ({"src/main.rs": MAIN, "build.rs": ABORTS}, ("build",), {}, 101),
}


@each(*FAILING)
def test_what_fails_is_as_without_us(t, name):
    """Byte for byte; in cargo's run our report comes after all of it."""
    files, words, env, status = FAILING[name]
    files = {path: lab.read_text(os.path.join(PROGRAMS, text)) if text.endswith(".rs") else text
             for path, text in files.items()}
    files["Cargo.toml"] = '[package]\nname = "fails"\nversion = "0.1.0"\nedition = "2021"\n'
    top = workspace.make_files(t, files, "project")
    with Place(t, "rules") as place:
        place.give(top)
        runs = []
        for qprof in ((), (), ("qprof",)):
            shutil.rmtree(os.path.join(top, "target"), ignore_errors=True)
            runs.append(place.run("cargo", *qprof, *words, cwd=top, **env))
    plain, again, ours = runs
    assert plain.status == ours.status == status, (plain, ours)
    assert plain.stdout == ours.stdout, (plain, ours)
    assert steady(again.stderr) == steady(plain.stderr), (plain, again)
    said = steady(ours.stderr)
    assert said.startswith(steady(plain.stderr)), (plain, ours)
    report = said[len(steady(plain.stderr)):].decode()
    assert report.startswith(("compile   fails", "build  ")), report
    assert "by looks from outside" in report, report
