#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""
apart_memory.py FILE...: no STACK_APART or UNWIND_APART function of the BPF programs gives a map a
key or a value that lies behind one of its parameters, directly or through other functions.

The verifier checks such a function alone, and takes what its parameters point to for memory of an
unknown kind. Linux 6.1 refuses that as a key or value ("R2 type=mem expected=fp, ..."); later
kernels allow it, so tests on them find nothing.
"""

import re
import sys

FUNCTION = re.compile(r"^(\w[\w \t*]*?)(\w+)\(([^;{}]*?)\)\n\{\n(.*?)^\}", re.M | re.S)
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\])*\"", re.S)
# x = &s->field, x = s
ALIAS = re.compile(r"\b(\w+)\s*=\s*(?:&\s*(\w+)->|(\w+)\s*[;,])")
CALL = re.compile(r"\b(\w+)\(")
# The places of keys and values among the arguments.
MAP_CALLS = {
    "bpf_map_lookup_elem": (1,),
    "bpf_map_update_elem": (1, 2),
    "bpf_map_delete_elem": (1,),
    "bpf_map_push_elem": (1,),
    "bpf_map_pop_elem": (1,),
    "bpf_map_peek_elem": (1,),
}


def arguments(body, at):
    """Those of the call whose first one begins at `at`."""
    depth, begin, found = 0, at, []
    for i in range(at, len(body)):
        c = body[i]
        if depth == 0 and c in ",)":
            found.append(body[begin:i].strip())
            begin = i + 1
            if c == ")":
                break
        depth += (c in "([{") - (c in ")]}")
    return found


class Function:
    def __init__(self, file, head, name, parameters, body):
        self.file, self.name, self.body = file, name, body
        self.is_apart = "_APART" in head
        self.parameters = [re.search(r"\*\s*(\w+)$", p.strip()) for p in parameters.split(",")]
        self.parameters = [p and p.group(1) for p in self.parameters]
        self.owner = {p: p for p in self.parameters if p}  # of a local pointer: the parameter
        for name, within, whole in ALIAS.findall(body):
            if (within or whole) in self.owner:
                self.owner.setdefault(name, self.owner[within or whole])
        self.calls = [(c.group(1), arguments(body, c.end())) for c in CALL.finditer(body)]
        self.bad = set()  # parameters behind which a key or value lies

    def parameter_of(self, argument):
        """The parameter behind which an argument's memory lies; None: of no parameter."""
        plain = re.sub(r"^\(\s*(?:const\s+)?(?:struct\s+)?\w+\s*\*\s*\)\s*", "", argument)
        root = re.match(r"&?\s*\(?\s*(\w+)\s*\)?\s*(?:$|->|\+|\[)", plain)
        return self.owner.get(root.group(1)) if root else None

    def find_bad(self, functions):
        """Whether another parameter was found."""
        before = len(self.bad)
        for name, args in self.calls:
            places = MAP_CALLS.get(name, ())
            called = functions.get(name)
            # A function that stands apart is judged by itself.
            if called and not called.is_apart:
                places = [i for i, p in enumerate(called.parameters) if p in called.bad]
            self.bad |= {self.parameter_of(args[i]) for i in places if i < len(args)} - {None}
        return len(self.bad) > before


def functions_of(files):
    found = {}
    for file in files:
        with open(file, encoding="utf-8") as text:
            code = COMMENT.sub("", text.read())
        for head, name, parameters, body in FUNCTION.findall(code):
            found[name] = Function(file, head, name, parameters, body)
    return found


def main():
    functions = functions_of(sys.argv[1:])
    while any([f.find_bad(functions) for f in functions.values()]):
        pass
    faults = [f for f in functions.values() if f.is_apart and f.bad]
    for f in faults:
        print(f"{f.file}: {f.name}() gives a map a key or value behind its parameter "
              f"{', '.join(sorted(f.bad))}, which Linux 6.1 refuses: copy it to the stack, or look "
              "the pointer up", file=sys.stderr)
    if not any(f.is_apart for f in functions.values()):
        print("no function that stands apart was found", file=sys.stderr)
        return True
    return bool(faults)


sys.exit(main())
