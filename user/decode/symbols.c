// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "decode/symbols.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"

uint64_t symbols__hash(const char *symbol)
{
	const char *suffix = strstr(symbol, ".llvm.");
	size_t length = suffix ? (size_t)(suffix - symbol) : strlen(symbol);
	size_t end = length < WIRE_SYMBOL_HASHED ? length : WIRE_SYMBOL_HASHED;
	uint64_t hash = length;

	for (size_t at = 0; at < end; at += WIRE_SYMBOL_BLOCK) {
		uint64_t words[WIRE_SYMBOL_BLOCK / sizeof(uint64_t)] = {0};
		size_t n = end - at < sizeof(words) ? end - at : sizeof(words);

		memcpy(words, symbol + at, n);
		hash = wire_symbol_add_block(hash, words);
	}
	return hash;
}

int symbols__add(struct symbols *s, const struct wire_piece *piece)
{
	uint32_t n = piece->size / sizeof(struct wire_instance);
	struct wire_instance instance;

	if (piece->size % sizeof(instance) || piece->size > sizeof(piece->bytes))
		return -EBADMSG;
	for (uint32_t i = 0; i < n; i++) {
		struct known_symbol *known;

		memcpy(&instance, piece->bytes + i * sizeof(instance), sizeof(instance));
		if (!instance.symbol || !instance.key)
			continue;
		known = table__find(&s->known, instance.symbol);
		if (!known && s->known.n == SYMBOLS_MAX)
			continue;
		known = known ?: table__get(&s->known, instance.symbol, .definition = instance.key);
		if (!known)
			return -ENOMEM;
		if (known->definition != instance.key)
			known->definition = 0;
	}
	return 0;
}

int symbols__want(struct symbols *s, const char *symbol, uint32_t string)
{
	if (table__find(&s->wanted, string))
		return 0;
	return table__get(&s->wanted, string, .string = string, .hash = symbols__hash(symbol))
		       ? 0
		       : -ENOMEM;
}

int symbols__give(struct symbols *s, const struct item_results_naming *how)
{
	int err = 0;

	for (uint32_t i = 0; i < s->wanted.n && !err; i++) {
		const struct wanted_symbol *w = &s->wanted.at[i];
		const struct known_symbol *known = table__find(&s->known, w->hash);
		struct trace_symbol out = {.process = how->process, .symbol = w->string};

		if (!known || !known->definition)
			continue;
		err = how->name(how->ctx, known->definition, &out.item);
		if (!err && out.item != TRACE_NO_STRING)
			err = how->sink->symbol(how->sink->ctx, &out);
	}
	symbols__clear(s);
	return err;
}

void symbols__clear(struct symbols *s)
{
	table__destroy(&s->known);
	table__destroy(&s->wanted);
}
