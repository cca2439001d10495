# SPDX-License-Identifier: Apache-2.0
"""The page as a reader finds it, in a headless Chromium: what stands on the first screen, what its links lead to,
and that its figures are those of report.json.

usage: test_page.py ETPROF SOURCE_ROOT FAKE_RUNNER RENDER_REPORT"""
import collections
import csv
import gzip
import io
import json
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tarfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import browser  # noqa: E402
import pages  # noqa: E402
from checks import expect, finish, new_folder, unpack  # noqa: E402

ETPROF, ROOT, FAKE, RENDER = (pathlib.Path(p).resolve() for p in sys.argv[1:5])


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
    run(tmp, "analyze", "--full", "--renew", folder)
    return folder


def session(tmp):
    """Six blocks of a real model with sampled kernels."""
    with tarfile.open(ROOT / "tests/data/session.tar.xz") as archive:
        unpack(archive, tmp / "session")
    run(tmp, "analyze", "--full", "--renew", "session")
    return tmp / "session"


def first_screen(chromium, tmp, folder):
    document = json.loads((folder / "report.json").read_text())
    told = browser.ask(chromium, tmp, folder / "report.html", """
      var bottom = function (e) { return e ? e.getBoundingClientRect().bottom : 1e9; };
      return {card: bottom(document.querySelector('.card')), action: bottom(document.querySelector('.actions li')),
        picture: bottom(document.querySelector('.first > figure.chart')),
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
    hot = comparison["candidate"]
    fixes = [f for f in document["next_fixes"] if f["kind"] != "slower" and
             (f["gain_ns"]["hi"] if f["gain_ns"]["expected"] is None else f["gain_ns"]["expected"]) >=
             arms[hot]["median_ns"] / 100]  # a card is worth one per cent of an inference
    expect([a["id"] for a in told["actions"]] == [f["id"] for f in fixes], folder.name, "a card for each fix",
           told["actions"])
    if len(document["arms"]) > 2:
        expect(told["picture"] < 800, folder.name, "the latency of all arms is on the first screen", told["picture"])
    elif fixes:
        expect(told["action"] < 800, folder.name, "the first thing to do is on the first screen", told["action"])
    for action, fix in zip(told["actions"], fixes):
        whole = arms[hot]["median_ns"] / 100
        for end, key in (("floor", "lo"), ("ceiling", "hi")):
            want = min(max(fix["gain_ns"][key], 0) / whole, 100)
            expect(abs(action[end] - want) < 0.011, folder.name, fix["id"], end, action[end], want)
        expect(fix["text"] in action["text"], folder.name, fix["id"], "says what is wrong")
        expect((action["command"] is not None) == fix["recipe"].startswith("etprof "), fix["id"],
               "a command to copy", action["command"], fix["recipe"])
        expect(not action["command"] or fix["recipe"].startswith(action["command"]), fix["id"], "the recipe's own")


def short_names(folder):
    """Arms are called alike everywhere: NEON, not the experiment's name. Commands take that one, so it stands in them
    and in the table of the arms, once each."""
    text = (folder / "report.html").read_text()
    names = [a["name"] for a in json.loads((folder / "report.json").read_text())["arms"]]
    arms = next(b for b in pages.blocks(text) if b.get("caption") == "Arms")
    told = [pages.shown(c) for row in arms["rows"] for c in row["cells"]]
    expect(all(told.count(n) == 1 for n in names), folder.name, "what commands take", told)
    rest = [re.sub(r'<div class="copy">.*?</div>', "", pages.markup(text), flags=re.S)]
    rest += [s for b in pages.blocks(text) if b.get("caption") != "Arms" and b["kind"] not in ("code", "section")
             for s in pages.strings(b)]
    found = [re.sub(r"<[^>]*>", " ", one[max(m.start() - 160, 0):m.end() + 40]) for n in names for one in rest
             for m in re.finditer(rf"(?<!\w){re.escape(n)}(?![\w/])", one)]
    expect(not found, folder.name, "calls arms by their experiments", len(found), found[:4])


def links_and_drawers(chromium, tmp, folder):
    document = json.loads((folder / "report.json").read_text())
    page = folder / "report.html"
    told = browser.ask(chromium, tmp, page, """
      var drawers = document.querySelectorAll('.drawer'), seen = {};
      var broken = Array.from(document.querySelectorAll('a[href]')).filter(function (a) {
        return a.getAttribute('href')[0] !== '#' || !document.getElementById(a.getAttribute('href').slice(1)); });
      var row = document.querySelector('#operators ~ figure tbody th a'), id = row.getAttribute('href').slice(1);
      var drawer = document.getElementById(id), shown = function (e) { return e.getClientRects().length > 0; };
      seen.before = shown(drawer);
      row.click();
      seen.after = shown(drawer); seen.role = drawer.getAttribute('role'); seen.hash = location.hash.slice(1);
      seen.focus = document.activeElement === drawer; seen.top = Math.round(drawer.getBoundingClientRect().top);
      document.dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape'}));
      seen.shut = shown(drawer); seen.back = document.activeElement === row; seen.gone = location.hash;
      var table = row.closest('table'), rows = table.tBodies[0].rows, tools = table.closest('figure').firstChild;
      navigator.clipboard.writeText = function (text) { window.copied = text; return Promise.resolve(); };
      var choice = tools.querySelector('select');
      choice.value = 'GEMM'; choice.onchange();
      Array.from(tools.querySelectorAll('button')).find(function (b) { return b.textContent === 'Copy CSV'; }).click();
      return {ids: Array.from(drawers).map(function (d) { return d.id; }), broken: broken.length, id: id, seen: seen,
        csv: window.copied, heads: Array.from(table.tHead.rows[0].cells).map(function (c) { return c.textContent; }),
        values: Array.from(rows).map(function (r) { return [r.cells[0].querySelector('a').hash.slice(1)].concat(
          Array.from(r.cells).map(function (c) { return c.getAttribute('data-v') || c.textContent; })); })};""")
    expect("error" not in told, folder.name, told)
    names = [o["id"] for o in document["operators"]] + [f["id"] for f in document["next_fixes"] + document["findings"]]
    expect(sorted(told["ids"]) == sorted(names), folder.name, "a drawer for each", set(names) ^ set(told["ids"]))
    expect(told["broken"] == 0, folder.name, "links that lead nowhere", told["broken"])
    expect(told["seen"] == {"before": False, "after": True, "role": "dialog", "hash": told["id"], "focus": True,
                            "top": 0, "shut": False, "back": True, "gone": ""}, folder.name, "a drawer", told["seen"])
    operators = {o["id"]: o for o in document["operators"]}
    baseline, candidate = document["comparisons"][0]["baseline"], document["comparisons"][0]["candidate"]
    saved = next(k for k, h in enumerate(told["heads"]) if h.startswith("saved")) + 1
    for row in told["values"]:
        ns = operators[row[0]]["ns"]
        expect(float(row[saved]) == ns[baseline] - ns[candidate], folder.name, row[0], "saved", row[saved], ns)
    copied = list(csv.reader(io.StringIO(told["csv"])))
    gemm = [o for o in document["operators"] if o["category"] == "GEMM"]
    expect(len(copied) == len(gemm) + 1 and all(r[1] == "GEMM" for r in copied[1:]), folder.name,
           "the rows shown are copied", len(copied), len(gemm))


def facts_in_drawers(tmp):
    """Shapes, work and sampled kernels of a recorded session: from its raw files and by hand."""
    folder = tmp / "session"
    page = run(tmp, "analyze", folder, "--format", "html")
    document = json.loads(run(tmp, "analyze", folder, "--format", "json"))
    words = {name: one["words"] for name, one in pages.drawers(page).items()}
    samples = {}  # of each arm: how often its processor was found in an operator
    for file in folder.glob("*/*.samples"):
        with file.open() as f:
            samples[file.parent.name] = collections.Counter(
                (r["operator"], r["chain"], r["instruction"]) for r in csv.DictReader(f) if r["operator"])
    seen = 0
    for o in document["operators"]:
        told = {level.lower(): int(n) for level, n in re.findall(r"(\w+): (\d+) samples?\b", words.get(o["id"], ""))}
        for arm, counts in samples.items():
            n = sum(counts[(name, str(o["chain"]), str(o["instruction"]))] for name in o["names"].get(arm, []))
            expect(told.get(arm.split("_")[-1], 0) == n, o["id"], arm, "samples", told, n)
            seen += n
    expect(seen > 2000, "the session has hardly any samples", seen)
    # A convolution of 3×3 over 64 channels into 64, 32×32 times; one multiplication each.
    convolution = next(o["id"] for o in document["operators"] if o["chain"] == 0 and o["instruction"] == 45
                       and o["label"].startswith("Convolution"))
    for fact in (f"{32 * 32 * 64 * 3 * 3 * 64 / 1e6:.2f} million MACs, ",
                 "1×32×32×64 qint8, 64×3×3×64 qcint8 (weight) → 1×32×32×64 qint8\n"):  # and nothing behind it
        expect(fact in words[convolution], convolution, fact, words[convolution])


def single_runs(chromium, tmp):
    """A drawer draws how the single runs of an arm lie: as many in each step as flatc and the changes say."""
    data = (ROOT / "tests/data/mixed_xnnpack_fp32.etdump").read_bytes()
    flatc = json.loads(gzip.decompress((ROOT / "tests/data/mixed_xnnpack_fp32.etdump.json.gz").read_bytes()))
    events = [e["profile_event"] for b in flatc["run_data"] for e in b["events"]]
    at = [(e["start_time"], e["end_time"]) for e in events if e.get("name") == "native_call_cumsum.out"]
    first, ns = struct.pack("<Q", at[0][1]), []
    expect(data.count(first) == 1, "the end of the first run stands once in the recording")
    names = ["one.etdump"] + [f"one_b{k}.etdump" for k in range(2, 9)]
    for k, name in enumerate(names):  # of each run the first is made to last as long as k says
        took = 90 + k * k * 9
        (tmp / name).write_bytes(data.replace(first, struct.pack("<Q", at[0][0] + took)))
        ns += [took] + [end - start for start, end in at[1:]]
    page = tmp / "runs.html"
    page.write_text(run(tmp, "analyze", *names, "--format", "html"))
    shown = browser.ask(chromium, tmp, page, """
      return Array.from(document.querySelectorAll('.drawer[id^=op]')).map(function (d) {
        var dd = d.querySelector('dd'), said = dd.getAttribute('data-h'), text = dd.textContent;
        var a = document.createElement('a');
        a.href = '#' + d.id;
        document.body.appendChild(a).click();
        var path = d.querySelector('svg.runs path');
        return [d.querySelector('h3').textContent, said, path && path.getBBox().height, text,
          path && path.getAttribute('d').split('M').length - 1, path && path.parentNode.viewBox.baseVal.width,
          path && Array.from(dd.querySelectorAll('small[aria-hidden] span')).map(function (s) {
            return s.textContent; })];
      });""")
    expect("error" not in shown, "single runs", shown)
    told = next(row for row in shown if "cumsum" in row[0])
    lo, hi, steps, tops = told[1].split()
    counts = [0] * int(steps)
    for v in ns:
        counts[min(int((v - min(ns)) / (max(ns) - min(ns)) * len(counts)), len(counts) - 1)] += 1
    want = [max(round(9 * c / max(counts)), 1) if c else 0 for c in counts]
    expect((int(lo), int(hi)) == (min(ns), max(ns)), "the axis", lo, hi, min(ns), max(ns))
    expect([int(t) for t in tops.ljust(len(counts), "0")] == want, "columns", tops, want)
    expect(told[4] == sum(c > 0 for c in counts) and told[2] == 9, "they are drawn", told)
    expect(told[5] == int(steps), "on the whole axis", told[5], steps)
    expect([float(end.split()[0]) for end in told[6]] == [min(ns), max(ns)], "the axis is named", told[6])
    quarter, most = (sorted(ns)[round(q * (len(ns) - 1))] for q in (0.25, 0.75))
    words = f"half of {len(ns)} runs {quarter} to {most} ns, all {min(ns)} to {max(ns)} ns"
    expect(words in told[3], "in words", words, told[3])
    expect(re.search(r"ns \[\d+, \d+ ns\]", told[3]), "with its interval", told[3])
    expect(all(row[1] is None for row in shown if row is not told), "runs of no length have no picture", shown)


def graph(chromium, tmp):
    """The model as a graph: who takes what whom, by the shapes of report.json; boxes and frames do not overlap."""
    data = ROOT / "tests/data/fixes"
    names = ["border_layout.etdump", "--pte", "border_layout.pte"]
    document = json.loads(run(data, "analyze", *names, "--format", "json"))
    page = tmp / "graph.html"
    page.write_text(run(data, "analyze", *names, "--format", "html"))
    told = browser.ask(chromium, tmp, page, """
      var box = function (e) { var r = e.getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom]; };
      var svg = document.querySelector('.graph svg'), width = svg.getBoundingClientRect().width;
      document.querySelector('.graph [aria-label="Larger"]').click();
      var larger = svg.getBoundingClientRect().width, find = document.querySelector('.graph input[type=search]');
      find.value = 'transpose'; find.oninput();
      var heat = function () {
        return getComputedStyle(document.querySelector('.graph .n')).getPropertyValue('--heat'); };
      return {boxes: Array.from(svg.querySelectorAll('a')).map(function (a) {
          return [a.getAttribute('href').slice(1)].concat(box(a.querySelector('rect')));
        }), frames: Array.from(svg.querySelectorAll('.frame')).map(box), grown: larger / width,
        hits: svg.querySelectorAll('.hit').length, heat: heat(),
        spans: Array.from(document.querySelectorAll('section:has(> details #icicle) figure .track:first-of-type > a')
          ).map(function (a) { return [a.hash.slice(1), parseFloat(a.style.width)]; })};""")
    expect("error" not in told, "graph", told)
    operators = {o["id"]: o for o in document["operators"]}
    expect(sorted(b[0] for b in told["boxes"]) == sorted(operators), "a box for each operator", told["boxes"])
    apart = lambda a, b: a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]  # noqa: E731
    places = {b[0]: b[1:] for b in told["boxes"]}
    for parts in (list(places.values()), told["frames"]):
        expect(all(apart(a, b) for k, a in enumerate(parts) for b in parts[:k]), "boxes or frames overlap", parts)
    of, edges = pages.drawers(page.read_text()), 0
    shapes = lambda values: {tuple(v["shape"]) for v in values}  # noqa: E731
    for one in operators.values():
        line = re.match(r"(.*?) → this", of[one["id"]]["keys"].get("graph", ""))
        for before in re.findall(r"\bop\d+\b", line[1]) if line else []:
            edges += 1
            made, taken = shapes(operators[before]["outputs"]), shapes(one["inputs"])
            expect(not made or not taken or made & taken, before, "does not make what is taken by", one["id"])
            expect(places[before][3] < places[one["id"]][1], before, "stands above", one["id"])
    expect(edges >= len(operators) - 2, "few edges", edges, len(operators))
    expect(told["grown"] > 1.2, "zoom", told["grown"])
    found = [o for o in operators.values() if "transpose" in o["label"].lower()]
    expect(told["hits"] == len(found) > 0, "search", told["hits"])
    expect(told["heat"].endswith("%"), "coloured", told["heat"])
    total = sum(next(iter(operators[i]["ns"].values())) for i, _ in told["spans"])
    for i, width in told["spans"]:
        share = next(iter(operators[i]["ns"].values())) / total
        shown = width / sum(w for _, w in told["spans"])
        expect(abs(share - shown) < 0.002, i, "a span as wide as its time", share, shown)


def what_if(chromium, tmp):
    """The page predicts what the command predicts, bounds included."""
    data = ROOT / "tests/data/fixes"
    arms = ["border_layout.etdump", "border_layout_b2.etdump"]
    sessions = [([data / a for a in arms], "b2 joins it: one arm of two recordings"), ([tmp / "large"], "two arms")]
    for operands, name in sessions:
        document = json.loads(run(tmp, "analyze", *operands, "--format", "json"))
        page = tmp / "whatif.html"
        page.write_text(run(tmp, "analyze", *operands, "--format", "html"))
        longest = sorted(document["operators"], key=lambda o: -max(v or 0 for v in o["ns"].values()))
        compared = len(document["arms"]) > 1
        plan = [(longest[0]["id"], "drop"), (longest[1]["id"], "back" if compared else "drop")]
        told = browser.ask(chromium, tmp, page, f"""
          var plan = {json.dumps(plan)};
          plan.forEach(function (p) {{
            var select = document.querySelector('.whatif select[name=' + p[0] + ']');
            select.value = {{drop: 1, back: 2}}[p[1]]; select.onchange(); }});
          var command = document.querySelector('.whatif code').textContent, r = window.etprofWhatif;
          var box = document.querySelector('.whatif input[type=checkbox]'), fix = null;
          if (box) {{ box.checked = true; box.onchange(); fix = [box.value, window.etprofWhatif]; }}
          return {{r: r, command: command, fix: fix}};""")
        expect("error" not in told, name, told)
        expect(told["command"].startswith("etprof whatif DIR "), name, told["command"])
        words = [w for w in told["command"][len("etprof whatif DIR "):].split("'") if w.strip()]
        expect(sorted(words) == sorted(f"{verb} {op}" for op, verb in plan), name, "the command to copy", words, plan)
        said = json.loads(run(tmp, "whatif", *operands, *words, "--format", "json"))
        r = told["r"]
        # The command is of recorded inferences; cards, headline and What if of the page are of those without recording.
        name_of = document["comparisons"][0]["candidate"] if compared else document["arms"][0]["name"]
        arm = next(a for a in document["arms"] if a["name"] == name_of)
        whole = arm["traced_ns"] if arm["median_ns"] is None else arm["median_ns"]
        scale, left = whole / arm["traced_ns"], arm["traced_ns"]
        for op, verb in plan:
            times = next(o["ns"] for o in document["operators"] if o["id"] == op)
            left -= times[name_of] - (times[document["comparisons"][0]["baseline"]] if verb == "back" else 0)
        expect(abs(r["now"] - whole) <= 1 and abs(r["then"] - left * scale) <= 3, name, r, whole, left * scale)
        expect(abs(r["then"] - said["then_ns"] * scale) <= 1, name, r, said)
        for key, value in (("speedup", said["speedup"]["estimate"]), ("lo", said["speedup"]["lo"]),
                           ("hi", said["speedup"]["hi"])):
            same = r[key] is None and value is None or \
                r[key] is not None and value is not None and abs(r[key] / value - 1) < 1e-5
            expect(same, name, key, r[key], value)
        for identity, with_fix in [told["fix"]] if told["fix"] else []:
            gain = next(f["gain_ns"] for f in document["next_fixes"] if f["id"] == identity)
            expect(with_fix["most"] == r["then"] - gain["lo"] and with_fix["least"] == r["then"] - gain["hi"], name,
                   "a fix has its range", with_fix, gain)


def shut_at_first(chromium, tmp, folder):
    """What few ask for is shut, so that the page is read from top to bottom; a link into it opens it. Nothing that can
    be copied is cut off."""
    told = browser.ask(chromium, tmp, folder / "report.html", """
      var shut = Array.from(document.querySelectorAll('details.shut')), tall = document.documentElement.scrollHeight;
      var titles = shut.map(function (d) { return d.querySelector('h2').textContent; });
      var cut = Array.from(document.querySelectorAll('.copy code > span, .code code > span')).filter(function (e) {
        return e.closest('details.shut:not([open])') === null && e.getClientRects().length &&
          e.getBoundingClientRect().right > e.parentNode.getBoundingClientRect().right + 1; });
      location.hash = '#evidence';
      dispatchEvent(new HashChangeEvent('hashchange'));
      var open = shut.filter(function (d) { return d.open; });
      return {tall: tall, shut: titles, open: open.map(function (d) { return d.querySelector('h2').textContent; }),
        any: shut.length, cut: cut.map(function (e) { return e.textContent; })};""", shut=True)
    expect("error" not in told and told["tall"] <= 5000, folder.name, "a page that is read", told)
    tall = browser.ask(chromium, tmp, folder / "report.html", "return document.documentElement.scrollHeight;",
                       width=390, shut=True)
    expect(tall <= 5000, folder.name, "a page that is read on a phone", tall)
    expect({"What if", "The model", "Latency", "Evidence", "Operator by operator"} <= set(told["shut"]), folder.name,
           "what is shut", told)
    expect(told["open"] == ["Evidence"], folder.name, "a link opens what it leads into", told)
    expect(not told["cut"], folder.name, "a command that is cut off", told["cut"])
    told = browser.ask(chromium, tmp, folder / "report.html", """
      return Array.from(document.querySelectorAll('figure.table .box')).filter(function (b) {
        return b.scrollWidth > b.clientWidth; }).map(function (b) {
          return getComputedStyle(b).backgroundAttachment; });""", width=390)
    expect(told and all("local" in a and "scroll" in a for a in told), folder.name, "what scrolls shows it", told)


def spread(chromium, tmp, folder):
    """Every iteration: of a session of exact times two flat lines, three times as high."""
    told = browser.ask(chromium, tmp, folder / "report.html", """
      var figure = Array.from(document.querySelectorAll('figure.chart')).find(function (f) {
        return f.textContent.indexOf('Every timed iteration') >= 0; });
      return Array.from(figure.querySelectorAll('svg.wide path[class^=s]')).map(function (p) {
        var b = p.getBBox(); return [b.width, b.height, b.y]; });""")
    expect(len(told) == 2 and all(w > 100 and h < 1 for w, h, _ in told), folder.name, "lines", told)
    expect(abs(told[0][2] - told[1][2]) > 20, folder.name, "the lines are apart", told)
    # An iteration of 99 ms leaves the others where they are, and is told.
    again = tmp / "interrupted"
    shutil.copytree(folder, again)
    rows = (again / "samples.csv").read_text().splitlines()
    at = max(i for i, row in enumerate(rows) if row.split(",")[4] == "timed")
    cells = rows[at].split(",")
    cells[6] = "99000000"
    rows[at] = ",".join(cells)
    (again / "samples.csv").write_text("\n".join(rows) + "\n")
    page = tmp / "interrupted.html"
    page.write_bytes(subprocess.run([ETPROF, "analyze", again, "--format", "html"], capture_output=True,
                                    check=True).stdout)
    told = browser.ask(chromium, tmp, page, """
      var figure = Array.from(document.querySelectorAll('figure.chart')).find(function (f) {
        return f.textContent.indexOf('Every timed iteration') >= 0; }), svg = figure.querySelector('svg.wide');
      return {text: svg.textContent, first: Array.from(svg.querySelectorAll('path[class^=s]')).map(function (p) {
        return p.getPointAtLength(0).y; })};""")
    expect(abs(told["first"][0] - told["first"][1]) > 20 and "99" in told["text"], "an outlier flattens the rest", told)


def roofline(chromium, tmp):
    """A point lies below its roof by its efficiency, on the axes' scale."""
    data = ROOT / "tests/data"
    what = ["analyze", "mixed_xnnpack_fp32.etdump", "--pte", "mixed_xnnpack_fp32.pte", "--roofs-file",
            "roofs/round.json"]
    document = json.loads(run(data, *what, "--format", "json"))
    placed = [next(iter(o["roof"].values())) for o in document["operators"]]
    placed = [p["efficiency"] for p in placed if p.get("efficiency")]
    picture = browser.drawn(chromium, tmp, run(data, *what, "--format", "html"), ".plane")
    points = re.findall(r'<circle class="f\d+" cx="([\d.]+)" cy="([\d.]+)"', picture)
    lines = re.findall(r'<line x1="([\d.]+)" y1="([\d.]+)" x2="([\d.]+)" y2="([\d.]+)" class="(\w+)"', picture)
    decades = sorted({float(y1) for x1, y1, x2, y2, kind in lines if kind == "grid" and y1 == y2})
    x1, y1, x2, y2 = (float(v) for v in next(line for line in lines if line[4] == "wh")[:4])
    expect(len(points) == len(placed) == 1, "a point for each operator that has a roof", points, placed)
    x, y = map(float, points[0])
    roof = y1 + (y2 - y1) * (x - x1) / (x2 - x1)
    shown = 10 ** ((roof - y) / (decades[1] - decades[0]))
    expect(abs(shown / placed[0] - 1) < 0.02, "below the roof by its efficiency", shown, placed[0])


