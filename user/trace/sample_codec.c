// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Why it is small: a thread that runs is sampled once per period of its CPU time, so a sample's
 * time follows from the one before and from the times off the CPU between them, but for the timer's
 * noise. Most stacks are new, and new ones have ascending numbers.
 */
#include "trace/sample_codec.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "qprof/trace_format.h"
#include "trace/batch_threads.h"

_Static_assert(TRACE_SAMPLE_CAUSES <= QPT_SAMPLE_CAUSE_MASK + 1, "room for the causes");

struct sample_codec {
	struct batch_threads threads;
	struct trace_sample *samples; /* grouped by thread */
	uint32_t capacity;
	uint64_t base_ns;
	uint32_t stacks;
	bool has_probes;
	bool has_jobs;
	bool has_llvm;
};

/* The expected next sample of a thread. */
struct prediction {
	uint64_t last_ns; /* the time of the sample before, or when the thread came back to a CPU */
	uint64_t due_ns;  /* the time of the next period of CPU time */
	uint32_t stack;	  /* the latest entry that a sample had */
};

int sample_codec__new(struct sample_codec **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
}

static struct prediction first_prediction(const struct sample_codec *c)
{
	return (struct prediction){c->base_ns, c->base_ns, c->stacks};
}

static uint64_t expected_ns(const struct prediction *p, uint8_t cause)
{
	return cause == TRACE_SAMPLE_CPU ? p->due_ns : p->last_ns;
}

/* Go on from a sample that is known. */
static void advance(struct prediction *p, const struct trace_sample *s)
{
	p->last_ns = s->time_ns;
	if (s->cause == TRACE_SAMPLE_CPU) {
		p->due_ns = s->time_ns + s->value;
	} else if (s->cause == TRACE_SAMPLE_OFF_CPU) {
		p->last_ns += s->value;
		p->due_ns += s->value;
	}
	if (s->stack > p->stack)
		p->stack = s->stack;
}

static int reserve(struct sample_codec *c, uint32_t n)
{
	struct trace_sample *samples;

	if (batch_threads__reserve(&c->threads, n))
		return -ENOMEM;
	if (n <= c->capacity)
		return 0;
	samples = reallocarray(c->samples, n, sizeof(*samples));
	if (!samples)
		return -ENOMEM;
	c->samples = samples;
	c->capacity = n;
	return 0;
}

static int group_by_thread(struct sample_codec *c, const struct trace_sample *samples, uint32_t n)
{
	if (reserve(c, n))
		return -ENOMEM;
	batch_threads__begin(&c->threads);
	for (uint32_t i = 0; i < n; i++)
		if (batch_threads__add(&c->threads, i, samples[i].process, samples[i].tid))
			return -ENOMEM;
	batch_threads__arrange(&c->threads);
	c->has_probes = c->has_jobs = c->has_llvm = false;
	for (uint32_t i = 0; i < n; i++) {
		c->samples[batch_threads__place(&c->threads, i)] = samples[i];
		c->has_probes |= samples[i].label != TRACE_NO_STRING || samples[i].depth;
		c->has_jobs |= samples[i].job != TRACE_NO_JOB;
		c->has_llvm |= samples[i].llvm != TRACE_NO_LLVM;
	}
	c->base_ns = samples[0].time_ns;
	return 0;
}

static uint8_t *encode_values(const struct sample_codec *c, uint32_t n, uint8_t *p)
{
	uint64_t last[TRACE_SAMPLE_CAUSES] = {0};

	for (uint32_t i = 0; i < n; i++)
		*p++ = c->samples[i].cause | c->samples[i].cut << QPT_SAMPLE_CAUSE_BITS;
	for (uint32_t i = 0; i < n; i++) {
		const struct trace_sample *s = &c->samples[i];

		p = bytes_store_varint(p, bytes_zigzag(s->value - last[s->cause]));
		last[s->cause] = s->value;
	}
	return p;
}

static uint8_t *encode_times(const struct sample_codec *c, uint8_t *p)
{
	for (uint32_t t = 0; t < c->threads.n; t++) {
		const struct batch_thread *thread = &c->threads.at[t];
		const struct trace_sample *s = &c->samples[thread->first];
		struct prediction next = first_prediction(c);

		for (uint32_t i = 0; i < thread->n; i++, s++) {
			p = bytes_store_varint(
				p, bytes_zigzag(s->time_ns - expected_ns(&next, s->cause)));
			advance(&next, s);
		}
	}
	return p;
}

