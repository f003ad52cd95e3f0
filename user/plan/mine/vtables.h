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

#include <stdbool.h>
#include <stdint.h>

#include "plan/code/decode.h"
#include "plan/code/straight.h"
#include "plan/mine/body_run.h"
#include "plan/plan.h"
#include "plan/symbols/bounds.h"
#include "qprof/wire.h"

/* ---- Votes ----------------------------------------------------------------------------------- */

/* What the bodies of queries say about one number, which is the same for all of them. */

/* Each body that says anything has one voice per value. All zeroes: none has. */
struct votes {
	struct {
		uint64_t value;
		uint32_t n;
		uint32_t last; /* body */
	} items[32];
	uint32_t n;
};

void votes__add(struct votes *v, uint32_t body, uint64_t value);

/* The value that at least `least` bodies have, and three times as many as any other. */
bool votes__decide(const struct votes *v, uint32_t least, uint64_t *value);

/* ---- Keys of a DefaultCache ------------------------------------------------------------------ */

/*
 * How large the entries of a query's cache are that is a hash table, and where in them the keys
 * are. The body of the query, or a function that it gives the cache, looks a new result's key up
 * there, and stores both, as in 1.95:
 *
 *	mov	CTRL(%cache), %rbx
 *	and	MASK(%cache), %r14		the number of a bucket
 *	mov	%r14, %rdx
 *	neg	%rdx
 *	imul	$SIZE, %rdx, %rdx		an entry ends where bucket 0's control byte is, less
 *	...					as many entries
 *	movups	(%key), %xmm0
 *	movups	%xmm0, -SIZE+KEY(%rbx,%rdx,1)
 *
 * A result of 16 bytes is moved there at once, and beside it the number of its node, 4 bytes. It is
 * a text, an address and a length, if the query is one whose results are:
 *
 *	movups	%xmm1, -SIZE+TEXT(%rbx,%rdx,1)
 *	mov	%r15d, -SIZE+NUMBER(%rbx,%rdx,1)
 *
 * All that is stored, read and compared there must lie in entries of one size, and all that is of
 * the key must show the same place.
 */

struct hash_keys {
	uint32_t size; /* of an entry */
	uint32_t key;  /* in an entry */
	bool has_text;
	uint32_t text; /* in an entry: address and length of a text */
};

/*
 * Mine the body at `entry`. The cache is `table->at` bytes behind where the vtable begins; its
 * other numbers are those of all tables. 0 and *problem, which is NULL or a static text that says
 * what was not found; *out is then untouched. -ENOMEM.
 */
int hash_keys__mine(const struct elf_image *img, uint64_t entry, const struct body_run_table *table,
		    struct hash_keys *out, const char **problem);

/* ---- Keys of a VecCache ---------------------------------------------------------------------- */

/*
 * Where a VecCache keeps the keys of its results, one behind the other. It has buckets, each as
 * large as all before it. The body of a query adds a result like this:
 *
 *	cmp	$FIRST, %r14d			numbers in the first bucket
 *	jae	...				bsr %r14d, %eax; lea -LOG(%rax), %esi
 *	...
 *	lock xadd %r15, COUNT(%rbx)
 *	...					the same, of this number
 *	mov	BUCKETS(%rbx,%rsi,8), %rax
 *	lea	MARK(%r14), %ecx		the key; smaller numbers are no key
 *	mov	%ecx, (%rax,%r15,4)
 *
 * In 1.85 the logarithm is compared with LOG + 1, and FIRST is moved to a register, which has the
 * size of the bucket then. In 1.96 MARK is added to the key where it is.
 */

/* What the bodies of queries with a VecCache have shown. All zeroes: nothing. */
struct vec_keys {
	struct votes buckets, first, mark;
};

/*
 * Note what a body shows whose instruction `i` counts a result in the VecCache of `size` bytes that
 * is `at` bytes from what a register holds.
 */
void vec_keys__see(struct vec_keys *v, const struct code *code, size_t i, int64_t at, uint32_t size,
		   uint32_t body);

/* Set out->buckets, ->first and ->mark if `bodies` bodies show them. */
void vec_keys__decide(const struct vec_keys *v, uint32_t bodies, struct wire_tables *out);

/* ---- Vtables -------------------------------------------------------------------------------- */

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
