# SPDX-License-Identifier: Apache-2.0
"""Chromium without a window, asked over its pipe: what a page drew, said and requested."""
import base64
import fcntl
import json
import os
import pathlib
import select
import shutil
import subprocess
import tempfile
import time


def program():
    """The path of a Chromium, or None."""
    for name in ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"):
        if path := shutil.which(name):
            return path
    return None


def pipe():
    """A pipe whose ends lie above 3 and 4, where Chromium wants its own."""
    ends = []
    for end in os.pipe():
        ends.append(fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 20))
        os.close(end)
    return ends


class Browser:
    """One page at a time; events of the page since it was opened are in .events."""

    def __init__(self):
        self.home = tempfile.mkdtemp(prefix="pqc-bench-browser-")
        to_it, self.to_it = pipe()
        self.from_it, from_it = pipe()
        words = ["bash", "-c", f'exec "$@" 3<&{to_it} 4>&{from_it}', "bash", program(),
                 "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                 "--disable-background-networking", "--disable-component-update",
                 "--no-first-run", "--hide-scrollbars", "--force-color-profile=srgb",
                 "--host-resolver-rules=MAP * ~NOTFOUND", "--remote-debugging-pipe",
                 f"--user-data-dir={self.home}/profile", "about:blank"]
        env = dict(os.environ, HOME=self.home)
        self.process = subprocess.Popen(words, pass_fds=(to_it, from_it), env=env,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        os.close(to_it)
        os.close(from_it)
        self.events, self.rest, self.number, self.session = [], b"", 0, None
        try:
            self.attach()
        except Exception:
            self.close()
            raise

    def attach(self):
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")

    def close(self):
        self.session = None
        try:
            self.ask("Browser.close")
            self.process.wait(20)
        except (OSError, EOFError, RuntimeError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait(20)
        os.close(self.to_it)
        os.close(self.from_it)
        shutil.rmtree(self.home, ignore_errors=True)

    def message(self, until):
        while b"\0" not in self.rest:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.from_it], [], [], left)[0]:
                raise TimeoutError("the browser says nothing")
            piece = os.read(self.from_it, 1 << 20)
            if not piece:
                raise EOFError("the browser has gone")
            self.rest += piece
        one, self.rest = self.rest.split(b"\0", 1)
        return json.loads(one)

    def ask(self, method, timeout=60, **params):
        self.number += 1
        call = {"id": self.number, "method": method, "params": params}
        if self.session:
            call["sessionId"] = self.session
        data = json.dumps(call).encode() + b"\0"
        while data:
            data = data[os.write(self.to_it, data):]
        until = time.monotonic() + timeout
        while True:
            answer = self.message(until)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def wait(self, method, timeout=60):
        until = time.monotonic() + timeout
        while not any(event.get("method") == method for event in self.events):
            self.events.append(self.message(until))

    def open(self, path, scripts=True):
        """Load the file; seconds until it was there."""
        self.ask("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.events.clear()
        start = time.monotonic()
        self.ask("Page.navigate", url=pathlib.Path(path).resolve().as_uri())
        self.wait("Page.loadEventFired")
        return time.monotonic() - start

    def value(self, expression):
        answer = self.ask("Runtime.evaluate", expression=expression, returnByValue=True,
                          awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def complaints(self):
        """Errors and warnings of the page, its policy and its scripts."""
        said = []
        for event in self.events:
            params = event.get("params", {})
            if event.get("method") == "Runtime.exceptionThrown":
                said.append(params["exceptionDetails"])
            elif event.get("method") == "Log.entryAdded":
                said.append(params["entry"])
            elif event.get("method") == "Runtime.consoleAPICalled":
                said.append(params)
        return said

    def requests(self):
        return [event["params"]["request"]["url"] for event in self.events
                if event.get("method") == "Network.requestWillBeSent"]

    def look(self, width=1100, scheme="light", media="screen"):
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=900,
                 deviceScaleFactor=1, mobile=False)
        self.ask("Emulation.setEmulatedMedia", media=media,
                 features=[{"name": "prefers-color-scheme", "value": scheme}])

    def screenshot(self, path, left=0, top=0, width=None, height=None):
        """Of the whole page, or of a part of it."""
        size = self.ask("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": left, "y": top, "width": width or size["width"],
                "height": height or size["height"] - top, "scale": 1}
        data = self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=True,
                        clip=clip)["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(data))
