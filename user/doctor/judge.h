/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Judges what facts and trials mean for a recording. Reads nothing from the system. */
#ifndef QPROF_DOCTOR_JUDGE_H
#define QPROF_DOCTOR_JUDGE_H

#include "doctor/other_recordings.h"
#include "doctor/facts.h"
#include "doctor/findings.h"
#include "doctor/toolchains.h"
#include "doctor/trials.h"

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
