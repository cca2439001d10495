# SPDX-License-Identifier: Apache-2.0
"""The model's pictures of a recorded session of two arms, held against its report.json: delegate calls as frames, the
three colourings, both arms on one scale, arrows of the roofline; whole words on a phone; texts in the dark.

usage: test_model.py ETPROF SOURCE_ROOT"""
import collections
import json
import math
import pathlib
import re
import subprocess
import sys
import tarfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import browser  # noqa: E402
import pages  # noqa: E402
from checks import expect, finish, new_folder  # noqa: E402

ETPROF, ROOT = (pathlib.Path(p).resolve() for p in sys.argv[1:3])
HEAT = {"engaged": 0.7, "partly": 0.35, "not": -0.7}  # what is off the feature is orange, and only if it could be on


def analyzed(folder, form):
    """The session against roofs of round numbers."""
    return subprocess.run([ETPROF, "analyze", folder, "--roofs-file", ROOT / "tests/data/roofs/round.json", "--format",
                           form], capture_output=True, text=True, check=True, timeout=600).stdout


def seen(session, page):
    session.open(page)
    return session.run("""
      var box = function (e) { var r = e.getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom]; };
      var figure = document.querySelector('figure.graph'), svg = figure.querySelector('svg'), views = {};
      figure.querySelectorAll('.views input[type=radio]').forEach(function (choice) {
        choice.click();
        views[choice.closest('label').textContent.trim()] = Array.from(svg.querySelectorAll('a')).map(function (a) {
          var s = getComputedStyle(a);
          return [a.getAttribute('href').slice(1), parseFloat(s.getPropertyValue('--heat')),
            s.getPropertyValue('--hue').trim(), getComputedStyle(a.querySelector('rect')).fill]; }); });
      var root = getComputedStyle(document.documentElement);
      return {views: views, hues: [root.getPropertyValue('--down').trim(), root.getPropertyValue('--up').trim()],
        places: Array.from(svg.querySelectorAll('a')).map(function (a) {
          return [a.getAttribute('href').slice(1), box(a.querySelector('rect'))]; }),
        frames: Array.from(svg.querySelectorAll('.frame')).map(function (f) {
          return [f.nextElementSibling.textContent, box(f)]; }),
        tracks: Array.from(document.querySelectorAll('figure.spans')).map(function (figure) {
          return [figure.querySelector('figcaption').textContent,
            Array.from(figure.querySelectorAll('.track')).map(function (track) {
              return [track.previousElementSibling.textContent, Array.from(track.querySelectorAll(
                track.querySelector('a.d') ? 'a.d' : 'a')).map(function (a) {
                  var r = a.getBoundingClientRect();
                  return [a.hash.slice(1), r.width, r.left - track.getBoundingClientRect().left]; })]; })]; })};""")


def frames(told, operators):
    """A frame around the operators of each delegate call, around nothing else."""
    calls = collections.defaultdict(set)
    for one in operators.values():
        if one["delegated"]:
            calls[one["instruction"]].add(one["id"])
    expect(len(calls) > 3 and len(calls) == len(told["frames"]), "a frame for each call", len(calls), told["frames"])
    places, found = dict(told["places"]), {}
    for title, (left, top, right, bottom) in told["frames"]:
        number = re.fullmatch(r"delegate call (\d+) · XnnpackBackend", title)
        expect(number, "a frame's title", title)
        inside = {i for i, p in places.items() if left <= p[0] and top <= p[1] and p[2] <= right and p[3] <= bottom}
        found[int(number.group(1))] = inside
    expect(found == calls, "in a frame is what its call runs",
           {k: (found.get(k, set()) ^ v) for k, v in calls.items() if found.get(k) != v})


def colours(told, operators, before, after):
    down, up = told["hues"]
    expect(list(told["views"]) == ["time", "time saved", "engagement"], "views", list(told["views"]))
    most = max(o["ns"][after] or 0 for o in operators.values())
    kinds = collections.Counter()
    for view, boxes in told["views"].items():
        expect(len(boxes) == len(operators), view, "a box for each operator", len(boxes))
        fills = collections.defaultdict(set)
        for i, heat, hue, fill in boxes:
            one = operators[i]
            state, ns = one["engaged"]["state"], one["ns"]
            part = {"time": ns[after] / most, "time saved": (ns[before] - ns[after]) / most}.get(view)
            want = HEAT.get(state, 0) if part is None else math.copysign(math.sqrt(abs(part)), part)
            expect(abs(heat - min(100 * abs(want), 100)) <= 0.51, view, i, "heat", heat, want)
            if abs(want) >= 0.005:
                expect(hue == (up if want < 0 or view == "time" else down), view, i, "hue", hue, want)
            kinds[view, want > 0] += abs(want) >= 0.005
            fills[heat, hue].add(fill)
        expect(all(len(f) == 1 for f in fills.values()), view, "one colour for one value")
        expect(len(set.union(*fills.values())) == len({k if k[0] else 0 for k in fills}), view, "and none for two",
               len(fills), sorted(fills)[:9])
    for kind in (("time", True), ("time saved", True), ("time saved", False), ("engagement", True),
                 ("engagement", False)):
        expect(kinds[kind] > 3, kind, "is hardly in the session", kinds)


