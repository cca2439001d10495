# SPDX-License-Identifier: Apache-2.0
# Makes the model known to `etprof export edgetam_like`.
from etprof.registry import register_model

from .model import EdgeTamLikeModel

register_model("edgetam_like", EdgeTamLikeModel)
