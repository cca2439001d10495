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

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import browser  # noqa: E402
import pages  # noqa: E402
from checks import expect, finish, new_folder  # noqa: E402

ETPROF, ROOT = (pathlib.Path(p).resolve() for p in sys.argv[1:3])
MOST, OPERATORS = 600_000, 300
SEVERAL, EACH = 2_000_000, 15_000  # of a dozen answers; of each more
SAMPLED = 2 * 110 * OPERATORS  # what a session with sampled kernels has more: a line for each operator and arm
FIXED = r"<style>.*?</style>|<script>.*?</script>|<figure class=\"chart\">.*?</figure>"


def size(text):
    return len(text.encode())


def main():
    tmp = new_folder()
    example = ROOT / "examples/runs/image_encoder_int8_qemu"
    dumps = []
    for dump in sorted(example.glob("linux_sme2_o*/*.etdump")):  # recorded twice, so that times have intervals
        dumps += [tmp / dump.name, tmp / (dump.stem + "_b2.etdump")]
        for copy in dumps[-2:]:
            shutil.copy(dump, copy)
    check(dumps)
    several(tmp)
    finish("the page is as small as it should be")


def parts_of(page):
    """Of each answer its blocks, by its id."""
    found, one = {}, None
    for b in pages.blocks(page):
        if b["kind"] == "section" and b["level"] == 1 and not b.get("inner"):
            one = found.setdefault(b["id"], []) if b.get("part") else None
        if one is not None:
            one.append(b)
    return found


def sections(part):
    """Titles of its sections, with the kinds of pictures and tables in each, the rows of the tables, and whether it
    says that something is left out."""
    told = []
    for b in part:
        if b["kind"] == "section" and b["level"] == 2:
            told.append((b["text"], [], [], []))
        elif told and b["kind"] in ("table", "placed", "picture"):
            told[-1][1].append(b["kind"])
            told[-1][2].extend("|".join(map(pages.shown, r["cells"])) for r in b.get("rows", []))
        if told and (b["kind"] == "left" or "of" in b and b["kind"] == "table"):
            told[-1][3].append(b)
    return [(title, kinds, rows, bool(left)) for title, kinds, rows, left in told]


def several(tmp):
    example = tmp / "example"
    shutil.copytree(ROOT / "examples/runs/image_encoder_int8_qemu", example)
    manifest = example / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"emulated": true', '"emulated": false'))

    def page(n):
        return subprocess.run([ETPROF, "analyze", *["example"] * n, "--format", "html"], cwd=tmp, check=True,
                              timeout=600, capture_output=True, text=True).stdout

    made = {n: page(n) for n in (2, 12, 40)}
    print("bytes of several answers:", {n: size(text) for n, text in made.items()})
    expect(not any(is_left(b) for b in pages.blocks(made[2])), "of two answers nothing is left out")
    expect(size(made[12]) <= SEVERAL, "a dozen answers", size(made[12]))
    expect(size(made[40]) <= SEVERAL + 28 * EACH, "forty answers", size(made[40]))
    whole = sections(next(iter(parts_of(made[2]).values())))
    expect(len(whole) > 8, "sections of an answer", [w[0] for w in whole])
    for n in (12, 40):
        parts = parts_of(made[n])
        expect(len(parts) == n, "answers", len(parts), n)
        for name, part in parts.items():
            told = sections(part)
            expect([t[0] for t in told] == [w[0] for w in whole], name, "has every section", [t[0] for t in told])
            for (title, figures, rows, left), (_, all_figures, all_rows, _) in zip(told, whole):
                less = len(figures) < len(all_figures) or len(rows) < len(all_rows)
                expect(left == less, n, name, title, "says that something is left out", left, figures, all_figures)
                expect(set(rows) <= set(all_rows), n, name, title, "has rows of another answer")
                if figures == all_figures == ["table"]:
                    expect(rows[:5] == all_rows[:5], n, name, title, "begins as the whole does")
        told = pages.document(made[n])
        drawers = len(pages.drawers(made[n]))
        expect(told["answers"] == n and drawers == told["details"] - told["details_left_out"] and
               (drawers < told["details"]) == (n > 12), n,
               "details", drawers, told["details"])
    command = shlex.split(parts_of(made[12])["run-12"][0]["command"])
    for n in (12, 40):
        said_short(tmp, n, made[n])
    expect(command[:1] == ["etprof"], "a command", command)
    subprocess.run([ETPROF, *command[1:]], cwd=tmp, check=True, timeout=600, capture_output=True)
    alone = (tmp / "answer.html").read_text()
    expect(not any(is_left(b) for b in pages.blocks(alone)) and
           sum(name.startswith("op") for name in pages.drawers(alone)) == 194, "the command shows all of it")


def is_left(block):
    return block["kind"] == "left" or block["kind"] == "table" and "of" in block


def said_short(tmp, n, page):
    """Each answer says that it is short, with the command that shows all of it, and no link leads nowhere."""
    chromium = next((b for b in map(shutil.which, browser.BROWSERS) if b), None)
    if not chromium:
        print("no Chromium here: what the page says of what it left out is not read")
        return
    text = browser.built(chromium, tmp, page)
    said = re.findall(r'<div class="short"><p>This page has (\d+) answers.*?<code>(.*?)</code>', text, re.S)
    expect(len(said) == n and all(k == str(n) and "etprof" in code for k, code in said), n, "each says it is short",
           said[:2])
    text = re.sub(r"<script.*?</script>", "", text, flags=re.S)
    lost = set(re.findall(r'href="#([^"]+)', text)) - set(re.findall(r' id="([^"]+)"', text))
    expect(not lost, n, "links that lead nowhere", sorted(lost)[:3])
    expect((re.search(r"it has \d+ of \d+ details", text) is not None) == (n > 12), n, "details left out are counted")


def check(dumps):
    operands = [*dumps, "--pte", ROOT / "examples/models/image_encoder_xnnpack_int8.pte"]
    made = {form: subprocess.run([ETPROF, "analyze", *operands, "--format", form, "--full"], check=True, timeout=600,
                                 capture_output=True, text=True).stdout for form in ("html", "json")}
    document, page = json.loads(made["json"]), made["html"]
    operators = len(document["operators"])
    expect(len(document["arms"]) == 2 and operators > 150, "two arms of many operators", dumps, operators)
    kinds = {b.get("picture") for b in pages.blocks(page)}
    expect({"graph", "spans"} <= kinds and 'id="whatif-data"' in page, "the page has them", kinds)
    expect(sum(n.startswith("op") for n in pages.drawers(page)) == operators, "a drawer for each operator")
    fixed = sum(map(size, re.findall(FIXED, page, re.S)))
    whole = fixed + (size(page) - fixed) * OPERATORS / operators + SAMPLED
    expect(whole <= MOST, f"{whole:.0f} bytes for {OPERATORS} operators, at most {MOST}; of {operators}: {size(page)}",
           "of them fixed:", fixed)
    print(f"{whole / 1000:.0f} kB for {OPERATORS} operators, of them {fixed / 1000:.0f} kB whatever the operators are")


if __name__ == "__main__":
    main()
