// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "export/flame_unprobed.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/model.h"
#include "base/map.h"

struct unprobed {
	struct model model;
	struct summary_row *rows;
	struct u64_map row_of; /* label -> row whose time is divided */
};

int unprobed__new(const struct trace_reader *r, struct unprobed **out)
{
	const struct model_options options = model_options_of(r);
	struct unprobed *u = calloc(1, sizeof(*u));
	int err = u ? model__init(&u->model, &options) : -ENOMEM;

	if (err)
		unprobed__free(u);
	else
		*out = u;
	return err;
}

int unprobed__item(struct unprobed *u, const struct trace_item *item)
{
	return model__item(&u->model, item);
}

int unprobed__end(struct unprobed *u)
{
	size_t n = 0;
	int err =
		model__end(&u->model) ?: summary__rows(u->model.summary, SUMMARY_ALL, &u->rows, &n);

	for (size_t i = 0; i < n && !err; i++)
		if (u->rows[i].self_by == SUMMARY_SELF_SHARE)
			err = u64_map__put(&u->row_of, u->rows[i].label, (uint32_t)i);
	return err;
}

double unprobed__own(const struct unprobed *u, uint32_t label)
{
	uint32_t i = u64_map__get(&u->row_of, label);
	const struct sample_sums *s;

	if (i == U64_MAP_NONE)
		return 1;
	s = &u->rows[i].samples;
	return (double)s->own.n / (double)s->nearest.n;
}

void unprobed__free(struct unprobed *u)
{
	if (!u)
		return;
	model__destroy(&u->model);
	free(u->rows);
	u64_map__destroy(&u->row_of);
	free(u);
}
