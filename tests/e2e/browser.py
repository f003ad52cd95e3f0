# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Headless Chromium, controlled over a pipe by its DevTools protocol: no port, driver or library."""

import base64
import json
import os
import select
import shutil
import signal
import subprocess
import time

from lab import Skip

TIMEOUT = 600  # seconds; a busy machine is slow


class Browser:
    """One page. The object keeps the page's errors and its network requests."""

    def __init__(self, directory, width=1400, height=900, dark=False):
        found = shutil.which("chromium")
        if not found:
            raise Skip("no chromium")
        self.last, self.complaints, self.requests = 0, [], []
        self.buffer, self.loaded = b"", False
        self.process = self.start(found, os.path.join(directory, "browser"))
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)
        self.scheme(dark)

    def start(self, program, profile):
        """Chromium reads commands from descriptor 3 and answers on 4; a NUL ends each message."""
        self.session = None
        to_it, self.write_fd = os.pipe()
        self.read_fd, from_it = os.pipe()

        def descriptors():
            # The pipes' ends may have any numbers, so move them above 3 and 4 first.
            ends = (os.dup2(to_it, 30), os.dup2(from_it, 31))
            for fd, end in zip((3, 4), ends):
                os.dup2(end, fd)

        # Root cannot use the sandbox; the page is our own.
        argv = [program, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                "--remote-debugging-pipe", "--user-data-dir=" + profile, "about:blank"]
        process = subprocess.Popen(argv, preexec_fn=descriptors, close_fds=False,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   start_new_session=True)
        os.close(to_it)
        os.close(from_it)
        return process

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.write_fd)
        os.close(self.read_fd)
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()

    # ---- The protocol --------------------------------------------------------------------------

    def receive(self, deadline):
        while b"\0" not in self.buffer:
            left = deadline - time.monotonic()
            ready, _, _ = select.select([self.read_fd], [], [], max(left, 0))
            assert ready, "the browser has not answered in %d s" % TIMEOUT
            got = os.read(self.read_fd, 1 << 20)
            assert got, "the browser has gone away"
            self.buffer += got
        message, _, self.buffer = self.buffer.partition(b"\0")
        message = json.loads(message)
        self.note(message.get("method"), message.get("params", {}))
        return message

    def note(self, method, params):
        if method == "Page.loadEventFired":
            self.loaded = True
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(params["exceptionDetails"])
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning"):
            self.complaints.append(params["args"])
        elif method == "Log.entryAdded":
            self.complaints.append(params["entry"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])

    def call(self, method, **params):
        self.last += 1
        message = {"id": self.last, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.write_fd, data):]
        deadline = time.monotonic() + TIMEOUT
        while True:
            answer = self.receive(deadline)
            if answer.get("id") == self.last:
                assert "error" not in answer, (method, answer["error"])
                return answer["result"]

    # ---- User actions --------------------------------------------------------------------------

    def scheme(self, dark):
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def open(self, path):
        self.loaded = False
        self.call("Page.navigate", url="file://" + path)
        deadline = time.monotonic() + TIMEOUT
        while not self.loaded:
            self.receive(deadline)

    def ask(self, expression):
        """The value of an expression in the page; a promise is awaited."""
        done = self.call("Runtime.evaluate", expression=expression, awaitPromise=True,
                         returnByValue=True)
        assert "exceptionDetails" not in done, (expression, done["exceptionDetails"])
        return done["result"].get("value")

    def wait(self, expression):
        """Wait until an expression is true; returns its value."""
        deadline = time.monotonic() + TIMEOUT
        while time.monotonic() < deadline:
            value = self.ask(expression)
            if value:
                return value
            time.sleep(0.02)
        raise AssertionError("waited %d s for %s" % (TIMEOUT, expression))

    def settle(self):
        """Wait until pending changes are drawn."""
        self.ask("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def key(self, key, text=""):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key,
                      text=text if kind == "keyDown" else "")
        self.settle()

    def type(self, text):
        """Paste a text but for its last character, which is typed: each one would be drawn."""
        self.call("Input.insertText", text=text[:-1])
        self.key(text[-1], text[-1])

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x, y):
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, button="left", clickCount=1)
        self.mouse("mouseReleased", x, y, button="left", clickCount=1)
        self.settle()

    def place(self, selector):
        """(left, top, width, height) of an element in the window."""
        return self.ask("(() => { const r = document.querySelector(%s).getBoundingClientRect();"
                        "return [r.left, r.top, r.width, r.height]; })()" % json.dumps(selector))

    def screenshot(self):
        self.settle()
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])
