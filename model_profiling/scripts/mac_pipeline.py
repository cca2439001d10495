# SPDX-License-Identifier: Apache-2.0
# etprof run CONFIG on this machine.
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from seed_entry import pipeline  # noqa: E402

pipeline("mac")
