/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* cmocka with the headers that it needs, and those that most tests need. */
#ifndef QPROF_TESTS_UNIT_TEST_H
#define QPROF_TESTS_UNIT_TEST_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h" /* N_OF */

#endif /* QPROF_TESTS_UNIT_TEST_H */
