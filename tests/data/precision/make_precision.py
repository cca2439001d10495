#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One model in fp32, fp16, int8 and int8 by dynamic ranges, its input, and what PyTorch says of each layer: the SNR of
its result against that of the fp32 model, from the graphs before anything of ExecuTorch sees them.

    python make_precision.py [--out DIR]"""
import argparse
import json
from pathlib import Path

import torch
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
    XNNPACKQuantizer,
    get_symmetric_quantization_config,
)
from executorch.exir import EdgeCompileConfig, to_edge_transform_and_lower
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

LAYERS = ("relu", "relu_1", "relu_2", "linear")  # of the traced graph: what a layer hands on


class Layers(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Conv2d(3, 8, 3, padding=1)
        self.second = torch.nn.Conv2d(8, 8, 3, padding=1)
        self.third = torch.nn.Conv2d(8, 8, 1)
        self.last = torch.nn.Linear(8 * 8 * 8, 16)

    def forward(self, x):
        a = torch.relu(self.first(x))
        b = torch.relu(self.second(a)) + a
        c = torch.relu(self.third(b))
        return self.last(c.flatten(1))


class Kept(torch.fx.Interpreter):
    """Runs a graph and keeps what every node makes."""

    def __init__(self, graph):
        super().__init__(graph)
        self.values = {}

    def run_node(self, n):
        made = super().run_node(n)
        self.values[n.name] = made
        return made


def handed_on(graph, x):
    """What each layer hands on: behind its quantise and dequantise steps where it has them."""
    kept = Kept(graph)
    with torch.no_grad():
        kept.run(x)
    found = {}
    for node in graph.graph.nodes:
        if node.name not in LAYERS:
            continue
        at = node
        for _ in range(2):
            step = [u for u in at.users if "quantize_per_tensor" in str(u.target)]
            at = step[0] if step else at
        found[node.name] = kept.values[at.name].double()
    return found


def snr(signal, other):
    """None: there is no difference."""
    if torch.equal(signal, other):
        return None
    return float(10 * torch.log10((signal ** 2).sum() / ((signal - other) ** 2).sum()))


def quantised(graph, x, dynamic):
    quantizer = XNNPACKQuantizer()
    config = get_symmetric_quantization_config(is_per_channel=True, is_dynamic=dynamic)
    if dynamic:
        quantizer.set_operator_type(torch.ops.aten.linear.default, config)
    else:
        quantizer.set_global(config)
    prepared = prepare_pt2e(graph, quantizer)
    prepared(x)
    return convert_pt2e(prepared)


def write(path, graph, x):
    program = torch.export.export(graph, (x,))
    edge = to_edge_transform_and_lower(program, partitioner=[XnnpackPartitioner()],
                                       compile_config=EdgeCompileConfig(_check_ir_validity=False))
    path.write_bytes(edge.to_executorch().buffer)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--out", type=Path, default=Path(__file__).parent)
    out = p.parse_args().out
    torch.manual_seed(7)
    model, x = Layers().eval(), torch.randn(1, 3, 8, 8)
    (out / "input.bin").write_bytes(x.numpy().tobytes())
    exact = handed_on(torch.export.export(model, (x,)).module(), x)
    told = {}
    for name in ("fp32", "int8", "dynamic"):
        graph = torch.export.export(model, (x,)).module()
        graph = graph if name == "fp32" else quantised(graph, x, name == "dynamic")
        values = handed_on(graph, x)
        told[name] = {layer: snr(exact[layer], values[layer]) for layer in LAYERS}
        write(out / f"layers_{name}.pte", graph, x)
    half = torch.export.export(Layers().eval().half(), (x.half(),)).module()
    half.load_state_dict({k: v.half() for k, v in model.state_dict().items()})
    write(out / "layers_fp16.pte", half, x.half())
    del told["fp32"]
    (out / "expected.json").write_text(json.dumps(told, indent=2) + "\n")


main()
