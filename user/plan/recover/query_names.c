// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/recover/query_names.h"

#include <stdio.h>

#define NAME_MAX_LEN 512

static const char path_of_query[] = "NvNtNtNt";

/* `path`: the namespaces of the function's path. */
static int add_function(struct recovered *out, const char *query, uint32_t len, uint64_t addr,
			const char *path, const char *function)
{
	char name[NAME_MAX_LEN];

	snprintf(name, sizeof(name), "_R%sC16rustc_query_impl10query_impl%u%.*s%s", path, len,
		 (int)len, query, function);
	return recovered__add(out, addr, name);
}

int query_names__wrappers(struct recovered *out, const char *query, uint32_t len, uint64_t non_incr,
			  uint64_t incr)
{
	return add_function(out, query, len, non_incr, path_of_query,
			    "22execute_query_non_incr26___rust_end_short_backtrace")
		       ?: add_function(out, query, len, incr, path_of_query,
				       "18execute_query_incr26___rust_end_short_backtrace");
}

int query_names__provider(struct recovered *out, const char *query, uint32_t len, uint64_t addr)
{
	return add_function(out, query, len, addr, path_of_query,
			    "18invoke_provider_fn28___rust_begin_short_backtrace");
}

int query_names__loader(struct recovered *out, const char *query, uint32_t len, uint64_t addr)
{
	return add_function(out, query, len, addr, "NCNvNtNt", "17make_query_vtable0");
}
