# SPDX-License-Identifier: Apache-2.0 OR MIT
"""
Downloads Debian's kernels for virtual machines. Nothing is installed: apt has its own lists and
status, and uses the mirror in this machine's sources. Each kernel becomes a directory in the cache:
vmlinuz, modules.cpio (the modules that mount the host's files) and package (name and version).

    fetch.py [NAME...]      the kernels of kernels.table with these prefixes; all by default

KERNEL_CACHE sets the cache's directory (~/.cache/qprof-bpf-kernels).
"""

import collections
import contextlib
import fcntl
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SUITES = ("bookworm", "trixie", "trixie-backports", "sid", "experimental")
SECURITY_SUITES = ("bookworm-security", "trixie-security")
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
MODULES = ("virtio_pci", "9pnet_virtio", "9p")
NEWEST = "newest"
LISTS_GOOD_FOR = 86400  # seconds
# The cloud kernels lack 9p. The version of a real-time kernel ends in "-rt".
PACKAGE = re.compile(r"linux-image-(\d[\w.+-]*?)-amd64$")
CLOUD, REAL_TIME = "-cloud", "-rt"

Row = collections.namedtuple("Row", "name want command_line may_refuse")
Kernel = collections.namedtuple("Kernel", "row version dir package")


class Missing(Exception):
    """Raised with the reason why a kernel is not available."""


def say(text):
    print("kernels: " + text, file=sys.stderr, flush=True)


def rows(names=()):
    """Rows of the table that have one of these names, or whose names begin with one that none has."""
    found = []
    with open(os.path.join(HERE, "kernels.table")) as f:
        for line in f:
            if line.strip() and not line.startswith("#"):
                name, want, command_line, *rest = line.split(None, 3)
                may_refuse = [part.strip() for part in "".join(rest).split(",") if part.strip()]
                found.append(Row(name, want, "" if command_line == "-" else command_line,
                                 may_refuse))
    unknown = [n for n in names if not any(row.name.startswith(n) for row in found)]
    if unknown:
        raise SystemExit("kernels: no kernel is named %s; there are: %s" % (
            " ".join(unknown), " ".join(row.name for row in found)))
    whole = {row.name for row in found}.intersection(names)
    return [row for row in found if not names or row.name in whole or any(
        row.name.startswith(name) for name in set(names) - whole)]


def order(version):
    """A key that sorts versions by their numbers."""
    return [int(number) for number in re.findall(r"\d+", version)]


def nearest(want, versions):
    """The wanted version, else the next above it in its series, else the next below."""
    real_time = want.endswith(REAL_TIME)
    versions = sorted((v for v in versions if v.endswith(REAL_TIME) == real_time), key=order)
    if want == NEWEST:
        return versions[-1] if versions else None
    series = [v for v in versions if order(v)[:2] == order(want)[:2]]
    above = [v for v in series if order(v) >= order(want)]
    return (above or series[-1:] or [None])[0]


def locked(file):
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


