#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The page of a session with phases: a tab each, tokens a second beside the times on its card; without its script
all of it stands there.

usage: test_page.py ETPROF"""
import html
import pathlib
import re
import subprocess
import sys

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "tools"), str(TESTS / "reports")]
import browser
import pages
import phase_folders
from checks import expect, finish, new_folder

ETPROF = sys.argv[1]
TIMES = {"prefill 16": {"avx2": 1000000, "sse": 3000000}, "decode @0": {"avx2": 500000, "sse": 1000000},
         "decode @32": {"avx2": 800000, "sse": 1000000}}
# 16 tokens in 3 and 1 ms; a token in 1 and 0.5 ms, in 1 and 0.8 ms
TABS = [("prefill 16", "3.00× · 5,333 → 16,000 tok/s · 3.000 ms → 1.000 ms"),
        ("decode @0", "2.00× · 1,000 → 2,000 tok/s · 1.000 ms → 0.500 ms"),
        ("decode @32", "1.25× · 1,000 → 1,250 tok/s · 1.000 ms → 0.800 ms")]


def words(markup):
    return html.unescape(re.sub(r"<[^>]*>", "", markup))


def written(text):
    """What is there before any script runs: the first screen as markup, the tabs as blocks."""
    page, body = pages.document(text), pages.markup(text)
    expect(page["tabs"] == [name for name, _ in TABS], "tabs name their phase", page["tabs"])
    for k, (name, _) in enumerate(TABS, 1):
        own = [b for b in page["blocks"] if b.get("tab") == k]
        expect(own and own[0]["kind"] == "section" and own[0]["level"] == 1, name, "begins with its heading", own[:1])
        titles = [b["text"] for b in own if b["kind"] == "section"]
        for heading in ("Where the time goes", "Latency", "Cold, warm, traced", "Evidence"):
            expect(any(t.startswith(heading) for t in titles), name, "has its section", heading)
        expect("Environment" not in "\n".join(pages.strings(own)), name, "holds nothing of the whole session")
    cards = re.findall(r'<article class="card.*?</article>', body, re.S)
    expect(len(cards) == len(TABS), "a card each", len(cards))
    for card, (name, told) in zip(cards, TABS):
        speedup, *figures = told.split(" · ")
        ends = [words(e) for e in re.findall(r"<dd>.*?</dd>", card, re.S)]
        expect(name in words(card) and speedup in words(card) and len(ends) == 2, name, "is a card", words(card))
        for figure in figures:
            before, after, unit = re.fullmatch(r"(\S+)(?: \S+)? → (\S+) (\S+)", figure).groups()
            expect(before in ends[0] and f"{after} {unit}" in ends[-1], name, "rates and times on its card", figure,
                   ends)
    first, drawers = body.split('<div class="later">')[0], {b["id"] for b in page["blocks"] if b["kind"] == "drawer"}
    actions = [(f"{scope}-{number}" if scope else number, number, words(said)) for scope, number, said in
               re.findall(r'<li(?: data-scope="([^"]+)")?>(?:(?!</li>).)*?<p class="what"><b class="id">(N\d+)</b> '
                          r'(.*?)</p>', first, re.S)]
    for target, number, said in actions:
        phase = next((i for i, (name, _) in enumerate(TABS) if said.startswith(name + ": ")), None)
        expect(phase is not None and target == (f"phase-{phase + 1}-" if phase else "") + number,
               "a thing to do says its phase", target, said)
        expect(target in drawers, "and leads there", target)
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
        after = [n for n, _ in TABS][wanted + 1:wanted + 2] or ["Environment"]
        at = [step["nav"].index(n) for n in (TABS[wanted][0], "Operators", after[0])]
        expect(at == sorted(at) and step["nav"].count("Operators") == 1, "sections of the shown one behind its name",
               wanted, step["nav"])


def without_scripts(chromium, page):
    """The headline of each phase, what to do next and all charts stand there, and it says that the rest does not."""
    with browser.Session(chromium) as session:
        session.call("Emulation.setScriptExecutionDisabled", value=True)
        session.events.clear()
        session.call("Page.navigate", url=page.resolve().as_uri())
        while "Page.loadEventFired" not in session.events:
            session.read()
        told = session.run("""var seen = function (e) { return e.getClientRects().length > 0; };
          return ['.card', '.actions li', 'figure.chart', 'noscript'].map(function (q) {
            var all = Array.from(document.querySelectorAll(q)).filter(function (e) { return !e.closest('details'); });
            return [q, all.length, all.filter(seen).length]; });""")
    expect(told[0][1] == len(TABS) and told[3][1] == 1, "a headline for each phase, and what is missing", told)
    expect(all(n == shown for _, n, shown in told) and told[2][1] > 2 * len(TABS), "without scripts it is shown", told)


def one_unit(tmp):
    """On the first screen, the page's and the terminal's, times of all phases have one unit; of those that are too far
    apart each its own."""
    near = {"prefill 16": {"avx2": 1_500_000, "sse": 4_700_000}, "decode @0": {"avx2": 250_000, "sse": 318_000},
            "decode @32": {"avx2": 200_000, "sse": 400_000}}
    far = {**near, "prefill 16": {"avx2": 1_500_000_000, "sse": 47_000_000_000}}
    said = {"near": ["4.700 → 1.500 ms", "0.318 → 0.250 ms", "0.400 → 0.200 ms"],
            "far": ["47.00 → 1.50 s", "318.0 → 250.0 µs", "400.0 → 200.0 µs"]}
    cards = {"near": ["4.700 ms", "1.500 ms", "0.318 ms", "0.250 ms", "0.400 ms", "0.200 ms"],
             "far": ["47.00 s", "1.50 s", "318.00 µs", "250.00 µs", "400.00 µs", "200.00 µs"]}
    for name, times in {"near": near, "far": far}.items():
        folder = phase_folders.make(tmp / name, lambda p, level, t, m, times=times: times[p][level])
        done = subprocess.run([ETPROF, "analyze", "--renew", folder], capture_output=True, text=True, check=True)
        screen = subprocess.run([ETPROF, "analyze", folder], capture_output=True, text=True, check=True).stdout
        first = (folder / "report.html").read_text(encoding="utf-8").split('<div class="later">')[0]
        found = re.findall(r'<dd><span class="track">.*?</span><b>(.*?)</b>', first)
        expect(found == cards[name], name, "times on the cards", found, done.stderr)
        expect(re.findall(r"\S+ → \S+ (?:s|ms|µs)\b", screen) == said[name], name, "times on the screen", screen)
        wholes = re.findall(r'<p class="range">.*? of \S+ (\S+)</p>', first)
        expect(len(wholes) > 3 and set(wholes) == {"ms"}, name, "what gains are of", wholes)  # 0.2 to 1500 ms


def alone(tmp):
    """A session of one phase, and one without, are pages without tabs."""
    for name, phases in (("one", (phase_folders.DECODE, )), ("none", ())):
        folder = phase_folders.make(tmp / name, lambda p, level, t, m: TIMES["decode @0"][level], phases=phases)
        subprocess.run([ETPROF, "analyze", "--full", "--renew", folder], stdout=subprocess.DEVNULL, check=True)
        text = (folder / "report.html").read_text(encoding="utf-8")
        expect(not any("tab" in b for b in pages.blocks(text)), name, "no tabs")


place = new_folder()
run = phase_folders.make(place / "run", lambda p, level, t, m: TIMES[p][level])
subprocess.run([ETPROF, "analyze", "--full", "--renew", run], stdout=subprocess.DEVNULL, check=True)
written((run / "report.html").read_text(encoding="utf-8"))
alone(place)
one_unit(place)
if len(sys.argv) > 2:
    shown(browser.find(), place, run / "report.html")
    without_scripts(browser.find(), run / "report.html")
finish()
