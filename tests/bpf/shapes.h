/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Small versions of the code shapes that a plan attaches to. shapes.S defines them, target.c calls
 * them, plan_of_target.h describes them. A body runs each query: it calls a provider, which calls
 * inside().
 */
#ifndef QPROF_TESTS_BPF_SHAPES_H
#define QPROF_TESTS_BPF_SHAPES_H

#include <stdint.h>

#include "qprof/wire.h"

/* In the order of their names, as in a plan. */
enum shape_query {
	ALPHA,	 /* START at the provider's first instruction; id in r15 */
	BETA,	 /* START at its second push; id in a slot of the stack */
	DELTA,	 /* identified only: in two bodies, vtable in a register or in a slot */
	EPSILON, /* START_BODY; no id */
	ETA,	 /* START in a provider that the body calls through another function */
	GAMMA,	 /* WRAPPER in one body, IDENTIFY in another; id in r15 */
	IOTA,	 /* only loaded: GUARD_QUERY, vtable in a register */
	THETA,	 /* START_BODY; its result is hashed in the body */
	ZETA,	 /* START of its own, in a body that has an IDENTIFY site too */
	N_QUERIES,
};

/* In the order of their numbers in a plan. */
enum shape_guard {
	GUARD_LOAD,
	GUARD_HASH,
	GUARD_OUTER,
	GUARD_INNER,
	GUARD_DYNAMIC,
	N_GUARDS,
};

struct call;

/* Every provider calls this with the argument of its body. */
void inside(struct call *c);

/*
 * The last three are for the wrappers, whose site is their entry. Bodies load all the registers of
 * keys, and the slot, from the first words of struct call.
 */
typedef void body_fn(struct call *c, uint32_t id, const void *provider_or_vtable, uint64_t rcx,
		     uint64_t r8, uint64_t r9);

/* In the order of the arguments: rsi, rdx, rcx, r8, r9; then the slot. */
#define SHAPE_KEYS     6
#define SHAPE_KEY_SLOT 0x18

/* The index that query number `id` has in register `i` (5: in the slot); the upper half is not 0.
 */
static inline uint64_t shape_key(uint32_t id, uint32_t i)
{
	return (i < SHAPE_KEYS - 1 ? 0xfeedfacefull : id * 8 + 6) << 32 | (id * 8 + i);
}

body_fn body_alpha, body_beta, body_epsilon, body_eta, body_incr, body_incr_slot;
body_fn body_iota, body_theta;
/* Returns without running anything if the provider is NULL. */
body_fn wrapper_gamma;

/* Like wrapper_gamma; the grown one runs its body on the stack that ends at `top`. */
body_fn wrapper_alpha, wrapper_alpha_grown;

/* Two places that call wrappers. */
typedef void ask_fn(struct call *c, uint32_t id, const void *provider, body_fn *wrapper, void *top);
ask_fn ask_here, ask_there;
/* The kind of a hit in the target's output. */
#define KIND_HIT WIRE_KIND_MAX

/* Numbers of the calling places in the target's output. */
enum { ASKED_UNKNOWN, ASKED_HERE, ASKED_THERE };

/* Other intervals: two guards, a guard with a dynamic label, two timers with a dynamic label. */
void guards(struct call *c);
void dynamic_guard(struct call *c, uint32_t unused, const char *text, uint64_t len);
void timed(struct call *c, uint32_t unused, const char *text, uint64_t len);

/* Three cache hits: ids[0], ids[1], and the id 8 bytes into `entry`. */
void hits(const uint32_t *ids, const void *entry);

/* Callbacks: the outer guard, the innermost one, and hashing have begun; one has ended. */
void outer_guard(struct call *c);
void inside_guard(struct call *c);
void hashing(struct call *c);
void guard_left(struct call *c);

/* Offset of the provider in a vtable, one for each body that reads one. */
#define VTABLE_INCR	 0x18
#define VTABLE_INCR_SLOT 0x7ff8

/* In front of it is the query's number, of 16 bits; those above are of something else. */
#define VTABLE_NUMBER (-8)
static inline uint64_t shape_number(uint32_t query)
{
	return 0xfedcba9876540101ull + query;
}

void provider_alpha(void), provider_beta(void), provider_delta(void), provider_epsilon(void);
void provider_eta(void), provider_gamma(void), provider_zeta(void), provider_unknown(void);
void provider_iota(void), provider_theta(void);

/* Has the site of WIRE_ROLE_DROP. */
void names_drop(const void *context);
void names_drop_without_base(const void *context, void *base);

/* Has that of struct wire_tables' `finished`. */
void names_finish(const void *gcx);

/* Has two sites where a query is fed: of the one whose vtable this is, and of RESULTS_DEF. */
void names_feed(uint64_t vtable);

/* Has the site of WIRE_ROLE_CAUGHT. */
void panic_cleanup(void);

/* Call fn(arg) on the stack that ends at `top`. */
void call_on_stack(void (*fn)(void *arg), void *arg, void *top);

#endif /* QPROF_TESTS_BPF_SHAPES_H */
