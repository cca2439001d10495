# SPDX-License-Identifier: Apache-2.0
"""test_nothing.py ETPROF: times of 0, and differences that are none, are told as what they are: no share of nothing,
no sign before a 0, no sum without parts. All by hand: recordings of two operators that take 0 ns, and pairs that are
equal, differ by a nanosecond, or have no time on one side."""
import csv
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import pages
from checks import expect, finish, new_folder

ETPROF = str(pathlib.Path(sys.argv[1]).resolve())
COLUMNS = "model_id,name,type,delegate_backend,start_us,end_us,duration_ms,pct_total,node_id,run_index,block".split(",")
NOT_A_NUMBER = re.compile(r"\bnan\b|\binf\b", re.IGNORECASE)
SIGNED_ZERO = re.compile(r"(?<![\d.])[-+−]0(\.0+)?(?![\d.])")
NO_RATIO = re.compile(r"(?<![\d.])0\.0+×")


def recording(folder, name, conv_ns, whole_ns):
    events = [("Convolution (NHWC, F32) IGEMM #1", "delegated", conv_ns), ("DELEGATE_CALL", "portable", conv_ns),
              ("Method::execute", "portable", whole_ns)]
    path = folder / f"{name}.csv"
    with path.open("w", newline="", encoding="utf-8") as out:
        table = csv.writer(out)
        table.writerow(COLUMNS)
        for node, (event, backend, ns) in enumerate(events):
            for run in range(3):
                at = 5000 + 2000 * run
                table.writerow(["m", event, event, backend, at, at + ns / 1000, ns / 1e6, 0, node, run, "Execute"])
    return path


def said(*words):
    for form in (("text",), ("text", "--full"), ("md", "--full"), ("html",)):
        done = subprocess.run([ETPROF, *map(str, words), "--format", *form], capture_output=True, timeout=300,
                              check=False)
        expect(done.returncode == 0, words, form, done.stderr)
        text = done.stdout.decode("utf-8")
        yield form, pages.words(text) if form[0] == "html" else text


def main(tmp):
    none, some = recording(tmp, "none", 0, 0), recording(tmp, "some", 1_000_000, 2_000_000)
    same, near = recording(tmp, "same", 1_000_000, 2_000_000), recording(tmp, "near", 1_000_000, 2_000_001)
    for words in (("analyze", none), ("compare", none, same), ("compare", some, none), ("compare", none, none),
                  ("compare", some, same), ("compare", some, near)):
        for form, text in said(*words):
            for what in (NOT_A_NUMBER, SIGNED_ZERO, NO_RATIO):
                found = what.search(text)
                expect(not found, words, form, found and text[max(0, found.start() - 60):found.end() + 20])
    for form, text in said("compare", some, same):
        expect(form == ("text",) or re.search(r"why\W.*no part differs", text), form, "what a difference of 0 is of")
    for form, text in said("compare", some, near):
        expect(form == ("text",) or re.search(r"framework \+1 ns = \+1 ns", text), form, "a nanosecond")


scratch = new_folder()
main(scratch)
finish("recordings without time, and pairs without a difference")
