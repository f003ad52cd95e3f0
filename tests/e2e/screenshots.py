# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Takes the screenshots in docs/images of the pages of `export -f html` and `history page`. Needs root,
rustc, Chromium.

The recorded build is that of a workspace of Debian's crates.
"""

import argparse
import os
import sys

import test_trends_page
from browser import Browser
from debian_workspace import Workspace
from lab import ROOT, Lab, why_no_capture

READY = "document.documentElement.dataset.ready"
SIZE = {"width": 1280, "height": 800}

# (picture, whether dark, script to run before it is taken)
PICTURES = (
    ("summary", False, "app.open('summary')"),
    ("queries", False, "app.open('queries')"),
    ("timeline", False, "app.open('timeline')"),
    ("timeline-zoomed", True, """(() => {
      const v = app.open('timeline');
      v.find.set('mir_borrowck');
      v.find.step(1);
      v.zoom(0.55);
    })()"""),
    ("items", False, "app.open('tables').open(3)"),
    ("flame", True, """(() => {
      app.open('flame');
      document.querySelectorAll('[name=flame]')[1].click();
    })()"""),
)


def record(t):
    workspace = Workspace(t)
    ran = t.capture(workspace.command("-p", "tool"), env=workspace.env(), cwd=workspace.dir)
    assert ran.status == 0, ran.stderr
    return ran.trace


def take(t, trace, directory):
    page = t.path("page.html")
    done = t.run_qprof("export", "--force", "-f", "html", "-o", page, trace)
    assert done.returncode == 0, done.stderr
    with Browser(t.dir, **SIZE) as b:
        for name, dark, before in PICTURES:
            b.scheme(dark)
            b.open(page)
            b.wait(READY)
            b.ask(before + ", 0")
            # The page fills its lists a moment later.
            b.ask("new Promise((done) => setTimeout(done, 600))")
            path = os.path.join(directory, "page-%s.png" % name)
            with open(path, "wb") as f:
                f.write(b.screenshot())
            print("%s, %d KiB" % (os.path.relpath(path), os.path.getsize(path) // 1024))
        assert not b.complaints, b.complaints


def take_trends(t, directory):
    page = t.path("trends.html")
    t.text("history", "page", "--store", test_trends_page.store(t), "-o", page)
    with Browser(t.dir, **SIZE) as b:
        b.open(page)
        b.wait(READY)
        b.settle()
        with open(os.path.join(directory, "page-trends.png"), "wb") as f:
            f.write(b.screenshot())
        assert not b.complaints, b.complaints


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build")
    parser.add_argument("--trace", help="of this one, instead of a build recorded for it")
    parser.add_argument("--output", default=os.path.join(ROOT, "docs/images"))
    options = parser.parse_args()
    if not options.trace and why_no_capture():
        sys.exit("screenshots: %s; or show a trace you have: SCREENSHOTS_ARGS='--trace FILE'" %
                 why_no_capture())
    os.makedirs(options.output, exist_ok=True)
    with Lab(options.build) as t:
        take_trends(t, options.output)
        take(t, os.path.abspath(options.trace) if options.trace else record(t), options.output)


if __name__ == "__main__":
    main()
