-- SPDX-License-Identifier: Apache-2.0
-- A row an arm that is compared; one that is withheld has no figures.
INSERT INTO comparisons
WITH parts AS (
  SELECT run_id, r.phases[1] AS phase, r.comparisons AS comparisons FROM documents
  UNION ALL
  SELECT run_id, r.phases[i], r.phases[i].document.comparisons
  FROM (SELECT *, unnest(range(2, len(r.phases) + 1)) AS i FROM documents))
SELECT run_id, c.baseline, c.candidate, phase.name, phase.kind, phase.depth, c.speedup.estimate, c.speedup.lo, c.speedup.hi,
       c.withheld
FROM (SELECT run_id, phase, unnest(comparisons) AS c FROM parts)
