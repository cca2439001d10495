# SPDX-License-Identifier: Apache-2.0
"""A valid run folder is damaged in many ways, one at a time; each is refused under its own name, with
what to do. usage: test_corruptions.py ETPROF

Where the damage is to a derived file, its hash is renewed: the check that is meant must find it, not the
hash. Raw files' hashes are renewed too, by the same rule. 77 = no Python package jsonschema"""
import hashlib
import json
import pathlib
import re
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/tools"))
from checks import execute, new_folder, validating  # noqa: E402

ETPROF = str(pathlib.Path(sys.argv[1]).resolve())
ON, OFF = "linux_sme2_on", "linux_sme2_off"
STEM = "image_encoder_xnnpack_int8_"
P_ON, P_OFF = f"{ON}/{STEM}{ON}_t1", f"{OFF}/{STEM}{OFF}_t1"
TIMELINE, ROBUST = P_ON + "_exec_all_runs_timeline.csv", P_ON + "_exec_all_runs_timeline_robust_stats.json"
SUMMARY = STEM + "pipeline_summary.json"


def text(name, change):
    def damage(d):
        path = d / name
        old = path.read_text()
        new = change(old)
        assert new != old, f"{name}: nothing was damaged"
        path.write_text(new)
    return damage


def sub(name, pattern, replacement):
    return text(name, lambda s: re.sub(pattern, replacement, s, count=1))


def doc(name, change):
    def edit(s):
        j = json.loads(s)
        change(j)
        return json.dumps(j, indent=2) + "\n"
    return text(name, edit)


def raw(name, change):
    def damage(d):
        old = (d / name).read_bytes()
        assert change(old) != old
        (d / name).write_bytes(change(old))
    return damage


def gone(name):
    return lambda d: (d / name).unlink()


def swap(a, b):
    def damage(d):
        x, y = (d / a).read_bytes(), (d / b).read_bytes()
        assert x != y
        (d / a).write_bytes(y)
        (d / b).write_bytes(x)
    return damage


def row(n, change):  # of a CSV: cells of line N without quotes in what is changed
    def edit(s):
        lines = s.split("\n")
        lines[n] = change(lines[n])
        return "\n".join(lines)
    return edit


def bump(key):
    def change(j):
        j[key] *= 1.1
    return change


def nested(levels):
    return lambda s: "[" * levels + "]" * levels


def both_arms(d):  # the experiments change places, dumps and all
    swap(P_ON + ".etdump", P_OFF + ".etdump")(d)


def fix(**edited):
    return {"id": "N1", "kind": "copies", "text": "1 operator that only moves data takes 2 ns",
            "gain_ns": {"lo": 0, "expected": 1, "hi": 2},
            "share": 0.1, "recipe": "none", "formula": "none", "evidence": ["op1"], **edited}


