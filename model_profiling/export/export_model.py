# SPDX-License-Identifier: Apache-2.0
# etprof export, with the kit's defaults.
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from seed_entry import FLAG, NEEDED, become, options  # noqa: E402

o = options(("--model", NEEDED), ("--backend", {"default": "xnnpack"}), ("--dtype", {"default": "fp16"}),
            ("--quantize", FLAG), ("--outdir", NEEDED), ("--save-graph", FLAG), ("--verbose", FLAG))
fallback = ["--fallback", "toy_cnn"] if o.model == "mobilenet_v3_small" else []
become("export", o.model, "--backend", o.backend, "--dtype", "int8" if o.quantize else o.dtype, "--outdir",
       o.outdir, *["--save-graph"] * o.save_graph, *["--verbose"] * o.verbose, *fallback)
