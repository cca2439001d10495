# SPDX-License-Identifier: Apache-2.0
"""The entries of model_profiling beyond what its readers' pages type (test_lines.py does those): traces,
mistyped experiments, every flag of every tool. usage: test_commands.py ETPROF; 77 = skipped, no runner is built."""
import csv
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import execute, expect, finish, new_folder

ROOT = pathlib.Path(__file__).resolve().parents[2]
ETPROF = str(pathlib.Path(sys.argv[1]).resolve())
MODEL = "toy_cnn_xnnpack_fp16.pte"
HOST = "mac" if sys.platform == "darwin" else "linux"  # a config's platform is that of this machine or refused
OUT = f"model_profiling/out_toy_cnn/runs/{HOST}"


def sh(cwd, line, code=0, err=()):
    env = {**os.environ, "ETPROF": ETPROF}
    done = execute("bash", "-c", line, cwd=cwd, env=env, stdin=subprocess.DEVNULL)
    for part in err:
        expect(part in done.stderr, f"{line}: stderr has no {part!r}: {done.stderr}")
    codes = code if isinstance(code, tuple) else (code,)
    expect(done.returncode in codes, f"{line}: exit code {done.returncode}, not {code}: {done.stderr}",
           done.stdout[-1500:])
    return done.stdout


def timelines(cwd):
    return [str(p) for x in ("off", "on") for p in (cwd / OUT).glob(f"{HOST}_sme2_{x}/*_all_runs_timeline.csv")]


def d2_labels_follow_the_files(cwd):
    """D2: the kit's page gives the file of *on* first and calls it SME2-Off. Where SME2 did not run, what did stands
    beside the labels, in every file: nobody quotes a figure of x86 as one of SME2."""
    off, on = timelines(cwd)
    levels = {a["name"]: a["level"] for a in json.loads((cwd / OUT / "manifest.json").read_text())["plan"]["arms"]}
    ran = {x: levels[f"{HOST}_sme2_{x}"] for x in ("off", "on")}
    real = any(level.startswith("sme") for level in ran.values())
    called = {x: f"SME2-{x.title()}" + ("" if real else f" ({ran[x]})") for x in ran}
    for first, second, names in ((on, off, ("SME2-Off", "SME2-On")), (off, on, ("SME2-On", "SME2-Off")),
                                 (on, off, ("SME2-On", "SME2-Off")), (off, on, ("SME2-Off", "SME2-On"))):
        text = sh(cwd, f"python3 model_profiling/tools/analyze_etdump_csv.py --timeline-csv {first} --compare {second} "
                  f"--name1 {names[0]} --name2 {names[1]} --output-dir d2")
        rows = {r["experiment"]: r["avg_ms"] for p in (cwd / "d2").glob("*_e2e_latency.csv")
                for r in csv.DictReader(p.open())}
        own = {called[x]: statistics.fmean(float(r["duration_ms"]) for r in csv.DictReader(open(f))
                                           if r["name"] == "Method::execute") for x, f in (("off", off), ("on", on))}
        expect(list(rows) == [called["off"], called["on"]], f"D2: baseline first: {rows} {text[-300:]}")
        for label in ("SME2-On", "SME2-Off") if not real else ():
            bare = [p.name for p in (cwd / "d2").iterdir() if re.search(label + r"(?! \()", p.read_text())]
            expect(not bare and not re.search(label + r"(?! \()", text), "a label without what ran", bare)
        expect(all(abs(float(rows.get(x, 0)) - own[x]) < 1e-5 for x in own), f"D2: {rows} against {own}")


def copied_tables_say_what_ran(cwd):
    """A timeline that left its folder still says what ran; one that never said it is of an unknown level, in the answer
    and beside the labels."""
    line = "python3 model_profiling/tools/analyze_etdump_csv.py --timeline-csv {0}/first.csv --compare {0}/second.csv "
    line += "--name1 SME2-Off --name2 SME2-On --output-dir {0}/out"
    ran = [a["level"] for a in json.loads((cwd / OUT / "manifest.json").read_text())["plan"]["arms"]]
    for folder, keep in (("copied", True), ("bare", False)):
        (cwd / folder).mkdir()
        for own, name in zip(timelines(cwd), ("first.csv", "second.csv")):
            rows = list(csv.DictReader(open(own)))
            columns = [c for c in rows[0] if keep or c != "level"]
            with (cwd / folder / name).open("w", newline="") as f:
                table = csv.DictWriter(f, columns, extrasaction="ignore", lineterminator="\n")
                table.writeheader()
                table.writerows(rows)
        text = sh(cwd, line.format(folder))
        direct = sh(cwd, f"$ETPROF compare {folder}/first.csv {folder}/second.csv --name1 SME2-Off --name2 SME2-On")
        levels = {r["level"] for p in (cwd / folder / "out").glob("*_summary.csv") for r in csv.DictReader(p.open())}
        beside = [r for p in (cwd / folder / "out").glob("*_comparison.csv") for r in csv.DictReader(p.open())]
        cells = {v for r in beside for k, v in r.items() if k.endswith("_level")}
        expect(levels == cells == (set(ran) if keep else {"unknown"}), folder, levels, cells)
        if not keep:
            expect("(level unknown)" in text, "the label says that nothing is known", text[:400])
            said = "what ran is unknown: no recording names the level of SME2-Off, SME2-On"
            expect(said in " ".join(direct.split()), "a finding says it", direct[:600])
        elif not any(level.startswith("sme") for level in ran):
            expect("was measured at " in direct and "not at SME2" in direct, "a finding says what ran", direct[:600])


