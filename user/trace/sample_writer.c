// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The samples of a trace and their stacks. They wait until their chunk is full, or until
 * trace_writer__flush_samples().
 */
#include <errno.h>
#include <stdlib.h>

#include "trace/writer.h"
#include "trace/writer_parts.h"

#define BATCH_SAMPLES 4096u
#define NEW_STACKS    16384u /* entries before they become a chunk */
#define NEW_JOBS      16384u /* likewise */
#define NEW_LLVM      16384u

static int fail(struct trace_writer *w, int err)
{
	return file_writer__fail(&w->sink.file, err);
}

int trace_writer__sampling(struct trace_writer *w, const struct trace_sampling *s)
{
	struct byte_buffer *payload;

	if (w->sink.file.error)
		return w->sink.file.error;
	if (w->samples.begun)
		return -EINVAL;
	w->samples.batch = malloc(BATCH_SAMPLES * sizeof(*w->samples.batch));
	if (!w->samples.batch || sample_codec__new(&w->samples.codec))
		return fail(w, -ENOMEM);
	payload = chunk_sink__payload(&w->sink);
	byte_buffer__varint(payload, s->hz);
	byte_buffer__varint(payload, s->fault_period);
	byte_buffer__varint(payload, (s->off_cpu ? QPT_SAMPLING_OFF_CPU : 0) |
					     (s->light ? QPT_SAMPLING_LIGHT : 0) |
					     (s->queries ? QPT_SAMPLING_QUERIES : 0));
	w->samples.begun = true;
	return chunk_sink__write(&w->sink, QPT_SAMPLING, payload, NULL);
}

static int write_stacks(struct trace_writer *w)
{
	struct byte_buffer *payload;
	int err = trace_writer__flush_names(w);

	if (err || !w->samples.stacks.n_new)
		return err;
	payload = chunk_sink__payload(&w->sink);
	err = stack_writer__payload(&w->samples.stacks, payload);
	return err ? fail(w, err) : chunk_sink__write(&w->sink, QPT_STACKS, payload, NULL);
}

int trace_writer__stack(struct trace_writer *w, const struct trace_stack *s, uint32_t *id)
{
	const struct stack_limits limits = {
		.strings = w->names.strings.n,
		.locations = function_list__end(&w->names.functions),
	};
	int err = w->sink.file.error ?: stack_writer__add(&w->samples.stacks, s, &limits, id);

	if (err)
		return err == -ENOMEM ? fail(w, err) : err;
	return w->samples.stacks.n_new >= NEW_STACKS ? write_stacks(w) : 0;
}

static int write_jobs(struct trace_writer *w)
{
	struct byte_buffer *payload;
	int err = trace_writer__flush_names(w);

	if (err || !w->samples.jobs.n)
		return err;
	payload = chunk_sink__payload(&w->sink);
	err = job_table__payload(&w->samples.jobs, payload);
	return err ? fail(w, err) : chunk_sink__write(&w->sink, QPT_JOBS, payload, NULL);
}

int trace_writer__job(struct trace_writer *w, const struct trace_job *job, uint32_t *id)
{
	int err = w->sink.file.error;

	if (err)
		return err;
	if (job->process >= w->names.n_processes || job->query >= w->names.strings.n)
		return -EINVAL;
	err = job_table__add(&w->samples.jobs, job, id);
	if (err)
		return err == -ENOMEM ? fail(w, err) : err;
	return w->samples.jobs.n >= NEW_JOBS ? write_jobs(w) : 0;
}

static int write_llvm(struct trace_writer *w)
{
	struct byte_buffer *payload;
	int err = trace_writer__flush_names(w);

	if (err || w->samples.llvm.written == w->samples.llvm.n)
		return err;
	payload = chunk_sink__payload(&w->sink);
	err = llvm_table__payload(&w->samples.llvm, payload);
	return err ? fail(w, err) : chunk_sink__write(&w->sink, QPT_LLVM, payload, NULL);
}

int trace_writer__llvm(struct trace_writer *w, const struct trace_llvm *entry, uint32_t *id)
{
	int err = w->sink.file.error;

	err = err ?: llvm_table__add(&w->samples.llvm, entry, w->names.strings.n, id);
	if (err)
		return err == -ENOMEM ? fail(w, err) : err;
	return w->samples.llvm.n - w->samples.llvm.written >= NEW_LLVM ? write_llvm(w) : 0;
}

int trace_writer__flush_samples(struct trace_writer *w)
{
	struct byte_buffer *payload;
	int err = write_stacks(w) ?: write_jobs(w) ?: write_llvm(w);

	if (err || !w->samples.n_batch)
		return err;
	payload = chunk_sink__payload(&w->sink);
	err = sample_codec__encode(w->samples.codec, w->samples.batch, w->samples.n_batch,
				   w->samples.first_stack, payload);
	err = err ?: sample_codec__add_threads(w->samples.codec, &w->names.threads);
	if (err)
		return fail(w, err);
	err = chunk_sink__write(&w->sink, QPT_SAMPLES, payload, NULL);
	if (err)
		return err;
	w->samples.n_batch = 0;
	return 0;
}

static bool is_sound(const struct trace_writer *w, const struct trace_sample *s)
{
	return w->samples.begun && s->process < w->names.n_processes &&
	       s->stack <= w->samples.stacks.table.n &&
	       s->job <= w->samples.jobs.first + w->samples.jobs.n &&
	       s->llvm <= w->samples.llvm.n && s->cause && s->cause < TRACE_SAMPLE_CAUSES &&
	       s->cut < TRACE_CUT_MAX &&
	       (s->label == TRACE_NO_STRING || s->label < w->names.strings.n) &&
	       (s->cause != TRACE_SAMPLE_OFF_CPU || s->value <= UINT64_MAX - s->time_ns);
}

int trace_writer__sample(struct trace_writer *w, const struct trace_sample *s)
{
	struct trace_sample *copy;
	int err = w->sink.file.error;

	if (err)
		return err;
	if (!is_sound(w, s))
		return -EINVAL;
	if (!w->samples.n_batch)
		w->samples.first_stack = s->stack;
	copy = &w->samples.batch[w->samples.n_batch];
	*copy = *s;
	if (s->label != TRACE_NO_STRING)
		err = trace_writer__disk_label(w, &copy->label, s->kind);
	if (err)
		return err;
	w->samples.n_batch++;
	return w->samples.n_batch == BATCH_SAMPLES ? trace_writer__flush_samples(w) : 0;
}

void trace_writer__destroy_samples(struct trace_writer *w)
{
	stack_writer__destroy(&w->samples.stacks);
	job_table__destroy(&w->samples.jobs);
	llvm_table__destroy(&w->samples.llvm);
	sample_codec__free(w->samples.codec);
	free(w->samples.batch);
}
