// SPDX-License-Identifier: Apache-2.0
// A key and its value in one call.
#include "base/json.h"

void etp_json_kv_str(etp_json *j, const char *key, etp_str s)
{
    etp_json_key(j, key);
    etp_json_str(j, s);
}

void etp_json_kv_z(etp_json *j, const char *key, const char *z)
{
    etp_json_key(j, key);
    etp_json_z(j, z);
}

void etp_json_kv_u64(etp_json *j, const char *key, uint64_t v)
{
    etp_json_key(j, key);
    etp_json_u64(j, v);
}

void etp_json_kv_i64(etp_json *j, const char *key, int64_t v)
{
    etp_json_key(j, key);
    etp_json_i64(j, v);
}

void etp_json_kv_double(etp_json *j, const char *key, double v)
{
    etp_json_key(j, key);
    etp_json_double(j, v);
}

void etp_json_kv_ratio(etp_json *j, const char *key, double v)
{
    etp_json_key(j, key);
    etp_json_ratio(j, v);
}

void etp_json_kv_bool(etp_json *j, const char *key, bool v)
{
    etp_json_key(j, key);
    etp_json_bool(j, v);
}

void etp_json_kv_null(etp_json *j, const char *key)
{
    etp_json_key(j, key);
    etp_json_null(j);
}

void etp_json_kv_i64_if(etp_json *j, const char *key, int64_t v, bool known)
{
    etp_json_key(j, key);
    if (known) {
        etp_json_i64(j, v);
    } else {
        etp_json_null(j);
    }
}

void etp_json_kv_bool_if(etp_json *j, const char *key, bool v, bool known)
{
    etp_json_key(j, key);
    if (known) {
        etp_json_bool(j, v);
    } else {
        etp_json_null(j);
    }
}
