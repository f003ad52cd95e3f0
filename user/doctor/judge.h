/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Judges what facts and trials mean for a recording. Reads nothing from the system.
 *
 * `qprof-bpf doctor` (cli/cmd_doctor.c) uses the files of this room in this order:
 *
 * - facts.c reads facts from /proc and /sys, finds other recordings in the kernel, and tries the
 *   steps of a recording: programs, ring buffers, probes, samples.
 * - judge.c turns facts and trials into findings about the kernel, privileges, limits and
 *   toolchains, and holds the findings.
 * - judge_recording.c does so for the rehearsal, its probes and samples, and other recordings.
 * - toolchains.c finds the installed compilers and makes or loads their plans.
 *
 * view/doctor_view.c prints every finding. A problem keeps recording from working; a note does not.
 */
#ifndef QPROF_DOCTOR_JUDGE_H
#define QPROF_DOCTOR_JUDGE_H

#include <stdint.h>

#include "base/cleanup.h"
#include "doctor/facts.h"
#include "doctor/toolchains.h"

/* The findings of `qprof-bpf doctor`: one line each, with its severity and the remedy. */

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

/* Only the kernel half cannot be used: a command is recorded from outside. */
bool findings__has_outside(const struct findings *f);

const char *finding_section_name(enum finding_section section);
/* "ok", "note", "problem" */
const char *finding_state_name(enum finding_state state);

void findings__clear(struct findings *f);
#define _findings_ __cleanup(findings__clear)

void judge_kernel(struct findings *f, const struct doctor_facts *facts,
		  const struct doctor_trials *t);

/* `user` is the user who asked; root, by sudo or not. */
void judge_privileges(struct findings *f, const struct doctor_facts *facts,
		      const struct doctor_trials *t, const char *user);

void judge_recording(struct findings *f, const struct doctor_facts *facts,
		     const struct doctor_trials *t, const struct other_recordings *others);

struct doctor_limits {
	uint64_t files;	     /* the most descriptors that we may open; UINT64_MAX: no limit */
	uint64_t disk_bytes; /* free for the user in the current directory */
	bool can_write_here; /* the user may create files there */
};

void judge_limits(struct findings *f, const struct doctor_limits *limits,
		  const struct doctor_trials *t);

/* A toolchain is never a problem if it is neither in use nor asked for. */
void judge_toolchains(struct findings *f, const struct toolchains *toolchains);

#endif /* QPROF_DOCTOR_JUDGE_H */
