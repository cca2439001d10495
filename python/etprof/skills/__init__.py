# SPDX-License-Identifier: Apache-2.0
"""The playbooks of agent_skill_ml_profiling/ and agentic-kits/: read, filled in, executed, installed for agents."""
