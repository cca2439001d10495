# SPDX-License-Identifier: Apache-2.0
"""Runs `etprof export` commands in one process that has PyTorch loaded, each in a copy of it (fork).

Reads a JSON list of words a line, answers with {"rc": …, "said": last words} a line. To be run by an
interpreter that has PyTorch, with python/ of the tree on its path."""
import json
import os
import sys
import tempfile

import executorch.backends.xnnpack.partition.xnnpack_partitioner  # noqa: F401  loaded once for all
import executorch.exir  # noqa: F401
import torch  # noqa: F401
from etprof.export import cli


def export(words):
    with tempfile.TemporaryFile("w+") as said:
        child = os.fork()
        if child == 0:
            os.dup2(said.fileno(), 2)
            os.dup2(2, 1)
            os._exit(cli.main(words))
        _, status = os.waitpid(child, 0)
        said.seek(0)
        return {"rc": os.waitstatus_to_exitcode(status), "said": said.read()[-400:].strip()}


def main():
    torch.set_num_threads(1)
    print("ready", flush=True)
    for line in sys.stdin:
        print(json.dumps(export(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
