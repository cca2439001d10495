# SPDX-License-Identifier: Apache-2.0
# Greedy tokens by ExecuTorch's Python runtime, of the executorch package: nothing of etprof takes part.
#   runtime.py MODEL.pte TOKENS ID...     the prompt's ids; prints {"prompt", "tokens", "margins"} in its last line
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
from etprof import bootstrap


def main(model, n, *prompt):
    import torch
    from executorch.extension.llm.custom_ops import custom_ops  # noqa: F401
    from executorch.runtime import Runtime

    prompt = [int(i) for i in prompt]
    forward = Runtime.get().load_program(model).load_method("forward")
    tokens, margins, at, given = [], [], 0, prompt
    for _ in range(int(n)):
        out = forward.execute([torch.tensor([given]), torch.tensor([at])])[0]
        (best, second), ids = (x.tolist() for x in out.reshape(-1, out.shape[-1])[-1].topk(2))
        at += len(given)
        given = [ids[0]]
        tokens.append(ids[0])
        margins.append(best - second)
    print(json.dumps({"prompt": prompt, "tokens": tokens, "margins": margins}), flush=True)


if __name__ == "__main__":
    bootstrap.with_packages(__file__, SystemExit)
    main(*sys.argv[1:])
