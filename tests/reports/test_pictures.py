# SPDX-License-Identifier: Apache-2.0
"""What is shown around: pictures, headline, line to quote. They say what was measured, group by model and thread count
with the levels side by side, cut no label off, and give ratios within their group.
usage: test_pictures.py ETPROF FAKE_RUNNER (whose durations are exact); 77 = the part with real dumps was skipped."""
import json
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree as ET

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import pages
import phase_folders
from checks import expect, finish, new_folder

ROOT = pathlib.Path(__file__).resolve().parents[2]
ETPROF, FAKE = (str(pathlib.Path(p).resolve()) for p in sys.argv[1:3])
HOST = "mac" if sys.platform == "darwin" else "linux"


def run(cwd, *words, code=0):
    done = subprocess.run([ETPROF, *words], cwd=cwd, capture_output=True, text=True, timeout=600, check=False,
                          stdin=subprocess.DEVNULL)
    expect(done.returncode == code, " ".join(words), f"exit {done.returncode}: {done.stderr[-800:]}")
    return done


def texts(path):
    """(x, y, class, text) of every text of a picture, top down."""
    found = []
    for e in ET.parse(path).getroot().iter("{http://www.w3.org/2000/svg}text"):
        found.append((float(e.get("x")), float(e.get("y")), e.get("class") or "", "".join(e.itertext())))
    return sorted(found, key=lambda t: t[1])


def model(cwd, name, levels):
    (cwd / name).write_bytes(b"\x10\0\0\0ET12" + "".join(f"base {k} {v}000000\n" for k, v in levels.items()).encode())


def rows(path):
    """Bold texts are labels (right-aligned, left of the axis, in one or two lines), values and totals."""
    ns = "{http://www.w3.org/2000/svg}"
    labels = [e for e in ET.parse(path).getroot().iter(ns + "text")
              if "b" in (e.get("class") or "").split() and e.get("text-anchor") == "end"]
    joined, last = [], None
    for e in sorted(labels, key=lambda e: float(e.get("y"))):
        y, text = float(e.get("y")), "".join(e.itertext())
        if last is not None and y - last < 16:
            joined[-1] += " " + text
        else:
            joined.append(text)
        last = y
    return joined


def one_name_per_arm(cwd):
    """An arm that the headline calls SME2 is called so in every picture, not linux_sme2 in some."""
    run(cwd, "ab", "net_xnnpack_fp16.pte", "--levels", "sme2,neon", "--blocks", "6", "--runner", FAKE, "--out", "pair")
    page = run(cwd, "analyze", "--full", "--renew", "pair", "--format", "html").stdout
    pictures = re.findall(r"<svg.*?</svg>", page, re.S)
    said = re.findall(r"<(?:text|title|desc)\b[^>]*>([^<]*)", " ".join(pictures))
    expect(any("÷" in s for s in said) and any("block 6, NEON: 6.000 ms" in s for s in said), "every launch", said[:20])
    others = [s for s in said if HOST + "_" in s]
    expect(not others, "another name for an arm", others[:9])


def study_of_a_blog(cwd):
    """fp16 and int8, two thread counts, on and off: ratios are exact here, 3 and 6."""
    model(cwd, "net_xnnpack_fp16.pte", {"sme2": 2, "neon": 6})
    model(cwd, "net_xnnpack_int8.pte", {"sme2": 1, "neon": 6})
    run(cwd, "ab", "net_xnnpack_fp16.pte", "net_xnnpack_int8.pte", "--levels", "sme2,neon", "--threads", "1,2",
        "--blocks", "6", "--iterations", "8", "--warmup", "3", "--runner", FAKE, "--out", "study")
    picture = cwd / "study/latency_comparison.svg"
    labels = rows(picture)
    want = [f"{m} at {level}, {t}" for m in ("fp16", "int8") for t in ("1 thread", "2 threads")
            for level in ("NEON", "SME2")]
    expect(labels == want, "labels", labels)
    everything = " ".join(t for _, _, _, t in texts(picture))
    expect("…" not in everything, "nothing is cut off", everything)
    expect("net_xnnpack_fp16" in everything and "net_xnnpack_int8" in everything, "the models are named", everything)
    notes = [t for _, _, _, t in texts(picture) if re.match(r"[0-9.]+×", t)]
    expect(notes == [f"{x} [{x[:-1]}, {x[:-1]}]" for x in ("3.00×", "3.00×", "6.00×", "6.00×")],
           "ratios are within precision and thread count", notes)
    one_name_per_arm(cwd)
    # The same of a report over two run folders.
    for name in ("one", "two"):
        run(cwd, "ab", "net_xnnpack_fp16.pte", "--levels", "sme2,neon", "--blocks", "6", "--iterations", "8",
            "--warmup", "3",
            "--runner", FAKE, "--out", name)
    run(cwd, "analyze", "one", "two", "--format", "html", "-o", "both.html")
    page = (cwd / "both.html").read_text()
    begin = next(i for i, b in enumerate(pages.blocks(page)) if b.get("part"))
    both = page.split('<div class="later">')[0] + "".join(m for i, m in pages.placed(page).items() if i < begin)
    for level in ("NEON", "SME2"):  # a row of each run, in the picture for wide screens and the one for narrow ones
        expect(len(re.findall(rf"<text[^>]*>(?:[^<]*: )?{level}</text>", both)) == 4, "combined",
               f"{level} is a row of each run")


