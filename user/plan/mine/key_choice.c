// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/key_choice.h"

#include <errno.h>
#include <stdlib.h>

#include "plan/mine/tagged_keys.h"

struct choice {
	struct tagged_keys *tagged;
	const struct plan *plan;
	struct body_name *bodies;
};

/* The answers of the queries of a body, for one type. */
struct verdict {
	uint32_t queries;
	uint32_t answers[TAGGED_FITS + 1];
};

static int ask(const struct choice *c, uint32_t body, const char *type, struct verdict *out)
{
	*out = (struct verdict){.queries = 0};
	for (uint32_t i = 0; i < c->plan->n_queries; i++) {
		int answer;

		if (!plan__serves(c->plan, &c->plan->queries[i], body))
			continue;
		answer = tagged_keys__fits(c->tagged, i, type);
		if (answer < 0)
			return answer;
		out->queries++;
		out->answers[answer]++;
	}
	return 0;
}

static int check_name(const struct choice *c, uint32_t body)
{
	struct key_name *name = &c->bodies[body].name;
	struct verdict v;
	int err = name->type[0] ? ask(c, body, name->type, &v) : 0;

	if (!err && name->type[0] && v.answers[TAGGED_DENIED])
		*name = (struct key_name){.key = WIRE_KEY_UNKNOWN};
	return err;
}

/* The only type of which all queries give this answer, or NULL. */
static const struct key_name *only(const struct job_guard *guard, const struct verdict *verdicts,
				   enum tagged_answer answer)
{
	const struct key_name *found = NULL;

	for (uint32_t i = 0; i < guard->n; i++) {
		if (!verdicts[i].queries || verdicts[i].answers[answer] != verdicts[i].queries)
			continue;
		if (found)
			return NULL;
		found = &guard->types[i];
	}
	return found;
}

static bool any_fits(const struct job_guard *guard, const struct verdict *verdicts)
{
	for (uint32_t i = 0; i < guard->n; i++)
		if (verdicts[i].answers[TAGGED_FITS])
			return true;
	return false;
}

static int choose(const struct choice *c, uint32_t body)
{
	struct body_name *b = &c->bodies[body];
	struct verdict verdicts[JOB_GUARD_TYPES];
	const struct key_name *found;

	for (uint32_t i = 0; i < b->guard.n; i++) {
		int err = ask(c, body, b->guard.types[i].type, &verdicts[i]);

		if (err)
			return err;
	}
	found = any_fits(&b->guard, verdicts) ? only(&b->guard, verdicts, TAGGED_FITS)
					      : only(&b->guard, verdicts, TAGGED_SILENT);
	if (found)
		body_name__add(b, *found);
	return 0;
}

static bool has_guards(const struct plan *plan, const struct body_name *bodies)
{
	for (uint32_t i = 0; i < plan->n_bodies; i++)
		if (bodies[i].guard.n)
			return true;
	return false;
}

int key_choice__make(struct elf_image *img, struct memory_keys *memory, const struct plan *plan,
		     struct body_name *bodies)
{
	_tagged_keys_ struct tagged_keys *tagged = NULL;
	struct choice c = {.plan = plan, .bodies = bodies};
	int err;

	if (!has_guards(plan, bodies))
		return 0;
	err = tagged_keys__new(img, memory, plan, &tagged);
	c.tagged = tagged;
	/* Known types first: they show where in the enum a key is. */
	for (uint32_t i = 0; i < plan->n_bodies && !err; i++)
		if (bodies[i].any)
			err = check_name(&c, i);
	for (uint32_t i = 0; i < plan->n_bodies && !err; i++)
		if (!bodies[i].any && bodies[i].guard.n > 1)
			err = choose(&c, i);
	return err;
}
