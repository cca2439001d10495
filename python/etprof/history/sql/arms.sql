-- SPDX-License-Identifier: Apache-2.0
-- A row an arm. The report itself is that of the first phase, the others hold documents of their own.
INSERT INTO arms
WITH parts AS (
  SELECT run_id, m, r.phases[1] AS phase, r.arms AS arms FROM documents
  UNION ALL
  SELECT run_id, m, r.phases[i], r.phases[i].document.arms
  FROM (SELECT *, unnest(range(2, len(r.phases) + 1)) AS i FROM documents)),
found AS (
  SELECT run_id, m, phase, arm, list_filter(m.plan.arms, lambda x: x.name = arm.name)[1] AS planned
  FROM (SELECT run_id, m, phase, unnest(arms) AS arm FROM parts))
SELECT run_id, arm.name, arm.level, m.models[planned.model + 1].stem, m.models[planned.model + 1].sha256, planned.threads,
       phase.name, phase.kind, phase.tokens, phase.depth, arm.launches, arm.median_ns
FROM found
WHERE planned IS NOT NULL
