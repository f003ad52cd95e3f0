// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/follow.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

int follow__init(struct follow *f, struct trace_reader *reader)
{
	struct model_options options = model_options_of(reader);

	options.parts = MODEL_THREADS | MODEL_HOT | MODEL_LLVM;
	*f = (struct follow){.reader = reader};
	return model__init(&f->model, &options);
}

/* What a sample's job is about gets its name when the compiler ends. */
static int keep_sample(struct follow *f, const struct trace_sample *sample)
{
	struct kept_samples *kept;
	struct trace_sample *sum;
	uint32_t label;

	if (sample->cause != TRACE_SAMPLE_CPU)
		return 0;
	label = model_sample_label(&f->model.options, sample);
	if (label == TRACE_NO_STRING)
		return 0;
	if (array__reserve_at(&f->samples, sample->process, &f->n_samples, sizeof(*kept)))
		return -ENOMEM;
	kept = &f->samples[sample->process];
	sum = table__get(&kept->by, (uint64_t)sample->job << 32 | label, .process = sample->process,
			 .stack = sample->stack, .job = sample->job, .label = sample->label,
			 .cause = sample->cause);
	if (!sum)
		return -ENOMEM;
	sum->value += sample->value;
	kept->n++;
	return 0;
}

struct news {
	struct follow *follow;
	bool *more;
};

static int take_item(void *ctx, const struct trace_item *item)
{
	const struct news *news = ctx;
	struct model *model = &news->follow->model;
	int err;

	*news->more = true;
	err = model__item(model, item);
	if (err || item->kind != TRACE_ITEM_SAMPLE || !model->by_samples)
		return err;
	return keep_sample(news->follow, &item->sample);
}

int follow__read(struct follow *f, bool *more)
{
	int err;

	*more = false;
	if (f->over)
		return 0;
	err = trace_reader__each(f->reader, take_item, &(struct news){f, more});
	f->over = !err && !trace_reader__resume(f->reader);
	return err;
}

void follow__destroy(struct follow *f)
{
	for (uint32_t i = 0; i < f->n_samples; i++)
		table__destroy(&f->samples[i].by);
	free(f->samples);
	model__destroy(&f->model);
	trace_reader__free(f->reader);
	*f = (struct follow){};
}
