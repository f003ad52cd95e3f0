/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* From what is so, and what was tried, to what it means for a recording. Looks at nothing itself.
 */
#ifndef QPROF_DOCTOR_JUDGE_H
#define QPROF_DOCTOR_JUDGE_H

#include "doctor/captures.h"
#include "doctor/facts.h"
#include "doctor/findings.h"
#include "doctor/toolchains.h"
#include "doctor/trials.h"

void judge_kernel(struct findings *f, const struct doctor_facts *facts,
		  const struct doctor_trials *t);

/* `user` is who asked; root by sudo or not. */
void judge_privileges(struct findings *f, const struct doctor_facts *facts,
		      const struct doctor_trials *t, const char *user);

void judge_recording(struct findings *f, const struct doctor_facts *facts,
		     const struct doctor_trials *t, const struct captures *others);

struct doctor_limits {
	uint64_t files;	     /* descriptors we may open at most, UINT64_MAX: any number */
	uint64_t disk_bytes; /* free for the user where we are */
	bool can_write_here; /* they may make files here */
};

void judge_limits(struct findings *f, const struct doctor_limits *limits,
		  const struct doctor_trials *t);

/* A toolchain that nobody asked for and that is not the one in use is never a problem. */
void judge_toolchains(struct findings *f, const struct toolchains *toolchains);

#endif /* QPROF_DOCTOR_JUDGE_H */
