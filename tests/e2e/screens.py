# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Prints the first screens of the three users' walk (users.py): README.md and docs show them.
Needs root and rustc. `--keep DIR` keeps the traces, for more screens of the same recordings."""

import argparse
import glob
import os
import shutil
import sys

import test_users
from lab import Lab, why_no_capture
from users import Walk


def show(walk):
    """A screen may answer several questions."""
    questions = {}
    for question, command, *_ in test_users.DEVELOPER + test_users.OWNER + test_users.ENGINEER:
        questions.setdefault(command, []).append(question)
    for command, asked in questions.items():
        screen, status = test_users.run(walk, command)
        print("## %s\n$ qprof-bpf %s\n%s%s\n" % (
            " ".join(asked), command, screen, "\nstatus %d" % status if status else ""))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build")
    parser.add_argument("--keep", help="copy the traces into this directory")
    options = parser.parse_args()
    if why_no_capture():
        sys.exit("screens: " + why_no_capture())
    with Lab(options.build) as t:
        walk = Walk(t)
        walk.all()
        show(walk)
        for trace in glob.glob(t.path("*.qpt")) if options.keep else ():
            os.makedirs(options.keep, exist_ok=True)
            shutil.copy(trace, options.keep)


if __name__ == "__main__":
    main()