def two_models_at_one_level(cwd):
    """A level that all arms share and of which nothing was seen tells no arms apart: the models' names do."""
    times = {"net_fp32": 600000, "net_int8": 400000}
    phase_folders.make(cwd / "one_level", lambda p, level, t, m: times[m], phases=None, models=tuple(times),
                       levels=("vnni",))
    text = " ".join(run(cwd, "analyze", "one_level").stdout.split())
    expect("int8 is 1.50× faster than fp32" in text and " at level" not in text, "two models at one level", text[:900])


def two_models(cwd):
    """Two models at two levels: a level is answered within each model (3 and 4) and precisions at one level (1.5); all
    are named, and the table says which two arms it is of. `compare` of the two arms is another way to the same."""
    times = {"net_fp32": {"avx2": 200000, "sse": [600000, 618000]},
             "net_int8": {"avx2": 100000, "sse": [400000, 412000]}}
    phase_folders.make(cwd / "grid", lambda p, level, t, m: times[m][level], phases=None, models=tuple(times),
                        outputs=True)
    text = " ".join(run(cwd, "analyze", "--renew", "grid").stdout.split())
    for pair in ("fp32 at AVX2 is 3.04× faster than fp32 at SSE", "int8 at AVX2 is 4.06× faster than int8 at SSE",
                 "int8 at SSE is 1.50× faster than fp32 at SSE"):
        expect(pair in text, "two models", pair, text[:900])
    full = " ".join(run(cwd, "analyze", "grid", "--full").stdout.split())
    ruled, rest = full.split(" ruled out ")[1:3]
    expect("wrong outputs" not in ruled and "programs are not compared with each other" in rest and
           "? outputs agree within each program" in text and
           " outputs agree within each program (" in full, "two models", "outputs", ruled, rest[:300], text[-400:])
    expect("Where it came from: fp32 at SSE to fp32 at AVX2" in text, "two models", "of which pair is the table?", text)
    said = [" ".join(run(cwd, "compare", *(f"grid:{m}_linux_{level}" for level in ("sse", "avx2"))).stdout.split())
            for m in times]
    intervals = [re.search(r"95 % (\[[^]]*\])", s).group(1) for s in said]
    one, = json.loads((cwd / "grid/report.json").read_text())["within"]
    pair = [f"grid:net_int8_linux_{level}" for level in ("sse", "avx2")]
    same, = json.loads(run(cwd, "compare", *pair, "--format", "json").stdout)["comparisons"]
    for key in ("baseline", "candidate", "speedup", "verdict"):
        expect(one[key] == same[key], "two models", key, one[key], same[key])
    for rules in (("speedup >= 1.0001",), ()): # a gate asks of it too
        gate = run(cwd, "gate", "grid", *rules, "--format", "json")
        check, = [c for c in json.loads(gate.stdout)["checks"] if " against " in c["id"]]
        outputs, = [c["found"] for c in json.loads(gate.stdout)["checks"] if c["id"] == "outputs"]
        expect(outputs == "agree within each program", "two models", "gate", outputs)
        expect(check["id"].endswith(f":{one['candidate']} against {one['baseline']}") and
               f"{one['speedup']['estimate']:.2f}×" in check["found"], "two models", "gate", check, one)
    page = (cwd / "grid/report.html").read_text()
    expect("<title>net_fp32, net_int8" in page and "<h1>net_fp32, net_int8</h1>" in page, "two models", "the title")
    found = [t for _, _, _, t in texts(cwd / "grid/latency_comparison.svg") if re.match(r"[0-9.]+×", t)]
    expect(found == [f"{x} {ci}" for x, ci in zip(("3.04×", "4.06×"), intervals)], "two models", found, intervals)
    pictures = [f"<figcaption>{title}<" for title in ("Latency of one inference", "One inference by operator category")]
    at = [page.find(words) for words in (">int8 at AVX2 against int8 at SSE<", *pictures, ">What to do next</h2>")]
    expect(at == sorted(at) and at[0] > 0, "two models", "the two pictures come first", at)
    expect(all(page.count(picture) == 1 for picture in pictures), "two models", "a picture twice")


