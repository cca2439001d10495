# SPDX-License-Identifier: Apache-2.0
"""What `etprof ab --reference eager` asks: the operators of a program as PyTorch computes them. An ETRecord holds the
graph that was lowered, with its weights; it is run on the program's inputs, and what each operator hands on is written
as the runner writes outputs.

The request is JSON: `record`, `method`, `inputs` (files, raw), `outputs` (a folder, for those of the whole), `handles`
(of all operators of the program), `places`: of each operator `dir`, `handle`, `dims` of its result, `integers` (it is
quantised), `kernel` (it runs outside delegates). A place that has no twin gets no folder."""
from __future__ import annotations

import contextlib
import io
import json
import sys
from pathlib import Path

from etprof import bootstrap, restart
from etprof.errors import BadInput, EnvironmentProblem, EtprofError, UsageError


def name_of(node) -> str:
    return getattr(node.target, "__name__", str(node.target))


def converts(node) -> bool:
    return "quantize" in name_of(node) or "choose_qparams" in name_of(node)


def follow(node, handles, place):
    """What an operator of a delegate hands on: it did the work of the nodes behind it that have none of their own.
    None: it is unclear which those are."""
    while not place["kernel"]:
        users = [u for u in node.users if u.users or u.op == "output"]  # others read nothing of a batch norm
        back = [u for u in users if "dequantize" in name_of(u)]
        if back and len(back) == len(users):  # one for each of its readers
            return back[0]
        inside = [u for u in users if u.op == "call_function" and merged(u, handles, place)]
        if not inside:
            return node
        if len(users) != 1:
            return None
        node = users[0]
    return node


def merged(node, handles, place) -> bool:
    handle = node.meta.get("debug_handle")
    if converts(node):
        return place["integers"]
    return handle is None or handle == place["handle"] or handle not in handles


def layouts(value, dims):
    """VALUE with these DIMS, in the orders in which XNNPACK may hold it: as it is, channels last."""
    found = [value] if list(value.shape) == dims else []
    if value.dim() == 4 and list(value.permute(0, 2, 3, 1).shape) == dims:
        found.append(value.permute(0, 2, 3, 1))
    if not found and value.numel() == prod(dims) and [d for d in value.shape if d > 1] == [d for d in dims if d > 1]:
        found.append(value.reshape(dims))
    return found


def prod(dims) -> int:
    product = 1
    for d in dims:
        product *= d
    return product


def write(folder, values) -> None:
    folder = Path(folder)
    folder.mkdir(parents=True)
    entries = []
    for i, value in enumerate(values):
        dense = value.detach().float().contiguous()
        (folder / f"output-{i}.bin").write_bytes(dense.numpy().tobytes())
        entries.append({"index": i, "file": f"output-{i}.bin", "dtype": "float32", "shape": list(dense.shape),
                        "dim_order": list(range(dense.dim()))})
    (folder / "outputs.json").write_text(json.dumps({"outputs": entries}) + "\n")


def graph_of(record, method):
    from executorch.devtools import parse_etrecord

    try:
        found = parse_etrecord(record)
    except Exception as error:
        raise BadInput(f"{record} cannot be read: {error}") from error
    edge = found.edge_dialect_program  # of several methods a dict; of one the method's name is lost
    programs = {method: edge} if edge is not None else {}
    programs = dict(edge) if isinstance(edge, dict) else programs
    programs.update({name.split("/")[0]: p for name, p in (found.graph_map or {}).items()})
    if method not in programs:
        raise BadInput(f"{record} holds no graph of method {method}")
    return programs[method]


def inputs_of(program, files):
    import torch

    names = list(program.graph_signature.user_inputs)
    nodes = {n.name: n for n in program.graph.nodes if n.op == "placeholder"}
    if len(names) != len(files):
        raise UsageError(f"{len(files)} input files, the record's graph takes {len(names)}")
    values = []
    for name, file in zip(names, files):
        like = nodes[name].meta["val"]
        data = Path(file).read_bytes()
        if not isinstance(like, torch.Tensor) or len(data) != like.numel() * like.element_size():
            raise UsageError(f"{file} has {len(data)} bytes, input {name} of the record's graph is {like}")
        values.append(torch.frombuffer(bytearray(data), dtype=like.dtype).reshape(like.shape))
    return values


def computed(program, inputs):
    """(what every node makes, the outputs)."""
    import torch

    class Kept(torch.fx.Interpreter):
        values: dict = {}

        def run_node(self, n):
            self.values[n] = made = super().run_node(n)
            return made

    module = program.module()
    kept = Kept(program.graph_module)
    signature, state = program.graph_signature, {**program.state_dict, **program.constants}
    of = {**signature.inputs_to_parameters, **signature.inputs_to_buffers,
          **signature.inputs_to_lifted_tensor_constants}
    given = iter(inputs)
    arguments = [state[of[n.name]] if n.name in of else next(given)
                 for n in program.graph.nodes if n.op == "placeholder"]
    with torch.no_grad():
        kept.run(*arguments)
        outputs = module(*inputs)
    return kept.values, outputs


def answer(path):
    import executorch.kernels.quantized  # noqa: F401  their operators
    import torch
    from torch.utils import _pytree as pytree

    request = json.loads(Path(path).read_text())
    program = graph_of(request["record"], request["method"])
    values, outputs = computed(program, inputs_of(program, request["inputs"]))
    write(request["outputs"], [o for o in pytree.tree_leaves(outputs) if isinstance(o, torch.Tensor)])
    handles, last = set(request["handles"]), {}
    for node in program.graph.nodes:
        if node.op == "call_function" and not converts(node) and node.users:
            last[node.meta.get("debug_handle")] = node
    for place in request["places"]:
        node = last.get(place["handle"])
        end = follow(node, handles, place) if node else None
        value = values.get(end) if end else None
        if isinstance(value, (tuple, list)):
            value = value[0]
        if isinstance(value, torch.Tensor):
            for i, one in enumerate(layouts(value, place["dims"])):
                write(place["dir"] + (".last" if i else ""), [one])


def main(argv) -> int:
    try:
        if len(argv) != 1:
            raise UsageError("python -m etprof.reference takes a request")
        if not bootstrap.have_packages():
            python = bootstrap.present_python()
            if not python:
                raise EnvironmentProblem(
                    "--reference eager takes PyTorch, which is not here; any `etprof export` brings it")
            restart.again(python, "reference", argv)
        with contextlib.redirect_stderr(io.StringIO()):  # warnings of libraries would stand before the reason
            answer(argv[0])
        return 0
    except EtprofError as problem:
        print(problem, file=sys.stderr)
        return problem.exit_code
