# SPDX-License-Identifier: Apache-2.0
"""What a model is told of arguments that it can correct."""


class Refused(ValueError):
    """The message says what was found, what is expected, and what to do."""
