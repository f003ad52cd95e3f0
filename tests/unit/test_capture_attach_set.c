// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/attach_set.h"

#include "test.h"

static struct plan_body bodies[] = {
	{.group = 7}, {.group = 0, .between = PLAN_BETWEEN_MAX}, {.group = 0xfffe}};
static struct plan_query queries[] = {
	{.provider = 0x5000, .start_role = WIRE_ROLE_WRAPPER, .body_non_incr = 0, .body_incr = 1},
	{.provider = 0x100, .start_role = WIRE_ROLE_WRAPPER, .body_non_incr = 2, .body_incr = 1},
	{.provider = 0x7000, .start_role = WIRE_ROLE_START, .body_non_incr = 0, .body_incr = 1},
};
static struct plan_site sites[4];
static const struct plan plan = {
	.bodies = bodies,
	.n_bodies = 3,
	.queries = queries,
	.n_queries = 3,
	.sites = sites,
	.n_sites = 4,
};

/* The numbers that attach_set__init() would give. */
static uint32_t numbers[] = {0, 1, 2, 3};

static struct wire_site described(const struct plan *of, const struct plan_site *site, bool callers)
{
	const struct attach_set c = {
		.plan = of, .lib = 254, .callers = callers, .numbers = numbers, .first = 1000};
	struct wire_site out;

	attach_set__site(&c, site, &out);
	assert_int_equal(out.role, site->role);
	assert_int_equal(out.lib, 254);
	return out;
}

static struct wire_site site_of(struct plan_site site)
{
	sites[1] = site;
	return described(&plan, &sites[1], false);
}

TEST_CASE(sites_that_are_attached_are_numbered)
{
	const char *events = "default";
	_filter_ struct filter *filter = NULL;
	_attach_set_ struct attach_set c = {0};

	for (int i = 0; i < 4; i++)
		sites[i] = (struct plan_site){.role = WIRE_ROLE_START, .query = 0, .body = 0};
	sites[1].role = sites[3].role = WIRE_ROLE_CAUGHT;
	assert_int_equal(filter__new(&events, 1, &filter), 0);
	assert_int_equal(attach_set__init(&c, &plan, filter, 3, false), 0);
	c.first = 1000;
	assert_int_equal(c.n_sites, 2);
	assert_int_equal(attach_set__cookie(&c, &sites[1]), 1000);
	assert_int_equal(attach_set__cookie(&c, &sites[3]), 1001);
}

TEST_CASE(a_start_says_which_query_it_is)
{
	static const uint8_t roles[] = {WIRE_ROLE_START, WIRE_ROLE_START_BODY, WIRE_ROLE_WRAPPER};

	for (size_t r = 0; r < sizeof(roles); r++) {
		const struct wire_site s = site_of((struct plan_site){
			.role = roles[r], .query = 0xfffe, .body = 2, .sp_delta = -16376});

		assert_int_equal(s.query, 0xfffe);
		assert_int_equal(s.group, 0xfffe);
		assert_int_equal(s.sp_delta, -16376);
		assert_false(s.hidden);
		assert_int_equal(s.key.key, WIRE_KEY_UNKNOWN);
	}
}

TEST_CASE(a_request_says_where_it_is_and_where_its_caller_is)
{
	const struct plan_site wrapper = {.role = WIRE_ROLE_WRAPPER,
					  .query = 1,
					  .addr = 0xfedcba98,
					  .slot = PLAN_NO_SLOT,
					  .sp_delta = 400};
	struct wire_site s = site_of((struct plan_site){.role = WIRE_ROLE_REQUEST,
							.query = 0xfffe,
							.addr = 0xfedcba98,
							.body = PLAN_NONE,
							.slot = 120});

	assert_int_equal(s.query, 0xfffe);
	assert_int_equal(s.addr, 0xfedcba98);
	assert_int_equal(s.slot, 120);
	/* With callers, a wrapper at which its query starts has the same. */
	s = described(&plan, &wrapper, true);
	assert_int_equal(s.query, 1);
	assert_int_equal(s.addr, 0xfedcba98);
	assert_int_equal(s.slot, 400);
	assert_int_equal(s.group, 7);
	assert_int_equal(described(&plan, &wrapper, false).slot, WIRE_NO_SLOT);
}

