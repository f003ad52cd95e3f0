// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/sample_writer.h"

#include <errno.h>
#include <stdlib.h>

#define BATCH_SAMPLES 4096u
#define NEW_STACKS    16384u /* entries before they become a chunk */
#define NEW_JOBS      16384u /* likewise */
#define NEW_LLVM      16384u

static int fail(struct sample_writer *w, int err)
{
	return file_writer__fail(&w->names->sink->file, err);
}

int sample_writer__sampling(struct sample_writer *w, const struct trace_sampling *s)
{
	struct byte_buffer *payload;

	if (w->names->sink->file.error)
		return w->names->sink->file.error;
	if (w->begun)
		return -EINVAL;
	w->batch = malloc(BATCH_SAMPLES * sizeof(*w->batch));
	if (!w->batch || sample_codec__new(&w->codec))
		return fail(w, -ENOMEM);
	payload = chunk_sink__payload(w->names->sink);
	byte_buffer__varint(payload, s->hz);
	byte_buffer__varint(payload, s->fault_period);
	byte_buffer__varint(payload, (s->off_cpu ? QPT_SAMPLING_OFF_CPU : 0) |
					     (s->light ? QPT_SAMPLING_LIGHT : 0) |
					     (s->queries ? QPT_SAMPLING_QUERIES : 0));
	w->begun = true;
	return chunk_sink__write(w->names->sink, QPT_SAMPLING, payload, NULL);
}

static int write_stacks(struct sample_writer *w)
{
	struct byte_buffer *payload;
	int err = name_writer__flush(w->names);

	if (err || !w->stacks.n_new)
		return err;
	payload = chunk_sink__payload(w->names->sink);
	err = stack_writer__payload(&w->stacks, payload);
	return err ? fail(w, err) : chunk_sink__write(w->names->sink, QPT_STACKS, payload, NULL);
}

int sample_writer__stack(struct sample_writer *w, const struct trace_stack *s, uint32_t *id)
{
	const struct stack_limits limits = {
		.strings = w->names->strings.n,
		.locations = function_list__end(&w->names->functions),
	};
	int err = w->names->sink->file.error ?: stack_writer__add(&w->stacks, s, &limits, id);

	if (err)
		return err == -ENOMEM ? fail(w, err) : err;
	return w->stacks.n_new >= NEW_STACKS ? write_stacks(w) : 0;
}

static int write_jobs(struct sample_writer *w)
{
	struct byte_buffer *payload;
	int err = name_writer__flush(w->names);

	if (err || !w->jobs.n)
		return err;
	payload = chunk_sink__payload(w->names->sink);
	err = job_table__payload(&w->jobs, payload);
	return err ? fail(w, err) : chunk_sink__write(w->names->sink, QPT_JOBS, payload, NULL);
}

int sample_writer__job(struct sample_writer *w, const struct trace_job *job, uint32_t *id)
{
	int err = w->names->sink->file.error;

	if (err)
		return err;
	if (job->process >= w->names->n_processes || job->query >= w->names->strings.n)
		return -EINVAL;
	err = job_table__add(&w->jobs, job, id);
	if (err)
		return err == -ENOMEM ? fail(w, err) : err;
	return w->jobs.n >= NEW_JOBS ? write_jobs(w) : 0;
}

static int write_llvm(struct sample_writer *w)
{
	struct byte_buffer *payload;
	int err = name_writer__flush(w->names);

	if (err || w->llvm.written == w->llvm.n)
		return err;
	payload = chunk_sink__payload(w->names->sink);
	err = llvm_table__payload(&w->llvm, payload);
	return err ? fail(w, err) : chunk_sink__write(w->names->sink, QPT_LLVM, payload, NULL);
}

int sample_writer__llvm(struct sample_writer *w, const struct trace_llvm *entry, uint32_t *id)
{
	int err = w->names->sink->file.error;

	err = err ?: llvm_table__add(&w->llvm, entry, w->names->strings.n, id);
	if (err)
		return err == -ENOMEM ? fail(w, err) : err;
	return w->llvm.n - w->llvm.written >= NEW_LLVM ? write_llvm(w) : 0;
}

static int write_samples(struct sample_writer *w)
{
	struct byte_buffer *payload;
	int err = write_stacks(w) ?: write_jobs(w) ?: write_llvm(w);

	if (err || !w->n_batch)
		return err;
	payload = chunk_sink__payload(w->names->sink);
	err = sample_codec__encode(w->codec, w->batch, w->n_batch, w->first_stack, payload);
	err = err ?: sample_codec__add_threads(w->codec, &w->names->threads);
	if (err)
		return fail(w, err);
	err = chunk_sink__write(w->names->sink, QPT_SAMPLES, payload, NULL);
	if (err)
		return err;
	w->n_batch = 0;
	return 0;
}

static bool is_sound(const struct sample_writer *w, const struct trace_sample *s)
{
	return w->begun && s->process < w->names->n_processes && s->stack <= w->stacks.table.n &&
	       s->job <= w->jobs.first + w->jobs.n && s->llvm <= w->llvm.n && s->cause &&
	       s->cause < TRACE_SAMPLE_CAUSES && s->cut < TRACE_CUT_MAX &&
	       (s->label == TRACE_NO_STRING || s->label < w->names->strings.n) &&
	       (s->cause != TRACE_SAMPLE_OFF_CPU || s->value <= UINT64_MAX - s->time_ns);
}

int sample_writer__sample(struct sample_writer *w, const struct trace_sample *s)
{
	struct trace_sample *copy;
	int err = w->names->sink->file.error;

	if (err)
		return err;
	if (!is_sound(w, s))
		return -EINVAL;
	if (!w->n_batch)
		w->first_stack = s->stack;
	copy = &w->batch[w->n_batch];
	*copy = *s;
	if (s->label != TRACE_NO_STRING)
		err = name_writer__disk_label(w->names, &copy->label, s->kind);
	if (err)
		return err;
	w->n_batch++;
	return w->n_batch == BATCH_SAMPLES ? write_samples(w) : 0;
}

int sample_writer__flush(struct sample_writer *w)
{
	return write_samples(w);
}

void sample_writer__destroy(struct sample_writer *w)
{
	stack_writer__destroy(&w->stacks);
	job_table__destroy(&w->jobs);
	llvm_table__destroy(&w->llvm);
	sample_codec__free(w->codec);
	free(w->batch);
}
