# SPDX-License-Identifier: Apache-2.0
"""Pages of several answers: several runs, a folder of the kit. Their figures are those that the folders were
made with, by hand; arms have one name, runs their dates and models.

usage: test_page_answers.py ETPROF SOURCE_ROOT FAKE_RUNNER RENDER_REPORT"""
import html
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import browser  # noqa: E402
import pages as blocks  # noqa: E402
from checks import expect, finish, new_folder  # noqa: E402
from test_reading import pages  # noqa: E402

TIMES = {"NEON": 3.0, "SME2": 1.0}  # ms with one thread, half of it with two (test_reading.py)


def table(session, name):
    """Heads and rows of the first table behind the heading of this id."""
    return session.run("""var t = document.querySelector('#%s').closest('section').querySelector('figure.table table');
      return [Array.from(t.tHead.rows[0].cells), Array.from(t.tBodies[0].rows).map(function (r) {
        return Array.from(r.cells); })].map(function texts(x) {
          return Array.isArray(x) ? x.map(texts) : x.textContent.trim(); });""" % name)


def cards(text):
    found = re.findall(r'<article class="card.*?</article>', text, re.S)
    return [re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", " ", c))).strip() for c in found]


def one_name(name, page, experiments):
    """Levels by their words, arms by theirs: what commands call them stands in the table of the arms and in
    commands."""
    text = page.read_text()
    plain = html.unescape(re.sub(r"<[^>]*>", " ", re.sub(r'<div class="copy">.*?</div>', "", blocks.markup(text),
                                                         flags=re.S)))
    plain += "\n".join(s for b in blocks.blocks(text) for s in blocks.strings(b)
                       if b.get("caption") not in ("Arms", "Latency Comparison") and
                       b["kind"] not in ("code", "section"))
    found = [plain[max(m.start() - 60, 0):m.end() + 30] for m in re.finditer(experiments, plain)]
    expect(not found, name, "another name of an arm or a level", len(found), found[:4])


def several(session, page):
    """Of each run its models and its date, as the folders were made."""
    session.open(page)
    heads, rows = table(session, "runs")
    at = {h.split(" ")[0]: k for k, h in enumerate(heads)}
    expect("grade" in at, "several: grade", heads)
    told = [(r[at["run"]], r[at["model"]]) for r in rows]
    expect(told == [("net_xnnpack_fp32",) * 2, ("image_encoder_xnnpack_int8",) * 2, ("m0", "m0"),
                    ("2 models", "encoder_int8, decoder")], "several: models", told)
    dates = [r[at["measured"]] for r in rows]
    expect(dates[2:] == ["2026-11-20 09:00"] * 2 and all(re.fullmatch(r"2026-11-\d\d \d\d:\d\d", d) for d in dates),
           "several: dates", dates)
    first = cards(page.read_text())
    begin = "net_xnnpack_fp32: SME2 against NEON 3.00× faster 3.00 … 3.00 95 %"
    expect(first[0].startswith(begin), "several", first[0])
    expect("NEON 12.00 ms" in first[0] and "SME2 4.00 ms" in first[0], "several: before and after", first[0])
    heads, rows = table(session, "latency-section")
    at = {h.split(" ")[0]: k for k, h in enumerate(heads)}
    arms = [(r[at["run"]], r[at["arm"]], r[at["untraced"]]) for r in rows]
    expect(len(set(arms)) == len(arms) == 19, "several: each arm once", len(set(arms)), len(arms))
    expect({a[1].split(",")[0] for a in arms} <= {"NEON", "SME2", "SME", "encoder_int8 at NEON", "encoder_int8 at SME2",
                                                  "decoder at NEON", "decoder at SME2"}, "several: short names", arms)


def kit(page):
    text = page.read_text()
    subtitle = re.search(r'<p class="subtitle">(.*?)</p>', text).group(1)
    expect(subtitle == "written 2026-01-27", "kit: its date", subtitle)  # of the recordings' summary
    first = cards(text)
    expect([re.search(r"toy, (\d threads?): android_sme2 on against off ([\d.]+×)", c).groups() for c in first] ==
           [("1 thread", "3.15×"), ("4 threads", "2.16×")], "kit: a card for each pair", first)  # 15.84 ÷ 5.03


def few_rows_of_navigation(session, made):
    """On a wide window the list of sections fills one row; with phases, roofs or several comparisons two."""
    for name, page in made.items():
        session.open(page)
        tops = session.run("""return Array.from(document.querySelectorAll('nav li')).filter(function (li) {
          return li.getClientRects().length; }).map(function (li) { return li.getBoundingClientRect().top; });""")
        most = 1 if name in ("ab", "kit", "several") else 2
        expect(len(set(tops)) <= most, name, "rows of navigation", len(set(tops)), len(tops))


def pairs_once(session, page):
    """What the cards say of the pairs of a kit's folder no table says again."""
    session.open(page)
    again = session.run("""return Array.from(document.querySelectorAll('.box > table td')).map(function (c) {
      return c.textContent; });""")
    expect(not {"3.15\u00d7", "2.16\u00d7"} & set(again[:40]), "kit: the ratios of the cards again", again[:40])


def main():
    name = new_folder()
    with browser.Session(browser.find()) as session:
        made = pages(name)
        several(session, made["several"])
        one_name("several", made["several"], r"(?<![\w/])linux_\w+(?![\w/.])|\b(?:sme2|neon)\b(?!: )")
        kit(made["kit"])
        pairs_once(session, made["kit"])
        few_rows_of_navigation(session, made)
    finish("pages of several answers say what was measured")


if __name__ == "__main__":
    main()
