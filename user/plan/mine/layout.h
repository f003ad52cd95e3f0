/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Where the names of definitions are in the memory of a compiler: read off the code of the
 * functions by which the compiler itself reads them.
 *
 * What a function shows is a row (struct layout_fact) with a shape (plan/code/shape.h), and the
 * sentence that a plan has instead if the function does not show it. layout.c finds the definitions
 * of the crate that is compiled, and the thread's query context; layout_crates.c the definitions of
 * other crates; layout_places.c spans, source files and lines.
 */
#ifndef QPROF_PLAN_MINE_LAYOUT_H
#define QPROF_PLAN_MINE_LAYOUT_H

#include "plan/code/decode.h"
#include "plan/code/shape.h"
#include "plan/plan.h"
#include "plan/symbols/names.h"

/* A function whose code shows something, with all its parts. */
struct layout_function {
	enum name_kind kind;
	uint64_t entry;
	const struct code_region *regions;
	size_t n_regions;
	const char *query; /* of a provider: its name, not NUL-terminated */
	size_t query_len;
};

/*
 * Find the layout. 0 and *problem, which is NULL or a static text that says what is not as
 * expected; *out is then untouched. -ENOMEM.
 */
int layout_mine(const struct elf_image *img, struct code_decoder *decoder,
		const struct layout_function *functions, size_t n, struct plan_layout *out,
		const char **problem);

/*
 * The same for a part of it: where a thread of the compiler keeps the query context that it works
 * in. Read off functions that are given no context and look for it themselves.
 */
int layout_context_mine(const struct elf_image *img, const struct layout_function *functions,
			size_t n, struct wire_layout_current *out, const char **problem);

/*
 * Where the names of other crates' definitions are: read off the code of the crate store. `names`
 * is the layout of the definitions, which is known.
 */
int layout_mine_crates(const struct elf_image *img, const struct layout_function *functions,
		       size_t n, const struct wire_layout *names, struct wire_layout_crates *out,
		       const char **problem);

/* Where spans, source files and their lines are. Likewise. */
int layout_mine_places(const struct elf_image *img, const struct layout_function *functions,
		       size_t n, const struct wire_layout *names, struct wire_layout_places *out,
		       const char **problem);

/* ---- For the miners -------------------------------------------------------------------------- */

/* Functions of a kind that are looked at. Names are untrusted, and looking takes time. */
#define LAYOUT_COPIES_MAX 8

struct layout_miner {
	const struct elf_image *img;
	struct code_decoder *decoder;
	const struct layout_function *functions;
	size_t n;
	const struct layout_function *f; /* that is looked at */
	int err;			 /* of a reader */
	struct plan_layout l;		 /* what is known */
	uint32_t definitions;		 /* of the table, within the GlobalCtxt */
	uint32_t file_header;		 /* of an Arc, in front of a file */
	uint64_t path;			 /* Definitions::def_path that shows the table */
};

/* The field of the layout that a letter is; in struct layout_miner. */
struct layout_field {
	char letter;
	uint16_t at;
};

#define LAYOUT_FIELD(letter, member)                            \
	{                                                       \
		letter, offsetof(struct layout_miner, l.member) \
	}

struct layout_fact {
	enum name_kind kind, also; /* of the function */
	const char *missing;	   /* complaint: there is no such function */
	uint32_t steps;		   /* of eval.h: enough for what is of use */
	bool follows;		   /* what is not there may be in a callee, which is run as well */
	bool instead;		   /* only if the row before finds nothing */
	const char *lost;	   /* complaint if some path was not run; NULL: that may be */
	/* The letter Z is the address that `globals` of struct wire_layout has, if that is known.
	 */
	const char *shape;
	const char *unlike;  /* complaint: nothing has that shape */
	const char *several; /* all that has it must be the same; else the first counts */
	struct layout_field fields[4];
	/* More than the shape, or all of it: NULL, or a complaint. */
	const char *(*read)(struct layout_miner *m, const struct eval *e, const struct letters *l);
	const struct eval_given *given; /* of the run that follows */
	/* In place of the above if there is no such function: as layout_mine(). */
	int (*without)(struct layout_miner *m, const char **problem);
};

/* In this order: each row reads what those before it have found. As layout_mine(). */
int layout__mine_facts(struct layout_miner *m, const struct layout_fact *facts, size_t n,
		       const char **problem);

/* Run one function; the second argument may be known. */
int layout__run(const struct layout_miner *m, const struct layout_function *f,
		const uint64_t *second, struct eval **out);

/* The same for what a function calls. */
int layout__run_callee(const struct layout_miner *m, uint64_t entry, uint64_t size, uint32_t steps,
		       struct eval **out);

/* Set *to to an offset that a plan can hold; false if it cannot. */
static inline bool layout_offset(uint32_t *to, uint64_t value)
{
	if (value >= PLAN_LAYOUT_MAX)
		return false;
	*to = (uint32_t)value;
	return true;
}

#endif /* QPROF_PLAN_MINE_LAYOUT_H */
