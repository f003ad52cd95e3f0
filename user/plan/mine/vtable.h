/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Finds the query that a body is about to run: the location of the query's vtable just before the
 * call, and the offset of the provider's address in it. Derived from the indirect call by which the
 * body runs the provider.
 */
#ifndef QPROF_PLAN_MINE_VTABLE_H
#define QPROF_PLAN_MINE_VTABLE_H

#include "plan/code/decode.h"

struct mined_vtable {
	uint8_t reg;	/* in this register, or WIRE_REG_NONE */
	int32_t slot;	/* else in the u64 this many bytes above sp, or VTABLE_NO_SLOT */
	int32_t offset; /* of the provider in the vtable, bytes; negative: nothing is known */
};

#define VTABLE_NO_SLOT (-1)

extern const struct mined_vtable vtable_none;

/* Where the vtable is at `from`, an address in `code`. Returns 0 or -ENOMEM. */
int vtable_find(const struct code *code, uint64_t from, struct mined_vtable *out);

#endif /* QPROF_PLAN_MINE_VTABLE_H */
