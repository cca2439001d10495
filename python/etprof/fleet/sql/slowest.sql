-- SPDX-License-Identifier: Apache-2.0
-- Where time goes over all models: mean time of an operator in an execution of each model, by its name, summed over the
-- models; one that was recorded more often than others counts no more than they do.
SELECT operator, category, count(*) AS models, sum(seen) AS seen, sum(ns) AS ns, max(ns) AS longest_ns
FROM (SELECT names AS operator, category, model, sum(seen) AS seen,
             CAST(round(sum(ns) / CAST(count(*) AS DOUBLE)) AS BIGINT) AS ns
      FROM (SELECT names, category, model, run, experiment, coalesce(phase_name, '') AS phase, count(*) AS seen,
                   sum(ns) AS ns
            FROM operators
            WHERE ns IS NOT NULL AND NOT emulated
            GROUP BY names, category, model, run, experiment, coalesce(phase_name, '')) executions
      GROUP BY names, category, model) of_models
GROUP BY operator, category
ORDER BY ns DESC, operator, category
LIMIT 25
