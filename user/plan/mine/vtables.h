/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The vtables of all queries, as the function that makes them leaves them behind. It is run
 * (code/straight.h), for a compiler of one thread. In 1.95 to 1.97 a vtable has its tables within:
 *
 *	state	empty table of active jobs: the address of a group of empty slots, three words of 0
 *	cache	DefIdCache: zeroes, and a table; DefaultCache: a table; else it is behind the name
 *	name	address and length
 *	...	functions; VecCache: zeroes; SingleCache: a state that says that there is nothing
 *
 * In 1.85 it has their places among the tables of all queries, and among all caches:
 *
 *	name	address and length
 *	...	two numbers, of which one is a multiple of a table's size; functions
 */
#ifndef QPROF_PLAN_MINE_VTABLES_H
#define QPROF_PLAN_MINE_VTABLES_H

#include "plan/code/straight.h"
#include "plan/mine/hash_keys.h"
#include "plan/plan.h"
#include "plan/symbols/bounds.h"

#define VTABLE_NONE UINT32_MAX
/* Words of a table before its lock. */
#define VTABLE_TABLE_WORDS 4

/* Places are bytes from where the vtables begin, or those marked (*) from where their kind does. */
struct vtable {
	uint32_t query;		/* of the plan's */
	uint32_t at;		/* of its name */
	uint32_t begin;		/* what the functions of the query get the address of */
	uint32_t end;		/* where the next one begins */
	uint32_t state, second; /* (*) its tables; or VTABLE_NONE */
	uint32_t zeroes;	/* (*) where a VecCache is, or VTABLE_NONE */
	uint32_t once;		/* (*) where a SingleCache is, or VTABLE_NONE */
	uint64_t text;
	uint8_t kind; /* enum wire_cache */
	const char *problem;
	/* Of tables.c: */
	uint32_t fed_at; /* of the only byte that its body compares with 0; or VTABLE_NONE */
	bool fed_proven; /* the body shows that the byte says whether results may be fed */
	uint8_t fed;
	struct hash_keys hash;	  /* of a WIRE_CACHE_HASH whose key names something */
	const char *hash_problem; /* why it is unknown, or NULL */
};

struct vtables {
	struct vtable *items; /* by place */
	uint32_t n, capacity;
	uint32_t table_size, vec_size;
	/* They have places: of active jobs, and of caches, at two distances from their names. */
	bool have_places;
	uint32_t state_word, cache_word;
	struct straight *run;
	const char *problem; /* why they are not known, or NULL */
};

/* The number of the plan's query with this name, or VTABLE_NONE. */
uint32_t vtables__query(const struct plan *plan, const uint8_t *name, size_t n);

/* 0, also with a problem, or -ENOMEM. Destroy them in any case. */
int vtables__read(struct elf_image *img, const struct bounds *bounds, const struct plan *plan,
		  struct vtables *out);
void vtables__destroy(struct vtables *t);

#endif /* QPROF_PLAN_MINE_VTABLES_H */
