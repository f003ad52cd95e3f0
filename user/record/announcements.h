/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The reports of a session that are about no process, for recorders that begin later: libraries
 * with their plans, files of samples, labels.
 */
#ifndef QPROF_RECORD_ANNOUNCEMENTS_H
#define QPROF_RECORD_ANNOUNCEMENTS_H

#include "capture/record.h"

struct announced_library {
	uint8_t *plan; /* encoded; NULL: no library has this number */
	size_t len;
	struct library_file *file;
	uint32_t n_queries, n_guards;
	bool *recorded; /* of so many queries, and then guards */
};

struct announced_file {
	uint32_t number;
	struct library_file *file; /* NULL: the kernel's vdso */
	struct llvm_plan *llvm;	   /* or NULL */
};

/* All zeroes is empty. */
struct announcements {
	struct announced_library libraries[WIRE_MAX_LIBS + 1];
	struct announced_file *files;
	uint32_t n_files, files_capacity;
	struct wire_label *labels;
	uint32_t n_labels, labels_capacity;
};

/* Keep a record, if it is one of these. 0 or -ENOMEM. */
int announcements__take(struct announcements *p, const struct record *r);

/* Report all of it to a sink. Negative errno. */
int announcements__tell(const struct announcements *p, record_fn take, void *ctx);

void announcements__clear(struct announcements *p);

#endif /* QPROF_RECORD_ANNOUNCEMENTS_H */