def hostile_names(chromium, tmp):
    """Names that are markup, script ends and line separators stay text, and the page's script works on them."""
    page = tmp / "hostile.html"
    page.write_bytes(subprocess.run([RENDER, "hostile", "html"], capture_output=True, check=True).stdout)
    told = browser.ask(chromium, tmp, page, """
      var alien = document.querySelectorAll('script, img, iframe, object, form, [onclick], [onerror]').length;
      document.querySelector('a[href="#op1"]').dispatchEvent(
        new MouseEvent('click', {bubbles: true, cancelable: true}));
      var labels = Array.from(document.querySelectorAll('.graph .n text')).map(function (t) { return t.textContent; });
      var note = JSON.parse(document.getElementById('numbers').textContent).note;
      return {scripts: alien, note: note === '<' + "/script><script>alert('x')<" + '/script>',
        open: document.querySelectorAll('.drawer.open').length,
        tools: document.querySelectorAll('.graph button').length,
        labels: labels.length > 5 && labels.every(function (t) { return t.indexOf('=<' + '/script><') == 0; })};""")
    # two of data, the page's two, and the two of the test; a label that was read as markup lacks its tags
    expect(told == {"scripts": 6, "note": True, "open": 1, "tools": 3, "labels": True}, "hostile names", told)


