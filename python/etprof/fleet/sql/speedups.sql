-- SPDX-License-Identifier: Apache-2.0
-- Each comparison of one feature that holds: on which device, with its interval. A session of several models or numbers
-- of threads also compares across those: such a ratio is of no feature alone. Its own error in ln follows from the
-- interval's ends and the blocks behind it (report.py); sessions, not samples, are what a mean is taken over.
SELECT c.level AS feature, c.baseline_level AS against, c.device, c.model, coalesce(c.phase_name, '') AS phase, c.threads,
       c.day, c.run_id, c.experiment, c.speedup, c.lo, c.hi, c.confidence, c.blocks
FROM comparisons c
JOIN arms b ON b.run_id = c.run_id AND b.experiment = c.baseline
  AND coalesce(b.phase_name, '') = coalesce(c.phase_name, '')
WHERE c.speedup > 0 AND c.lo > 0 AND c.hi > c.lo AND c.withheld IS NULL AND NOT c.emulated
  AND b.model = c.model AND b.threads = c.threads AND c.level <> c.baseline_level
ORDER BY feature, against, c.device, c.model, phase, c.threads, c.day, c.run_id, c.experiment
