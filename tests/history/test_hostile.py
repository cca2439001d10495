# SPDX-License-Identifier: Apache-2.0
"""etprof history over folders that somebody else made: what cannot be read is a row of errors, whatever a text is it
stays a text, nothing outside is reached.

usage: test_hostile.py ETPROF FAKE_RUNNER"""
import hashlib
import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import phase_folders
from asked import ETPROF, document, history, need_duckdb
from checks import ended, expect, finish, new_folder

need_duckdb()
EVIL = ["'; DROP TABLE sessions; --", '"; SELECT * FROM read_text(\'/etc/passwd\'); --', "$model", ":model", "%s{x}",
        "a\u0000b", "\u001b[2J\u001b]0;x\u0007", "<script>alert(1)</script>", "=cmd|' /C calc'!A0", "\u202egnp.exe",
        "x" * 5000, "[*", "|a|b|", "\\"]


def make(folder, n, **more):
    return phase_folders.make(folder, lambda p, level, t, m: {"avx2": 1000000, "sse": 2000000}[level], phases=(),
                              dumps=False, at=f"2026-10-{n + 1:02d}T09:00:00Z", **more)


def report_of(folder):
    subprocess.run([ETPROF, "analyze", "--renew", folder], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)


def change(folder, edit):
    """EDIT of the manifest, and of the report; derived.json says that they belong together."""
    derived = json.loads((folder / "derived.json").read_text())
    for name in ("manifest.json", "report.json"):
        value = json.loads((folder / name).read_text())
        edit(name, value)
        text = json.dumps(value)
        (folder / name).write_text(text)
        sha = hashlib.sha256(text.encode()).hexdigest()
        if name == "manifest.json":
            derived["manifest_sha256"] = sha
        else:
            next(f for f in derived["files"] if f["path"] == name)["sha256"] = sha
    (folder / "derived.json").write_text(json.dumps(derived))


def unread(tmp):
    for n in range(3):
        make(tmp / f"nightly/sound{n}", n)
    torn = make(tmp / "nightly/torn", 3) / "manifest.json"
    torn.write_bytes(torn.read_bytes()[:-100])
    half = make(tmp / "nightly/half", 4) # a copy that broke off
    (half / "samples.csv").unlink()
    binary = make(tmp / "nightly/binary", 5) / "manifest.json"
    binary.write_bytes(binary.read_bytes() + b"\xff\xfe")
    outside = make(tmp / "outside", 6) / "manifest.json"
    link = make(tmp / "nightly/link", 6) / "manifest.json"
    link.unlink()
    link.symlink_to(outside)
    (tmp / "nightly/up").symlink_to(tmp / "nightly")
    told = document(tmp, "nightly")
    expect(len(told["runs"]) == 3, len(told["runs"]))
    bad = {pathlib.Path(e["run"]).name: e for e in told["errors"]}
    expect(sorted(bad) == ["binary", "half", "link", "torn"], told["errors"])
    expect(bad["binary"]["at_byte"] and all(e["message"] for e in bad.values()), bad)
    done = history(tmp, "nightly")
    expect(done.returncode == 0 and "What could not be read" in done.stdout and "4 folders could not be read" in
           done.stdout and done.stderr.count("not read   ") == 4, done.stdout, done.stderr)
    (tmp / "only").mkdir()
    os.rename(tmp / "nightly/torn", tmp / "only/torn")
    ended(history(tmp, "only"), 4, says="torn")


def fifo(tmp):
    folder = make(tmp / "fifo/run", 0)
    (folder / "report.json").unlink(missing_ok=True)
    os.mkfifo(folder / "report.json")
    os.mkfifo(folder / "derived.json")
    make(tmp / "fifo/sound", 1)
    told = document(tmp, "fifo")
    expect(len(told["runs"]) + len(told["errors"]) == 2, told["errors"])


