# SPDX-License-Identifier: Apache-2.0
"""A page in a headless Chromium: what a script of the test finds in it."""
import json
import re
import shutil
import subprocess

from checks import skip

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find():
    browser = next((b for b in map(shutil.which, BROWSERS) if b), None)
    if not browser:
        skip("no Chromium here: nobody opens the page")
    return browser


def ask(browser, tmp, page, script, width=1280, height=800, flags=()):
    """Runs SCRIPT, the body of a function that returns what can be JSON, in a copy of the file PAGE after its own
    scripts. An error of any script of the page is told as {"error": …}."""
    text = page.read_text(encoding="utf-8")
    assert text.count("</body>") == 1, "one end of the body"
    head = "<script>window.onerror = function (m) { window.failed = window.failed || String(m); };</script>"
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
