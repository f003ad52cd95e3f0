# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A walk of three users through a workspace of Debian's crates: what each came for is asked by one
command, and the answer is on its first screen."""

import json
import re

from debian_workspace import Workspace

SCREEN = 24
TIME = r"[\d.,]+ (?:ns|us|ms|s|min)"
MEMORY = r"[\d.]+ [KMG]iB"
CHANGED = 'fn main() {\n    let more: Vec<u32> = (0..9).map(|i| i * 2).collect();\n    dbg!(more);\n'

# A question, the command that answers it ("build": the whole workspace was built; "again": one crate
# was rebuilt, "other": once more, after a change), and what its first lines hold.
DEVELOPER = (
    ("How long did it take, and did it use the machine?", "report build",
     r"^build     %s, crates compiled: \d+;" % TIME, r"^parallel  [\d.]+ rustc on average",
     r"^threads   %s on a CPU" % TIME),
    ("What would have made it faster?", "report build",
     r"^what kept it from being faster +part +took +saves$",
     r"^\S.* (?:front end|codegen|link|runs) +%s +%s$" % (TIME, TIME), r"^  saves: "),
    ("Which crates were slow, and in which part?", "report build",
     r"^crate \(5 of \d+\) +wall +front end +codegen +link", r"^itertools +%s" % TIME),
    ("What did recording cost?", "report build", r"(?i)^.*cost"),
    ("Which compile needs most memory, and which is the next?", "report build",
     r"^memory    at most: \S.* %s, \S.* %s$" % (MEMORY, MEMORY)),
    ("What is slow in this one crate?", "report --crate itertools build",
     r"^compile   itertools: %s" % TIME, r"^parts     front end %s, codegen %s" % (TIME, TIME),
     r"^item \(\d+ of \d+\)"),
    ("And in all of a package?", "report --crate proc-macro2 build",
     r"crates compiled: 2\b", r"^proc-macro2 \(build script\) +", r"^proc_macro2 +"),
    ("Which of its functions and modules?", "report --by item --crate itertools --top 10 build",
     r"itertools::\w+"),
    ("I rebuilt one crate: what did that take?", "report again",
     r"^compile   tool \(bin\): %s, %s on a CPU" % (TIME, TIME),
     r"^parts     front end %s, codegen %s, link %s" % (TIME, TIME, TIME), r"^waiting   "),
)
OWNER = (
    ("For the summary of the job", "report --markdown build",
     r"^### rustc: %s, \d+ crates compiled" % TIME, r"^\| what kept it from being faster \|"),
    ("Did the change make it slower?", "diff again other", r"(?i)\bwall\b", r"(?i)\bcpu\b"),
    ("For the one crate that I look after", "diff --crate tool again other", r"(?i)\bwall\b"),
    ("What did the build and its memory do?", "diff again other", r"^wall time: +", r"^CPU time: +",
     r"^peak memory: +"),
    ("May this be merged?", "diff --metric results --fail-above 50% again other",
     r"exit status 0: no limit exceeded"),
)
ENGINEER = (
    ("Which queries cost most?", "report --by query --top 10 build", r"^query +", r"on-cpu"),
    ("In one crate?", "report --by query --crate itertools --top 10 build", r"^query +"),
    ("Where in the source is it?", "report --by item --wide --top 5 build", r"/src/\S+\.rs:\d+"),
)


def build(t, w, name, *options):
    run = t.capture(w.command("-p", "tool"), options=("-q", *options), trace=name + ".qpt",
                    env=w.env(), cwd=w.dir)
    assert run.status == 0, run.stderr
    return run.trace


def recorded(t):
    """{word of a command: trace}"""
    w = Workspace(t)
    main = w.dir + "/tool/src/main.rs"
    traces = {"build": build(t, w, "build")}
    with open(main, encoding="utf-8") as source:
        text = source.read()
    for name, new in (("again", text + "\n"), ("other", text.replace("fn main() {\n", CHANGED))):
        with open(main, "w", encoding="utf-8") as source:
            source.write(new)
        traces[name] = build(t, w, name)
    return traces


def ask(t, traces, question, command, *answers):
    done = t.run_qprof(*(traces.get(word, word) for word in command.split()))
    assert done.returncode == 0, (command, done.stderr)
    screen = "\n".join(done.stdout.splitlines()[:SCREEN])
    for answer in answers:
        assert re.search(answer, screen, re.MULTILINE), "%s (%s) lacks %s:\n%s" % (
            question, command, answer, screen)


def test_walk(t):
    traces = recorded(t)
    missing = []
    for question, command, *answers in DEVELOPER + OWNER + ENGINEER:
        try:
            ask(t, traces, question, command, *answers)
        except AssertionError as e:
            missing.append(str(e))
    assert not missing, "\n\n".join(missing)
    for_programs(t, traces)
    one_crate_elsewhere(t, traces)


def for_programs(t, traces):
    """What a CI reads: the path adds up, and each compile has its peak of memory."""
    document = json.loads(t.run_qprof("report", "--json", traces["build"]).stdout)["build"]
    path = document["critical_path"]
    assert sum(step["ns"] for step in path["steps"]) == path["wall_ns"] and path["jobs"] == 2, path
    crates = {crate["name"]: crate for crate in document["crates"]}
    assert {"proc-macro2 (build script)", "itertools", "tool (bin)"} <= set(crates), set(crates)
    assert crates["itertools"]["peak_bytes"] > 0, crates


def one_crate_elsewhere(t, traces):
    for form in ("perfetto", "html", "folded"):
        done = t.run_qprof("export", "-f", form, "--crate", "quote", "-o", t.path("x." + form),
                           traces["build"])
        assert done.returncode == 0, (form, done.stderr)
    with open(t.path("x.folded"), encoding="utf-8") as folded:
        compiles = {line.split(";")[0].rsplit(" (", 1)[0] for line in folded}
    assert "quote" in compiles and compiles <= {"quote", "quote (build script)"}, compiles