def one_scale(told, operators, before, after):
    """A nanosecond is as wide in one arm as in the other, and in what was saved as in what was lost."""
    (title, arms), (other, changes) = told["tracks"][:2]
    expect((title, other) == ("One traced inference", "The difference"), "pictures", title, other)
    expect([t[0].split()[0] for t in arms] == ["AVX2", "VNNI"], "the baseline first", [t[0] for t in arms])
    expect([t[0].split()[0] for t in changes] == ["saved", "lost"], "both signs", [t[0] for t in changes])
    lasts = [{i: o["ns"][arm] for i, o in operators.items()} for arm in (before, after)]
    saved = {i: o["ns"][before] - o["ns"][after] for i, o in operators.items()}
    for tracks, times in ((arms, lasts), (changes, (saved, {i: -ns for i, ns in saved.items()}))):
        wide, steps = 0, []
        for (name, spans), ns in zip(tracks, times):
            sums = sum(width for _, width, _ in spans), sum(ns[i] for i, _, _ in spans)
            expect(len(spans) > 5 and min(ns[i] for i, _, _ in spans) > 0, name, "spans", len(spans))
            steps.append(sums[0] / sums[1])
            at = [left for _, _, left in spans]
            ends = [left + width for _, width, left in spans]
            expect(all(end < then + 1.5 for end, then in zip(ends, at[1:])), name, "spans lie on one another",
                   [s[0] for s, then in zip(spans, at[1:]) if s[1] + s[2] >= then + 1.5][:5])
            for i, width, _ in spans:
                wide += width > 20
                expect(abs(width - ns[i] * steps[0]) < 1.5, name, i, "as wide as its time", width, ns[i] * steps[0])
        expect(wide > 5 and abs(steps[0] / steps[1] - 1) < 0.02, "one scale", wide, steps)


def arrows(session, page, operators, before, after):
    """From where an operator was to where it is, on the axis' scale, up where it is faster."""
    session.open(page)
    picture = session.run("return document.querySelector('.plane').outerHTML;")
    grid = [float(m[1]) for m in re.finditer(r'<line x1="[\d.]+" y1="([\d.]+)" x2="[\d.]+" y2="([\d.]+)" class="grid"',
                                            picture) if m[1] == m[2]]
    decade = sorted(set(grid))[1] - sorted(set(grid))[0]
    move = r'<path class="move" d="M[\d.]+ '
    points = re.findall(rf'<a href="#(op\d+)"[^>]*><g><title>[^<]*</title>(?:{move}([\d.]+)V([\d.]+)"></path>)'
                        rf'(?:{move}[\d.]+l4 (-?[\d.]+)[^"]*"></path>)?<circle class="f\d+" cx="[\d.]+" '
                        r'cy="([\d.]+)"', picture)
    expect(len(points) > 20 and len(points) == picture.count("<circle"), "an arrow for each point", len(points))
    headed = 0
    for i, start, end, tip, at in points:
        ns = operators[i]["ns"]
        moved = (float(start) - float(end)) / decade
        expect(end == at and abs(moved - math.log10(ns[before] / ns[after])) < 0.2 / decade, i, "moved by its speedup",
               moved, ns)
        headed += bool(tip)
        expect(not tip or (float(tip) > 0) == (ns[after] < ns[before]), i, "the head is at its end", tip, ns)
    expect(headed > 3, "heads of arrows", headed)


def whole_words(session, page):
    """On a phone a category's name breaks between words alone."""
    session.open(page, 390)
    told = session.run("""
      return Array.from(document.querySelectorAll('tbody th')).filter(function (th) {
        return /^[A-Z][a-z/]{4,18}$/.test(th.textContent.trim()); }).map(function (th) {
          var range = document.createRange();
          range.selectNodeContents(th);
          var lines = new Set(Array.from(range.getClientRects()).map(function (r) { return Math.round(r.top); }));
          return [th.textContent.trim(), lines.size, range.getBoundingClientRect().width]; });""")
    told = [t for t in told if t[2]]
    expect(len(told) > 4 and all(lines == 1 for _, lines, _ in told), "one word, one line", told)


