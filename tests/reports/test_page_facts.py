# SPDX-License-Identifier: Apache-2.0
"""What a reader compares on the page: one colour for a category and for an arm wherever they are, figures below each
other, no row twice, commands that end no line within a word, and what a drawer knows of an operator.

usage: test_page_facts.py ETPROF SOURCE_ROOT FAKE_RUNNER RENDER_REPORT"""
import collections
import csv
import gzip
import json
import pathlib
import re
import shutil
import statistics
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import browser  # noqa: E402
import pages as blocks  # noqa: E402
from checks import expect, finish, new_folder  # noqa: E402
from test_page import ROOT, run, session  # noqa: E402
from test_reading import pages  # noqa: E402

# What the kit's groups are called, and what neither delegates nor kernels did.
SAME = {"Convolution": "CONV", "Data movement": "Data Movement", "Neither": "Outside operators"}
FIGURE = r"^(<|[+\u2212-])?\d+(\.\d+)?( ?(ns|\u00b5s|ms|s|kB|MB|GB|%|\u00d7))?$"


def colours(browsing, name, page):
    """Swatches of tables, legends and spans: a category has one colour, and no two of one answer share one; nor do
    delegates and what is outside them have a category's."""
    browsing.open(page)
    told = browsing.run("""var found = [];
      document.querySelectorAll('tbody :is(td, th):is([class^=k], [class*=" k"])').forEach(function (c) {
        found.push([c.textContent, getComputedStyle(c, '::before').backgroundColor]); });
      document.querySelectorAll('figure.chart svg.wide').forEach(function (svg) {
        if (!/operator (category|group)|by where the work/.test(svg.closest('figure').textContent)) return;
        svg.querySelectorAll('rect + text').forEach(function (t) {
          var r = t.previousElementSibling;
          if (r.getAttribute('width') === '12') found.push([t.textContent, getComputedStyle(r).fill]); }); });
      document.querySelectorAll('.spans a.d').forEach(function (a) {
        var drawer = document.getElementById(a.getAttribute('href').slice(1));
        var of = Array.from(drawer.querySelectorAll('dt')).find(function (dt) {
          return dt.textContent === 'category'; });
        found.push([of.nextSibling.textContent.split(',')[0].trim(), getComputedStyle(a).backgroundColor]); });
      return found;""")
    of = collections.defaultdict(set)
    for category, colour in told:
        of[SAME.get(category, category)].add(colour)
    expect(len(of) > 1 and all(len(c) == 1 for c in of.values()), name, "a colour for each category", dict(of))
    expect(len(set.union(*of.values())) == len(of), name, "two categories have one colour", dict(of))
    return of


def arms(browsing, page, categories):
    """Lines and dots of an arm have one colour, which none of the CATEGORIES has; the two arms' differ."""
    browsing.open(page)
    told = browsing.run("""var of = {};
      var chart = function (title) { return Array.from(document.querySelectorAll('figure.chart')).find(function (f) {
        return f.querySelector('figcaption').textContent === title; }).querySelector('svg.wide'); };
      var put = function (arm, place, colour) { of[arm] = of[arm] || {}; of[arm][place] = colour; };
      ['Every timed iteration', 'Every launch'].forEach(function (title) {
        chart(title).querySelectorAll('g').forEach(function (g) {
          var mark = g.querySelector('circle, path[class^=a]');
          var name = g.querySelector('title').textContent.match(/(?:^|, )(AVX2|VNNI)(?: at |: )/);
          if (mark && name) put(name[1], title, getComputedStyle(mark).fill); }); });
      return of;""")
    expect(set(told) == {"AVX2", "VNNI"} and all(len(places) == 2 for places in told.values()), "arms", told)
    colours_of = {arm: set(places.values()) for arm, places in told.items()}
    expect(all(len(c) == 1 for c in colours_of.values()) and colours_of["AVX2"] != colours_of["VNNI"],
           "one colour for an arm", told)
    both = set.union(*colours_of.values()) & categories
    expect(not both, "an arm has the colour of a category", both)


