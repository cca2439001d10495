-- SPDX-License-Identifier: Apache-2.0
-- How many operators ran in kernels of the feature that was asked for, of those that have such kernels, and the share of
-- time in them: per model, device, level and build. How many they are does not change with the weather.
SELECT model, device, level, coalesce(build, day) AS build, min(day) AS day, count(*) AS eligible,
       sum(CASE WHEN engaged = 'engaged' THEN 1 ELSE 0 END) AS engaged,
       sum(CASE WHEN engaged = 'engaged' THEN ns ELSE 0 END) AS engaged_ns, sum(ns) AS ns
FROM operators
WHERE engaged IS NOT NULL AND engaged <> 'unknown' AND ns IS NOT NULL
GROUP BY model, device, level, coalesce(build, day)
HAVING sum(ns) > 0
ORDER BY model, device, level, day, build
