# SPDX-License-Identifier: Apache-2.0
"""Reads what the report writers wrote with independent parsers. Usage: check_report.py RENDER_REPORT

RENDER_REPORT is the test program that writes the sample reports. The checker first proves on
broken pages that it would notice."""
import csv
import html.parser
import io
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "reports"))
import browser  # noqa: E402
import pages  # noqa: E402

# end tags that HTML leaves out: of what is open, what a new one of these ends
ENDS = {"td": {"td", "th"}, "th": {"td", "th"}, "dt": {"dt", "dd"}, "dd": {"dt", "dd"}}
LEFT_OUT = {"tr": {"td", "th"}, "dl": {"dt", "dd"}}
VOID = {"meta", "br", "hr", "img", "input", "link", "col", "wbr"}
URL_ATTRIBUTES = {"href", "src", "srcset", "action", "formaction", "data", "poster", "xlink:href", "ping"}
FORBIDDEN = {"link", "img", "iframe", "object", "embed", "base", "form", "foreignobject", "audio", "video"}
ATTRIBUTES = set("""lang charset name content http-equiv id class href scope style title role tabindex
    type value checked data-v data-h data-scope data-sort data-choice aria-label aria-labelledby xmlns viewbox x y x1 x2
    y1 y2 cx cy r d width height fill text-anchor patternunits patterntransform transform""".split())
CHARTS = ("operator_breakdown", "ledger", "latency_comparison", "blocks", "threads", "again")


