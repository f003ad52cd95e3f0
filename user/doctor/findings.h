/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What `qprof-bpf doctor` finds: one line each, how bad it is, and what to do about it.
 */
#ifndef QPROF_DOCTOR_FINDINGS_H
#define QPROF_DOCTOR_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

enum finding_section {
	FINDING_KERNEL,
	FINDING_PRIVILEGES,
	FINDING_RECORDING,
	FINDING_LIMITS,
	FINDING_TOOLCHAINS,
	FINDING_SECTIONS,
};

enum finding_state {
	FINDING_OK,
	FINDING_NOTE,	 /* recording works, with something to know about it */
	FINDING_PROBLEM, /* recording does not work until this is mended */
};

struct finding {
	enum finding_section section;
	enum finding_state state;
	char *name;
	char *says;
	char *fix; /* NULL if there is nothing to do */
};

struct findings {
	struct finding *items;
	uint32_t n;
	uint32_t capacity;
	int err; /* -ENOMEM once one could not be kept */
};

/* Add one; texts are copied. */
void findings__add(struct findings *f, enum finding_section section, enum finding_state state,
		   const char *name, const char *fix, const char *fmt, ...)
	__attribute__((format(printf, 6, 7)));

uint32_t findings__problems(const struct findings *f);

const char *finding_section_name(enum finding_section section);
/* "ok", "note", "problem" */
const char *finding_state_name(enum finding_state state);

void findings__clear(struct findings *f);
#define _findings_ __cleanup(findings__clear)

#endif /* QPROF_DOCTOR_FINDINGS_H */