static uint8_t *encode_stacks(const struct sample_codec *c, uint8_t *p)
{
	for (uint32_t t = 0; t < c->threads.n; t++) {
		const struct batch_thread *thread = &c->threads.at[t];
		const struct trace_sample *s = &c->samples[thread->first];
		struct prediction next = first_prediction(c);

		for (uint32_t i = 0; i < thread->n; i++, s++) {
			p = bytes_store_varint(p, bytes_zigzag((uint64_t)s->stack - next.stack));
			advance(&next, s);
		}
	}
	return p;
}

/* The depth and the label that probes saw: mostly those of the sample before. */
static uint8_t *encode_probes(const struct sample_codec *c, uint32_t n, uint8_t *p)
{
	uint32_t label = TRACE_NO_STRING;
	uint64_t depth = 0;

	for (uint32_t i = 0; i < n; i++) {
		p = bytes_store_varint(p, bytes_zigzag(c->samples[i].depth - depth));
		depth = c->samples[i].depth;
	}
	for (uint32_t i = 0; i < n; i++) {
		uint64_t code = (uint64_t)c->samples[i].label + QPT_SAMPLE_LABEL;

		if (c->samples[i].label == TRACE_NO_STRING)
			code = QPT_SAMPLE_NO_LABEL;
		else if (c->samples[i].label == label)
			code = QPT_SAMPLE_SAME_LABEL;
		else
			label = c->samples[i].label;
		p = bytes_store_varint(p, code);
	}
	return p;
}

/* A number that a sample has at `field` of struct trace_sample. */
static uint32_t *number_of(const struct sample_codec *c, uint32_t i, size_t field)
{
	return (uint32_t *)((char *)&c->samples[i] + field);
}

/* Numbers of jobs or entries of LLVM: mostly the next one, or the same as before. */
static uint8_t *encode_numbers(const struct sample_codec *c, uint32_t n, size_t field, uint8_t *p)
{
	uint64_t last = 0;

	for (uint32_t i = 0; i < n; i++) {
		p = bytes_store_varint(p, bytes_zigzag(*number_of(c, i, field) - last));
		last = *number_of(c, i, field);
	}
	return p;
}

int sample_codec__encode(struct sample_codec *c, const struct trace_sample *samples, uint32_t n,
			 uint32_t stacks, struct byte_buffer *out)
{
	uint8_t *p;

	if (group_by_thread(c, samples, n))
		return -ENOMEM;
	c->stacks = stacks;
	byte_buffer__varint(out, n);
	byte_buffer__varint(out, c->threads.n);
	byte_buffer__varint(out, c->base_ns);
	byte_buffer__varint(out, c->stacks);
	byte_buffer__varint(out, (c->has_probes ? QPT_SAMPLE_COLUMN_PROBES : 0) |
					 (c->has_jobs ? QPT_SAMPLE_COLUMN_JOBS : 0) |
					 (c->has_llvm ? QPT_SAMPLE_COLUMN_LLVM : 0));
	batch_threads__store(&c->threads, out);
	/* A byte and seven varints per sample. */
	if (!byte_buffer__reserve(out, n * (1 + 7 * (size_t)BYTES_VARINT_MAX)))
		return -ENOMEM;
	p = encode_values(c, n, out->data + out->size);
	p = encode_times(c, p);
	p = encode_stacks(c, p);
	if (c->has_probes)
		p = encode_probes(c, n, p);
	if (c->has_jobs)
		p = encode_numbers(c, n, offsetof(struct trace_sample, job), p);
	if (c->has_llvm)
		p = encode_numbers(c, n, offsetof(struct trace_sample, llvm), p);
	out->size = p - out->data;
	return 0;
}

