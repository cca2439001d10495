# SPDX-License-Identifier: Apache-2.0
# torchvision's MobileNetV3 small under the name that documents use for it.
from etprof.export.source import from_torchvision


def MobileNetV3Small():
    return from_torchvision("mobilenet_v3_small")
