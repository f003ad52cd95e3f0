/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Values that are computed from others: a sum of up to two terms and a constant. A term is a whole
 * number times a node, and a node is a value that the function was given or has read.
 */
#ifndef QPROF_PLAN_CODE_SUM_H
#define QPROF_PLAN_CODE_SUM_H

#include <stdbool.h>
#include <stdint.h>

#include "qprof/wire.h"

#define SUM_NODES 256

struct sum_term {
	uint32_t node; /* index into nodes */
	uint64_t factor;
};

/* Modulo 2^64. Terms are sorted by node. */
struct sum {
	bool known; /* false: any value, and the rest is zero */
	uint8_t n;
	struct sum_term terms[2];
	uint64_t constant;
};

enum sum_kind {
	SUM_ENTRY,   /* what register `reg` held at the function's entry */
	SUM_LOAD,    /* the `size` bytes in memory at `of` */
	SUM_LOW,     /* the lower 32 bits of `of` */
	SUM_BELOW,   /* some bits of `of`, and none besides: at most `of` */
	SUM_CALL,    /* what the function at the constant `of` returned in rax */
	SUM_CALL_BY, /* the same of the function whose address is in memory at `of` */
};

struct sum_node {
	uint8_t kind;
	uint8_t reg;
	uint8_t size;
	bool thread; /* SUM_LOAD: relative to the thread's storage (fs) */
	struct sum of;
};

/* Nodes that are equal are one. */
struct sum_nodes {
	struct sum_node items[SUM_NODES];
	uint32_t n;
	bool full; /* there were more */
};

extern const struct sum sum_unknown;

struct sum sum_constant(uint64_t value);
struct sum sum_add(struct sum a, struct sum b);
struct sum sum_scale(struct sum a, uint64_t factor);
bool sum_equal(const struct sum *a, const struct sum *b);
/* As sum_equal(), but all unknown sums are the same. */
bool sum_same(const struct sum *a, const struct sum *b);
bool sum_is_constant(const struct sum *a);

/* The node as a value; unknown if there is no room for one more. */
struct sum sum_of_node(struct sum_nodes *nodes, struct sum_node node);
/* The lower 32 bits. */
struct sum sum_low(struct sum_nodes *nodes, struct sum a);

/* The node that `a` is plus *constant; NULL if it is none. */
const struct sum_node *sum_node_of(const struct sum_nodes *nodes, const struct sum *a,
				   uint64_t *constant);

/* One term of a sum as a sum, with the factor 1. */
struct sum sum_term(const struct sum *a, uint32_t i);

/* `a` is *more plus what the function was given in register `reg`, or in its lower half. */
bool sum_is_argument(const struct sum_nodes *nodes, const struct sum *a, uint8_t reg,
		     uint64_t *more);

/* `a` is the `size` bytes that were read from *at plus what the function was given in `reg`. */
bool sum_is_field(const struct sum_nodes *nodes, const struct sum *a, uint8_t reg, uint8_t size,
		  uint64_t *at);

/* Values of eval.h as places that a probe can read. */

/*
 * The place of a value: false if it is no register's, nor what up to WIRE_PLACE_LOADS loads of 8
 * bytes, or of 4 at last, lead to from there.
 */
bool place_of(const struct sum_nodes *nodes, const struct sum *value, struct wire_place *out);

/* True if a plan may hold it. */
bool place_is_sound(const struct wire_place *place);

/* Counts how often each way through a function was taken, so that a loop ends. */

#define VISITS_WAYS 128
#define VISITS_MAX  32

/* All zeroes: none was taken. */
struct visits {
	struct {
		uint64_t from, to;
		uint32_t n;
	} items[VISITS_WAYS];
	uint32_t n;
};

/* Count one. False: this way was taken often enough, or there are too many ways. */
bool visits__add(struct visits *v, uint64_t from, uint64_t to);

#endif /* QPROF_PLAN_CODE_SUM_H */
