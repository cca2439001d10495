# SPDX-License-Identifier: Apache-2.0
# The Python side of etprof: exporter and model registry. Importing this needs no other package.
__version__ = "0.1.0"