class Cache:
    def __init__(self):
        self.dir = os.environ.get("KERNEL_CACHE") or os.path.expanduser(
            "~/.cache/qprof-bpf-kernels")
        self.apt_dir = os.path.join(self.dir, "apt")
        os.makedirs(self.dir, exist_ok=True)
        self.offered = None

    def place(self, version):
        return os.path.join(self.dir, "linux-" + version)

    def versions(self):
        found = glob.glob(os.path.join(self.dir, "linux-*", "package"))
        return [os.path.basename(os.path.dirname(path))[len("linux-"):] for path in found]

    def get(self, row):
        if row.want in self.versions():
            return self.kernel(row, row.want)
        version = nearest(row.want, self.suites())
        if version and version not in self.versions():
            try:
                self.download(version)
            except Missing as why:
                say(str(why))
                version = None
        if not version:
            version = nearest(row.want, self.versions())
        if not version:
            raise Missing("no kernel %s: neither the mirror nor %s gave one" % (row.want, self.dir))
        return self.kernel(row, version)

    def kernel(self, row, version):
        if row.want not in (NEWEST, version):
            say("%s: %s stands in for %s" % (row.name, version, row.want))
        with open(os.path.join(self.place(version), "package")) as f:
            return Kernel(row, version, self.place(version), f.read().strip())

    @contextlib.contextmanager
    def lock(self, guests=1):
        """Limits the machines that run at once, as more would only slow each other down."""
        names = ["lock", *("lock%d" % i for i in range(1, guests))]
        with contextlib.ExitStack() as stack:
            files = [stack.enter_context(open(os.path.join(self.dir, name), "w")) for name in names]
            if not any(map(locked, files)):
                say("waiting for another guest to end")
                while not any(map(locked, files)):
                    time.sleep(1)
            yield

    # ---- apt, with a root of its own ---------------------------------------------------------

    def apt(self, *command, **kwargs):
        env = {**os.environ, "APT_CONFIG": os.path.join(self.apt_dir, "apt.conf"), "LC_ALL": "C"}
        return subprocess.run(command, env=env, stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **kwargs)

    def suites(self):
        """The versions in the suites; none without a network."""
        if self.offered is None:
            self.offered = self.ask_suites()
        return self.offered

    def ask_suites(self):
        updated = os.path.join(self.apt_dir, "updated")
        if not os.path.exists(updated) or os.stat(updated).st_mtime < time.time() - LISTS_GOOD_FOR:
            if not shutil.which("apt-get"):
                say("cannot fetch kernels: no apt-get here")
                return []
            write_apt_root(self.apt_dir)
            done = self.apt("apt-get", "-q", "update")
            # A mirror may lack a suite, and "Hit" means that nothing has changed.
            if not re.search(r"^(Get|Hit):", done.stdout, re.M):
                errors = re.findall(r"^[EW]: .*", done.stdout, re.M) or ["apt-get update failed"]
                say("cannot fetch kernels: " + errors[0])
                return []
            with open(updated, "w"):
                pass
        names = self.apt("apt-cache", "pkgnames", "linux-image-").stdout.split()
        found = (match.group(1) for match in map(PACKAGE.match, names) if match)
        return [version for version in found if not version.endswith((CLOUD, CLOUD + REAL_TIME))
                and len(order(version)) > 2]

    def packages(self, version):
        """From 6.19 on an image package is empty, and depends on the packages that have the files."""
        names = self.apt("apt-cache", "pkgnames", "linux-binary-").stdout.split()
        if "linux-binary-%s-amd64" % version in names:
            return ["linux-%s-%s-amd64" % (part, version) for part in ("binary", "modules")]
        return ["linux-image-%s-amd64" % version]

    def download(self, version):
        packages = self.packages(version)
        say("downloading " + " ".join(packages))
        with tempfile.TemporaryDirectory(dir=self.dir, prefix="unpack-") as tmp:
            done = self.apt("apt-get", "-q", "download", *packages, cwd=tmp)
            debs = sorted(glob.glob(os.path.join(tmp, "*.deb")))
            if len(debs) != len(packages):
                raise Missing("cannot download %s: %s" % (
                    " ".join(packages), done.stdout.strip().splitlines()[-1]))
            # The packages contain /lib or /usr/lib.
            os.makedirs(tmp + "/root/usr/lib")
            os.symlink("usr/lib", tmp + "/root/lib")
            for deb in debs:
                subprocess.run(["dpkg-deb", "-x", deb, tmp + "/root"], check=True)
            made = os.path.join(tmp, "made")
            os.mkdir(made)
            unpack(tmp + "/root", made)
            with open(os.path.join(made, "package"), "w") as f:
                shown = subprocess.run(["dpkg-deb", "-f", debs[0], "Package", "Version"],
                                       check=True, text=True, stdout=subprocess.PIPE).stdout
                f.write(" ".join(line.split(": ")[1] for line in shown.splitlines()) + "\n")
            shutil.rmtree(self.place(version), ignore_errors=True)
            os.rename(made, self.place(version))


