-- SPDX-License-Identifier: Apache-2.0
-- What was measured on a real device, in the order of time, with what may have changed beside the program.
SELECT run_id, run, began, device, cpu, build, executorch, tool_version
FROM chosen
WHERE NOT emulated
ORDER BY began, run
