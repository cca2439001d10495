# SPDX-License-Identifier: Apache-2.0
"""`python -m etprof.skills` is `etprof skills`."""
import sys

from etprof.skills.cli import main

sys.exit(main(sys.argv[1:]))