def opened_by_itself(chromium, tmp):
    """page.html is a page without any program: its sample has all that the scripts make."""
    files = ROOT / "src/report"
    for name in ("page.html", "page.css", "pictures.js", "build.js", "page.js"):
        shutil.copy(files / name, tmp)
    told = browser.ask(chromium, tmp, tmp / "page.html", """
      var count = function (q) { return document.querySelectorAll(q).length; };
      document.querySelector('tbody th a').click();
      return {sections: Array.from(document.querySelectorAll('nav li:not([hidden])')).map(function (e) {
          return e.textContent; }),
        rows: count('tbody tr'), links: count('.actions a.id') + count('.what a:not(.id)') + count('.note a'),
        boxes: count('.graph a.n'), open: document.querySelector('.drawer.open h3').textContent,
        styled: getComputedStyle(document.querySelector('.cards')).display, empty: count('.later')};""")
    want = {"sections": ["Where the time goes", "Operators", "Latency"], "rows": 5, "links": 3, "boxes": 2,
            "open": "op1 Convolution (NHWC, F32) #1", "styled": "flex", "empty": 0}
    expect(told == want, "page.html by itself", told)


def main():
    chromium = browser.find()
    tmp = new_folder()
    for folder in (measured(tmp), large(tmp)):
        first_screen(chromium, tmp, folder)
    short_names(tmp / "large")
    short_names(session(tmp))
    shut_at_first(chromium, tmp, tmp / "session")
    links_and_drawers(chromium, tmp, tmp / "large")
    spread(chromium, tmp, tmp / "measured")
    single_runs(chromium, tmp)
    facts_in_drawers(tmp)
    graph(chromium, tmp)
    what_if(chromium, tmp)
    roofline(chromium, tmp)
    hostile_names(chromium, tmp)
    opened_by_itself(chromium, tmp)
    finish("the first screen decides")


if __name__ == "__main__":
    main()
