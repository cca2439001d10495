#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Makes the smallest real ExecuTorch files for the reader tests, and what the official tools say
# about them. Needs torch 2.13, executorch 1.5.1 (and its devtools); the tests need only the files.
#
#     python tests/data/make_fixtures.py [--out DIR] [--keep-recordings]
#
# Programs are reproducible byte for byte. Dumps are real recordings, so their times differ each
# run, and an ETRecord holds an object address: --keep-recordings leaves those files alone.
import argparse
import gzip
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

if os.environ.get("PYTHONHASHSEED") != "0":
    # Set iteration order reaches the serialised program.
    os.execve(sys.executable, [sys.executable] + sys.argv, {**os.environ, "PYTHONHASHSEED": "0"})

import torch
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.devtools import BundledProgram, Inspector
from executorch.devtools.bundled_program.config import MethodTestCase, MethodTestSuite
from executorch.devtools.bundled_program.serialize import (
    serialize_from_bundled_program_to_flatbuffer,
)
from executorch.exir import ExecutorchBackendConfig, to_edge_transform_and_lower
from executorch.runtime import Runtime
from torch import nn
from torch.export import export

ITERATIONS = 3


class Linear(nn.Module):
    """One fully connected layer, 4 -> 3: one delegate, one operator."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)

    def forward(self, x):
        return self.fc(x)


class Mixed(nn.Module):
    """Linear, a running sum that XNNPACK does not take, linear: two delegates, one kernel between."""

    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 3)
        self.b = nn.Linear(3, 2)

    def forward(self, x):
        return self.b(torch.cumsum(torch.relu(self.a(x)), 1))


def lower(model, inputs, backend="xnnpack", config=None, etrecord=False):
    partitioner = [XnnpackPartitioner()] if backend == "xnnpack" else None
    edge = to_edge_transform_and_lower(
        export(model.eval(), inputs), partitioner=partitioner, generate_etrecord=etrecord
    )
    return edge.to_executorch(config) if config else edge.to_executorch()


def write_program(program, path):
    with open(path, "wb") as out:
        program.write_to_file(out)


def record(pte, inputs, dump, keep_load_block):
    """Runs the program with the event tracer and writes what it recorded."""
    program = Runtime.get().load_program(str(pte), enable_etdump=True)
    method = program.load_method("forward")
    scratch = tempfile.mkdtemp()
    debug = os.path.join(scratch, "debug.bin")
    if not keep_load_block:
        # Fetching the result ends the dump with the load block in it; the next run starts a new one.
        for _ in range(2):
            method.execute(inputs)
        program.write_etdump_result_to_file(os.path.join(scratch, "dropped.etdump"), debug)
    for _ in range(ITERATIONS):
        method.execute(inputs)
    program.write_etdump_result_to_file(str(dump), debug)


def save_etrecord(program, path):
    """Saves the record with repository-relative source paths and without the time of day."""
    program.get_etrecord().save(str(path))
    root = Path(__file__).resolve().parents[2]
    prefixes = [str(root) + "/", str(Path(torch.__file__).resolve().parents[1]) + "/"]
    with zipfile.ZipFile(path) as source:
        entries = [(name, source.read(name)) for name in source.namelist()]
    with zipfile.ZipFile(path, "w") as target:
        for name, data in entries:
            for prefix in prefixes:
                data = data.replace(prefix.encode(), b"")
            target.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), data)


def tables(dump, etrecord=None):
    """The official Inspector's table, and the file field by field as flatc prints it."""
    suffix = ".etrecord.tsv" if etrecord else ".tsv"
    inspector = Inspector(etdump_path=str(dump), etrecord=str(etrecord) if etrecord else None)
    with open(str(dump) + suffix, "w", newline="") as out:
        inspector.save_data_to_tsv(out)


