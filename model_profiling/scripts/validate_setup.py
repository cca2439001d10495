# SPDX-License-Identifier: Apache-2.0
# etprof validate setup; --model: etprof inspect first.
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from seed_entry import TEXT, become, etprof, options  # noqa: E402

o = options(("--model", TEXT))
if o.model:
    code = subprocess.run([etprof(), "inspect", o.model], check=False).returncode
    if code:
        sys.exit(code)
become("validate", "setup")
