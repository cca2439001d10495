-- SPDX-License-Identifier: Apache-2.0
-- Next fixes by what they would bring to all models: the newest session of each model and device counts.
SELECT f.kind, f.recipe, count(DISTINCT f.model) AS models, sum(f.gain_ns) AS gain_ns, sum(f.gain_lo_ns) AS gain_lo_ns,
       sum(f.gain_hi_ns) AS gain_hi_ns, min(f.text) AS example
FROM fixes f
JOIN (SELECT model, device, max(day) AS day FROM fixes GROUP BY model, device) newest
  ON f.model = newest.model AND f.device = newest.device AND f.day = newest.day
WHERE f.gain_ns IS NOT NULL
GROUP BY f.kind, f.recipe
ORDER BY gain_ns DESC, f.kind, f.recipe
LIMIT 25
