# SPDX-License-Identifier: Apache-2.0
"""The page on paper: a browser prints it to PDF, and the text of the PDF still has the head of every table and the name
of every row. A table over several sheets has its head on each, no word stands outside the sheet, and no sheet is blank.

usage: test_print.py ETPROF SOURCE_ROOT"""
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import pages
from checks import expect, finish, new_folder, skip

ETPROF, ROOT = (pathlib.Path(p).resolve() for p in sys.argv[1:3])
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def words(text):
    """Letters and digits alone: a PDF breaks lines where the page does not."""
    return "".join(c for c in text if c.isalnum())


def print_page(browser, tmp, page):
    """Text of each sheet, as it is and with the place of each word: (width of the sheet, [right end, …])."""
    (tmp / "page.html").write_text(page)
    subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp / 'profile'}",
                    "--no-pdf-header-footer", f"--print-to-pdf={tmp / 'page.pdf'}", f"file://{tmp / 'page.html'}"],
                   capture_output=True, check=True, timeout=300, cwd=tmp)
    read = lambda *how: subprocess.run(["pdftotext", *how, tmp / "page.pdf", "-"], capture_output=True,  # noqa: E731
                                       text=True, check=True).stdout
    places = [(float(width), [float(x) for x in re.findall(r'xMax="([\d.]+)"', sheet)])
              for width, sheet in re.findall(r'<page width="([\d.]+)"(.*?)</page>', read("-bbox"), re.S)]
    return [words(sheet) for sheet in read().split("\f")], places


def names(tables):
    """Heads of columns and names of rows."""
    return {words(c["title"]) for t in tables for c in t["columns"]} - {""}, \
        {words(pages.shown(r["cells"][0])) for t in tables for r in t["rows"]} - {""}


def long_table(page, sheets):
    """The operators of a session of 194: wherever ten of its rows stand, its head stands too. The graph behind it has
    their names as well."""
    head, rows = names([next(b for b in pages.section(page, "operators") if b["kind"] == "table")])
    graph = next(k for k, sheet in enumerate(sheets) if "fromthefirsttothelast" in sheet)
    over = [sheet for sheet in sheets[:graph] if sum(row in sheet for row in rows) >= 10]
    expect(len(rows) > 150 and len(over) >= 3, "a table over several sheets", len(rows), len(over))
    for number, sheet in enumerate(over):
        lost = [h for h in head if h not in sheet]
        expect(not lost, "sheet", number, "of the table has no head", lost)


def main():
    browser = next((b for b in map(shutil.which, BROWSERS) if b), None)
    if not browser or not shutil.which("pdftotext"):
        skip("no Chromium or no pdftotext (poppler-utils) here: nobody prints the page")
    tmp = new_folder()
    with tarfile.open(ROOT / "tests/data/session.tar.xz") as archive:
        archive.extractall(tmp / "session")
    dumps = [ROOT / "tests/data" / f for f in ("mixed_xnnpack_fp32.etdump", "mixed_xnnpack_fp32_load.etdump")]
    for what in (["compare", *dumps, "--full"], ["analyze", tmp / "session"]):
        page = subprocess.run([ETPROF, *what, "--format", "html"], capture_output=True, text=True,
                              check=True).stdout
        sheets, places = print_page(browser, tmp, page)
        heads, rows = names([b for b in pages.blocks(page) if b["kind"] == "table"])
        wanted, printed = heads | rows, "".join(sheets)
        expect(len(wanted) > 20, "only", len(wanted), "heads and names of rows in the page")
        lost = sorted(t for t in wanted if t not in printed)
        expect(not lost, f"{len(lost)} of {len(wanted)} heads and names of rows are not on paper", lost[:12])
        outside = [(k + 1, max(e), width) for k, (width, e) in enumerate(places) if e and max(e) > width]
        expect(places and not outside, "words outside the sheet", outside)
        blank = [k + 1 for k, (_, ends) in enumerate(places) if not ends]  # pictures have words too
        expect(not blank, "sheets without a word, of", len(places), blank)
    long_table(page, sheets)
    finish(f"{len(wanted)} heads of columns and names of rows are on paper")


if __name__ == "__main__":
    main()
