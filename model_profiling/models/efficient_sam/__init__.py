# SPDX-License-Identifier: Apache-2.0
# Makes the model known to `etprof export efficient_sam`.
from etprof.registry import register_model

from .model import EfficientSam

register_model("efficient_sam", EfficientSam)
