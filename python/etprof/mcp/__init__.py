# SPDX-License-Identifier: Apache-2.0
"""The server for agents: the Model Context Protocol over standard input and output, on the official SDK."""
