# SPDX-License-Identifier: Apache-2.0
import importlib.util
def have_packages():
    return all(importlib.util.find_spec(p) for p in ("torch", "executorch", "torchao"))
def run_elsewhere(module, argv, options):
    raise NotImplementedError