def rows(browsing, name, page):
    """Figures end at the right edge of their column, and no table has a row twice."""
    browsing.open(page)
    told = browsing.run("""var figure = new RegExp(%s), left = [], twice = [];
      document.querySelectorAll('.tab, .part').forEach(function (e) { e.hidden = false; });
      document.querySelectorAll('.box > table').forEach(function (t) {
        var seen = {}, heads = t.tHead.rows[0].cells;
        Array.from(t.tBodies[0].rows).forEach(function (r) {
          var cells = Array.from(r.cells), text = cells.map(function (c) { return c.textContent; }).join('|');
          var link = r.querySelector('a'), id = text + (link ? link.getAttribute('href') : '');
          if (seen[id]) twice.push(text);
          seen[id] = true;
          cells.forEach(function (c, k) {
            if (figure.test(c.textContent) && getComputedStyle(c).textAlign !== 'right')
              left.push([t.caption.textContent, heads[k].textContent, c.textContent]); }); }); });
      return {left: left, twice: twice};""" % json.dumps(FIGURE))
    expect(not told["left"], name, "figures that are not below each other", len(told["left"]), told["left"][:4])
    expect(not told["twice"], name, "a row twice", told["twice"][:3])


def commands(browsing, name, page):
    """Of a command no line ends within a word that fits on a line, and nothing of it is cut off: a longer word goes on
    below."""
    wide = 0
    for width, medium in ((1280, ""), (820, ""), (390, ""), (680, "print")):
        browsing.call("Emulation.setEmulatedMedia", media=medium)
        browsing.open(page, width)
        told = browsing.run("""document.querySelectorAll('details').forEach(function (d) { d.open = true; });
          return Array.from(document.querySelectorAll('.copy code, .code code')).filter(function (c) {
            return c.textContent.indexOf('etprof ') === 0 && c.textContent.indexOf('\\n') < 0 &&
              c.getClientRects().length; }).map(function (code) {
            var room = code.getBoundingClientRect().width, text = code.textContent, at = 0, cut = [], words = 0;
            var node = document.createTreeWalker(code, NodeFilter.SHOW_TEXT), all = [];
            while (node.nextNode()) for (var i = 0; i < node.currentNode.length; i++) all.push([node.currentNode, i]);
            text.match(/'[^']*'|\\S+/g).forEach(function (word) {
              var from = text.indexOf(word, at), range = document.createRange(), end = all[from + word.length - 1];
              at = from + word.length;
              range.setStart(all[from][0], all[from][1]);
              range.setEnd(end[0], end[1] + 1);
              var lines = new Set(Array.from(range.getClientRects()).filter(function (r) { return r.width; })
                .map(function (r) { return Math.round(r.top); }));
              var probe = code.cloneNode(false), width;
              probe.textContent = word;
              probe.style.cssText = 'position:absolute;white-space:nowrap';
              code.parentNode.appendChild(probe);
              width = probe.getBoundingClientRect().width;
              probe.remove();
              words++;
              if (lines.size > 1 && width < room - 1 || code.scrollWidth > code.clientWidth + 1) cut.push(word);
            });
            return [text, words, cut]; });""")
        cut = [t for t in told if t[2]]
        wide += sum(t[1] for t in told)
        expect(told and not cut, name, width, medium, "a line ends within a word", cut[:2])
    browsing.call("Emulation.setEmulatedMedia", media="")
    return wide


def buttons(browsing, page):
    """Buttons that copy are alike, and smaller than what they copy."""
    browsing.open(page)
    sizes = browsing.run("""var all = document.querySelectorAll('.copy button, .code button');
      return Array.from(all).concat(document.body).map(function (e) {
        return parseFloat(getComputedStyle(e).fontSize); });""")
    expect(len(sizes) > 4 and all(11 < size < sizes[-1] - 1 for size in sizes[:-1]), "buttons", sizes)


