// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/layout_table.h"

#include <errno.h>

#include "plan/code/eval.h"
#include "plan/plan.h"

/* Functions of a kind that are looked at. Names are untrusted, and looking takes time. */
#define COPIES_MAX 4
/* Within the Definitions. */
#define OFFSET_MAX 4096
#define SIZE_MIN   8
#define SIZE_MOST  64

static int run(const struct elf_image *img, const struct layout_function *f, struct eval **out)
{
	const struct eval_function ef = {
		.img = img,
		.entry = f->entry,
		.regions = f->regions,
		.n_regions = f->n_regions,
	};

	return eval__run(&ef, out);
}

/* The number of the definition that is asked for is compared with a field of the Definitions. */
static bool read_count(const struct eval *e, uint32_t *out)
{
	bool found = false;

	for (uint32_t i = 0; i < e->compares.n; i++) {
		const struct eval_pair *c = &e->compares.items[i];

		for (int side = 0; side < 2; side++) {
			const struct sum *number = side ? &c->b : &c->a;
			const struct sum *count = side ? &c->a : &c->b;
			uint64_t more, at;

			if (!sum_is_argument(&e->nodes, number, WIRE_REG_DX, &more) || more ||
			    !sum_is_field(&e->nodes, count, WIRE_REG_SI, 8, &at))
				continue;
			if (at > OFFSET_MAX || (found && *out != at))
				return false;
			*out = (uint32_t)at;
			found = true;
		}
	}
	return found;
}

/* An address: first entry + number * size, and less than that. */
static bool read_entry(const struct eval *e, const struct sum *a, struct layout_table *out)
{
	for (uint32_t i = 0; a->n == 2 && i < 2; i++) {
		struct sum first = sum_term(a, i), number = sum_term(a, 1 - i);
		uint64_t at, more, size = a->terms[1 - i].factor;

		if (a->terms[i].factor != 1 || size < SIZE_MIN || size > SIZE_MOST ||
		    a->constant >= size ||
		    !sum_is_argument(&e->nodes, &number, WIRE_REG_DX, &more) || more ||
		    !sum_is_field(&e->nodes, &first, WIRE_REG_SI, 8, &at) || at > OFFSET_MAX)
			continue;
		out->first = (uint32_t)at;
		out->size = (uint32_t)size;
		return true;
	}
	return false;
}

static bool read_entries(const struct eval *e, struct layout_table *out)
{
	struct layout_table entry;
	bool found = false;

	if (!read_count(e, &out->count))
		return false;
	for (uint32_t i = 0; i < e->nodes.n; i++) {
		const struct sum_node *node = &e->nodes.items[i];

		if (node->kind != SUM_LOAD || node->thread || !read_entry(e, &node->of, &entry))
			continue;
		if (found && (entry.first != out->first || entry.size != out->size))
			return false;
		out->first = entry.first;
		out->size = entry.size;
		found = true;
	}
	return found && out->first != out->count;
}

/* The part of the context that the function `target` is given. */
static bool read_definitions(const struct eval *e, uint64_t target, uint32_t *out)
{
	bool found = false;

	for (uint32_t i = 0; i < e->n_calls; i++) {
		const struct eval_call *c = &e->calls[i];
		uint64_t at;

		if (c->target != target)
			continue;
		if (!sum_is_argument(&e->nodes, &c->second, WIRE_REG_SI, &at) ||
		    at >= PLAN_LAYOUT_MAX || (found && *out != at))
			return false;
		*out = (uint32_t)at;
		found = true;
	}
	return found;
}

/* The context's own function calls the one at `target`. */
static int find_definitions(const struct elf_image *img, const struct layout_function *functions,
			    size_t n, uint64_t target, uint32_t *out, const char **problem)
{
	int err = 0, tried = 0;

	*problem = "there is neither DefPathTable::enumerated_keys_and_path_hashes nor "
		   "TyCtxt::def_path";
	for (size_t i = 0; i < n && tried < COPIES_MAX && !err && *problem; i++) {
		_free_ struct eval *e = NULL;

		if (functions[i].kind != NAME_CONTEXT_DEF_PATH)
			continue;
		tried++;
		err = run(img, &functions[i], &e);
		*problem = !err && read_definitions(e, target, out)
				   ? NULL
				   : "TyCtxt::def_path passes no part of its context on";
	}
	return err;
}

int layout_table_find(const struct elf_image *img, const struct layout_function *functions,
		      size_t n, struct layout_table *out, const char **problem)
{
	int err = 0, tried = 0;

	*problem = "there is no Definitions::def_path";
	for (size_t i = 0; i < n && tried < COPIES_MAX && !err && *problem; i++) {
		_free_ struct eval *e = NULL;

		if (functions[i].kind != NAME_DEF_PATH)
			continue;
		tried++;
		err = run(img, &functions[i], &e);
		*problem = "Definitions::def_path shows no table";
		if (!err && read_entries(e, out))
			err = find_definitions(img, functions, n, functions[i].entry,
					       &out->definitions, problem);
	}
	return err;
}