/* Each mode has its distance. */
TEST_CASE(the_wrappers_of_a_query_give_the_distance_of_its_bodies)
{
	const struct attach_set c = {.plan = &plan, .callers = true};
	struct wire_wrappers w;

	memset(sites, 0, sizeof(sites));
	sites[0] = (struct plan_site){.role = WIRE_ROLE_WRAPPER, .query = 1, .body = 0};
	sites[1] = (struct plan_site){
		.role = WIRE_ROLE_REQUEST, .query = 1, .body = 1, .slot = 16, .sp_delta = -400};
	sites[2] = (struct plan_site){
		.role = WIRE_ROLE_REQUEST, .query = 2, .body = 0, .slot = 0, .sp_delta = -600};
	sites[3] = (struct plan_site){
		.role = WIRE_ROLE_REQUEST, .query = 2, .body = 1, .slot = 0, .sp_delta = -800};
	assert_true(attach_set__wrappers(&c, 1, &w));
	assert_int_equal(w.reach[0], 424);
	assert_int_equal(w.reach[1], 0);
	assert_true(attach_set__wrappers(&c, 2, &w));
	assert_int_equal(w.reach[0], 608);
	assert_int_equal(w.reach[1], 808);
	assert_int_equal(w.between[0], 0);
	assert_int_equal(w.between[1], PLAN_BETWEEN_MAX);
	assert_false(attach_set__wrappers(&c, 0, &w));
}

/* ---- Keys ------------------------------------------------------------------------------------ */

static struct plan_query keyed[] = {
	{.name = (char *)"def", .key = WIRE_KEY_DEF, .start_role = WIRE_ROLE_START, .body_incr = 1},
	{.name = (char *)"local",
	 .key = WIRE_KEY_LOCAL,
	 .start_role = WIRE_ROLE_WRAPPER,
	 .body_incr = 1},
	{.name = (char *)"unknown", .start_role = WIRE_ROLE_WRAPPER, .body_incr = 1},
	{.name = (char *)"unit",
	 .key = WIRE_KEY_UNIT,
	 .start_role = WIRE_ROLE_WRAPPER,
	 .body_incr = 1},
};

static struct plan_site keyed_site;
static const struct plan keyed_plan = {
	.bodies = bodies,
	.n_bodies = 3,
	.queries = keyed,
	.n_queries = N_OF(keyed),
	.sites = &keyed_site,
	.n_sites = 1,
};

/* Where the only site of a plan finds the key. */
static struct wire_key_place keyed_place(uint8_t role, uint32_t query, uint8_t key_reg,
					 int32_t key_slot, int32_t sp_delta)
{
	keyed_site = (struct plan_site){.role = role,
					.query = query,
					.body = 1,
					.reg = WIRE_REG_NONE,
					.slot = PLAN_NO_SLOT,
					.sp_delta = sp_delta,
					.key_reg = key_reg,
					.key_slot = key_slot};
	return described(&keyed_plan, &keyed_site, false).key;
}

static void assert_place(struct wire_key_place p, uint8_t key, uint8_t reg, uint16_t slot)
{
	assert_int_equal(p.key, key);
	assert_int_equal(p.reg, reg);
	assert_int_equal(p.slot, slot);
}

