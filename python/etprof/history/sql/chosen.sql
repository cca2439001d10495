-- SPDX-License-Identifier: Apache-2.0
-- The sessions that have ended and are asked for.
SELECT s.*, replace(CAST(s.generated_at AS STRING), ' ', 'T') AS began
FROM sessions s
WHERE s.kind = 'run' AND s.state = 'finished'
  AND s.run_id IN (SELECT run_id FROM arms WHERE launches > 0 AND (:model IS NULL OR model = :model))
  AND (:device IS NULL OR s.device = :device OR s.cpu = :device)
  AND (:since IS NULL OR replace(CAST(s.generated_at AS STRING), ' ', 'T') >= :since)
