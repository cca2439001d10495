-- SPDX-License-Identifier: Apache-2.0
-- What could not be read, by kind and device.
SELECT kind, status, coalesce(device, '') AS device, count(*) AS sources, min(message) AS example
FROM errors
GROUP BY kind, status, coalesce(device, '')
ORDER BY sources DESC, kind, status, device
LIMIT 25