static const char *decode_head(struct sample_codec *c, struct byte_reader *r, uint32_t n,
			       uint32_t n_processes)
{
	uint32_t n_threads = byte_reader__varint_max(r, n);
	uint64_t columns;
	int err;

	c->base_ns = byte_reader__varint(r);
	c->stacks = byte_reader__varint_max(r, UINT32_MAX);
	columns = byte_reader__varint_max(r, QPT_SAMPLE_COLUMNS_ALL);
	c->has_probes = columns & QPT_SAMPLE_COLUMN_PROBES;
	c->has_jobs = columns & QPT_SAMPLE_COLUMN_JOBS;
	c->has_llvm = columns & QPT_SAMPLE_COLUMN_LLVM;
	err = batch_threads__load(&c->threads, r, n_threads, n, n_processes);
	if (err == -ENOENT)
		return "samples of a process it does not hold";
	return err ? "the threads of a batch do not add up" : NULL;
}

static const char *decode_values(struct sample_codec *c, struct byte_reader *r, uint32_t n)
{
	const uint8_t *causes = byte_reader__bytes(r, n);
	uint64_t last[TRACE_SAMPLE_CAUSES] = {0};

	if (!causes)
		return "a batch of samples is too short";
	for (uint32_t i = 0; i < n; i++) {
		uint8_t cause = causes[i] & QPT_SAMPLE_CAUSE_MASK;
		uint8_t cut = causes[i] >> QPT_SAMPLE_CAUSE_BITS;

		if (!cause || cause >= TRACE_SAMPLE_CAUSES || cut >= TRACE_CUT_MAX)
			return "a sample has an unknown cause";
		last[cause] += bytes_unzigzag(byte_reader__varint(r));
		c->samples[i] = (struct trace_sample){
			.value = last[cause],
			.label = TRACE_NO_STRING,
			.cause = cause,
			.cut = cut,
		};
	}
	return NULL;
}

static const char *decode_times(struct sample_codec *c, struct byte_reader *r)
{
	for (uint32_t t = 0; t < c->threads.n; t++) {
		const struct batch_thread *thread = &c->threads.at[t];
		struct trace_sample *s = &c->samples[thread->first];
		struct prediction next = first_prediction(c);

		for (uint32_t i = 0; i < thread->n; i++, s++) {
			s->process = thread->process;
			s->tid = thread->tid;
			s->time_ns = expected_ns(&next, s->cause) +
				     bytes_unzigzag(byte_reader__varint(r));
			if (s->cause == TRACE_SAMPLE_OFF_CPU && s->time_ns + s->value < s->time_ns)
				return "a sample ends before it starts";
			advance(&next, s);
		}
	}
	return NULL;
}

static const char *decode_stacks(struct sample_codec *c, struct byte_reader *r, uint32_t n_stacks)
{
	for (uint32_t t = 0; t < c->threads.n; t++) {
		const struct batch_thread *thread = &c->threads.at[t];
		struct trace_sample *s = &c->samples[thread->first];
		struct prediction next = first_prediction(c);

		for (uint32_t i = 0; i < thread->n; i++, s++) {
			uint64_t stack = next.stack + bytes_unzigzag(byte_reader__varint(r));

			if (stack >= n_stacks)
				return "a sample has a stack the file does not hold";
			s->stack = (uint32_t)stack;
			advance(&next, s);
		}
	}
	return NULL;
}

static const char *decode_probes(struct sample_codec *c, struct byte_reader *r, uint32_t n,
				 uint32_t n_strings)
{
	uint64_t depth = 0, label = TRACE_NO_STRING;

	for (uint32_t i = 0; i < n; i++) {
		depth += bytes_unzigzag(byte_reader__varint(r));
		if (depth > UINT16_MAX)
			return "a sample is nested too deep";
		c->samples[i].depth = depth;
	}
	for (uint32_t i = 0; i < n; i++) {
		uint64_t code = byte_reader__varint(r);

		if (code == QPT_SAMPLE_NO_LABEL)
			continue;
		if (code != QPT_SAMPLE_SAME_LABEL)
			label = code - QPT_SAMPLE_LABEL;
		if (label >= n_strings)
			return "a sample has a name the file does not hold";
		c->samples[i].label = (uint32_t)label;
	}
	return NULL;
}

/* Each is at most `most`; if not, `why`. */
static const char *decode_numbers(struct sample_codec *c, struct byte_reader *r, uint32_t n,
				  size_t field, uint32_t most, const char *why)
{
	uint64_t number = 0;

	for (uint32_t i = 0; i < n; i++) {
		number += bytes_unzigzag(byte_reader__varint(r));
		if (number > most)
			return why;
		*number_of(c, i, field) = (uint32_t)number;
	}
	return NULL;
}

