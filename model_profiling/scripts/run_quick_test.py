# SPDX-License-Identifier: Apache-2.0
# The bundled model through ab; results in model_profiling/out_toy_cnn/runs.
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from seed_entry import ROOT, become, options, say  # noqa: E402

import shutil

options(("--platform", {"choices": ["mac", "android", "linux"]}))
model = ROOT / "model_profiling/out_toy_cnn/artifacts/toy_cnn_xnnpack_fp16.pte"
if not model.exists():
    model.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(ROOT / "examples/models" / model.name, model)
say("the bundled toy_cnn is measured on the local device; etprof verify FOLDER checks the result")
become("ab", model, "--blocks", "6")
