# SPDX-License-Identifier: Apache-2.0
# Makes the model known to `etprof export image_encoder`.
from etprof.registry import register_model

from .model import ImageEncoderModel

register_model("image_encoder", ImageEncoderModel)
