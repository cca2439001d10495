-- SPDX-License-Identifier: Apache-2.0
-- Next fixes by what they would bring to all models and devices: the newest session with operators of each model and
-- device says what is still to be done there.
SELECT f.kind, f.recipe, count(DISTINCT f.model) AS models, count(DISTINCT f.device) AS devices,
       sum(f.gain_ns) AS gain_ns, sum(f.gain_lo_ns) AS gain_lo_ns, sum(f.gain_hi_ns) AS gain_hi_ns, min(f.text) AS example
FROM fixes f
JOIN (SELECT run_id, row_number() OVER (PARTITION BY model, device ORDER BY generated_at DESC, run_id) AS age
      FROM sessions WHERE kind <> 'dump' AND run_id IN (SELECT run_id FROM operators)) newest
  ON f.run_id = newest.run_id AND newest.age = 1
WHERE f.gain_ns IS NOT NULL
GROUP BY f.kind, f.recipe
ORDER BY gain_ns DESC, f.kind, f.recipe
LIMIT 25
