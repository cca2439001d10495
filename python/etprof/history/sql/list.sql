-- SPDX-License-Identifier: Apache-2.0
-- Newest first, with what the first comparison of each says.
SELECT s.run_id, s.run AS folder, s.began, s.device, s.cpu, s.emulated, s.arms, s.blocks, s.grade,
       c.experiment AS candidate, c.speedup AS estimate, c.lo, c.hi, c.withheld
FROM chosen s
LEFT JOIN (SELECT *, row_number() OVER (PARTITION BY run_id ORDER BY phase_kind DESC, phase_depth, experiment) AS place
           FROM comparisons) c
  ON c.run_id = s.run_id AND c.place = 1
ORDER BY s.began DESC, s.run DESC
