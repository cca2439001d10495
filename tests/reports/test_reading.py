# SPDX-License-Identifier: Apache-2.0
"""Every kind of page for who reads it with keys, with a screen reader, on a phone: real keys, the tree of names and
roles, widths and requests of a headless Chromium. Says when the first paint came; nothing is asked of that here.

usage: test_reading.py ETPROF SOURCE_ROOT FAKE_RUNNER RENDER_REPORT"""
import json
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import browser  # noqa: E402
import pages as blocks  # noqa: E402
import phase_folders  # noqa: E402
from checks import expect, finish, new_folder  # noqa: E402
from test_page import ETPROF, ROOT, large, measured  # noqa: E402

WIDTHS = (1280, 820, 390)
NAMED = {"link", "button", "searchbox", "textbox", "combobox", "checkbox", "radio", "image", "dialog", "table",
         "region", "navigation", "heading"}
WIDE = """
  var wide = [], vw = document.documentElement.clientWidth;
  document.querySelectorAll('body *').forEach(function (e) {
    if (e.closest('.box, pre, .copy code, nav ul, .unseen, svg, .spans .track')) return;
    var r = e.getBoundingClientRect();
    if (r.width && r.right > vw + 1) wide.push(e.tagName + '.' + e.className + ' ' + Math.round(r.right));
    if (e.tagName !== 'PRE' && e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflowX === 'hidden')
      wide.push('hidden ' + e.tagName + '.' + e.className);
  });
  var empty = [];
  document.querySelectorAll('.box > table').forEach(function (t) {
    if (!t.tBodies[0].rows.length) empty.push(t.caption.textContent + ' has no row');
    Array.from(t.tHead.rows[0].cells).forEach(function (th, k) {
      if (k && Array.from(t.querySelectorAll('tbody tr')).every(function (r) {
        return r.cells[k].classList.contains('none'); }))
          empty.push(t.caption.textContent + ': ' + th.textContent); }); });
  document.querySelectorAll('main > section > h2').forEach(function (h) {
    if (!h.nextElementSibling && !h.closest('.part, .tab')) empty.push('nothing below ' + h.textContent); });
  document.querySelectorAll('details').forEach(function (d) {
    var inside = Array.from(d.children).slice(1);
    if (!inside.some(function (e) { return e.textContent.trim() || e.querySelector('svg'); }))
      empty.push('nothing below ' + d.firstElementChild.textContent); });
  return {vw: vw, page: document.documentElement.scrollWidth, wide: wide.slice(0, 5), empty: empty.slice(0, 5)};"""
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
                               levels=("sme2", "neon"), threads=(1, 2), models=("encoder_int8", "decoder"))
    phased = phase_folders.make(tmp / "phased", lambda p, level, t, m: times[level], levels=("sme2", "neon"))
    words = ("encoder" * 9, "segment" * 8)  # nothing in them where a line may be broken
    long = phase_folders.make(tmp / "long", lambda p, level, t, m: times[level], phases=(), levels=("sme2", "neon"),
                              models=words)
    alone = phase_folders.make(tmp / "alone", lambda p, level, t, m: times[level], phases=(),
                               levels=("sme2", "neon"), models=words[:1])
    begun = phase_folders.make(tmp / "begun", lambda p, level, t, m: times[level], phases=(), levels=("sme2", "neon"),
                               blocks=0)
    mixed = [data / "mixed_xnnpack_fp32.etdump", "--pte", data / "mixed_xnnpack_fp32.pte"]
    for name, words in {
            "long names": ["analyze", long], "one long name": ["analyze", alone],
            "begun": ["analyze", begun], "phases": ["analyze", phased], "kit": ["analyze", data / "kit/flat"],
            "several": ["analyze", tmp / "measured", tmp / "large", phased, swept],
            "roofs": ["analyze", *mixed, "--roofs-file", data / "roofs/round.json"]}.items():
        made[name] = tmp / f"{name}.html"
        done = subprocess.run([ETPROF, *words, "--format", "html", "-o", made[name]], cwd=tmp, capture_output=True,
                              text=True, timeout=600, check=False, stdin=subprocess.DEVNULL)
        expect(made[name].exists(), name, done.returncode, done.stderr)  # the code is that of the answer
    return made


