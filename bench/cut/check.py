#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every prefix and capsule of programs, and holds each node of a prefix against PyTorch.

usage: check.py BENCH_CUT RUNNER SCHEMAS FLATC MODEL.pte[,OPTION]...

RUNNER is a command ("./ld.so --library-path . ./etprof-runner"), SCHEMAS a folder with program.fbs, scalar_type.fbs and
XNNPACK's schema.fbs, OPTION one of the runner ("--inputs=ones"). PyTorch computes a node's reference from what the
prefixes before hand out, so that each node is judged alone, in float32, from flatc's reading of the program. Prints
a line per model, and each failure."""
import collections
import json
import pathlib
import re
import shlex
import struct
import subprocess
import sys
import tempfile

import numpy as np
import torch
import torch.nn.functional as F

BENCH, RUNNER, SCHEMAS, FLATC = sys.argv[1:5]
TYPES = {"uint8": np.uint8, "int8": np.int8, "int32": np.int32, "int64": np.int64, "float16": np.float16,
         "float32": np.float32, "float64": np.float64, "bool": np.bool_}
BINARY = {"XNNAdd": torch.add, "XNNMultiply": torch.mul, "XNNSubtract": torch.sub, "XNNDiv": torch.div,
          "XNNMinimum": torch.minimum, "XNNMaximum": torch.maximum, "XNNBatchMatrixMultiply": torch.matmul}
UNARY = {"XNNSigmoid": torch.sigmoid, "XNNHardswish": F.hardswish, "XNNClamp": lambda x: x, "XNNConvert": lambda x: x,
         "XNNCopy": lambda x: x, "XNNGelu": F.gelu, "XNNTanh": torch.tanh, "XNNExp": torch.exp, "XNNAbs": torch.abs,
         "XNNNegate": torch.neg, "XNNSquare": torch.square, "XNNSquareRoot": torch.sqrt, "XNNLog": torch.log,
         "XNNReciprocalSquareRoot": torch.rsqrt, "XNNFloor": torch.floor, "XNNCeiling": torch.ceil,
         "XNNSoftmax": lambda x: torch.softmax(x, -1), "XNNSin": torch.sin, "XNNCos": torch.cos,
         "XNNGlobalAvgPooling2d": lambda x: x.mean((1, 2), keepdim=True)}


def flatc(schema, data, folder):
    file = folder / "one.bin"
    file.write_bytes(data)
    subprocess.run([FLATC, "--json", "--strict-json", "--defaults-json", "--raw-binary", "-I", SCHEMAS, "-o", folder,
                    f"{SCHEMAS}/{schema}", "--", file], check=True, capture_output=True)
    text = (folder / "one.json").read_text(encoding="utf-8", errors="replace")
    return json.loads(re.sub(r"(?<=: )(-?inf|nan)", r'"\1"', text))


def payload_of(data, program, delegate, folder):
    base = struct.unpack_from("<Q", data, 24)[0] if data[8:12] == b"eh00" else 0
    place, at = delegate["processed"]["location"], delegate["processed"]["index"]
    segment = lambda i: data[base + program["segments"][i]["offset"]:][:program["segments"][i]["size"]]  # noqa: E731
    blob = segment(at) if place == "SEGMENT" else bytes(program["backend_delegate_data"][at]["data"])
    graph_at, graph_n, data_at = struct.unpack_from("<III", blob, 10)
    graph = flatc("schema.fbs", blob[graph_at:graph_at + graph_n], folder)
    named = {d["key"]: d["segment_index"] for d in program.get("named_data", [])}

    def constant(i):
        c = graph["constant_data"][i]
        if c.get("named_key"):
            return segment(named[c["named_key"]])[:c["size"] or None] if c["named_key"] in named else None
        return blob[data_at + c["offset"]:][:c["size"]]
    return graph, constant


class Values:
    """Of one payload, as float32 and as their type can hold them."""

    def __init__(self, graph, constant):
        self.by_id, self.constant, self.made = {}, constant, {}
        for v in graph["xvalues"]:
            body, quant = v["xvalue_union"], None
            if v["xvalue_union_type"] == "XNNQuantizedTensorValue":
                body, quant = body["tensor_value"], body.get("quant_params", {})
            self.by_id[body["id_out"]] = (body, quant)

    def scale(self, quant):
        if "channel_dim" in quant and "group_size" not in quant:
            raw = quant.get("scale") or np.frombuffer(self.constant(quant["scale_buffer_idx"]), np.float32)
            return np.asarray(raw, np.float32), quant["channel_dim"]
        return np.float32(quant.get("scale", 1)), None

    def get(self, ident):
        if ident in self.made:
            return self.made[ident]
        body, quant = self.by_id[ident]
        raw = self.constant(body["constant_buffer_idx"]) if body["constant_buffer_idx"] else None
        kind, dims = body["datatype"].split("_")[-1], body["dims"]
        if raw is None:
            raise KeyError("its data is elsewhere")
        numpy = {"fp32": np.float32, "fp16": np.float16, "qcint8": np.int8, "qint8": np.int8, "qcint32": np.int32,
                 "qint32": np.int32}
        if kind not in numpy:
            raise KeyError(f"constants of {kind}")
        x = np.frombuffer(raw, numpy[kind])[:int(np.prod(dims))].reshape(dims).astype(np.float32)
        if quant is not None:
            scale, dim = self.scale(quant)
            if dim is not None:
                scale = scale.reshape([-1 if d == dim else 1 for d in range(len(dims))])
            x = (x - quant.get("zero_point", 0)) * scale
        return torch.from_numpy(x.copy())

    def keep(self, ident, array):
        body, quant = self.by_id[ident]
        x = array.astype(np.float32)
        if quant and "zero_point" in quant:
            x = (x - quant["zero_point"]) * np.float32(quant["scale"])
        self.made[ident] = torch.from_numpy(x.copy())

    def quantum(self, ident, want):
        """What one step, or one rounding of a sum, of this value is."""
        body, quant = self.by_id[ident]
        if quant and "zero_point" in quant:
            return float(quant["scale"])
        return float(want.abs().max()) * (2e-3 if "16" in body["datatype"] else 7e-6)

    def slack(self, ident, want):
        """What an operand allows: flatc prints scales to six places; steps of a dynamic one are not known."""
        body, quant = self.by_id.get(ident, (None, None))
        dynamic = body is not None and body["datatype"].endswith("qdint8")
        return 0.03 * float(want.abs().max()) if dynamic else 0.05 * float(quant["scale"]) if quant and \
            "zero_point" in quant else 0.0

    def saturated(self, ident, want):
        _, quant = self.by_id[ident]
        if not quant or "zero_point" not in quant:
            return want
        return want.clamp((-128 - quant["zero_point"]) * quant["scale"], (127 - quant["zero_point"]) * quant["scale"])


def convolve(values, body, depthwise):
    x, w = values.get(body["input1_id"]).permute(0, 3, 1, 2), values.get(body["filter_id"])
    b = values.get(body["bias_id"]) if body["bias_id"] != 2**32 - 1 else None
    x = F.pad(x, (body["padding_left"], body["padding_right"], body["padding_top"], body["padding_bottom"]))
    w = w.permute(3, 0, 1, 2) if depthwise else w.permute(0, 3, 1, 2)
    y = F.conv2d(x, w, b, (body["subsampling_height"], body["subsampling_width"]), 0,
                 (body["dilation_height"], body["dilation_width"]), body["groups"])
    return y.permute(0, 2, 3, 1)


def compute(node, values):
    kind, body = node["xnode_union_type"], node["xnode_union"]
    if kind in ("XNNConv2d", "XNNDepthwiseConv2d"):
        return convolve(values, body, kind == "XNNDepthwiseConv2d")
    if kind == "XNNFullyConnected":
        b = values.get(body["bias_id"]) if body["bias_id"] != 2**32 - 1 else None
        w = values.get(body["filter_id"])
        return F.linear(values.get(body["input1_id"]), w.T if body["flags"] & 1 else w, b)
    if kind in BINARY:
        return BINARY[kind](values.get(body["input1_id"]), values.get(body["input2_id"]))
    if kind in UNARY:
        return UNARY[kind](values.get(body["input_id"]))
    if kind == "XNNStaticTranspose":
        return values.get(body["input_id"]).permute(body["perm"])
    if kind == "XNNStaticReshape":
        return values.get(body["input_id"]).reshape(body["new_shape"])
    if kind == "XNNStaticSlice":
        x = values.get(body["input_id"])
        return x[tuple(slice(o, o + s) for o, s in zip(body["offsets"], body["sizes"]))]
    if kind.startswith("XNNConcatenate"):
        return torch.cat([values.get(body[f"input{i}_id"]) for i in range(1, int(kind[-1]) + 1)], body["axis"])
    raise KeyError(f"no reference for {kind}")


def run(file, data, folder):
    lines = f"run 1\noutputs {folder}\nquit\n"
    done = subprocess.run([*shlex.split(RUNNER), "--model", file, *data], input=lines, text=True,
                          capture_output=True)
    if done.returncode or '"error"' in done.stdout:
        said = [json.loads(s) for s in done.stdout.splitlines() if '"error"' in s]
        return None, (said[-1]["message"] if said else f"exit code {done.returncode}")
    listed = json.loads((folder / "outputs.json").read_text())["outputs"]
    return [np.fromfile(folder / o["file"], TYPES[o["dtype"]]).reshape(o["shape"]) for o in listed], None


def hold(node, values, got, counts, where):
    """One node's output against PyTorch's."""
    ident = next(node["xnode_union"][k] for k in ("output_id", "output_value_id") if k in node["xnode_union"])
    try:
        want = compute(node, values)
        limits = node.get("output_min_max")
        if limits:
            want = want.clamp(float(limits["output_min"]), float(limits["output_max"]))
    except KeyError as why:
        counts[f"no reference ({why.args[0]})"] += 1
        want = None
    if got is None:  # dynamically quantised: what it was made of
        values.made[ident] = want if want is not None else values.get(node["xnode_union"]["input_id"])
        return
    values.keep(ident, got)
    if want is not None:
        body, _ = values.by_id[ident]
        kind = node["xnode_union_type"]
        want = values.saturated(ident, want)
        one, two = values.made[ident], want.reshape(values.made[ident].shape)
        far = float(torch.where(one == two, torch.zeros(()), (one - two).abs()).max())
        low = max(values.slack(node["xnode_union"].get(k), want) for k in ("input_id", "input1_id", "input2_id"))
        near = far <= max(3 * values.quantum(ident, want), low, 4e-6)
        counts["as PyTorch" if near else "apart from PyTorch"] += 1
        if not near:
            print(f"  {where} ({kind}, {body['datatype']}): {far:.3g} apart, largest {float(want.abs().max()):.3g}")


def check(model, extra, folder):
    counts, data = collections.Counter(), model.read_bytes()
    program = flatc("program.fbs", data, folder)
    made = subprocess.run([BENCH, model, folder], text=True, capture_output=True, check=True).stdout.splitlines()
    rows = [line.split("\t") for line in made]
    for kind, where, _, _, file in rows:
        counts[f"{kind}: all"] += 1
        if where == "-":
            counts[f"{kind}: not cut"] += 1
            print(f"  {kind}: {file[2:]}")
    methods = {plan["name"]: plan for plan in program["execution_plan"]}
    for name, plan in methods.items():
        whole, why = run(model, extra, folder) if name == "forward" else (None, None)
        if why:
            print(f"  the whole program: {why}")
        chain, last, graphs = plan["chains"][0]["instructions"], {}, {}
        for kind, where, called, _, file in rows:
            if where == "-" or not file.startswith(f"{name}."):
                continue
            got, why = run(folder / file, extra, folder)
            counts[f"{kind}: {'ran' if got else 'failed'}"] += 1
            counts[f"{kind}: bytes"] = max(counts[f"{kind}: bytes"], (folder / file).stat().st_size)
            if why:
                print(f"  {kind} of {called}: {why}")
            if kind != "prefix" or not got:
                continue
            i, n = (int(x) for x in where.split("."))
            call = chain[i]["instr_args"]
            last[i, n] = (got[0], call)
            if n >= 0:
                if i not in graphs:
                    graphs[i] = payload_of(data, program, plan["delegates"][call["delegate_index"]], folder)
        held(graphs, last, rows, name, counts, plan, chain)
        if whole is not None and last:
            found = any(w.shape == x.shape and np.array_equal(w, x) for w in whole for x, _ in last.values())
            counts["the whole program's output" if found else "not the whole program's output"] += 1
    return counts


def held(graphs, last, rows, name, counts, plan, chain):
    """All nodes of the payloads of a method, each from what the prefixes before it handed out."""
    at_evalue = {}
    for i, instruction in enumerate(chain):
        call = instruction["instr_args"]
        if i in graphs:
            values = Values(*graphs[i])
            # Inputs of the method are not dumped: the first nodes of a payload that take one have no reference.
            for body, _ in values.by_id.values():
                if body["flags"] & 1 and call["args"][body["external_id"]] in at_evalue:
                    values.keep(body["id_out"], at_evalue[call["args"][body["external_id"]]])
            for n, node in enumerate(graphs[i][0]["xnodes"]):
                got = last.get((i, n), (None,))[0]
                try:
                    hold(node, values, got, counts, f"{name} {i}.{n}")
                except (KeyError, TypeError, RuntimeError) as why:
                    counts[f"no reference ({type(why).__name__})"] += 1
            for body, _ in values.by_id.values():
                if body["flags"] & 2 and body["id_out"] in values.made:
                    end = [n for n, node in enumerate(graphs[i][0]["xnodes"])
                           if node["xnode_union"].get("output_id") == body["id_out"]]
                    if end and (i, end[-1]) in last:
                        at_evalue[call["args"][body["external_id"]]] = last[i, end[-1]][0]
                        one = len([b for b, _ in values.by_id.values() if b["flags"] & 2]) == 1
                        if one and (i, -1) in last:
                            same = np.array_equal(last[i, -1][0].ravel(), last[i, end[-1]][0].ravel())
                            counts["last node = whole call" if same else "last node is not the whole call"] += 1
        elif (i, -1) in last:
            out = plan["values"][call["args"][-1]]
            at_evalue[call["args"][-1]] = last[i, -1][0] if out["val_type"] == "Tensor" else None


def main():
    for word in sys.argv[5:]:
        first, *extra = word.split(",")
        model = pathlib.Path(first)
        print(model.name, flush=True)
        with tempfile.TemporaryDirectory() as folder:
            for key, n in sorted(check(model, extra, pathlib.Path(folder)).items()):
                print(f"    {n:6} {key}", flush=True)


main()
