# SPDX-License-Identifier: Apache-2.0
"""How many bytes the page has: at most 600 kB for 300 operators of two arms, with graph, what-if and drawers.

The example's recordings have 194 operators; what grows with the operators is scaled up to 300, what does not (style,
scripts, charts, text) stays. Of several answers: at most 2 MB for a dozen, and what is left out of them is said where
it would stand, with the command that shows it.

usage: test_page_size.py ETPROF SOURCE_ROOT"""
import json
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import expect, finish  # noqa: E402

ETPROF, ROOT = (pathlib.Path(p).resolve() for p in sys.argv[1:3])
MOST, OPERATORS = 600_000, 300
SEVERAL, EACH = 2_000_000, 15_000  # of a dozen answers; of each more
SAMPLED = 2 * 110 * OPERATORS  # what a session with sampled kernels has more: a line for each operator and arm
FIXED = (r"<style>.*?</style>|<script>.*?</script>|<script[^>]*etprof-data.*?</script>|"
         r"<figure class=\"chart\">.*?</figure>")


def size(text):
    return len(text.encode())


def main():
    with tempfile.TemporaryDirectory(prefix="etp-") as tmp:
        example = ROOT / "examples/runs/image_encoder_int8_qemu"
        dumps = []
        for dump in sorted(example.glob("linux_sme2_o*/*.etdump")):  # recorded twice, so that times have intervals
            dumps += [pathlib.Path(tmp) / dump.name, pathlib.Path(tmp) / (dump.stem + "_b2.etdump")]
            for copy in dumps[-2:]:
                shutil.copy(dump, copy)
        check(dumps)
        several(pathlib.Path(tmp))
    finish("the page is as small as it should be")


def parts_of(page):
    """Of each answer its text, by its id."""
    found = re.findall(r'<section class="part">\s*<h2 id="([^"]+)">(.*?)(?=<section class="part">|<section>\s*<h2)',
                       page, re.S)
    return dict(found)


def sections(part):
    """Titles of its sections, with the pictures and tables in each and the rows of the tables."""
    pieces = re.split(r'<h3 id="[^"]*">', part)[1:]
    return [(one.partition("</h3>")[0], re.findall(r'<figure class="(?=(\w+))|<script', one),
             re.findall(r"<tr><th.*?</tr>", one, re.S), 'class="left"' in one) for one in pieces]


def plain(text):
    return re.sub(r"<[^>]*>", "", text)


def several(tmp):
    example = tmp / "example"
    shutil.copytree(ROOT / "examples/runs/image_encoder_int8_qemu", example)
    manifest = example / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"emulated": true', '"emulated": false'))

    def page(n):
        return subprocess.run([ETPROF, "analyze", *["example"] * n, "--format", "html"], cwd=tmp, check=True,
                              timeout=600, capture_output=True, text=True).stdout

    pages = {n: page(n) for n in (2, 12, 40)}
    print("bytes of several answers:", {n: size(text) for n, text in pages.items()})
    expect('class="left"' not in pages[2] and 'class="short"' not in pages[2], "of two answers nothing is left out")
    expect(size(pages[12]) <= SEVERAL, "a dozen answers", size(pages[12]))
    expect(size(pages[40]) <= SEVERAL + 28 * EACH, "forty answers", size(pages[40]))
    whole = sections(next(iter(parts_of(pages[2]).values())))
    expect(len(whole) > 8, "sections of an answer", [w[0] for w in whole])
    for n in (12, 40):
        parts = parts_of(pages[n])
        expect(len(parts) == n, "answers", len(parts), n)
        for name, part in parts.items():
            told = sections(part)
            expect([t[0] for t in told] == [w[0] for w in whole], name, "has every section", [t[0] for t in told])
            for (title, figures, rows, left), (_, all_figures, all_rows, _) in zip(told, whole):
                less = len(figures) < len(all_figures) or len(rows) < len(all_rows)
                expect(left == less, n, name, title, "says that something is left out", left, figures, all_figures)
                kept = set(map(plain, rows))
                expect(kept <= set(map(plain, all_rows)), n, name, title, "has rows of another answer")
                if figures == all_figures == ["table"]:
                    begins = [[plain(r) for r in some[:5]] for some in (rows, all_rows)]
                    expect(begins[0] == begins[1], n, name, title, "begins as the whole does")
            said = re.search(r'<div class="short"><p>This page has (\d+) answers.*?<code>(.*?)</code>', part, re.S)
            expect(said and said.group(1) == str(n), name, "says that it is short, and how to see the rest")
        text = re.sub(r"<script>.*?</script>", "", pages[n], flags=re.S)
        lost = set(re.findall(r'href="?#([^ ">]+)', text)) - set(re.findall(r' id="([^"]+)"', text))
        expect(not lost, n, "links that lead nowhere", sorted(lost)[:3])
        details = re.search(r"it has (\d+) of (\d+) details", pages[n])
        drawers = pages[n].count('class="drawer"')
        expect(details is None or int(details.group(1)) == drawers < int(details.group(2)), n, "details", drawers)
    command = shlex.split(plain(said.group(2))) if said else []
    expect(command[:1] == ["etprof"], "a command", command)
    if not command:
        return
    subprocess.run([ETPROF, *command[1:]], cwd=tmp, check=True, timeout=600, capture_output=True)
    alone = (tmp / "answer.html").read_text()
    expect('class="left"' not in alone and alone.count('class="drawer" id="op') == 194, "the command shows all of it")


def check(dumps):
    operands = [*dumps, "--pte", ROOT / "examples/models/image_encoder_xnnpack_int8.pte"]
    made = {form: subprocess.run([ETPROF, "analyze", *operands, "--format", form, "--full"], check=True, timeout=600,
                                 capture_output=True, text=True).stdout for form in ("html", "json")}
    document, page = json.loads(made["json"]), made["html"]
    operators = len(document["operators"])
    expect(len(document["arms"]) == 2 and operators > 150, "two arms of many operators", dumps, operators)
    for part in ('"picture":"graph"', '"picture":"spans"', 'id="whatif"'):
        expect(part in page, "the page has", part)
    expect(page.count('class="drawer" id="op') == operators, "a drawer for each operator")
    fixed = sum(map(size, re.findall(FIXED, page, re.S)))
    whole = fixed + (size(page) - fixed) * OPERATORS / operators + SAMPLED
    expect(whole <= MOST, f"{whole:.0f} bytes for {OPERATORS} operators, at most {MOST}; of {operators}: {size(page)}",
           "of them fixed:", fixed)
    print(f"{whole / 1000:.0f} kB for {OPERATORS} operators, of them {fixed / 1000:.0f} kB whatever the operators are")


if __name__ == "__main__":
    main()
