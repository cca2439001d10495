-- SPDX-License-Identifier: Apache-2.0
-- What sessions say about each device: how hot it gets in one, in how many the system took its clock down by a twentieth
-- or said that it is more than lightly throttled, how noisy they are, how many launches were lost.
SELECT device, count(*) AS sources, avg(temperature_c) AS usual_c, max(temperature_c) AS highest_c,
       max(thermal_status) AS thermal_status, min(clock_cap_share) AS lowest_clock_cap,
       avg(CASE WHEN clock_cap_share < 0.95 OR thermal_status >= 2 THEN CAST(1 AS DOUBLE)
                WHEN clock_cap_share IS NOT NULL OR thermal_status IS NOT NULL THEN CAST(0 AS DOUBLE) END) AS throttled,
       avg(noise) AS noise, sum(lost) AS lost
FROM sessions
WHERE device IS NOT NULL
GROUP BY device
ORDER BY device
