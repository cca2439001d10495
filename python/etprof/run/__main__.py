# SPDX-License-Identifier: Apache-2.0
"""`python -m etprof.run CONFIG.json`"""
import sys

from etprof.run.cli import main

sys.exit(main(sys.argv[1:]))
