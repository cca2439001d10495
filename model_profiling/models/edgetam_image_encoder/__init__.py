# SPDX-License-Identifier: Apache-2.0
# Makes the model known to `etprof export edgetam_image_encoder`.
from etprof.registry import register_model

from .model import EdgeTamImageEncoder

register_model("edgetam_image_encoder", EdgeTamImageEncoder)
