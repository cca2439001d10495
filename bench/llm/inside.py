# SPDX-License-Identifier: Apache-2.0
# What bench/llm/run needs of a process with Python and PyTorch in it.
#   inside.py calls LIBRARY ANSWERS [flags of text_runner.py]
#       TextLLMRunner's answers, and then the same calls by a plain loop (calls.cpp) in the same process: are the times
#       of its calls those of the calls, or of the process that they are made in? Prints PyTorchObserver lines, and
#       CALLS with nanoseconds.
#   inside.py package MODEL TOKENIZER
#       writes a tokenizer for the model, and prints a line each: the files that TextLLMRunner needs in a process
#       without an interpreter, in the order in which they are loaded; none where Python is no library.
import ctypes
import importlib.util
import json
import sys
import sysconfig
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
from etprof import bootstrap
from etprof.llm import text_runner, tokenizer


def calls(library, answers, *flags):
    text_runner.main(flags)
    o = text_runner.options(flags)
    ns = (ctypes.c_longlong * (2 * int(answers)))()
    status = ctypes.CDLL(library).text_calls(o.model_path.encode(), o.prompt_tokens, o.max_new_tokens - 1,
                                             int(answers), ns)
    print("\nCALLS " + json.dumps(list(ns)), flush=True)
    return status


def package(model, path):
    from executorch.extension.llm.custom_ops import custom_ops  # noqa: F401

    said = text_runner.constants(model)
    tokenizer.write(Path(path), *(int(said[n][0]) for n in ("get_vocab_size", "get_bos_id", "get_eos_ids")))
    if sysconfig.get_config_var("Py_ENABLE_SHARED"):
        print(Path(sysconfig.get_config_var("LIBDIR")) / sysconfig.get_config_var("INSTSONAME"))
        folder = Path(importlib.util.find_spec("executorch.extension.llm.custom_ops").origin).parent
        print(folder / "libcustom_ops_aot_lib.so")
        print(importlib.util.find_spec("executorch.extension.llm.runner._llm_runner").origin, flush=True)
    return 0


if __name__ == "__main__":
    bootstrap.with_packages(__file__, SystemExit)
    sys.exit({"calls": calls, "package": package}[sys.argv[1]](*sys.argv[2:]))
