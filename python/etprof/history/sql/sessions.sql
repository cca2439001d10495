-- SPDX-License-Identifier: Apache-2.0
-- A row a session, in columns of the fleet's table.
INSERT INTO sessions
SELECT run, run_id, 'run', m.generated_at, m.device.spec, m.device.facts.cpu, m.device.emulated,
       left(m.models[1].sha256, 12) || '+' || left(m.plan.arms[1].runner_sha256, 12), m.executorch.version,
       m.tool.version, m.state, r.grade, len(m.plan.arms), m.blocks_done
FROM documents
