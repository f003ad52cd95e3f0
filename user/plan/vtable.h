/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Which query a body is about to run: where its vtable is, just before, and where in that the
 * provider's address. Told by the indirect call through which the body runs the provider.
 */
#ifndef QPROF_PLAN_VTABLE_H
#define QPROF_PLAN_VTABLE_H

#include "plan/code.h"

struct mined_vtable {
	uint8_t reg;	/* in this register, or WIRE_REG_NONE */
	int32_t slot;	/* else in the u64 this many bytes above sp, or VTABLE_NO_SLOT */
	int32_t offset; /* of the provider in the vtable, bytes; negative if nothing is known */
};

#define VTABLE_NO_SLOT (-1)

extern const struct mined_vtable vtable_none;

/* What of it is known at `from`, an address in `code`. Returns 0 or -ENOMEM. */
int vtable_find(const struct code *code, uint64_t from, struct mined_vtable *out);

#endif /* QPROF_PLAN_VTABLE_H */
