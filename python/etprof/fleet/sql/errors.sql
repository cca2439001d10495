-- SPDX-License-Identifier: Apache-2.0
-- What could not be read, by kind and device, with the first of the files and what is wrong with it.
SELECT kind, status, coalesce(device, '') AS device, count(*) AS sources, min_by(message, run) AS example, min(run) AS run
FROM errors
GROUP BY kind, status, coalesce(device, '')
ORDER BY sources DESC, kind, status, device
LIMIT 25