def drawers(browsing, folder):
    """An operator's neighbours by their names, its category and call, its work in words; a fix's command to copy."""
    document = json.loads((folder / "report.json").read_text())
    page = folder / "report.html"
    browsing.open(page)
    label = {o["id"]: o["label"] for o in document["operators"]}
    # By the program: the convolution at instruction 45 of 3×3 over 64 channels into 64, 32×32 times.
    convolution = next(o for o in document["operators"] if o["instruction"] == 45
                       and o["label"].startswith("Convolution"))
    fix = next(f for f in document["next_fixes"] if f["recipe"].startswith("etprof export"))
    told = browsing.run("""var of = function (id) {
        location.hash = id;
        return new Promise(function (done) { setTimeout(function () {
          var d = document.querySelector('.drawer.open'), keys = {};
          d.querySelectorAll('dt').forEach(function (dt) {
            var links = Array.from(dt.nextSibling.querySelectorAll('a'));
            keys[dt.textContent] = [dt.nextSibling.textContent.trim()].concat(links.map(function (a) {
              return [a.getAttribute('href').slice(1), a.textContent]; })); });
          var copied = [], button = d.querySelector('.code button');
          navigator.clipboard.writeText = function (text) { copied.push(text); return Promise.resolve(); };
          if (button) button.click();
          done({keys: keys, copied: copied}); }, 100); }); };
      return of(%s).then(function (a) { return of(%s).then(function (b) { return [a, b]; }); });"""
                        % (json.dumps(convolution["id"]), json.dumps(fix["id"])))
    keys = told[0]["keys"]
    expect(keys["category"][0] == "Convolution, in delegate call 45", "category", keys["category"])
    around = keys["graph"][1:]
    expect(len(around) > 1 and all(text == f"{one} {label[one]}" for one, text in around), "neighbours by name", around)
    macs = 32 * 32 * 64 * 3 * 3 * 64
    expect(keys["work"][0].startswith(f"{macs / 1e6:.2f} million MACs, "), "work in words", keys["work"], macs)
    expect({"AVX2", "VNNI", "saved", "kernels", "shapes"} <= set(keys), "what a drawer has", list(keys))
    command = fix["recipe"].split(";")[0]
    expect(told[1]["copied"] == [command], "a fix's drawer copies its command", told[1]["copied"], command)
    expect("measured" not in told[1]["keys"], "says once what it was measured on", told[1]["keys"])


def headline(page, document):
    """The figures of the first screen are those of report.json, with their digits; whiskers and ticks stand at them."""
    text = re.sub(r"\s*\n\s*", "", page.read_text())
    comparison, of = document["comparisons"][0], {a["name"]: a for a in document["arms"]}
    card = re.search(r'<article class="card.*?</article>', text).group(0)
    ratio = comparison["speedup"]
    said = [float(v) for part in ("value", "interval") for v in
            re.findall(r"\d+\.\d\d", re.search(rf'<p class="{part}"><b>(.*?)</b>', card).group(1))]
    expect(said == [round(ratio[k], 2) for k in ("estimate", "lo", "hi")], "ratio and interval", said, ratio)
    expect(f"95 % interval, {ratio['blocks']} blocks" in card, "what interval, of what", card)
    ends = re.findall(r'<dt>(.*?)</dt>.*?<i style="width:([\d.]+)%"></i><u style="left:([\d.]+)%;width:([\d.]+)%"></u>'
                      r'</span><b>([\d.]+) ms</b> <small>([\d.]+) … ([\d.]+)</small>', card)
    arms_of = [of[comparison[k]] for k in ("baseline", "candidate")]
    most = max(a["interval_ns"]["hi"] for a in arms_of)
    expect([e[0] for e in ends] == [a["level"].upper() for a in arms_of], "the baseline first", ends)
    for (_, wide, left, more, *figures), a in zip(ends, arms_of):
        want = [a["median_ns"], a["interval_ns"]["lo"], a["interval_ns"]["hi"]]
        expect(figures == [f"{v / 1e6:.3f}" for v in want], "an arm's time and interval", figures, want)
        drawn = [float(wide), float(left), float(left) + float(more)]
        expect(all(abs(d - 100 * v / most) < 0.02 for d, v in zip(drawn, want)), "bar and whisker", drawn, want)
    cards = re.findall(r'<li><p class="gain">(.*?)</p><p class="track">(.*?)</p><p class="range">(.*?)</p>', text)
    whole = of[comparison["candidate"]]["median_ns"]
    worth = [f for f in document["next_fixes"] if f["kind"] != "slower" and
             (f["gain_ns"]["hi"] if f["gain_ns"]["expected"] is None else f["gain_ns"]["expected"]) >= whole / 100]
    expect(len(cards) == len(worth) > 3, "a card for each fix that gains one per cent", len(cards), len(worth))
    for (gain, track, span), fix in zip(cards, worth):
        lo, hi, likely = (fix["gain_ns"].get(k) for k in ("lo", "hi", "expected"))
        unit = {"ms": 1e6, "µs": 1e3, "ns": 1}[re.search(r"(\S+) of", span).group(1)]
        figures = [float(v) * unit for v in re.findall(r"[\d.]+", span)[:2]]
        expect(all(abs(f - v) <= 0.0006 * unit for f, v in zip(figures, (lo, hi))), fix["id"], "from, to", span, lo, hi)
        expect(span.endswith(f"of {whole / 1e6:.3f} ms"), fix["id"], "of what", span)
        tick = re.search(r'<s style="left:([\d.]+)%', track)
        if likely is None:
            expect(gain.startswith("<b>up to −") and not tick, fix["id"], "its middle is not known", gain)
            continue
        told = re.fullmatch(r"<b>−([\d.]+) \S+</b> <span>([\d.]+) %</span>", gain)
        if told:
            expect(abs(float(told[1]) * unit - likely) <= 0.0006 * unit, fix["id"], "its gain", gain, likely)
            expect(abs(float(told[2]) - 100 * likely / whole) <= 0.051, fix["id"], "its share", gain, likely)
        else:
            expect(gain == "<b>under 0.001 ms</b>" and likely < 500, fix["id"], "its gain", gain, likely)
        expect(tick and abs(float(tick.group(1)) - 100 * likely / whole) < 0.02, fix["id"], "its tick", track, likely)


