# SPDX-License-Identifier: Apache-2.0
"""Makes the tiny programs of `etprof-runner --selftest` and writes them as C arrays.

usage: python make_selftest.py models.h types.h     (executorch 1.5.1, torch 2.13.0, torchao 0.18)

The arrays are committed, so nobody needs PyTorch to build the runner. Weights are seeded.
"""
import sys

import torch
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
    XNNPACKQuantizer,
    get_symmetric_quantization_config,
)
from executorch.exir import EdgeCompileConfig, to_edge_transform_and_lower
from torch.export import export
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e


def lower(model, inputs):
    edge = to_edge_transform_and_lower(
        export(model, inputs),
        partitioner=[XnnpackPartitioner()],
        compile_config=EdgeCompileConfig(_check_ir_validity=False),
    )
    return bytes(edge.to_executorch().buffer)


def dynamic_linear():
    """One linear, int8 weights, activations quantised as it runs: QDU8 with VNNI, QD8 without."""
    inputs = (torch.randn(4, 32),)
    quantizer = XNNPACKQuantizer()
    quantizer.set_global(get_symmetric_quantization_config(is_per_channel=True, is_dynamic=True))
    prepared = prepare_pt2e(export(torch.nn.Linear(32, 16).eval(), inputs).module(), quantizer)
    prepared(*inputs)
    return lower(convert_pt2e(prepared), inputs)


def convolution():
    """One 3x3 convolution in float32: PF32 with SME, F32 without."""
    return lower(torch.nn.Conv2d(4, 8, 3).eval(), (torch.randn(1, 4, 8, 8),))


class Types(torch.nn.Module):
    """One operator per data type: what a build calls them at a level tells what its names mean."""

    def __init__(self):
        super().__init__()
        self.conv32 = torch.nn.Conv2d(4, 8, 3)
        self.lin32 = torch.nn.Linear(32, 16)
        self.conv16 = torch.nn.Conv2d(4, 8, 3).half()
        self.lin16 = torch.nn.Linear(32, 16).half()
        self.conv8 = torch.nn.Conv2d(4, 8, 3)
        self.lin8 = torch.nn.Linear(32, 16)
        self.dw8 = torch.nn.Conv2d(4, 4, 3, groups=4)
        self.dw32 = torch.nn.Conv2d(4, 4, 3, groups=4)
        self.dyn8 = torch.nn.Linear(32, 16)

    def forward(self, x, i):
        return (
            self.conv32(i), self.lin32(x), torch.bmm(x.reshape(2, 2, 32), x.reshape(2, 32, 2)), self.conv16(i.half()),
            self.lin16(x.half()), self.conv8(i), self.lin8(x), self.dw8(i), self.dw32(i), self.dyn8(x),
        )


def types():
    inputs = (torch.randn(4, 32), torch.randn(1, 4, 8, 8))
    quantizer = XNNPACKQuantizer()
    for name in ("conv8", "lin8", "dw8"):
        quantizer.set_module_name(name, get_symmetric_quantization_config(is_per_channel=True))
    quantizer.set_module_name("dyn8", get_symmetric_quantization_config(is_per_channel=True, is_dynamic=True))
    prepared = prepare_pt2e(export(Types().eval(), inputs).module(), quantizer)
    prepared(*inputs)
    return lower(convert_pt2e(prepared), inputs)


def array(name, data, width=20):
    rows = []
    for at in range(0, len(data), width):
        rows.append("    " + ",".join(str(b) for b in data[at : at + width]) + ",")
    # The runtime reads the program in place and wants it aligned.
    return "alignas(16) static const unsigned char %s[] = {\n%s\n};\n" % (name, "\n".join(rows))


def main():
    torch.manual_seed(0)
    with open(sys.argv[1], "w") as out:
        out.write("// SPDX-License-Identifier: Apache-2.0\n")
        out.write("// The programs of the self-test, written by make_selftest.py: do not edit.\n")
        out.write("// clang-format off\n\n")
        out.write(array("k_selftest_linear", dynamic_linear()))
        out.write("\n")
        out.write(array("k_selftest_conv", convolution()))
    torch.manual_seed(1)
    with open(sys.argv[2], "w") as out:
        out.write("// SPDX-License-Identifier: Apache-2.0\n")
        out.write("// One operator per data type, written by make_selftest.py: do not edit.\n")
        out.write("// clang-format off\n\n")
        out.write(array("k_selftest_types", types(), 40))


if __name__ == "__main__":
    main()
