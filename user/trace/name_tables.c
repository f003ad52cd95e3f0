// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/name_tables.h"

#include <errno.h>

#include "qprof/trace_format.h"

int name_tables__init(struct name_tables *t, struct expansion *expansion)
{
	int err;

	*t = (struct name_tables){
		.expansion = expansion,
		.places.expansion = expansion,
		.stacks.expansion = expansion,
		.jobs.expansion = expansion,
		.llvm.expansion = expansion,
		.symbols.expansion = expansion,
	};
	t->mapped = calloc(1, sizeof(*t->mapped));
	if (!t->mapped)
		return -ENOMEM;
	t->mapped->expansion = expansion;
	err = string_table__new(expansion, &t->strings);
	return err ?: function_table__new(t->strings, &t->files, &t->functions);
}

static int take_strings(struct name_tables *t, struct byte_reader *in, const char **why)
{
	uint32_t first, n;
	int err = string_table__take(t->strings, in, &first, &n, why);

	if (err)
		return err;
	*why = "names are missing";
	if (first != t->n_strings)
		return -EBADMSG;
	t->n_strings += n;
	return 0;
}

static int take_foreign(struct name_tables *t, struct byte_reader *in, uint32_t n_strings)
{
	uint64_t n = byte_reader__varint(in);

	for (; n && !in->bad; n--) {
		uint64_t id = byte_reader__varint(in);

		if (id >= n_strings)
			return -EBADMSG;
		string_table__mark_foreign(t->strings, (uint32_t)id);
	}
	return in->bad || in->at != in->end ? -EBADMSG : 0;
}

/* Functions that were taken ahead are only counted. */
static int take_functions(struct name_tables *t, struct byte_reader *in, bool was_ahead)
{
	uint32_t held = function_table__n(t->functions);
	int err;

	if (was_ahead) {
		t->n_functions += byte_reader__varint_max(in, held - t->n_functions);
		return in->bad ? -EBADMSG : 0;
	}
	err = function_table__take(t->functions, in, t->n_strings);
	t->n_functions = function_table__n(t->functions);
	return err;
}

int name_tables__take(struct name_tables *t, struct chunk_stream *s, uint32_t n_processes,
		      const char **why)
{
	struct byte_reader *in = &s->payload;
	bool was_ahead = s->chunk_at < t->ahead_end;
	struct stack_limits limits;

	switch (s->header.type) {
	case QPT_STRINGS:
		return take_strings(t, in, why);
	case QPT_LABELS:
		return labels__take(&t->labels, in, t->strings, t->n_strings, why);
	case QPT_KEYS:
		*why = "a list of types of keys is malformed";
		return string_pairs__take(&t->key_types, in, t->n_strings);
	case QPT_FILES:
		*why = "a list of files is malformed";
		return string_pairs__take(&t->files, in, t->n_strings);
	case QPT_STACKS:
		limits = (struct stack_limits){
			.strings = t->n_strings,
			.locations = function_table__end(t->functions, t->n_functions),
		};
		return stack_table__take(&t->stacks, in, &limits, why);
	case QPT_JOBS:
		return job_table__take(&t->jobs, in, n_processes, t->n_strings, why);
	case QPT_LLVM:
		return llvm_table__take(&t->llvm, in, t->n_strings, why);
	case QPT_SYMBOLS:
		return symbol_table__take(&t->symbols, in, n_processes, t->n_strings, why);
	case QPT_FOREIGN:
		*why = "a list of other crates is malformed";
		return take_foreign(t, in, t->n_strings);
	case QPT_MAPPINGS:
		*why = "a mapping of names is malformed";
		if (!was_ahead)
			return id_map__take(t->mapped, in, n_processes, t->n_strings);
		return byte_reader__varint(in) > n_processes ? -EBADMSG : 0;
	case QPT_PLACES:
		*why = "a list of places is malformed";
		if (!was_ahead)
			return place_table__take(&t->places, in, n_processes, t->n_strings);
		return byte_reader__varint(in) >= n_processes ? -EBADMSG : 0;
	case QPT_FUNCTIONS:
		*why = "a list of functions is malformed";
		return take_functions(t, in, was_ahead);
	default: /* QPT_LINES */
		*why = "a table of lines is malformed";
		return was_ahead ? 0 : function_table__take_lines(t->functions, in, t->n_strings);
	}
}

