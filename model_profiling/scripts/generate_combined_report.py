# SPDX-License-Identifier: Apache-2.0
# One report over several platforms.
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from seed_entry import missing  # noqa: E402

missing("a report over several platforms", "etprof report writes one per run folder")
