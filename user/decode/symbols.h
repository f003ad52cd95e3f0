/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Which definition the symbols of one compiler's functions are instances of, by the cache of
 * rustc's query symbol_name. There are very many, so the trace gets those alone that it names
 * otherwise. Both come in any order: a compiler generates code while it executes queries, and long
 * after that.
 */
#ifndef QPROF_DECODE_SYMBOLS_H
#define QPROF_DECODE_SYMBOLS_H

#include "base/table.h"
#include "qprof/wire.h"
#include "decode/item_results.h"

/* Of one compiler; others have no item. */
#define SYMBOLS_MAX (1u << 20)

struct known_symbol {
	uint64_t definition; /* wire_key(), or 0: several symbols have this hash */
};

struct wanted_symbol {
	uint64_t hash;
	uint32_t string; /* string id */
};

/* All zeroes is empty. */
struct symbols {
	TABLE(struct known_symbol) known;   /* by hash */
	TABLE(struct wanted_symbol) wanted; /* by string id */
};

/* As the kernel half hashes it. LLVM's own suffix, as in `name.llvm.123`, is no part of it. */
uint64_t symbols__hash(const char *symbol);

/* Take a piece of WIRE_TABLE_INSTANCES. 0, -EBADMSG, or -ENOMEM. */
int symbols__add(struct symbols *s, const struct wire_piece *piece);

/* The trace has `symbol`, the text of `string`, of a function of this compiler. 0 or -ENOMEM. */
int symbols__want(struct symbols *s, const char *symbol, uint32_t string);

/* Give the sink those that are wanted and known; forget all. 0, -ENOMEM, or the sink's error. */
int symbols__give(struct symbols *s, const struct item_results_naming *how);

void symbols__clear(struct symbols *s);

#endif /* QPROF_DECODE_SYMBOLS_H */
