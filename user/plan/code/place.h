/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Values of eval.h as places that a probe can read. */
#ifndef QPROF_PLAN_CODE_PLACE_H
#define QPROF_PLAN_CODE_PLACE_H

#include "plan/code/sum.h"
#include "qprof/wire.h"

/*
 * The place of a value: false if it is no register's, nor what up to WIRE_PLACE_LOADS loads of 8
 * bytes, or of 4 at last, lead to from there.
 */
bool place_of(const struct sum_nodes *nodes, const struct sum *value, struct wire_place *out);

/* True if a plan may hold it. */
bool place_is_sound(const struct wire_place *place);

#endif /* QPROF_PLAN_CODE_PLACE_H */
