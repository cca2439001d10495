# SPDX-License-Identifier: Apache-2.0
# Makes the model known to `etprof export toy_cnn`.
from etprof.registry import register_model

from .model import ToyCNNModel

register_model("toy_cnn", ToyCNNModel)
