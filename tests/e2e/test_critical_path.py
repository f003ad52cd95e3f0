# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The critical path of a build, in a workspace whose critical path is known by construction."""

import shlex

import lab
import workspace

SLEEP_NS = 2_000_000_000

# slow's build script sleeps; slow <- middle <- app wait for it, and aside waits for nothing.
FILES = {
    "Cargo.toml": '[workspace]\nresolver = "2"\nmembers = ["slow", "middle", "app", "aside"]\n',
    "slow/Cargo.toml": workspace.MANIFEST % ("slow", "", ""),
    "slow/build.rs": "fn main() { std::thread::sleep(std::time::Duration::from_secs(2)) }\n",
    "slow/src/lib.rs": "pub fn one() -> u32 { 1 }\n",
    "middle/Cargo.toml": workspace.MANIFEST % ("middle", "", 'slow = { path = "../slow" }'),
    "middle/src/lib.rs": "pub fn two() -> u32 { slow::one() + 1 }\n",
    "app/Cargo.toml": workspace.MANIFEST % ("app", "", 'middle = { path = "../middle" }'),
    "app/src/main.rs": 'fn main() { println!("{}", middle::two()); }\n',
    "aside/Cargo.toml": workspace.MANIFEST % ("aside", "", ""),
    "aside/src/lib.rs": "",
}


def test_chain(t):
    """A build script's run and the crates behind it are the path, in order; what runs beside is not."""
    top = workspace.make_files(t, FILES)
    argv, env = workspace.cargo(t, "build", "-j4")
    run = t.record(argv, env=env, cwd=top)
    path = t.report(run.trace)["build"]["critical_path"]
    steps = path["steps"]
    assert sum(step["ns"] for step in steps) == path["wall_ns"], path
    ends = [step["start_ns"] + step["ns"] for step in steps]
    assert [step["start_ns"] for step in steps[1:]] == ends[:-1], steps
    seen = list(dict.fromkeys((s["name"], s["part"] == "build_script_run")
                              for s in steps if s["part"] != "other"))
    assert seen == [("slow (build script)", False), ("slow (build script)", True), ("slow", False),
                    ("middle", False), ("app (bin)", False)], seen
    run_step, = (s for s in steps if s["part"] == "build_script_run")
    assert run_step["ns"] >= SLEEP_NS and run_step["saved_ns"] >= SLEEP_NS, run_step
    # middle needs only slow's metadata, so slow's link is not waited for.
    # Unless the machine was so busy that middle began when slow had ended: that looks like a job.
    of_slow = [s for s in steps if s["name"] == "slow"]
    assert any(s["freed_job"] for s in of_slow) or not any(s["part"] == "link" for s in of_slow), steps
    check_texts(t, run.trace)


def check_texts(t, trace):
    lines = lab.alone_lines(t.run_qprof("report", trace).stdout)
    table = next(i for i, l in enumerate(lines) if l.startswith("what kept it from being faster"))
    # On a busy machine a compile may take longer than the build script sleeps.
    rows = lines[table + 1:table + 4]
    assert any("slow (build script)" in row and " runs " in row for row in rows), lines
    assert len(lines) <= 40 and max(map(len, lines)) <= 80, lines
    assert "| `slow (build script)` | build script runs |" in \
        t.run_qprof("report", "--markdown", trace).stdout


def test_long_commands(t):
    """Crates behind 5,000 bytes of arguments, and in a file of arguments, are known and waited for."""
    for name, text in (("a", "pub fn a() {}"), ("b", "extern crate a;"), ("c", "extern crate b;")):
        t.write(f"{name}.rs", text)
    lib = ["--crate-type=lib", "--emit=metadata,link", "-Ldependency=."]
    cfgs = [f'--cfg=feature="{"x" * 90}{i}"' for i in range(50)]
    t.write("args", "\n".join(["--extern", "b=libb.rlib", "--crate-name", "last", *lib, "c.rs", ""]))
    commands = (["a.rs", *lib], ["b.rs", *lib, *cfgs, "--extern", "a=liba.rlib", "--crate-name", "b"], ["@args"])
    script = " && ".join(shlex.join([t.rustc, *command]) for command in commands)
    run = t.record(["sh", "-c", script])
    build = t.report(run.trace)["build"]
    assert [c["name"] for c in sorted(build["crates"], key=lambda c: c["pid"])] == ["a", "b", "last"], build["crates"]
    path = build["critical_path"]
    assert path["cut_commands"] == 0, path
    # In a chain more jobs save nothing, and no crate waited for a job.
    assert path["unlimited_ns"] == path["scheduled_ns"], path
    assert not any(step["freed_job"] for step in path["steps"]), path
