# SPDX-License-Identifier: Apache-2.0
"""`python -m etprof.mcp` is `etprof mcp`."""
import sys

from etprof.mcp.cli import main

sys.exit(main(sys.argv[1:]))
