# SPDX-License-Identifier: Apache-2.0
"""The page of a fleet of figures made here: each sentence of the answer is a card of how bad it is, each table that has
rows stands there once, with its heads and a link to it, and one list tells which have none; names of others stay text.
In a browser nothing is clipped, be the window as narrow as a phone. usage: test_page.py SOURCE_DIR BUILD_DIR"""
import html.parser
import os
import pathlib
import re
import shutil
import sys

TREE, BUILD = (pathlib.Path(p).resolve() for p in sys.argv[1:3])
sys.path[:0] = [str(TREE / "tests/tools"), str(TREE / "tests/reports"), str(TREE / "python")]
os.environ["ETPROF_LIBRARY"] = str(next(p for p in BUILD.glob("libetprof.*") if p.suffix in (".0", ".dylib")))
import browser
from checks import expect, finish, new_folder, skip

try:
    from etprof.fleet import report
except ImportError as missing:
    skip(f"no {missing.name} here: the package's fleet does not load")

HOSTILE = "<img src=x onerror=alert(1)>'\""


def slower(model, rise, nights=12):
    days = [f"2026-11-{n + 1:02}" for n in range(nights)]
    return {"model": model, "experiment": "neon", "phase": "", "threads": 1, "how": "timed", "slower": rise,
            "lo": rise - 0.01, "hi": rise + 0.01, "since": days[8], "first_bad_build": "b8", "last_good_build": "b7",
            "devices": 5, "on": [{"device": "phone-1", "slower": rise}],
            "nights": [{"day": day, "ratio": 1 + rise * (n >= 8)} for n, day in enumerate(days)]}


def found(**more):
    """What questions.everything gives, of a fleet where nothing is the matter."""
    none = {key: [] for key, *_ in report.PARTS if key != "slower_last_night"}
    return {"since": "", "rows": {"sessions": 1234, "errors": 0},
            "last_night": {"judged": 9, "day": "2026-11-12", "builds": ["b11"], "slower": [], "silent": [],
                           "least": 0.031}, **none, **more}


class Page(html.parser.HTMLParser):
    """Cards by their kind, heads and cells of each table by the id of its heading, links, ids, tags."""

    def __init__(self, text):
        super().__init__()
        self.cards, self.tables, self.links, self.ids, self.tags = [], {}, [], [], set()
        self._text, self._key = None, None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.tags.add(tag)
        if "id" in attrs:
            self.ids.append(attrs["id"])
        if tag == "a":
            self.links.append(attrs["href"])
        if tag == "section":
            self.cards.append([attrs["class"].split()[1], ""])
            self._text = self.cards[-1]
        if tag == "div":
            self._key, self._text = attrs["aria-labelledby"], None
            self.tables[self._key] = []
        if tag == "tr":
            self.tables[self._key].append([])
        if tag in ("th", "td"):
            self._text = [tag, ""]
            self.tables[self._key][-1].append(self._text)

    def handle_data(self, data):
        if self._text:
            self._text[1] += data


def quiet():
    text = report.page(found(), 20)
    page = Page(text)
    expect([kind for kind, _ in page.cards] == ["good"] and "none of 9 series" in page.cards[0][1], "a quiet night",
           page.cards)
    expect(not page.tables and not page.links, "no empty table", page.tables, page.links)
    for _, title, none, _ in report.PARTS:
        expect(text.count(f"<li>{title}: {none}") == 1, "told to be empty", title)


def troubled():
    rows = [slower(HOSTILE, 0.101), slower("m" * 90, 0.2)]  # a name that no blank parts
    whole = [{"device": "phone-7", "slower": 0.2, "since": "2026-11-09"}]
    speedups = [{"feature": "sme2", "against": "neon", "device": f"phone-{n}", "speedup": 3.14159, "lo": 3, "hi": 3.3,
                 "sessions": 1000, "models": 3} for n in range(25)]
    told = found(regressions=rows, whole_devices=whole, speedups=speedups, rows={"sessions": 1234, "errors": 2})
    told["last_night"].update(slower=rows[:1], silent=["phone-9"])
    text = report.page(told, 20)
    page = Page(text)
    expect([kind for kind, _ in page.cards] == ["bad", "bad", "warn", "warn", "warn"], "cards", page.cards)
    told = "10.1\u00a0% slower (9.1 to 11.1\u00a0%) since build b8 of 2026-11-09"
    expect(told in page.cards[0][1], "which", page.cards)
    expect(list(page.tables) == ["slower_last_night", "regressions", "whole_devices", "speedups"], "tables",
           list(page.tables))
    expect(page.links == [f"#{key}" for key in page.tables] and set(page.tables) < set(page.ids), "a link to each",
           page.links)
    for key, lines in page.tables.items():
        heads = [tag for tag, _ in lines[0]]
        expect(set(heads) == {"th"} and all(len(r) == len(heads) and [t for t, _ in r] == ["th"] + ["td"] * (len(r) - 1)
                                            for r in lines[1:]), key, "heads of columns and rows", lines[:2])
    row = [words for _, words in page.tables["speedups"][1]]
    expect(row == ["sme2", "neon", "phone-0", "3.14×", "3.00×", "3.30×", "1,000", "3"], "speedups", row)
    expect(len(page.tables["speedups"]) == 21 and "and 5 more (--most" in text, "rows that are left out")
    expect(text.count("<polyline") == 3 and not page.tags & {"img", "script", "iframe"}, "pictures, no markup of names",
           page.tags)
    return text


def nothing_clipped(text):
    chromium = next((b for b in map(shutil.which, browser.BROWSERS) if b), None)
    if not chromium:
        print("skipped: no Chromium here to open the page with", flush=True)
        return
    open_to_scripts = re.sub(r"<meta http-equiv=Content[^>]*>", "", text)  # of this test
    expect(open_to_scripts != text, "the page forbids requests and scripts")
    name = new_folder()
    page = name / "fleet.html"
    page.write_text(open_to_scripts, encoding="utf-8")
    for width in (1280, 820, 390):
        told = browser.ask(chromium, name, page, """
          var vw = document.documentElement.clientWidth, wide = [];
          document.querySelectorAll('body *').forEach(function (e) {
            if (e.closest('.box') && !e.matches('.box')) return;
            if (e.getBoundingClientRect().right > vw + 1) wide.push(e.outerHTML.slice(0, 80)); });
          return {page: document.documentElement.scrollWidth, wide: wide.slice(0, 3)};""", width=width)
        expect(told == {"page": width, "wide": []}, width, "clipped", told)


quiet()
nothing_clipped(troubled())
finish()
