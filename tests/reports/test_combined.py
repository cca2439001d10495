# SPDX-License-Identifier: Apache-2.0
"""One report over several folders, as typed: `etprof analyze A B …` and the kit's generate_combined_report.py and
generate_report.py. The figures are held by unit.answer_insights. usage: test_combined.py ETPROF"""
import csv
import hashlib
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import expect, finish, new_folder

ROOT = pathlib.Path(__file__).resolve().parents[2]
ETPROF = str(pathlib.Path(sys.argv[1]).resolve())


def run(cwd, *words, code=0, program=(ETPROF,)):
    done = subprocess.run([*program, *map(str, words)], cwd=cwd, capture_output=True, text=True, timeout=600,
                          check=False,
                          env={**os.environ, "ETPROF": ETPROF})
    expect(done.returncode == code, f"{words}: exit code {done.returncode}, not {code}: {done.stderr}")
    return done


def combined(cwd, *words, code=0):
    return run(cwd, "analyze", "--combined", *words, code=code)


def tree(folder):
    return {str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest()
            for p in sorted(folder.rglob("*")) if p.is_file()}


def formats(tmp):
    before = tree(tmp)
    answer = json.loads(combined(tmp, "runs/mac", "runs/android", "qemu", "--format", "json").stdout)
    expect(answer["schema"] == "etprof.combined/1", "the document's name")
    expect([r["run"] for r in answer["runs"]] == ["mac", "android", "image_encoder_xnnpack_int8"], "the runs' names")
    for entry, folder in zip(answer["runs"], ("runs/mac", "runs/android", "qemu")):
        alone = json.loads(run(tmp, "analyze", folder, "--format", "json").stdout)
        expect(entry["answer"] == alone, f"{folder} says what it says alone")
    expect(any("emulator" in n for n in answer["notes"]), "an emulator is said to be one")
    expect(any("recordings alone" in n for n in answer["notes"]), "what dumps do not say is said")
    expect(not any("different models" in n for n in answer["notes"]), "nobody knows whether the models differ")
    md = combined(tmp, "runs/mac", "runs/android", "qemu", "--format", "md", "--title", "Three places").stdout
    expect(md.startswith("# Three places\n"), "--title")
    for section in ("Runs", "Latency", "Where the time goes", "Bottlenecks", "Portable against delegated",
                    "Kernel insights", "Next fixes", "Evidence"):
        expect(f"\n## {section}\n" in md, f"section {section}")
    for words in ("Latency Comparison", "Operator Category Breakdown", "Config File"):
        expect(words in md, f"{words}, which the kit's documents look for")
    page = combined(tmp, "runs/mac", "runs/android", "--format", "html").stdout
    expect(page.startswith("<!doctype html>") or page.lower().startswith("<!doctype html>"), "a page")
    expect(page.count("Method::execute") >= 2 and "http://" not in page.replace("http://www.w3.org", ""), "by itself")
    table = list(csv.DictReader(io.StringIO(combined(tmp, "runs/mac", "runs/android", "--format", "csv").stdout)))
    expect([r["run"] for r in table] == ["mac", "mac", "android", "android"], f"the table of latencies: {table}")
    for row, arm in zip(table, [a for r in answer["runs"][:2] for a in r["answer"]["arms"]]):
        expect(row["experiment"] == arm["name"] and row["untraced_ns"] == "", "no untraced latency in dumps")
        expect(int(row["etdump_mean_ns"]) == arm["traced_ns"], "the ETDump's latency")
    text = combined(tmp, "runs/mac", "runs/android").stdout
    expect(max(map(len, text.splitlines())) <= 100, "text fits")
    expect(tree(tmp) == before, "nothing was written anywhere")


