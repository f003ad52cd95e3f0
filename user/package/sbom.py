#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""
What was linked into a program, by the linker's own map and the program's dynamic section.

    sbom.py PROGRAM VERSION        an SPDX 2.3 document on stdout; the map is PROGRAM.map
    sbom.py --licences DIR SBOM    copies the licences of what is linked statically to DIR

dpkg knows which package a library belongs to. A library without one is an error: the document would
be incomplete. A library that the program only loads when it needs it is that of the machine on which it
runs, so it has no version. SOURCE_DATE_EPOCH dates the document (date.sh).
"""

import datetime
import json
import os
import re
import shutil
import subprocess
import sys

STATIC, DYNAMIC, OPTIONAL = "STATIC_LINK", "DYNAMIC_LINK", "OPTIONAL_DEPENDENCY_OF"
COMMON = "/usr/share/common-licenses"

# The licences of the parts that are linked, by Debian's source packages.
LICENCES = {
    "bzip2": "bzip2-1.0.6",
    "capstone": "BSD-3-Clause AND NCSA",
    "elfutils": "GPL-2.0-or-later OR LGPL-3.0-or-later",
    "gcc": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "glibc": "LGPL-2.1-or-later",
    "json-c": "MIT",
    "libbpf": "LGPL-2.1-only OR BSD-2-Clause",
    "libzstd": "BSD-3-Clause OR GPL-2.0-only",
    "ncurses": "X11-distribute-modifications-variant",
    "sqlite3": "blessing",
    "xz-utils": "LicenseRef-public-domain",
    "zlib": "Zlib",
}

# Those of libraries that the program loads by dlopen(3).
LOADED = {
    "libcurl.so.4": "curl",
    "libdebuginfod.so.1": LICENCES["elfutils"],
}


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"})


def fail(text):
    raise SystemExit("sbom: " + text)


def field(program, pattern):
    """The values of a field in the program's headers."""
    return re.findall(pattern, run("readelf", "--dynamic", "--notes", "--wide", program).stdout)


# ---- What was linked -----------------------------------------------------------------------------


def linked(program):
    """{(file, STATIC | DYNAMIC)}: archives of which something is in the program, objects of the
    compiler and the C library, and shared libraries that the program loads."""
    with open(program + ".map") as f:
        text = f.read()
    head, _, rest = text.partition("\nMemory Configuration")
    loaded = set(re.findall(r"^LOAD (/\S+)$", rest, re.M))
    if not loaded:
        fail("%s.map names no files" % program)
    found = {(path, STATIC) for path in re.findall(r"^(/\S+\.a)\(\S+\)", head, re.M)}
    found |= {(path, STATIC) for path in loaded if path.endswith(".o")}
    needed = set(field(program, r"\(NEEDED\).*\[(\S+)\]"))
    for path in loaded:
        if re.search(r"\.so(\.[\d.]+)?$", path):
            name = (field(path, r"\(SONAME\).*\[(\S+)\]") or [None])[0]
            if name in needed:
                found.add((path, DYNAMIC))
                needed.discard(name)
    if needed - {"ld-linux-x86-64.so.2"}:
        fail("the map has no file for %s" % " ".join(sorted(needed)))
    return found


def loaded_later(program):
    """The names of libraries in the program that are not needed when it starts."""
    with open(program, "rb") as f:
        names = re.findall(rb"(?<=\0)lib[\w+-]+\.so\.\d+(?=\0)", f.read())
    return sorted({name.decode() for name in names} - set(field(program, r"\(NEEDED\).*\[(\S+)\]")))


def owner(path):
    """The package that the file belongs to. Some packages still name files of /usr without it."""
    path = os.path.realpath(path)
    for name in (path, path.removeprefix("/usr")):
        done = run("dpkg", "-S", name)
        if done.returncode == 0:
            return done.stdout.split(": ")[0].split(", ")[0]
    fail("no package has %s" % path)


def facts(package):
    """Name, version, architecture, source and its version."""
    done = run("dpkg-query", "-W", "-f", "${Package}\t${Version}\t${Architecture}\t"
               "${source:Package}\t${source:Version}", package)
    if done.returncode:
        fail(done.stderr.strip())
    return done.stdout.split("\t")


# ---- The document --------------------------------------------------------------------------------


def distribution():
    with open("/etc/os-release") as f:
        pairs = dict(line.rstrip("\n").split("=", 1) for line in f if "=" in line)
    return pairs["ID"].strip('"')