CASES = [  # name, damage, check that must fail, file it names
    ("dump cut off", raw(P_ON + ".etdump", lambda b: b[:len(b) // 2]), "dump.readable", P_ON + ".etdump"),
    ("dump emptied", raw(P_ON + ".etdump", lambda b: b""), "dump.empty", P_ON + ".etdump"),
    ("dump is text", raw(P_ON + ".etdump", lambda b: b"dummy-etdump"), "dump.readable", P_ON + ".etdump"),
    ("dump with a flipped offset", raw(P_ON + ".etdump", lambda b: b[:4] + b"\xff\xff\xff\x7f" + b[8:]),
     "dump.readable", P_ON + ".etdump"),
    ("dump removed", gone(P_ON + ".etdump"), "run.missing", P_ON + ".etdump"),
    ("dump without its experiment's timeline", gone(P_ON + ".etdump"), "timeline.dump", TIMELINE),
    ("dumps of two experiments swapped", both_arms, "dump.samples", P_OFF + ".etdump"),
    ("tables of swapped dumps", both_arms, "timeline.dump", TIMELINE),
    ("manifest removed", gone("manifest.json"), "run.manifest", "manifest.json"),
    ("manifest cut off", text("manifest.json", lambda s: s[:len(s) // 2]), "json.truncated", "manifest.json"),
    ("manifest of another version", doc("manifest.json", lambda j: j.update(schema="etprof.run/9")), "schema.name",
     "manifest.json"),
    ("manifest without a plan", doc("manifest.json", lambda j: j.pop("plan")), "schema.missing_key", "manifest.json"),
    ("manifest with a key twice", sub("manifest.json", r'"state"', '"state": "running",\n  "state"'),
     "json.duplicate_key", "manifest.json"),
    ("manifest with an unknown state", doc("manifest.json", lambda j: j.update(state="perhaps")), "schema.value",
     "manifest.json"),
    ("median of a result edited", doc("manifest.json", lambda j: bump("median_ms")(j["results"][0]["metrics"])),
     "metrics.median", "manifest.json"),
    ("samples removed", gone("samples.csv"), "run.missing", "samples.csv"),
    ("samples with a column renamed", sub("samples.csv", "duration_ns", "duration"), "csv.columns", "samples.csv"),
    ("samples with a word for a number", sub("samples.csv", r"(timed,\d+),\d+", r"\1,fast"),
     "csv.integer", "samples.csv"),
    ("samples with an unknown phase", sub("samples.csv", ",timed,", ",timid,"), "samples.phase", "samples.csv"),
    ("samples with a duration of 0", sub("samples.csv", r"(timed,\d+),\d+", r"\1,0"), "samples.zero", "samples.csv"),
    ("samples with another latency", sub("samples.csv", r"(timed,\d+),\d", r"\1,9"), "metrics.samples", "metrics.json"),
    ("samples cut in a row", text("samples.csv", lambda s: s[:-5]), "csv.cut", "samples.csv"),
    ("environment with a broken line", sub("environment.jsonl", r'"type"', '"type'), "json.syntax",
     "environment.jsonl"),
    ("environment with lines of no type", sub("environment.jsonl", r'"type"', '"kind"'), "environment.type",
     "environment.jsonl"),
    ("environment removed", gone("environment.jsonl"), "run.missing", "environment.jsonl"),
    ("metrics that are not JSON", text("metrics.json", lambda s: "not json"), "json.syntax", "metrics.json"),
    ("metrics emptied", text("metrics.json", lambda s: ""), "json.empty", "metrics.json"),
    ("metrics as a list", text("metrics.json", lambda s: "[]\n"), "json.object", "metrics.json"),
    ("metrics nested without end", text("metrics.json", nested(1000)), "json.deep", "metrics.json"),
    ("NaN in statistics", sub(ROBUST, r'"std_dev_ms": [^,]+', '"std_dev_ms": NaN'), "json.nan", ROBUST),
    ("statistics in Latin-1", raw(ROBUST, lambda b: b.replace(b'"name": "', b'"name": "\xe9')), "json.utf8", ROBUST),
    ("median of statistics edited", doc(ROBUST, bump("median_ms")), "robust.median", ROBUST),
    ("mean of statistics edited", doc(ROBUST, bump("mean_ms")), "robust.mean", ROBUST),
    ("count of statistics edited", doc(ROBUST, bump("count")), "schema.type", ROBUST),
    ("one latency too many", doc(ROBUST, lambda j: j["latencies_ms"].append(j["latencies_ms"][0])), "robust.count",
     ROBUST),
    ("statistics of another experiment", swap(ROBUST, ROBUST.replace(ON, OFF)), "robust.timeline", ROBUST),
    ("a negative latency", doc(ROBUST, lambda j: j.update(min_ms=-1)), "schema.range", ROBUST),
    ("timeline with columns in another order", sub(TIMELINE, "name,type", "type,name"), "csv.columns", TIMELINE),
    ("timeline with a column twice", sub(TIMELINE, "exclusive_ns", "duration_ns"), "csv.columns", TIMELINE),
    ("timeline with columns without end", text(TIMELINE, row(0, lambda s: s + "".join(
        f",c{i}" for i in range(20000)))), "csv.columns", TIMELINE),
    ("timeline with a cell lost", text(TIMELINE, row(3, lambda s: s.rsplit(",", 1)[0])), "csv.row", TIMELINE),
    ("timeline with nan", text(TIMELINE, row(3, lambda s: re.sub(r",\d+\.\d{6},", ",nan,", s))), "csv.number",
     TIMELINE),
    ("timeline with an open quote", text(TIMELINE, lambda s: s + '"open\n'), "csv.quotes", TIMELINE),
    ("timeline in Latin-1", raw(TIMELINE, lambda b: b + b"\xe9\n"), "csv.utf8", TIMELINE),
    ("timeline without rows", text(TIMELINE, lambda s: s.split("\n")[0] + "\n"), "csv.no_rows", TIMELINE),
    ("timeline with a duration edited", text(TIMELINE, row(3, lambda s: re.sub(
        r",(\d+)\.(\d{6}),", lambda m: f",{int(m[1]) + 7}.{m[2]},", s, count=1))), "timeline.end", TIMELINE),
    ("an average edited", sub(P_ON + "_exec_ops_stats.csv", r"(\n[^\n]*portable,\d+,[\d.]+),[\d.]+", r"\1,1.000000"),
     "csv.mean", P_ON + "_exec_ops_stats.csv"),
    ("end-to-end: an average above the maximum", sub("image_encoder_e2e_latency.csv",
        r"(\n[^,\n]*,\d+,[\d.]+,[\d.]+,[\d.]+),[\d.]+", r"\1,0.000001"), "e2e.order", "image_encoder_e2e_latency.csv"),
    ("summary with another median", doc(SUMMARY, lambda j: bump("median_ms")(j["runs"][0]["metrics"])),
     "summary.median", SUMMARY),
    ("summary with a figure that is withheld",
     doc(SUMMARY, lambda j: j["comparisons"][0]["speedup"].update(estimate=2.5)),
     "summary.speedup", SUMMARY),
    ("summary that names files that are not there", doc(SUMMARY, lambda j: j["runs"][0]["paths"].update(etdump="None")),
     "paths", SUMMARY),
    ("summary with a text for a number", doc(SUMMARY, lambda j: j["runs"][0].update(runs="10")), "schema.type",
     SUMMARY),
    ("report with a ledger row edited", doc("report.json", lambda j: j["ledgers"][0]["rows"][0].update(delta_ns=1)),
     "report.ledger", "report.json"),
    ("report with a withheld speedup filled in", doc("report.json", lambda j: j["comparisons"][0]["speedup"].update(
        estimate=3.9, lo=3.8, hi=4.0)), "report.withheld", "report.json"),
    ("report with a speedup outside its interval", doc("report.json", lambda j: j["comparisons"][0]["speedup"].update(
        estimate=3.9, lo=4.0, hi=4.1)), "report.interval", "report.json"),
    ("report with a fix that gains more than it can", doc("report.json", lambda j: j["next_fixes"].append(
        fix(gain_ns={"lo": 0, "expected": 3, "hi": 2}))), "report.fix", "report.json"),
    ("report with a fix of no operator",
     doc("report.json", lambda j: j["next_fixes"].append(fix(evidence=["op99999"]))),
     "report.fix", "report.json"),
    ("report with an arm renamed", doc("report.json", lambda j: j["arms"][0].update(name="other")), "report.arms",
     "report.json"),
    ("a category edited", doc("analysis_summary.json", lambda j: j["experiments"][0]["categories_ns"].update(
        Convolution=1)), "categories.sum", "analysis_summary.json"),
    ("analysis that lost a dump", doc("analysis_summary.json", lambda j: j["per_etdump"].pop()), "analysis.dumps",
     "analysis_summary.json"),
    ("a table removed", gone("image_encoder_comparison.csv"), "paths", "analysis_summary.json"),
    ("an output cut off", raw(f"{ON}/outputs/output-0.bin", lambda b: b[:-4]), "outputs.size",
     f"{ON}/outputs/outputs.json"),
    ("a foreign dump added", lambda d: shutil.copy(d / (P_ON + ".etdump"), d / (P_ON + "_b2.etdump")), "timeline.dump",
     TIMELINE),
]
UNHASHED = [  # edits that only the hash can tell
    ("page edited", sub("report.html", "</html>", "<!-- -->\n</html>"), "hash.altered", "report.html"),
    ("log edited", lambda d: (d / (P_ON + ".log")).write_text("fine\n"), "hash.altered", P_ON + ".log"),
    ("page removed", gone("report.html"), "hash.missing", "report.html"),
    ("page edited and its hash renewed", sub("report.html", "</html>", "<!-- -->\n</html>"), "derived.differs",
     "report.html"),
]


def renew_hashes(d):
    for listing in ("manifest.json", "derived.json"):
        try:
            j = json.loads((d / listing).read_text())
            for f in j["files"]:
                if (d / f["path"]).is_file():
                    data = (d / f["path"]).read_bytes()
                    f.update(sha256=hashlib.sha256(data).hexdigest(), bytes=len(data))
        except (OSError, ValueError, KeyError):
            continue
        if len(set(re.findall(r'"state"', (d / listing).read_text()))) <= 1 and \
                (d / listing).read_text().count('"state":') <= 1:  # a key given twice stays twice
            (d / listing).write_text(json.dumps(j, indent=2) + "\n")


def asked(d):
    """As the command says it: once, since the package is asked without it below."""
    done = execute(ETPROF, "validate", d.name, "--format", "json", cwd=d.parent)
    return done.returncode, json.loads(done.stdout) if done.stdout else done.stderr


def main(tmp):
    good = tmp / "good"
    shutil.copytree(ROOT / "examples/runs/image_encoder_int8_qemu", good)
    for words in (("analyze", "good", "--out", "good"), ("analyze", "good", "--renew")):  # with the timelines
        execute(ETPROF, *words, "--quiet", cwd=tmp, check=True, text=False)
    validate = validating(ETPROF)
    code, answer = asked(good)
    if code != 0 or not answer["ok"]:
        return [f"the undamaged folder is refused: {code} {answer}"]
    failures, seen = [], set()
    for name, damage, check, file in CASES + UNHASHED:
        d = tmp / "damaged"
        shutil.rmtree(d, ignore_errors=True)
        shutil.copytree(good, d)
        damage(d)
        if (name, damage, check, file) in CASES or "renewed" in name:
            renew_hashes(d)
        answer = validate(d)
        bad = [c for c in answer["checks"] if c["ok"] is False and c["required"]]
        if (name, damage, check, file) == CASES[0]:
            code, said = asked(d)
            if code != 1 or said["checks"] != answer["checks"]:
                failures.append(f"{name}: exit code {code}, not 1, or other checks: {said}")
        if answer["ok"] or answer["failed"] != len(bad):
            failures.append(f"{name}: it is valid")
            continue
        found = [c for c in bad if c["id"] == check and c["file"] == file]
        if check and not found:
            failures.append(f"{name}: no {check} of {file}: {[(c['id'], c['file']) for c in bad]}")
        absent = [c["file"] for c in bad if c["id"] in ("run.missing", "hash.missing")]
        if len(absent) != len(set(absent)):
            failures.append(f"{name}: said twice: {absent}")
        for c in bad:
            if not c["fix"] or not c["found"] or not c["expected"]:
                failures.append(f"{name}: {c} says not what to do")
        seen.update((c["id"], c["fix"]) for c in found)
    ids = {i for i, _ in seen}
    print(f"{len(CASES + UNHASHED)} damaged folders refused, {len(ids)} different checks")
    if len(CASES + UNHASHED) < 30 or len(ids) < 30:
        failures.append("fewer than 30 kinds of damage")
    return failures


tmp = new_folder()
failures = main(tmp)
print("\n".join(failures))
sys.exit(1 if failures else 0)
