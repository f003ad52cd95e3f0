/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Where a thread of the compiler keeps the query context that it works in: read off functions that
 * are given no context and look for it themselves.
 */
#ifndef QPROF_PLAN_MINE_LAYOUT_CONTEXT_H
#define QPROF_PLAN_MINE_LAYOUT_CONTEXT_H

#include "plan/mine/layout.h"

/* As layout_mine(), for a part of the layout. */
int layout_context_mine(const struct elf_image *img, const struct layout_function *functions,
			size_t n, struct wire_layout_current *out, const char **problem);

#endif /* QPROF_PLAN_MINE_LAYOUT_CONTEXT_H */
