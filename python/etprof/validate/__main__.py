# SPDX-License-Identifier: Apache-2.0
"""`python -m etprof.validate PATH` prints what `etprof validate PATH --format json` prints."""
import sys

from etprof.validate.cli import main

sys.exit(main(sys.argv[1:]))
