# SPDX-License-Identifier: Apache-2.0
# Model folders live here. Each registers itself in its own __init__.py; one that does not is registered here:
#     from .your_model.model import YourModelClass
#     register_model("your_model", YourModelClass)
from etprof.registry import register_model

__all__ = ["register_model"]
