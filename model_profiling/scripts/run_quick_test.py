# SPDX-License-Identifier: Apache-2.0
# Export, run, validate: etprof export, ab, validate; without PyTorch the bundled toy_cnn.
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from seed_entry import FLAG, ROOT, become, fresh, has_torch, host, options, say, then  # noqa: E402

o = options(("--platform", {"choices": ["mac", "android", "linux"], "default": host()}), ("--no-export", FLAG))
model = ROOT / "model_profiling/out_toy_cnn/artifacts/toy_cnn_xnnpack_fp16.pte"
model.parent.mkdir(parents=True, exist_ok=True)
if not o.no_export and has_torch():
    then("export", "toy_cnn", "--dtype", "fp16", "--outdir", model.parent)
else:
    say("left out: exporting; to have it: bash model_profiling/scripts/setup_repo.sh")
    model.write_bytes((ROOT / "examples/models" / model.name).read_bytes())
device, out = ["--device", "adb"] if o.platform == "android" else [], fresh(f"out_toy_cnn/runs/{o.platform}")
then("ab", model, *"--blocks 2 --iterations 10 --warmup 3 --out".split(), out, *device)
then("analyze", out, "--out", out, "--quiet")  # with the timelines
become("validate", out)
