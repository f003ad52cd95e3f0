# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Reads exports without the program's code; protoc decodes protobuf, with the field numbers that
Perfetto and pprof publish (tests/proto). Sums by query: {name: [count, total, self]}.
"""

import collections
import gzip
import json
import os
import re
import shutil
import subprocess

from lab import ROOT, Skip

PROTO = os.path.join(ROOT, "tests/proto")
GO = "/usr/lib/go-1.19/bin/go"
LINE = re.compile(r"\s*(\w+)(?:: (.*)| (\{))$")


def protoc():
    found = shutil.which("protoc")
    if not found:
        raise Skip("no protoc; install protobuf-compiler")
    return found


def text_message(lines):
    """protoc's text as {field: [values]}, recursively. A field without a name is an error."""
    message = collections.defaultdict(list)
    for line in lines:
        if line.strip() == "}":
            break
        name, value, opens = LINE.match(line).groups()
        assert not name.isdigit(), "unknown field: " + line
        if opens:
            message[name].append(text_message(lines))
        elif value.startswith('"'):
            message[name].append(unquote(value))
        else:
            message[name].append(float(value) if "." in value or "e" in value else
                                 int(value) if value.lstrip("-").isdigit() else value)
    return message


def unquote(value):
    """A quoted text of protoc: C's octal escapes, which form UTF-8."""
    return value[1:-1].encode().decode("unicode_escape").encode("latin-1").decode(errors="surrogateescape")


def decode(file, message, data):
    argv = [protoc(), "--proto_path=" + PROTO, "--decode=" + message, file]
    done = subprocess.run(argv, input=data, capture_output=True)
    assert done.returncode == 0, done.stderr
    return text_message(iter(done.stdout.decode().splitlines()))


def sums():
    return collections.defaultdict(lambda: [0, 0, 0])


# ---- Timelines ---------------------------------------------------------------------------------


NO_CHILD = "OffCpu"  # this kind is not a query, and its time counts for its parent, too


class Slices:
    """Starts and ends as a viewer takes them: by time, and at equal times in the file's order."""

    def __init__(self):
        self.sums, self.stacks, self.deepest = sums(), collections.defaultdict(list), 0
        self.ended = []  # (track, start, end, name, kind, texts by the names of annotations)

    def begin(self, track, at, name, kind, texts):
        self.stacks[track].append([name, at, 0, kind, texts])
        self.deepest = max(self.deepest, len(self.stacks[track]))

    def end(self, track, at):
        name, began, inner, kind, texts = self.stacks[track].pop()
        self.ended.append((track, began, at, name, kind, texts))
        if kind == NO_CHILD:
            return
        row = self.sums[name]
        row[0] += 1
        row[1] += at - began
        row[2] += at - began - inner
        if self.stacks[track]:
            self.stacks[track][-1][2] += at - began

    def done(self):
        assert not any(self.stacks.values()), "slices without an end"
        return {name: tuple(row) for name, row in self.sums.items()}


def iids(interned, field, into):
    for entry in interned.get(field, ()):
        assert entry["iid"][0] not in into, entry
        into[entry["iid"][0]] = entry.get("name", [""])[0]


class PerfSamples:
    """The samples of one packet sequence: its interned data come before or with what uses them."""

    def __init__(self):
        self.interned = collections.defaultdict(dict)
        self.samples, self.defaults = [], None

    def add(self, packet):
        for defaults in packet.get("trace_packet_defaults", ()):
            assert self.defaults is None and packet["sequence_flags"] == [1]
            self.defaults = defaults
        for interned in packet.get("interned_data", ()):
            for field, entries in interned.items():
                for entry in entries:
                    assert entry["iid"][0] not in self.interned[field], entry
                    self.interned[field][entry["iid"][0]] = entry
        for sample in packet.get("perf_sample", ()):
            assert packet["sequence_flags"] == [2]
            stack = self.stack(sample["callstack_iid"][0]) if "callstack_iid" in sample else ()
            self.samples.append((packet["timestamp"][0], sample["pid"][0], sample["tid"][0], stack))

    def stack(self, iid):
        frames = self.interned["callstacks"][iid]["frame_ids"]
        return tuple(self.frame(self.interned["frames"][frame]) for frame in frames)

    def frame(self, frame):
        mapping = self.interned["mappings"][frame["mapping_id"][0]]
        assert all(path in self.interned["mapping_paths"] for path in mapping["path_string_ids"])
        assert all(iid in self.interned["build_ids"] for iid in mapping.get("build_id", ()))
        return self.interned["function_names"][frame["function_name_id"][0]]["name"][0]


