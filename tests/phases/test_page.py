#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The page of a session with phases: a tab each, with tokens a second beside the times; without its script all of it
stands there.

usage: test_page.py ETPROF"""
import html
import pathlib
import re
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "tools"), str(TESTS / "reports")]
import browser
import phase_folders
from checks import expect, finish

ETPROF = sys.argv[1]
TIMES = {"prefill 16": {"avx2": 1000000, "sse": 3000000}, "decode @0": {"avx2": 500000, "sse": 1000000},
         "decode @32": {"avx2": 800000, "sse": 1000000}}
# 16 tokens in 3 and 1 ms; a token in 1 and 0.5 ms, in 1 and 0.8 ms
TABS = [("prefill 16", "3.00× · 5,333 → 16,000 tok/s · 3.000 ms → 1.000 ms"),
        ("decode @0", "2.00× · 1,000 → 2,000 tok/s · 1.000 ms → 500.0 µs"),
        ("decode @32", "1.25× · 1,000 → 1,250 tok/s · 1.000 ms → 800.0 µs")]


def words(markup):
    return html.unescape(re.sub(r"<[^>]*>", "", markup))


def written(text):
    """What is there before any script runs."""
    body = re.sub(r"<(script|style)\b.*?</\1>", "", text, flags=re.S)
    bar = re.search(r'<ul class="tabs">(.*?)</ul>', body, re.S)
    links = re.findall(r'<a href="#([^"]+)"><b>(.*?)</b> <small>(.*?)</small></a>', bar[1] if bar else "")
    expect([(words(b), words(s)) for _, b, s in links] == TABS, "tabs name their phase, its rates and times", links)
    parts = body.split('<div class="tab">')[1:]
    expect(len(parts) == 3 and "hidden" not in (bar[0] if bar else "hidden"), "a tab each, none hidden", len(parts))
    for part, (target, name, _) in zip(parts, links):
        first = re.search(r"<h2 id=\"([^\"]+)\">(.*?)</h2>", part)
        expect(first and first[1] == target and words(first[2]) == name, name, "begins with its heading", first)
        own = part.split("</section>\n</div>")[0]
        expect(own.count("<section") == own.count("</section>") + 1, name, "is closed")
        for heading in ("Where the time goes", "Latency", "Cold, warm, traced", "Evidence"):
            expect(re.search(r"<h[23] id=[^>]*>" + heading, own), name, "has its section", heading)
        expect("Environment" not in words(own), name, "holds nothing of the whole session")
    for card, (name, told) in zip(re.findall(r'<article class="card.*?</article>', body, re.S), TABS):
        before, after = re.search(r"([\d,]+) → ([\d,]+) tok/s", told).groups()
        ends = [words(e) for e in re.findall(r"<dd>.*?</dd>", card, re.S)]
        expect(name in words(card) and len(ends) == 2, name, "is a card", words(card))
        expect(f"{before} tok/s" in ends[0] and f"{after} tok/s" in ends[-1], name, "tokens a second on its card", ends)
    first = body.split('<ul class="tabs">')[0]
    actions = re.findall(r'<p class="what"><a class="id" href="#([^"]+)">(N\d+)</a> (.*?)</p>', first)
    for target, number, text in actions:
        phase = next((i for i, (name, _) in enumerate(TABS) if text.startswith(name + ": ")), None)
        expect(phase is not None and target == (f"phase-{phase + 1}-" if phase else "") + number,
               "a thing to do says its phase", target, text)
        expect(f'id="{target}"' in body, "and leads there", target)
    expect(len({target for target, _, _ in actions}) == len(actions) > 3, "things to do of every phase", actions)


def shown(chromium, tmp, page):
    told = browser.ask(chromium, tmp, page, """
      var tabs = Array.from(document.querySelectorAll('.tab')), links = document.querySelectorAll('.tabs a'), seen = [];
      function look() {
        var nav = Array.from(document.querySelectorAll('nav li')).filter(function (e) {
          return e.getClientRects().length; });
        seen.push({open: tabs.map(function (t) { return t.getClientRects().length > 0; }),
          chosen: Array.from(links).map(function (a) { return a.getAttribute('aria-current'); }),
          nav: nav.map(function (e) { return e.textContent; })});
      }
      look();
      links[2].click(); look();
      document.querySelector('nav a[href="#phase-2"]').click(); look();
      document.querySelector('nav a[href="#environment"]').click(); look();
      return seen;""")
    expect(isinstance(told, list), "a script of the page failed", told)
    for step, wanted in zip(told, (0, 2, 1, 1)):
        expect(step["open"] == [i == wanted for i in range(3)], "one tab is shown", wanted, step["open"])
        said = ["true" if i == wanted else None for i in range(3)]
        expect(step["chosen"] == said, "and is said to be", step["chosen"])
        expect([n for n, _ in TABS] == [n for n in step["nav"] if n in dict(TABS)], "all can be reached", step["nav"])
        expect(("Operators" in step["nav"]) == (wanted == 0), "sections of the shown one above", wanted, step["nav"])


def alone(tmp):
    """A session of one phase, and one without, are pages without tabs."""
    for name, phases in (("one", (phase_folders.DECODE, )), ("none", ())):
        folder = phase_folders.make(tmp / name, lambda p, level, t, m: TIMES["decode @0"][level], phases=phases)
        subprocess.run([ETPROF, "report", folder], stdout=subprocess.DEVNULL, check=True)
        text = (folder / "report.html").read_text(encoding="utf-8")
        expect(not re.search(r'class="tabs?"', text), name, "no tabs")


with tempfile.TemporaryDirectory(prefix="etp-phases-page-") as name:
    place = pathlib.Path(name)
    run = phase_folders.make(place / "run", lambda p, level, t, m: TIMES[p][level])
    subprocess.run([ETPROF, "report", run], stdout=subprocess.DEVNULL, check=True)
    written((run / "report.html").read_text(encoding="utf-8"))
    alone(place)
    if len(sys.argv) > 2:
        shown(browser.find(), place, run / "report.html")
finish()
