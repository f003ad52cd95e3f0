/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The part of layout_places.h that finds the spans which are too long for their 8 bytes. */
#ifndef QPROF_PLAN_MINE_LAYOUT_INTERNER_H
#define QPROF_PLAN_MINE_LAYOUT_INTERNER_H

#include "plan/mine/layout_files.h"

/*
 * Find the table of interned spans from two runs of Span::data_untracked: on spans whose index is
 * `index`, with a context of its own (`partly`) and without. As layout_mine_places().
 */
int places_mine_interner(struct places_miner *m, const struct eval *partly,
			 const struct eval *interned, uint64_t index, const char **problem);

#endif /* QPROF_PLAN_MINE_LAYOUT_INTERNER_H */