class Page(html.parser.HTMLParser):
    """Collects structure and problems of one HTML page."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.problems, self.stack, self.ids = [], [], set()
        self.references, self.scripts, self.tables, self.styles = set(), [], [], []
        self.table = self.cell = self.picture = None
        self.feed(text)
        self.close()
        if self.stack:
            self.problems.append(f"not closed: {self.stack}")
        for reference in sorted(self.references - self.ids):
            self.problems.append(f"no element has the id {reference!r}")

    def handle_starttag(self, tag, attrs):
        if self.stack and self.stack[-1] in ENDS.get(tag, ()):
            self.handle_endtag(self.stack[-1])
        names = [k for k, _ in attrs]
        attributes = dict(attrs)
        if len(set(names)) != len(names):
            self.problems.append(f"<{tag}> repeats an attribute")
        if tag in FORBIDDEN:
            self.problems.append(f"<{tag}> loads or embeds something")
        for key, value in attrs:
            if key not in ATTRIBUTES:
                self.problems.append(f"<{tag}> has an attribute {key!r} that no writer writes")
            if key.startswith("on"):
                self.problems.append(f"<{tag}> has a handler {key}")
            if key in URL_ATTRIBUTES and not (value or "").startswith("#"):
                self.problems.append(f"<{tag} {key}={value!r}> leaves the page")
            if value and re.search(r"url\((?!#)", value):
                self.problems.append(f"<{tag} {key}={value!r}> loads something")
        if "id" in attributes:
            if attributes["id"] in self.ids:
                self.problems.append(f"id {attributes['id']!r} twice")
            self.ids.add(attributes["id"])
        if (attributes.get("href") or "").startswith("#"):
            self.references.add(attributes["href"][1:])
        for key in ("aria-labelledby", "aria-describedby"):
            self.references.update((attributes.get(key) or "").split())
        self.references.update(re.findall(r"url\(#([^)]*)\)", attributes.get("fill") or ""))
        if tag == "table":
            self.table = {"caption": False, "head": [], "rows": []}
            self.tables.append(self.table)
        elif tag == "caption" and self.table is not None:
            self.table["caption"] = True
        elif tag == "tr" and self.table is not None:
            self.row = []
        elif tag in ("th", "td") and self.table is not None:
            if tag == "th" and attributes.get("scope") not in ("row", "col"):
                self.problems.append("<th> without scope")
            self.cell = {"text": "", "value": attributes.get("data-v"),
                         "style": attributes.get("style"), "scope": attributes.get("scope")}
        elif tag == "svg" and attributes.get("role") not in ("img", "group"):
            self.problems.append("<svg> without role")
        self.picture = attributes.get("role") if tag == "svg" else self.picture
        if tag == "a" and "svg" in self.stack and self.picture == "img":
            self.problems.append("a link in a picture, where nobody who cannot see finds it")
        if tag == "script":
            self.scripts.append([attributes, ""])
        if tag not in VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.stack.pop()

    def handle_endtag(self, tag):
        if self.stack and self.stack[-1] in LEFT_OUT.get(tag, ()):
            self.handle_endtag(self.stack[-1])
        if not self.stack or self.stack[-1] != tag:
            self.problems.append(f"</{tag}> closes {self.stack[-1:]}")
            return
        self.stack.pop()
        if tag in ("th", "td") and self.table is not None:
            self.row.append(self.cell)
            self.cell = None
        elif tag == "tr" and self.table is not None:
            self.table["rows" if self.table["head"] else "head"].append(self.row)
        elif tag == "table":
            self.table = None

    def handle_data(self, data):
        if self.cell is not None:
            self.cell["text"] += data
        if self.stack and self.stack[-1] == "script":
            self.scripts[-1][1] += data
        elif self.stack and self.stack[-1] == "style":
            self.styles.append(data)

    def handle_comment(self, data):
        self.problems.append(f"comment {data[:40]!r}")


def check_structure(text, problems):
    page = Page(text)
    problems += page.problems
    if not text.startswith("<!DOCTYPE html>"):
        problems.append("no doctype")
    if re.search(r"https?:|//[a-z]+\.|@import|@font-face", re.sub(r'xmlns="[^"]*"', "", text)):
        problems.append("names a network address")
    if "default-src 'none'" not in text:
        problems.append("no content security policy")
    for n, table in enumerate(page.tables):
        if not table["caption"]:
            problems.append(f"table {n} has no caption")
        width = len(table["head"][0]) if table["head"] else 0
        for row in table["rows"]:
            if len(row) != width or (row[0]["scope"] != "row"):
                problems.append(f"table {n} has an irregular row")
                break
    for attributes, body in page.scripts:
        if attributes.get("type") == "application/json":
            try:
                json.loads(body)
            except ValueError as e:
                problems.append(f"embedded JSON: {e}")
    if any(unicode_control(c) for c in text):
        problems.append("a control or direction character")
    return page


def unicode_control(c):
    return (ord(c) < 0x20 and c not in "\n\t") or 0x7F <= ord(c) <= 0x9F or 0x202A <= ord(c) <= 0x202E


def luminance(color):
    color = color.lstrip("#")
    if len(color) == 3:
        color = "".join(c * 2 for c in color)
    parts = [int(color[i:i + 2], 16) / 255 for i in (0, 2, 4)]
    linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a, b):
    x, y = sorted((luminance(a), luminance(b)))
    return (y + 0.05) / (x + 0.05)


def check_contrast(css, problems):
    """Text against what it stands on in light, dark, system-dark and print colours."""
    blocks = re.findall(r"([^{}]*:root[^{}]*)\{([^{}]*--bg[^{}]*)\}", css)
    if len(blocks) != 4:
        problems.append(f"expected light, dark, system-dark and print colours, found {len(blocks)}")
        return
    light = dict(re.findall(r"--([a-z0-9-]+):\s*(#[0-9a-f]+)", blocks[0][1]))
    for selector, body in blocks:
        colors = {**light, **dict(re.findall(r"--([a-z0-9-]+):\s*(#[0-9a-f]+)", body))}
        pairs = [(ink, ground) for ink in ("ink", "dim", "link", "good", "warn", "bad", "info")
                 for ground in ("bg", "panel")]
        pairs += [(ink, "row") for ink in ("ink", "good", "bad")] + [("ink", "bar"), ("dim", "bg")]
        pairs += [("on-dark" if k % 2 else "on-light", f"c{k}") for k in range(1, 13)]
        for ink, ground in pairs:
            ratio = contrast(colors[ink], colors[ground])
            if ratio < 4.5:
                problems.append(f"{selector.strip()}: {ink} on {ground} has contrast {ratio:.2f}")


def check_values(text, text_csv, problems):
    """The same numbers in the CSV and beside the cells' texts of the page; a bar is drawn for what is most at most."""
    rows = list(csv.reader(io.StringIO(text_csv)))
    table = next(b for b in pages.blocks(text) if b["kind"] == "table")
    at = {title: k for k, title in enumerate(rows[0])}
    if not len(rows) - 1 == len(table["rows"]) == 61:
        problems.append("row counts differ")
    for line, row in zip(rows[1:], table["rows"]):
        cells = [c[1] if isinstance(c, list) and c[1] is not None else pages.shown(c) for c in row["cells"]]
        for k, (a, b) in enumerate(zip(line, cells)):
            if a != b and not (a and b != "" and abs(float(a) - float(b)) <= 5e-6 * abs(float(a))):
                problems.append(f"column {k}: CSV {a!r}, page {b!r}")
                return
    bars = [k for k, c in enumerate(table["columns"]) if c.get("most")]
    longest = max(float(line[k] or 0) for line in rows[1:-1] for k in bars)
    if not bars or any(table["columns"][k]["most"] != longest for k in bars):
        problems.append(f"bars of columns {bars} are not to the scale of {longest}")
    if sum(int(line[at["neon_ns"]]) for line in rows[1:-1]) != int(rows[-1][at["neon_ns"]]):
        problems.append("the total is not the sum of its rows")