def told_apart(session, tmp, made):
    """Of several answers each has an "op1" of its own: every id is a link, and to the drawer of its answer."""
    for name, scopes in {"kit": 2, "phases": 3, "several": 6}.items():
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
              var part = r.closest('.part');
              return [part && part.querySelector('h2').id, to(r)]; })};""")
        expect(not told["bare"] and not told["broken"], name, "ids without a link, links to nothing", told["bare"],
               told["broken"])
        answer = lambda one: one.rpartition("-")[0]  # noqa: E731
        found = {answer(d[0]) for d in told["drawers"]}
        expect(len(found) == scopes, name, "drawers of each answer", found)
        expect(all(d[2] for d in told["drawers"]), name, "a drawer says of which answer it is", told["drawers"][:2])
        for one, title, _, links in told["drawers"]:
            expect(title.startswith(one.rpartition("-")[2] + " "), name, one, title)
            expect(all(answer(link) == answer(one) for link in links), name, one, "leads to another answer", links)
    words = ["analyze", tmp / "measured", tmp / "large", tmp / "phased", tmp / "swept"]
    said = subprocess.run([ETPROF, *words, "--format", "json"], cwd=tmp, capture_output=True, text=True, timeout=600,
                          check=False).stdout
    titles, linked = {d[0]: d[1] for d in told["drawers"]}, 0
    for k, one in enumerate(json.loads(said)["runs"], 1):
        for op in one["answer"]["operators"][:5]:
            title = titles.get(f"run-{k}-{op['id']}", f"{op['id']} {op['label']}")  # the longest of each have one
            expect(title == f"{op['id']} {op['label']}", "several", k, title, op["label"])
        for part, links in told["rows"]:
            if part == f"run-{k}":
                linked += len(links)
                expect(all(link.startswith(f"run-{k}-") for link in links), "several", part, links)
    expect(linked > 10, "several: rows have links", linked)


def each_reachable(made):
    """In a page of several folders each phase of one is an answer by itself, and says what the
    folder's own page says of it."""
    text = made["several"].read_text()
    listed = [(b["id"], b["text"]) for b in blocks.blocks(text) if b.get("part")]
    expect([name for _, name in listed][2:] == ["m0 · prefill 16", "m0 · decode @0", "m0 · decode @32", "2 models"],
           "an answer for each phase", listed)

    def rows(page, heading):
        found = iter(blocks.blocks(page))
        begins = any(b.get("id") == heading for b in found)  # up to it
        table = next((b for b in found if b["kind"] == "table"), None) if begins else None
        return table and [list(map(blocks.shown, r["cells"])) for r in table["rows"]]

    own = {"run-3": ("phases", "operators"), "run-3-phase-2": ("phases", "phase-2-operators"),
           "run-3-phase-3": ("phases", "phase-3-operators")}
    for one, (kind, heading) in own.items():
        here, there = rows(text, one + "-operators"), rows(made[kind].read_text(), heading)
        expect(here and here == there, one, "says what its own page says", here, there)
    labels = re.findall(r'<article class="card.*?<p class="label">(.*?)</p>', text, re.S)
    expect(all(any(label.startswith(name) for label in labels) for _, name in listed), "a headline for each", labels)


