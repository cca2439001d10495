// SPDX-License-Identifier: Apache-2.0
// Operators that draw random numbers: their results differ at every call.
#include <etprof/operators.h>

bool etp_op_draws(etp_str name)
{
    static const char *const k_draws[] = {
        "alpha_dropout",    "bernoulli", "cauchy",     "dropout",     "exponential",
        "feature_dropout",  "geometric", "log_normal", "multinomial", "native_dropout",
        "normal",           "poisson",   "rand",       "rand_like",   "randint",
        "randint_like",     "randn",     "randn_like", "randperm",    "random",
        "rrelu_with_noise", "uniform",
    };
    etp_op_name op;
    etp_op_parse(name, &op);
    etp_str family = op.family;
    size_t colons = etp_str_find(family, ETP_STR("::")), dot = etp_str_find(family, ETP_STR("."));
    family.len = dot;
    if (colons < family.len) {
        family = (etp_str){family.ptr + colons + 2, family.len - colons - 2};
    }
    for (size_t i = 0; i < sizeof k_draws / sizeof *k_draws; i++) {
        if (etp_str_eqz(family, k_draws[i])) {
            return true;
        }
    }
    return false;
}
