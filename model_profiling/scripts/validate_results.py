# SPDX-License-Identifier: Apache-2.0
# etprof verify FOLDER: hashes and numbers, not mere presence.
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from seed_entry import NEEDED, become, options  # noqa: E402

o = options(("--results", NEEDED))
become("verify", o.results)