def check_built(page, problems):
    """Bars are as wide as their values are of the most, and a total has none. Two of each of 60 rows, of which eight
    lack one."""
    for row in page.tables[0]["rows"]:
        for cell in row:
            if cell["style"] and not re.fullmatch(r"--w:\d+%", cell["style"]):
                problems.append(f"a bar of {cell['style']}")
    wide = [int(c["style"][4:-1]) for row in page.tables[0]["rows"] for c in row if c["style"]]
    values = [float(c["value"]) for row in page.tables[0]["rows"] for c in row if c["style"]]
    if len(wide) != 112 or any(abs(w - 100 * v / max(values)) > 0.51 for w, v in zip(wide, values)):
        problems.append(f"{len(wide)} bars, or wrong ones")


def check_svg(text, problems):
    try:
        root = ET.fromstring(text)
    except ET.ParseError as e:
        problems.append(f"not XML: {e}")
        return
    width, height = map(float, root.get("viewBox").split()[2:])
    for element in root.iter():
        tag = element.tag.split("}")[1]
        if tag in ("script", "foreignObject", "image", "use", "a"):
            problems.append(f"<{tag}> in a picture")
        for key, limit in (("x", width), ("y", height), ("x1", width), ("x2", width), ("cx", width),
                           ("y", height), ("y1", height), ("y2", height), ("cy", height)):
            if element.get(key) is not None and not -1 <= float(element.get(key)) <= limit + 1:
                problems.append(f"<{tag} {key}={element.get(key)}> is outside the picture")
        if tag == "rect":
            x, w = float(element.get("x", 0)), float(element.get("width"))
            if w < 0 or x + w > width + 1:
                problems.append("a rectangle is outside the picture")
    names = [e.tag.split("}")[1] for e in list(root)[:2]]
    if names != ["title", "desc"]:
        problems.append("title and desc are not first")


