# SPDX-License-Identifier: Apache-2.0
"""Parts of the page that are only seen: frames and colours of the graph, the model's code, the arms on one scale,
arrows below the roofs, figures over the blocks, search, copying; and what is left of it without scripts.

usage: test_page_parts.py ETPROF SOURCE_ROOT FAKE_RUNNER RENDER_REPORT"""
import json
import math
import pathlib
import re
import sys
import tarfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import browser  # noqa: E402
import pages  # noqa: E402
from checks import expect, finish, new_folder, unpack  # noqa: E402
from test_page import ROOT, large, measured, run  # noqa: E402

DATA = ROOT / "tests/data"
MIXED = ["mixed_xnnpack_fp32.etdump", "--pte", "mixed_xnnpack_fp32.pte"]


def frames_and_code(session, tmp):
    """Two linear layers, each with what follows it, run in XNNPACK; a sum between them does not (make_fixtures.py)."""
    page = tmp / "recorded.html"
    page.write_text(run(DATA, "analyze", *MIXED, "--etrecord", "mixed_xnnpack_fp32.etrecord", "--format", "html"))
    session.open(page)
    told = session.run("""var box = function (e) { var r = e.getBoundingClientRect();
        return [r.left, r.top, r.right, r.bottom]; };
      var svg = document.querySelector('.graph svg');
      return {frames: Array.from(svg.querySelectorAll('.frame')).map(function (f) {
          return [f.nextSibling.textContent].concat(box(f)); }),
        boxes: Array.from(svg.querySelectorAll('.n')).map(function (n) {
          return [n.textContent].concat(box(n.querySelector('rect'))); }),
        sources: Array.from(document.querySelectorAll('#operators ~ figure thead th')).filter(function (th) {
          return th.textContent === 'source'; }).length,
        code: Array.from(document.querySelectorAll('.drawer figure.code')).map(function (f) {
          return f.querySelector('code').textContent; })};""")
    expect([f[0] for f in told["frames"]] == ["delegate call 0 · XnnpackBackend", "delegate call 2 · XnnpackBackend"],
           "a frame for each delegate call", told["frames"])
    within = {b[0]: [f[0] for f in told["frames"] if f[1] < b[1] and f[2] < b[2] and f[3] > b[3] and f[4] > b[4]]
              for b in told["boxes"]}
    expect(all(len(f) == ("Fully" in label) for label, f in within.items()) and len(within) > 2,
           "what XNNPACK runs stands in a frame, the sum in none", within)
    expect(told["sources"] == 1, "a column of sources", told["sources"])
    source = (DATA / "make_fixtures.py").read_text().splitlines()
    line = 1 + next(k for k, text in enumerate(source) if "self.b(torch.cumsum(torch.relu(" in text)
    said = {one["title"][-3:]: one["keys"].get("source") for name, one in pages.drawers(page.read_text()).items()
            if re.fullmatch(r"op\d+", name) and re.search(r"\[\d\]$", one["title"])}
    modules = {"[0]": " a", "[1]": "", "[2]": " b"}
    expect({k: v.rstrip() for k, v in said.items() if v} ==
           {k: f"tests/data/make_fixtures.py:{line}{module}" for k, module in modules.items()},
           "the line of each operator, and its module", said)
    expect(any("self.fc" in c or "cumsum" in c for c in told["code"]), "the model's code around it", told["code"])


