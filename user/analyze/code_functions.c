// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/code_functions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/code_name.h"
#include "base/array.h"
#include "base/cleanup.h"

/* A hostile trace may have a name of a megabyte, and use it for each function. */
#define NAME_MOST 2048

#define UNKNOWN_QUERY "(unknown query)"

/* The number of a part's name, which is taken. */
static int number_part(struct code_functions *f, char *name, uint32_t *out)
{
	_free_ char *owned = name;
	bool is_new;

	if (!name || interner__id(&f->part_keys, name, out, &is_new))
		return -ENOMEM;
	if (!is_new)
		return 0;
	if (array__add(&f->parts, &f->n_parts, &f->parts_capacity, &owned))
		return -ENOMEM;
	take_ptr(owned);
	return 0;
}

/* The number of a function of this name and part; takes the name. */
static int number_of(struct code_functions *f, char *name, struct code_function *function,
		     uint32_t *out)
{
	_free_ char *owned = name, *key = NULL;
	bool is_new;

	if (!name)
		return -ENOMEM;
	if (asprintf(&key, "%u %u %s", function->part, function->kind, name) < 0) {
		key = NULL;
		return -ENOMEM;
	}
	if (interner__id(&f->keys, key, out, &is_new))
		return -ENOMEM;
	if (!is_new)
		return 0;
	function->name = owned;
	if (array__add(&f->at, &f->n, &f->capacity, function))
		return -ENOMEM;
	take_ptr(owned);
	return 0;
}

/* Code without a symbol has the name of its file. */
static char *name_of(const char *cut, const char *file)
{
	const char *slash = file ? strrchr(file, '/') : NULL;
	char *name = NULL;

	if (*cut)
		return code_name_plain(cut);
	if (!file)
		return strdup(CODE_UNKNOWN);
	return asprintf(&name, "[%s]", slash ? slash + 1 : file) < 0 ? NULL : name;
}

static int add_function(struct code_functions *f, const struct trace_function *from, uint32_t *out)
{
	_free_ char *cut = strndup(from->name ?: "", NAME_MOST);
	struct code_function function = {.file = from->file};

	if (!cut || number_part(f, code_part(cut, from->file), &function.part))
		return -ENOMEM;
	function.is_general = code_part_is_general(f->parts[function.part]);
	return number_of(f, name_of(cut, function.file), &function, out);
}

static int find_location(struct code_functions *f, uint32_t locindex, uint32_t *out)
{
	static const struct trace_function nowhere = {.name = ""};
	struct trace_location at = {.function = &nowhere};

	if (f->has_last && locindex - f->last.first <= f->last.size) {
		*out = f->last_number;
		return 0;
	}
	if (locindex == TRACE_NO_LOCATION || !f->source.locate ||
	    !f->source.locate(f->source.ctx, locindex, &at))
		at.function = &nowhere;
	*out = u64_map__get(&f->by_first, at.function->first);
	if (*out == U64_MAP_NONE && (add_function(f, at.function, out) ||
				     u64_map__put(&f->by_first, at.function->first, *out)))
		return -ENOMEM;
	f->has_last = at.function != &nowhere;
	f->last = *at.function;
	f->last_number = *out;
	return 0;
}

static int find_interval(struct code_functions *f, const struct trace_stack *entry, uint32_t *out)
{
	bool is_unknown = entry->kind == TRACE_STACK_UNKNOWN;
	struct code_function function = {
		.part = CODE_NO_PART,
		.kind = is_unknown ? TRACE_KIND_QUERY : entry->kind - TRACE_STACK_QUERY,
		.is_unknown = is_unknown,
	};
	uint64_t key = (uint64_t)entry->kind << 32 | entry->place;
	_free_ char *cut = NULL;

	*out = u64_map__get(&f->by_interval, key);
	if (*out != U64_MAP_NONE)
		return 0;
	cut = strndup(is_unknown ? UNKNOWN_QUERY : f->texts.text(f->texts.ctx, entry->place),
		      NAME_MOST);
	return number_of(f, take_ptr(cut), &function, out)
		       ?: u64_map__put(&f->by_interval, key, *out);
}

int code_functions__find(struct code_functions *f, const struct trace_stack *entry, uint32_t *out)
{
	if (entry->kind == TRACE_STACK_LOCATION)
		return find_location(f, entry->place, out);
	return find_interval(f, entry, out);
}

bool code_functions__is_of(const struct code_functions *f, uint32_t number, const char *part)
{
	uint32_t of = f->at[number].part;

	return of != CODE_NO_PART && !strcmp(f->parts[of], part);
}

void code_functions__destroy(struct code_functions *f)
{
	for (uint32_t i = 0; i < f->n; i++)
		free(f->at[i].name);
	for (uint32_t i = 0; i < f->n_parts; i++)
		free(f->parts[i]);
	free(f->at);
	free(f->parts);
	interner__destroy(&f->keys);
	interner__destroy(&f->part_keys);
	u64_map__destroy(&f->by_first);
	u64_map__destroy(&f->by_interval);
	*f = (struct code_functions){};
}
