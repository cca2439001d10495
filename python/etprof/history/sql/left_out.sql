-- SPDX-License-Identifier: Apache-2.0
-- Sessions that are no part of a history: unfinished, emulated or without timed launches.
SELECT count(*) AS n
FROM sessions
WHERE kind = 'run' AND (state <> 'finished' OR emulated OR run_id NOT IN (SELECT run_id FROM arms WHERE launches > 0))
