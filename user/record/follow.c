// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/follow.h"

int follow__init(struct follow *f, struct trace_reader *reader)
{
	struct model_options options = model_options_of(reader);

	options.parts = MODEL_THREADS | MODEL_HOT;
	*f = (struct follow){.reader = reader};
	return model__init(&f->model, &options);
}

struct news {
	struct model *model;
	bool *more;
};

static int take_item(void *ctx, const struct trace_item *item)
{
	const struct news *news = ctx;

	*news->more = true;
	return model__item(news->model, item);
}

int follow__read(struct follow *f, bool *more)
{
	int err;

	*more = false;
	if (f->over)
		return 0;
	err = trace_reader__each(f->reader, take_item, &(struct news){&f->model, more});
	f->over = !err && !trace_reader__resume(f->reader);
	return err;
}

void follow__destroy(struct follow *f)
{
	model__destroy(&f->model);
	trace_reader__free(f->reader);
	*f = (struct follow){};
}
