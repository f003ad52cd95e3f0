/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * From a symbol that a compiler generated code under, as LLVM names a function, to the item that it
 * is an instance of. The trace says so of the symbols that it names (struct trace_symbol).
 */
#ifndef QPROF_ANALYZE_SYMBOL_ITEMS_H
#define QPROF_ANALYZE_SYMBOL_ITEMS_H

#include "trace/reader.h"

/*
 * The string id of the item's path, or TRACE_NO_STRING; `reader` is a trace that was read to its
 * end, `symbol` the string id of the symbol. *foreign: the item is another crate's definition, the
 * path of which is the text that it has in its own crate.
 */
static inline uint32_t symbol_item(const void *reader, uint32_t process, uint32_t symbol,
				   bool *foreign)
{
	uint32_t item = trace_reader__symbol_item(reader, process, symbol);

	*foreign = item != TRACE_NO_STRING && trace_reader__is_foreign(reader, process, item);
	return item;
}

#endif /* QPROF_ANALYZE_SYMBOL_ITEMS_H */
