# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A walk of three users through a workspace of Debian's crates: what each came for is asked by one
command, and the answer is on its first screen."""

import os
import re

import lab
from users import SCREEN, Walk

TIME = r"[\d.,]+ (?:ns|us|ms|s|min)"
MEMORY = r"[\d.]+ [KMG]iB"
COUNT = r"[\d,]+"

# A question, the command that answers it, and what its first lines hold. Words of the command that
# name a recording (users.py) are its trace; "said NAME" is what was said while it was made.
DEVELOPER = (
    ("How long did it take, and did it use the machine?", "report build",
     r"^build     %s, crates compiled: 11; \d version checks" % TIME,
     r"^parallel  [\d.]+ rustc on average", r"^tail      one rustc at a time for the last %s$" % TIME,
     r"^threads   %s of CPU time, %s ready but waiting for a CPU$" % (TIME, TIME),
     r"^waiting   %s in passes and queries, %s elsewhere$" % (TIME, TIME)),
    ("What would have made it faster?", "report build",
     r"^what kept it from being faster +part +took +saves$",
     r"^\S.* (?:front end|codegen|link|runs) +%s +%s$" % (TIME, TIME), r"^  saves: "),
    ("Which crates were slow, and in which part?", "report build",
     r"^crate \(\d of \d+\) +wall +front end +codegen +link", r"^itertools +%s" % TIME),
    ("What did recording cost?", "report build",
     r"^cost      recording added %s of CPU, [\d.]+ %% of what the compilers used" % TIME),
    ("And what of it?", "report --cost build",
     r"^what recording added +CPU +% +number$", r"^hits of probes ",
     r"^breakpoints, written into each new compiler ", r"^qprof-bpf itself ", r"^together ",
     r"^100 %%: %s, the CPU time of the compilers without it$" % TIME),
    ("Which compile needs most memory, and which is the next?", "report build",
     r"^memory    at most: \S.* %s, \S.* %s$" % (MEMORY, MEMORY)),
    ("What is slow in this one crate?", "report --crate itertools build",
     r"^compile   itertools: %s" % TIME, r"^parts     front end %s, codegen %s" % (TIME, TIME),
     r"^  >: chosen, %s of the " % TIME, r"^item \(\d+ of \d+\)", r"^query \(10 of \d+\) "),
    ("And in all of a package?", "report --crate proc-macro2 build",
     r"crates compiled: \d+, chosen: 2\b", r"^proc-ma\S* \(build script\) +", r"^proc_macro2 +"),
    ("Which of its functions and modules?", "report --by item --crate itertools --top 10 build",
     r"itertools::\w+"),
    ("I rebuilt one crate: what did that take?", "report again",
     r"^compile   tool \(bin\): %s, at most " % TIME,
     r"^parts     front end %s, codegen %s, link %s" % (TIME, TIME, TIME), r"^waiting   ",
     r"^reuse     ~?%s loaded" % COUNT),
    ("It was in a pipe: did it print that, and no table a second?", "said again",
     r"^compile   tool \(bin\): ", r"^parts     front end "),
    ("I ran cargo test and cargo doc: which is which?", "report targets",
     r"^tool \(test\) +%s" % TIME, r"^tool \(bin doc\) +%s" % TIME),
    ("Which constant hangs my compile?", "said slow",
     r"^qprof-bpf: slow: eval_to_allocation_raw\(slow::limits::LIMIT\) %s " % TIME),
    ("What is this compiler in, that ran before I attached?", "said late",
     r"^qprof-bpf: late, compiler \d+, started %s ago, is in .*resolver_for_lowering_raw"
     r"(?:$|; )" % TIME),
    ("How long has it been in that?", "said stuck",
     r"^late: compiler \d+, started %s ago$" % TIME,
     r"^ +at least +%s  resolver_for_lowering_raw$" % TIME),
    ("Why are crates missing?", "said outsiders",
     r"not recorded, as nothing recorded started (?:it|them): .* --system records (?:it|them)"),
)
OWNER = (
    ("For the summary of the job", "report --markdown build",
     r"^### rustc: %s, \d+ crates compiled" % TIME, r"^\| what kept it from being faster \|"),
    ("Did my change help, and what does the new dependency cost?", "diff build other",
     r"^wall time: +.*: (no verdict with fewer than 3 traces a side|not compared)$", r"^CPU time: +",
     r"^peak memory: +.*, most in \S", r"^CPU time of crates$", r"^ *\+%s +new .*  log$" % TIME),
    ("For the one crate that I look after", "diff --crate tool build other", r"^wall time: "),
    ("Which function, and which query?", "diff --crate tool exact-build exact-other",
     r"^ *change +% +base +new +(?:executions +)?at +item$", r"tool::limits::LIMIT$",
     r"crate/query$", r"tool \(bin\)/eval_to_allocation_raw$"),
    ("May this be merged?", "diff --metric results --fail-above 1% before build",
     r"^results: +%s -> %s, no change$" % (COUNT, COUNT), r"^exit status 0: no limit exceeded$"),
    ("And by executions?", "diff --metric count --fail-above 1% before build",
     r"^executions: +.*, no change$", r"^exit status 0: no limit exceeded$"),
    ("This one adds a constant and a crate", "diff --metric results --fail-above 1% build other",
     r"^FAILED --fail-above 1%: results ", r"^exit status 1: 1 of 1 limits exceeded$"),
    ("I compared a clean build with an incremental one", "diff again build",
     r"\Adifferent work: new is a clean build; in base 1 of 1 compiles reused results ",
     r"^wall time: .*: not compared$", r"^CPU time: .*: not compared$"),
)
ENGINEER = (
    ("Which queries cost most, and how sure is that?", "report --by query --top 10 build",
     r"^query +count +total +self +\+- +self %( +waiting)?( +max)?$", r"^typeck +%s +%s +%s +%s " % (COUNT, TIME, TIME, TIME)),
    ("In one crate?", "report --by query --crate itertools --top 10 build", r"^query +"),
    ("What is slow in typeck?", "report --query typeck build", r"^typeck +%s " % COUNT,
     r"^ *(?:on-cpu|self) .* +item$", r"^  and %s more items$" % COUNT),
    ("Where in the source is it?", "report --by item --wide --top 5 build", r"/src/\S+\.rs:\d+"),
    ("Is this query ever executed?", "report again",
     r"^\S+ \(loaded\) +0 |^reuse .* loaded from the last build "),
    ("What does a field mean?", "report --schema", r'"qprof-fields/1"'),
)


def run(walk, command):
    """The first screen, and the exit status."""
    words = [walk.trace(word) if os.path.exists(walk.trace(word)) else word
             for word in command.split()]
    if words[0] == "said":
        return "\n".join(line for line in walk.said[command.split()[1]].splitlines()
                         if not line.startswith(" ") or "at least" in line), 0
    done = walk.t.run_qprof(*words)
    screen = "\n".join(done.stdout.splitlines()[:SCREEN])
    return screen + (done.stderr if done.returncode else ""), done.returncode


def ask(walk, question, command, *answers):
    screen, status = run(walk, command)
    expected = 1 if any("exit status 1" in answer for answer in answers) else 0
    assert status == expected, (question, command, status, screen)
    for answer in answers:
        assert re.search(answer, screen, re.MULTILINE), "%s (%s) lacks %s:\n%s" % (
            question, command, answer, screen)


@lab.alone("a compiler that the command did not start is named, and another test's could be")
def test_walk(t):
    walk = Walk(t)
    walk.all()
    missing = []
    for question, command, *answers in DEVELOPER + OWNER + ENGINEER:
        try:
            ask(walk, question, command, *answers)
        except AssertionError as e:
            missing.append(str(e))
    assert not missing, "\n\n".join(missing)
    one_line_explains_the_time(walk)
    waiting_leads_no_table(walk)
    for_programs(walk)
    one_crate_elsewhere(walk)
    counts_are_the_same_everywhere(walk)


def one_line_explains_the_time(walk):
    slow = [line for line in walk.said["slow"].splitlines() if line.startswith("qprof-bpf: slow:")]
    # An activity around a query by samples has a line of its own, which says so.
    slow = [line for line in slow if "(with its queries," not in line]
    assert len(slow) == 1, slow


def document(walk, *options):
    return walk.t.json(*options)


def waiting_leads_no_table(walk):
    """The main thread of a compiler waits in LLVM_passes, in tables and exports of CPU time too."""
    rows = document(walk, "report", "--by", "query", "--json", walk.trace("build"))["queries"]
    assert "LLVM_passes" not in [row["name"] for row in rows[:10]], rows[:10]
    exact = walk.trace("exact-build")
    rows = document(walk, "report", "--by", "query", "--json", exact)["queries"]
    times = []
    for options in ((), ("--wall",)):
        stacks = export(walk, "folded", *options, trace="exact-build")
        times.append(sum(ns for stack, ns in stacks if stack.endswith("LLVM_passes")))
    row, = (row for row in rows if row["name"] == "LLVM_passes")
    assert times[0] <= row["self_ns"] - row["self_off_ns"] < times[1] <= row["self_ns"], (times, row)


def for_programs(walk):
    """The JSON that a CI reads: the path adds up, each compile has its peak of memory, fields have units."""
    build = document(walk, "report", "--json", walk.trace("build"))["build"]
    path = build["critical_path"]
    assert sum(step["ns"] for step in path["steps"]) == path["wall_ns"] and path["jobs"] == 2, path
    crates = {crate["name"]: crate for crate in build["crates"]}
    assert {"proc-macro2 (build script)", "itertools", "tool (bin)"} <= set(crates), set(crates)
    assert crates["itertools"]["peak_bytes"] > 0, crates
    fields = {f["path"]: f for f in document(walk, "report", "--schema")["fields"]}
    assert fields["build.crates[].cpu_ns"]["unit"] == "ns", fields


def export(walk, form, *options, trace="build"):
    """The contents of an export; of folded stacks (stack, ns)."""
    path = walk.t.path("x." + form)
    done = walk.t.run_qprof("export", "--force", "-f", form, *options, "-o", path,
                            walk.trace(trace))
    assert done.returncode == 0, (form, done.stderr)
    if form != "folded":
        return None
    with open(path, encoding="utf-8") as folded:
        lines = [line.rstrip("\n").rpartition(" ") for line in folded]
    return [(stack, int(ns)) for stack, _, ns in lines]


def one_crate_elsewhere(walk):
    for form in ("perfetto", "html", "pprof", "speedscope"):
        export(walk, form, "--crate", "quote")
    stacks = export(walk, "folded", "--crate", "quote")
    compiles = {stack.split(";")[0].rsplit(" (", 1)[0] for stack, _ in stacks}
    assert "quote" in compiles and compiles <= {"quote", "quote (build script)"}, compiles


def counts_are_the_same_everywhere(walk):
    """Executions of queries are one number, in the report, its JSON and a comparison."""
    trace = walk.trace("build")
    report = document(walk, "report", "--by", "query", "--json", trace)
    text = walk.t.run_qprof("report", "--by", "query", trace).stdout
    said = re.search(r"^in all: (%s) executions of queries, (?:%s results? that may be none, )?"
                     r"(%s) activities$" % (COUNT, COUNT, COUNT), text, re.MULTILINE)
    numbers = [int(n.replace(",", "")) for n in said.groups()]
    assert numbers == [report["query_executions"], report["activities"]], (numbers, said[0])
    both = document(walk, "diff", "--json", walk.trace("again"), walk.trace("again"))
    again = document(walk, "report", "--json", walk.trace("again"))["query_executions"]
    crates = [crate["base"]["count"]["median"] for crate in both["crates"]]
    groups = document(walk, "report", "--by", "crate", "--json", trace)["groups"]
    crates_of_build = document(walk, "report", "--json", trace)["build"]["crates"]
    assert sum(group["count"] for group in groups) == report["query_executions"], groups
    assert {group["name"]: group["count"] for group in groups} == \
        {crate["name"]: crate["executions"] for crate in crates_of_build}, (groups, crates_of_build)
    # Of those that had probes.
    assert sum(crates) == both["build"]["base"]["count"]["median"] <= again, (crates, again)