# What tests/unit/report/sample.c put in.
NEON = [612.4e6, 331.9e6, 92.6e6, 61.2e6, 35.4e6, 18.8e6, 9.9e6]
SME2 = [72.1e6, 44.8e6, 98.3e6, 47.5e6, 22.6e6, 12.0e6, 0]
STEPS = [("Convolution", -540.3, -548.0, -532.6), ("GEMM", -287.1, -291.2, -283.0),
         ("Quantize/convert", -9.9, -10.4, -9.4), ("Elementwise", -13.7, -15.9, -11.5),
         ("Normalization", -12.8, -14.1, -11.5), ("Resize", -6.8, -8.2, -5.4), ("Data movement", 5.7, 3.1, 8.3),
         ("Delegate boundary", -0.4, -1.0, 0.2), ("Tracer", -0.1, None, None), ("Unexplained", 0.3, -1.7, 2.3)]


def launches():
    """Its ten blocks, of a generator of numbers of its own; the seventh lost a launch."""
    seed = 11
    for block in range(1, 11):
        values = []
        for base, span in ((1155e6, 160000), (294e6, 80000)):
            seed = (seed * 1664525 + 1013904223) % 2**32
            values.append(base + (seed >> 8) % span * 100)
        yield {"label": str(block), "values": [values[0], None if block == 7 else values[1]]}


def total(label, value):
    return {"label": label, "values": [value], "total": True, "lo": [None], "hi": [None]}


SAMPLE = {
    "operator_breakdown": {"entries": [{"values": NEON}, {"values": SME2}]},
    "again": {"entries": [{"values": NEON}, {"values": SME2}]},
    "ledger": {"entries": [total("neon", 1163.0e6)] + [
        {"label": label, "values": [ns * 1e6], "total": False, "lo": [lo and lo * 1e6], "hi": [hi and hi * 1e6]}
        for label, ns, lo, hi in STEPS] + [total("sme2", 297.9e6)]},
    "latency_comparison": {"entries": [
        {"label": "neon", "values": [1163.0e6], "lo": [1157.1e6], "hi": [1168.9e6]},
        {"label": "sme2", "values": [297.9e6], "lo": [295.2e6], "hi": [300.6e6]}]},
    "blocks": {"entries": list(launches())},
}

SVG = "{http://www.w3.org/2000/svg}"


def numbers(element, *keys):
    return [float(element.get(k)) for k in keys]


def near(a, b):
    return abs(a - b) <= 0.21  # coordinates have one decimal


def check_stacked(root, chart, problems):
    """Segments touch, and their lengths are to one scale across all bars."""
    segments = [g for g in root.iter(SVG + "g") if g.find(SVG + "rect") is not None and
                "seg" in g.find(SVG + "rect").get("class", "")]
    expected = [v for e in chart["entries"] for v in e["values"] if v]
    if len(segments) != len(expected):
        problems.append(f"{len(segments)} segments for {len(expected)} values")
        return
    rects = [g.find(SVG + "rect") for g in segments]
    scale = sum(numbers(r, "width")[0] for r in rects) / sum(expected)
    end = {}
    for rect, value in zip(rects, expected):
        x, y, width = numbers(rect, "x", "y", "width")
        if abs(width - value * scale) > 0.3:
            problems.append(f"a segment of {width} for {value * scale:.1f}")
        if not near(end.setdefault(y, x), x):
            problems.append("segments do not touch")
        end[y] = x + width
    if len({r.get("y") for r in rects}) != len(chart["entries"]):
        problems.append("bars share a line")


def check_waterfall(root, chart, problems):
    """Every bar runs from the sum before its step to the sum after it; whiskers end at lo and hi."""
    groups = [g for g in root.iter(SVG + "g") if g.find(SVG + "title") is not None]
    first = groups[0].find(SVG + "rect")
    zero, length = numbers(first, "x", "width")
    scale = length / chart["entries"][0]["values"][0]
    running = 0
    for group, entry in zip(groups, chart["entries"], strict=True):
        start = 0 if entry["total"] else running
        running = start + entry["values"][0]
        x, width = numbers(next(group.iter(SVG + "rect")), "x", "width")
        a, b = sorted((zero + start * scale, zero + running * scale))
        if not near(x, a) or not (near(x + width, b) or (near(width, 1.5) and b - a < 1.6)):
            problems.append(f"{entry['label']}: bar {x}…{x + width}, expected {a:.1f}…{b:.1f}")
        path = group.find(SVG + "path")
        if path is not None:
            check_whisker(path, zero + (start + entry["lo"][0]) * scale,
                          zero + (start + entry["hi"][0]) * scale, entry["label"], problems)
    if not any(g.find(SVG + "path") is not None for g in groups):
        problems.append("no whiskers")


