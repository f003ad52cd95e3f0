/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What LLVM was doing, as frames of a sampled stack: its pass, and the function that it compiles.
 */
#ifndef QPROF_EXPORT_LLVM_FRAMES_H
#define QPROF_EXPORT_LLVM_FRAMES_H

#include "analyze/code_functions.h"
#include "trace/reader.h"

/* "[InstCombine]", "[app::parse]", the outer one first; NULL: not known, or none. */
struct llvm_frame {
	char *names[2];
};

/* All zeroes but for the reader, which outlives it, is empty. */
struct llvm_frames {
	const struct trace_reader *r;
	struct llvm_frame *at; /* by entry of LLVM */
	uint32_t n;
};

/* Of an entry, or of none; until the next call. NULL: no memory. */
const struct llvm_frame *llvm_frames__of(struct llvm_frames *f, uint32_t id);

/* Whether they come before this entry, if they are in no place further out: it is in LLVM. */
bool llvm_frames__precede(struct code_functions *functions, const struct trace_stack *entry);

void llvm_frames__destroy(struct llvm_frames *f);

#endif /* QPROF_EXPORT_LLVM_FRAMES_H */
