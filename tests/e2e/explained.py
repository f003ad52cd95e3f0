# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Which intervals --slow prints a line about, by the spans of a trace."""


def names(spans, least_ns):
    """Of the long intervals of which at least half is in no other of these."""
    named, threads = [], {}
    for s in spans:
        if s.get("kind") in ("OffCpu", "QueryCacheHit"):
            continue
        ns = max(0, s["end_ns"] - s["start_ns"] - s.get("probe_ns", 0))
        parts = threads.setdefault((s["pid"], s["tid"]), [])
        within = sum(part for depth, part in parts if depth > s["depth"])
        parts[:] = [(depth, part) for depth, part in parts if depth <= s["depth"]]
        explains = ns >= least_ns and within <= ns // 2
        if explains:
            named.append(s["query"])
        parts.append((s["depth"], ns if explains else within))
    return named
