# SPDX-License-Identifier: Apache-2.0
# Fix recipes: changes to the module, its inputs, its traced graph or the partitioner that keep the
# numbers and change the operators. Graph recipes work on what torch.export makes of the module.
from __future__ import annotations

import math
import operator

from ..errors import UsageError, suggest
from .recipe import Fix, GraphFix, aten, is_static, only_user, shape_of, weight


def batched_product(build, a, b):
    """a @ b with all leading axes folded into one, so that nothing has to be broadcast."""
    lead, m, k, n = shape_of(a)[:-2], shape_of(a)[-2], shape_of(a)[-1], shape_of(b)[-1]
    count = math.prod(lead)
    a3 = build(aten().reshape.default, a, [count, m, k])
    b3 = build(aten().reshape.default, b, [count, k, n])
    return build(aten().reshape.default, build(aten().bmm.default, a3, b3), [*lead, m, n])


class FoldExpand(GraphFix):
    name = "fold-expand"
    summary = "batched products with equal leading axes as one bmm, without broadcast copies"

    def targets(self):
        return (aten().matmul.default,)

    def rewrite(self, build, node):
        a, b = node.args
        if not is_static(a, b) or len(shape_of(a)) < 4 or shape_of(a)[:-2] != shape_of(b)[:-2]:
            return None
        return batched_product(build, a, b)