def check_whisker(path, lo, hi, label, problems):
    ends = re.match(r"M([\d.]+) [\d.]+L([\d.]+) ", path.get("d"))
    if not (near(float(ends[1]), lo) and near(float(ends[2]), hi)):
        problems.append(f"{label}: whisker {ends[1]}…{ends[2]}, expected {lo:.1f}…{hi:.1f}")


def check_intervals(root, chart, problems):
    groups = [g for g in root.iter(SVG + "g") if g.find(SVG + "title") is not None]
    for group, entry in zip(groups, chart["entries"], strict=True):
        zero, width = numbers(group.find(SVG + "rect"), "x", "width")
        scale = width / entry["values"][0]
        if not near(width, chart.setdefault("scale", scale) * entry["values"][0]):
            problems.append("bars have different scales")
        check_whisker(group.find(SVG + "path"), zero + entry["lo"][0] * scale,
                      zero + entry["hi"][0] * scale, entry["label"], problems)


def check_blocks(root, chart, problems):
    """Tool tips name every value; the third panel is first ÷ second; more is higher."""
    tips = {g.find(SVG + "title").text: g for g in root.iter(SVG + "g") if g.find(SVG + "title") is not None}
    heights = []
    for entry in chart["entries"]:
        a, b = entry["values"]
        ratio = f"{a / b:.2f}×" if a and b else "missing"
        for name, shown in (("neon", f"{a / 1e6:.1f} ms"), ("neon ÷ sme2", ratio),
                            ("sme2", f"{b / 1e6:.1f} ms" if b else "missing")):
            tip = f"block {entry['label']}, {name}: {shown}"
            if tip not in tips:
                problems.append(f"no tip {tip!r}")
                return
        circle = tips[f"block {entry['label']}, neon: {a / 1e6:.1f} ms"].find(SVG + "circle")
        heights.append((a, -float(circle.get("cy"))))
    if [h for _, h in sorted(heights)] != sorted(h for _, h in heights):
        problems.append("heights do not follow values")


GEOMETRY = {"operator_breakdown": check_stacked, "again": check_stacked, "ledger": check_waterfall,
            "latency_comparison": check_intervals, "blocks": check_blocks}


def check_markdown(text, problems):
    width = 0
    fenced = False
    for line in text.splitlines():
        if line.startswith("```"):
            fenced = not fenced
        if fenced:
            continue
        # A fold is the writer's own; what stands in its summary is text.
        plain = re.sub(r"^</?details>$|^<summary>(.*)</summary>$", r"\1", line)
        if "<" in re.sub(r"`[^`]*`|<!-- -->", "", plain):
            problems.append(f"raw HTML: {line[:60]!r}")
        if line.startswith("| "):
            cells = len(re.findall(r"(?<!\\)\|", line))
            if width and cells != width:
                problems.append(f"irregular table row: {line[:60]!r}")
            width = cells
        else:
            width = 0


