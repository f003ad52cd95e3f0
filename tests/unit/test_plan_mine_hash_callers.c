// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/load_callers.h"

#include "test.h"
#define LIBRARY "modes.so"
#include "../fixtures/image.h"
#include "base/array.h"

static const char *const body_names[] = {"hashes",     "first_body",  "second_body",
					 "third_body", "fourth_body", "fifth_body"};
static const char *const hashers[] = {"hashes",	       "hash_own",	     "hash_fed",
				      "hash_uncalled", "hash_lost",	     "hash_between",
				      "hash_beside",   "hash_through_others"};
#define BODIES 6
#define N      8

/* The assembled tests/fixtures/modes.s. */
static struct plan_body bodies[BODIES];
static struct mined_body mined[BODIES];
static struct plan_guard guards[N];
static struct plan_site sites[N];
static struct plan plan = {
	.bodies = bodies,
	.n_bodies = BODIES,
	.guards = guards,
	.n_guards = N,
	.sites = sites,
	.n_sites = N,
};

static int compare_bodies(const void *a, const void *b)
{
	const struct plan_body *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* Two of the functions that the body calls run its provider. */
static void fill_calls(struct mined_body *m)
{
	static const char *const names[] = {"beside", "between", "between_others"};

	for (size_t i = 0; i < N_OF(names); i++) {
		m->calls[i] = symbol(img, names[i])->addr;
		m->provides[i] = i > 0;
		m->n_calls++;
	}
}

static int setup(void **state)
{
	_owners_ struct owners owners = {0};
	uint64_t addrs[N];

	if (image_setup(state))
		return -1;
	for (uint32_t i = 0; i < BODIES; i++)
		bodies[i].addr = symbol(img, body_names[i])->addr;
	for (uint32_t i = 0; i < N; i++) {
		addrs[i] = symbol(img, hashers[i])->addr;
		guards[i] = (struct plan_guard){.kind = WIRE_KIND_HASHING};
		sites[i] = (struct plan_site){
			.addr = addrs[i],
			.role = WIRE_ROLE_GUARD,
			.guard = i,
			.body = i ? PLAN_NONE : 0,
		};
	}
	qsort(bodies, BODIES, sizeof(bodies[0]), compare_bodies);
	fill_calls(&mined[plan__body_at(&plan, symbol(img, "fifth_body")->addr)]);
	return owners__find(img, addrs, N, &owners)
		       ?: hash_callers_find(img, &plan, mined, &owners);
}

static int teardown(void **state)
{
	for (uint32_t i = 0; i < N; i++)
		free(guards[i].problem);
	return image_teardown(state);
}

TEST_CASE(hashing_in_a_body_or_for_it_is_of_its_query)
{
	/* A body hashes the result of its query. */
	assert_true(guards[0].label_of_query);
	/* So does a function that only bodies call. */
	assert_true(guards[1].label_of_query);
	assert_null(guards[1].problem);
	/* Others hash results that are fed. */
	assert_false(guards[2].label_of_query);
	assert_non_null(strstr(guards[2].problem, "not only bodies call"));
	assert_false(guards[3].label_of_query);
	/* A caller that is not known is no body. */
	assert_false(guards[4].label_of_query);
	/* What is between a body and its provider is of the body. */
	assert_true(guards[5].label_of_query);
	assert_false(guards[6].label_of_query);
	/* Another function than a body calls it, too. */
	assert_false(guards[7].label_of_query);
}

TEST_MAIN(setup, teardown)
