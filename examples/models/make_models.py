#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Makes the programs in this folder: two models in three precisions, seeded, the same bytes each
# time. Needs torch 2.13, executorch 1.5.1 and torchao 0.18; running the programs needs none of them.
#
#     python examples/models/make_models.py [--out DIR] [--only NAME] [--etrecord DIR] [--check]
import argparse
import hashlib
import importlib.util
import os
import sys
import tempfile
from pathlib import Path

if os.environ.get("PYTHONHASHSEED") != "0":
    # Set iteration order reaches the serialised program.
    os.execve(sys.executable, [sys.executable] + sys.argv, {**os.environ, "PYTHONHASHSEED": "0"})

import torch
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
    XNNPACKQuantizer,
    get_symmetric_quantization_config,
)
from executorch.exir import EdgeCompileConfig, to_edge_transform_and_lower
from torch.export import export
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

HERE = Path(__file__).resolve().parent
MODELS = HERE.parents[1] / "model_profiling" / "models"
SEED = 20260121
CALIBRATION_SAMPLES = 8
CLASSES = {"toy_cnn": "ToyCNNModel", "image_encoder": "ImageEncoderModel"}
PRECISIONS = ("fp32", "fp16", "int8")


def load(name):
    """The model's class from its folder, without installing anything."""
    spec = importlib.util.spec_from_file_location(name, MODELS / name / "model.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, CLASSES[name])()


def quantize(model, inputs):
    """Static int8, weights per channel, ranges from a few seeded samples."""
    quantizer = XNNPACKQuantizer()
    quantizer.set_global(get_symmetric_quantization_config(is_per_channel=True))
    prepared = prepare_pt2e(export(model, inputs).module(), quantizer)
    for _ in range(CALIBRATION_SAMPLES):
        prepared(*[torch.randn_like(x) for x in inputs])
    return convert_pt2e(prepared)


def build(name, precision):
    torch.manual_seed(SEED)
    source = load(name)
    model, inputs = source.get_eager_model().eval(), source.get_example_inputs()
    if precision == "fp16":
        model, inputs = model.half(), tuple(x.half() for x in inputs)
    elif precision == "int8":
        model = quantize(model, inputs)
    edge = to_edge_transform_and_lower(
        export(model, inputs),
        partitioner=[XnnpackPartitioner()],
        compile_config=EdgeCompileConfig(_check_ir_validity=precision != "int8"),
        generate_etrecord=True,
    )
    return edge.to_executorch()


def make(names, out, etrecord):
    for name in names:
        for precision in PRECISIONS:
            program = build(name, precision)
            path = out / f"{name}_xnnpack_{precision}.pte"
            with open(path, "wb") as file:
                program.write_to_file(file)
            if etrecord:
                program.get_etrecord().save(str(etrecord / f"{path.name}.etrecord"))
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            print(f"{digest}  {path.stat().st_size:8d}  {path.name}", flush=True)


def check(names):
    """Makes everything again elsewhere and compares; returns the names that differ."""
    with tempfile.TemporaryDirectory() as scratch:
        make(names, Path(scratch), None)
        made = sorted(Path(scratch).iterdir())
        return [p.name for p in made if p.read_bytes() != (HERE / p.name).read_bytes()]


def main():
    parser = argparse.ArgumentParser(description="make the example programs")
    parser.add_argument("--out", type=Path, default=HERE)
    parser.add_argument("--only", choices=sorted(CLASSES), action="append")
    parser.add_argument("--etrecord", type=Path, help="also write the (large) records here")
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    options = parser.parse_args()
    names = options.only or list(CLASSES)
    if options.check:
        different = check(names)
        if different:
            sys.exit("different: " + ", ".join(different))
        return
    for folder in (options.out, options.etrecord):
        if folder:
            folder.mkdir(parents=True, exist_ok=True)
    make(names, options.out, options.etrecord)


if __name__ == "__main__":
    main()
