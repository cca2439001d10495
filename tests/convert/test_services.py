# SPDX-License-Identifier: Apache-2.0
"""Figures of a session for services of others: PyTorch's benchmark database (types of its table, written down from
pytorch/test-infra, clickhouse_db_schema/oss_ci_benchmark_v3), github-action-benchmark (what its src/extract.ts takes),
OpenMetrics (the published grammar, and prometheus_client's own parser where it is there). Values are held against
etprof.ab/1 of the same folder and the planted durations of the fake runner.

usage: test_services.py ETPROF FAKE_RUNNER"""
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import expect, finish, in_python_with

in_python_with("prometheus_client")
try:
    from prometheus_client.openmetrics.parser import text_string_to_metric_families
except ImportError:
    text_string_to_metric_families = None
    print("skipped: reading with prometheus_client (none here)")

ETPROF, FAKE = (str(pathlib.Path(p).resolve()) for p in sys.argv[1:3])
# A tuple's members; a list is an array of one kind, (str, kind) a map. Arrays of numbers are Float32.
TEXTS = (str, str)
TABLE = {
    "benchmark": {"name": str, "mode": str, "dtype": str, "extra_info": TEXTS},
    "model": {"name": str, "type": str, "backend": str, "origins": [str], "extra_info": TEXTS},
    "runners": [{"name": str, "type": str, "cpu_info": str, "cpu_count": int, "mem_info": str, "avail_mem_in_gb": int,
                 "gpu_info": str, "gpu_count": int, "gpu_mem_info": str, "avail_gpu_mem_in_gb": int,
                 "extra_info": TEXTS}],
    "inputs": (str, {"dtype": str, "extra_info": TEXTS}),
    "dependencies": (str, {"repo": str, "branch": str, "sha": str, "version": str, "extra_info": TEXTS}),
    "metric": {"name": str, "benchmark_values": [float], "target_value": float, "extra_info": TEXTS},
}
NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
VALUE = r'"(?:[^"\\\n]|\\[\\"n])*"'
LABELS = rf'\{{(?:[a-zA-Z_][a-zA-Z0-9_]*={VALUE}(?:,[a-zA-Z_][a-zA-Z0-9_]*={VALUE})*)?\}}'
SAMPLE = re.compile(rf"({NAME})({LABELS})? ([+-]?(?:\d+\.?\d*(?:e[+-]?\d+)?|\.\d+))", re.I)


def fits(value, kind, where):
    if kind is float:
        expect(isinstance(value, (int, float)) and abs(value) < 3.4e38, where, "no Float32", value)
    elif isinstance(kind, type):
        expect(type(value) is kind, where, kind, value)
    elif isinstance(kind, list):
        expect(isinstance(value, list), where, value)
        for i, item in enumerate(value):
            fits(item, kind[0], f"{where}[{i}]")
    elif isinstance(kind, tuple):
        for key, item in value.items():
            fits(item, kind[1], f"{where}.{key}")
    else:
        expect(set(value) <= set(kind), where, "keys that the table has not", set(value) - set(kind))
        for key, item in value.items():
            fits(item, kind.get(key, str), f"{where}.{key}")


def close(a, b):
    return math.isclose(a, b, rel_tol=1e-5) # ratios of etprof.ab/1 have six digits


def convert(folder, to, code=0):
    done = subprocess.run([ETPROF, "convert", folder, "--to", to], capture_output=True, text=True, timeout=600,
                          check=False)
    expect(done.returncode == code, to, done.returncode, done.stderr)
    return done.stdout if code == 0 else done.stderr


