#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""
sbom.py DIR: the SBOM in each package of DIR is a whole SPDX document, and says of the program beside
it what the program itself shows: the libraries that it loads, the functions of those inside it. The
program needs no newer C library than docs/packages.md has.
"""

import glob
import json
import os
import re
import subprocess
import sys
import tempfile

NEEDED_FIELDS = {"SPDXID", "name", "downloadLocation", "licenseDeclared"}
# The library that the program loads when it needs it, and one that libdw can load, where libdw is inside.
CURL, DEBUGINFOD = "libcurl.so.4", "libdebuginfod.so.1"
# A text of each library that is inside a program without symbols.
TEXTS = {"libbpf-dev": b"libbpf: ", "libcapstone-dev": b"vpclmulqdq", "libzstd-dev": b"Unsupported frame parameter",
         "libdw-dev": b".debug_str_offsets", "zlib1g-dev": b"inflate 1.", "libncurses-dev": b"TERMINFO_DIRS",
         "libsqlite3-dev": b"malformed database schema"}


def loads(program):
    said = subprocess.run(["readelf", "-dW", program], capture_output=True, text=True, check=True)
    return set(re.findall(r"\(NEEDED\).*\[(\S+)\]", said.stdout)) - {"ld-linux-x86-64.so.2"}


def newest_glibc(program):
    said = subprocess.run(["readelf", "-VW", program], capture_output=True, text=True, check=True)
    return max(int(minor) for minor in re.findall(r"GLIBC_2\.(\d+)", said.stdout))


def check(sbom, program, static):
    assert newest_glibc(program) <= 34, newest_glibc(program)
    with open(sbom) as f:
        document = json.load(f)
    assert document["spdxVersion"] == "SPDX-2.3" and document["dataLicense"] == "CC0-1.0"
    packages = {p["SPDXID"]: p for p in document["packages"]}
    assert len(packages) == len(document["packages"]), "an identifier stands twice"
    for package in packages.values():
        assert NEEDED_FIELDS <= package.keys(), package
        assert ("versionInfo" in package) == (package["name"] not in (CURL, DEBUGINFOD)), package
        assert package["licenseDeclared"] != "NOASSERTION", "no licence of %s" % package["name"]
    linked = {"STATIC_LINK": [], "DYNAMIC_LINK": []}
    for relation in document["relationships"]:
        if relation["relationshipType"] in linked:
            linked[relation["relationshipType"]].append(packages[relation["relatedSpdxElement"]])
    later = {packages[r["spdxElementId"]]["name"] for r in document["relationships"]
             if r["relationshipType"] == "OPTIONAL_DEPENDENCY_OF"}
    assert later == {CURL} | ({DEBUGINFOD} if "libdw-dev" in static else set()), later
    listed = {name for p in linked["DYNAMIC_LINK"] for name in re.findall(r"[\w.+-]+\.so[\w.]*", p["comment"])}
    for name in loads(program):
        stem = name.split(".so")[0]
        assert any(n.split(".so")[0].startswith(stem) for n in listed), "%s is not in %s" % (name, sbom)
    assert listed and not {CURL, DEBUGINFOD} & listed, listed
    with open(program, "rb") as f:
        code = f.read()
    assert all(name.encode() in code for name in later)
    names = {p["name"] for p in linked["STATIC_LINK"]}
    assert static <= names, static - names
    for name, text in TEXTS.items():
        assert (text in code) == (name in names), "%s: %s" % (name, name in names)


def main(where):
    (deb,) = glob.glob(os.path.join(where, "*.deb"))
    (tarball,) = glob.glob(os.path.join(where, "*.tar.gz"))
    with tempfile.TemporaryDirectory() as tmp:
        subprocess.run(["dpkg-deb", "-x", deb, tmp + "/deb"], check=True)
        check(tmp + "/deb/usr/share/doc/qprof-bpf/qprof-bpf.spdx.json", tmp + "/deb/usr/bin/qprof-bpf",
              {"libcapstone-dev"})
        os.mkdir(tmp + "/tar")
        subprocess.run(["tar", "-xzf", tarball, "-C", tmp + "/tar", "--strip-components=1"], check=True)
        assert loads(tmp + "/tar/bin/qprof-bpf") <= {"libc.so.6", "libm.so.6"}
        check(tmp + "/tar/share/doc/qprof-bpf/qprof-bpf.spdx.json", tmp + "/tar/bin/qprof-bpf",
              {"libbpf-dev", "libcapstone-dev", "libdw-dev", "libelf-dev", "libsqlite3-dev",
               "libzstd-dev"})


main(sys.argv[1])
