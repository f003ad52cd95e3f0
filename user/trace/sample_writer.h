/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Writes the samples of a trace and their stacks. They wait until their chunk is full, or until
 * sample_writer__flush(). The functions without a comment are as those of trace_writer, which this
 * is a part of.
 */
#ifndef QPROF_TRACE_SAMPLE_WRITER_H
#define QPROF_TRACE_SAMPLE_WRITER_H

#include "trace/job_table.h"
#include "trace/llvm_table.h"
#include "trace/name_writer.h"
#include "trace/sample_codec.h"
#include "trace/stack_writer.h"

/* With `names` set and the rest zero, nothing was written yet. */
struct sample_writer {
	struct name_writer *names; /* the owner's */
	struct stack_writer stacks;
	struct job_table jobs; /* that wait to become one chunk */
	struct llvm_table llvm;
	struct sample_codec *codec;
	struct trace_sample *batch; /* samples that wait to become one chunk */
	uint32_t n_batch;
	uint32_t first_stack; /* that of the first sample in the batch */
	bool begun;	      /* SAMPLING was written */
};

int sample_writer__sampling(struct sample_writer *w, const struct trace_sampling *s);
int sample_writer__stack(struct sample_writer *w, const struct trace_stack *s, uint32_t *id);
int sample_writer__job(struct sample_writer *w, const struct trace_job *job, uint32_t *id);
int sample_writer__llvm(struct sample_writer *w, const struct trace_llvm *entry, uint32_t *id);
int sample_writer__sample(struct sample_writer *w, const struct trace_sample *s);

/* Write all that waits, after the names that it refers to. */
int sample_writer__flush(struct sample_writer *w);

void sample_writer__destroy(struct sample_writer *w);

#endif /* QPROF_TRACE_SAMPLE_WRITER_H */