def colours(session, folder):
    """By time, by what was saved, by the feature: each view orders and paints the boxes by its own figure."""
    document = json.loads((folder / "report.json").read_text())
    operators = {o["id"]: o for o in document["operators"]}
    before, after = (document["comparisons"][0][k] for k in ("baseline", "candidate"))
    page = folder.parent / "model.html"
    page.write_text(run(folder.parent, "analyze", folder, "--pte",
                        ROOT / "examples/models/image_encoder_xnnpack_int8.pte", "--format", "html"))
    session.open(page)
    told = session.run("""var views = {};
      document.querySelectorAll('.graph .views input[type=radio]').forEach(function (radio) {
        radio.checked = true;
        views[radio.parentNode.textContent.trim()] = Array.from(document.querySelectorAll('.graph a.n')).map(
          function (a) { var s = getComputedStyle(a);
            return [a.getAttribute('href').slice(1), parseFloat(s.getPropertyValue('--heat')),
              s.getPropertyValue('--hue').trim()]; }); });
      var s = getComputedStyle(document.documentElement);
      return {views: views, up: s.getPropertyValue('--up').trim(), down: s.getPropertyValue('--down').trim()};""")
    expect(list(told["views"]) == ["time", "time saved", "engagement"], "three colourings", list(told["views"]))
    saved = {i: (o["ns"][before] or 0) - (o["ns"][after] or 0) for i, o in operators.items()}
    for view, of in (("time", {i: o["ns"][after] or 0 for i, o in operators.items()}), ("time saved", saved)):
        boxes = sorted(told["views"].get(view, []), key=lambda b: abs(of[b[0]]))
        heats = [b[1] for b in boxes]
        expect(heats and all(a <= b + 1 for a, b in zip(heats, heats[1:])) and heats[0] < heats[-1], view, "the more, "
               "the darker", heats[-5:])
    warm = [b for b in told["views"].get("time saved", []) if b[1] > 0]
    wrong = [b for b in warm if b[2] != told["up" if saved[b[0]] < 0 else "down"]]
    expect(warm and not wrong, "what got slower is orange", wrong[:3], told["up"], told["down"])
    engaged = [b for b in told["views"].get("engagement", []) if operators[b[0]]["engaged"]["state"] == "engaged"]
    expect(engaged and all(b[1] > 50 and b[2] == told["down"] for b in engaged), "the feature's operators", engaged[:3])


def one_scale(session, folder):
    """Spans of both arms are as wide as their times on one axis, so are what was saved and lost."""
    session.open(folder / "report.html")
    document = json.loads((folder / "report.json").read_text())
    operators = {o["id"]: o["ns"] for o in document["operators"]}
    told = session.run("""var tracks = document.querySelectorAll('section:has(> details #icicle) figure.spans .track');
      return Array.from(tracks).map(function (t) {
        var all = Array.from(t.querySelectorAll('a.d'));
        return (all.length ? all : Array.from(t.querySelectorAll('a'))).map(function (a) {
          return [a.hash.slice(1), parseFloat(a.style.width)]; }); });""")
    arms = [document["comparisons"][0][k] for k in ("baseline", "candidate")]
    scales = []
    for track in told[:2]:
        of = min(arms, key=lambda arm: sum(abs(w / max(w for _, w in track) - operators[i][arm] / max(
            operators[j][arm] for j, _ in track)) for i, w in track))
        scales.append(sum(w for _, w in track) / sum(operators[i][of] for i, _ in track))
    for track in told[-2:]:
        scales.append(sum(w for _, w in track) / sum(abs(operators[i][arms[0]] - operators[i][arms[1]])
                                                     for i, _ in track))
    for a, b in (scales[:2], scales[2:]):
        expect(abs(a / b - 1) < 0.02, "one scale", scales)


