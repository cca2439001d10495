# SPDX-License-Identifier: Apache-2.0
# EfficientSAM as ExecuTorch's own example registry builds it.
from etprof.export.source import from_executorch


def EfficientSam():
    return from_executorch("efficient_sam")
