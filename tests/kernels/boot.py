#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""
Runs a command under another kernel, in a virtual machine that has this machine's files read-only.

    boot.py KERNEL 'command line extras' COMMAND [ARGUMENT...]

KERNEL is a name of kernels.table (fetch.py). The command runs as root in the current directory, with
/tmp, /run and /var/tmp empty and in memory, and PATH, HOME, RUSTC and CARGO set. boot.py
prints its output after its end, and exits with its status: 124 if it took too long, 125 if the
guest died. The contents of $RESULTS, the log, the status and the log of the serial console are in
the directory that is named at the end (--results DIR; --timeout SECONDS, --cpus N, --memory SIZE).

QEMU without KVM: 10 to 30 times slower than this machine.
"""

import argparse
import ctypes
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import emulator  # noqa: E402
import fetch  # noqa: E402

PR_SET_PDEATHSIG = 1
TIMED_OUT, DIED = 124, 125
# The guest has its own directories in these places.
HIDDEN = ("/tmp", "/run", "/var/tmp")
TROUBLE = re.compile(r"Oops|BUG:|WARNING|general protection|Kernel panic|self-detected stall")
FATAL = re.compile(r"Oops|general protection|Kernel panic")
# Seconds that a command may go on after its kernel has printed a fatal error.
AFTER_FATAL = 120
# The watchdogs must not report a hang because the host is busy.
COMMAND_LINE = ("console=ttyS0 panic=-1 quiet loglevel=5 watchdog_thresh=60 "
                "rcupdate.rcu_cpu_stall_timeout=300 ")


def rust():
    """RUSTC and CARGO: the programs behind rustup's, which would write to the read-only file system."""
    found = {}
    finder = os.path.join(HERE, "../find-rustc.sh")
    shim = subprocess.run([finder], text=True, stdout=subprocess.PIPE).stdout.strip()
    if shim:
        sysroot = subprocess.run([shim, "--print", "sysroot"], text=True,
                                 stdout=subprocess.PIPE).stdout.strip()
        for name in ("rustc", "cargo"):
            path = os.path.join(sysroot, "bin", name)
            if os.path.exists(path):
                found[name.upper()] = path
    return found


def environment():
    env = {"HOME": "/tmp/home", "RESULTS": "/tmp/results", "LC_ALL": "C.UTF-8", "TERM": "dumb",
           "PYTHONDONTWRITEBYTECODE": "1", **rust()}
    path = [os.path.dirname(env["RUSTC"])] if "RUSTC" in env else []
    env["PATH"] = ":".join([*path, *os.environ["PATH"].split(":"), "/usr/sbin", "/sbin"])
    return env


def write_command(results, argv, cwd):
    with open(os.path.join(results, "command"), "w") as f:
        for name, value in environment().items():
            f.write("export %s=%s\n" % (name, shlex.quote(value)))
        f.write("cd %s || exit 1\n" % shlex.quote(cwd))
        f.write("exec %s\n" % shlex.join(argv))


def make_initramfs(kernel, directory):
    root = os.path.join(directory, "root")
    os.makedirs(root + "/bin")
    shutil.copy(shutil.which("busybox"), root + "/bin/busybox")
    shutil.copy(os.path.join(HERE, "init.sh"), root + "/init")
    os.chmod(root + "/init", 0o755)
    fetch.pack(root, os.path.join(directory, "own.cpio"))
    path = os.path.join(directory, "initramfs")
    with open(path, "wb") as out:
        for part in (os.path.join(kernel.dir, "modules.cpio"), os.path.join(directory, "own.cpio")):
            with open(part, "rb") as f:
                shutil.copyfileobj(f, out)
    return path


def share(path, tag, *more):
    return ["-virtfs", ",".join(("local", "path=" + path, "mount_tag=" + tag,
                                 "security_model=none", *more))]