def one_at_a_time(session, made):
    """Of several answers one is shown, by its tab or choice, with keys, too, and each has what a single answer's page
    has. On paper all of them are there."""
    parts = {"kit": "operators whatif icicle",
             "several": "operators icicle"}
    for name, sections in parts.items():
        listed = [b["id"] for b in blocks.blocks(made[name].read_text()) if b.get("part")]
        session.open(made[name])
        above = session.run("""return Array.from(document.querySelectorAll('nav a')).map(function (a) {
            return a.hash.slice(1); });""")
        expect(listed and not set(listed) & set(above), name, "the sections' list stays short", listed, above)
        shown = """var shown = Array.from(document.querySelectorAll('.part')).filter(function (p) {
            return p.getClientRects().length; }).map(function (p) { return p.querySelector('h2').id; });"""
        expect(session.run(shown + "return shown;") == listed[:1], name, "the first is shown")
        for one in listed:  # following its address shows it
            told = session.run(f"location.hash = ''; location.hash = '{one}'; return new Promise(function (done) {{"
                               "setTimeout(function () {" + shown + "done([shown, Array.from(document.getElementById("
                               f"'{one}').parentNode.querySelectorAll('h3')).map(function (h) {{ return h.id; }}), "
                               "Array.from(document.querySelectorAll('.graph .box')).filter(function (b) { return "
                               "b.clientWidth; }).map(function (b) { return b.querySelector('svg')"
                               ".getBoundingClientRect().width / b.clientWidth; })]); }, 50); });")
            expect(told[0] == [one], name, one, "is shown alone", told[0])
            expect(all(0.02 < w <= 1.01 for w in told[2]), name, one, "its graph fits", told[2])
            lacking = [s for s in sections.split() if f"{one}-{s}" not in told[1]]
            own = name == "several" and lacking  # each has what its recordings give
            expect(not lacking or own and one != "run-2", name, one, "has not", lacking, told[1])
        session.call("Emulation.setEmulatedMedia", media="print")
        expect(session.run(shown + "return shown;") == listed, name, "on paper all of them")
        session.call("Emulation.setEmulatedMedia", media="")
    tabs_by_keys(session, made["kit"])
    chosen_by_keys(session, made)


def tabs_by_keys(session, page):
    session.open(page)
    session.run("document.querySelector('[role=tab]').focus();")
    session.press("ArrowRight")
    tabs = [n for n in session.tree() if n["role"] == "tab"]
    expect([bool(n.get("selected")) for n in tabs] == [False, True], "an arrow chooses the next answer", tabs)
    panel = [n["name"] for n in session.tree() if n["role"] == "tabpanel"]
    expect(panel == [tabs[1]["name"]], "a screen reader is told which", panel, tabs)
    session.press("Tab")
    expect(session.run("return document.activeElement.closest('.part').querySelector('h2').id") == "pair-2",
           "the Tab key goes on into it")
    told = session.run("""var part = document.getElementById('pair-2').parentNode, sum = part.querySelector('.sum');
      var select = part.querySelector('.whatif select'), before = sum.textContent;
      select.value = 1; select.onchange();
      return [before, sum.textContent, select.name, part.querySelector('.whatif li a').getAttribute('href'),
        document.querySelector('#pair-1').parentNode.querySelector('.sum').textContent];""")
    expect(told[0] != told[1] and told[3].startswith("#pair-2-"), "What if of its own operators", told)
    expect(told[4].split("→")[0] != told[0].split("→")[0], "and not of the other answer's", told)


def chosen_by_keys(session, made):
    """More answers than tabs have room for: a choice with a name."""
    session.open(made["several"], 390)
    told = session.run("""var select = document.querySelector('select.answers');
      select.value = 5; select.onchange();
      return [select.options.length, location.hash, Array.from(document.querySelectorAll('.part')).filter(function (p) {
        return p.getClientRects().length; }).length, document.querySelector('ul.answers').getClientRects().length];""")
    expect(told == [6, "#run-4", 1, 0], "a choice of many", told)
    nothing_clipped(session, "many answers", made["several"])