def field_by_field(path, schema, extra=()):
    """flatc's view of a file, as readable JSON."""
    import executorch

    root = Path(list(executorch.__path__)[0])
    flatc = root / "data" / "bin" / "flatc"
    schemas = {p.name: p for p in root.rglob("*.fbs")}
    with tempfile.TemporaryDirectory() as scratch:
        for name, source in schemas.items():
            (Path(scratch) / name).write_bytes(source.read_bytes())
        subprocess.run(
            [str(flatc), "--json", "--defaults-json", "--strict-json", *extra, "-o", scratch,
             str(Path(scratch) / schema), "--", str(path)],
            check=True, stdout=subprocess.DEVNULL,
        )
        text = (Path(scratch) / (Path(path).stem + ".json")).read_text()
    # flatc prints bare infinities, which are not JSON.
    for word in ("-inf", "inf", "nan"):
        text = text.replace(f": {word}", f': "{word}"')
    json.loads(text)
    with open(str(path) + ".json.gz", "wb") as raw:
        with gzip.GzipFile(fileobj=raw, mode="wb", mtime=0) as out:
            out.write(text.encode())


def make(out, keep_recordings):
    made = []

    def pte(name, model, inputs, **options):
        torch.manual_seed(0)
        program = lower(model(), inputs, **options)
        path = out / f"{name}.pte"
        write_program(program, path)
        field_by_field(path, "program.fbs")
        made.append(path)
        return path, program

    x = (torch.arange(8, dtype=torch.float32).reshape(2, 4) / 8,)
    linear, _ = pte("linear_xnnpack_fp32", Linear, x)
    mixed, program = pte("mixed_xnnpack_fp32", Mixed, x, etrecord=True)
    record_file = out / "mixed_xnnpack_fp32.etrecord"
    if not (keep_recordings and record_file.exists()):
        save_etrecord(program, record_file)
    portable, _ = pte("linear_portable_fp32", Linear, x, backend="portable")

    external = ExecutorchBackendConfig(external_constants=lambda _: "linear_external")
    torch.manual_seed(0)
    program = lower(Linear(), x, backend="portable", config=external)
    write_program(program, out / "linear_portable_fp32_external.pte")
    program.write_tensor_data_to_file(str(out))
    field_by_field(out / "linear_portable_fp32_external.pte", "program.fbs")
    field_by_field(out / "linear_external.ptd", "flat_tensor.fbs")

    torch.manual_seed(0)
    model = Linear().eval()
    suite = MethodTestSuite("forward", [MethodTestCase(inputs=x, expected_outputs=[model(*x)])])
    bundled = BundledProgram(lower(model, x), [suite])
    (out / "linear_xnnpack_fp32.bpte").write_bytes(
        serialize_from_bundled_program_to_flatbuffer(bundled)
    )
    field_by_field(out / "linear_xnnpack_fp32.bpte", "bundled_program_schema.fbs")

    dumps = [
        (linear, "linear_xnnpack_fp32.etdump", False),
        (mixed, "mixed_xnnpack_fp32.etdump", False),
        (portable, "linear_portable_fp32.etdump", False),
        (mixed, "mixed_xnnpack_fp32_load.etdump", True),
    ]
    for source, name, load in dumps:
        dump = out / name
        if keep_recordings and dump.exists():
            continue
        record(source, x, dump, load)
        tables(dump)
        field_by_field(dump, "etdump_schema_flatcc.fbs", ("--size-prefixed",))
    if not (keep_recordings and (out / "mixed_xnnpack_fp32.etdump.etrecord.tsv").exists()):
        tables(out / "mixed_xnnpack_fp32.etdump", record_file)


def main():
    parser = argparse.ArgumentParser(description="make the reader fixtures")
    parser.add_argument("--out", type=Path, default=Path(__file__).resolve().parent)
    parser.add_argument("--keep-recordings", action="store_true", help="leave existing recordings alone")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    make(options.out, options.keep_recordings)
    for path in sorted(options.out.iterdir()):
        if path.suffix in (".pte", ".etdump", ".etrecord", ".bpte", ".ptd"):
            print(f"{path.stat().st_size:8d}  {path.name}")


if __name__ == "__main__":
    main()