def texts(tmp):
    """Every text of a manifest and a report, one after the other, in every form."""
    for i, text in enumerate(EVIL):
        folder = make(tmp / f"texts/{i}", i)
        report_of(folder)

        def edit(name, value, text=text):
            if name == "manifest.json":
                value["models"][0]["stem"] = value["device"]["spec"] = value["tool"]["version"] = text
                value["device"]["facts"]["cpu"] = value["executorch"]["version"] = text
                for arm in value["plan"]["arms"]:
                    arm["name"] += text
            else:
                for arm in value["arms"]:
                    arm["name"] += text
                for c in value["comparisons"]:
                    c["candidate"] += text
                    c["baseline"] += text
        change(folder, edit)
    told = document(tmp, "list", "texts")
    expect(len(told["sessions"]) == len(EVIL), len(told["sessions"]), told.get("errors"))
    found = {s["device"] for s in told["sessions"]}
    expect(found == set(EVIL), "texts are what they were", sorted(set(EVIL) ^ found))
    for text in EVIL[:5] + EVIL[7:]:
        one = document(tmp, "list", "texts", "--on", text)["sessions"]
        expect([s["device"] for s in one] == [text], "--on", text, len(one))
        one = document(tmp, "texts", f"--of={text}", f"--on={text}")
        expect(len(one["runs"]) == 1 and one["runs"][0]["attributes"][-1]["value"] == text, "--of", text)
        for form in ("text", "md", "csv"):
            shown = history(tmp, "texts", "--on", text, "--format", form).stdout
            controls = [ch for ch in shown if not ch.isprintable() and ch != "\n"]
            expect(shown and not controls, form, text, controls[:5])
            expect(form != "csv" or not shown.startswith("=") and ",=" not in shown, form, "a formula", shown[:300])
    for form in ("text", "md", "csv"):
        shown = history(tmp, "list", "texts", "--format", form).stdout
        expect("\x1b" not in shown and "\u202e" not in shown and "\x00" not in shown, "list", form)
    ended(history(tmp, "texts", "--since", "' OR 1=1 --"), 2, 4)
    ended(history(tmp, "texts", "--of", "x' OR '1'='1"), 4, says="no finished session")


def shapes(tmp):
    """Documents with hashes in order and members of other types: no row with a figure that is none."""
    def set_to(name, key, to):
        def edit(which, value):
            if which == name:
                at = value
                for k in key[:-1]:
                    at = at[k]
                at[key[-1]] = to
        return edit

    cases = [("report.json", ("arms",), None), ("report.json", ("arms",), {"a": 1}),
             ("report.json", ("arms",), [7, [], None]),
             ("report.json", ("arms", 0, "median_ns"), "many"), ("report.json", ("arms", 0, "median_ns"), -5),
             ("report.json", ("arms", 0, "median_ns"), 2**70), ("report.json", ("arms", 0, "name"), ["x"]),
             ("report.json", ("comparisons",), [{}]), ("report.json", ("comparisons", 0, "speedup"), 3),
             ("report.json", ("phases",), [{"document": {"arms": "x"}}, 3]), ("report.json", ("schema",), "x"),
             ("manifest.json", ("plan",), None), ("manifest.json", ("models",), []),
             ("manifest.json", ("plan", "arms", 0, "model"), 2**40),
             ("manifest.json", ("plan", "arms", 0, "model"), -3),
             ("manifest.json", ("generated_at",), 7), ("manifest.json", ("device",), []),
             ("manifest.json", ("plan", "baseline"), "x")]
    for i, (name, key, to) in enumerate(cases):
        folder = make(tmp / f"shapes/{i:02}", i)
        report_of(folder)
        change(folder, set_to(name, key, to))
        done = history(tmp, f"shapes/{i:02}", "--format", "json")
        expect(done.returncode in (0, 4) and "Traceback" not in done.stderr, name, key, to, done)
        if done.returncode == 0:
            told = json.loads(done.stdout)
            values = [v for s in told["series"] for v in s["values"] if v is not None]
            expect(set(values) <= {1000000, 2000000, 2}, name, key, to, values)
    make(tmp / "shapes/sound", 27)
    told = document(tmp, "shapes")
    expect(len(told["runs"]) + told["left_out"] + len(told["errors"]) == len(cases) + 1, len(told["runs"]),
           told["left_out"], told["errors"])


for part in (unread, fifo, texts, shapes):
    name = new_folder()
    part(name)
finish("texts are texts, and what cannot be read is told")
