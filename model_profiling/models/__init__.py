# SPDX-License-Identifier: Apache-2.0
# Model folders live here. Each registers itself; none needs an entry in this file.
from etprof.registry import register_model

__all__ = ["register_model"]
