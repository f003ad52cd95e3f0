// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "export/flame_unprobed.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/model.h"

struct unprobed {
	struct model model;
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
	return model__end(&u->model);
}

double unprobed__own(const struct unprobed *u, uint32_t label)
{
	return own_shares__part(&u->model.own_shares, label);
}

void unprobed__free(struct unprobed *u)
{
	if (!u)
		return;
	model__destroy(&u->model);
	free(u);
}