int sample_codec__decode(struct sample_codec *c, const uint8_t *data, size_t size,
			 const struct sample_limits *limits, const struct trace_sample **samples,
			 uint32_t *n, const char **why)
{
	struct byte_reader r = {.at = data, .end = data + size};
	uint32_t count = byte_reader__varint_max(&r, QPT_SAMPLES_MAX);

	*why = "a batch of samples has a bad size";
	/* Each sample takes at least four bytes, so the payload limits the count. */
	if (!count || count > size / 4)
		return -EBADMSG;
	if (reserve(c, count))
		return -ENOMEM;
	*why = decode_head(c, &r, count, limits->processes);
	if (!*why)
		*why = decode_values(c, &r, count);
	if (!*why)
		*why = decode_times(c, &r);
	if (!*why)
		*why = decode_stacks(c, &r, limits->stacks);
	if (!*why && c->has_probes)
		*why = decode_probes(c, &r, count, limits->strings);
	if (!*why && c->has_jobs)
		*why = decode_numbers(c, &r, count, offsetof(struct trace_sample, job),
				      limits->jobs, "a sample has a job the file does not hold");
	if (!*why && c->has_llvm)
		*why = decode_numbers(c, &r, count, offsetof(struct trace_sample, llvm),
				      limits->llvm,
				      "a sample has an entry of LLVM the file does not hold");
	if (!*why && (r.bad || r.at != r.end))
		*why = "a batch of samples does not fill its chunk";
	if (*why)
		return -EBADMSG;
	*samples = c->samples;
	*n = count;
	return 0;
}

int sample_codec__add_threads(const struct sample_codec *c, struct thread_set *to)
{
	return batch_threads__add_to(&c->threads, to);
}

void sample_codec__free(struct sample_codec *c)
{
	if (!c)
		return;
	batch_threads__destroy(&c->threads);
	free(c->samples);
	free(c);
}

/* ---- Reading --------------------------------------------------------------------------------- */

int sample_reader__sampling(struct sample_reader *r, struct byte_reader *in,
			    struct trace_item *item, const char **why)
{
	int err;

	*why = "how it samples is stored twice";
	if (r->begun)
		return -EBADMSG;
	r->begun = true;
	err = record_reader__sampling(in, item, why);
	r->light = !err && item->sampling.light;
	return err;
}

int sample_reader__begin(struct sample_reader *r, const struct byte_reader *in, const char **why)
{
	const struct sample_limits limits = {
		.processes = r->records->processes.n,
		.strings = r->names->n_strings,
		.stacks = r->names->stacks.n + 1,
		.jobs = r->names->jobs.n,
		.llvm = r->names->llvm.n,
	};
	const struct trace_sample *batch;
	uint32_t n;
	int err;

	*why = "it does not say how it samples";
	if (!r->begun)
		return -EBADMSG;
	err = r->codec ? 0 : sample_codec__new(&r->codec);
	err = err
		      ?: sample_codec__decode(r->codec, in->at, in->end - in->at, &limits, &batch,
					      &n, why);
	if (err)
		return err;
	err = sample_codec__add_threads(r->codec, &r->records->threads);
	*why = "its threads are too many";
	if (err)
		return err == -E2BIG ? -EBADMSG : err;
	r->batch = batch;
	r->n_batch = n;
	r->n += n;
	return 0;
}

void sample_reader__next(struct sample_reader *r, struct trace_item *item)
{
	while (r->n_batch) {
		const struct trace_sample *s = r->batch++;

		r->n_batch--;
		r->n_cut += s->cut != TRACE_CUT_NOT && !trace_sample__is_light(s, r->light);
		if (r->verdicts->filtered && !verdicts__want_sample(r->verdicts, s))
			continue;
		item->kind = TRACE_ITEM_SAMPLE;
		item->sample = *s;
		if (s->label != TRACE_NO_STRING)
			labels__resolve(&r->names->labels, &item->sample.label, &item->sample.kind);
		return;
	}
}

void sample_reader__destroy(struct sample_reader *r)
{
	sample_codec__free(r->codec);
}
