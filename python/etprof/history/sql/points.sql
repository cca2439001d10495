-- SPDX-License-Identifier: Apache-2.0
-- The latency of each arm of these sessions, and its speedup over the baseline where one holds.
SELECT a.run_id, a.model, a.experiment, a.level, a.threads, a.phase_name, a.phase_tokens, a.median_ns,
       CASE WHEN c.withheld IS NULL THEN c.speedup END AS speedup
FROM chosen s
JOIN arms a ON a.run_id = s.run_id
LEFT JOIN comparisons c ON c.run_id = a.run_id AND c.experiment = a.experiment
  AND coalesce(c.phase_name, '') = coalesce(a.phase_name, '')
WHERE NOT s.emulated AND (:model IS NULL OR a.model = :model)
ORDER BY s.began, s.run, a.phase_kind DESC, a.phase_depth, a.phase_name, a.model, a.experiment, a.threads
