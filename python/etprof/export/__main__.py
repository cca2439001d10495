# SPDX-License-Identifier: Apache-2.0
# Entry point: finds an interpreter that has the packages, makes hashing reproducible, runs.
import os
import sys

if sys.version_info < (3, 10):
    sys.stderr.write(
        "etprof export: needs Python 3.10 or newer, this is %d.%d; "
        "name a newer one with --python PATH\n" % sys.version_info[:2]
    )
    sys.exit(5)

if os.environ.get("PYTHONHASHSEED") != "0":
    # Set iteration order reaches the exported file: same input, same bytes.
    os.environ["PYTHONHASHSEED"] = "0"
    os.execv(sys.executable, [sys.executable, "-m", "etprof.export"] + sys.argv[1:])

from etprof.export.cli import main

sys.exit(main(sys.argv[1:]))
