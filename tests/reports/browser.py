# SPDX-License-Identifier: Apache-2.0
"""A page in a headless Chromium: what a script of the test finds in it."""
import fcntl
import json
import os
import pathlib
import re
import select
import shutil
import subprocess
import tempfile

from checks import skip

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find():
    browser = next((b for b in map(shutil.which, BROWSERS) if b), None)
    if not browser:
        skip("no Chromium here: nobody opens the page")
    return browser


UNFOLD = "document.querySelectorAll('details.shut').forEach(function (d) { d.open = true; });"


def ask(browser, tmp, page, script, width=1280, height=800, flags=(), shut=False):
    """Runs SCRIPT, the body of a function that returns what can be JSON, in a copy of the file PAGE after its own
    scripts; sections that it has shut are open, unless SHUT. An error of any script is told as {"error": …}."""
    text = page.read_text(encoding="utf-8")
    assert text.count("</body>") == 1, "one end of the body"
    head = ("<script>window.onerror = function (m) { window.failed = window.failed || String(m); };"
            "window.alert = function (m) { window.failed = window.failed || 'a dialog: ' + m; };</script>")
    script = script if shut else UNFOLD + script
    driver = ("<script>(function () { var told; try { told = (function () {" + script + "})(); } catch (e) "
              "{ told = {error: String(e)}; } if (window.failed) told = {error: window.failed};"
              "parent.postMessage(JSON.stringify(told), '*'); })();</script>")
    asked, frame = tmp / "asked.html", tmp / "frame.html"
    asked.write_text(text.replace("<body>", "<body>" + head, 1).replace("</body>", driver + "</body>"),
                     encoding="utf-8")
    # In a frame: no window of a browser is as narrow as a phone.
    frame.write_text("<!DOCTYPE html><body style='margin:0'><script>onmessage = function (m) {"
                     "var out = document.createElement('pre'); out.id = 'told'; out.textContent = m.data;"
                     "document.body.appendChild(out); };</script>"
                     f"<iframe src='asked.html' style='border:0;width:{width}px;height:{height}px'></iframe></body>")
    done = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                           f"--user-data-dir={tmp / 'profile'}", f"--window-size=1400,{height + 50}",
                           "--virtual-time-budget=5000", *flags, "--dump-dom", f"file://{frame}"],
                          capture_output=True, check=True, timeout=300, cwd=tmp)
    told = re.search(r'<pre id="told">(.*?)</pre>', done.stdout.decode("utf-8"), re.S)
    assert told, "the page tells nothing: " + done.stderr.decode("utf-8", "replace")[-400:]
    plain = told.group(1).replace("&lt;", "<").replace("&gt;", ">").replace("&nbsp;", "\u00a0").replace("&amp;", "&")
    return json.loads(plain)


def built(browser, tmp, text):
    """The markup of the page TEXT when its blocks are made, before any script makes it move: without page.js, the last
    of its scripts."""
    begin = text.rindex("<script>")
    page = tmp / "built.html"
    page.write_text(text[:begin] + text[text.index("</script>", begin) + len("</script>"):], encoding="utf-8")
    return subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp / 'profile'}",
                           "--virtual-time-budget=20000", "--dump-dom", page.resolve().as_uri()], capture_output=True,
                          check=True, timeout=300, cwd=tmp).stdout.decode("utf-8")


def drawn(browser, tmp, text, selector):
    """The markup of what the scripts of the page TEXT made where SELECTOR says."""
    page = tmp / "drawn.html"
    page.write_text(text, encoding="utf-8")
    return ask(browser, tmp, page, f"return document.querySelector({json.dumps(selector)}).outerHTML;")


class Session:
    """One browser for many pages, with real keys, widths and the tree that screen readers get: DevTools' protocol
    through a pipe. What the page asks the network for is in `requests`."""

    def __init__(self, browser):
        self.folder = tempfile.TemporaryDirectory(prefix="etp-browser-", ignore_cleanup_errors=True)
        down, self.to = os.pipe()
        self.back, up = os.pipe()
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in (down, up)]  # the browser's 3 and 4

        def place():
            os.dup2(ends[0], 3)
            os.dup2(ends[1], 4)

        self.process = subprocess.Popen(
            [browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe",
             f"--user-data-dir={self.folder.name}"], preexec_fn=place, pass_fds=(3, 4), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for end in (down, up, *ends):
            os.close(end)
        self.rest, self.last, self.events, self.requests, self.target = b"", 0, [], [], None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.target = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Accessibility"):
            self.call(domain + ".enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(30)
        os.close(self.to)
        os.close(self.back)
        self.folder.cleanup()

    def read(self):
        while b"\0" not in self.rest:
            assert select.select([self.back], [], [], 300)[0], "the browser says nothing for five minutes"
            more = os.read(self.back, 1 << 20)
            assert more, "the browser is gone"
            self.rest += more
        one, _, self.rest = self.rest.partition(b"\0")
        message = json.loads(one)
        if message.get("method") == "Network.requestWillBeSent":
            self.requests.append(message["params"]["request"]["url"])
        assert message.get("method") != "Page.javascriptDialogOpening", ("the page waits for an answer", message)
        if "method" in message:
            self.events.append(message["method"])
        return message

    def call(self, method, **params):
        self.last += 1
        message = {"id": self.last, "method": method, "params": params}
        if self.target:
            message["sessionId"] = self.target
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while (told := self.read()).get("id") != self.last:
            pass
        assert "result" in told, (method, told)
        return told["result"]

    def open(self, page, width=1280, height=900, shut=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.events.clear()
        self.requests.clear()
        self.call("Page.navigate", url=pathlib.Path(page).resolve().as_uri())
        while "Page.loadEventFired" not in self.events:
            self.read()
        self.run("""var end = Date.now() + 120000; // a page that is not there, or is no page of ours, is never painted
            return new Promise(function (done, failed) { (function look() { // all is laid out after the first paint
            if (document.documentElement.classList.contains('painted')) done();
            else if (Date.now() > end) failed(new Error('not painted: ' + location));
            else setTimeout(look, 5); })(); });""")
        if not shut:
            self.run(UNFOLD)

    def run(self, script):
        """What the body of a function in the page returns; a promise is waited for."""
        told = self.call("Runtime.evaluate", expression="(function () {" + script + "})()", returnByValue=True,
                         awaitPromise=True)
        assert "exceptionDetails" not in told, told
        return told["result"].get("value")

    def press(self, key, shift=False):
        codes = {"Tab": 9, "Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowRight": 39}
        text = {"text": "\r"} if key == "Enter" else {}
        what = {"key": key, "windowsVirtualKeyCode": codes[key], "modifiers": 8 if shift else 0}
        self.call("Input.dispatchKeyEvent", type="keyDown", **what, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", **what)

    def tree(self):
        """Nodes that a screen reader is told of: role, name, properties; in the order of the page."""
        nodes = self.call("Accessibility.getFullAXTree")["nodes"]
        return [{"role": n["role"]["value"], "name": n.get("name", {}).get("value", ""),
                 **{p["name"]: p["value"].get("value") for p in n.get("properties", [])}}
                for n in nodes if not n["ignored"]]