TEST_CASE(a_start_says_where_the_key_is)
{
	static const uint8_t roles[] = {WIRE_ROLE_START, WIRE_ROLE_START_BODY, WIRE_ROLE_WRAPPER};

	for (size_t i = 0; i < sizeof(roles); i++) {
		assert_place(keyed_place(roles[i], 0, WIRE_REG_CX, PLAN_NO_SLOT, -400),
			     WIRE_KEY_DEF, WIRE_REG_CX, 0);
		assert_place(keyed_place(roles[i], 1, WIRE_REG_R14, PLAN_NO_SLOT, 0),
			     WIRE_KEY_LOCAL, WIRE_REG_R14, 0);
		/* Of no known type, at no known place. */
		assert_place(keyed_place(roles[i], 2, WIRE_REG_CX, PLAN_NO_SLOT, 8),
			     WIRE_KEY_UNKNOWN, WIRE_REG_NONE, 0);
		assert_place(keyed_place(roles[i], 0, WIRE_REG_NONE, PLAN_NO_SLOT, 8),
			     WIRE_KEY_UNKNOWN, WIRE_REG_NONE, 0);
	}
}

/* A provider may be given the address of a key that its body has itself. */
TEST_CASE(a_provider_may_be_given_the_address_of_the_key)
{
	keyed[0].key_by_address = true;
	assert_place(keyed_place(WIRE_ROLE_START, 0, WIRE_REG_SI, PLAN_NO_SLOT, 8), WIRE_KEY_MEMORY,
		     WIRE_REG_SI, 0);
	assert_place(keyed_place(WIRE_ROLE_START_BODY, 0, WIRE_REG_NONE, 4, 0), WIRE_KEY_DEF,
		     WIRE_REG_NONE, 1);
	keyed[0].key_by_address = false;
}

TEST_CASE(a_body_may_have_the_key_on_its_stack)
{
	assert_place(keyed_place(WIRE_ROLE_START_BODY, 0, WIRE_REG_NONE, 0, 0), WIRE_KEY_DEF,
		     WIRE_REG_NONE, 0);
	assert_place(keyed_place(WIRE_ROLE_START_BODY, 0, WIRE_REG_NONE, PLAN_SLOT_MAX, 0),
		     WIRE_KEY_DEF, WIRE_REG_NONE, PLAN_SLOT_MAX / 4);
	/* It is counted from the sp of the body, which others do not have. */
	assert_place(keyed_place(WIRE_ROLE_START_BODY, 0, WIRE_REG_NONE, 4, 16), WIRE_KEY_UNKNOWN,
		     WIRE_REG_NONE, 0);
	assert_place(keyed_place(WIRE_ROLE_START, 0, WIRE_REG_NONE, 4, 0), WIRE_KEY_UNKNOWN,
		     WIRE_REG_NONE, 0);
	assert_place(keyed_place(WIRE_ROLE_WRAPPER, 1, WIRE_REG_NONE, 16, 8), WIRE_KEY_UNKNOWN,
		     WIRE_REG_NONE, 0);
}

static struct wire_provider identified(uint32_t query, uint8_t key_reg, int32_t key_slot)
{
	const struct attach_set c = {.plan = &keyed_plan, .numbers = numbers};
	struct wire_provider_key key;
	struct wire_provider value;

	keyed_site = (struct plan_site){.role = WIRE_ROLE_IDENTIFY,
					.body = 1,
					.reg = WIRE_REG_R14,
					.slot = PLAN_NO_SLOT,
					.key_reg = key_reg,
					.key_slot = key_slot};
	assert_true(attach_set__provider(&c, &keyed_site, query, &key, &value));
	return value;
}

/* One body, many queries: of what type the key is, differs. */
TEST_CASE(a_provider_says_where_the_key_is)
{
	struct wire_provider p = identified(1, WIRE_REG_BX, PLAN_NO_SLOT);

	assert_int_equal(p.query, 1);
	assert_place(p.key, WIRE_KEY_LOCAL, WIRE_REG_BX, 0);
	p = identified(0, WIRE_REG_NONE, PLAN_SLOT_MAX);
	assert_int_equal(p.query, WIRE_NO_QUERY);
	assert_place(p.key, WIRE_KEY_DEF, WIRE_REG_NONE, PLAN_SLOT_MAX / 4);
	p = identified(1, WIRE_REG_NONE, PLAN_NO_SLOT);
	assert_place(p.key, WIRE_KEY_UNKNOWN, WIRE_REG_NONE, 0);
	p = identified(2, WIRE_REG_BX, PLAN_NO_SLOT);
	assert_place(p.key, WIRE_KEY_UNKNOWN, WIRE_REG_NONE, 0);
}

