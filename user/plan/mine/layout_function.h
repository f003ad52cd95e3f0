/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A function whose code shows where names of definitions are. */
#ifndef QPROF_PLAN_MINE_LAYOUT_FUNCTION_H
#define QPROF_PLAN_MINE_LAYOUT_FUNCTION_H

#include "plan/code/decode.h"
#include "plan/symbols/names.h"

/* A function with all its parts. */
struct layout_function {
	enum name_kind kind;
	uint64_t entry;
	const struct code_region *regions;
	size_t n_regions;
	const char *query; /* of a provider: its name, not NUL-terminated */
	size_t query_len;
};

#endif /* QPROF_PLAN_MINE_LAYOUT_FUNCTION_H */
