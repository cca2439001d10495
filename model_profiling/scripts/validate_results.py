# SPDX-License-Identifier: Apache-2.0
# etprof validate FOLDER: schemas, figures against each other, hashes; not mere presence.
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from seed_entry import NEEDED, become, options  # noqa: E402

o = options(("--results", NEEDED))
become("validate", o.results)