def names_of_wishes(cwd):
    """Experiments that say SME2 where SME without SME2 ran."""
    model(cwd, "net_xnnpack_fp16.pte", {"sme1": 2, "neon": 6})
    (cwd / "wish.json").write_text(json.dumps({"model": "net_xnnpack_fp16.pte", "output_root": "wish", "blocks": 6,
                                               "experiments": [
        {"name": f"{HOST}_sme2_on", "level": "sme1", "runs": 8, "warmup": 3},
        {"name": f"{HOST}_sme2_off", "level": "neon", "runs": 8, "warmup": 3}]}))
    text = run(cwd, "run", "wish.json", "--runner", FAKE).stdout
    note = "was measured at SME, not at SME2"
    html = re.sub(r"<[^>]+>", "", (cwd / "wish/report.html").read_text())
    stem = "net_xnnpack_fp16_pipeline_summary"
    forms = {"text": " ".join(text.split()), "html": html, "md": (cwd / "wish/report.md").read_text(),
             "json": (cwd / "wish/report.json").read_text(), "summary.md": (cwd / f"wish/{stem}.md").read_text(),
             "summary.json": (cwd / f"wish/{stem}.json").read_text()}
    for form, content in forms.items():
        expect(note in content.replace("\\", ""), form, "has the note")
    finding = [f for f in json.loads(forms["json"])["findings"] if note in f["text"]]
    expect(len(finding) == 1, "one finding", finding)
    expect("SME is 3.00× faster than NEON" in forms["text"] and "SME against NEON" in forms["summary.md"],
           "the headline is of what ran", text[:400])
    quote = forms["md"].split("The line to quote")[1].split("```")[1]
    expect("SME against NEON" in quote and "sme2" not in quote.lower() and "net_xnnpack_fp16" in quote,
           "the line to quote", quote)
    picture = " ".join(t for _, _, _, t in texts(cwd / "wish/latency_comparison.svg"))
    expect("sme2" not in picture.lower() and "NEON" in picture and "net_xnnpack_fp16" in picture, "the picture",
           picture)
    # True names are no finding.
    model(cwd, "net_xnnpack_fp16.pte", {"sme2": 2, "neon": 6})
    run(cwd, "ab", "net_xnnpack_fp16.pte", "--levels", "sme2,neon", "--blocks", "6", "--iterations", "8", "--runner",
        FAKE,
        "--out", "true")
    found = json.loads((cwd / "true/report.json").read_text())["findings"]
    expect(not any("was measured at" in f["text"] for f in found), "true names", found)


def threads_of_a_config(cwd):
    """Several thread counts in a config: each is compared with the same count."""
    model(cwd, "net_xnnpack_fp16.pte", {"sme2": 2, "neon": 6})
    (cwd / "threads.json").write_text(json.dumps({"model": "net_xnnpack_fp16.pte", "output_root": "threads",
                                                  "blocks": 6,
        "experiments": [{"name": f"{HOST}_sme2_{s}", "runs": 8, "warmup": 3, "threads": [1, 2]}
                        for s in ("on", "off")]}))
    text = " ".join(run(cwd, "run", "threads.json", "--runner", FAKE).stdout.split())
    expect("3.00×" in text, "the answer", text[:600])
    expect(json.loads((cwd / "threads/report.json").read_text())["schema"] == "etprof.ab/1", "report.json",
           "stays etprof.ab/1")


def breakdown(cwd):
    models = [str(ROOT / f"examples/models/toy_cnn_xnnpack_{p}.pte") for p in ("fp16", "int8")]
    done = subprocess.run([ETPROF, "ab", *models, "--levels", "best,sse", "--threads", "1,2", "--blocks", "1",
                           "--iterations", "5", "--warmup", "2", "--out", "real"],
                          cwd=cwd, capture_output=True, text=True, timeout=600, check=False)
    if "no runner for" in done.stderr:
        print("skipped: the breakdown of real dumps:", done.stderr.strip())
        return 77
    expect(done.returncode == 0, "cells", done.stderr[-800:])
    labels = rows(cwd / "real/operator_breakdown_stacked.svg")
    levels = [a["level"] for a in json.loads((cwd / "real/report.json").read_text())["arms"]]
    expect(len(labels) == len(levels) == 8 and len(set(labels)) == 8, "a bar for each cell", labels)
    expect([x.split(" at ")[0] for x in labels] == ["fp16"] * 4 + ["int8"] * 4, "grouped by precision", labels)
    everything = " ".join(t for _, _, _, t in texts(cwd / "real/operator_breakdown_stacked.svg"))
    expect("…" not in everything and "toy_cnn_xnnpack_fp16" in everything, "nothing is cut off", everything)
    return 0


tmp = new_folder()
study_of_a_blog(tmp)
two_models(tmp)
two_models_at_one_level(tmp)
names_of_wishes(tmp)
threads_of_a_config(tmp)
code = breakdown(tmp)
finish(code=code)
