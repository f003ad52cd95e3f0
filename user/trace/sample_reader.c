// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/sample_reader.h"

#include <errno.h>

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

static int add_threads(struct sample_reader *r, const char **why)
{
	int err = sample_codec__add_threads(r->codec, &r->records->threads);

	*why = "its threads are too many";
	return err == -E2BIG ? -EBADMSG : err;
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
	err = err ?: add_threads(r, why);
	if (err)
		return err;
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