def drawers_figures(page, document):
    """Each operator's drawer has the time of each arm, with the interval over its recordings, and what was saved, with
    the ledger's interval: as report.json has them."""
    of = blocks.drawers(page.read_text().replace("\u2212", "-"))
    rows = {r["id"]: r for r in document["ledgers"][0]["rows"]}
    units = {"ns": 1, "µs": 1e3, "ms": 1e6}
    near = lambda shown, unit, ns: abs(float(shown) * units[unit] - ns) <= max(abs(ns) * 5.1e-4, 0.51)  # noqa: E731
    seen = 0
    for one in document["operators"]:
        keys = of[one["id"]]["keys"]
        for arm in document["arms"]:
            said = re.match(r"([\d.]+) (\S+)(?: \[([\d.]+)(?: (\S+))?, ([\d.]+) (\S+)\])?",
                            keys[arm["level"].upper()])
            expect(said and near(said[1], said[2], one["ns"][arm["name"]]), one["id"], arm["name"], "time", said)
            seen += bool(said and said[3])
        row = rows[one["id"]]
        saved = re.match(r"(-?[\d.]+) (\S+)(?: \[(-?[\d.]+)(?: (\S+))?, (-?[\d.]+) (\S+)\])?", keys["saved"])
        expect(saved and near(saved[1], saved[2], -row["delta_ns"]), one["id"], "saved", saved, row["delta_ns"])
        if saved and row["lo_ns"] is not None and saved[3]:
            expect(near(saved[3], saved[4] or saved[6], -row["hi_ns"]) and near(saved[5], saved[6], -row["lo_ns"]),
                   one["id"], "its interval", saved[0], row)
            seen += 1
    expect(seen > 2 * len(document["operators"]), "with intervals", seen, len(document["operators"]))
    # By hand: 1×32×32×64 int8 in and out, 64×3×3×64 int8 weights with 64 float32 scales.
    convolution = next(o["id"] for o in document["operators"] if o["instruction"] == 45
                       and o["label"].startswith("Convolution"))
    part = of[convolution]["words"]
    moved, weights = 2 * 32 * 32 * 64 + 64 * 3 * 3 * 64, 64 * 3 * 3 * 64
    told = [float(v) * 1e3 for v in re.search(r"([\d.]+) kB moved, of them weights ([\d.]+) kB", part).groups()]
    expect(all(abs(a - b) < 600 for a, b in zip(told, (moved, weights))), "bytes", told, moved, weights)
    expect("AVX2: 101 samples, avx2; most in AVX2 kernel" in part and "most in AVX-512 VNNI kernel" in part, "kernels",
           part)
    for finding in document["findings"]:
        about = [e for e in finding["evidence"] if e in rows]
        told = set(re.findall(r"\bop\d+\b", of[finding["id"]]["words"]))
        expect(set(about) <= told, finding["id"], "its operators", about, told)


