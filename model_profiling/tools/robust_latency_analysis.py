# SPDX-License-Identifier: Apache-2.0
# Not there yet: says so, and what to use.
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from seed_entry import missing  # noqa: E402

missing("statistics of a timeline CSV", "etprof analyze DUMP --out DIR writes them from the dump")
