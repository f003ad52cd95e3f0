/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The Rust toolchains of this machine, and the events that can be recorded of each. */
#ifndef QPROF_DOCTOR_TOOLCHAINS_H
#define QPROF_DOCTOR_TOOLCHAINS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "plan/library/file.h"
#include "plan/plan.h"

struct toolchain {
	char *name;    /* rustup's name, or the path of its rustc, or the argument given */
	char *library; /* its librustc_driver */
	struct library_file *file; /* the same, if it is open already, else NULL */
	bool wanted;		   /* asked for, or the toolchain of `rustc` here */
	int err;     /* why it has no plan, as plan__build(); the fields below are empty then */
	char *why;   /* the same as text; NULL if it has a plan */
	bool cached; /* its plan was stored by an earlier run */
	uint64_t plan_ns;
	char *version; /* or NULL */
	enum symbol_source symbols;
	uint32_t queries;
	uint32_t complete; /* with exact start and end */
	uint32_t sites[2]; /* by enum plan_class */
	struct {
		uint32_t n;
		uint32_t exact;
	} events[WIRE_KIND_MAX]; /* sites by kind; none of WIRE_KIND_QUERY */
};

struct toolchains {
	struct toolchain *items;
	uint32_t n;
	uint32_t capacity;
};

/* Add the toolchain of a library. If it is there already, only `wanted` is added. 0 or -ENOMEM. */
int toolchains__add(struct toolchains *list, const char *name, const char *library, bool wanted);

/* Survey this file as the library of the last toolchain, whose path may lead elsewhere. */
void toolchains__use_file(struct toolchains *list, struct library_file *file);

/* Add the toolchains of rustup's directory `home` ("~/.rustup"); none if it is missing. */
int toolchains__add_rustup(struct toolchains *list, const char *home);

/* Add the compilers below `root` that a distribution or `make install` has installed. */
int toolchains__add_system(struct toolchains *list, const char *root);

/* Make or load the plan of each toolchain. Prints nothing. */
void toolchains__survey(struct toolchains *list);

/* Take over facts from a plan. 0 or -ENOMEM. */
int toolchain__take(struct toolchain *t, const struct plan *plan);

void toolchains__clear(struct toolchains *list);
#define _toolchains_ __cleanup(toolchains__clear)

#endif /* QPROF_DOCTOR_TOOLCHAINS_H */