def logs_of_ours(cwd):
    """The kernel tools on the logs of a trace run of etprof's own: they say what ran. Nothing that any tool writes
    speaks of SME2 on a machine without, but with what ran beside it."""
    out, tool = cwd / "ours", "python3 model_profiling/tools/"
    out.mkdir()
    trace = f"{OUT}_trace/{HOST}_sme2_"
    logs = {x: f"{trace}{x}/toy_cnn_xnnpack_fp16_{HOST}_sme2_{x}_t1.log" for x in ("on", "off")}
    for x, log in logs.items():
        text = (cwd / log).read_text()
        expect('"type":"hello"' in text and '"type":"done"' in text, f"{log}: what the runner said", text[:300])
        sh(cwd, f"{tool}xnntrace_to_kernels.py --xnntrace {log} --out ours/{x}_kernels.csv --model-id toy")
        rows = list(csv.DictReader((out / f"{x}_kernels.csv").open()))
        own = list(csv.DictReader((cwd / log).with_name(pathlib.Path(log).stem + "_kernels.csv").open()))
        expect(rows and sum(int(r["count"]) for r in rows) == sum(int(r["count"]) for r in own), "samples", rows[:2])
        expect(all(r["isa"] for r in rows), "instruction sets", rows[:2])
    for name, files in (("tables", ("ours/on_kernels.csv", "ours/off_kernels.csv")),
                        ("logs", (logs["on"], logs["off"]))):
        sh(cwd, f"{tool}generate_kernel_view.py --sme2-on {files[0]} --sme2-off {files[1]} --out ours/{name}.md")
        expect("Which kernels ran" in (out / f"{name}.md").read_text(), name, "is of what ran")
    off, on = timelines(cwd)
    sh(cwd, f"{tool}robust_latency_analysis.py --timeline-csv {off} --compare {on} --name1 SME2-Off --name2 SME2-On "
       "--output-dir ours")
    sh(cwd, f"{tool}analyze_etdump_csv.py --timeline-csv {off} --compare {on} --name1 SME2-Off --name2 SME2-On "
       "--output-dir ours --verbose")
    levels = [a["level"] for a in json.loads((cwd / OUT / "manifest.json").read_text())["plan"]["arms"]]
    if not any(level.startswith("sme") for level in levels):
        bare = [p.name for p in out.iterdir() if re.search(r"SME2-O(n|ff)(?! \()", p.read_text())]
        expect(not bare, "a label without what ran", bare)
    for path in [*out.glob("*"), *(cwd / f"{OUT}_trace").glob("**/*_kernels.csv"),
                 *(cwd / f"{OUT}_trace").glob("kernel_view*.md")]:
        calls = re.findall(r"\b(?:brk|mmap\w*|memcpy\w*|memset\w*|futex\w*)\b", path.read_text())
        expect(not calls, path.name, "functions of the system are no kernels", calls)


def folder_stays_valid(cwd):
    """Tables of other things may be written into a run folder: it stays what it was, and validate and verify say so."""
    off, on = timelines(cwd)
    before = {p: p.read_bytes() for p in (cwd / OUT).rglob("*") if p.is_file()}
    tool = "python3 model_profiling/tools/"
    for folder in (OUT, f"{OUT}/{HOST}_sme2_on"):
        for line in (
            f"analyze_etdump_csv.py --timeline-csv {off} --compare {on} --output-dir {folder}",
            f"analyze_etdump_csv.py --timeline-csv {on} --output-dir {folder}",
            f"etdump_to_csv.py --etdump {OUT}/{HOST}_sme2_on/*_t1.etdump --out-dir {folder} "
            "--all-runs --json --run-index 1",
            f"robust_latency_analysis.py --timeline-csv {on} --output-dir {folder}",
        ):
            sh(cwd, tool + line)
            for verb in ("validate", "verify"):
                sh(cwd, f"$ETPROF {verb} {OUT}")
    sh(cwd, f"$ETPROF analyze {OUT} --out {OUT} --json-rows --run-index 2")
    sh(cwd, f"$ETPROF verify {OUT} && $ETPROF validate {OUT}")
    changed = [str(p) for p, bytes_ in before.items() if p.read_bytes() != bytes_]
    expect(not changed, f"files of the run were replaced: {changed}")
    made = {p.name for p in (cwd / OUT).rglob("*") if p.is_file()} - {p.name for p in before}
    expect(any("_comparison.csv" in n for n in made) and any("run1_timeline" in n for n in made),
           f"tables were written: {made}")


