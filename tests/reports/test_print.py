# SPDX-License-Identifier: Apache-2.0
"""The page on paper: a browser prints it to PDF, and the text of the PDF still has the head of every table and the name
of every row.

usage: test_print.py ETPROF SOURCE_ROOT"""
import html.parser
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import expect, finish, skip

ETPROF, ROOT = (pathlib.Path(p).resolve() for p in sys.argv[1:3])
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


class Headers(html.parser.HTMLParser):
    """Texts of the cells <th> of the page."""

    def __init__(self):
        super().__init__()
        self.inside, self.texts = False, []

    def handle_starttag(self, tag, attrs):
        if tag in ("th", "td"):  # whose end tags need not be written
            self.inside = tag == "th"
        if tag == "th":
            self.texts.append("")

    def handle_endtag(self, tag):
        self.inside = self.inside and tag not in ("th", "tr")

    def handle_data(self, data):
        if self.inside:
            self.texts[-1] += data


def words(text):
    """Letters and digits alone: a PDF breaks lines where the page does not."""
    return "".join(c for c in text if c.isalnum())


def main():
    browser = next((b for b in map(shutil.which, BROWSERS) if b), None)
    reader = shutil.which("pdftotext")
    if not browser or not reader:
        skip("no Chromium or no pdftotext (poppler-utils) here: nobody prints the page")
    with tempfile.TemporaryDirectory(prefix="etp-") as name:
        tmp = pathlib.Path(name)
        dumps = [ROOT / "tests/data" / f for f in ("mixed_xnnpack_fp32.etdump", "mixed_xnnpack_fp32_load.etdump")]
        page = subprocess.run([ETPROF, "compare", *dumps, "--format", "html", "--full"], capture_output=True, text=True,
                              check=True).stdout
        (tmp / "page.html").write_text(page)
        subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp / 'profile'}",
                        "--no-pdf-header-footer", f"--print-to-pdf={tmp / 'page.pdf'}", f"file://{tmp / 'page.html'}"],
                       capture_output=True, check=True, timeout=300, cwd=tmp)
        printed = words(subprocess.run([reader, tmp / "page.pdf", "-"], capture_output=True, text=True,
                                       check=True).stdout)
        headers = Headers()
        headers.feed(page)
        wanted = {words(t) for t in headers.texts} - {""}
        expect(len(wanted) > 20, "only", len(wanted), "heads and names of rows in the page")
        lost = sorted(t for t in wanted if t not in printed)
        expect(not lost, f"{len(lost)} of {len(wanted)} heads and names of rows are not on paper", lost[:12])
    finish(f"{len(wanted)} heads of columns and names of rows are on paper")


if __name__ == "__main__":
    main()
