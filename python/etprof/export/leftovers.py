# SPDX-License-Identifier: Apache-2.0
# Between torch.export and the lowering: what a traced program holds and does not use.
from __future__ import annotations

from torch.export.graph_signature import InputKind

CONSTANTS = (InputKind.PARAMETER, InputKind.BUFFER, InputKind.CONSTANT_TENSOR)


def drop_unused(program) -> list[str]:
    """Takes constants that nothing reads out of PROGRAM, and returns their names.

    A module that remembers tensors (a cache of position encodings) leaves them in the trace even
    when what was made of them is thrown away, and all of them would go into the file."""
    graph = program.graph_module.graph
    graph.eliminate_dead_code()
    nodes = {n.name: n for n in graph.nodes if n.op == "placeholder"}
    written = set(program.graph_signature.buffers_to_mutate.values())
    dropped = []
    for spec in list(program.graph_signature.input_specs):
        node = nodes.get(spec.arg.name)
        if spec.kind not in CONSTANTS or node is None or node.users or spec.target in written:
            continue
        graph.erase_node(node)
        program.graph_signature.input_specs.remove(spec)
        dropped.append(spec.target)
    kept = {spec.target for spec in program.graph_signature.input_specs}
    for name in dropped:
        if name not in kept:
            program.state_dict.pop(name, None)
            program.constants.pop(name, None)
    program.graph_module.recompile()
    return dropped