/* Nothing would show its key. */
TEST_CASE(a_hidden_query_has_no_key)
{
	const char *events = "query-provider,-local";
	struct attach_set c = {.plan = &keyed_plan, .numbers = numbers};
	_filter_ struct filter *filter = NULL;
	struct wire_site out;

	assert_int_equal(filter__new(&events, 1, &filter), 0);
	c.filter = filter;
	keyed_place(WIRE_ROLE_START_BODY, 1, WIRE_REG_NONE, 0x14, 0);
	attach_set__site(&c, &keyed_site, &out);
	assert_true(out.hidden);
	assert_int_equal(out.key.key, WIRE_KEY_UNKNOWN);
	keyed_site.query = 0;
	attach_set__site(&c, &keyed_site, &out);
	assert_false(out.hidden);
	assert_place(out.key, WIRE_KEY_DEF, WIRE_REG_NONE, 5);
}

/* ---- Other sites ----------------------------------------------------------------------------- */

TEST_CASE(a_site_of_no_query_and_no_body_says_so)
{
	const struct wire_site s = site_of((struct plan_site){.role = WIRE_ROLE_CAUGHT,
							      .query = PLAN_NONE,
							      .body = PLAN_NONE,
							      .reg = WIRE_REG_NONE,
							      .slot = PLAN_NO_SLOT});

	assert_int_equal(s.query, WIRE_NO_QUERY);
	assert_int_equal(s.group, WIRE_NO_GROUP);
	assert_int_equal(s.sp_delta, 0);
}

static struct wire_site end_site(uint32_t body, uint8_t reg, int32_t slot)
{
	return site_of((struct plan_site){
		.role = WIRE_ROLE_END, .query = PLAN_NONE, .body = body, .reg = reg, .slot = slot});
}

TEST_CASE(an_end_says_where_the_invocation_id_is)
{
	struct wire_site s = end_site(0, WIRE_REG_R14, PLAN_NO_SLOT);

	assert_int_equal(s.group, 7);
	assert_int_equal(s.reg, WIRE_REG_R14);
	assert_int_equal(s.slot, WIRE_NO_SLOT);
	s = end_site(0, WIRE_REG_NONE, 0x54);
	assert_int_equal(s.reg, WIRE_REG_NONE);
	assert_int_equal(s.base, WIRE_REG_NONE);
	assert_int_equal(s.slot, 0x54);
}

TEST_CASE(an_end_says_how_far_below_its_start_may_be)
{
	assert_int_equal(end_site(1, 0, PLAN_NO_SLOT).between, PLAN_BETWEEN_MAX);
	assert_int_equal(end_site(0, 0, PLAN_NO_SLOT).between, 0);
	/* That of a trial is in no body. */
	assert_int_equal(end_site(PLAN_NONE, 0, PLAN_NO_SLOT).between, 0);
}

TEST_CASE(a_hit_says_where_the_invocation_id_is)
{
	const struct attach_set c = {.plan = &plan, .lib = 3};
	const struct plan_hit hit = {.reg = WIRE_REG_NONE, .base = WIRE_REG_BX, .disp = 0x4c};
	struct wire_site s;

	attach_set__hit(&c, &hit, &s);
	assert_int_equal(s.role, WIRE_ROLE_HIT);
	assert_int_equal(s.lib, 3);
	assert_int_equal(s.reg, WIRE_REG_NONE);
	assert_int_equal(s.base, WIRE_REG_BX);
	assert_int_equal(s.slot, 0x4c);
}

