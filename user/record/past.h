/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The reports of a session that are about no process, for recorders that begin later: libraries
 * with their plans, files of samples, labels.
 */
#ifndef QPROF_RECORD_PAST_H
#define QPROF_RECORD_PAST_H

#include "capture/session_sink.h"
#include "qprof/wire.h"

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

/* 0 or -ENOMEM. */
int past__library(struct past *p, uint8_t lib, const struct plan *plan);
int past__file(struct past *p, uint32_t number, struct library_file *file);
int past__llvm(struct past *p, uint32_t number, struct llvm_plan *plan);
int past__label(struct past *p, const struct wire_label *label);

/* Report all of it to a sink. Negative errno. */
int past__tell(const struct past *p, const struct session_sink *to);

void past__clear(struct past *p);

#endif /* QPROF_RECORD_PAST_H */