def judged(session, folder):
    """A figure is green or red only where its interval says so; nothing of two arms is wider than its box."""
    session.open(folder / "report.html")
    document = json.loads((folder / "report.json").read_text())
    told = session.run("""var of = function (id, column) {
        var table = document.querySelector('#' + id + ' ~ figure.table table');
        var at = Array.from(table.tHead.rows[0].cells).findIndex(function (th) {
          return th.textContent.indexOf(column) === 0; });
        return Array.from(table.tBodies[0].rows).map(function (r) {
          var link = r.cells[0].querySelector('a'), c = r.cells[at].classList;
          return [link ? link.hash.slice(1) : r.cells[0].textContent,
            c.contains('good') ? 'good' : c.contains('bad') ? 'bad' : '']; }); };
      return {operators: of('operators', 'saved'), speedups: of('operators', 'speedup'),
        categories: of('categories', 'speedup'),
        wide: Array.from(document.querySelectorAll('.box')).filter(function (b) {
          return !b.closest('.graph') && b.scrollWidth > b.clientWidth + 1; }).map(function (b) {
          return b.textContent.slice(0, 80) + ' ' + b.scrollWidth + ' in ' + b.clientWidth; })};""")
    expect(len(document["arms"]) > 2 or not told["wide"], folder.name, "tables as wide as the page", told["wide"])
    of = {c["category"]: c for c in document["categories"]}
    for name, colour in told["categories"]:
        if name == "Outside operators":
            expect(not colour, name, "is judged", colour)
            continue
        lo, hi = of[name]["speedup_lo"][0] or 0, of[name]["speedup_hi"][0] or math.inf
        known = of[name]["speedup"][0] is not None
        expect(colour == ("good" if lo > 1 else "bad" if hi < 1 else "") or not known, name, lo, hi, colour)
    rows = {r["id"]: r for ledger in document["ledgers"][:1] for r in ledger["rows"]}
    kinds = set()
    for name, colour in told["operators"] + told["speedups"]:
        row = rows.get(name)
        if row is None or row["lo_ns"] is None:
            expect(not colour, name, "no interval", colour)
            continue
        clear = (row["hi_ns"] < 0 or row["lo_ns"] > 0) and row["q"] <= 0.05
        expect(not colour or clear and colour == ("good" if row["delta_ns"] < 0 else "bad"), name, colour, row)
        kinds.add(colour if colour or row["delta_ns"] == 0 else "unclear")
    return kinds


def without_recorder(session, folder):
    """What recording costs is no step from one arm to the other: the steps lead from one recorded inference to the
    other, and the caption has what was measured without. The subtitle does not say the title again."""
    session.open(folder / "report.html")
    document = json.loads((folder / "report.json").read_text())
    told = session.run("""var c = document.querySelector('section:has(> details #steps-1) figure.chart');
      return {texts: Array.from(c.querySelectorAll('svg.wide text')).map(function (t) { return t.textContent; }),
        caption: c.textContent, title: document.querySelector('h1').textContent,
        subtitle: document.querySelector('.subtitle').textContent};""")
    arms = {a["name"]: a for a in document["arms"]}
    base, cand = (arms[document["comparisons"][0][k]] for k in ("baseline", "candidate"))
    steps = [float(t.replace("\u2212", "-").replace("ms", "")) for t in told["texts"]
             if re.fullmatch(r"[+\u2212-]?\d+\.\d{3} ms", t)]
    expect(not any("tracer" in t for t in told["texts"]), "the tracer is a step", told["texts"])
    around = next(r for r in document["ledgers"][0]["rows"] if r["id"] == "around")  # the runner's call of it
    ends = [(a["traced_ns"] + around[k]) / 1e6 for a, k in ((base, "baseline_ns"), (cand, "candidate_ns"))]
    expect(abs(steps[0] - ends[0]) < 6e-4 and abs(steps[-1] - ends[1]) < 6e-4
           and abs(sum(steps[:-1]) - steps[-1]) < 6e-4 * len(steps), "steps of recorded inferences", steps, ends)
    for arm in (base, cand):
        expect(f"{arm['median_ns'] / 1e6:.3f} ms" in told["caption"], "the times without recording", told["caption"])
    expect(told["title"] not in told["subtitle"] and "AMD EPYC" in told["subtitle"], "subtitle", told["subtitle"])