def qemu(kernel, initramfs, results, extras, options):
    engine = emulator.find(fetch.Cache())
    return [
        "nice", "-n", str(options.nice), *engine.argv,
        "-accel", "tcg,thread=" + emulator.threads(engine, options.together),
        # la57 makes page tables deeper, which costs time; nothing here needs it.
        "-cpu", "max,la57=off", "-smp", str(options.cpus), "-m", options.memory,
        "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
        "-serial", "file:" + os.path.join(results, "serial"),
        "-kernel", os.path.join(kernel.dir, "vmlinuz"), "-initrd", initramfs,
        "-append", COMMAND_LINE + extras,
        *share("/", "host", "readonly=on", "multidevs=remap"), *share(results, "results"),
    ]


def guests(options):
    """The number of guests at a time: each of their threads needs a processor."""
    return os.cpu_count() if options.together else 1


def end_with_us():
    """The machine dies with this process, however it ends."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def read(path):
    try:
        with open(path, errors="replace") as f:
            return f.read()
    except OSError:
        return ""


def trouble(results):
    """Lines of the console that report an error in the kernel."""
    return [line for line in read(os.path.join(results, "serial")).splitlines()
            if TROUBLE.search(line)]


def wait(machine, results, seconds):
    """Whether the machine ended by itself."""
    deadline = time.monotonic() + seconds
    shortened = False
    while time.monotonic() < deadline:
        try:
            machine.wait(timeout=1)
            return True
        except subprocess.TimeoutExpired:
            if not shortened and any(map(FATAL.search, trouble(results))):
                shortened = True
                deadline = min(deadline, time.monotonic() + AFTER_FATAL)
    machine.kill()
    machine.wait()
    return False


def boot(kernel, extras, argv, results, options):
    """Run a command; returns its status. The results directory is emptied first."""
    shutil.rmtree(results, ignore_errors=True)
    os.makedirs(results)
    write_command(results, argv, os.getcwd())
    with tempfile.TemporaryDirectory(prefix="qprof-kernels-") as tmp:
        initramfs = make_initramfs(kernel, tmp)
        with open(os.path.join(results, "qemu"), "w") as errors:
            machine = subprocess.Popen(
                qemu(kernel, initramfs, results, extras, options),
                stdin=subprocess.DEVNULL, stdout=errors, stderr=errors, preexec_fn=end_with_us)
            try:
                ended = wait(machine, results, options.timeout)
            finally:
                if machine.poll() is None:
                    machine.kill()
                    machine.wait()
    status = read(os.path.join(results, "status")).strip()
    if status:
        return int(status)
    return DIED if ended else TIMED_OUT


def add_arguments(parser):
    parser.add_argument("--timeout", type=float, default=600, help="seconds (default 600)")
    parser.add_argument("--nice", type=int, default=10, help="of the virtual machine (default 10)")
    parser.add_argument("--cpus", type=int, default=2)
    parser.add_argument("--together", action="store_true",
                        help="several guests at once, each in one thread; run.py: if it has several")
    parser.add_argument("--memory", default="3G")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(parser)
    parser.add_argument("--results", help="a directory, emptied first (default: a new one)")
    parser.add_argument("kernel")
    parser.add_argument("extras", help="for the kernel's command line")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    hidden = [place for place in HIDDEN if (os.getcwd() + "/").startswith(place + "/")]
    if hidden:
        parser.error("%s is not the host's in the guest: go to another directory" % hidden[0])
    row = fetch.rows([options.kernel])[0]
    try:
        kernel = fetch.Cache().get(row)
    except fetch.Missing as why:
        sys.exit("kernels: %s" % why)
    results = os.path.abspath(options.results or tempfile.mkdtemp(prefix="qprof-guest-"))
    with fetch.Cache().lock(guests(options)):
        status = boot(kernel, " ".join((row.command_line, options.extras)), options.command,
                      results, options)
    sys.stdout.write(read(os.path.join(results, "log")))
    for line in trouble(results):
        fetch.say("console: " + line)
    if status in (TIMED_OUT, DIED):
        fetch.say("the guest %s" % ("ran out of time" if status == TIMED_OUT else "died"))
    fetch.say("%s: status %d; %s" % (kernel.package, status, results))
    return status


if __name__ == "__main__":
    sys.exit(main())
