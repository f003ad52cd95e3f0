/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Counts how often each way through a function was taken, so that a loop ends. */
#ifndef QPROF_PLAN_CODE_VISITS_H
#define QPROF_PLAN_CODE_VISITS_H

#include <stdbool.h>
#include <stdint.h>

#define VISITS_WAYS 128
#define VISITS_MAX  32

/* All zeroes: none was taken. */
struct visits {
	struct {
		uint64_t from, to;
		uint32_t n;
	} items[VISITS_WAYS];
	uint32_t n;
};

/* Count one. False: this way was taken often enough, or there are too many ways. */
bool visits__add(struct visits *v, uint64_t from, uint64_t to);

#endif /* QPROF_PLAN_CODE_VISITS_H */
