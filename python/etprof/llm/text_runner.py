#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ExecuTorch's own runner of language models (TextLLMRunner of the executorch package) behind the
# flags of llama_main, so that `etprof ab --runner` measures its prefill and decode.
# It answers N times and prints its statistics (PyTorchObserver) each time. Its clock counts milliseconds.
#
#   text_runner.py --model_path=M.pte --num_executions=N [--tokenizer_path=T] [--cpu_threads=1]
#                  [--prompt=TEXT | --prompt_tokens=64] [--max_new_tokens=32]
import argparse
import os
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve()
sys.path[:] = [p for p in sys.path if p and Path(p).resolve() != HERE.parent]
# In the wheel that folder holds the packages of another Python, maybe.
sys.path.insert(len(sys.path) if (HERE.parents[1] / "tree").is_dir() else 0, str(HERE.parents[2]))


def options(argv):
    def environment(name, default):
        return int(os.environ.get(name) or default)

    p = argparse.ArgumentParser(allow_abbrev=False)
    p.add_argument("--model_path", required=True)
    p.add_argument("--num_executions", type=int, default=1)
    p.add_argument("--tokenizer_path")
    p.add_argument("--prompt")
    p.add_argument("--prompt_tokens", type=int, default=environment("ETPROF_PROMPT_TOKENS", 64))
    p.add_argument("--max_new_tokens", "--new_tokens", type=int, default=environment("ETPROF_NEW_TOKENS", 32))
    p.add_argument("--temperature", type=float, default=0.0)
    p.add_argument("--cpu_threads", type=int, default=1)
    p.add_argument("--prompt_alone", action="store_true", help="before each answer also one of a single token")
    return p.parse_known_args(argv)[0]  # TextLLMRunner has nothing like executor_runner's other flags


def say(text):
    print(text, file=sys.stderr, flush=True)


def set_threads(count):
    """The runtime's pool, and that of torch, in which the fused operators of the package work."""
    import torch
    from executorch.extension.pybindings import portable_lib

    setter = getattr(portable_lib, "_threadpool_set_num_threads", None) or getattr(
        portable_lib, "_unsafe_reset_threadpool", None)
    torch.set_num_threads(count)
    if setter:
        setter(count)
    say(f"Resetting threadpool with num threads = {count}" if setter else
        f"this executorch cannot set the number of threads (asked for {count})")


def constants(path):
    """What the program says of itself."""
    from executorch.runtime import Runtime

    program = Runtime.get().load_program(path)
    names = {"get_vocab_size", "get_bos_id", "get_eos_ids"} & set(program.method_names)
    return {name: program.load_method(name).execute([]) for name in names}


def main(argv):
    from etprof import bootstrap

    o = options(argv)
    bootstrap.with_packages(__file__)
    from executorch.extension.llm.custom_ops import custom_ops  # noqa: F401
    from executorch.extension.llm.runner import GenerationConfig, TextLLMRunner

    from etprof.llm import tokenizer

    set_threads(o.cpu_threads)
    with tempfile.TemporaryDirectory() as folder:
        path = o.tokenizer_path
        if not path:
            said = constants(o.model_path)
            path = os.path.join(folder, "tokenizer.json")
            vocab, bos, eos = (int(said[n][0]) for n in ("get_vocab_size", "get_bos_id", "get_eos_ids"))
            tokenizer.write(Path(path), vocab, bos, eos)
        runner = TextLLMRunner(o.model_path, path)
        # One byte is one token; words of other lengths would be joined.
        prompt = o.prompt or "a" * o.prompt_tokens
        configs = [GenerationConfig(echo=False, max_new_tokens=n, temperature=o.temperature)
                   for n in [1] * o.prompt_alone + [o.max_new_tokens]]
        for i in range(o.num_executions):
            took = []
            for config in configs:
                runner.generate(prompt, config, stats_callback=lambda s: took.append(
                    s.inference_end_ms - s.inference_start_ms))
                runner.reset()
            say(f"Iteration {i + 1} of {o.num_executions}: {took[-1]} ms")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
