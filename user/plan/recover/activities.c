// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/recover/activities.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "plan/code/eval.h"
#include "plan/code/place.h"
#include "plan/mine/callers.h"
#include "plan/recover/dynsym.h"
#include "plan/symbols/names.h"

/* Cold sides that are looked at: looking takes time, and code is untrusted. */
#define SIDES_MAX 256
/* A part of the name of the function that gives a text a number. */
#define INTERN "26get_or_alloc_cached_string"

/* Through the third argument: what the closure has captured, or the label itself. */
static bool is_captured(const struct eval *e, const struct sum *a, struct wire_place *place)
{
	return place_of(&e->nodes, a, place) && place->n && place->reg == WIRE_REG_DX;
}

/* The address and the length of one text. */
static bool is_text(const struct eval *e, const struct eval_call *call)
{
	struct wire_place at, length;

	if (!is_captured(e, &call->second, &at) || !is_captured(e, &call->third, &length) ||
	    at.n != length.n || at.at[at.n - 1] + 8 != length.at[at.n - 1])
		return false;
	return at.n == 1 || !memcmp(at.at, length.at, (at.n - 1UL) * sizeof(at.at[0]));
}

/* The function that is given the first text; 0 if there is none. */
static uint64_t first_given(const struct eval *e)
{
	for (uint32_t i = 0; i < e->n_calls; i++)
		if (e->calls[i].target && is_text(e, &e->calls[i]))
			return e->calls[i].target;
	return 0;
}

static int find_intern(struct elf_image *img, const struct owner *o, uint64_t *intern)
{
	const struct eval_function f = {
		.img = img,
		.entry = o->entry,
		.regions = o->regions,
		.n_regions = o->n_regions,
		.fills = true,
	};
	_free_ struct eval *e = NULL;
	int err = eval__run(&f, &e);

	*intern = err ? 0 : first_given(e);
	return err;
}

/* Functions of which no name is known: those that are known make other events, too. */
static bool is_unnamed(const struct owner *o)
{
	return !strncmp(o->name, "fn_", 3);
}

static bool is_cold_activity(const struct owner *o)
{
	struct name_info info;

	name_classify(o->name, &info);
	return info.kind == NAME_COLD_ACTIVITY;
}

static int name(struct recovered *out, uint64_t function, const char *text, size_t number)
{
	char numbered[192];

	snprintf(numbered, sizeof(numbered), "%s.llvm.%zu", text, number);
	return recovered__add(out, function, numbered);
}

/* Several cold sides call one function: one name is enough. */
static int name_intern(struct recovered *out, uint64_t intern, size_t number)
{
	for (uint32_t i = 0; i < out->n; i++)
		if (out->items[i].addr == intern && strstr(out->text + out->items[i].at, INTERN))
			return 0;
	return name(out, intern,
		    "_RINvMs0_NtC21rustc_data_structures9profilingNtB2_12SelfProfiler" INTERN
		    "ReEB2_",
		    number);
}

static int look_at(struct elf_image *img, const struct owner *o, size_t number,
		   struct recovered *out)
{
	bool unnamed = is_unnamed(o);
	uint64_t intern;
	int err = find_intern(img, o, &intern);

	if (err || !intern)
		return err;
	if (unnamed)
		err = name(out, o->entry,
			   "_RINvNvMNtC21rustc_data_structures9profilingNtB2_15SelfProfilerRef"
			   "4exec9cold_callNCINvB2_34generic_activity_with_arg_recorder0E0EB2_",
			   number);
	return err ?: name_intern(out, intern, number);
}

int activities__recover(struct elf_image *img, struct recovered *out, const char **problem)
{
	_owners_ struct owners owners = {0};
	uint64_t thread_number = dynsym__function(img, DYNSYM_THREAD_NUMBER);
	int err = thread_number ? callers__find(img, &thread_number, 1, &owners) : 0;
	size_t looked = 0;

	for (size_t i = 0; i < owners.n && !err && !*problem; i++) {
		if (!is_unnamed(&owners.items[i]) && !is_cold_activity(&owners.items[i]))
			continue;
		if (looked++ == SIDES_MAX)
			*problem = "more functions ask for the number of their thread than can be "
				   "looked at";
		else
			err = look_at(img, &owners.items[i], i, out);
	}
	return err;
}