def hud(folder, arms, comparison):
    records = json.loads(convert(folder, "hud"))
    for i, record in enumerate(records):
        fits(record, TABLE, f"record {i}")
        expect({"benchmark", "model", "metric", "runners"} <= set(record), i, sorted(record))
    by = {(r["model"]["extra_info"]["arm"], r["metric"]["name"]): r for r in records}
    expect(len(by) == len(records) == 7, "three metrics of two arms and a speedup", sorted(by))
    for name, arm in arms.items():
        latency = by[name, "avg_inference_latency(ms)"]["metric"]
        blocks = latency["benchmark_values"]
        expect(len(blocks) == 6 and all(abs(b / (PLANTED[name] / 1e6) - 1) < 0.01 for b in blocks), name, blocks)
        expect(float(latency["extra_info"]["lo"]) < arm["median_ns"] / 1e6 < float(latency["extra_info"]["hi"]),
               name, latency)
        expect(all(re.fullmatch(r"\d+(\.\d{1,6})?", str(v)) for v in blocks + [latency["extra_info"][end]
                                                                              for end in ("lo", "hi")]),
               "ms of whole nanoseconds, no rounding of a float", latency)
        memory = by[name, "peak_inference_mem_usage(mb)"]["metric"]["benchmark_values"]
        expect(close(memory[0], arm["peak_rss_bytes"] / 2**20), memory)
        expect(by[name, "model_load_time(ms)"]["metric"]["benchmark_values"] == [arm["load_ns"] / 1e6], name)
    speedup = by["linux_sme2_on", "speedup"]["metric"]
    expect(close(speedup["benchmark_values"][0], comparison["estimate"]), speedup, comparison)
    expect(speedup["extra_info"]["baseline"] == "linux_sme2_off", speedup)
    expect(("linux_sme2_off", "speedup") not in by, "the baseline has none")


def github(folder, arms, comparison):
    """Each entry: name and unit texts, value a number, range and extra texts; nothing else is read."""
    smaller, bigger = (json.loads(convert(folder, to)) for to in ("github-benchmark", "github-benchmark-bigger"))
    for entry in smaller + bigger:
        expect(set(entry) <= {"name", "unit", "value", "range", "extra"}, entry)
        expect({"name", "unit", "value"} <= set(entry) and type(entry["value"]) in (int, float), entry)
        expect(all(isinstance(entry[k], str) for k in entry if k != "value"), entry)
    expect({e["name"]: e["value"] for e in smaller} ==
           {f"model/{name}/t1/latency": arm["median_ns"] for name, arm in arms.items()}, smaller)
    expect(len(bigger) == 1 and close(bigger[0]["value"], comparison["estimate"]), bigger)
    for entry in smaller:
        span = arms[entry["name"].split("/")[1]]["interval_ns"]
        expect(entry["range"] == f"[{span['lo']}, {span['hi']}]", "whole nanoseconds", entry, span)
    low, high = (float(x) for x in re.fullmatch(r"\[(\S+), (\S+)\]", bigger[0]["range"]).groups())
    expect(close(low, comparison["lo"]) and close(high, comparison["hi"]), bigger, comparison)


def grammar(text):
    """The exposition of OpenMetrics 1.0: its last line is # EOF; families are whole and come once, with TYPE before
    UNIT before HELP before their samples; a unit ends the name; no two samples are alike."""
    lines = text.split("\n")
    expect(lines[-2:] == ["# EOF", ""], "the end", lines[-3:])
    families, seen, at, samples = {}, set(), None, {}
    for line in lines[:-2]:
        meta = re.fullmatch(rf"# (TYPE|UNIT|HELP) ({NAME}) (.+)", line)
        if meta:
            word, name, rest = meta.groups()
            if word == "TYPE":
                expect(name not in families and rest in ("gauge", "info"), line)
                families[name] = [rest]
                at = name
            expect(name == at, "out of its family", line)
            expect(word != "UNIT" or name.endswith("_" + rest), "the name ends in the unit", line)
            families[name].append(word)
            continue
        found = SAMPLE.fullmatch(line)
        if not found:
            expect(False, "no sample", line)
            continue
        name, labels, value = found.groups()
        expect(name == at + ("_info" if families[at][0] == "info" else ""), "a sample of another family", line)
        expect((name, labels) not in seen, "twice", line)
        seen.add((name, labels))
        samples[name, dict(re.findall(rf"(\w+)=({VALUE})", labels or "")).get("arm", "").strip('"')] = float(value)
    for name, words in families.items():
        expect(words[1:] in (["TYPE", "HELP"], ["TYPE", "UNIT", "HELP"]), name, words)
    return samples


