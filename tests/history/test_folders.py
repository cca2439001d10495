# SPDX-License-Identifier: Apache-2.0
"""etprof history over run folders: measured ones, where the fake runner's durations are planted, and made ones of
phases, whose figures are calculated by hand.

usage: test_folders.py ETPROF FAKE_RUNNER"""
import csv
import hashlib
import io
import json
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import phase_folders
import run_folders
from asked import ETPROF, document, history, need_duckdb
from checks import ended, expect, finish, new_folder

need_duckdb()
FAKE = str(pathlib.Path(sys.argv[2]).resolve())
# phase -> level -> ns: prefill is 3 times, decode 2 and 1.25 times as fast
TIMES = {"prefill 16": {"avx2": 1000000, "sse": 3000000}, "decode @0": {"avx2": 500000, "sse": 1000000},
         "decode @32": {"avx2": 800000, "sse": 1000000}}


OVER = "model_linux_sme2_on_t1_over_linux_sme2_off_speedup"


def measure(folder, out, sme2_ns, seed):
    (folder / "model.pte").write_bytes(b"\x10\0\0\0ET12base sme2 %d\nbase neon 3000000\nnoise 4\n" % sme2_ns)
    subprocess.run([ETPROF, "ab", "model.pte", "--levels", "sme2,neon", "--blocks", "6", "--iterations", "4",
                    "--warmup", "3", "--no-trace", "--seed", str(seed), "--quiet", "--out", out, "--runner", FAKE],
                   cwd=folder, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def figures(told):
    return {s["name"]: s for s in told["series"]}


def measured(tmp):
    """Eight sessions, from the fifth on another program that is 10 % slower at one level; beside them what is none."""
    for n in range(8):
        measure(tmp, f"nightly/run{n}", 1000000 if n < 4 else 1100000, n + 1)
    (tmp / "nightly/empty").mkdir()
    (tmp / "nightly/other").mkdir()
    (tmp / "nightly/other/manifest.json").write_text("{}")
    told = document(tmp, "nightly")
    expect(told.get("schema") == "etprof.history/1" and len(told["runs"]) == 8 and told["errors"] == [], told["runs"])
    series = figures(told)
    expect(sorted(series) == ["model_linux_sme2_off_t1_ns", "model_linux_sme2_on_t1_ns",
                              "model_linux_sme2_on_t1_over_linux_sme2_off_speedup"], sorted(series))
    for name, factor in (("model_linux_sme2_on_t1_ns", 1.1), (OVER, 1 / 1.1)):
        found = series[name]["changes"]
        expect([c["run"] for c in found] == [4], name, found)
        expect(found and abs(found[0]["after"] / found[0]["before"] / factor - 1) < 0.02, name, found)
        expect(found and found[0]["also_changed"] == "program", name, found)
    expect(series["model_linux_sme2_off_t1_ns"]["changes"] == [], "a change where none was planted")
    for n, values in enumerate(zip(*(s["values"] for s in told["series"]))):
        answer = json.loads((tmp / f"nightly/run{n}/report.json").read_text())
        want = [x for arm in sorted(answer["arms"], key=lambda a: a["name"]) for x in [arm["median_ns"]]]
        want.append(answer["comparisons"][0]["speedup"]["estimate"])
        expect(list(values) == want, f"run{n}: figures of its report", values, want)
    coarse = document(tmp, "nightly", "--min-change", "20%")
    expect(all(s["changes"] == [] for s in coarse["series"]), "--min-change 20% changes nothing")
    here = document(tmp)
    expect(here == told, "without operands: the run folders below the working directory")
    ended(history(tmp, "nightly/empty"), 4, says="no finished session")
    return told


def without_reports(tmp, told):
    """The library says of the raw files what the reports say; of a report that is not that of its manifest nothing is
    believed."""
    shutil.copytree(tmp / "nightly", tmp / "raw")
    for n in range(8):
        report = tmp / f"raw/run{n}/report.json"
        if n % 3 == 0:
            report.unlink()
        elif n % 3 == 1:
            text = report.read_text()
            report.write_text(text.replace('"median_ns": 1', '"median_ns": 7'))
            expect(report.read_text() != text, "the report was not changed")
        else:
            (tmp / f"raw/run{n}/derived.json").write_text("[" * 5000)
    done = history(tmp, "raw", "--format", "json")
    expect(done.stdout and json.loads(done.stdout) == told, "the library's figures are other ones", done.stderr)
    expect("analysed   8 folders" in done.stderr, "says how many it analysed", done.stderr)
    # with another baseline the report has other ratios: those of the session stay
    report = tmp / "nightly/run0/report.json"
    subprocess.run([ETPROF, "analyze", "--renew", "nightly/run0", "--baseline", "linux_sme2_on"], cwd=tmp, check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    expect(json.loads(report.read_text())["comparisons"][0]["baseline"] == "linux_sme2_on", "the report's baseline")
    done = history(tmp, "nightly", "--format", "json")
    expect(json.loads(done.stdout) == told and "analysed   1 folders" in done.stderr, "another baseline", done.stderr)
    subprocess.run([ETPROF, "analyze", "--renew", "nightly/run0"], cwd=tmp, check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    # of another version of this program, with its hash in order
    report = tmp / "nightly/run1/report.json"
    text, derived = report.read_text(), tmp / "nightly/run1/derived.json"
    old = text.replace('"version": "', '"version": "0.0.0-').replace('"median_ns": 1', '"median_ns": 7')
    was = derived.read_text()
    derived.write_text(was.replace(hashlib.sha256(text.encode()).hexdigest(), hashlib.sha256(old.encode()).hexdigest()))
    report.write_text(old)
    expect(derived.read_text() != was and old.count("0.0.0-") > 0, "the report was not changed")
    done = history(tmp, "nightly", "--format", "json")
    expect(json.loads(done.stdout) == told and "analysed   1 folders" in done.stderr, "another version", done.stderr)
    report.write_text(text)
    derived.write_text(was)
    shutil.copytree(tmp / "nightly/run2", tmp / "wrong")
    outputs = sorted((tmp / "wrong").glob("*_on/outputs/*.bin"))
    expect(bool(outputs), "no outputs kept")
    for path in outputs:
        path.write_bytes(bytes(b ^ 0x40 for b in path.read_bytes()))
    (tmp / "wrong/report.json").unlink()
    expect(sorted(figures(document(tmp, "wrong"))) == ["model_linux_sme2_off_t1_ns", "model_linux_sme2_on_t1_ns"],
           "a session whose outputs differ has times, and no speedup")


def listed(tmp):
    run_folders.make(tmp / "none", 1)
    told = document(tmp, "list", "nightly")
    expect(told["schema"] == "etprof.sessions/1" and len(told["sessions"]) == 8, told)
    times = [s["generated_at"] for s in told["sessions"]]
    expect(times == sorted(times, reverse=True), "newest first", times)
    for s in told["sessions"]:
        answer = json.loads((pathlib.Path(tmp / s["folder"]) / "report.json").read_text())
        expect(s["models"] == "model" and s["device"] == "local" and s["arms"] == 2 and s["grade"] == answer["grade"]
               and s["candidate"] == "linux_sme2_on" and not s["emulated"] and s["withheld"] is None, s)
    expect(len(document(tmp, "list", "nightly", "--since", "2999")["sessions"]) == 0, "--since")
    expect(len(document(tmp, "list", "nightly", "--of", "model")["sessions"]) == 8, "--of")
    expect(len(document(tmp, "list", "nightly", "--of", "mode")["sessions"]) == 0, "--of another")
    expect(len(document(tmp, "list", "nightly", "--on", "local")["sessions"]) == 8, "--on")
    text = history(tmp, "list", "nightly").stdout
    expect(text.count("nightly/run") == 8 and "local" in text, text)
    table = list(csv.DictReader(io.StringIO(history(tmp, "list", "none", "--format", "csv").stdout)))
    expect([[row[k] for k in ("speedup", "from", "to")] for row in table] == [["", "", ""]], "unknown is empty", table)


def described(*documents):
    """The schemas know every member."""
    try:
        import jsonschema
    except ImportError:
        print("without jsonschema: documents are not held against their schemas")
        return
    for told in documents:
        name = told["schema"].removeprefix("etprof.").removesuffix("/1")
        schemas = pathlib.Path(__file__).parents[2] / "python/etprof/schemas"
        schema = json.loads((schemas / f"{name}.schema.json").read_text())
        jsonschema.Draft202012Validator(schema).validate(told)
        expect(set(told) == set(schema["properties"]), name, sorted(set(told) ^ set(schema["properties"])))
        for key, part in schema["properties"].items():
            for row in told[key] if part["type"] == "array" else ():
                expect(set(row) <= set(part["items"]["properties"]), name, key, sorted(row))


def only_said(tmp):
    """A level that a build of others is only said to be is no session at that level."""
    for name, level in (("set", "sse"), ("said", "said:sse")):
        folder = run_folders.make(tmp / "levels" / name, 2, blocks=2, name="linux_sse_")
        text = (folder / "manifest.json").read_text()
        (folder / "manifest.json").write_text(text.replace('"level": "sse"', f'"level": "{level}"'))
    series = figures(document(tmp, "levels"))
    names = {s["name"] for s in series.values() if s["name"].endswith("_ns")}
    expect(len(names) == 4 and len([n for n in names if "_said_t" in n]) == 2, "series of their own", sorted(names))


def copies_and_states(tmp):
    """A copy is no second session; one that was interrupted or emulated is left out and counted."""
    shutil.copytree(tmp / "nightly/run3", tmp / "nightly/zcopy")
    for n, (old, new) in enumerate([('"state": "finished"', '"state": "interrupted"'),
                                    ('"emulated": false', '"emulated": true')]):
        shutil.copytree(tmp / "nightly/run4", tmp / f"nightly/zleft{n}")
        manifest = tmp / f"nightly/zleft{n}/manifest.json"
        text = manifest.read_text()
        manifest.write_text(text.replace(old, new))
        expect(manifest.read_text() != text, "the manifest was not changed", old)
    done = history(tmp, "nightly", "--format", "json")
    told = json.loads(done.stdout)
    expect(len(told["runs"]) == 8 and told["left_out"] == 2, len(told["runs"]), told["left_out"])
    expect("left out   2" in done.stderr and "copies     1" in done.stderr, done.stderr)
    expect(history(tmp, "nightly", "--quiet").stderr == "", "--quiet")


def phases(tmp):
    """From the fifth session on decoding deep in the cache takes 30 % longer at one level, nothing else."""
    for n in range(8):
        times = {**TIMES, "decode @32": {"avx2": 800000 if n < 4 else 1040000, "sse": 1000000}}

        def time_ns(phase, level, _threads, _model, times=times, n=n):
            return times[phase][level] + n % 2 * 100
        folder = phase_folders.make(tmp / f"phases/{n}", time_ns, dumps=False, at=f"2026-11-2{n}T09:00:00Z")
        if n % 2: # the others have none
            subprocess.run([ETPROF, "analyze", "--renew", folder], check=True, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
    told = document(tmp, "phases")
    expect([s["phase"] for s in told["series"]] == ["prefill 16"] * 5 + ["decode @0"] * 5 + ["decode @32"] * 5,
           "tells all of a phase before the next", [s["name"] for s in told["series"]])
    series = figures(told)
    expect(len(series) == 6 + 3 + 6, "has times, speedups and rates of every phase", sorted(series))
    changed = {n: [c["run"] for c in s["changes"]] for n, s in series.items() if s["changes"]}
    expect(changed == {f"m0_linux_avx2_decode32_t1_{what}": [4] for what in
                        ("ns", "over_linux_sse_decode32_speedup", "tokens_per_s")},
           "finds what changed, where it did", changed)
    rates = series["m0_linux_avx2_decode32_t1_tokens_per_s"]["values"]
    expect(abs(rates[0] / 1250 - 1) < 1e-3 and abs(rates[4] / (1e9 / 1040000) - 1) < 1e-3, "rates", rates)
    speedups = series["m0_linux_avx2_prefill16_t1_over_linux_sse_prefill16_speedup"]["values"]
    expect(all(abs(v / 3 - 1) < 1e-3 for v in speedups), "speedups", speedups)
    text = history(tmp, "phases").stdout
    expect("m0, AVX2 over SSE, decode @32, 1 thread: speedup" in text, "what it is a ratio of", text[:900])
    expect("m0, AVX2, decode @32, 1 thread: time" in text and "linux_" not in text, "levels and phases", text[:900])
    table = history(tmp, "phases", "--format", "csv").stdout
    (tmp / "table.csv").write_text(table)
    again = history(tmp, "table.csv", "--format", "csv").stdout
    expect(table == again and len(table.splitlines()) == 9, "reads its table back", again[:300])
    same = document(tmp, "table.csv")
    expect([s["changes"] for s in same["series"]] == [s["changes"] for s in told["series"]],
           "the table gives other changes than the folders")
    # two devices
    manifest = tmp / "phases/3/manifest.json"
    manifest.write_text(manifest.read_text().replace('"spec": "local"', '"spec": "ssh:board"'))
    ended(history(tmp, "phases"), 2, says=("'local'", "'ssh:board'"))
    expect(len(document(tmp, "phases", "--on", "ssh:board")["runs"]) == 1, "--on")


def baselines(tmp):
    """One arm, compared with two others: ratios of two kinds."""
    ns = {"vnni": 1000000, "avx2": 1500000, "sse": 3000000}
    for n in range(8):
        phase_folders.make(tmp / f"baselines/{n}", lambda _p, level, _t, _m: ns[level], phases=(), dumps=False,
                           levels=("vnni", "avx2" if n < 4 else "sse"), at=f"2026-11-2{n}T09:00:00Z")
    told = document(tmp, "baselines")
    series = {n: s["values"] for n, s in figures(told).items() if n.endswith("speedup")}
    want = {"m0_linux_vnni_t1_over_linux_avx2_speedup": [1.5] * 4 + [None] * 4,
            "m0_linux_vnni_t1_over_linux_sse_speedup": [None] * 4 + [3] * 4}
    expect({n: [v and round(v, 3) for v in values] for n, values in series.items()} == want, "baselines", series)
    expect(told["withheld"] == [] and not any(s["changes"] for s in told["series"]), "no change", told["withheld"])


def withheld(tmp):
    """What a session withholds is in no series, and said; times of arms that waited with it, others stay."""
    ns = {"vnni": 1000000, "avx2": 1500000, "sse": 3000000}
    for n in range(8):
        root = phase_folders.make(tmp / f"withheld/{n}", lambda _p, level, _t, _m, n=n:
                                  ns[level] * (7 if n == 5 and level == "vnni" else 1), phases=(), dumps=False,
                                  levels=("vnni", "avx2", "sse"), at=f"2026-11-2{n}T09:00:00Z")
        if n == 5:
            run_folders.contend(root, "linux_vnni")
    told = document(tmp, "withheld")
    series = {n: s["values"] for n, s in figures(told).items()}
    gone = ["m0_linux_sse_t1_ns", "m0_linux_vnni_t1_ns", "m0_linux_vnni_t1_over_linux_sse_speedup"]
    expect(sorted(n for n, values in series.items() if values[5] is None) == gone, "withheld", series)
    expect(sorted((w["run"], w["series"], w["reason"]) for w in told["withheld"]) ==
           [(5, n, "contended") for n in gone], "says which", told["withheld"])
    said = "figures are withheld in 1 of 8 runs, and in no series: 3 contended"
    for form in ("text", "md"):
        text = " ".join(history(tmp, "withheld", "--format", form).stdout.replace("\\", "").split())
        expect(said in text, form, text[:900])
    expect(said in history(tmp, "withheld", "--format", "csv").stderr, "csv")
    described(told)


TMP = new_folder()
TOLD = measured(TMP)
without_reports(TMP, TOLD)
listed(TMP)
copies_and_states(TMP)
only_said(TMP)
described(TOLD, document(TMP, "list", "nightly"))
phases(TMP)
baselines(TMP)
withheld(TMP)
finish("the figures of many sessions")