int name_tables__take_ahead(struct name_tables *t, struct chunk_stream *s)
{
	struct byte_reader *in = &s->payload;
	uint32_t n_strings = string_table__n(t->strings);
	uint32_t first, n;
	const char *why;
	int err = 0;

	switch (s->header.type) {
	case QPT_STRINGS:
		err = string_table__take(t->strings, in, &first, &n, &why);
		break;
	case QPT_FOREIGN:
		err = take_foreign(t, in, n_strings);
		break;
	case QPT_MAPPINGS:
		err = id_map__take(t->mapped, in, QPT_PROCESSES_MAX, n_strings);
		break;
	case QPT_PLACES:
		err = place_table__take(&t->places, in, QPT_PROCESSES_MAX, n_strings);
		break;
	case QPT_FUNCTIONS:
		err = function_table__take(t->functions, in, n_strings);
		break;
	case QPT_LINES:
		err = function_table__take_lines(t->functions, in, n_strings);
		break;
	}
	if (!err)
		t->ahead_end = s->offset;
	return err;
}

const char *name_tables__text(const struct name_tables *t, uint32_t id)
{
	const char *text;

	if (id & TRACE_VIRTUAL)
		id = id_map__get(t->mapped, 0, id & ~TRACE_VIRTUAL);
	return string_table__text(t->strings, id, &text) ? NAME_UNKNOWN : text;
}

int name_tables__repeat_text(struct name_tables *t, uint32_t id, const char **text)
{
	int err = string_table__text(t->strings, id, text);

	if (err)
		return err;
	return expansion__repeat(t->expansion, string_table__length(t->strings, id)) ? 0 : -E2BIG;
}

void name_tables__destroy(struct name_tables *t)
{
	function_table__free(t->functions);
	string_table__free(t->strings);
	labels__destroy(&t->labels);
	place_table__destroy(&t->places);
	string_pairs__destroy(&t->key_types);
	string_pairs__destroy(&t->files);
	stack_table__destroy(&t->stacks);
	job_table__destroy(&t->jobs);
	llvm_table__destroy(&t->llvm);
	symbol_table__destroy(&t->symbols);
	if (t->mapped)
		id_map__destroy(t->mapped);
	free(t->mapped);
}

/* ---- Symbols --------------------------------------------------------------------------------- */

_Static_assert(U64_MAP_NONE == TRACE_NO_STRING, "a symbol that is not there has no item");

static uint64_t key_of(uint32_t process, uint32_t symbol)
{
	return (uint64_t)process << 32 | symbol;
}

void symbol_table__store(const struct trace_symbol *s, struct byte_buffer *out)
{
	byte_buffer__varint(out, s->process);
	byte_buffer__varint(out, s->symbol);
	byte_buffer__varint(out, s->item);
}

int symbol_table__take(struct symbol_table *t, struct byte_reader *in, uint32_t n_processes,
		       uint32_t n_strings, const char **why)
{
	/* Each takes at least three bytes, so the payload limits the count. */
	uint64_t n = byte_reader__varint_max(in, (uint64_t)(in->end - in->at) / 3);

	*why = "a list of symbols is malformed";
	if (in->bad || !n || n > QPT_SYMBOLS_MAX - t->n)
		return -EBADMSG;
	if (!expansion__make(t->expansion, n * QPT_EXPANSION_SYMBOL))
		return -E2BIG;
	t->n += n;
	for (uint64_t i = 0; i < n; i++) {
		uint64_t process = byte_reader__varint(in), symbol = byte_reader__varint(in);
		uint64_t item = byte_reader__varint(in);

		if (in->bad || process >= n_processes || symbol >= n_strings || item >= n_strings)
			return -EBADMSG;
		if (u64_map__put(&t->items, key_of((uint32_t)process, (uint32_t)symbol),
				 (uint32_t)item))
			return -ENOMEM;
	}
	return in->at == in->end ? 0 : -EBADMSG;
}

uint32_t symbol_table__item(const struct symbol_table *t, uint32_t process, uint32_t symbol)
{
	return u64_map__get(&t->items, key_of(process, symbol));
}

void symbol_table__destroy(struct symbol_table *t)
{
	u64_map__destroy(&t->items);
}