def self_test():
    """Each broken page must be noticed, the sound one must pass."""
    sound = ("<!DOCTYPE html><html><head><meta content=\"default-src 'none'\"></head><body>"
             "<table><caption>c</caption><thead><tr><th scope=\"col\">a</th></tr></thead>"
             "<tbody><tr><th scope=\"row\">b</th></tr></tbody></table>"
             "<a href=\"#x\">x</a><p id=\"x\"></p></body></html>")
    broken = {"balance": ("</p>", ""), "address": ("#x", "https://example.org"),
              "handler": ("<p ", "<p onclick=\"x\" "), "id": ("<p ", "<b id=\"x\"></b><p "),
              "dead link": ("#x", "#y"), "scope": (' scope="row"', ""), "image": ("<p ", "<img src=\"#\"><p "),
              "caption": ("<caption>c</caption>", ""), "policy": ("'none'", "'self'"),
              "json": ("<p ", "<script type=\"application/json\">{</script><p "),
              "quote": ("<p ", "<p title=\"a\"b\" "), "direction": ("c</caption>", "\u202e</caption>"),
              "css": ("<p ", "<p style=\"a:url(x)\" ")}
    noticed = []
    check_structure(sound, noticed)
    assert not noticed, noticed
    for name, (old, new) in broken.items():
        assert old in sound
        noticed = []
        check_structure(sound.replace(old, new), noticed)
        assert noticed, f"the checker does not notice: {name}"
    for bad in ("<svg/>", "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 9 9\"><title/><desc/>"
                "<text x=\"20\"/></svg>", "<svg"):
        noticed = []
        try:
            check_svg(bad, noticed)
        except AttributeError:
            noticed = ["no viewBox"]
        assert noticed, f"the checker does not notice: {bad}"
    for bad in ("a <b> c", "| a |\n| a | b |"):
        noticed = []
        check_markdown(bad, noticed)
        assert noticed, f"the checker does not notice: {bad}"
    assert abs(contrast("#000", "#ffffff") - 21) < 0.01


def main():
    render = sys.argv[1]
    self_test()
    problems, count = [], 0

    def run(*args):
        nonlocal count
        count += 1
        done = subprocess.run([render, *args], capture_output=True, check=False)
        if done.returncode != 0:
            problems.append(f"{' '.join(args)}: exit {done.returncode} {done.stderr.decode()[-300:]}")
        return done.stdout.decode("utf-8")

    chromium = next((b for b in map(shutil.which, browser.BROWSERS) if b), None)
    print("" if chromium else "no Chromium here: pages are checked as they are before their scripts run")
    for tree in ("full", "hostile"):
        found = []
        text = run(tree, "html")
        page = check_structure(text, found)
        if len(page.scripts) != 4 or len(re.findall(r"<script", text)) != 4:
            found.append("a script that the writer did not mean")
        if chromium:
            with tempfile.TemporaryDirectory(prefix="etp-") as tmp:
                built = check_structure(browser.built(chromium, pathlib.Path(tmp), text), found)
            if tree == "full":
                check_built(built, found)
        if tree == "full":
            check_contrast(page.styles[0], found)
            check_values(text, run("full", "csv"), found)
            if json.loads(page.scripts[1][1])["note"] != "</script>":
                found.append("the attached document did not survive")
        else:
            rows = list(csv.reader(io.StringIO(run("hostile", "csv"))))
            if not (rows[1][0].startswith("'=") and all(len(r) == 2 for r in rows)):
                found.append(f"hostile CSV: {rows[:2]}")
        problems += [f"{tree} html: {p}" for p in found]
        found = []
        check_markdown(run(tree, "md"), found)
        if any(unicode_control(c) for c in run(tree, "text")):
            found.append("a control character in text")
        if not run(tree, "ascii").isascii():
            found.append("ASCII text is not ASCII")
        problems += [f"{tree}: {p}" for p in found]
    charts = [("full", chart) for chart in CHARTS]
    charts += [("hostile", f"odd-{kind}-{rows}") for kind in range(5) for rows in range(3)]
    for tree, chart in charts:
        found = []
        text = run(tree, "svg", chart)
        check_svg(text, found)
        if tree == "full" and chart in GEOMETRY and not found:
            GEOMETRY[chart](ET.fromstring(text), SAMPLE[chart], found)
        problems += [f"{chart}.svg: {p}" for p in found]
    for problem in problems:
        print(problem)
    print(f"{count} documents read back, {len(problems)} problems")
    return 1 if problems else 0


sys.exit(main())
