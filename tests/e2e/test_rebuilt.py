# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What cargo built again, and why: each build of a workspace has one thing changed."""

import os

import workspace

# low <- dep, which has a build script, <- app
FILES = {
    "Cargo.toml": '[workspace]\nresolver = "2"\nmembers = ["low", "dep", "app"]\n',
    "low/Cargo.toml": workspace.MANIFEST % ("low", "", ""),
    "low/src/lib.rs": 'pub mod part;\npub const SET: Option<&str> = option_env!("LOW_SET");\n',
    "low/src/part.rs": "pub fn one() -> u32 { 1 }\n",
    "dep/Cargo.toml": workspace.MANIFEST % ("dep", "", 'low = { path = "../low" }'),
    "dep/build.rs": 'fn main() { println!("cargo:rerun-if-env-changed=DEP_SET"); }\n',
    "dep/src/lib.rs": "pub fn two() -> u32 { low::part::one() + 1 }\n",
    "app/Cargo.toml": workspace.MANIFEST % ("app", "[features]\nextra = []", 'dep = { path = "../dep" }'),
    "app/src/main.rs": 'fn main() { println!("{}", dep::two()); }\n',
}

LOW = [("dep", "dependency", None), ("app (bin)", "dependency", None)]
SCRIPT = "dep (build script run)"


class Builds:
    """A workspace that is built once, and then recorded again and again."""

    def __init__(self, t):
        self.t = t
        self.top = workspace.make_files(t, FILES)
        argv, env = workspace.cargo(t, "build", "-q")
        t.plain(argv, env=env, cwd=self.top)

    def record(self, *arguments, **more):
        argv, env = workspace.cargo(self.t, *(arguments or ("build", "-q")))
        return self.t.record(argv, env={**env, **more}, cwd=self.top, exact=False).trace

    def again(self, *arguments, **more):
        """What is in the report of the next build: (crate, reason, detail), those that changed in any order."""
        rows = self.t.report(self.record(*arguments, **more))["build"].get("rebuilt", [])
        rows = [(row["crate"], row["reason"], row["detail"]) for row in rows]
        itself = [row for row in rows if row[1] != "dependency"]
        assert rows[:len(itself)] == itself, rows
        return sorted(itself), sorted(rows[len(itself):])

    def change(self, path, text):
        self.t.write(os.path.join("workspace", path), text)


def test_files_and_variables(t):
    """A changed file, a variable and a build script's variable are named, and the rest depends on these."""
    b = Builds(t)
    b.change("low/src/part.rs", "pub fn one() -> u32 { 11 }\n")
    assert b.again() == ([("low", "file", "src/part.rs")], sorted(LOW))
    assert b.again("build", "-q", LOW_SET="1") == ([("low", "environment", "LOW_SET")], sorted(LOW))
    # The variable that is not set any more is one, too.
    assert b.again("build", "-q", DEP_SET="1") == (
        sorted([("low", "environment", "LOW_SET"), (SCRIPT, "environment", "DEP_SET")]), sorted(LOW))
    b.change("app/src/main.rs", "this is no rust\n")
    argv, env = workspace.cargo(t, "build", "-q")
    failed = t.capture(argv, env={**env, "DEP_SET": "1"}, cwd=b.top, exact=False)
    assert failed.status, failed
    rows = t.report(failed.trace)["build"]["rebuilt"]
    assert rows == [{"crate": "app (bin)", "reason": "file", "detail": "src/main.rs"}], rows


def test_settings(t):
    """Features, flags, a dependency and another command are told apart, in each output."""
    b = Builds(t)
    assert b.again("build", "-q", "--features", "app/extra") == ([("app (bin)", "features", "+extra")], [])
    both = [(name, "flags", None) for name in
            ("app (bin)", "dep", "dep (build script run)", "dep (build script)", "low")]
    assert b.again("build", "-q", RUSTFLAGS="-Cdebuginfo=1") == (both, [])
    b.change("app/Cargo.toml", FILES["app/Cargo.toml"] + 'low = { path = "../low" }\n')
    assert b.again() == ([("app (bin)", "dependencies", "+low")], [])
    trace = b.record("check", "-q")
    text = t.run_qprof("report", trace).stdout
    line, = (line for line in text.splitlines() if line.startswith("rebuilt "))
    assert line.endswith(": built before by another command"), text
    markdown = t.run_qprof("report", "--markdown", trace).stdout
    assert "- built again:\n  - `" in markdown, markdown
    dumped = t.dumped(trace, "rebuilt")
    assert sorted((row["crate"], row["reason"]) for row in dumped) == [
        ("app (bin)", "command"), ("dep", "command"), ("low", "command")], dumped


def test_first_and_nothing(t):
    """Nothing is said of a first build, nor of crates that are built for the first time later."""
    top = workspace.make_files(t, FILES)
    argv, env = workspace.cargo(t, "build", "-q", "-p", "low")
    run = t.record(argv, env=env, cwd=top, exact=False)
    assert "rebuilt" not in t.report(run.trace)["build"]
    argv, env = workspace.cargo(t, "build", "-q")
    run = t.record(argv, env=env, cwd=top, exact=False)
    report = t.report(run.trace)["build"]
    assert {crate["name"] for crate in report["crates"]} == {"dep", "dep (build script)", "app (bin)"}, report
    assert "rebuilt" not in report, report["rebuilt"]
    assert "\nrebuilt " not in t.run_qprof("report", run.trace).stdout
