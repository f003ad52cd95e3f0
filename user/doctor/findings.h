/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The findings of `qprof-bpf doctor`: one line each, with its severity and the remedy. */
#ifndef QPROF_DOCTOR_FINDINGS_H
#define QPROF_DOCTOR_FINDINGS_H

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
	FINDING_NOTE,	 /* recording works, with a restriction or remark */
	FINDING_PROBLEM, /* recording does not work until this is fixed */
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
	int err; /* -ENOMEM once a finding could not be stored */
};

/* Add a finding; texts are copied. */
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
