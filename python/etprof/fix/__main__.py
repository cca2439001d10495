# SPDX-License-Identifier: Apache-2.0
"""`python -m etprof.fix`."""
import sys

from etprof.fix.cli import main

sys.exit(main(sys.argv[1:]))
