# SPDX-License-Identifier: Apache-2.0
# graph.json: the exported graph before lowering, one record a node, for people and diff tools.
import torch


def text(x) -> str:
    return str(x)


def tensor_meta(value):
    if not isinstance(value, torch.Tensor):
        return None
    return {
        "shape": [int(s) if isinstance(s, int) else str(s) for s in value.shape],
        "dtype": str(value.dtype),
        "stride": [int(s) if isinstance(s, int) else str(s) for s in value.stride()],
        "requires_grad": value.requires_grad,
        "is_quantized": value.is_quantized,
    }


def graph_document(method) -> dict:
    program = method.program
    nodes = []
    for index, node in enumerate(program.graph.nodes):
        record = {
            "index": index, "name": node.name, "op": node.op, "target": text(node.target),
            "args": [text(a) for a in node.args],
            "kwargs": {k: text(v) for k, v in node.kwargs.items()},
            "meta_keys": sorted(map(str, node.meta)),
        }
        meta = tensor_meta(node.meta.get("val"))
        if meta is not None:
            record["tensor_meta"] = meta
        nodes.append(record)
    shapes = [
        list(node.meta["val"].shape) for node in program.graph.nodes
        if node.op == "placeholder" and node.name in program.graph_signature.user_inputs
        and isinstance(node.meta.get("val"), torch.Tensor)
    ]
    return {
        "model_info": {
            "type": type(method.module).__name__,
            "sample_input_shapes": [[int(s) if isinstance(s, int) else str(s) for s in shape]
                                    for shape in shapes],
        },
        "graph_info": {"num_nodes": len(nodes), "graph_type": type(program).__name__},
        "nodes": nodes,
    }
