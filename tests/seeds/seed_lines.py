# SPDX-License-Identifier: Apache-2.0
"""Every command line of the kit's pages, in their order, as typed there.

Each entry: (page, line, want). Pages: 1 and 2 are the learning path's, R is the kit's README. A line
is typed in bash with `python` on PATH, after PLACEHOLDERS have been filled in. want is an exit code, or
(exit code, words in its output), or a string: why it is not run here.
The pages are written on a Mac. Elsewhere a config that names a Mac is refused, so such lines (ELSEWHERE) are typed
twice: as printed, and as the reader of another machine types them, with that machine's name for the Mac's.
With ETPROF_SEEDS=folder of the pages' texts the test checks that no line of theirs is missing here."""
import sys

HOST = "mac" if sys.platform == "darwin" else "linux"
PLACEHOLDERS = {"<model_name>": "toy_cnn", "<your_model>": "toy_cnn", "<model>": "toy_cnn",
                "<experiment_off>": f"{HOST}_sme2_off", "<experiment>": f"{HOST}_sme2_on"}
NETWORK = "fetches the kit itself; etprof's own tree takes its place"
INSTALLS = "installs and builds: run by skills.setup; here its syntax is checked"
SETTINGS = "Android's own command, for the reader's phone: D19, etprof neither needs nor advises it"
REFUSED = (5, "names mac, but this machine is linux")
ELSEWHERE = ("mac_template.json", "mac_pipeline.py", "/<experiment>/")  # in lines that are typed twice
READ = [("mac_template", f"{HOST}_template"), ("mac_mobilenet", f"{HOST}_mobilenet"), ("runs/mac", f"runs/{HOST}")]
P = "python model_profiling/"
EXPORT = (0, "export toy_cnn --backend xnnpack --dtype fp16 --outdir")

LINES = [
    (1, "mkdir -p ~/sme2_analysis_work", 0),
    (1, "cd ~/sme2_analysis_work", 0),
    (1, "git clone https://github.com/ArmDeveloperEcosystem/sme-executorch-profiling.git executorch_sme2_kit", NETWORK),
    (1, "cd executorch_sme2_kit", NETWORK),
    (1, "bash model_profiling/scripts/setup_repo.sh", INSTALLS),
    (1, "bash model_profiling/scripts/build_runners.sh", INSTALLS),
    (1, P + "scripts/run_quick_test.py", (0, "none failed")),
    (1, P + "scripts/analyze_results.py --run-dir model_profiling/out_toy_cnn/runs/mac", 0),
    (2, P + "export/export_model.py --model toy_cnn --dtype fp16 --outdir model_profiling/out_toy_cnn/artifacts/",
     EXPORT),
    (2, "cat model_profiling/configs/templates/mac_template.json", (0, "experiments")),
    (2, "cat model_profiling/configs/examples/mac_mobilenet_fp16.json", (0, "experiments")),
    (2, "adb shell settings put global low_power 0", SETTINGS),
    (2, "adb shell settings put global stay_on_while_plugged_in 15", SETTINGS),
    (2, "adb shell svc power stayon true", SETTINGS),
    (2, "adb shell settings put global window_animation_scale 0", SETTINGS),
    (2, "adb shell settings put global transition_animation_scale 0", SETTINGS),
    (2, "adb shell settings put global animator_duration_scale 0", SETTINGS),
    (2, "adb shell settings put global stay_on_while_plugged_in 1", SETTINGS),
    (2, "adb shell settings put global window_animation_scale 1", SETTINGS),
    (2, "adb shell settings put global transition_animation_scale 1", SETTINGS),
    (2, "adb shell settings put global animator_duration_scale 1", SETTINGS),
    (2, "adb shell settings get global stay_on_while_plugged_in", SETTINGS),
    (2, "adb shell settings get global low_power", SETTINGS),
    (2, 'adb shell dumpsys power | grep -i "stay.*awake\\|thermal"', SETTINGS),
    (2, P + "scripts/android_pipeline.py --config model_profiling/configs/examples/android_mobilenet_fp16.json",
     (5, "adb")),  # no phone here: tests/devices measures over a real adbd
    (2, P + "scripts/analyze_results.py --run-dir model_profiling/out_toy_cnn/runs/android", 0),
    (2, P + "scripts/mac_pipeline.py --config model_profiling/configs/examples/mac_mobilenet_fp16.json", 0),
    (2, P + "scripts/validate_results.py --results model_profiling/out_toy_cnn/runs/mac", 0),
    ("R", "git clone https://github.com/ArmDeveloperEcosystem/sme-executorch-profiling.git executorch_sme2_kit",
     NETWORK),
    ("R", "source .venv/bin/activate", "the reader's shell; etprof finds .venv by itself"),
    ("R", P + "export/export_model.py --model <model_name> --dtype fp16 --outdir out_<model>/artifacts/", EXPORT),
    ("R", "cp model_profiling/configs/templates/mac_template.json model_profiling/configs/my_experiment.json", 0),
    ("R", P + "scripts/mac_pipeline.py --config model_profiling/configs/my_experiment.json", 0),
    ("R", P + "scripts/analyze_results.py --run-dir out_<model>/runs/mac", 0),
    ("R", P + "scripts/generate_report.py --run-dir out_<model>/runs/mac", 0),
    ("R", P + "tools/analyze_etdump_csv.py --timeline-csv out_<model>/runs/mac/<experiment>/*_all_runs_timeline.csv "
     "--compare out_<model>/runs/mac/<experiment_off>/*_all_runs_timeline.csv "
     '--name1 "SME2-Off" --name2 "SME2-On" --output-dir out_<model>/runs/mac/ --verbose',
     (0, "the names contradict the files|taken as the baseline")),
    ("R", P + "export/export_model.py --model <your_model> --dtype fp16 --outdir out_<your_model>/artifacts/", EXPORT),
]
