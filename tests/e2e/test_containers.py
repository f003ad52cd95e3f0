# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Builds in containers, as a wrapper of cargo such as cross starts them."""

import glob
import json
import os

import lab
import workspace
from compiles import BOOTSTRAP
from mm_profdata import Profile
from test_workspace import QUERIES, QUESTION, executed

# Its own mounts, process numbers and root directory: the project, the toolchain and what is built lie
# elsewhere than outside. $1: the root, $2: the project, $3: the toolchain, $4: what is built.
CONTAINER = """
mount -t tmpfs none "$1"
cd "$1"
mkdir usr etc proc dev tmp project rust target
for dir in bin lib lib64; do ln -s usr/$dir $dir; done
mount --bind /usr usr
mount --bind /etc etc
mount --bind /dev dev
mount -t proc none proc
mount --bind "$2" project
mount --bind "$3" rust
mount --bind "$4" target
shift 4
exec chroot . /usr/bin/env -i PATH=/rust/bin:/usr/bin HOME=/tmp CARGO_TARGET_DIR=/target CARGO_INCREMENTAL=0 \
    RUSTFLAGS="$RUSTFLAGS" RUSTC_BOOTSTRAP="$RUSTC_BOOTSTRAP" sh -ec 'cd /project && "$@"' sh "$@"
"""


def crate_of(profile):
    return os.path.basename(profile).rpartition("-")[0]


def test_a_wrapper_that_runs_cargo_in_a_container(t):
    """Every compiler is recorded, with the executions that its own profile has; and its files have
    the names that they have inside."""
    if os.geteuid() or lab.invoker().pw_uid:
        raise lab.Skip("only root may make namespaces")
    profiles = t.mkdir("target/profiles")
    cross = t.write("cross", "#!/bin/sh\nexec unshare --mount --pid --fork sh -ec '%s' sh '%s' "
                    "'%s' '%s' '%s' cargo \"$@\"\n" % (
                        CONTAINER.replace("'", "'\\''"), t.mkdir("root"), workspace.make(t),
                        t.toolchain().sysroot, t.path("target")))
    os.chmod(cross, 0o755)
    flags = "-Zself-profile=/target/profiles -Zself-profile-events=query-provider"
    run = t.capture([cross, "build", "-q", "-j2", "--offline"], QUERIES,
                    env={"RUSTFLAGS": flags, **BOOTSTRAP})
    assert run.status == 0, run.stderr.decode()
    assert not os.listdir(t.path("root")), "the mounts are to be seen from here"
    document = t.report(run.trace)
    assert document["lost"] == 0, document["losses"]
    assert {c["name"] for c in document["build"]["crates"]} == set(workspace.COMPILES)
    processes = {p["crate"]: p for p in document["processes"] if p["queries"]}
    assert not [p for p in processes.values() if p["attached_late"]]
    # Inside, processes have other numbers.
    truth = {crate_of(path): Profile.read(path).counts()
             for path in glob.glob(os.path.join(profiles, "*.mm_profdata"))}
    assert {"base", "made", "both", "app", "derived", "build_script_build"} <= truth.keys(), truth.keys()
    for crate in truth.keys() - {QUESTION}:
        ours = executed(processes[crate])
        assert ours == truth[crate], (crate, ours - truth[crate], truth[crate] - ours)
    done = t.run_qprof("report", "--by", "item", "--json", run.trace)
    files = {item.get("file") for item in json.loads(done.stdout)["items"]}
    assert "base/src/lib.rs" in files, files
    return "%d queries" % sum(sum(counts.values()) for counts in truth.values())
