// SPDX-License-Identifier: Apache-2.0
// What every unit test begins with: cmocka, after the headers that it asks for.
#ifndef ETP_TESTS_UNIT_H
#define ETP_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
