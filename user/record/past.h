/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The reports of a session that are about no process, for recorders that begin later: libraries
 * with their plans, files of samples, labels.
 */
#ifndef QPROF_RECORD_PAST_H
#define QPROF_RECORD_PAST_H

#include "capture/record.h"

struct past_library {
	uint8_t *plan; /* encoded; NULL: no library has this number */
	size_t len;
	struct library_file *file;
};

struct past_file {
	uint32_t number;
	struct library_file *file; /* NULL: the kernel's vdso */
	struct llvm_plan *llvm;	   /* or NULL */
};

/* All zeroes is empty. */
struct past {
	struct past_library libraries[WIRE_MAX_LIBS + 1];
	struct past_file *files;
	uint32_t n_files, files_capacity;
	struct wire_label *labels;
	uint32_t n_labels, labels_capacity;
};

/* Keep a record, if it is one of these. 0 or -ENOMEM. */
int past__take(struct past *p, const struct record *r);

/* Report all of it to a sink. Negative errno. */
int past__tell(const struct past *p, record_fn take, void *ctx);

void past__clear(struct past *p);

#endif /* QPROF_RECORD_PAST_H */
