-- SPDX-License-Identifier: Apache-2.0
-- Share of an arm's operator time in kernels of the feature that was asked for, per model, device, level and build.
SELECT model, device, level, coalesce(build, '') AS build, min(day) AS day,
       sum(CASE WHEN engaged = 'engaged' THEN ns ELSE 0 END) AS engaged_ns, sum(ns) AS ns
FROM operators
WHERE engaged IS NOT NULL AND ns IS NOT NULL
GROUP BY model, device, level, coalesce(build, '')
HAVING sum(ns) > 0
ORDER BY model, device, level, day, build
