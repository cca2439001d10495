# SPDX-License-Identifier: Apache-2.0
"""The command lines of the kit's documents, as typed, from a clean folder with the tree's
model_profiling in it. usage: test_commands.py ETPROF; 77 = skipped, no runner is built.

Not run here: setup_repo.sh and build_runners.sh (they install and build; only their syntax is
checked), export_model.py beyond its arguments (needs PyTorch; tests/python runs exports)."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
ETPROF = str(pathlib.Path(sys.argv[1]).resolve())
MODEL = "toy_cnn_xnnpack_fp16.pte"
OUT = "model_profiling/out_toy_cnn/runs/mac"
failures = []


def sh(cwd, line, code=0, err=()):
    env = {**os.environ, "ETPROF": ETPROF}
    done = subprocess.run(["bash", "-c", line], cwd=cwd, env=env, capture_output=True, text=True,
                          timeout=300, check=False, stdin=subprocess.DEVNULL)
    for part in err:
        if part not in done.stderr:
            failures.append(f"{line}: stderr has no {part!r}: {done.stderr}")
    codes = code if isinstance(code, tuple) else (code,)
    if done.returncode not in codes:
        failures.append(f"{line}: exit code {done.returncode}, not {code}: {done.stderr}")
    return done.stdout


def check(ok, what):
    if not ok:
        failures.append(what)


def main(cwd):
    shutil.copytree(ROOT / "model_profiling", cwd / "model_profiling",
                    ignore=shutil.ignore_patterns("out_*", "__pycache__"))
    (cwd / "examples/models").mkdir(parents=True)
    shutil.copy(ROOT / "examples/models" / MODEL, cwd / "examples/models")
    probe = subprocess.run([ETPROF, "ab", str(ROOT / "examples/models" / MODEL), "--blocks", "1"],
                           cwd=cwd, capture_output=True, text=True, timeout=120, check=False)
    if "no runner for" in probe.stderr:
        print("skipped:", probe.stderr.strip())
        return 77
    for script in ("setup_repo", "build_runners"):
        sh(cwd, f"bash -n model_profiling/scripts/{script}.sh")
    sh(cwd, "python3 model_profiling/scripts/run_quick_test.py", err=["bundled toy_cnn"])
    sh(cwd, "cat model_profiling/configs/templates/mac_template.json")
    pipeline = "python3 model_profiling/scripts/mac_pipeline.py --config model_profiling/configs/examples/"
    here = [] if sys.platform == "darwin" else ["not macOS: the local device is measured"]
    sh(cwd, pipeline + "mac_mobilenet_fp16.json", err=[*here, "THE FALLBACK"])
    sh(cwd, pipeline + "mac_mobilenet_fp16_trace.json", err=["never in a latency"])
    sh(cwd, pipeline + "mac_mobilenet_fp16.json --only mac_sme2_onn", code=2, err=["did you mean"])
    sh(cwd, "python3 model_profiling/scripts/android_pipeline.py --config "
       "model_profiling/configs/examples/android_mobilenet_fp16.json", code=(2, 5), err=["adb"])
    for name in ("manifest.json", "metrics.json", "analysis_summary.json", "report.md",
                 "toy_cnn_xnnpack_fp16_pipeline_summary.json", "toy_cnn_xnnpack_fp16_pipeline_summary.md",
                 "mac_sme2_on/toy_cnn_xnnpack_fp16_mac_sme2_on_t1.etdump",
                 "mac_sme2_on/toy_cnn_xnnpack_fp16_mac_sme2_on_t1.log",
                 "mac_sme2_off/toy_cnn_xnnpack_fp16_mac_sme2_off_t1_exec_ops_stats.csv"):
        check((cwd / OUT / name).is_file(), f"{name} is in the run folder")
    manifest = json.loads((cwd / OUT / "manifest.json").read_text())
    check(manifest["executorch"]["sha"], "the manifest has ExecuTorch's SHA")
    comparison = json.loads((cwd / OUT / "report.json").read_text())["comparisons"][0]
    check(comparison["baseline"] == "mac_sme2_off", "off is the baseline")
    sh(cwd, f"python3 model_profiling/scripts/analyze_results.py --run-dir {OUT}")
    sh(cwd, f"python3 model_profiling/scripts/generate_report.py --run-dir {OUT}")
    sh(cwd, f"python3 model_profiling/scripts/validate_results.py --results {OUT}")
    sh(cwd, f"""python3 model_profiling/tools/analyze_etdump_csv.py \\
        --timeline-csv {OUT}/mac_sme2_off/*_all_runs_timeline.csv \\
        --compare {OUT}/mac_sme2_on/*_all_runs_timeline.csv \\
        --name1 "SME2-Off" --name2 "SME2-On" --output-dir tables --verbose""")
    sh(cwd, f"python3 model_profiling/tools/etdump_to_csv.py --etdump {OUT}/mac_sme2_on/*_t1.etdump "
       "--out-dir csv --all-runs")
    for folder in ("tables", "csv"):
        check(list((cwd / folder).glob("*.csv")), f"{folder} holds CSV files")
    with (cwd / OUT / "samples.csv").open("a") as f:
        f.write("\n")  # an altered folder is not valid any more
    sh(cwd, f"python3 model_profiling/scripts/validate_results.py --results {OUT}", code=1)
    sh(cwd, "python3 model_profiling/scripts/validate_setup.py", code=(0, 1))  # fit or not: the machine decides
    sh(cwd, "python3 model_profiling/scripts/validate_setup.py --model no.pte", code=5, err=["no.pte"])
    for script in ("tools/robust_latency_analysis", "tools/xnntrace_to_kernels", "tools/generate_kernel_view"):
        sh(cwd, f"python3 model_profiling/{script}.py", code=5, err=["cannot do this yet"])
    sh(cwd, "python3 model_profiling/export/export_model.py --model toy_cnn", code=2, err=["--outdir"])
    for entry in [p for d in ("scripts", "export", "tools") for p in (cwd / "model_profiling" / d).iterdir()]:
        if entry.is_file():
            check(len(entry.read_text().splitlines()) <= 20, f"{entry.name} has at most 20 lines")
    return 0


with tempfile.TemporaryDirectory() as tmp:
    code = main(pathlib.Path(tmp))
print("\n".join(failures))
sys.exit(1 if failures else code)
