# SPDX-License-Identifier: Apache-2.0
# Entry point: finds an interpreter that is new enough, makes hashing reproducible, runs.
import os
import sys

MODULE = "etprof.export"


def named_python(argv):
    """The value of --python, which also helps when this interpreter is too old to go on."""
    for i, word in enumerate(argv):
        if word.startswith("--python="):
            return word[len("--python="):]
        if word == "--python" and i + 1 < len(argv):
            return argv[i + 1]
    return None


if sys.version_info < (3, 10):
    other = named_python(sys.argv[1:])
    if other and os.environ.get("ETPROF_REEXEC") != "1":
        os.environ["ETPROF_REEXEC"] = "1"  # once: the other one may be as old
        os.execvp(other, [other, "-m", MODULE] + sys.argv[1:])
    sys.stderr.write(
        "etprof export: needs Python 3.10 or newer, this is %d.%d; "
        "name a newer one with --python PATH\n" % sys.version_info[:2]
    )
    sys.exit(5)

if os.environ.get("PYTHONHASHSEED") != "0":
    # Set iteration order reaches the exported file: same input, same bytes.
    os.environ["PYTHONHASHSEED"] = "0"
    os.execv(sys.executable, [sys.executable, "-m", MODULE] + sys.argv[1:])

from etprof.export.cli import main

sys.exit(main(sys.argv[1:]))
