# SPDX-License-Identifier: Apache-2.0 OR MIT
"""LLVM's own trace (-Zllvm-time-trace) beside the samples of the same process.

LLVM's trace is of the wall clock. The recording knows what a thread was off the CPU, and that is
taken off. Such a trace also takes time itself, for each scope and when its array grows: samples
with its functions in their stack are left out, here and there. So neither the load of the machine
nor the price of the trace is in what is compared.
"""

import bisect
import collections
import glob
import json
import math
import os

# Needed on stable; without the second, 1.95 writes nothing of its threads.
FLAGS = ("-Zllvm-time-trace", "-Zno-parallel-backend")
# Times off the CPU need a probe's recording; few probes are in LLVM's threads.
OPTIONS = ("-q", "-e", "default", "--sample=1999")

# Rows that are no function. LLVM's events of modules have debug information and object files, too,
# of which its list has nothing: both are one row.
CALL_GRAPH, MODULE = "(call graph)", "(no function)"
NO_FUNCTION = (CALL_GRAPH, MODULE)
OUTSIDE = "(in no event)"
ADAPTOR = "ModuleToPostOrderCGSCCPassAdaptor"
OWN = ("llvm::timeTrace", "llvm::TimeTrace")
SIGMAS = 3


def row_of(name, detail):
    """The row of an event in no function's. Passes over a function run below these two; an analysis of
    one that a pass over a module asks for is the module's."""
    if name == "OptFunction" or (name.startswith("PassManager<") and name.endswith("Function>")):
        return detail
    return CALL_GRAPH if name == ADAPTOR else MODULE


def segments(events):
    """[start, end, row] of one thread, one after the other, in ns of the trace."""
    found, stack, at = [], [], 0

    def move(to):
        nonlocal at
        if to > at and stack:
            row = stack[-1][1]
            if found and found[-1][2] == row and found[-1][1] == at:
                found[-1][1] = to
            else:
                found.append([at, to, row])
        at = max(at, to)

    def close(until):
        while stack and stack[-1][0] <= until:
            move(stack[-1][0])
            stack.pop()
        move(until)

    for e in sorted(events, key=lambda e: (e["ts"], -e["dur"])):
        start, end = 1000 * e["ts"], 1000 * (e["ts"] + e["dur"])
        close(start)
        row = stack[-1][1] if stack else MODULE
        if row in NO_FUNCTION:
            inner = row_of(e["name"], (e.get("args") or {}).get("detail", ""))
            row = row if row == CALL_GRAPH and inner in NO_FUNCTION else inner
        # Times are whole microseconds, so that an inner event may seem to end a little later.
        stack.append((min(end, stack[-1][0]) if stack else end, row))
    close(float("inf"))
    return found


class OffCpu:
    """Time that a thread was off the CPU, up to a moment."""

    def __init__(self, spans):
        self.spans = sorted((s["start_ns"], s["end_ns"]) for s in spans)
        self.starts = [start for start, _ in self.spans]
        self.before = [0]
        for start, end in self.spans:
            self.before.append(self.before[-1] + end - start)

    def until(self, time):
        i = bisect.bisect_right(self.starts, time)
        late = max(0, self.spans[i - 1][1] - time) if i else 0
        return self.before[i] - late


