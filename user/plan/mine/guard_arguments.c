// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/guard_arguments.h"

#include "base/array.h"
#include "plan/code/sum.h"

/* No loads at all: a constant, whose text is in the file. */
static bool place_answer(const struct eval *e, uint32_t i, struct wire_place *out)
{
	return e->arrived && place_of(&e->nodes, &e->answers[i], out);
}

int guard_argument(const struct eval_function *f, const struct cold_side *side, uint64_t site,
		   struct wire_source *out)
{
	const struct wire_source *in = &side->source;
	struct wire_place asked[] = {in->string, in->length, in->number};
	struct wire_source found = {.site = site, .text = in->text, .value = in->value};
	bool has_length = in->text == WIRE_ARGUMENT_STRING || in->text == WIRE_ARGUMENT_C_STRING;
	struct eval_function inside = *f;
	_free_ struct eval *e = NULL;
	int err;

	if (!in->text)
		return 0;
	inside.inside = true;
	inside.asked = asked;
	inside.n_asked = N_OF(asked);
	err = eval__run(&inside, &e);
	if (err)
		return err;
	if (!place_answer(e, 0, &found.string) ||
	    (has_length && !place_answer(e, 1, &found.length)))
		return 0;
	if (in->value && in->value != WIRE_VALUE_CALL && !place_answer(e, 2, &found.number))
		found.value = WIRE_VALUE_NONE;
	*out = found;
	return 0;
}