def three_arms(tmp):
    """Each of three arms has its time in a drawer, with the t interval of its three recordings, and each of the two
    that are compared with the first what it saved: times that were written into the recordings."""
    data = (ROOT / "tests/data/mixed_xnnpack_fp32.etdump").read_bytes()
    flatc = json.loads(gzip.decompress((ROOT / "tests/data/mixed_xnnpack_fp32.etdump.json.gz").read_bytes()))
    at = [(e["start_time"], e["end_time"]) for b in flatc["run_data"] for e in
          (e["profile_event"] for e in b["events"]) if e.get("name") == "native_call_cumsum.out"]
    # All that comes after it in its execution moves by as much: what overlaps would be taken for a damaged clock.
    first = next(b for b in flatc["run_data"] if any(e["profile_event"]["start_time"] == at[0][0] for e in b["events"]))
    later = {t for e in (e["profile_event"] for e in first["events"]) for t in (e["start_time"], e["end_time"])
             if t >= at[0][1]}
    means = {}
    for arm, base in (("slow", 9000), ("middle", 6000), ("fast", 3000)):
        for k in range(3):  # the first run of each recording is made to last so long
            took = base + 100 * k * k
            longer = data
            for t in sorted(later, reverse=True):
                longer = longer.replace(struct.pack("<Q", t), struct.pack("<Q", t - at[0][1] + at[0][0] + took))
            (tmp / (arm + (f"_b{k + 1}" if k else "") + ".etdump")).write_bytes(longer)
            means.setdefault(arm, []).append((took + sum(b - a for a, b in at[1:])) / len(at))
    names = [tmp / f"{arm}{more}.etdump" for arm in means for more in ("", "_b2", "_b3")]
    page = run(tmp, "analyze", *names, "--baseline", "slow", "--format", "html")
    found = blocks.drawers(page.replace("\u2212", "-"))
    keys, drawer = next((d["keys"], d["words"]) for d in found.values() if "cumsum" in d["title"])
    ns = {"ns": 1, "\u00b5s": 1e3}
    for arm, of in means.items():
        half = 4.302653 * statistics.stdev(of) / 3**0.5  # Student's t of two degrees of freedom, 95 %
        want = (statistics.mean(of), statistics.mean(of) - half, statistics.mean(of) + half)
        said = re.match(r"([\d.]+) (\S+) \[([\d.]+)(?: (\S+))?, ([\d.]+) (\S+)\]", keys.get(arm, ""))
        told = said and (float(said[1]) * ns[said[2]], float(said[3]) * ns[said[4] or said[6]],
                         float(said[5]) * ns[said[6]])
        expect(told and all(abs(a - b) < 1.1 for a, b in zip(told, want)), "three arms", arm, told, want, drawer[:600])
    saved = re.findall(r"(-?[\d.]+) (ns|\u00b5s)(?: \[[^]]*\])? · [\d.]+\u00d7(?: \[[^]]*\])? · (\w+)", drawer)
    told = {arm: float(v) * ns[unit] for v, unit, arm in saved}
    want = {arm: statistics.mean(means["slow"]) - statistics.mean(of) for arm, of in means.items() if arm != "slow"}
    expect(set(told) == set(want) and all(abs(told[a] - want[a]) < 1.1 for a in want), "saved by each", told, want,
           drawer[:900])


