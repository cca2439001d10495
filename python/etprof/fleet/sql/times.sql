-- SPDX-License-Identifier: Apache-2.0
-- Time of an inference, a row a source and arm: untraced where it was measured, else with recording on.
SELECT model, device, experiment, coalesce(phase_name, '') AS phase, coalesce(threads, 0) AS threads, day,
       coalesce(build, '') AS build, CASE WHEN median_ns IS NULL THEN 'traced' ELSE 'timed' END AS how,
       coalesce(median_ns, traced_ns) AS ns
FROM arms
WHERE day IS NOT NULL AND device IS NOT NULL AND coalesce(median_ns, traced_ns) > 0 AND NOT emulated
ORDER BY model, device, experiment, phase, threads, how, day, build, run_id
