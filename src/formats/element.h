// SPDX-License-Identifier: Apache-2.0
// Elements of tensors as numbers.
#ifndef ETP_FORMATS_ELEMENT_H
#define ETP_FORMATS_ELEMENT_H

#include <etprof/dtype.h>

// Element I of packed elements at DATA; NAN where they are of a type that is not read.
double etp_dtype_element(etp_dtype dtype, const uint8_t *data, size_t i);
bool etp_dtype_has_elements(etp_dtype dtype); // is it one that is read?

#endif
