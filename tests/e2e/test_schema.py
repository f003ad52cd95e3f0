# SPDX-License-Identifier: Apache-2.0 OR MIT
"""report --schema has the fields of report --json, and no others."""

import glob
import json
import os
import re

import lab
import test_planted

ROWS = [()] + [("--by", by) for by in ("item", "module", "macro", "cgu", "crate", "process", "thread")]

# Fields of traces that are not here: incremental compiles, and what only a recording of them has.
NOT_HERE = re.compile(r"\.incremental(\.|$)|\.(incremental_\w+_ns|loads|loaded|began_before|freed_job|chosen|results)$|"
                      r"^(processes\[\]\.)?queries\[\]\.raw_|^macros\[\]|\.sampled(\.|$)|"
                      r"queries\[\]\.sampled_max_ns$|^items\[\]\.call_|^(callers)\[\]|_at_least$|"
                      r"^unsure_results$|^cost\.other_recordings$|"
                      r"^(build\.)?(items|modules)\[\]\.(memory_bytes|sampled_off_ns)$|"
                      r"^build\.(queries|pairs|passes)\[\]\.(best_|sampled_|samples)|"
                      r"^(groups|items|modules|build\.items)\[\](\.queries\[\])?\.(self_by|best_self_)|"
                      r"^llvm(\.|$)|\.llvm_(error_)?ns$")


def paths(value, at=""):
    if isinstance(value, dict):
        for key, member in value.items():
            path = "%s.%s" % (at, key) if at else key
            yield path
            yield from paths(member, path)
    elif isinstance(value, list):
        for member in value:
            yield from paths(member, at + "[]")


def printed(t, traces):
    """The paths of all fields in the reports of these traces."""
    seen = set()
    for trace in traces:
        for options in ROWS + [("--callers", "*")]:
            done = t.run_qprof("report", "--json", *options, trace)
            if done.returncode == 0:
                seen |= set(paths(json.loads(done.stdout)))
    return seen


def listed(t):
    fields = t.json("report", "--schema")["fields"]
    units = {"ns", "bytes", "count", "ppm", "ps", "id", "text", "bool",
             "list", "object", "share"}
    assert all(f["unit"] in units and f["text"] for f in fields), fields
    for f in fields:
        for unit in ("ns", "bytes", "ppm", "ps"):
            assert not f["path"].endswith("_" + unit) or f["unit"] == unit, f
    texts = {f["path"]: f["text"] for f in fields}
    assert len(texts) == len(fields), "a field is listed twice"
    return texts


def test_fields(t):
    """Those of the traces in the repository, and of a build."""
    traces = glob.glob(os.path.join(lab.ROOT, "tests/golden/good*.qpt"))
    if lab.why_no_capture():
        seen, known = printed(t, traces), listed(t)
        assert seen <= set(known), sorted(seen - set(known))
        raise lab.Skip(lab.why_no_capture())
    seen, known = printed(t, [*traces, test_planted.built(t)]), listed(t)
    assert seen <= set(known), sorted(seen - set(known))
    # A text says whether its field may be missing.
    missing = {path for path, text in known.items()
               if path not in seen and "missing:" not in text and not NOT_HERE.search(path)}
    assert not missing, sorted(missing)
    return "%d of %d fields" % (len(seen), len(known))