class Compared:
    """What LLVM's threads worked on, in seconds of CPU time: by our samples, and by LLVM's trace."""

    def __init__(self, dumped, path):
        head = json.loads(dumped.split("\n", 1)[0])
        lines = [json.loads(line) for line in dumped.splitlines() if '"type":"' in line[:20]]
        with open(path, encoding="utf-8") as f:
            trace = json.load(f)
        self.offset = (trace["beginningOfTime"] * 1000 - head["realtime_start_ns"]
                       + head["clock_start_ns"])
        events, off = collections.defaultdict(list), collections.defaultdict(list)
        for e in trace["traceEvents"]:
            if e["ph"] == "X" and not e["name"].startswith("Total "):
                events[e["tid"]].append(e)
        for line in lines:
            if line["type"] == "span" and line["kind"] == "OffCpu":
                off[line["tid"]].append(line)
        self.segments = {tid: segments(of) for tid, of in events.items()}
        self.ours, self.theirs, self.n = (collections.Counter() for _ in range(3))
        for tid, of in self.segments.items():
            away = OffCpu(off[tid])
            for start, end, row in of:
                on = end - start - away.until(end + self.offset) + away.until(start + self.offset)
                self.theirs[row] += on / 1e9
        self.same, self.different, self.own = 0, collections.Counter(), 0
        self.take_samples(lines)

    def take_samples(self, lines):
        own = {}
        for line in lines:
            if line["type"] == "stack":
                name = (line.get("location") or {}).get("function") or ""
                own[line["id"]] = name.startswith(OWN) or own.get(line["parent"], False)
        starts = {tid: [start for start, _, _ in of] for tid, of in self.segments.items()}
        for s in lines:
            if s["type"] != "sample" or s["cause"] != "cpu" or s["tid"] not in starts:
                continue
            time, seconds = s["time_ns"] - self.offset, s["value"] / 1e9
            i = bisect.bisect_right(starts[s["tid"]], time) - 1
            at = self.segments[s["tid"]][i] if i >= 0 else None
            theirs = at[2] if at and time < at[1] else OUTSIDE
            # Where LLVM's library is not known yet, nothing is compared.
            if own.get(s["stack"], False) or "llvm" not in s:
                self.own += 1
                self.theirs[theirs] -= seconds
                continue
            ours = self.row(s)
            if theirs == OUTSIDE and ours == MODULE:
                continue
            self.ours[ours] += seconds
            self.n[ours] += 1
            # Between two segments, a clock of microseconds does not say which one it is.
            if ours == theirs or (at and min(time - at[0], at[1] - time) < 2000):
                self.same += 1
            else:
                self.different[ours, theirs] += 1

    @staticmethod
    def row(sample):
        entry = sample["llvm"]
        if entry["function"] and entry["scope"] != "scc":
            return entry["function"]
        return CALL_GRAPH if entry["pass"] == ADAPTOR else MODULE

    def share(self, row):
        """Of the time in functions, by LLVM's trace, by samples, and the error of the latter."""
        n = sum(of for name, of in self.n.items() if name not in NO_FUNCTION)
        theirs = sum(of for name, of in self.theirs.items() if name not in NO_FUNCTION)
        return self.theirs[row] / theirs, self.n[row] / n, math.sqrt(max(self.n[row], 1)) / n

    def functions(self, least=0.01):
        """Those with a larger share in either, the largest by LLVM's trace first: (function, how many
        errors they differ by)."""
        found = []
        for row in set(self.theirs) | set(self.n):
            theirs, ours, error = self.share(row)
            if row not in NO_FUNCTION and max(theirs, ours) > least:
                found.append((row, (ours - theirs) / error))
        return sorted(found, key=lambda of: -self.theirs[of[0]])

    def misplaced(self, n=10):
        """Of the first functions by LLVM's trace, those that are beyond the same place here, by more
        than the errors."""
        ours = sorted((row for row in self.n if row not in NO_FUNCTION), key=lambda row: -self.n[row])
        if not ours:
            return ["no function"]
        _, last, last_error = self.share(ours[min(n, len(ours)) - 1])
        found = []
        for row, _ in self.functions(0)[:n]:
            _, share, error = self.share(row)
            if last - share > SIGMAS * math.hypot(error, last_error):
                found.append(row)
        return found

    def rest(self, row):
        """The same in seconds, for a row that is no function."""
        error = math.sqrt(max(self.n[row], 1)) * self.ours[row] / max(self.n[row], 1)
        return self.theirs[row], self.ours[row], error

    def assert_alike(self):
        """Each sample by itself, and what they come to. Samples come at even distances, so that errors
        are below those of random ones: none of the rows here may be beyond three."""
        rows = self.functions()
        assert rows, "no function has one hundredth"
        wrong = [of for of in rows if abs(of[1]) > SIGMAS]
        assert not wrong, wrong
        assert not self.misplaced(), self.misplaced()
        n = self.same + sum(self.different.values())
        functions = sum(of for (ours, theirs), of in self.different.items()
                        if ours not in NO_FUNCTION and theirs not in NO_FUNCTION)
        assert self.same >= 0.9 * n and functions <= 0.002 * n, (self.same, n, self.different.most_common(5))
        # Between two passes of code generation there is no entry here: no function has that time.
        for row, between in ((CALL_GRAPH, 0.1), (MODULE, 0.25)):
            theirs, ours, error = self.rest(row)
            assert abs(ours - theirs) <= SIGMAS * error + between * theirs, (row, theirs, ours, error)
        return "%d functions above 1 %%, off by %.1f errors at most; %d of %d samples are alike" % (
            len(rows), max(abs(of) for _, of in rows), self.same, n)


def recorded(t, rustc, arguments, env, name="compared"):
    """One compile, which traces itself while it is recorded."""
    out = t.mkdir(name)
    # So that the tables of LLVM's library are there when the first sample is taken.
    assert t.run_qprof("plan", rustc).returncode == 0
    run = t.record([rustc, *arguments, *FLAGS, "--out-dir", out], options=OPTIONS, env=env,
                   trace=name + ".qpt", exact=False)
    dumped = t.run_qprof("dump", run.trace)
    assert dumped.returncode == 0, dumped.stderr
    (path,) = glob.glob(os.path.join(out, "*.llvm_timings.json"))
    return Compared(dumped.stdout, path)
