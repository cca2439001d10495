# SPDX-License-Identifier: Apache-2.0
# Language models as `etprof export llm:NAME` makes them: shapes.py says how large they are,
# decoder.py is the model, weights.py reads a user's weights, program.py makes it exportable.
