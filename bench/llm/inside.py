# SPDX-License-Identifier: Apache-2.0
# TextLLMRunner's answers, and then the same calls by a plain loop (calls.cpp) in the same process: are the times of
# TextLLMRunner's calls those of its calls, or of the process that they are made in?
#   inside.py LIBRARY ANSWERS [flags of text_runner.py]     prints PyTorchObserver lines, and CALLS with nanoseconds
import ctypes
import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
from etprof import bootstrap
from etprof.llm import text_runner


def main(library, answers, flags):
    if not bootstrap.have_packages():
        python = bootstrap.present_python()
        if not python:
            sys.exit("no interpreter here has the executorch package; any `etprof export` makes one")
        os.execv(python, [python, *sys.argv])
    text_runner.main(flags)
    o = text_runner.options(flags)
    ns = (ctypes.c_longlong * (2 * answers))()
    status = ctypes.CDLL(library).text_calls(o.model_path.encode(), o.prompt_tokens, o.max_new_tokens - 1, answers, ns)
    print("\nCALLS " + json.dumps(list(ns)), flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]), sys.argv[3:]))
