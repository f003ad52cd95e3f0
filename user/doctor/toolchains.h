/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The Rust toolchains of this machine, and what can be recorded of each. */
#ifndef QPROF_DOCTOR_TOOLCHAINS_H
#define QPROF_DOCTOR_TOOLCHAINS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "plan/plan.h"

struct toolchain {
	char *name;    /* rustup's, or the path of its rustc, or what was asked for */
	char *library; /* its librustc_driver */
	bool wanted;   /* asked for, or what `rustc` is here */
	int err;       /* why it has no plan, as plan__build(); what follows is empty then */
	char *why;     /* the same in words, NULL if there is one */
	bool cached;   /* its plan was kept from an earlier run */
	uint64_t plan_ns;
	char *version; /* or NULL */
	uint32_t queries;
	uint32_t complete; /* with exact start and end */
	uint32_t sites[2]; /* by enum plan_class */
	struct {
		uint32_t n;
		uint32_t exact;
	} events[WIRE_KIND_MAX]; /* places, by kind; none of WIRE_KIND_QUERY */
};

struct toolchains {
	struct toolchain *items;
	uint32_t n;
	uint32_t capacity;
};

/*
 * Add the toolchain of a library, unless it is there already (then `wanted` is added to that).
 * 0 or -ENOMEM.
 */
int toolchains__add(struct toolchains *list, const char *name, const char *library, bool wanted);

/* Add those of rustup's directory `home` ("~/.rustup"). A missing directory holds none. */
int toolchains__add_rustup(struct toolchains *list, const char *home);

/* Add the compilers below `root` that a distribution or `make install` puts there. */
int toolchains__add_system(struct toolchains *list, const char *root);

/* Plan every one of them. Prints nothing. */
void toolchains__survey(struct toolchains *list);

/* What a plan tells of its toolchain. -ENOMEM */
int toolchain__take(struct toolchain *t, const struct plan *plan);

void toolchains__clear(struct toolchains *list);
#define _toolchains_ __cleanup(toolchains__clear)

#endif /* QPROF_DOCTOR_TOOLCHAINS_H */
