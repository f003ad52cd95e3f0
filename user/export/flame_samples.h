/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Sampled stacks as a merged tree (export/flame.h): below each process the functions that its
 * threads were in, from the outermost, with the queries between, and before LLVM's own functions
 * its pass and the function that it compiles. `count` of a node is the number of
 * samples, `self` what they stand for: ns, or bytes. With waits, which can be added to samples of
 * the CPU, the wall time is the sum of both; they are not in `count`.
 *
 * Memory: 48 bytes of each different stack of a process, 16 of each entry that they have in common,
 * and the tree. A small hostile trace could have one deep stack in many processes, so a tree of
 * more than FLAME_SAMPLES_MOST nodes is refused: -EOVERFLOW.
 */
#ifndef QPROF_EXPORT_FLAME_SAMPLES_H
#define QPROF_EXPORT_FLAME_SAMPLES_H

#include "analyze/code_name.h"
#include "export/flame.h"
#include "trace/reader.h"

#define FLAME_SAMPLES_MOST (1u << 23)

struct flame_samples;

/* Of samples of one cause: enum trace_sample_cause. 0 or -ENOMEM. */
int flame_samples__new(struct export_job *job, uint8_t cause, bool with_waits,
		       struct flame_samples **out);

/* Pass every item of job->r, in order. 0 or a negative errno. */
int flame_samples__item(struct flame_samples *s, const struct trace_item *item);

/* Whether there was a sample. */
bool flame_samples__any(const struct flame_samples *s);

/* The tree, after the last item; once. Names of functions are as job->short_names says. */
int flame_samples__finish(struct flame_samples *s, struct flame **out);

void flame_samples__free(struct flame_samples *s);
DEFINE_CLEANUP(struct flame_samples, flame_samples__free)
#define _flame_samples_ __cleanup(flame_samples__free_p)

/* What LLVM was doing, as frames of a sampled stack: its pass, and the function that it compiles.
 */

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

#endif /* QPROF_EXPORT_FLAME_SAMPLES_H */
