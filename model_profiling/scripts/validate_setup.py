# SPDX-License-Identifier: Apache-2.0
# Is everything there that a session needs?
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from seed_entry import missing  # noqa: E402

missing("etprof doctor", "etprof levels shows what this CPU can be switched to")
