/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* How a definition is printed, by what a compiler's table has of it. */
#ifndef QPROF_PLAN_DEFINITION_H
#define QPROF_PLAN_DEFINITION_H

#include "plan/plan.h"

/* The longest text of a symbol, with braces and a number. */
#define DEFINITION_SEGMENT_MAX (WIRE_SYMBOL_MAX + 32)

/* An entry of the table. */
struct definition {
	uint32_t tag;
	uint32_t symbol;
	uint32_t disambiguator;
	uint32_t parent; /* its index, or that of no definition */
};

/* `bytes` has l->wire.size of them. */
struct definition definition__read(const struct plan_layout *l, const uint8_t *bytes);

/* The symbol that names it, or WIRE_TAG_UNKNOWN. */
uint32_t definition__symbol(const struct plan_layout *l, const struct definition *d);

/* As rustc prints it behind the path of its parent; `text` is that of its symbol. */
void definition__segment(const struct plan_layout *l, const struct definition *d, const char *text,
			 char out[DEFINITION_SEGMENT_MAX]);

#endif /* QPROF_PLAN_DEFINITION_H */
