/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The shapes of code that a plan attaches to, in small: what shapes.c has, target.c calls, and
 * plan_of_target.h describes. Each query is run by a body, which calls a provider, which calls
 * inside().
 */
#ifndef QPROF_TESTS_BPF_SHAPES_H
#define QPROF_TESTS_BPF_SHAPES_H

#include <stdint.h>

#include "qprof/wire.h"

/* In the order of their names, as a plan has them. */
enum shape_query {
	ALPHA,	 /* START at the provider's first instruction; id in r15 */
	BETA,	 /* START at its second push; id in a slot of the stack */
	DELTA,	 /* seen by IDENTIFY only: in two bodies, vtable in a register or in a slot */
	EPSILON, /* START_BODY; no id */
	ETA,	 /* START in a provider that the body calls through another function */
	GAMMA,	 /* WRAPPER in one body, IDENTIFY in another; id in r15 */
	IOTA,	 /* only loaded: GUARD_QUERY, vtable in a register */
	THETA,	 /* START_BODY; its result is hashed in the body */
	ZETA,	 /* START of its own, in a body that IDENTIFY reads too */
	N_QUERIES,
};

/* In the order of their places in a plan. */
enum shape_guard {
	GUARD_LOAD,
	GUARD_HASH,
	GUARD_OUTER,
	GUARD_INNER,
	GUARD_TOLD,
	N_GUARDS,
};

struct call;

/* Called by every provider, with what the body was given. */
void inside(struct call *c);

typedef void body_fn(struct call *c, uint32_t id, const void *provider_or_vtable);

body_fn body_alpha, body_beta, body_epsilon, body_eta, body_incr, body_incr_slot;
body_fn body_iota, body_theta;
/* Returns without running anything if the provider is NULL. */
body_fn wrapper_gamma;

/* As wrapper_gamma, and one whose body runs on the stack that ends at `top`. */
body_fn wrapper_alpha, wrapper_alpha_grown;

/* Two places that call wrappers, and the addresses that they return to. */
typedef void ask_fn(struct call *c, uint32_t id, const void *provider, body_fn *wrapper, void *top);
ask_fn ask_here, ask_there;
/* In place of a span's kind, in what the target writes. */
#define KIND_HIT WIRE_KIND_MAX

/* Numbers of these places, in what the target writes. */
enum { ASKED_UNKNOWN, ASKED_HERE, ASKED_THERE };

/* Intervals that are no queries: two, one with a label that is told, two timers with one. */
void guards(struct call *c);
void told(struct call *c, uint32_t unused, const char *text, uint64_t len);
void timed(struct call *c, uint32_t unused, const char *text, uint64_t len);

/* Three results are found in their caches: ids[0], ids[1], and the one 8 bytes into `entry`. */
void hits(const uint32_t *ids, const void *entry);

/* Called by them: an interval has begun; the innermost one has, run what is inside; it ended. */
void outer_guard(struct call *c);
void inside_guard(struct call *c);
void hashing(struct call *c);
void guard_left(struct call *c);

/* Where a vtable has its provider: one offset for each of the bodies that read one. */
#define VTABLE_INCR	 0x18
#define VTABLE_INCR_SLOT 0x7ff8

void provider_alpha(void), provider_beta(void), provider_delta(void), provider_epsilon(void);
void provider_eta(void), provider_gamma(void), provider_zeta(void), provider_unknown(void);
void provider_iota(void), provider_theta(void);

/* Has the site of WIRE_ROLE_CAUGHT. */
void panic_cleanup(void);

/* Call fn(arg) on the stack that ends at `top`. */
void call_on_stack(void (*fn)(void *arg), void *arg, void *top);

#endif /* QPROF_TESTS_BPF_SHAPES_H */