def sorting(session):
    """The first click on a number's head brings the largest up, the second the smallest, the third the order that
    was; what has no figure stays last. A text begins with A."""
    told = session.run("""var table = document.querySelector('#operators ~ figure table');
      var heads = Array.from(table.tHead.rows[0].cells), said = {}, rows = function () {
        return Array.from(table.tBodies[0].rows).map(function (r) { return r.cells[0].textContent; }); };
      ['n', 't'].forEach(function (kind) {
        var at = heads.findIndex(function (th) { return kind === 'n' ? th.getAttribute('data-sort') === 'n' :
          th.hasAttribute('data-sort') && th.getAttribute('data-sort') !== 'n'; }), th = heads[at];
        var steps = said[kind] = {was: rows(), after: []};
        for (var i = 0; i < 3; i++) {
          th.querySelector('button').click();
          steps.after.push([th.getAttribute('aria-sort'), rows(), Array.from(table.tBodies[0].rows).map(function (r) {
            var v = r.cells[at].getAttribute('data-v');
            return kind === 'n' ? v && Number(v) : r.cells[at].textContent.toLowerCase(); })]);
        }});
      return said;""")
    for kind, ways in (("n", ("descending", "ascending")), ("t", ("ascending", "descending"))):
        was, after = told[kind]["was"], told[kind]["after"]
        for (way, _, values), wanted in zip(after, ways):
            known = [v for v in values if v is not None]
            expect(way == wanted and len(set(known)) > 3 and values[:len(known)] == known and
                   known == sorted(known, reverse=wanted == "descending"), kind, wanted, way, values[:6])
        expect(after[2][0] is None and after[2][1] == was, kind, "the third click restores the order", after[2][0])


def search_and_copy(session, folder):
    session.open(folder / "report.html")
    sorting(session)
    told = session.run("""var table = document.querySelector('#operators ~ figure table');
      var input = table.closest('figure').querySelector('input[type=search]'), word = table.tBodies[0].rows[3].cells[0]
        .textContent.trim().toLowerCase(), before = table.tBodies[0].rows.length, copied = [];
      input.value = word; input.oninput();
      navigator.clipboard.writeText = function (text) { copied.push(text); return Promise.resolve(); };
      var wanted = Array.from(document.querySelectorAll('.actions .copy')).map(function (place) {
        var b = place.querySelector('button'); if (b) b.click(); return place.querySelector('code').textContent; });
      var cards = copied.slice();
      Array.from(table.closest('figure').querySelectorAll('.tools button')).find(function (b) {
        return b.textContent === 'Copy CSV'; }).click();
      return {rows: before, word: word, copied: cards, wanted: wanted, csv: copied[copied.length - 1],
        count: table.closest('figure').querySelector('.tools [aria-live]').textContent,
        shown: Array.from(table.tBodies[0].rows).filter(function (r) { return r.getClientRects().length; })
          .map(function (r) { return r.textContent.toLowerCase(); })};""")
    words = told["word"].split()
    expect(0 < len(told["shown"]) < told["rows"] and all(w in r for w in words for r in told["shown"]), "search",
           told["word"], len(told["shown"]), told["rows"])
    expect(told["count"] == f"{len(told['shown'])} of {told['rows']} rows", "what is shown is counted", told["count"])
    lines = told["csv"].splitlines()
    expect(len(lines) == len(told["shown"]) + 1 and all(told["word"] in one.lower().replace('"', "")
                                                       for one in lines[1:]), "CSV of the rows shown", lines[:3])
    expect(told["wanted"] and told["copied"] == told["wanted"], "cards copy their commands", told["copied"])


def arrows(chromium, tmp):
    """As far as the operator got: a decade for each power of ten of its times."""
    what = ["compare", "mixed_xnnpack_fp32_load.etdump", *MIXED, "--roofs-file", "roofs/round.json"]
    document = json.loads(run(DATA, *what, "--format", "json", "--full"))
    picture = browser.drawn(chromium, tmp, run(DATA, *what, "--format", "html"), ".plane")
    moves = re.findall(r'class="move" d="M[\d.]+ ([\d.]+)V([\d.]+)"', picture)
    grid = sorted({float(y) for y, y2 in re.findall(r'<line x1="[\d.]+" y1="([\d.]+)" x2="[\d.]+" y2="([\d.]+)" '
                                                    r'class="grid"', picture) if y == y2})
    placed = [[p["efficiency"] for p in o["roof"].values()] for o in document["operators"]]
    placed = [p for p in placed if len(p) == 2 and all(p)]
    expect(len(moves) == len(placed) == 1, "an arrow for each operator", moves, placed)
    for (start, end), (was, now) in zip(moves, placed):
        shown = 10 ** ((float(start) - float(end)) / (grid[1] - grid[0]))
        expect(abs(math.log(shown / (now / was))) < 0.02, "as long as the change", shown, now / was)