def openmetrics(folder, arms, comparison):
    text = convert(folder, "openmetrics")
    samples = grammar(text)
    for name, arm in arms.items():
        expect(close(samples["etprof_latency_seconds", name], arm["median_ns"] / 1e9), name, samples)
        expect(samples["etprof_peak_memory_bytes", name] == arm["peak_rss_bytes"], name)
        times = [repr(v) for (key, arm_name), v in samples.items() if key.endswith("_seconds") and arm_name == name]
        expect(len(times) == 5 and all(len(t.split(".")[1]) <= 9 for t in times), "seconds of whole ns", times)
        for key, ns in (("latency_lower", arm["interval_ns"]["lo"]), ("latency_upper", arm["interval_ns"]["hi"]),
                        ("load", arm["load_ns"]), ("first", arm["first_ns"])):
            expect(close(samples[f"etprof_{key}_seconds", name], ns / 1e9), name, key, samples, ns)
    for key, end in (("", "estimate"), ("_lower", "lo"), ("_upper", "hi")):
        expect(close(samples[f"etprof_speedup{key}_ratio", "linux_sme2_on"], comparison[end]), key, samples)
    if text_string_to_metric_families:
        read = {(s.name, s.labels.get("arm", "")): s.value for f in text_string_to_metric_families(text)
                for s in f.samples}
        expect(read == samples, "prometheus_client reads otherwise", read, samples)
    return text


def named(hud_text, github_texts, openmetrics_text):
    """docs/services.md names each metric, what it has beside its values, each family and label, and no other."""
    page = (pathlib.Path(__file__).resolve().parents[2] / "docs/services.md").read_text()
    metrics = {r["metric"]["name"] for r in json.loads(hud_text)}
    rows = page.split("| `metric.name` |")[1].split("|---|\n")[1].split("\n\n")[0]
    listed = set(re.findall(r"`([a-z_]+(?:\([a-z]+\))?)`", rows))
    expect(metrics <= listed, "metrics that the page does not name", metrics - listed)
    extra = {key for r in json.loads(hud_text) for key in r["metric"]["extra_info"]}
    other = listed - extra - metrics
    expect(other == {"token_per_sec"}, "the page names what is not written", other)
    cells = [line.split("|") for line in rows.splitlines()]
    for record in json.loads(hud_text):
        metric = record["metric"]
        row = next(c for c in cells if f"`{metric['name']}`" in c[1])
        told = set(re.findall(r"`(\w+)`", row[3]))
        expect(told == set(metric["extra_info"]), "extra_info of", metric["name"], told, metric["extra_info"])
    members = {key for text in github_texts for entry in json.loads(text) for key in entry}
    expect(all(f"`{key}`" in page for key in members), "members that the page does not name", members)
    names = {re.sub(r"^[^/]+/[^/]+/t\d+", "MODEL/ARM/tTHREADS", e["name"]) for e in json.loads(github_texts[0])}
    expect(all(f"`{name}`" in page for name in names), "names that the page does not tell", names)
    told, of_speedups = re.search(r"with the labels (.+?); speedups also with (.+?)\.", page).groups()
    for also, pattern in (("", r"^etprof_latency_seconds\{(.*)\}"), (of_speedups, r"^etprof_speedup_ratio\{(.*)\}")):
        labels = re.findall(rf"(\w+)={VALUE}", re.search(pattern, openmetrics_text, re.M)[1])
        expect(labels == re.findall(r"`(\w+)`", told + also), "labels", labels, told, also)
    families = set(re.findall(r"# TYPE (\w+) gauge", openmetrics_text))
    expect(families == set(re.findall(r"`(etprof_\w+)`", page)) - {"etprof_session_info"}, "families", families)


