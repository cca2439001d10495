-- SPDX-License-Identifier: Apache-2.0
-- The programs of each session.
SELECT DISTINCT a.run_id, a.model, a.model_sha256
FROM chosen s JOIN arms a ON a.run_id = s.run_id
ORDER BY a.run_id, a.model, a.model_sha256