def backports():
    """The suite of newer packages for this machine's release."""
    with contextlib.suppress(OSError), open("/etc/os-release") as f:
        found = re.search(r'^VERSION_CODENAME="?([\w-]+)', f.read(), re.M)
        if found:
            return found[1] + "-backports"
    return "bookworm-backports"


def mirror(repository):
    """The address of a Debian repository in this machine's sources, else on debian.org."""
    done = subprocess.run(["apt-get", "indextargets", "--format", "$(REPO_URI)",
                           "Created-By: Packages"], text=True, stdout=subprocess.PIPE)
    for line in done.stdout.splitlines():
        if line.rstrip("/").endswith("/" + repository):
            return line
    return "http://deb.debian.org/%s/" % repository


def write_apt_root(root):
    for directory in ("lists/partial", "cache/archives/partial", "parts"):
        os.makedirs(os.path.join(root, directory), exist_ok=True)
    with open(os.path.join(root, "status"), "w"):
        pass
    with open(os.path.join(root, "sources.list"), "w") as f:
        for repository, suites in (("debian", (*SUITES, backports())),
                                   ("debian-security", SECURITY_SUITES)):
            for suite in dict.fromkeys(suites):
                f.write("deb [signed-by=%s arch=amd64] %s %s main\n" % (
                    KEYRING, mirror(repository), suite))
    with open(os.path.join(root, "apt.conf"), "w") as f:
        f.write("""APT::Architecture "amd64";
APT::Architectures { "amd64"; };
APT::Sandbox::User "root";
Acquire::Languages "none";
Dir::State "%(root)s";
Dir::State::lists "%(root)s/lists";
Dir::State::status "%(root)s/status";
Dir::Cache "%(root)s/cache";
Dir::Etc::sourcelist "%(root)s/sources.list";
Dir::Etc::sourceparts "%(root)s/parts";
""" % {"root": root})


# ---- Contents of a package -----------------------------------------------------------------------


def tool(name):
    """Debian keeps some tools out of a user's PATH."""
    return shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/sbin") or name


def unpack(root, made):
    """Extract a guest's kernel and modules from a package's files."""
    (release,) = os.listdir(root + "/lib/modules")
    (vmlinuz,) = glob.glob(root + "/boot/vmlinuz-*") or glob.glob(
        root + "/usr/lib/modules/*/vmlinuz")
    shutil.copyfile(vmlinuz, os.path.join(made, "vmlinuz"))
    # depmod warns of lists that are in another package.
    subprocess.run([tool("depmod"), "-b", root, release], check=True, stderr=subprocess.DEVNULL)
    modules = os.path.join(root, "initramfs/modules")
    os.makedirs(modules)
    with open(os.path.join(modules, "order"), "w") as f:
        for path in modules_of(root, release):
            name = re.sub(r"\.ko\..*", ".ko", os.path.basename(path))
            with open(os.path.join(modules, name), "wb") as module:
                subprocess.run([*unpacker(path), path], check=True, stdout=module)
            f.write(name + "\n")
    pack(root + "/initramfs", os.path.join(made, "modules.cpio"))


def modules_of(root, release):
    """Files of modules, in the order of loading. A module without a file is built in."""
    found = []
    for module in MODULES:
        shown = subprocess.run([tool("modprobe"), "-d", root, "-S", release, "--show-depends",
                                module], text=True, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL).stdout
        found += [line.split()[1] for line in shown.splitlines() if line.startswith("insmod")]
    return list(dict.fromkeys(found))


def unpacker(path):
    return {".xz": ["xz", "-dc"], ".zst": ["zstd", "-qdc"]}.get(
        os.path.splitext(path)[1], ["cat"])


def pack(directory, archive):
    """Make a part of an initramfs."""
    with open(archive, "wb") as f:
        subprocess.run("find . | cpio -o -H newc --quiet -R 0:0", shell=True, check=True,
                       cwd=directory, stdout=f)


def main():
    cache = Cache()
    status = 0
    for row in rows(sys.argv[1:]):
        try:
            kernel = cache.get(row)
            print(row.name, kernel.version, kernel.dir)
        except Missing as why:
            say(str(why))
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