def odd_names(tmp, folder):
    """Quotes, a backslash and a line's end in what a manifest says are read back as they were."""
    odd = 'a "b" \\ c\nd'
    path = tmp / "odd/manifest.json"
    (tmp / "odd").mkdir()
    for file in folder.rglob("*"):
        place = tmp / "odd" / file.relative_to(folder)
        place.mkdir() if file.is_dir() else place.write_bytes(file.read_bytes())
    manifest = json.loads(path.read_text())
    for fact in manifest["environment"] if isinstance(manifest.get("environment"), list) else []:
        if fact.get("key") == "cpu":
            fact["value"] = odd
    text = json.dumps(manifest)
    text = text.replace(json.dumps(ask(folder)["device"]["cpu"]), json.dumps(odd))
    path.write_text(text)
    shown = convert(tmp / "odd", "openmetrics")
    grammar(shown)
    expect('cpu="a \\"b\\" \\\\ c\\nd"' in shown, shown[:400])
    if text_string_to_metric_families:
        first = next(iter(text_string_to_metric_families(shown))).samples[0]
        expect(first.labels["cpu"] == odd, first)
    json.loads(convert(tmp / "odd", "hud"))


def ask(folder):
    done = subprocess.run([ETPROF, "analyze", folder, "--format", "json"], capture_output=True, text=True, timeout=600,
                          check=False) # 1: something is withheld
    return json.loads(done.stdout)


def withheld(tmp):
    """A speedup that the session withholds is in no format; the latencies are."""
    for to, word in (("hud", "speedup"), ("github-benchmark-bigger", "speedup"),
                     ("openmetrics", "etprof_speedup_ratio{")):
        expect(word in convert(tmp / "run", to), to, "has one of a session that gives it")
        expect(word not in convert(tmp / "differs", to), to, "a withheld speedup")
    expect("avg_inference_latency(ms)" in convert(tmp / "differs", "hud"), "its latencies")


def refused(tmp):
    emulated = pathlib.Path(__file__).resolve().parents[2] / "examples/runs/image_encoder_int8_qemu"
    for to in ("hud", "openmetrics", "github-benchmark"):
        expect("emulator" in convert(emulated, to, code=4), to)
        expect("one run folder" in convert(tmp / "model.pte", to, code=2), to)


PLANTED = {"linux_sme2_on": 1000000, "linux_sme2_off": 3000000}
with tempfile.TemporaryDirectory() as made:
    TMP = pathlib.Path(made)
    for out, line in (("run", ""), ("differs", "on neon * * other_output\n")):
        (TMP / "model.pte").write_bytes(b"\x10\0\0\0ET12base sme2 1000000\nbase neon 3000000\nnoise 4\n" +
                                        line.encode())
        subprocess.run([ETPROF, "ab", TMP / "model.pte", "--levels", "sme2,neon", "--blocks", "6", "--iterations", "4",
                        "--warmup", "1", "--seed", "1", "--quiet", "--runner", FAKE, "--out", TMP / out],
                       check=out == "run", stdout=subprocess.DEVNULL, timeout=600)
    expect(ask(TMP / "differs")["comparisons"][0]["withheld"] == "outputs_differ", "outputs that differ")
    ANSWER = ask(TMP / "run")
    ARMS = {a["name"]: a for a in ANSWER["arms"]}
    SPEEDUP = ANSWER["comparisons"][0]["speedup"]
    hud(TMP / "run", ARMS, SPEEDUP)
    github(TMP / "run", ARMS, SPEEDUP)
    openmetrics(TMP / "run", ARMS, SPEEDUP)
    GITHUB = [convert(TMP / "run", to) for to in ("github-benchmark", "github-benchmark-bigger")]
    named(convert(TMP / "run", "hud"), GITHUB, convert(TMP / "run", "openmetrics"))
    odd_names(TMP, TMP / "run")
    withheld(TMP)
    refused(TMP)
finish("services of others read what the session says")