def columns(browsing, page, document):
    """The table of operators has the time of either arm with a bar, both on one scale, and the arms' names above."""
    browsing.open(page)
    heads, rows_of = browsing.run("""var t = document.querySelector('#operators ~ figure.table table');
      return [Array.from(t.tHead.rows[0].cells).map(function (th) { return th.firstChild.textContent.trim(); }),
        Array.from(t.tBodies[0].rows).map(function (r) {
          return [r.querySelector('a').hash.slice(1)].concat(Array.from(r.cells).map(function (c) {
            var s = getComputedStyle(c);
            return [c.getAttribute('data-v'), s.backgroundImage === 'none' ? null :
              parseFloat(s.getPropertyValue('--w'))]; })); })];""")
    comparison, of = document["comparisons"][0], {a["name"]: a for a in document["arms"]}
    arms_of = [comparison[k] for k in ("baseline", "candidate")]
    times = {o["id"]: [o["ns"][a] for a in arms_of] for o in document["operators"]}
    most = max(max(t) for t in times.values())
    at = [heads.index(title) + 1 for title in [of[a]["level"].upper() for a in arms_of] + ["saved"]]
    expect(at[0] + 1 == at[1] == at[2] - 1 and len(rows_of) == len(times), "columns of the operators", heads)
    for row in rows_of:
        before, after = times[row[0]]
        told = [row[k] for k in at]
        want = [before, after, before - after]
        expect([float(v) for v, _ in told] == want, row[0], "its times", told, want)
        for (_, wide), ns in zip(told, (before, after)):
            expect(wide is not None and abs(wide - 100 * ns / most) <= 0.51, row[0], "its bar", wide, 100 * ns / most)


def memory(page):
    """What takes more memory is not slower."""
    text = page.read_text()
    row = next(" ".join(map(blocks.shown, r["cells"])) for b in blocks.blocks(text) for r in b.get("rows", [])
               if blocks.shown(r["cells"][0]).startswith("peak memory"))
    verdict = re.sub(r"<[^>]*>", " ", row).split()[-1]
    before, after = (float(v) for v in re.findall(r"([\d.]+) MB", row))
    fits = {"more": before < after, "less": before > after}.get(verdict, verdict in ("same", "wide", "margin"))
    expect(fits, "peak memory", before, after, verdict)


def partly(browsing, tmp, folder):
    """Of an operator whose samples are only in part in the feature's kernels: the page says so and paints it half."""
    copy = tmp / "partly"
    shutil.copytree(folder, copy)
    file = next(copy.glob("linux_vnni/*.samples"))
    with file.open(newline="") as f:
        reader = csv.DictReader(f)
        fields, samples = reader.fieldnames, list(reader)
    products = (s for s in samples if s["operator"].startswith("Batch Matrix Multiply") and s["sure"] == "1")
    other = next(products)["address"]
    mine = [s for s in samples if s["instruction"] == "45" and s["operator"].startswith("Convolution")]
    expect(len(mine) > 30, "samples of the convolution", len(mine))
    for k, s in enumerate(mine):
        if k % 4:  # a quarter stays in the kernel with VNNI
            s["address"] = other
    with file.open("w", newline="") as f:
        writer = csv.DictWriter(f, fields, lineterminator="\n")
        writer.writeheader()
        writer.writerows(samples)
    run(tmp, "analyze", "--full", "--renew", copy)
    document = json.loads((copy / "report.json").read_text())
    half = [o["id"] for o in document["operators"] if o["engaged"]["state"] == "partly"]
    expect(len(half) == 1, "an operator that is partly engaged", half)
    browsing.open(copy / "report.html")
    told = browsing.run("""document.querySelectorAll('.graph input[type=radio]')[2].click();
      var box = getComputedStyle(document.querySelector('.graph a[href="#%s"]'));
      var row = Array.from(document.querySelectorAll('#operators ~ figure tbody tr')).find(function (r) {
        return r.querySelector('a').getAttribute('href') === '#%s'; });
      var cell = Array.from(row.cells).find(function (c) { return c.textContent === 'partly'; });
      var drawer = document.getElementById('%s'), dt = Array.from(drawer.querySelectorAll('dt')).find(function (d) {
        return d.textContent === 'feature'; });
      return {heat: parseFloat(box.getPropertyValue('--heat')), hue: box.getPropertyValue('--hue').trim(),
        down: getComputedStyle(document.documentElement).getPropertyValue('--down').trim(),
        good: cell ? cell.classList.contains('good') : null, drawer: dt && dt.nextSibling.textContent,
        green: dt && dt.className,
        kernels: Array.from(drawer.querySelectorAll('dt')).filter(function (d) { return d.textContent === 'kernels'; })
          .map(function (d) { return d.nextSibling.textContent; })};""" % (half[0], half[0], half[0]))
    expect(abs(told["heat"] - 35) < 1 and told["hue"] == told["down"], "half the colour", told)
    expect(told["good"] is False and told["green"] == "", "not green", told)
    expect(told["drawer"] and told["drawer"].startswith("partly"), "its drawer says so", told["drawer"])
    # The arm is called after what most of its samples saw, the operator is still asked about VNNI.
    both = [k for k in told["kernels"] if "avx512, 12 avx512-vnni" in k and k.startswith("AVX-512")]
    expect(both, "both kinds of samples", told)


