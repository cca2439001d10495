# SPDX-License-Identifier: Apache-2.0
# Export of PyTorch models; `python -m etprof.export` is the command line.
