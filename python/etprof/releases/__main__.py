# SPDX-License-Identifier: Apache-2.0
"""`python -m etprof.releases`."""
import sys

from etprof.releases.cli import main

sys.exit(main(sys.argv[1:]))
