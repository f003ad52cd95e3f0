# SPDX-License-Identifier: Apache-2.0 OR MIT
"""doctor's findings on this machine, the owners of written files, and installed files."""

import json
import os
import subprocess

import crates
import lab
from lab import each
from test_targets import fake_toolchain, strip
from test_without_root import User

FAILURE = 125


def test_doctor_of_root(t):
    """doctor's findings agree with what recording can do here."""
    t.need_capture()
    done = t.run_qprof("doctor", "--json")
    assert done.returncode == 0, done.stdout
    document = json.loads(done.stdout)
    libraries = {os.path.dirname(os.path.dirname(c["library"])) for c in document["toolchains"]}
    for toolchain in lab.toolchains().values():
        assert os.path.realpath(toolchain.sysroot) in libraries, (toolchain, libraries)
    for compiler in document["toolchains"]:
        if not compiler["problem"]:
            assert compiler["complete"] == compiler["queries"] > 300, compiler


def test_doctor_finds_a_stripped_library(t):
    compiler = fake_toolchain(t, strip)
    done = t.run_qprof("doctor", compiler)
    problem = done.stdout.split("  problem   " + compiler + ": ")[1].split("fix: ")
    assert done.returncode == 1 and "stripped" in problem[0] and "rustup.rs" in problem[1], done


def test_doctor_sees_other_recordings(t):
    profiler = t.start_qprof("-q", "-o", t.path("trace.qpt"), "--", "sleep", "1000")
    t.attached(profiler)
    document = json.loads(t.run_qprof("doctor", "--json").stdout)
    # A recording of another test that is just ending may have only its probes left.
    found = [f for f in document["findings"] if f["name"] == "other recordings"]
    assert any(f["state"] == "note" and "in progress" in f["says"] for f in found), found
    t.interrupt(profiler)


# ---- Owners of files under sudo ------------------------------------------------------------------


def as_nobody(t):
    """(uid, environment) of a sudo by nobody, who gets the test's directory."""
    nobody = lab.pwd.getpwnam("nobody")
    os.chown(t.dir, nobody.pw_uid, nobody.pw_gid)
    env = {"SUDO_UID": str(nobody.pw_uid), "SUDO_GID": str(nobody.pw_gid), "SUDO_USER": "nobody",
           "XDG_CACHE_HOME": t.path("cache")}
    return nobody.pw_uid, t.qprof_env(env)


def all_owners(directory):
    found = set()
    for path, directories, files in os.walk(directory):
        for name in directories + files:
            found.add(os.lstat(os.path.join(path, name)).st_uid)
    return found


def test_all_output_is_the_invokers(t):
    """The trace, an export with its directory, an import. The plan is not stored in their cache."""
    t.need_capture()
    nobody, env = as_nobody(t)
    os.mkdir(t.path("sub"))
    os.chown(t.path("sub"), nobody, -1)
    with User(t, "cap_bpf") as user:
        command = [user.rustc] + crates.arguments(crates.SHORT, t.path("sub"), "--emit=metadata")
        t.text("-q", "-o", "sub/a.qpt", "--", *command, env=env)
    t.text("export", "-o", "sub/profiles", "sub/a.qpt", env=env)
    (profile,) = os.listdir(t.path("sub/profiles"))
    t.text("import", "-o", "sub/b.qpt", "sub/profiles/" + profile, env=env)
    assert all_owners(t.path("sub")) == {nobody}
    assert not os.path.exists(t.path("cache"))


def precious(t, name):
    """A file of root's, which the invoker can read but not write; returns its stat."""
    with open(t.path(name), "w") as f:
        f.write("precious")
    os.chmod(t.path(name), 0o644)
    return os.stat(t.path(name))


@each("file", "link", "dangling link")
def test_files_of_others_are_left_alone(t, what):
    """Root must not write through a link, or to a file, that the invoker could not write to."""
    t.need_capture()
    _, env = as_nobody(t)
    os.mkdir(t.path("roots"))
    os.chmod(t.path("roots"), 0o755)
    before = precious(t, "roots/target")
    output = t.path("roots/target")
    if what != "file":
        output = t.path("out.qpt")
        os.symlink(t.path("roots/target" if what == "link" else "roots/new"), output)
    for force in ((), ("--force",)):
        done = t.run_qprof(*force, "-o", output, "--", "true", env=env)
        assert done.returncode == FAILURE and output in done.stderr, done
    after = os.stat(t.path("roots/target"))
    assert (after.st_uid, after.st_ino, after.st_size) == (0, before.st_ino, 8), after
    assert os.listdir(t.path("roots")) == ["target"]


def test_a_forced_file_keeps_no_other_owner(t):
    """The invoker's own file is replaced, and stays theirs."""
    t.need_capture()
    nobody, env = as_nobody(t)
    precious(t, "a.qpt")
    os.chown(t.path("a.qpt"), nobody, -1)
    t.text("-q", "--force", "-o", "a.qpt", "--", "true", env=env)
    assert os.stat(t.path("a.qpt")).st_uid == nobody
    assert t.report(t.path("a.qpt"))["problem"] is None


# ---- Installing ----------------------------------------------------------------------------------


def commands_of(program, *command):
    """The commands that its help lists."""
    said = subprocess.run([program, *command, "--help"], capture_output=True, text=True).stdout
    return [line.split()[0] for line in
            said.split("\nCommands:\n")[1].split("\n\n")[0].splitlines()]


def test_install(t):
    """install creates exactly the expected files, and uninstall removes them all."""
    where = ["DESTDIR=" + t.path("root"), "PREFIX=/usr"]
    build = os.path.basename(os.path.dirname(t.qprof))
    kind = {"build-debug": ["DEBUG=1"], "build-san": ["SANITIZE=1"]}.get(build, [])

    def make(target):
        done = subprocess.run(["make", "-s", target, *where, *kind], cwd=lab.ROOT,
                              capture_output=True, text=True)
        assert done.returncode == 0, done.stderr

    make("install")
    try:
        usr = t.path("root/usr")
        commands = commands_of(usr + "/bin/qprof-bpf")
        assert len(commands) > 5, commands
        commands += ["history-" + verb for verb in commands_of(usr + "/bin/qprof-bpf", "history")]
        expected = {"bin/qprof-bpf", "share/man/man1/qprof-bpf.1",
                    "share/bash-completion/completions/qprof-bpf",
                    "share/zsh/site-functions/_qprof-bpf",
                    "share/fish/vendor_completions.d/qprof-bpf.fish",
                    "lib/systemd/system/qprof-bpf.service",
                    "bin/cargo-qprof", "share/man/man1/cargo-qprof.1",
                    "share/bash-completion/completions/cargo-qprof",
                    "share/zsh/site-functions/_cargo-qprof",
                    "share/fish/vendor_conf.d/cargo-qprof.fish"}
        expected |= {"share/man/man1/qprof-bpf-%s.1" % command for command in commands}
        found = {os.path.relpath(os.path.join(path, name), usr)
                 for path, _, names in os.walk(usr) for name in names}
        assert found == expected, found ^ expected
        for name in found:
            assert os.path.getsize(os.path.join(usr, name)), name + " is empty"
    finally:
        make("uninstall")
    assert not any(names for _, _, names in os.walk(t.path("root")))
