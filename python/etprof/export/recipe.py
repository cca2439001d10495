# SPDX-License-Identifier: Apache-2.0
# What a fix recipe is: its hooks, and what those that rewrite a graph are written with.
from __future__ import annotations

import copy

from ..errors import BadInput


class Fix:
    """One recipe. Each hook may leave its part alone; none may change what the model computes."""

    name = ""
    summary = ""
    rewrites_graph = False

    def on_module(self, module):
        return module

    def on_inputs(self, inputs):
        return inputs

    def on_graph(self, graph_module) -> int:
        """Rewrites the traced graph in place; returns how many places changed."""
        return 0

    def partitioners(self):
        """The partitioners to use instead of the default ones, or None."""
        return

    def places(self, graph_module, inputs):
        """How many places of an untouched trace and its inputs it would change; None: it cannot say."""
        return


class GraphFix(Fix):
    """Visits every call of the given operators; `rewrite` returns the replacement or None."""

    rewrites_graph = True

    def __init__(self):
        self.skipped = {}  # why places were left alone, and how many

    def skip(self, node, why: str):
        """For `rewrite`: leaves NODE alone; a model without any place is refused with the reasons."""
        self.skipped[why] = self.skipped.get(why, 0) + 1

    def targets(self) -> tuple:
        raise NotImplementedError

    def rewrite(self, build, node):
        raise NotImplementedError

    def on_graph(self, graph_module) -> int:
        changed = 0
        for node in list(graph_module.graph.nodes):
            if node.op != "call_function" or node.target not in self.targets():
                continue
            build = Builder(graph_module, node)
            replacement = self.rewrite(build, node)
            if replacement is None:
                continue
            node.replace_all_uses_with(replacement)
            graph_module.graph.erase_node(node)
            changed += 1
        graph_module.graph.eliminate_dead_code()
        graph_module.recompile()
        return changed

    def places(self, graph_module, inputs):
        import torch

        shared = torch.fx.GraphModule(graph_module, copy.deepcopy(graph_module.graph))  # the same weights
        return self.on_graph(shared)


class Builder:
    """Inserts calls before a node; they inherit its place in the source and know their shapes."""

    INHERITED = ("stack_trace", "nn_module_stack", "source_fn_stack", "torch_fn")

    def __init__(self, graph_module, before):
        self.gm, self.before = graph_module, before

    def __call__(self, target, *args, **kwargs):
        import torch
        from torch.fx import map_arg

        with self.gm.graph.inserting_before(self.before):
            node = self.gm.graph.call_function(target, args, kwargs)
        for key in self.INHERITED:
            if key in self.before.meta:
                node.meta[key] = self.before.meta[key]
        values = map_arg((args, kwargs), lambda n: n.meta["val"])
        with mode_of(self.before), torch.no_grad():
            node.meta["val"] = target(*values[0], **values[1])
        return node

    def constant(self, like_node, tensor):
        """A new weight; LIKE_NODE is the get_attr that it stands in for."""
        import torch

        known = like_node is not None and like_node.op == "get_attr"
        stem = like_node.target.replace(".", "_") if known else "constant"
        name = stem + "_fixed"
        while hasattr(self.gm, name):
            name += "_"
        self.gm.register_parameter(name, torch.nn.Parameter(tensor, requires_grad=False))
        with self.gm.graph.inserting_before(self.before):
            node = self.gm.graph.get_attr(name)
        with mode_of(self.before) as mode:
            node.meta["val"] = mode.from_tensor(tensor)
        return node


    def scalar(self, like_node, value):
        """A number as a weight, so that it takes part in casts; plain numbers stay float32."""
        import torch

        return self.constant(like_node, torch.tensor([value]))


def mode_of(node):
    """The fake-tensor mode in which the graph's shapes live."""
    value = node.meta["val"]
    return (value[0] if isinstance(value, (tuple, list)) else value).fake_mode


def weight(graph_module, node):
    """The tensor behind a get_attr node, or None."""
    if getattr(node, "op", None) != "get_attr":
        return None
    value = graph_module
    for part in node.target.split("."):
        value = getattr(value, part)
    return value.detach()


def shape_of(node) -> list:
    return list(node.meta["val"].shape)


def is_static(*nodes) -> bool:
    return all(isinstance(s, int) for n in nodes for s in n.meta["val"].shape)


def only_user(node):
    return next(iter(node.users)) if len(node.users) == 1 else None


def aten():
    import torch

    return torch.ops.aten


def require_change(fix: Fix, changed: int, model: str):
    """A recipe that finds nothing to do must not produce a file that claims it."""
    if fix.rewrites_graph and changed == 0:
        why = "; ".join(f"{count} × {reason}" for reason, count in fix.skipped.items())
        raise BadInput(f"--apply {fix.name}: the model '{model}' has no place where it applies"
                       + (f" ({why})" if why else ""))
