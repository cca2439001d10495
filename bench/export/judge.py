# SPDX-License-Identifier: Apache-2.0
"""Does a program that was exported answer as its model does, asked otherwise than the export's check asks?

usage: judge.py SOURCE SEED PROGRAM

Builds the model again from its seed, draws five inputs that the export did not see, and prints the correlation of the
program's answers with the model's, after the mean answer of each element over the five was taken away from both: what
is left is how the answers move with the inputs. A program that answers a constant, or zeros, has none ("null").

An input on which the model itself, in double precision, answers otherwise than in single (by 0.0001 of its answer) is
drawn again: no program can follow it there."""
import argparse
import copy
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
DRAWS = 5
CONDITIONED = 1e-4


def drawn(x, generator):
    import torch

    if not isinstance(x, torch.Tensor):
        return x
    if x.is_floating_point():
        return torch.randn(x.shape, generator=generator, dtype=x.dtype)
    if x.numel() and int(x.min()) >= 0 and int(x.max()) > 1:
        return torch.randint(0, int(x.max()) + 1, x.shape, generator=generator, dtype=x.dtype)
    return x  # masks stay


def first(tree):
    import torch
    from torch.utils import _pytree as pytree

    return next(t for t in pytree.tree_flatten(tree)[0] if isinstance(t, torch.Tensor) and t.is_floating_point())


def main(argv=None):
    parser = argparse.ArgumentParser()
    parser.add_argument("source")
    parser.add_argument("seed", type=int)
    parser.add_argument("program")
    args = parser.parse_args(argv)
    sys.path.insert(0, str(ROOT / "python"))
    from etprof.export import job, source

    job.silence_libraries()
    import executorch.kernels.quantized  # noqa: F401
    import torch
    from executorch.runtime import Runtime
    from torch.utils import _pytree as pytree

    torch.manual_seed(args.seed)
    model = source.load(source.resolve(args.source))
    method = Runtime.get().load_program(args.program).load_method("forward")
    generator = torch.Generator().manual_seed(1234)
    half = "_fp16" in pathlib.Path(args.program).name
    exact = copy.deepcopy(model.module).double()
    ours, theirs = [], []
    for _ in range(4 * DRAWS):
        inputs = pytree.tree_map(lambda x: drawn(x, generator), model.args)
        floats = pytree.tree_map(lambda x: x.double() if isinstance(x, torch.Tensor) and x.is_floating_point() else x,
                                 inputs)
        with torch.no_grad():
            answer = first(model.module(*inputs)).double().flatten()
            off = float((first(exact(*floats)).flatten() - answer).norm() / answer.norm())
        if off > CONDITIONED:
            continue
        theirs.append(answer)
        given = [x.half() if half and isinstance(x, torch.Tensor) and x.is_floating_point() else x for x in inputs]
        ours.append(first(method.execute(given)).double().flatten())
        if len(ours) == DRAWS:
            break
    if len(ours) < DRAWS:
        print(json.dumps({"response": None}))
        return 0
    a, b = torch.stack(ours), torch.stack(theirs)
    a, b = (a - a.mean(0)).flatten(), (b - b.mean(0)).flatten()
    norms = float(a.norm() * b.norm())
    response = float(a @ b) / norms if norms > 0 else float("nan")
    print(json.dumps({"response": round(response, 6) if response == response else None}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
