// SPDX-License-Identifier: Apache-2.0
// Members of an etprof.ab/1 document as cells. It is one that this program has just written, so
// that what is not there is all that has to be told apart.
#include "convert/document_columns.h"

const json_t *etp_member_of(const json_t *object, const char *key)
{
    const json_t *m = json_object_get(object, key);
    return json_is_null(m) ? NULL : m;
}

void etp_member_put(etp_batch *b, etp_column_type type, const json_t *m)
{
    if (type == ETP_COLUMN_TEXT) {
        etp_batch_text_if(b, etp_str_from(json_string_value(m)));
    } else if (type == ETP_COLUMN_F64) {
        etp_batch_f64_if(b, json_number_value(m), json_is_number(m));
    } else if (type == ETP_COLUMN_BOOL && json_is_boolean(m)) {
        etp_batch_bool(b, json_is_true(m));
    } else if (type == ETP_COLUMN_I64 && json_is_integer(m)) {
        etp_batch_i64(b, json_integer_value(m));
    } else {
        etp_batch_null(b);
    }
}

uint32_t etp_member_arm(const etp_run *run, const char *name)
{
    uint32_t i = 0;
    while (i < run->arms.n && (!name || !etp_str_eqz(run->arms.items[i].name, name))) {
        i++;
    }
    return i;
}