def figures_once(browsing, page, document):
    """What the headline says of two arms no picture and no table says again: latencies, their intervals, the speedup.
    A category's time is in one table alone, each arm in one, an operator's in one and its drawer."""
    browsing.open(page)
    told = browsing.run("""var main = document.querySelector('main').cloneNode(true);
      main.querySelectorAll('.drawer, .fold, script, .card, .whatif, title').forEach(function (e) { e.remove(); });
      var tables = Array.from(main.querySelectorAll('.box > table')).map(function (t) {
        return Array.from(t.tBodies[0].rows).map(function (r) {
          return Array.from(r.cells).map(function (c) { return c.textContent; }); }); });
      var texts = Array.from(main.querySelectorAll('.box > table td, svg.wide text'));
      return {tables: tables, texts: texts.map(function (e) { return e.textContent; }),
        latency: Array.from(main.querySelectorAll('section')).filter(function (s) {
          return s.querySelector('#latency-section'); }).map(function (s) {
            return Array.from(s.querySelectorAll('td, svg.wide text:not(.m)')).filter(function (e) {
              var t = e.closest('table');
              return !t || t.caption.textContent !== 'Each arm against itself';
            }).map(function (e) { return e.textContent; }); })[0],
        legend: Array.from(main.querySelectorAll('figure.chart svg.wide')).filter(function (s) {
          return s.querySelector('rect[width="12"]'); }).map(function (s) {
            return Array.from(s.querySelectorAll('rect[width="12"]')).map(function (r) {
              return [r.nextElementSibling.textContent, r.nextElementSibling.nextElementSibling &&
                r.nextElementSibling.nextElementSibling.tagName]; }); }),
        headings: Array.from(main.querySelectorAll('h2, h3')).map(function (h) { return h.textContent; }),
        charts: Array.from(main.querySelectorAll('figure.chart figcaption')).map(function (c) {
          return c.textContent; })};""")
    comparison, of = document["comparisons"][0], {a["name"]: a for a in document["arms"]}
    for arm in (of[comparison[k]] for k in ("baseline", "candidate")):
        for ns in (arm["median_ns"], arm["interval_ns"]["lo"], arm["interval_ns"]["hi"]):
            again = [t for t in told["texts"] if re.match(rf"\[?{ns / 1e6:.3f}( ms|,|\]|$)", t)]
            expect(not again, arm["name"], "its latency again", again)
        rows_of = [r for t in told["tables"] for r in t if arm["name"] in r]
        expect(len(rows_of) == 1, arm["name"], "a row of its own", rows_of)
    again = [t for t in told["latency"] if t == f"{comparison['speedup']['estimate']:.2f}\u00d7"]
    expect(not again, "the speedup again", again)
    expect("Latency of one inference" not in told["charts"], "a picture of the headline", told["charts"])
    for category in document["categories"]:
        ns = [category["arms"][a]["ns"] for a in of]
        again = [r for t in told["tables"] for r in t if r[0] == category["category"] and len(r) > 3]
        expect(len(again) == 1 and len(ns) == 2, category["category"], "in one table", again)
    for names in told["legend"]:
        expect(all(then != "text" for _, then in names), "a legend with figures beside a table", names)
    expect("Bottlenecks" not in told["headings"], "findings again", told["headings"])


