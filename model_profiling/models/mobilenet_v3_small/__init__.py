# SPDX-License-Identifier: Apache-2.0
# Makes the model known to `etprof export mobilenet_v3_small`.
from etprof.registry import register_model

from .model import MobileNetV3Small

register_model("mobilenet_v3_small", MobileNetV3Small)
