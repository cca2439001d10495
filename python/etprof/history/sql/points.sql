-- SPDX-License-Identifier: Apache-2.0
-- The latency of each arm of these sessions, its speedup over a baseline, and why figures are withheld: of a baseline
-- what is withheld of an arm because one of the two waited.
SELECT a.run_id, a.model, a.experiment, a.level, a.threads, a.phase_name, a.phase_tokens, a.median_ns,
       c.baseline, b.level AS baseline_level, CASE WHEN c.withheld IS NULL THEN c.speedup END AS speedup,
       coalesce(c.withheld, w.withheld) AS withheld
FROM chosen s
JOIN arms a ON a.run_id = s.run_id
LEFT JOIN comparisons c ON c.run_id = a.run_id AND c.experiment = a.experiment
  AND coalesce(c.phase_name, '') = coalesce(a.phase_name, '')
LEFT JOIN arms b ON b.run_id = c.run_id AND b.experiment = c.baseline
  AND coalesce(b.phase_name, '') = coalesce(c.phase_name, '')
LEFT JOIN (SELECT run_id, baseline, coalesce(phase_name, '') AS phase, min(withheld) AS withheld
           FROM comparisons
           WHERE withheld IN ('contended', 'crowded')
           GROUP BY run_id, baseline, coalesce(phase_name, '')) w
  ON w.run_id = a.run_id AND w.baseline = a.experiment AND w.phase = coalesce(a.phase_name, '')
WHERE NOT s.emulated AND (:model IS NULL OR a.model = :model)
ORDER BY s.began, s.run, a.phase_kind DESC, a.phase_depth, a.phase_name, a.model, a.experiment, a.threads