def tools(cwd):
    tool = "python3 model_profiling/tools/"
    off, on = timelines(cwd)
    sh(cwd, f"{tool}robust_latency_analysis.py --timeline-csv {off} --output-dir robust --verbose --name base")
    sh(
        cwd,
        f"{tool}robust_latency_analysis.py --timeline-csv {off} --compare {on} --name1 off --name2 on "
        "--output-dir robust",
    )
    made = sorted(p.name for p in (cwd / "robust").iterdir())
    expect(len(made) == 3 and sum("_robust_comparison" in n for n in made) == 1, f"robust: {made}")
    log = ROOT / "tests/data/kit/on_xnntrace.log"
    for flag, out in (("--xnntrace", "a_kernels.csv"), ("--xnntrace-log", "b_kernels.csv")):
        sh(cwd, f"{tool}xnntrace_to_kernels.py {flag} {log} --out {out} --model-id toy")
    expect((cwd / "a_kernels.csv").read_text() == (cwd / "b_kernels.csv").read_text() != "", "D8: both spellings")
    off_log = ROOT / "tests/data/kit/off_xnntrace.log"
    sh(
        cwd,
        f"{tool}generate_kernel_view.py --sme2-on a_kernels.csv --sme2-off {off_log} --out view.md "
        "--filter-op gemm --title T",
    )
    sh(cwd, f"{tool}generate_kernel_view.py --sme2-on-kernels {log} --sme2-off-kernels {off_log}")
    view = (cwd / "view.md").read_text()
    expect("SME2-On" in view and "neonsme2" in view and "dwconv" not in view, f"view: {view[:400]}")
    sh(cwd, f"{tool}xnntrace_to_kernels.py --out x.csv", code=2, err=["--xnntrace"])
    sh(cwd, f"{tool}generate_kernel_view.py --sme2-on {log}", code=2, err=["--sme2-off"])
    dump = f"{OUT}/{HOST}_sme2_on/*_t1.etdump"
    sh(cwd, f"{tool}etdump_to_csv.py --etdump {dump} --out-dir rows --json --run-index 3 --model-id own")
    names = {p.name.split("_t1_")[-1] for p in (cwd / "rows").iterdir() if "_t1_" in p.name}
    for name in ("exec_run3_timeline.csv", "exec_run3_timeline.json", "exec_all_runs_timeline.json",
                 "exec_ops_stats.json"):
        expect(name in names, f"etdump_to_csv wrote {name}: {names}")
    for path in (cwd / "rows").glob("*_exec_*.json"):
        if "robust" not in path.name:
            objects = json.loads(path.read_text())
            lines = list(csv.DictReader(path.with_suffix(".csv").open()))
            expect(len(objects) == len(lines) > 0 and {o["model_id"] for o in objects} == {"own"},
                   f"rows of {path.name}")
            expect(all(str(o["name"]) == line["name"] and list(o) == list(line) for o, line in zip(objects, lines)),
                  f"{path.name} says what the CSV says")
    sh(cwd, f"{tool}etdump_to_csv.py --etdump {dump} --out-dir r2 --etrecord none.etrecord", err=["does not exist"])
    sh(cwd, f"{tool}etdump_to_csv.py --etdump {dump} --out-dir r3 --etrecord none.etrecord --strict-etrecord", code=5)