def standing_out(browsing, page, document):
    """The table of operators says why each takes its time, its share, and the fixes that rest on it."""
    comparison, of = document["comparisons"][0], {a["name"]: a for a in document["arms"]}
    browsing.open(page)
    found = browsing.run("""var t = document.querySelector('#operators ~ figure.table table'), at = {};
      Array.from(t.tHead.rows[0].cells).forEach(function (th, k) { at[th.firstChild.textContent.trim()] = k; });
      return Array.from(t.tBodies[0].rows).map(function (r) {
        return [r.querySelector('a').hash.slice(1)].concat(['why', 'share', 'fixes'].map(function (n) {
          return r.cells[at[n]] ? r.cells[at[n]].textContent : null; }),
          [at.fixes ? Array.from(r.cells[at.fixes].querySelectorAll('a')).map(function (a) {
            return a.hash.slice(1); }) : null]); });""")
    candidate = of[comparison["candidate"]]
    times = {o["id"]: o["ns"][candidate["name"]] for o in document["operators"]}
    reasons = {o["id"]: o["why"] or "\u2013" for o in document["operators"]}
    expect(len(set(reasons.values())) > 2, "several reasons", reasons)
    for one, why, share, fixes, links in found:
        part = (times[one] or 0) / candidate["traced_ns"]
        expect(why == reasons[one], one, "why", why, reasons[one])
        expect(share == "\u2013" or abs(float(share.strip("<% ")) - 100 * part) < 0.11, one, "its share", share, part)
        want = [f["id"] for f in document["next_fixes"] if one in f["evidence"]]
        expect((fixes or "").split(", ") == (want or ["\u2013"]) and links == want, one, "its fixes", fixes, want)


def small_gain(page):
    """A gain that its digits do not show is not −0.000 ms."""
    gains = re.findall(r'<p class="gain"><b>(.*?)</b>', page.read_text())
    expect(len(gains) > 3 and not [g for g in gains if re.search(r"\u22120(\.0+)? ", g)], "gains", gains)


def on_a_phone(browsing, page):
    """The graph's names are legible as it opens, and its first operator is in the window."""
    for width in (1280, 390):
        browsing.open(page, width)
        told = browsing.run("""var svg = document.querySelector('.graph svg'), box = svg.closest('.box');
          var first = svg.querySelector('.n').getBoundingClientRect(), b = box.getBoundingClientRect();
          return {size: parseFloat(getComputedStyle(svg.querySelector('.n text')).fontSize) *
            svg.getBoundingClientRect().width / svg.viewBox.baseVal.width,
            inside: first.left < b.right - 40 && first.right > b.left + 40 && first.top < b.bottom};""")
        expect(told["size"] >= 8 and told["inside"], width, "the graph as it opens", told)


def main():
    tmp = new_folder()
    with browser.Session(browser.find()) as browsing:
        made = pages(tmp)
        real = session(tmp)
        made["real"] = real / "report.html"
        kinds = ("real", "large", "kit", "several", "phases")
        all_of = [colours(browsing, kind, made[kind]) for kind in kinds]
        expect(all("Delegated" in of for of in all_of[-3:]), "pages with delegates", list(map(list, all_of)))
        for category in set.union(*(set(of) for of in all_of)):
            seen = set.union(*(of.get(category, set()) for of in all_of))
            expect(len(seen) == 1, category, "has the same colour on every page", seen)
        arms(browsing, made["real"], set.union(*(c for of in all_of for c in of.values())))
        for kind, page in made.items():
            rows(browsing, kind, page)
        expect(sum(commands(browsing, kind, made[kind]) for kind in ("real", "kit", "several")) > 100, "few words")
        buttons(browsing, made["real"])
        drawers(browsing, real)
        document = json.loads((real / "report.json").read_text())
        headline(made["real"], document)
        drawers_figures(made["real"], document)
        three_arms(tmp)
        columns(browsing, made["real"], document)
        figures_once(browsing, made["real"], document)
        standing_out(browsing, made["real"], document)
        standing_out(browsing, made["large"], json.loads((tmp / "large/report.json").read_text()))
        memory(made["real"])
        small_gain(made["real"])
        on_a_phone(browsing, made["real"])
        partly(browsing, tmp, real)
    finish("figures, colours and commands can be compared")


if __name__ == "__main__":
    main()
