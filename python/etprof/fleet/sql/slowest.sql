-- SPDX-License-Identifier: Apache-2.0
-- Where time goes over all models: mean time of an operator in an execution, by its name, and in how many models it is.
SELECT names AS operator, category, count(DISTINCT model) AS models, count(DISTINCT device) AS devices, count(*) AS seen,
       sum(ns) AS ns, max(ns) AS longest_ns
FROM operators
WHERE ns IS NOT NULL AND NOT emulated
GROUP BY names, category
ORDER BY ns DESC, operator, category
LIMIT 25