def dark(session, page):
    """Who asks for dark gets it, and every text stands out from what is behind it (WCAG AA: 4.5 to 1)."""
    grounds = {}
    for scheme in ("light", "dark"):
        session.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        session.open(page)
        grounds[scheme], seen, faint = session.run("""
          var canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
          var over = function (colors) { // painted one on the other
            colors.forEach(function (c) { canvas.fillStyle = c; canvas.fillRect(0, 0, 1, 1); });
            return Array.from(canvas.getImageData(0, 0, 1, 1).data).slice(0, 3); };
          var light = function (rgb) { return rgb.map(function (v) { v /= 255;
            return v <= 0.04045 ? v / 12.92 : Math.pow((v + 0.055) / 1.055, 2.4); })
            .reduce(function (sum, v, i) { return sum + v * [0.2126, 0.7152, 0.0722][i]; }, 0); };
          var seen = 0, faint = [];
          document.querySelectorAll('body *:not(script):not(option)').forEach(function (e) {
            var own = Array.from(e.childNodes).some(function (n) { return n.nodeType === 3 && n.data.trim(); });
            if (!own || e.closest('svg') || !e.checkVisibility({opacityProperty: true})) return;
            var behind = [];
            for (var b = e; b; b = b.parentElement) behind.unshift(getComputedStyle(b).backgroundColor);
            var one = light(over(behind)), two = light(over(behind.concat(getComputedStyle(e).color)));
            seen++;
            var ratio = (Math.max(one, two) + 0.05) / (Math.min(one, two) + 0.05);
            if (ratio < 4.5) faint.push([e.tagName, e.className, e.textContent.slice(0, 30), ratio]);
          });
          return [light(over([getComputedStyle(document.body).backgroundColor || '#fff',
            getComputedStyle(document.documentElement).backgroundColor])), seen, faint.slice(0, 8)];""")
        expect(seen > 300 and not faint, scheme, "hard to read", seen, faint)
    expect(grounds["light"] > 0.8 and grounds["dark"] < 0.05, "light and dark", grounds)


def sections_go_on(session, page):
    """Where the list of sections is wider than the window its end fades, and the last one can be scrolled out of it."""
    for width, faded in ((1280, False), (820, True), (390, True)):
        session.open(page, width)
        told = session.run("""var ul = document.querySelector('nav ul'), s = getComputedStyle(ul);
          ul.scrollLeft = ul.scrollWidth;
          return {more: ul.scrollWidth > ul.clientWidth, mask: s.maskImage || s.webkitMaskImage,
            left: ul.getBoundingClientRect().right - ul.lastElementChild.getBoundingClientRect().right};""")
        expect(told["more"] == faded == ("gradient" in told["mask"]) and (told["left"] >= 24 or not faded), width, told)


def graph_tools(session, page):
    """Fits at first; zooms between a twentieth and four times its size, about the middle; a search comes to the first
    it finds and counts them."""
    session.open(page)
    told = session.run("""var figure = document.querySelector('.graph'), svg = figure.querySelector('svg');
      var box = figure.querySelector('.box'), own = svg.viewBox.baseVal.width;
      var button = function (name) { return figure.querySelector('[aria-label="' + name + '"]'); };
      var width = function () { return svg.getBoundingClientRect().width; };
      var middle = function () { var b = box.getBoundingClientRect(), g = svg.getBoundingClientRect();
        return [(b.left + box.clientWidth / 2 - g.left) / g.width,
          (b.top + box.clientHeight / 2 - g.top) / g.height]; };
      var said = {own: own, room: box.clientWidth, first: width(), middles: []};
      for (var i = 0; i < 40; i++) button('Larger').click();
      said.most = width();
      box.scrollLeft = box.scrollWidth / 3; box.scrollTop = box.scrollHeight / 4;
      said.middles.push(middle());
      for (i = 0; i < 2; i++) { button('Smaller').click(); said.middles.push(middle()); }
      button('Larger').click(); said.middles.push(middle());
      for (i = 0; i < 60; i++) button('Smaller').click();
      said.least = width();
      figure.style.width = '500px'; button('Fit the width').click(); said.fit = width(); said.narrow = box.clientWidth;
      var find = figure.querySelector('input[type=search]');
      find.value = 'softmax'; find.oninput();
      var hits = svg.querySelectorAll('.hit'), b = box.getBoundingClientRect(), h = hits[0].getBoundingClientRect();
      said.hits = hits.length; said.count = figure.querySelector('[aria-live]').textContent;
      said.inside = h.top >= b.top && h.bottom <= b.bottom; said.scrolled = box.scrollTop;
      return said;""")
    expect(told["first"] == told["own"] <= told["room"], "never larger than it is", told)
    expect(told["narrow"] * 0.9 < told["fit"] <= told["narrow"] < told["own"], "fits", told)
    expect(abs(told["most"] / told["own"] - 4) < 0.01 and abs(told["least"] / told["own"] - 0.05) < 0.002,
           "zoom ends", told)
    for one in told["middles"]:
        expect(all(abs(a - b) < 0.01 for a, b in zip(one, told["middles"][0])), "the middle stays", told["middles"])
    expect(told["inside"] and told["scrolled"] > 0 and told["count"] == f"{told['hits']} found" and told["hits"] > 1,
           "search", told)


