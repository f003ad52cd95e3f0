#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""
circles.py DIR: no files below DIR include each other in a circle, where a .c file and its header
count as one; and no folders do.
"""

import os
import re
import sys

INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)


def includes(top):
    """{file without its ending: the files that it includes}"""
    graph = {}
    for path, _, names in os.walk(top):
        for name in names:
            if not name.endswith((".c", ".h")):
                continue
            file = os.path.relpath(os.path.join(path, name), top)[:-2]
            with open(os.path.join(path, name), encoding="utf-8") as text:
                found = {inc[:-2] for inc in INCLUDE.findall(text.read())
                         if os.path.exists(os.path.join(top, inc))}
            graph.setdefault(file, set()).update(found - {file})
    return graph


def folders(graph):
    of = {}
    for file, others in graph.items():
        room = file.split("/")[0]
        of.setdefault(room, set()).update({other.split("/")[0] for other in others} - {room})
    return of


def reach(graph, start):
    """All that `start` includes, directly or not."""
    seen, todo = set(), list(graph.get(start, ()))
    while todo:
        at = todo.pop()
        if at not in seen:
            seen.add(at)
            todo.extend(graph.get(at, ()))
    return seen


def main():
    graph = includes(sys.argv[1])
    bad = False
    for of in (graph, folders(graph)):
        circle = sorted(at for at in of if at in reach(of, at))
        if circle:
            print("these include each other: " + ", ".join(circle), file=sys.stderr)
            bad = True
    return bad


sys.exit(main())