TEST_CASE(a_feed_says_where_it_is_among_the_results)
{
	struct plan_site site = {.role = WIRE_ROLE_DROP,
				 .query = 0,
				 .reg = WIRE_REG_NONE,
				 .result_reg = WIRE_REG_CX,
				 .result_shift = 32};
	struct wire_site s = site_of(site);

	assert_int_equal(s.moment, 0);
	assert_int_equal(s.base, WIRE_REG_CX);
	assert_int_equal(s.shift, 32);
	site.query = PLAN_NONE;
	s = site_of(site);
	assert_int_not_equal(s.moment, 0);
	assert_int_equal(s.base, WIRE_REG_NONE);
}

TEST_CASE(identify_says_where_the_vtable_is_and_what_is_in_it)
{
	struct plan_site site = {.role = WIRE_ROLE_IDENTIFY,
				 .query = PLAN_NONE,
				 .body = 1,
				 .reg = WIRE_REG_R12,
				 .slot = PLAN_NO_SLOT,
				 .vtable_offset = PLAN_VTABLE_MAX};
	struct wire_site s = site_of(site);

	assert_int_equal(s.reg, WIRE_REG_R12);
	assert_int_equal(s.offset, PLAN_VTABLE_MAX);
	assert_false(s.numbered);
	site.reg = WIRE_REG_NONE;
	site.slot = 0;
	plan.queries[0].number = 7;
	s = site_of(site);
	plan.queries[0].number = 0;
	assert_int_equal(s.reg, WIRE_REG_NONE);
	assert_int_equal(s.slot, 0);
	assert_true(s.numbered);
}

static bool provider_at(uint32_t at, uint32_t query, struct wire_provider_key *key,
			struct wire_provider *value)
{
	const struct attach_set c = {.plan = &plan, .numbers = numbers, .first = 1000};

	return attach_set__provider(&c, &sites[at], query, key, value);
}

TEST_CASE(a_query_with_a_number_is_found_by_it)
{
	struct wire_provider_key key;
	struct wire_provider value;

	plan.queries[0].number = 7;
	plan.queries[0].start_role = WIRE_ROLE_START_BODY;
	sites[2] = (struct plan_site){.role = WIRE_ROLE_IDENTIFY, .body = 1, .addr = 0x4ff0};
	assert_true(provider_at(2, 0, &key, &value));
	assert_int_equal(key.distance, 7);
	/* Where such a site is, there is no other start. */
	assert_int_equal(value.query, 0);
	plan.queries[0].number = 0;
	plan.queries[0].start_role = WIRE_ROLE_WRAPPER;
}

TEST_CASE(providers_are_found_by_their_distance)
{
	struct wire_provider_key key;
	struct wire_provider value;

	sites[2] = (struct plan_site){.role = WIRE_ROLE_IDENTIFY, .body = 1, .addr = 0x4ff0};
	assert_true(provider_at(2, 0, &key, &value));
	assert_int_equal(key.distance, 0x10);
	assert_int_equal(key.site, 1002);
	assert_int_equal(value.query, 0);
	assert_int_equal(value.group, 0);
	/* For a provider below the site the distance wraps, as in the kernel half. */
	assert_true(provider_at(2, 1, &key, &value));
	assert_int_equal(key.distance, (uint32_t)(0x100 - 0x4ff0));
	assert_int_equal(value.query, 1);
	/* A query with its own start site is known, but is not started again. */
	assert_true(provider_at(2, 2, &key, &value));
	assert_int_equal(key.distance, 0x7000 - 0x4ff0);
	assert_int_equal(value.query, WIRE_NO_QUERY);
}

TEST_CASE(a_body_serves_its_own_queries_only)
{
	struct wire_provider_key key;
	struct wire_provider value;

	sites[1] = (struct plan_site){.role = WIRE_ROLE_IDENTIFY, .body = 2, .addr = 0x10};
	assert_false(provider_at(1, 0, &key, &value));
	assert_true(provider_at(1, 1, &key, &value));
	assert_int_equal(value.group, 0xfffe);
	assert_false(provider_at(1, 2, &key, &value));
}

TEST_MAIN(NULL, NULL)