class Perfetto:
    def __init__(self, data):
        self.trace = decode("perfetto.proto", "Trace", data)
        self.names, self.categories, self.texts = {}, {}, {}
        self.tracks, self.notes, self.counters = {}, [], collections.Counter()
        self.keys, self.last = {}, {}
        self.samples = collections.defaultdict(PerfSamples)  # by the name of their timebase
        sequences, events = {}, []
        assert self.trace["packet"][0]["sequence_flags"] == [1]
        for order, packet in enumerate(self.trace["packet"]):
            (sequence,) = packet["trusted_packet_sequence_id"]
            if sequence != 1:
                for defaults in packet.get("trace_packet_defaults", ()):
                    (timebase,) = defaults["perf_sample_defaults"][0]["timebase"]
                    sequences[sequence] = self.samples[timebase["name"][0]]
                sequences[sequence].add(packet)
                continue
            for interned in packet.get("interned_data", ()):
                iids(interned, "event_names", self.names)
                iids(interned, "event_categories", self.categories)
                iids(interned, "debug_annotation_names", self.keys)
                iids(interned, "debug_annotation_string_values", self.texts)
            for track in packet.get("track_descriptor", ()):
                self.tracks[track["uuid"][0]] = track
            for event in packet.get("track_event", ()):
                (uuid,) = event["track_uuid"]
                assert uuid in self.tracks, "an event before its track"
                for key in ("name_iid", "category_iids"):
                    known = self.names if key == "name_iid" else self.categories
                    assert all(iid in known for iid in event.get(key, ())), event
                events.append((packet["timestamp"][0], order, uuid, event))
        self.slices = self.replay(sorted(events, key=lambda e: e[:2]))

    def replay(self, events):
        slices = Slices()
        for at, _, uuid, event in events:
            kind = event["type"][0]
            if kind == "TYPE_COUNTER":
                self.counters[self.tracks[uuid]["name"][0]] += 1
                self.last[uuid] = event["double_counter_value"][0]
            elif "name" in event:
                self.notes.append(event["name"][0])
            elif kind == "TYPE_SLICE_END":
                slices.end(uuid, at)
            else:
                texts = {self.keys[a["name_iid"][0]]: self.texts[a["string_value_iid"][0]]
                         for a in event.get("debug_annotations", ()) if "string_value_iid" in a}
                slices.begin(uuid, at, self.names[event["name_iid"][0]],
                             self.categories[event["category_iids"][0]], texts)
                if kind == "TYPE_INSTANT":
                    slices.end(uuid, at)
        return slices

    def sums(self):
        return self.slices.done()


# ---- Sums --------------------------------------------------------------------------------------


def self_times(stacks):
    """{name: self} of (frames, ns); the innermost frame is last."""
    found = collections.Counter()
    for frames, ns in stacks:
        found[frames[-1]] += ns
    return found


def folded(data):
    for line in data.decode().splitlines():
        frames, _, ns = line.rpartition(" ")
        yield frames.split(";"), int(ns)


class Pprof:
    def __init__(self, data):
        self.profile = decode("profile.proto", "Profile", gzip.decompress(data))
        strings = self.profile["string_table"]
        assert strings[0] == ""
        functions = {f["id"][0]: strings[f["name"][0]] for f in self.profile["function"]}
        self.locations = {
            l["id"][0]: functions[l["line"][0]["function_id"][0]] for l in self.profile["location"]
        }
        self.types = [(strings[t["type"][0]], strings[t["unit"][0]])
                      for t in self.profile["sample_type"]]

    def stacks(self, value):
        for sample in self.profile.get("sample", ()):
            frames = [self.locations[i] for i in reversed(sample["location_id"])]
            assert len(sample["value"]) == len(self.types)
            yield frames, sample["value"][value]


def go_top(path):
    """{name: (self, total)} in ns, by go tool pprof; None if it is not installed."""
    if not os.path.exists(GO):
        return None
    argv = [GO, "tool", "pprof", "-top", "-unit=ns", "-nodecount=1000000", "-nodefraction=0", path]
    done = subprocess.run(argv, capture_output=True, text=True, env=dict(os.environ, HOME="/tmp"))
    assert done.returncode == 0, done.stderr
    rows = done.stdout[done.stdout.index("flat%"):].splitlines()[1:]
    found = {}
    for row in rows:
        flat, _, _, total, _, name = row.split(None, 5)
        found[name] = float(flat.removesuffix("ns")), float(total.removesuffix("ns"))
    return found


def speedscope(data):
    """Check a file against speedscope's schema; returns the stacks of each profile by name."""
    document = json.loads(data)
    assert document["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    frames = [frame["name"] for frame in document["shared"]["frames"]]
    assert all(isinstance(name, str) for name in frames)
    assert set(document) <= {"$schema", "shared", "profiles", "name", "activeProfileIndex", "exporter"}
    assert 0 <= document["activeProfileIndex"] < len(document["profiles"])
    profiles = {}
    for profile in document["profiles"]:
        assert set(profile) == {"type", "name", "unit", "startValue", "endValue", "samples", "weights"}
        assert profile["type"] == "sampled" and profile["unit"] == "nanoseconds"
        assert len(profile["samples"]) == len(profile["weights"])
        assert profile["endValue"] - profile["startValue"] == sum(profile["weights"])
        profiles[profile["name"]] = [
            ([frames[i] for i in sample], weight)
            for sample, weight in zip(profile["samples"], profile["weights"])
        ]
    return profiles


def counts(data):
    """[(name, count, ns)]"""
    rows = [line.rsplit(",", 2) for line in data.decode().splitlines()]
    return [(name, int(count), round(float(seconds) * 1e9)) for name, count, seconds in rows]