def over_the_blocks(session, folder):
    """Temperature and clock of each block, where they were read: 40 °C and 1000 MHz, a step more each block."""
    lines = [json.loads(line) for line in (folder / "environment.jsonl").read_text().splitlines()]
    for line in lines:
        if line["type"] == "block":
            for end in ("start", "end"):
                line[end].update(temperature_c=40 + line["block"], freq_max_khz=1000000 + 100000 * line["block"],
                                 freq_min_khz=1000000, core_khz=1000000 + 100000 * line["block"])
    (folder / "environment.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    page = folder.parent / "blocks.html"
    page.write_text(run(folder.parent, "analyze", folder, "--format", "html"))
    session.open(page)
    told = session.run("""return Array.from(document.querySelectorAll('figure.chart')).map(function (f) {
        return [f.textContent, Array.from(f.querySelectorAll('svg.wide circle')).map(function (c) {
          return c.getBoundingClientRect().top; })]; });""")
    for title, least, unit in (("Temperature over the session", "4[1-6]", "°C"), ("Clock over the session", "1[1-6]00",
                                                                                "MHz")):
        found = [(text, d) for text, d in told if title in text]
        expect(len(found) == 1 and unit in found[0][0] and re.search(least, found[0][0]), title, found)
        if found:
            heights = found[0][1][-6:]  # before them the legend's
            expect(len(heights) == 6 and heights[0] > heights[5] and heights == sorted(heights, reverse=True), title,
                   "rises", heights)


def without_scripts(session, page):
    session.call("Emulation.setScriptExecutionDisabled", value=True)
    session.events.clear()
    session.call("Page.navigate", url=page.resolve().as_uri())
    while "Page.loadEventFired" not in session.events:
        session.read()
    told = session.run("""var seen = function (e) { return e.getClientRects().length > 0; };
      var some = function (q) { return Array.from(document.querySelectorAll(q)); };
      return ['.card', '.actions li .what', 'figure.chart', '.drawer'].map(function (q) {
        return [some(q).length, some(q).filter(seen).length]; }).concat(document.body.innerText);""")
    session.call("Emulation.setScriptExecutionDisabled", value=False)
    expect(told[0][0] == told[0][1] == 2 and told[1][1] > 2, "headline and what to do are read without scripts", told)
    expect(told[2][0] == told[2][1] > 2 and told[3] == [0, 0], "so are all charts, and nothing else", told)
    expect("which does not run here" in told[4], "and it says so", told[4][:300])


def dark(session, page):
    """As the system says, and the button turns it over."""
    ground = """return getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)[0] < 64;"""
    for system in ("light", "dark"):
        session.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": system}])
        session.open(page)
        session.run("localStorage.clear(); document.documentElement.removeAttribute('data-theme');")
        told = [session.run(ground)]
        session.run("document.querySelector('nav button').click();")
        told.append(session.run(ground))
        session.run("localStorage.clear();")
        expect(told == [system == "dark", system != "dark"], "dark as the system is, or by the button", system, told)
    session.call("Emulation.setEmulatedMedia", features=[])


def main():
    chromium = browser.find()
    tmp = new_folder()
    with browser.Session(chromium) as session:
        frames_and_code(session, tmp)
        folder = large(tmp)
        colours(session, folder)
        one_scale(session, folder)
        with tarfile.open(DATA / "session.tar.xz") as archive:  # 6 blocks of a real model
            unpack(archive, tmp / "real")
        run(tmp, "analyze", "--full", "--renew", tmp / "real")
        judged(session, folder)
        kinds = judged(session, tmp / "real")
        without_recorder(session, tmp / "real")
        expect(kinds >= {"good", "bad", "unclear"}, "operators that gained, lost, and neither", kinds)
        search_and_copy(session, folder)
        arrows(chromium, tmp)
        over_the_blocks(session, measured(tmp))
        dark(session, folder / "report.html")
        without_scripts(session, folder / "report.html")
    finish("the page's parts show what they say")


if __name__ == "__main__":
    main()
