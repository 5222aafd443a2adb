/* SPDX-License-Identifier: Apache-2.0 */
/* cmocka.h with what it needs in front of it. */
#ifndef UNIT_CMOCKA_ALL_H
#define UNIT_CMOCKA_ALL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

#endif
