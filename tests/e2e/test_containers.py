# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Builds in containers, as a wrapper of cargo such as cross starts them."""

import glob
import json
import os
import shutil
import signal

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
    RUSTFLAGS="$RUSTFLAGS" RUSTC_BOOTSTRAP="$RUSTC_BOOTSTRAP" \
    sh -ec 'cat /target/source | rustc --crate-name=first --crate-type=lib --emit=metadata -o /tmp/first -
            cd /project && "$@"' sh "$@"
"""


def crate_of(profile):
    return os.path.basename(profile).rpartition("-")[0]


def container(t, setup=""):
    """A wrapper of cargo that runs it in a container, after the shell commands `setup`."""
    if os.geteuid() or lab.invoker().pw_uid:
        raise lab.Skip("only root may make namespaces")
    t.mkdir("target/profiles")
    os.mkfifo(t.path("target/source"))
    cross = t.write("cross", "#!/bin/sh\n%s\nexec unshare --mount --pid --fork sh -ec '%s' sh '%s' "
                    "'%s' '%s' '%s' cargo \"$@\"\n" % (
                        setup, CONTAINER.replace("'", "'\\''"), t.mkdir("root"), workspace.make(t),
                        t.toolchain().sysroot, t.path("target")))
    os.chmod(cross, 0o755)
    flags = "-Zself-profile=/target/profiles -Zself-profile-events=query-provider"
    return [cross, "build", "-q", "-j2", "--offline"], {"RUSTFLAGS": flags, **BOOTSTRAP}


def let_go_on(t, profiler):
    """The first compiler of the container waits for its source. Once its library has probes it gets it:
    on a busy machine a library that was not known is attached to late."""
    t.attached(profiler)
    t.write("target/source", "")


def compilers(document):
    """But for the first one, whose library may have no probes yet."""
    return [p for p in document["processes"] if p["queries"] and p["crate"] != "first"]


def assert_equal(t, trace):
    """Every compiler of the container is recorded, with the executions of its own profile."""
    assert not os.listdir(t.path("root")), "the mounts are to be seen from here"
    document = t.report(trace)
    assert document["lost"] == 0, document["losses"]
    processes = {p["crate"]: p for p in compilers(document)}
    assert not [p for p in processes.values() if p["attached_late"]]
    # Inside, processes have other numbers.
    truth = {crate_of(path): Profile.read(path).counts()
             for path in glob.glob(t.path("target/profiles", "*.mm_profdata"))}
    assert {"base", "made", "both", "app", "derived", "build_script_build"} <= truth.keys(), truth.keys()
    for crate in truth.keys() - {QUESTION}:
        ours = executed(processes[crate])
        assert ours == truth[crate], (crate, ours - truth[crate], truth[crate] - ours)
    return "%d queries" % sum(sum(counts.values()) for counts in truth.values())


def test_a_wrapper_that_runs_cargo_in_a_container(t):
    """Files have the names that they have inside."""
    argv, env = container(t)
    trace = t.path("trace.qpt")
    profiler = t.start_qprof(*QUERIES, "-o", trace, "--", *argv, env=env)
    let_go_on(t, profiler)
    _, err = profiler.communicate(timeout=lab.TIMEOUT)
    assert profiler.returncode == 0, err.decode()
    said = assert_equal(t, trace)
    assert {c["name"] for c in t.report(trace)["build"]["crates"]} - {"first"} == set(workspace.COMPILES)
    done = t.run_qprof("report", "--by", "item", "--json", trace)
    files = {item.get("file") for item in json.loads(done.stdout)["items"]}
    assert "base/src/lib.rs" in files, files
    return said


def record_started(t, option):
    go = t.path("go")
    os.mkfifo(go)
    with t.control_group(lab.remove_group) as group:
        argv, env = container(t, "echo $$ >%s/cgroup.procs\nread _ <%s" % (group, go))
        started = t.start_plain(argv, env=env)
        of = str(started.pid) if option == "--pid" else group
        profiler = t.start_qprof(*QUERIES, "--force", "-o", t.path("trace.qpt"), option, of)
        lab.wait_for("the recording", lambda: lab.begun(profiler))
        with open(go, "w") as f:
            f.write("\n")
        let_go_on(t, profiler)
        _, said = started.communicate(timeout=lab.TIMEOUT)
        assert started.returncode == 0, said
        if option == "--cgroup":
            profiler.send_signal(signal.SIGINT)
        _, err = profiler.communicate(timeout=lab.TIMEOUT)
        lab.check_end(profiler.returncode, err.decode())


@lab.alone("a compiler of another test that is gone has no control group any more")
@lab.each("--pid", "--cgroup")
def test_a_container_that_something_else_started(t, option):
    """As a daemon starts it: it does not run below the command or the recording."""
    t.need_capture()
    for _ in range(5):
        record_started(t, option)
        # Nothing follows a compiler before it has mapped its library, and then it may run on for a while.
        document = t.report(t.path("trace.qpt"))
        if not document["losses"]["compilers"] and not any(
                p["attached_late"] for p in compilers(document)):
            break
        shutil.rmtree(t.path("target"))
        os.unlink(t.path("go"))
    return assert_equal(t, t.path("trace.qpt"))
