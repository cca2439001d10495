# SPDX-License-Identifier: Apache-2.0
"""From run folders of many devices and nights to tables of Parquet, by DuckDB or Spark: `python -m etprof.fleet`, and
what they say: `python -m etprof.fleet.report` (docs/fleet.md). Sources are read and figures are computed by the C
library; the engines write, keep and group rows."""
