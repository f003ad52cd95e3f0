/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Times as small numbers that grow with them, more exact than times of a compiler are the same
 * from run to run: to 1 us below 32 us, then 5 significant bits, and one more at 128 us and at each
 * third doubling after it, up to 10. So a time is off by at most half a microsecond or 3 %; 1.6 %
 * from 128 us, 0.8 % from 1 ms, 0.4 % from 8 ms, 0.2 % from 65 ms, 0.1 % from 0.53 s.
 */
#ifndef QPROF_HISTORY_TIME_CODE_H
#define QPROF_HISTORY_TIME_CODE_H

#include <stdint.h>

/* More than any code. */
#define TIME_CODE_END (1u << 16)

/* The code of a time, which is any number of ns. */
uint32_t time_code(uint64_t ns);
/* The nearest time that has the code; at most UINT64_MAX - 1, of any number. */
uint64_t time_code__ns(uint32_t code);

#endif /* QPROF_HISTORY_TIME_CODE_H */
