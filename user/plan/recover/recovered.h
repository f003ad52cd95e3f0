/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Names that were recovered for the functions of a library without a symbol table, and the symbols
 * that are made of them: each step after this one finds functions by symbols.
 */
#ifndef QPROF_PLAN_RECOVER_RECOVERED_H
#define QPROF_PLAN_RECOVER_RECOVERED_H

#include <stdint.h>

#include "plan/symbols/bounds.h"
#include "base/cleanup.h"
#include "plan/symbols/elf_image.h"

struct recovered_name {
	uint64_t addr;
	size_t at; /* of the name in `text` */
};

/* All zeroes is an empty one. */
struct recovered {
	struct recovered_name *items;
	uint32_t n, capacity;
	char *text; /* the names, each with its NUL */
	size_t len, text_capacity;
};

/*
 * The function that begins at `addr` has this name, beside others that it was given: mangled, or
 * any other text without ".cold" and ".warm". It is copied. 0 or -ENOMEM.
 */
int recovered__add(struct recovered *r, uint64_t addr, const char *name);
/* The same, as printf() has it, of 511 bytes at most. */
int recovered__addf(struct recovered *r, uint64_t addr, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Give the image a symbol for each name, for each part of a function, and for each function without
 * a name ("fn_" and its address in hexadecimal digits). This ends all symbols and names that the
 * image had before. Names of addresses where no function begins are left out. Sorts the items. 0
 * or -ENOMEM.
 */
int recovered__give(struct recovered *r, const struct bounds *bounds, struct elf_image *img);

void recovered__destroy(struct recovered *r);
#define _recovered_ __cleanup(recovered__destroy)

/* The names of functions that a library exports: the only ones that it must keep. */

/* A part of the name of the function that all cold sides ask for the number of their thread. */
#define DYNSYM_THREAD_NUMBER "9profiling13get_thread_id"

/*
 * Add them. The image must have no symbols yet; it has those of .dynsym afterwards. 0, also if
 * there are none, or -ENOMEM.
 */
int dynsym__recover(struct elf_image *img, struct recovered *out);

/*
 * The address of the first whole function with `part` in its name, of the image's symbols in their
 * order; 0 if there is none.
 */
uint64_t dynsym__function(struct elf_image *img, const char *part);

/* The names by which a plan finds the functions of a query. */

/* The functions by which a query is requested: without and with incremental compilation, which may
 * be one. 0 or -ENOMEM. */
int query_names__wrappers(struct recovered *out, const char *query, uint32_t len, uint64_t non_incr,
			  uint64_t incr);
int query_names__provider(struct recovered *out, const char *query, uint32_t len, uint64_t addr);
/* The function that loads its result. */
int query_names__loader(struct recovered *out, const char *query, uint32_t len, uint64_t addr);

/*
 * The numbers of queries (rustc's DepKind), in compilers whose vtables identify a query by its
 * number alone: the provider's address is read from a table that the process fills in.
 */

struct query_number {
	uint64_t wrapper; /* the function that makes the query's vtable */
	uint32_t number;  /* 16 bits, not 0 */
	int64_t vtable;	  /* its place in the wrapper's frame: from sp at the entry */
};

/* All zeroes: there are none. */
struct query_numbers {
	struct query_number *items; /* by wrapper */
	uint32_t n, capacity;
	uint32_t offset; /* of the number in the vtable, bytes */
};

/* 0 or -ENOMEM. */
int query_numbers__add(struct query_numbers *q, struct query_number item);
void query_numbers__sort(struct query_numbers *q);

/* That of the query with this wrapper, or NULL. */
const struct query_number *query_numbers__of(const struct query_numbers *q, uint64_t wrapper);

void query_numbers__destroy(struct query_numbers *q);
#define _query_numbers_ __cleanup(query_numbers__destroy)

/*
 * How often each function takes the address of functions (lea reg, [rip+x]). The functions that
 * fill in the compiler's tables do so hundreds of times.
 */

struct address_count {
	uint64_t function;
	uint32_t count;
};

/* Those with the most, in that order. */
struct address_counts {
	struct address_count items[16];
	uint32_t n;
};

/*
 * Functions that take fewer than 32 are left out. A match of bytes may be no instruction, so counts
 * are a little too high. 0 or -ENOMEM.
 */
int addresses__count(struct elf_image *img, const struct bounds *bounds,
		     struct address_counts *out);

#endif /* QPROF_PLAN_RECOVER_RECOVERED_H */
