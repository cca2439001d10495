-- SPDX-License-Identifier: Apache-2.0
-- What sessions say about each device: how hot, how throttled, how noisy, how many launches were lost.
SELECT device, count(*) AS sources, max(temperature_c) AS highest_c, max(thermal_status) AS thermal_status,
       min(clock_cap_share) AS lowest_clock_cap, avg(noise) AS noise, sum(lost) AS lost
FROM sessions
WHERE device IS NOT NULL
GROUP BY device
ORDER BY device