class DecomposeAttention(GraphFix):
    name = "decompose-attention"
    summary = "scaled_dot_product_attention as bmm, softmax, bmm, without the safe softmax"
    never = 1e4  # taken off a score that may not be seen: its exponential is 0, in half precision, too

    def targets(self):
        return (aten().scaled_dot_product_attention.default,)

    def rewrite(self, build, node):
        q, k, v, mask, dropout, causal = (list(node.args) + [None, 0.0, False])[:6]
        options = {"scale": None, "enable_gqa": False, **node.kwargs}
        mask, causal = options.get("attn_mask", mask), options.get("is_causal", causal)
        if dropout or options.get("dropout_p"):
            return self.skip(node, "attention with dropout")
        if not is_static(q, k, v):
            return self.skip(node, "the shape of q, k or v is not known at export")
        if options["enable_gqa"] and len(shape_of(q)) == 4:
            k, v = (repeated_heads(build, n, shape_of(q)[-3] // shape_of(n)[-3]) for n in (k, v))
        if shape_of(q)[:-2] != shape_of(k)[:-2]:
            return self.skip(node, "q and k differ in their leading axes")
        scale = options["scale"] or 1.0 / math.sqrt(shape_of(q)[-1])
        q = build(aten().mul.Tensor, q, build.scalar(None, scale))
        scores = batched_product(build, q, build(aten().transpose.int, k, -2, -1))
        hidden = self.hidden(build, node, mask, causal, shape_of(scores))
        if hidden is None:
            return None
        target, other = hidden
        scores = build(target, scores, other) if target else scores
        return batched_product(build, build(aten().softmax.int, scores, -1), v)

    def hidden(self, build, node, mask, causal, shape):
        """(operator, operand) to apply to the scores, (None, None) for nothing; None: it cannot be done."""
        import torch

        if causal:
            allowed = torch.ones(shape[-2:], dtype=torch.bool).tril()
        elif mask is None:
            return None, None
        else:
            value = constant(build.gm, mask)
            if not isinstance(value, torch.Tensor):
                if mask.meta["val"].dtype.is_floating_point:
                    return aten().add.Tensor, mask
                return self.skip(node, "a boolean mask that is known at run time only needs the safe softmax")
            if value.dtype.is_floating_point:
                return aten().add.Tensor, build.constant(None, value.clamp(min=-self.never).float())
            allowed = value
        if not allowed.any(-1).all():
            return self.skip(node, "a mask that hides a whole row needs the safe softmax")
        # Subtracted, not added: quantisation leaves a subtraction in floats, and 1e4 beside scores would cost it them.
        return aten().sub.Tensor, build.constant(None, torch.where(allowed, 0.0, self.never))


def repeated_heads(build, node, times):
    """Each head of keys or values TIMES times in a row, as grouped queries want them."""
    n, heads, *rest = shape_of(node)
    if times == 1:
        return node
    parts = [build(aten().slice.Tensor, node, 1, h, h + 1) for h in range(heads) for _ in range(times)]
    return build(aten().cat.default, parts, 1)


class LayerNorm(GraphFix):
    name = "layer-norm"
    summary = "layer norm over the last axis written out, its means as spatial means of a 4-D view"

    def targets(self):
        return (aten().layer_norm.default,)

    def mean(self, build, like, x):
        """XNNPACK takes a mean only over both spatial axes of a 4-D tensor."""
        *lead, last = shape_of(x)
        flat = build(aten().reshape.default, x, [1, math.prod(lead), 1, last])
        return build(aten().reshape.default, build(aten().mean.dim, flat, [2, 3], True), [*lead, 1])

    def rewrite(self, build, node):
        x, axes, scale, shift, eps = (list(node.args) + [None, None, 1e-5][len(node.args) - 2:])[:5]
        if not is_static(x):
            return self.skip(node, "its shape is not known at export")
        shape, a, like = shape_of(x), aten(), scale or shift
        if len(axes) > 1:  # of several axes: as one
            lead = shape[:len(shape) - len(axes)]
            x = build(a.reshape.default, x, [*lead, math.prod(axes)])
            scale, shift = (n if n is None else build(a.reshape.default, n, [-1]) for n in (scale, shift))
        centred = build(a.sub.Tensor, x, self.mean(build, like, x))
        variance = self.mean(build, like, build(a.mul.Tensor, centred, centred))
        shifted = build(a.add.Tensor, variance, build.scalar(like, eps))
        y = build(a.mul.Tensor, centred, build(a.rsqrt.default, shifted))
        if scale is not None:
            y = build(a.mul.Tensor, y, scale)
        y = build(a.add.Tensor, y, shift) if shift is not None else y
        return build(a.reshape.default, y, shape) if len(axes) > 1 else y


class LayerNormLinear(LayerNorm):
    name = "layer-norm-linear"
    summary = "layer norm written out, its means as products with a constant column (not for int8)"

    def mean(self, build, like, x):
        import torch

        width = shape_of(x)[-1]
        column = build.constant(like, torch.full((1, width), 1.0 / width))
        return build(aten().linear.default, x, column)


class GeluTanh(GraphFix):
    name = "gelu-tanh"
    summary = "GELU written out with tanh (differs from exact GELU by at most 5e-4)"

    def targets(self):
        return (aten().gelu.default,)

    def rewrite(self, build, node):
        x, a = node.args[0], aten()
        cube = build(a.mul.Tensor, build(a.mul.Tensor, x, x), x)
        inner = build(a.add.Tensor, x, build(a.mul.Tensor, cube, build.scalar(None, 0.044715)))
        scaled = build(a.mul.Tensor, inner, build.scalar(None, math.sqrt(2 / math.pi)))
        bent = build(a.add.Tensor, build(a.tanh.default, scaled), build.scalar(None, 1.0))
        return build(a.mul.Tensor, build(a.mul.Tensor, x, build.scalar(None, 0.5)), bent)


class UnbindViews(GraphFix):
    name = "unbind-views"
    summary = "unbind, select and squeeze as slices and reshapes, which delegates take"

    def targets(self):
        a = aten()
        return (a.unbind.int, a.select.int, a.squeeze.default, a.squeeze.dim, a.squeeze.dims)

    def rewrite(self, build, node):
        x = node.args[0]
        if not is_static(x):
            return self.skip(node, "its shape is not known at export")
        if node.target == aten().unbind.int:
            return self.unbind(build, node, x, (node.args[1] if len(node.args) > 1 else 0) % len(shape_of(x)))
        if node.target == aten().select.int:
            axis, at = node.args[1] % len(shape_of(x)), node.args[2]
            if not isinstance(at, int):
                return self.skip(node, "its index is not known at export")
            return self.part(build, x, axis, at % shape_of(x)[axis], shape_of(node))
        return build(aten().reshape.default, x, shape_of(node))

    def part(self, build, x, axis, at, shape):
        return build(aten().reshape.default, build(aten().slice.Tensor, x, axis, at, at + 1), shape)

    def unbind(self, build, node, x, axis):
        rest = shape_of(x)[:axis] + shape_of(x)[axis + 1:]
        for user in list(node.users):
            if user.target is not operator.getitem:
                return self.skip(node, "its parts are used together")
        for user in list(node.users):
            user.replace_all_uses_with(self.part(build, x, axis, user.args[1] % shape_of(x)[axis], rest))
            build.gm.graph.erase_node(user)
        return x  # nobody uses the node any more


class KeepDims(GraphFix):
    name = "keep-dims"
    summary = "means over both spatial axes keep them, which delegates want, and a reshape drops them"

    def targets(self):
        return (aten().mean.dim,)

    def rewrite(self, build, node):
        x, axes, keep = (list(node.args) + [None, False])[:3]
        keep = node.kwargs.get("keepdim", keep)
        if not is_static(x) or len(shape_of(x)) != 4 or axes is None:
            return self.skip(node, "not of a 4-D tensor whose shape is known at export")
        if sorted(a % 4 for a in axes) != [2, 3] or keep or "dtype" in node.kwargs:
            return self.skip(node, "not over both spatial axes, or it keeps them already")
        return build(aten().reshape.default, build(aten().mean.dim, x, [2, 3], True), shape_of(node))


class FoldTransposes(GraphFix):
    name = "fold-transposes"
    summary = "permutes that follow each other (also across elementwise operators) become one or none"

    def targets(self):
        return (aten().permute.default, aten().transpose.int)

    def elementwise(self):
        a = aten()
        return (a.relu.default, a.gelu.default, a.sigmoid.default, a.tanh.default,
                a.hardswish.default, a.silu.default, a.neg.default, a.clamp.default)

    def order(self, node):
        rank = len(shape_of(node.args[0]))
        if node.target == aten().permute.default:
            return [d % rank for d in node.args[1]]
        order = list(range(rank))
        i, j = (d % rank for d in node.args[1:3])
        order[i], order[j] = order[j], order[i]
        return order

    def rewrite(self, build, node):
        chain, source = [], node.args[0]
        while source.op == "call_function" and source.target in self.elementwise():
            if only_user(source) is None:
                return None
            chain.append(source)
            source = source.args[0]
        if source.op != "call_function" or source.target not in self.targets():
            return None
        if chain and only_user(source) is None:
            return None
        first, second = self.order(source), self.order(node)
        order = [first[d] for d in second]
        x = source.args[0]
        if order != sorted(order):
            x = build(aten().permute.default, x, order)
        for step in reversed(chain):
            x = build(step.target, x, *step.args[1:], **step.kwargs)
        return x


class FoldConvBn(GraphFix):
    name = "fold-conv-bn"
    summary = "batch norm, or x * a + b per channel, folded into the convolution before it"

    def targets(self):
        return (aten().batch_norm.default, aten().add.Tensor, aten().add_.Tensor)

    def rewrite(self, build, node):
        import torch

        if node.target != aten().batch_norm.default:
            return self.fold_affine(build, node)
        conv, gamma, beta, mean, variance, training = node.args[:6]
        if conv.target != aten().conv2d.default or only_user(conv) is not node or training:
            return self.skip(node, "a batch norm that trains or has no convolution of its own before it")
        mean, variance = (weight(build.gm, n) for n in (mean, variance))
        if weight(build.gm, conv.args[1]) is None or mean is None:
            return self.skip(node, "weights are not known at export")
        gamma = weight(build.gm, gamma) if gamma is not None else torch.ones_like(mean)
        beta = weight(build.gm, beta) if beta is not None else torch.zeros_like(mean)
        factor = gamma / torch.sqrt(variance + node.args[7])
        return self.folded(build, conv, factor, beta - mean * factor)

    def fold_affine(self, build, node):
        """NODE adds; what it adds to is a convolution times a constant (a frozen batch norm)."""
        for scaled, shift in (node.args[:2], node.args[1::-1]):
            if getattr(scaled, "target", None) not in (aten().mul.Tensor, aten().mul_.Tensor):
                continue
            for conv, scale in (scaled.args[:2], scaled.args[1::-1]):
                if getattr(conv, "target", None) == aten().conv2d.default:
                    return self.fold_one(build, node, scaled, conv, scale, shift)
        return self.skip(node, "an addition behind no scaled convolution")

    def fold_one(self, build, node, scaled, conv, scale, shift):
        kernel = weight(build.gm, conv.args[1])
        if only_user(scaled) is not node or only_user(conv) is not scaled or node.kwargs:
            return self.skip(node, "the convolution's result is used elsewhere, too")
        if kernel is None:
            return self.skip(node, "weights are not known at export")
        channels = len(kernel)
        scale, shift = (per_channel(constant(build.gm, n), channels) for n in (scale, shift))
        if scale is None or shift is None:
            return self.skip(node, "scale or shift is not a constant per channel")
        return self.folded(build, conv, scale, shift)

    def folded(self, build, conv, factor, shift):
        import torch

        gm, (x, kernel, *rest) = build.gm, conv.args
        value = weight(gm, kernel)
        bias = weight(gm, rest[0]) if rest and rest[0] is not None else torch.zeros_like(shift)
        new_kernel = build.constant(kernel, value * factor.reshape(-1, *[1] * (value.dim() - 1)))
        new_bias = build.constant(kernel, bias * factor + shift)
        return build(conv.target, x, new_kernel, new_bias, *rest[1:], **conv.kwargs)


def constant(graph_module, node, depth=16):
    """The value of NODE when it is computed from weights and numbers alone, else None."""
    if not hasattr(node, "op"):
        return node if isinstance(node, (int, float)) else None
    if node.op == "get_attr":
        return weight(graph_module, node)
    known = (int, float, bool, list, type(None))
    if node.op != "call_function" or depth == 0 or "out" in node.kwargs:
        return None
    args = [a if isinstance(a, known) else constant(graph_module, a, depth - 1) for a in node.args]
    if any(value is None and arg is not None for arg, value in zip(node.args, args)):
        return None
    return node.target(*args, **node.kwargs)


def per_channel(value, channels):
    """VALUE as one number for each channel of an image, or None."""
    import torch

    if isinstance(value, (int, float)):
        return torch.full((channels,), float(value))
    if value is None or value.numel() not in (1, channels):
        return None
    shape = [1] * (4 - value.dim()) + list(value.shape)
    if value.numel() == channels and channels > 1 and shape != [1, channels, 1, 1]:
        return None
    return value.reshape(-1).expand(channels)


class AlignChannels(GraphFix):
    name = "align-channels"
    summary = "hidden channels padded with zeros to the kernels' tile of 16"
    tile = 16

    def targets(self):
        return (aten().conv2d.default, aten().linear.default)

    def rewrite(self, build, node):
        """NODE is the consumer; its producer is the same kind of layer, elementwise steps between."""
        chain, source = [], node.args[0]
        while source.op == "call_function" and source.target in FoldTransposes().elementwise():
            if only_user(source) is None:
                return None
            chain.append(source)
            source = source.args[0]
        if source.op != "call_function" or source.target != node.target:
            return None
        if only_user(source) is None or groups(source) != 1 or groups(node) != 1:
            return None
        kernel, after = weight(build.gm, source.args[1]), weight(build.gm, node.args[1])
        if kernel is None or after is None or kernel.shape[0] % self.tile == 0:
            return None
        extra = self.tile - kernel.shape[0] % self.tile
        x = self.padded(build, source, kernel, extra)
        for step in reversed(chain):
            x = build(step.target, x, *step.args[1:], **step.kwargs)
        wide = build.constant(node.args[1], pad_axis(after, 1, extra))
        return build(node.target, x, wide, *node.args[2:], **node.kwargs)

    def padded(self, build, source, kernel, extra):
        new_kernel = build.constant(source.args[1], pad_axis(kernel, 0, extra))
        rest = list(source.args[2:])
        if rest and rest[0] is not None:
            bias = weight(build.gm, rest[0])
            rest[0] = build.constant(rest[0], pad_axis(bias, 0, extra))
        return build(source.target, source.args[0], new_kernel, *rest, **source.kwargs)


def groups(node) -> int:
    return node.args[6] if node.target == aten().conv2d.default and len(node.args) > 6 else 1


def pad_axis(tensor, axis, extra):
    import torch

    shape = list(tensor.shape)
    shape[axis] = extra
    return torch.cat([tensor, tensor.new_zeros(shape)], dim=axis)


class ChannelsLast(Fix):
    name = "channels-last"
    summary = "image inputs channels last, so that convolutions need no transpose at the border"

    def on_inputs(self, inputs):
        import torch
        from torch.utils import _pytree as pytree

        def convert(x):
            image = isinstance(x, torch.Tensor) and x.dim() == 4
            return x.contiguous(memory_format=torch.channels_last) if image else x

        return pytree.tree_map(convert, inputs)

    def places(self, graph_module, inputs):
        from torch.utils import _pytree as pytree

        pairs = zip(pytree.tree_leaves(inputs), pytree.tree_leaves(self.on_inputs(inputs)))
        return sum(before is not after for before, after in pairs)


class KeepGemv(Fix):
    name = "keep-gemv"
    summary = "linear layers with one row stay off the delegate"

    def partitioners(self):
        from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner

        partitioner = XnnpackPartitioner()
        for target in ("linear.default", "addmm.default", "mm.default"):
            config = partitioner.target_partitioner_configs.get(target)
            if config is not None:
                config.check_constraints = refuse_one_row(config.check_constraints)
        return [partitioner]


def refuse_one_row(check):
    def checked(node, program):
        from .rejections import note_rejection

        shape = node.meta["val"].shape
        if math.prod(int(s) for s in shape[:-1]) == 1:
            note_rejection(node, "one row only, kept off by --apply keep-gemv")
            return False
        return check(node, program)

    return checked


class PerOp(Fix):
    name = "per-op"
    summary = "one delegate for every operator, to see what each costs on its own"

    def partitioners(self):
        from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner

        return [XnnpackPartitioner(per_op_mode=True)]


def all_fixes() -> dict:
    from . import recipes_conv  # noqa: F401  its recipes are found as subclasses

    found, todo = {}, [Fix]
    while todo:
        cls = todo.pop()
        todo += cls.__subclasses__()
        if cls.name:
            found[cls.name] = cls
    return found


def find(name: str) -> Fix:
    fixes = all_fixes()
    if name not in fixes:
        raise UsageError(f"--apply {name}: no such recipe{suggest(name, fixes)}; "
                         "`--apply list` shows them")
    return fixes[name]()


def places(graph_module, inputs) -> dict:
    """How many places of a traced model each recipe would change; those that cannot say are left out."""
    found = {}
    for name, cls in sorted(all_fixes().items()):
        try:
            found[name] = cls().places(graph_module, inputs)
        except Exception:  # applied, it fails likewise and says why
            continue
    return {name: count for name, count in found.items() if count is not None}


def describe_all() -> str:
    return "\n".join(f"{name:20} {cls.summary}" for name, cls in sorted(all_fixes().items()))
