# SPDX-License-Identifier: Apache-2.0
# etprof validate FOLDER: schemas, figures against each other, hashes; not mere presence.
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from seed_entry import NEEDED, become, folder_here, options  # noqa: E402

o = options(("--results", NEEDED))
folder = folder_here(o.results)
become("validate", folder)