def package_row(package, files):
    name, version, architecture, source, source_version = facts(package)
    where = distribution()
    licence = LICENCES.get(re.sub(r"^gcc-\d+$", "gcc", source), "NOASSERTION")
    return {
        "SPDXID": "SPDXRef-" + re.sub(r"[^\w.-]", "-", name),
        "name": name,
        "versionInfo": version,
        "supplier": "Organization: " + where.capitalize(),
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "sourceInfo": "source package %s %s" % (source, source_version),
        "comment": "linked: " + ", ".join(sorted(os.path.basename(f) for f in files)),
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": licence,
        "copyrightText": "NOASSERTION",
        "externalRefs": [{
            "referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
            "referenceLocator": "pkg:deb/%s/%s@%s?arch=%s" % (
                where, name, version.replace("+", "%2B").replace(":", "%3A"), architecture),
        }],
    }


def loaded_row(library):
    if library not in LOADED:
        fail("no licence of %s, which the program can load" % library)
    return {
        "SPDXID": "SPDXRef-" + library,
        "name": library,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "comment": "loaded when it is needed, if the machine has it",
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": LOADED[library],
        "copyrightText": "NOASSERTION",
    }


def document(program, version):
    packages = {}
    for path, how in linked(program):
        packages.setdefault((owner(path), how), set()).add(path)
    rows, relations = [], [("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-qprof-bpf")]
    for (package, how), files in sorted(packages.items()):
        row = package_row(package, files)
        rows.append(row)
        relations.append(("SPDXRef-qprof-bpf", how, row["SPDXID"]))
    for library in loaded_later(program):
        row = loaded_row(library)
        rows.append(row)
        relations.append((row["SPDXID"], OPTIONAL, "SPDXRef-qprof-bpf"))
    build_id = field(program, r"Build ID: (\w+)")[0]
    if not os.environ.get("SOURCE_DATE_EPOCH"):
        fail("SOURCE_DATE_EPOCH, which dates the document, is not set")
    created = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)
    return {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": "qprof-bpf-" + version,
        "documentNamespace": "https://spdx.org/spdxdocs/qprof-bpf-%s-%s" % (version, build_id),
        "creationInfo": {"created": created.strftime("%Y-%m-%dT%H:%M:%SZ"),
                         "creators": ["Tool: qprof-bpf-sbom-" + version]},
        "packages": [{
            "SPDXID": "SPDXRef-qprof-bpf",
            "name": "qprof-bpf",
            "versionInfo": version,
            "downloadLocation": "NOASSERTION",
            "filesAnalyzed": False,
            "primaryPackagePurpose": "APPLICATION",
            "comment": "build id " + build_id,
            "licenseConcluded": "NOASSERTION",
            "licenseDeclared": "(Apache-2.0 OR MIT) AND (GPL-2.0-only OR BSD-2-Clause)",
            "copyrightText": "Copyright (c) 2026 The qprof-bpf developers",
        }] + rows,
        "hasExtractedLicensingInfos": [{
            "licenseId": "LicenseRef-public-domain",
            "extractedText": "The author has put this into the public domain.",
        }],
        "relationships": [{"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b}
                          for a, kind, b in relations],
    }


# ---- Licences ------------------------------------------------------------------------------------


def copy_licences(sbom, directory):
    """Copy the licences of the statically linked packages, and the texts that these name."""
    os.makedirs(directory, exist_ok=True)
    static = {r["relatedSpdxElement"] for r in sbom["relationships"]
              if r["relationshipType"] == STATIC}
    common = set()
    for package in sbom["packages"]:
        if package["SPDXID"] not in static:
            continue
        source = "/usr/share/doc/%s/copyright" % package["name"]
        shutil.copyfile(source, os.path.join(directory, package["name"]))
        with open(source, encoding="utf-8", errors="replace") as f:
            common |= set(re.findall(COMMON + r"/([\w.+-]*\w)", f.read()))
    for name in common:
        shutil.copyfile(os.path.join(COMMON, name), os.path.join(directory, name))


def main(arguments):
    if len(arguments) == 3 and arguments[0] == "--licences":
        with open(arguments[2]) as f:
            copy_licences(json.load(f), arguments[1])
    elif len(arguments) == 2:
        json.dump(document(*arguments), sys.stdout, indent=2, sort_keys=True)
        print()
    else:
        raise SystemExit(__doc__)


main(sys.argv[1:])
