// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/symbol_table.h"

#include <errno.h>

#include "qprof/trace_format.h"

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
