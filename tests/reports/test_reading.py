# SPDX-License-Identifier: Apache-2.0
"""Every kind of page for who reads it with keys, with a screen reader, on a phone: real keys, the tree of names and
roles, widths and requests of a headless Chromium. Says when the first paint came; nothing is asked of that here.

usage: test_reading.py ETPROF SOURCE_ROOT FAKE_RUNNER RENDER_REPORT"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import browser  # noqa: E402
import phase_folders  # noqa: E402
from checks import expect, finish  # noqa: E402
from test_page import ETPROF, ROOT, large, measured  # noqa: E402

WIDTHS = (1280, 820, 390)
NAMED = {"link", "button", "searchbox", "textbox", "combobox", "checkbox", "radio", "image", "dialog", "table",
         "region", "navigation", "heading"}
WIDE = """
  var wide = [], vw = document.documentElement.clientWidth;
  document.querySelectorAll('body *').forEach(function (e) {
    if (e.closest('.box, pre, nav ul, .unseen, svg, .spans .track')) return;
    var r = e.getBoundingClientRect();
    if (r.width && r.right > vw + 1) wide.push(e.tagName + '.' + e.className + ' ' + Math.round(r.right));
    if (e.tagName !== 'PRE' && e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflowX === 'hidden')
      wide.push('hidden ' + e.tagName + '.' + e.className);
  });
  return {vw: vw, page: document.documentElement.scrollWidth, wide: wide.slice(0, 5)};"""
FOCUS = """
  var e = document.activeElement, r = e.getBoundingClientRect(), s = getComputedStyle(e), open = e.closest('.drawer');
  var before = window.was && (window.was.compareDocumentPosition(e) & Node.DOCUMENT_POSITION_FOLLOWING);
  window.was = e;
  return {tag: e.tagName, text: e.textContent.trim().slice(0, 40), id: e.id, href: e.getAttribute('href'),
    top: r.top, bottom: r.bottom, ring: s.outlineStyle !== 'none' || e.closest('svg') !== null,
    after: !!before, drawer: open && open.id};"""


def pages(tmp):
    """A page of each kind, by its name."""
    data = ROOT / "tests/data"
    made = {"ab": measured(tmp) / "report.html", "large": large(tmp) / "report.html"}
    times = {"neon": 3_000_000, "sme2": 1_000_000}
    swept = phase_folders.make(tmp / "swept", lambda p, level, t, m: times[level] // t, phases=(),
                               levels=("sme2", "neon"), threads=(1, 2), models=("encoder_int8", "decoder"),
                               sweep={"knee": 0.1})
    phased = phase_folders.make(tmp / "phased", lambda p, level, t, m: times[level], levels=("sme2", "neon"))
    mixed = [data / "mixed_xnnpack_fp32.etdump", "--pte", data / "mixed_xnnpack_fp32.pte"]
    for name, words in {
            "sweep": ["report", swept], "phases": ["report", phased], "kit": ["analyze", data / "kit/flat"],
            "several": ["report", tmp / "measured", tmp / "large", phased, swept],
            "roofs": ["analyze", *mixed, "--roofs-file", data / "roofs/round.json"],
            "history": ["history", tmp / "measured", phased], "record": ["history", data / "history.csv"]}.items():
        made[name] = tmp / f"{name}.html"
        done = subprocess.run([ETPROF, *words, "--format", "html", "-o", made[name]], cwd=tmp, capture_output=True,
                              text=True, timeout=600, check=False, stdin=subprocess.DEVNULL)
        expect(made[name].exists(), name, done.returncode, done.stderr)  # the code is that of the answer
    return made


def told_apart(session, tmp, made):
    """Of several answers each has an "op1" of its own: every id is a link, and to the drawer of its answer."""
    for name, scopes in {"sweep": 4, "kit": 2, "phases": 3, "several": 4}.items():
        session.open(made[name])
        told = session.run(r"""
          var bare = [], broken = [];
          var walker = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
          while (walker.nextNode()) {
            var t = walker.currentNode, e = t.parentElement;
            if (/^(op\d+|N\d+)$/.test(t.data.trim()) && !e.closest('a, h3')) bare.push(t.data + ' ' + e.outerHTML);
          }
          function to(e) {
            return Array.from(e.querySelectorAll('a')).map(function (a) { return a.getAttribute('href').slice(1); }); }
          document.querySelectorAll('a').forEach(function (a) {
            if (!document.getElementById(a.getAttribute('href').slice(1))) broken.push(a.outerHTML); });
          return {bare: bare.slice(0, 5), broken: broken.slice(0, 5),
            drawers: Array.from(document.querySelectorAll('.drawer')).map(function (d) {
              return [d.id, d.querySelector('h3').textContent, (d.querySelector('.subtitle') || {}).textContent,
                to(d)]; }),
            rows: Array.from(document.querySelectorAll('tbody tr')).map(function (r) {
              return [r.cells[0].textContent, to(r)]; })};""")
        expect(not told["bare"] and not told["broken"], name, "ids without a link, links to nothing", told["bare"],
               told["broken"])
        answer = lambda one: one.rpartition("-")[0]  # noqa: E731
        found = {answer(d[0]) for d in told["drawers"]}
        expect(len(found) == scopes, name, "drawers of each answer", found)
        expect(all(d[2] for d in told["drawers"]), name, "a drawer says of which answer it is", told["drawers"][:2])
        for one, title, _, links in told["drawers"]:
            expect(title.startswith(one.rpartition("-")[2] + " "), name, one, title)
            expect(all(answer(link) == answer(one) for link in links), name, one, "leads to another answer", links)
    words = ["report", tmp / "measured", tmp / "large", tmp / "phased", tmp / "swept"]
    said = subprocess.run([ETPROF, *words, "--format", "json"], cwd=tmp, capture_output=True, text=True, timeout=600,
                          check=False).stdout
    titles, linked = {d[0]: d[1] for d in told["drawers"]}, 0
    for k, one in enumerate(json.loads(said)["runs"], 1):
        for op in one["answer"]["operators"][:5]:
            title = titles.get(f"run-{k}-{op['id']}", f"{op['id']} {op['label']}")  # the longest of each have one
            expect(title == f"{op['id']} {op['label']}", "several", k, title, op["label"])
        for first, links in told["rows"]:
            if first == one["run"]:
                linked += len(links)
                expect(all(link.startswith(f"run-{k}-") for link in links), "several", first, links)
    expect(linked > 10, "several: rows have links", linked)


def nothing_clipped(session, name, page):
    """Nothing is wider than the window but what scrolls in its own box, nor in the longest drawer."""
    for width in WIDTHS:
        session.open(page, width)
        for place in ("page", "drawer"):
            told = session.run(WIDE)
            expect(told["vw"] == told["page"] == width and not told["wide"], name, place, f"clipped at {width}", told)
            if not session.run("""var all = Array.from(document.querySelectorAll('.drawer'));
                  all.sort(function (a, b) { return b.textContent.length - a.textContent.length; });
                  if (all[0]) location.hash = all[0].id;
                  return all.length > 0;"""):
                break


def names_and_roles(session, name, page):
    session.open(page)
    expect(session.requests == [pathlib.Path(page).resolve().as_uri()], name, "asks for the network", session.requests)
    nodes = session.tree()
    bare = [n for n in nodes if n["role"] in NAMED and not n["name"].strip()]
    expect(not bare, name, "without a name for a screen reader:", len(bare), bare[:3])
    roles = [n["role"] for n in nodes]
    expect(roles.count("main") == 1 and roles.count("navigation") == 1 and roles.count("banner") == 1, name,
           "a main part, a navigation, a head", {r: roles.count(r) for r in ("main", "navigation", "banner")})
    levels = [int(n["level"]) for n in nodes if n["role"] == "heading"]
    expect(levels[:1] == [1] and all(b <= a + 1 for a, b in zip(levels, levels[1:])), name, "headings", levels)
    pictured = re.compile(r"\b(?:NaN|undefined|null)\b")
    expect(not any(pictured.search(n["name"]) for n in nodes), name, "a name that says nothing")


def by_keys(session, page):
    """From the top with the Tab key, into a drawer and out of it again."""
    session.open(page)
    session.run("window.was = document.body;")
    stops = []
    for _ in range(400):
        session.press("Tab")
        stops.append(session.run(FOCUS))
        if stops[-1]["tag"] == "BODY":
            break
    stops = [s for s in stops if s["tag"] != "BODY"]
    told = [(s["tag"], s["text"]) for s in stops]
    expect(len(stops) > 30, "stops of the Tab key", told)
    expect(all(s["after"] for s in stops), "in the order of the page", [s for s in stops if not s["after"]][:3])
    expect(all(s["ring"] for s in stops), "is seen where it is", [s for s in stops if not s["ring"]][:3])
    expect(all(s["bottom"] > 0 and s["top"] < 900 for s in stops), "is scrolled to",
           [s for s in stops if not (s["bottom"] > 0 and s["top"] < 900)][:3])
    expect(stops[0]["tag"] == "A" and stops[0]["href"].startswith("#"), "the sections come first", stops[0])
    session.run("""var track = document.querySelectorAll('.spans .track')[1];
      track.querySelector('a').focus();
      window.second = track.querySelectorAll('a')[1];""")
    session.press("ArrowRight")
    expect(session.run("return document.activeElement === window.second"), "an arrow goes to the next span")
    session.press("ArrowLeft")
    session.press("Tab")
    expect(session.run("return document.activeElement.closest('.track') !== window.second.closest('.track')"),
           "the Tab key leaves the picture")
    drawer_by_keys(session)


def drawer_by_keys(session):
    session.run("""window.from = document.querySelector('#operators ~ figure tbody th a'); window.from.focus();""")
    wanted = session.run("return window.from.getAttribute('href').slice(1)")
    session.press("Enter")
    expect(session.run(FOCUS)["id"] == wanted, "the drawer has the focus", wanted)
    dialog = [n for n in session.tree() if n["role"] == "dialog"]
    expect(len(dialog) == 1 and dialog[0]["name"].startswith(wanted) and dialog[0].get("modal"), "a dialog", dialog)
    visited = []
    for shift in (False,) * 12 + (True,) * 14:
        session.press("Tab", shift)
        visited.append(session.run(FOCUS))
    expect(visited[0]["text"] == "Close", "Close is the first stop", visited[0])
    expect(all(v["drawer"] == wanted for v in visited), "stays in the drawer", visited)
    session.press("Escape")
    expect(session.run("return document.activeElement === window.from && !document.querySelector('.drawer.open')"),
           "Escape closes it and goes back to the link")
    session.press("Enter")
    session.press("Tab")
    session.press("Enter")
    expect(session.run("return document.activeElement === window.from"), "so does Close")
    session.run("""var b = window.from.closest('table').querySelectorAll('thead button')[2]; window.head = b.parentNode;
      b.focus();""")
    session.press("Enter")
    expect(session.run("return window.head.getAttribute('aria-sort')") == "descending", "a column is sorted with keys")


def first_paint(session, page):
    session.open(page)
    return session.run("""return new Promise(function (done) { (function look() {
      var all = performance.getEntriesByType('paint');
      if (all.length) done(Math.round(all[0].startTime)); else setTimeout(look, 10); })(); });""")


def main():
    chromium = browser.find()
    with tempfile.TemporaryDirectory(prefix="etp-") as name, browser.Session(chromium) as session:
        made = pages(pathlib.Path(name))
        for kind, page in made.items():
            names_and_roles(session, kind, page)
            nothing_clipped(session, kind, page)
        told_apart(session, pathlib.Path(name), made)
        by_keys(session, made["large"])
        paints = sorted(first_paint(session, made["large"]) for _ in range(5))
        print(f"first paint of the page of 194 operators: {paints[2]} ms, {paints[0]} to {paints[-1]}, five times")
    finish("pages are read with keys, by name and on small windows")


if __name__ == "__main__":
    main()