def main(cwd):
    shutil.copytree(ROOT / "model_profiling", cwd / "model_profiling",
                    ignore=shutil.ignore_patterns("out_*", "__pycache__"))
    artifacts = cwd / "model_profiling/out_toy_cnn/artifacts"
    artifacts.mkdir(parents=True)
    shutil.copy(ROOT / "examples/models" / MODEL, artifacts)
    probe = execute(ETPROF, "ab", ROOT / "examples/models" / MODEL, "--blocks", "1", cwd=cwd)
    if "no runner for" in probe.stderr:
        print("skipped:", probe.stderr.strip())
        return 77
    pipeline = "python3 model_profiling/scripts/mac_pipeline.py --config model_profiling/configs/examples/"
    sh(cwd, pipeline + f"{HOST}_mobilenet_fp16.json", err=["THE FALLBACK"])
    sh(cwd, pipeline + f"{HOST}_mobilenet_fp16_trace.json", err=["never in a latency"])
    sh(cwd, pipeline + f"{HOST}_mobilenet_fp16.json --only {HOST}_sme2_onn", code=2, err=["did you mean"])
    if HOST == "linux":
        sh(cwd, pipeline + "mac_mobilenet_fp16.json", code=5, err=["names mac", "linux_mobilenet_fp16.json"])
        expect(not (cwd / OUT).with_name("mac").exists(), "nothing was measured for the Mac's folder")
    sh(cwd, "python3 model_profiling/scripts/android_pipeline.py --config "
       "model_profiling/configs/examples/android_mobilenet_fp16.json", code=(2, 5), err=["adb"])
    for name in ("manifest.json", "metrics.json", "analysis_summary.json", "report.md",
                 "toy_cnn_xnnpack_fp16_pipeline_summary.json", "toy_cnn_xnnpack_fp16_pipeline_summary.md",
                 f"{HOST}_sme2_on/toy_cnn_xnnpack_fp16_{HOST}_sme2_on_t1.etdump",
                 f"{HOST}_sme2_on/toy_cnn_xnnpack_fp16_{HOST}_sme2_on_t1.log",
                 f"{HOST}_sme2_off/toy_cnn_xnnpack_fp16_{HOST}_sme2_off_t1_exec_ops_stats.csv"):
        expect((cwd / OUT / name).is_file(), f"{name} is in the run folder")
    manifest = json.loads((cwd / OUT / "manifest.json").read_text())
    expect(manifest["executorch"]["sha"], "the manifest has ExecuTorch's SHA")
    comparison = json.loads((cwd / OUT / "report.json").read_text())["comparisons"][0]
    expect(comparison["baseline"] == f"{HOST}_sme2_off", "off is the baseline")
    sh(cwd, f"python3 model_profiling/scripts/analyze_results.py --run-dir {OUT}")
    # A run that was not made by the pages' scripts gets what their next lines read.
    own = f"out_toy_cnn/runs/{HOST}"
    sh(cwd, f"python3 model_profiling/scripts/analyze_results.py --run-dir {own} && $ETPROF verify {own}")
    expect(len(list((cwd / own).glob("*/*_all_runs_timeline.csv"))) == 2, "timelines of each arm")
    sh(cwd, f"python3 model_profiling/scripts/generate_report.py --run-dir {OUT}")
    sh(cwd, f"python3 model_profiling/scripts/validate_results.py --results {OUT}")
    sh(cwd, f"""python3 model_profiling/tools/analyze_etdump_csv.py \\
        --timeline-csv {OUT}/{HOST}_sme2_off/*_all_runs_timeline.csv \\
        --compare {OUT}/{HOST}_sme2_on/*_all_runs_timeline.csv \\
        --name1 "SME2-Off" --name2 "SME2-On" --output-dir tables --verbose""")
    d2_labels_follow_the_files(cwd)
    copied_tables_say_what_ran(cwd)
    logs_of_ours(cwd)
    sh(cwd, f"python3 model_profiling/tools/etdump_to_csv.py --etdump {OUT}/{HOST}_sme2_on/*_t1.etdump "
       "--out-dir csv --all-runs")
    for folder in ("tables", "csv"):
        expect(list((cwd / folder).glob("*.csv")), f"{folder} holds CSV files")
    folder_stays_valid(cwd)
    with (cwd / OUT / "samples.csv").open("a") as f:
        f.write("\n")  # an altered folder is not valid any more
    sh(cwd, f"python3 model_profiling/scripts/validate_results.py --results {OUT}", code=1)
    sh(cwd, "python3 model_profiling/scripts/validate_setup.py", code=(0, 1))  # fit or not: the machine decides
    sh(cwd, "python3 model_profiling/scripts/validate_setup.py --model no.pte", code=5, err=["no.pte"])
    tools(cwd)
    sh(cwd, "python3 model_profiling/export/export_model.py --model toy_cnn", code=2, err=["--outdir"])
    for entry in [p for d in ("scripts", "export", "tools") for p in (cwd / "model_profiling" / d).iterdir()]:
        if entry.suffix == ".py":  # shell entries build, and say what is missing
            expect(len(entry.read_text().splitlines()) <= 20, f"{entry.name} has at most 20 lines")
    return 0


tmp = new_folder()
code = main(tmp)
finish(code=code)
