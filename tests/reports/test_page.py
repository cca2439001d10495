# SPDX-License-Identifier: Apache-2.0
"""The page as a reader finds it, in a headless Chromium: what stands on the first screen, what is cut off, what its
links lead to, and that its figures are those of report.json.

usage: test_page.py ETPROF SOURCE_ROOT FAKE_RUNNER"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import browser  # noqa: E402
from checks import expect, finish  # noqa: E402

ETPROF, ROOT, FAKE = (pathlib.Path(p).resolve() for p in sys.argv[1:4])
WIDTHS = (1280, 820, 390)


def run(cwd, *words):
    return subprocess.run([ETPROF, *words], cwd=cwd, capture_output=True, text=True, check=True, timeout=600,
                          stdin=subprocess.DEVNULL).stdout


def measured(tmp):
    """A session of exact times: 12 ms against 4 ms."""
    (tmp / "net_xnnpack_fp32.pte").write_bytes(b"\x10\0\0\0ET12base sme2 4000000\nbase neon 12000000\n")
    run(tmp, "ab", "net_xnnpack_fp32.pte", "--levels", "sme2,neon", "--blocks", "6", "--iterations", "8", "--warmup",
        "3", "--runner", FAKE, "--out", "measured")
    return tmp / "measured"


def large(tmp):
    """The example run, of 194 operators, as if it had not been emulated."""
    folder = tmp / "large"
    shutil.copytree(ROOT / "examples/runs/image_encoder_int8_qemu", folder)
    manifest = folder / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"emulated": true', '"emulated": false'))
    run(tmp, "report", folder)
    return folder


def first_screen(chromium, tmp, folder):
    document = json.loads((folder / "report.json").read_text())
    told = browser.ask(chromium, tmp, folder / "report.html", """
      var bottom = function (e) { return e ? e.getBoundingClientRect().bottom : 1e9; };
      return {card: bottom(document.querySelector('.card')), action: bottom(document.querySelector('.actions li')),
        ends: Array.from(document.querySelectorAll('.card:first-child .ends > div')).map(function (e) {
          return [e.querySelector('dt').textContent, e.querySelector('.track i').getBoundingClientRect().width]; }),
        actions: Array.from(document.querySelectorAll('.actions li')).map(function (e) {
          var b = e.querySelector('.track i'), r = e.querySelector('.track u');
          return {id: e.querySelector('.id').textContent, floor: parseFloat(b.style.width),
            ceiling: parseFloat(r.style.left) + parseFloat(r.style.width), text: e.textContent,
            command: e.querySelector('code') && e.querySelector('code').textContent}; })};""")
    expect("error" not in told, folder.name, told)
    expect(told["card"] < 800, folder.name, "the headline is on the first screen", told["card"])
    comparison = document["comparisons"][0]
    arms = {a["name"]: a for a in document["arms"]}
    (name, before), (other, after) = told["ends"]
    ratio = arms[comparison["baseline"]]["median_ns"] / arms[comparison["candidate"]]["median_ns"]
    expect(abs(before / after / ratio - 1) < 0.01, folder.name, "bars are as long as the times", name, before, other,
           after, ratio)
    fixes = document["next_fixes"]
    expect([a["id"] for a in told["actions"]] == [f["id"] for f in fixes], folder.name, "a card for each fix",
           told["actions"])
    if fixes:
        expect(told["action"] < 800, folder.name, "the first thing to do is on the first screen", told["action"])
    hot = comparison["candidate"]
    for action, fix in zip(told["actions"], fixes):
        whole = arms[hot]["median_ns"] / 100
        for end, key in (("floor", "lo"), ("ceiling", "hi")):
            want = min(max(fix["gain_ns"][key], 0) / whole, 100)
            expect(abs(action[end] - want) < 0.011, folder.name, fix["id"], end, action[end], want)
        expect(fix["text"] in action["text"], folder.name, fix["id"], "says what is wrong")
        expect((action["command"] is not None) == fix["recipe"].startswith("etprof "), fix["id"],
               "a command to copy", action["command"], fix["recipe"])
        expect(not action["command"] or fix["recipe"].startswith(action["command"]), fix["id"], "the recipe's own")


def nothing_clipped(chromium, tmp, folder):
    """Nothing wider than the window but what scrolls in its own box, in the light and the dark."""
    for width in WIDTHS:
        told = browser.ask(chromium, tmp, folder / "report.html", """
          var wide = [], vw = document.documentElement.clientWidth;
          document.querySelectorAll('body *').forEach(function (e) {
            if (e.closest('.box, pre, nav ul, .unseen, svg')) return;
            var r = e.getBoundingClientRect();
            if (r.width && r.right > vw + 1) wide.push(e.tagName + '.' + e.className + ' ' + Math.round(r.right));
            if (e.tagName !== 'PRE' && e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflowX === 'hidden')
              wide.push('hidden ' + e.tagName + '.' + e.className);
          });
          return {vw: vw, page: document.documentElement.scrollWidth, wide: wide.slice(0, 5)};""", width, 900)
        expect("error" not in told, folder.name, told)
        expect(told.get("vw") == width, folder.name, "the window has the width", width, told)
        expect(told.get("page") == width and not told.get("wide"), folder.name, f"clipped at {width}", told)


def main():
    chromium = browser.find()
    with tempfile.TemporaryDirectory(prefix="etp-") as name:
        tmp = pathlib.Path(name)
        for folder in (measured(tmp), large(tmp)):
            first_screen(chromium, tmp, folder)
            nothing_clipped(chromium, tmp, folder)
    finish("the first screen decides, nothing is clipped")


if __name__ == "__main__":
    main()