def kit_page(session, tmp, page):
    """The first screen of a folder of the kit decides."""
    folder = ROOT / "tests/data/kit/flat"
    run = lambda *words: json.loads(subprocess.run([ETPROF, *words, "--format", "json"], cwd=tmp, timeout=600,  # noqa: E731
                                                   capture_output=True, text=True, check=False).stdout)
    said = run("analyze", folder)
    session.open(page, 1280, 800)
    told = session.run("""return {cards: Array.from(document.querySelectorAll('.card')).map(function (c) {
          return [parseFloat(c.querySelector('.value b').textContent)].concat(Array.from(
            c.querySelectorAll('.track i')).map(function (i) { return i.getBoundingClientRect().width; })); }),
        action: document.querySelector('.actions li').getBoundingClientRect().top,
        actions: Array.from(document.querySelectorAll('.first > .actions a.id')).map(function (a) {
          return a.getAttribute('href'); })};""")
    pairs = said["comparisons"]
    expect(len(told["cards"]) == len(pairs) > 1, "a card for each pair", told["cards"])
    for (ratio, before, after), pair in zip(told["cards"], pairs):
        expect(abs(ratio - pair["traced_medians"]) < 0.006 and abs(before / after / pair["traced_medians"] - 1) < 0.02,
               "bars are as long as the times", ratio, before, after, pair)
    wanted = {}
    for k, threads in enumerate((1, 4), 1):
        sides = [folder / f"toy_android_sme2_{side}_t{threads}_exec_all_runs_timeline.csv" for side in ("off", "on")]
        answer = run("compare", *sides)
        whole = answer["arms"][1]["traced_ns"]
        for fix in answer["next_fixes"]:
            gain = fix["gain_ns"].get("expected") or fix["gain_ns"]["hi"]
            wanted[fix["recipe"]] = max(wanted.get(fix["recipe"], (0, "")), (gain / whole, f"#pair-{k}-{fix['id']}"))
    best = [link for _, link in sorted(wanted.values(), reverse=True)]
    expect(told["actions"] == best, "what to do next, once, most of an inference first", told["actions"], best)
    expect(told["action"] < 800, "it is on the first screen", told["action"])


def nothing_clipped(session, name, page):
    """Nothing is wider than the window but what scrolls in its own box, nor in the longest drawer."""
    for width in WIDTHS:
        session.open(page, width)
        for place in ("page", "drawer"):
            told = session.run(WIDE)
            expect(told["vw"] == told["page"] == width and not told["wide"], name, place, f"clipped at {width}", told)
            expect(not told["empty"], name, "columns without any figure", told["empty"])
            if not session.run("""var all = Array.from(document.querySelectorAll('.drawer'));
                  all.sort(function (a, b) { return b.textContent.length - a.textContent.length; });
                  if (all[0]) location.hash = all[0].id;
                  return all.length > 0;"""):
                break


def watch(session):
    """What a page asks for and the browser refuses, by the page's own policy, is kept in `refused`."""
    session.call("Page.addScriptToEvaluateOnNewDocument", source="""window.refused = [];
      addEventListener('securitypolicyviolation', function (e) { window.refused.push(e.blockedURI); });""")


def no_request(session, name, page):
    """Neither as it opens nor with a drawer, another theme and each view of the graph; and none is tried in vain."""
    told = session.run("""var d = document.querySelector('.drawer');
      var some = document.querySelectorAll('nav button, .views input');
      some.forEach(function (e) { e.click(); });
      some[0].click();
      if (d) location.hash = d.id;
      return new Promise(function (done) { setTimeout(function () {
        location.hash = '';
        done([window.refused, document.querySelectorAll('meta[content^="default-src \\'none\\';"]').length]);
      }, 100); });""")
    expect(session.requests == [pathlib.Path(page).resolve().as_uri()], name, "asks for the network", session.requests)
    expect(told == [[], 1], name, "asks in vain, or nothing forbids it", told)


def names_and_roles(session, name, page):
    session.open(page)
    no_request(session, name, page)
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
    name = new_folder()
    with browser.Session(chromium) as session:
        made = pages(name)
        watch(session)
        for kind, page in made.items():
            names_and_roles(session, kind, page)
            nothing_clipped(session, kind, page)
        told_apart(session, name, made)
        each_reachable(made)
        one_at_a_time(session, made)
        kit_page(session, name, made["kit"])
        by_keys(session, made["large"])
        dozen = name / "dozen.html"
        subprocess.run([ETPROF, "analyze", *["large"] * 12, "--format", "html", "-o", dozen], cwd=name, check=True,
                       capture_output=True, timeout=600)
        nothing_clipped(session, "a dozen answers", dozen)
        for what, page in (("of 194 operators", made["large"]), ("of a dozen such answers", dozen)):
            paints = sorted(first_paint(session, page) for _ in range(5))
            print(f"first paint of the page {what}: {paints[2]} ms, {paints[0]} to {paints[-1]}, five times")
    finish("pages are read with keys, by name and on small windows")


if __name__ == "__main__":
    main()