def gains(text):
    """What to do next in one unit, that of the time it is taken from, unless two digits would not be left of it."""
    cards = [re.sub(r"<[^>]+>", " ", card) for card in
             re.findall(r'<p class="gain">.*?<p class="range">.*?</p>', text, re.S)]
    expect(len(cards) >= 3, "cards", len(cards))
    for card in cards:
        most, unit, whole, of = re.search(r"to ([\d.]+) (\S+) of ([\d.]+) (\S+)", card).groups()
        small = float(most) * {"ns": 1, "µs": 1e3, "ms": 1e6}[unit] < 0.01 * {"µs": 1e3, "ms": 1e6}[of]
        gain = re.search(rf"(−|under )[\d.]+ {unit}", card)
        expect(float(whole) < 10 and (unit != of) == small and gain, "one unit", card)


def theme(session, page):
    """The button's choice is kept for the next time."""
    session.open(page)
    click = """var b = document.querySelector('nav button'), was = b.textContent; b.click();
      return [was, document.documentElement.getAttribute('data-theme'), b.textContent];"""
    was, chosen, now = session.run(click)
    expect(was.lower() == chosen and now != was, "switched", was, chosen, now)
    session.open(page)
    kept = session.run("return document.documentElement.getAttribute('data-theme')")
    expect(kept == chosen, "remembered", kept, chosen)
    session.run(click)


def reasons(document):
    """Why each operator takes its time, by the rule in docs/statistics.md."""
    arm, seen = document["engagement"]["arm"], collections.Counter()
    low = any(f["kind"] == "above_roof" for f in document["findings"])  # then nothing rests on the roofs
    of_verdict = {"compute-bound": "compute-bound", "memory-bound": "memory-bound", "inefficient": "below roof",
                  "below-bandwidth": "below roof"}
    for one in document["operators"]:
        verdict = one["roof"][arm]["verdict"] if one["ns"][arm] is not None and not low else None
        if one["ns"][arm] is None:
            want = None
        elif verdict == "overhead-bound" or one["delegated"] and one["ns"][arm] < 1000:
            want = "small"
        elif not one["delegated"]:
            want = "portable"
        elif one["category"] in ("Data movement", "Quantize/convert"):
            want = "moves data"
        elif one["engaged"]["state"] == "not" and verdict != "memory-bound":
            want = "off feature"
        else:
            want = of_verdict.get(verdict)
        expect(one["why"] == want, one["label"], "takes its time because", one["why"], "not", want)
        seen[want] += 1
    return seen


def main():
    chromium = browser.find()
    tmp = new_folder()
    with browser.Session(chromium) as session:
        with tarfile.open(ROOT / "tests/data/session.tar.xz") as archive:
            archive.extractall(tmp / "session")
        text, document = analyzed(tmp / "session", "html"), json.loads(analyzed(tmp / "session", "json"))
        (tmp / "page.html").write_text(text)
        operators = {o["id"]: o for o in document["operators"]}
        comparison = document["comparisons"][0]
        arms = comparison["baseline"], comparison["candidate"]
        told = seen(session, tmp / "page.html")
        frames(told, operators)
        colours(told, operators, *arms)
        one_scale(told, operators, *arms)
        arrows(session, tmp / "page.html", operators, *arms)
        gains(text)
        expect("Outside operators" in text and not re.search(r"<text[^>]*>Outside [^<]*…", text),
               "names of a legend are whole")
        whole_words(session, tmp / "page.html")
        sections_go_on(session, tmp / "page.html")
        graph_tools(session, tmp / "page.html")
        dark(session, tmp / "page.html")
        theme(session, tmp / "page.html")
        for word in ("of roof", "why"):
            heads = [c["title"] for b in pages.section(text, "operators") for c in b.get("columns", [])]
            expect(word in heads, "roofs are in the table of operators:", word, heads)
        told = reasons(document)
        expect(len(told) > 3, "several reasons", told)
    finish("frames, colours, scales and arrows are those of the answer")


if __name__ == "__main__":
    main()
