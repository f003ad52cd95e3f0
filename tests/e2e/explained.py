# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Which intervals --slow prints a line about, by the spans of a trace."""


def names(spans, least_ns):
    """Of the long intervals of which at least half is in no other of these."""
    named, threads = [], {}
    for s in spans:
        if s.get("kind") in ("OffCpu", "QueryCacheHit"):
            continue
        ns = max(0, s["end_ns"] - s["start_ns"] - s.get("probe_ns", 0))
        parts = threads.setdefault((s["pid"], s["tid"]), {})  # by depth
        within = sum(parts.pop(depth) for depth in [d for d in parts if d > s["depth"]])
        explains = ns >= least_ns and within <= ns // 2
        if explains:
            named.append(s["query"])
        if explains or within:
            parts[s["depth"]] = parts.get(s["depth"], 0) + (ns if explains else within)
    return named
