# SPDX-License-Identifier: Apache-2.0
# Fix recipes for the padding and the strides of convolutions: the same sums, laid out so that the
# kernels need no copy of the padded image and no half-empty steps over the input channels.
from __future__ import annotations

import math

from .recipe import GraphFix, aten, is_static, only_user, shape_of, weight


class Convolution:
    """The arguments of a conv2d call with their defaults, one value for each spatial axis."""

    def __init__(self, graph_module, node):
        x, kernel, bias, stride, padding, dilation, groups = (
            list(node.args) + [None, 1, 0, 1, 1][len(node.args) - 2:])[:7]
        self.x, self.kernel_node, self.bias = x, kernel, bias
        self.kernel = weight(graph_module, kernel)
        self.stride, self.dilation, self.groups = pair(stride), pair(dilation), groups
        self.padding = self.same() if padding == "same" else \
            [(0, 0), (0, 0)] if padding == "valid" else [(p, p) for p in pair(padding)]

    def same(self):
        """What torch makes of padding='same': an odd row or column goes after the image."""
        total = [d * (k - 1) for d, k in zip(self.dilation, self.kernel_node.meta["val"].shape[2:])]
        return [(t // 2, t - t // 2) for t in total]

    def outputs(self, axis, size) -> int:
        """How many output positions an axis has that is SIZE long, padding included."""
        reach = self.dilation[axis] * (self.kernel.shape[2 + axis] - 1) + 1
        return (size - reach) // self.stride[axis] + 1


def pair(value) -> list:
    values = [value] if isinstance(value, int) else list(value)
    return values * 2 if len(values) == 1 else values


def zero_pad(node):
    """[(top, bottom), (left, right)] of a call that surrounds images with zeros, or why not."""
    if node.op != "call_function":
        return None
    if node.target == aten().pad.default:
        amounts, mode, value = (list(node.args[1:]) + ["constant", None][len(node.args) - 2:])[:3]
    elif node.target == aten().constant_pad_nd.default:
        amounts, mode, value = (list(node.args[1:]) + [0][len(node.args) - 2:])[0], "constant", \
            node.args[2] if len(node.args) > 2 else 0
    else:
        return None
    if mode != "constant" or value not in (None, 0):
        return f"a pad of mode {mode}, value {value or 0}: a convolution pads with zeros only"
    amounts = list(amounts) + [0] * (4 - len(amounts))
    if any(amounts[4:]) or min(amounts) < 0:
        return "a pad that crops, or that also pads channels or the batch"
    return [(amounts[2], amounts[3]), (amounts[0], amounts[1])]


class AlignPadding(GraphFix):
    name = "align-padding"
    summary = "a zero pad before a convolution becomes the convolution's own padding"

    def targets(self):
        return (aten().conv2d.default, aten().conv2d.padding)

    def rewrite(self, build, node):
        conv = Convolution(build.gm, node)
        pad = zero_pad(conv.x)
        if isinstance(pad, str):
            return self.skip(node, pad)
        source = conv.x.args[0] if pad else conv.x
        padding = [(a + c, b + d) for (a, b), (c, d) in zip(pad or [(0, 0)] * 2, conv.padding)]
        if pad is None and all(a == b for a, b in padding):
            return self.skip(node, "no pad before it, and its own padding is symmetric")
        if pad and only_user(conv.x) is None:
            return self.skip(node, "the padded image has other users, the pad would stay")
        if conv.kernel is None or not is_static(source):
            return self.skip(node, "weights or image size are not known at export")
        kernel, amounts = conv.kernel, []
        for axis, (before, after) in enumerate(padding):
            size = shape_of(source)[2 + axis]
            if before == after or conv.outputs(axis, size + before + after) == \
                    conv.outputs(axis, size + 2 * before):
                amounts.append(before)  # rows after the last window make no difference
                continue
            if conv.dilation[axis] != 1:
                return self.skip(node, "uneven padding of a dilated kernel")
            if conv.groups > 1 and conv.kernel.shape[1] == 1:
                # XNNPACK has depthwise kernels of 3, 4, 9 and 25 taps; one more row means 25 or none
                return self.skip(node, "uneven padding of a depthwise kernel, which has no larger one")
            amounts.append(max(before, after))
            kernel = lengthened(kernel, 2 + axis, max(0, after - before), max(0, before - after))
        kernel_node = conv.kernel_node
        if kernel is not conv.kernel:
            kernel_node = build.constant(kernel_node, kernel)
        return build(aten().conv2d.default, source, kernel_node, conv.bias, conv.stride, amounts,
                     conv.dilation, conv.groups)


def lengthened(tensor, axis, before, after):
    """TENSOR with zeros before and after it along AXIS."""
    import torch

    amounts = [0] * (2 * (tensor.dim() - 1 - axis)) + [before, after]
    return torch.nn.functional.pad(tensor, amounts)


class AlignStrides(GraphFix):
    name = "align-strides"
    summary = "strided convolutions of few channels as space-to-depth and a convolution of stride 1"
    tile = 8  # input channels that the int8 dot product kernels take in one step

    def targets(self):
        return (aten().conv2d.default,)

    def steps(self, channels, taps) -> int:
        return math.prod(taps) * math.ceil(channels / self.tile)

    def rewrite(self, build, node):
        conv = Convolution(build.gm, node)
        if conv.stride == [1, 1]:
            return self.skip(node, "its stride is 1")
        if conv.groups != 1 or conv.dilation != [1, 1]:
            return self.skip(node, "it is grouped or dilated")
        if conv.kernel is None or not is_static(node, conv.x) or len(shape_of(conv.x)) != 4:
            return self.skip(node, "weights or image size are not known at export")
        channels, taps = conv.kernel.shape[1], list(conv.kernel.shape[2:])
        axes = [BlockedAxis(*plan) for plan in zip(
            shape_of(conv.x)[2:], shape_of(node)[2:], taps, conv.stride, conv.padding)]
        deep = channels * math.prod(conv.stride)
        before, after = self.steps(channels, taps), self.steps(deep, [a.taps for a in axes])
        if after >= before:
            return self.skip(node, f"{channels} channels × {taps[0]}x{taps[1]} take {before} steps "
                             f"of {self.tile} channels, rewritten they would take {after}")
        x = surrounded(build, conv.x, [a.image_border for a in axes])
        x = space_to_depth(build, x, conv.stride)
        borders, padding = [a.block_border for a in axes], [0, 0]
        if all(a == b >= 0 for a, b in borders):
            padding = [a for a, _ in borders]
        else:
            x = surrounded(build, x, borders)
        kernel = build.constant(conv.kernel_node, rearranged(conv.kernel, conv.stride, axes))
        return build(aten().conv2d.default, x, kernel, conv.bias, [1, 1], padding, [1, 1], 1)


class BlockedAxis:
    """One spatial axis in blocks of the stride: zeros to add (negative: rows to leave out) around
    the image and around its blocks, zeros before the kernel, and the kernel's length in blocks."""

    def __init__(self, size, outputs, taps, stride, padding):
        before = padding[0]
        # Zeros before the kernel move the padding to whole blocks, where the convolution does it.
        self.shift = -before % stride
        if math.ceil((taps + self.shift) / stride) > math.ceil(taps / stride):
            self.shift, image_before = 0, before
        else:
            image_before = 0
        self.taps = math.ceil((taps + self.shift) / stride)
        blocks = outputs + self.taps - 1
        blocks_before = (before - image_before + self.shift) // stride
        own = min(math.ceil((size + image_before) / stride), blocks - blocks_before)
        self.image_border = (image_before, own * stride - size - image_before)
        self.block_border = (blocks_before, blocks - blocks_before - own)


def surrounded(build, x, borders):
    """X with BORDERS [(top, bottom), (left, right)] of zeros, or without what is negative."""
    for axis, (_, after) in enumerate(borders):
        if after < 0:
            x = build(aten().slice.Tensor, x, 2 + axis, 0, shape_of(x)[2 + axis] + after)
    amounts = [max(0, a) for border in reversed(borders) for a in border]
    return build(aten().pad.default, x, amounts) if any(amounts) else x


def space_to_depth(build, x, stride):
    """Blocks of stride × stride as channels: like pixel_unshuffle, with the channels innermost."""
    n, c, h, w = shape_of(x)
    (sh, sw), blocks = stride, (h // stride[0], w // stride[1])
    x = build(aten().reshape.default, x, [n, c, blocks[0], sh, blocks[1], sw])
    x = build(aten().permute.default, x, [0, 3, 5, 1, 2, 4])
    return build(aten().reshape.default, x, [n, sh * sw * c, *blocks])


def rearranged(kernel, stride, axes):
    """The weights that make the same sums from space_to_depth's channels."""
    for i, (axis, s) in enumerate(zip(axes, stride)):
        rest = axis.taps * s - axis.shift - kernel.shape[2 + i]
        kernel = lengthened(kernel, 2 + i, axis.shift, rest)
    (out, c), (sh, sw), (kh, kw) = kernel.shape[:2], stride, (a.taps for a in axes)
    kernel = kernel.reshape(out, c, kh, sh, kw, sw).permute(0, 3, 5, 1, 2, 4)
    return kernel.reshape(out, sh * sw * c, kh, kw).contiguous()
