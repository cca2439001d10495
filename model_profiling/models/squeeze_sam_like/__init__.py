# SPDX-License-Identifier: Apache-2.0
# Makes the model known to `etprof export squeeze_sam_like`.
from etprof.registry import register_model

from .model import SqueezeSamLikeModel

register_model("squeeze_sam_like", SqueezeSamLikeModel)