def names(tmp):
    """Runs of one model, processor and date are called by their folders, in every format."""
    for place in ("monday", "tuesday", "phone/monday"):
        shutil.copytree(tmp / "qemu", tmp / place)
    for folders, want in ((("monday", "tuesday"), ["monday", "tuesday"]),
                          (("tuesday", "./monday/", "phone/monday"), ["tuesday", "monday", "phone/monday"]),
                          (("monday", "monday"), ["linux, run 1", "linux, run 2"])):
        said = json.loads(combined(tmp, *folders, "--format", "json").stdout)["runs"]
        expect([r["run"] for r in said] == want, folders, [r["run"] for r in said], want)
        text = combined(tmp, *folders).stdout
        expect("~" not in text and want[0] in text, folders, "in the text")


def bad_input(tmp):
    expect("nowhere" in combined(tmp, "runs/mac", "nowhere", code=5).stderr, "a missing folder is named")
    (tmp / "nothing").mkdir()
    expect("nothing" in combined(tmp, "runs/mac", "nothing", code=2).stderr, "an empty folder is named")
    expect("analyze" in run(tmp, "analyze", "runs/mac", "--renew", code=2).stderr, "dumps alone: what to do instead")
    expect("--title" in combined(tmp, "qemu", "runs/mac", "--titel", "x", code=2).stderr, "a typo")
    combined(tmp, "runs/mac", "runs/android", "--baseline", "nobody", code=2)
    for words in (("--renew",), ("--proof",), ("--phase", "decode"), ("--out", "t")):
        expect(words[0] in run(tmp, "analyze", "qemu", "runs/mac", *words, code=2).stderr, words, "of one folder")


def endings(tmp):
    """The ending of --output is the format, unless --format names another."""
    for name, words, begin in (("a.html", (), "<!doctype html>"), ("a.json", (), "{"), ("a.md", (), "# "),
                               ("a.csv", (), "id,label"), ("b.html", ("--format", "md"), "# "), ("a.txt", (), "image")):
        run(tmp, "analyze", "qemu", *words, "-o", name)
        text = (tmp / name).read_text()
        expect(text.lower().startswith(begin), name, words, text[:80])


def seeds(tmp):
    def entry(name, *words, code=0):
        return run(tmp, *words, code=code, program=(sys.executable, str(ROOT / f"model_profiling/scripts/{name}.py")))

    entry("generate_combined_report", "--mac-dir", "runs/mac", "--android-dir", "runs/android")
    md = (tmp / "runs/combined_report.md").read_text()  # where the kit puts it
    expect("\n2 runs: mac, android\n" in md, "both platforms")
    done = entry("generate_combined_report", "--mac-dir", "qemu", "--android-dir", "absent", "--out", "one.md",
                 "--model-name", "My model")
    expect("absent is not there" in done.stderr, "an absent platform is said to be absent")
    md = (tmp / "one.md").read_text()
    expect(md.startswith("# My model\n") and "android" not in md, "only what is there is a platform")
    entry("generate_combined_report", "--mac-dir", "no", "--android-dir", "neither", code=5)
    entry("generate_report", "--run-dir", "qemu", "--title", "Ours", "--out", "ours.md")
    expect((tmp / "ours.md").read_text().startswith("# Ours\n"), "the title of a base report")
    expect((tmp / "qemu/report.md").read_text().startswith("# image"), "not of the folder's own")
    expect("--title goes with --out" in entry("generate_report", "--run-dir", "qemu", "--title", "Ours").stderr, "said")
    run(tmp, "verify", "qemu")


def main(tmp):
    for name, pair in {"mac": ("mixed_xnnpack_fp32", "mixed_xnnpack_fp32_load"),
                       "android": ("linear_xnnpack_fp32", "linear_portable_fp32")}.items():
        (tmp / "runs" / name).mkdir(parents=True)
        for stem in pair:
            shutil.copy(ROOT / f"tests/data/{stem}.etdump", tmp / "runs" / name)
    shutil.copytree(ROOT / "examples/runs/image_encoder_int8_qemu", tmp / "qemu")
    formats(tmp)
    names(tmp)
    bad_input(tmp)
    endings(tmp)
    seeds(tmp)


scratch = new_folder()
main(scratch)
finish("combined in text, Markdown, HTML, CSV and JSON; entries of the kit; nothing was written unasked")
