# SPDX-License-Identifier: Apache-2.0
"""etprof history over anybody's tables: what is a series and what an attribute, changes that were planted, what is
refused. Nothing but Python and the library is needed.

usage: test_tables.py ETPROF FAKE_RUNNER"""
import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from asked import document, history
from checks import ended, execute, expect, finish, new_folder

DATA = pathlib.Path(__file__).resolve().parents[1] / "data"


def planted(tmp):
    """24 nights of data/history.csv: 8 % more from the 16th on, with another commit and program."""
    told = document(tmp, DATA / "history.csv")
    time, speedup = told["series"]
    expect((time["name"], speedup["name"]) == ("toy_ns", "toy_speedup") and len(told["runs"]) == 24, told["series"])
    expect(told["runs"][9]["attributes"] == [{"name": "commit", "value": "c09"}, {"name": "program", "value": "aa11"},
                                             {"name": "note", "value": 'hot, "loud"'}], told["runs"][9])
    expect(speedup["values"][3] is None and speedup["changes"] == [], speedup)
    change, = time["changes"]
    before, after = time["values"][:15], time["values"][15:]
    # whole nanoseconds, ratios of six digits; t of the two segments says that p is far below 1e-6
    expect(change["run"] == 15 and change["time"] == "2026-10-16T06:00:00Z" and change["p"] < 1e-6, change)
    expect(change["before"] == round(sum(before) / 15) and change["after"] == round(sum(after) / 9), change)
    expect(change["change"] == float(f"{(sum(after) / 9) / (sum(before) / 15) - 1:.6g}"), change)
    expect(change["also_changed"] == "commit, program", change)
    expect(all(s["changes"] == [] for s in document(tmp, DATA / "history.csv", "--min-change", "20%")["series"]), "20%")
    table = history(tmp, DATA / "history.csv", "--format", "csv").stdout
    expect(table == (DATA / "history.csv").read_text(), "the table comes back", table[:300])


def full_disk(tmp):
    """The old file stays, and nothing else does."""
    out = tmp / "full.csv"
    out.write_text("what was there")
    script = 'trap "" XFSZ; ulimit -f 1; exec "$0" history "$1" --format csv -o "$2"'
    words = ["bash", "-c", script, sys.argv[1], DATA / "history.csv", out]
    ended(execute(*words), 5, says="full.csv")
    expect(out.read_text() == "what was there" and not list(tmp.glob("full.csv?*")), "a full disk", list(tmp.iterdir()))


def screen(tmp):
    lines = history(tmp, DATA / "history.csv").stdout.splitlines()
    expect(re.match(r"7\.9 % more +toy_ns since 2026-10-16 06:00$", lines[3]), "begins with the change", lines[:6])
    # two changes: the newest comes first, in figures without exponents, on days as people write them
    days = [f"2026-01-{day + 1:02d}T06:00:00Z,{(1000000, 1200000, 900000)[day // 6] + day % 3 * 1000}"
            for day in range(18)]
    (tmp / "days.csv").write_text("\n".join(["time,cycles", *days]) + "\n")
    text = history(tmp, "days.csv").stdout
    first = text.split("Changes")[0]
    expect("25.0 % less  cycles since 2026-01-13 06:00\n901000, 1201000 before" in first and "20.0 %" not in first,
           text)
    expect(re.search(r"\d[eE][+-]?\d|T06", text.replace(" 0.00", "")) is None or "e-" in text, "exponents", text)
    marks = history(tmp, "days.csv", "--format", "md").stdout
    expect(marks.startswith("# history\n") and marks.count("| cycles |") == 3, marks)
    (tmp / "few.csv").write_text("time,a\n" + "".join(f"{n},{n}\n" for n in range(5)))
    text = history(tmp, "few.csv").stdout
    expect("too few runs to find a change" in text and "with fewer than six none is found" in text, text)
    done = history(tmp, "days.csv", "--output", "out.txt")
    expect(done.stdout == "" and (tmp / "out.txt").read_text().startswith("history\n"), "--output", done)
    for environment, colored in (({"CLICOLOR_FORCE": "1"}, True), ({"CLICOLOR_FORCE": "0"}, False), ({}, False),
                                 ({"CLICOLOR_FORCE": "1", "NO_COLOR": "1"}, False)):
        text = history(tmp, DATA / "history.csv", **environment).stdout
        expect("\x1b[32m" not in text and ("\x1b[31m7.9 % more" in text) == colored, environment, text)


def columns(tmp):
    """What a number is: no word that float() takes besides."""
    rows = ["time,plain,nan,hex,under,inf,big,none,signed", "a,1,nan,0x1,1_0,inf,1e999,,+1.5e3", "b,2,1,1,1,1,1,,-.5"]
    (tmp / "kinds.csv").write_text("\n".join(rows) + "\n")
    told = document(tmp, "kinds.csv")
    found = {s["name"]: s["values"] for s in told["series"]}
    expect(found == {"plain": [1, 2], "signed": [1500, -0.5]}, found)
    expect([a["name"] for a in told["runs"][0]["attributes"]] == ["nan", "hex", "under", "inf", "big", "none"], told)


def refused(tmp):
    cases = {"history_no_numbers.csv": "no column of numbers beside 'time'", "history_twins.csv": "two columns are",
             "history_torn.csv": "line 3: 2 cells, the header has 3",
             "history_no_time.csv": "no column 'time' in the header"}
    for name, words in cases.items():
        done = history(tmp, DATA / name)
        expect(done.returncode == 4 and words in done.stderr and done.stdout == "", name, done)
    ended(history(tmp, DATA / "history.csv", DATA), 2, 5)
    ended(history(tmp, "nowhere"), 5, says="nowhere")
    for words in (["--min-change", "x"], ["--format", "xml"], ["--of", "m"], ["--nothing"]):
        ended(history(tmp, DATA / "history.csv", *words), 2)
    (tmp / "open.csv").write_text('time,a\nx,"1\n')
    ended(history(tmp, "open.csv"), 4, says="line")
    (tmp / "much.csv").write_text("time,a\n" + "x,1\n" * 10001)
    ended(history(tmp, "much.csv"), 4, says="10000")
    (tmp / "bytes.csv").write_bytes(b"\xef\xbb\xbftime,a\nx\xff,1\n\ny,2\n")
    expect([r["time"] for r in document(tmp, "bytes.csv")["runs"]] == ["x\ufffd", "y"], "bytes")
    expect(json.loads(history(tmp, DATA / "history_alone.csv", "--format", "json").stdout)["series"], "one column")


name = new_folder()
for part in (planted, screen, columns, refused, full_disk):
    part(name)
finish("anybody's tables")
