/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What the bodies of queries say about one number, which is the same for all of them. */
#ifndef QPROF_PLAN_MINE_VOTES_H
#define QPROF_PLAN_MINE_VOTES_H

#include <stdbool.h>
#include <stdint.h>

/* Each body that says anything has one voice per value. All zeroes: none has. */
struct votes {
	struct {
		uint64_t value;
		uint32_t n;
		uint32_t last; /* body */
	} items[32];
	uint32_t n;
};

void votes__add(struct votes *v, uint32_t body, uint64_t value);

/* The value that at least `least` bodies have, and three times as many as any other. */
bool votes__decide(const struct votes *v, uint32_t least, uint64_t *value);

#endif /* QPROF_PLAN_MINE_VOTES_H */
