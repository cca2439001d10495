-- SPDX-License-Identifier: Apache-2.0
-- Each comparison that holds: which feature, on which device, with its interval. Its own error in ln follows from the
-- interval's ends and the blocks behind it (report.py); sessions, not samples, are what a mean is taken over.
SELECT level AS feature, baseline_level AS against, device, model, coalesce(phase_name, '') AS phase, threads, day, run_id,
       experiment, speedup, lo, hi, confidence, blocks
FROM comparisons
WHERE speedup > 0 AND lo > 0 AND hi > lo AND withheld IS NULL AND NOT emulated
ORDER BY feature, against, device, model, phase, threads, day, run_id, experiment
