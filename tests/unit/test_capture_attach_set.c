// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/attach_set.h"

#include "test.h"
#include "../fixtures/random.h"

/* The limits of the offsets in a cookie, in bytes. */
#define SP_DELTA_LEAST (-8 * 2048)
#define SP_DELTA_MOST  (8 * 2047)
#define VTABLE_MOST    (8 * 4095)
#define ID_SLOT_MOST   (4 * 65534)
#define VT_SLOT_MOST   (8 * 65534)

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

static uint64_t cookie_at(uint32_t at, uint8_t lib, bool callers)
{
	struct attach_set c = {.plan = &plan, .lib = lib, .callers = callers};

	return attach_set__cookie(&c, &sites[at]);
}

static uint64_t cookie_of(struct plan_site site, uint32_t at, uint8_t lib)
{
	sites[at] = site;
	return cookie_at(at, lib, false);
}

static void every_field_comes_back(void **state)
{
	static const uint8_t roles[] = {WIRE_ROLE_START, WIRE_ROLE_START_BODY, WIRE_ROLE_WRAPPER};
	static const int deltas[] = {0, 8, -8, 16, 400, SP_DELTA_LEAST, SP_DELTA_MOST};

	for (size_t r = 0; r < sizeof(roles); r++)
		for (size_t d = 0; d < N_OF(deltas); d++) {
			uint64_t c = cookie_of((struct plan_site){.role = roles[r],
								  .query = 0xfffe,
								  .body = 2,
								  .reg = WIRE_REG_NONE,
								  .slot = PLAN_NO_SLOT,
								  .sp_delta = deltas[d]},
					       1, 254);

			assert_int_equal(wire_cookie_role(c), roles[r]);
			assert_int_equal(wire_cookie_lib(c), 254);
			assert_int_equal(wire_cookie_query(c), 0xfffe);
			assert_int_equal(wire_cookie_group(c), 0xfffe);
			assert_int_equal(wire_cookie_reg(c), WIRE_REG_NONE);
			assert_int_equal(wire_cookie_sp_delta(c), deltas[d]);
		}
}

static void the_fields_do_not_touch(void **state)
{
	struct rng rng = rng_new();

	for (int i = 0; i < 10000; i++) {
		uint32_t role = rng_below(&rng, 16), lib = rng_below(&rng, 256);
		uint32_t query = rng_below(&rng, 65536), group = rng_below(&rng, 65536);
		uint32_t reg = rng_below(&rng, 256);
		int delta = 8 * ((int)rng_below(&rng, 4096) - 2048);
		uint64_t c = wire_cookie(role, lib, query, group, reg, delta);

		assert_int_equal(wire_cookie_role(c), role);
		assert_int_equal(wire_cookie_lib(c), lib);
		assert_int_equal(wire_cookie_query(c), query);
		assert_int_equal(wire_cookie_group(c), group);
		assert_int_equal(wire_cookie_reg(c), reg);
		assert_int_equal(wire_cookie_sp_delta(c), delta);
	}
}

static void a_request_says_where_it_is_and_where_its_caller_is(void **state)
{
	struct plan_site request = {.role = WIRE_ROLE_REQUEST,
				    .query = 0xfffe,
				    .addr = 0xfedcba98,
				    .body = PLAN_NONE,
				    .slot = 8 * 15};
	struct plan_site wrapper = {.role = WIRE_ROLE_WRAPPER,
				    .query = 0xfffe,
				    .addr = 0xfedcba98,
				    .slot = PLAN_NO_SLOT,
				    .sp_delta = 8 * 15};
	uint64_t c = cookie_of(request, 1, 254);

	assert_int_equal(wire_cookie_role(c), WIRE_ROLE_REQUEST);
	assert_int_equal(wire_cookie_lib(c), 254);
	assert_int_equal(wire_cookie_query(c), 0xfffe);
	assert_int_equal(wire_cookie_request_addr(c), 0xfedcba98);
	assert_int_equal(wire_cookie_request_slot(c), 15);
	/* A wrapper at which its query starts has the same fields, but only with callers. */
	sites[2] = wrapper;
	c = cookie_at(2, 254, true);
	assert_int_equal(wire_cookie_role(c), WIRE_ROLE_WRAPPER);
	assert_int_equal(wire_cookie_lib(c), 254);
	assert_int_equal(wire_cookie_query(c), 0xfffe);
	assert_int_equal(wire_cookie_request_addr(c), 0xfedcba98);
	assert_int_equal(wire_cookie_request_slot(c), 15);
	assert_int_equal(wire_cookie_sp_delta(cookie_at(2, 254, false)), 8 * 15);
}

static bool wrappers_of(uint32_t query, struct wire_wrappers *w)
{
	struct attach_set c = {.plan = &plan, .callers = true};

	return attach_set__wrappers(&c, query, w);
}

/* Each mode has its distance. Only a query that starts at its wrapper has a group. */
static void the_wrappers_of_a_query_give_the_distance_of_its_bodies(void **state)
{
	struct wire_wrappers w;

	memset(sites, 0, sizeof(sites));
	sites[0] = (struct plan_site){.role = WIRE_ROLE_WRAPPER, .query = 1, .body = 0};
	sites[1] = (struct plan_site){
		.role = WIRE_ROLE_REQUEST, .query = 1, .body = 1, .slot = 16, .sp_delta = -400};
	sites[2] = (struct plan_site){
		.role = WIRE_ROLE_REQUEST, .query = 2, .body = 0, .slot = 0, .sp_delta = -600};
	sites[3] = (struct plan_site){
		.role = WIRE_ROLE_REQUEST, .query = 2, .body = 1, .slot = 0, .sp_delta = -800};
	assert_true(wrappers_of(1, &w));
	assert_int_equal(w.group, 7);
	assert_int_equal(w.reach[0], 424);
	assert_int_equal(w.reach[1], 0);
	assert_true(wrappers_of(2, &w));
	assert_int_equal(w.group, WIRE_NO_GROUP);
	assert_int_equal(w.reach[0], 608);
	assert_int_equal(w.reach[1], 808);
	assert_int_equal(w.between[0], 0);
	assert_int_equal(w.between[1], PLAN_BETWEEN_MAX);
	assert_false(wrappers_of(0, &w));
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

/* The cookie of the only site of a plan. */
static uint64_t keyed_cookie(uint8_t role, uint32_t query, uint8_t key_reg, int32_t key_slot,
			     int32_t sp_delta)
{
	const struct attach_set c = {.plan = &keyed_plan};

	keyed_site = (struct plan_site){.role = role,
					.query = query,
					.body = 1,
					.reg = WIRE_REG_NONE,
					.slot = PLAN_NO_SLOT,
					.sp_delta = sp_delta,
					.key_reg = key_reg,
					.key_slot = key_slot};
	return attach_set__cookie(&c, &keyed_site);
}

static void a_start_says_where_the_key_is(void **state)
{
	static const uint8_t roles[] = {WIRE_ROLE_START, WIRE_ROLE_START_BODY, WIRE_ROLE_WRAPPER};
	uint64_t c;

	for (size_t i = 0; i < sizeof(roles); i++) {
		c = keyed_cookie(roles[i], 0, WIRE_REG_CX, PLAN_NO_SLOT, -400);
		assert_int_equal(wire_cookie_reg(c), wire_key_place(WIRE_KEY_DEF, WIRE_REG_CX));
		assert_int_equal(wire_cookie_sp_delta(c), -400);
		assert_int_equal(wire_cookie_group(c), 0);
		c = keyed_cookie(roles[i], 1, WIRE_REG_R14, PLAN_NO_SLOT, 0);
		assert_int_equal(wire_cookie_reg(c), wire_key_place(WIRE_KEY_LOCAL, WIRE_REG_R14));
		/* Of no known type, at no known place. */
		c = keyed_cookie(roles[i], 2, WIRE_REG_CX, PLAN_NO_SLOT, 8);
		assert_int_equal(wire_cookie_reg(c), WIRE_REG_NONE);
		c = keyed_cookie(roles[i], 0, WIRE_REG_NONE, PLAN_NO_SLOT, 8);
		assert_int_equal(wire_cookie_reg(c), WIRE_REG_NONE);
		assert_int_equal(wire_cookie_sp_delta(c), 8);
	}
}

/* A provider may be given the address of a key that its body has itself. */
static void a_provider_may_be_given_the_address_of_the_key(void **state)
{
	uint64_t c;

	keyed[0].key_by_address = true;
	c = keyed_cookie(WIRE_ROLE_START, 0, WIRE_REG_SI, PLAN_NO_SLOT, 8);
	assert_int_equal(wire_cookie_reg(c), wire_key_place(WIRE_KEY_MEMORY, WIRE_REG_SI));
	c = keyed_cookie(WIRE_ROLE_START_BODY, 0, WIRE_REG_NONE, 4, 0);
	assert_int_equal(wire_cookie_reg(c), wire_key_place(WIRE_KEY_DEF, WIRE_KEY_ON_STACK));
	keyed[0].key_by_address = false;
}

/* The slot takes the place of a distance that is 0 there. */
static void a_body_may_have_the_key_on_its_stack(void **state)
{
	static const int32_t slots[] = {0, 4, 0x14, 4 * 2047, 4 * 2048, 4 * 4095};
	uint64_t c;

	for (size_t i = 0; i < N_OF(slots); i++) {
		c = keyed_cookie(WIRE_ROLE_START_BODY, 0, WIRE_REG_NONE, slots[i], 0);
		assert_int_equal(wire_cookie_reg(c),
				 wire_key_place(WIRE_KEY_DEF, WIRE_KEY_ON_STACK));
		assert_int_equal(4 * wire_cookie_key_slot(c), slots[i]);
		assert_int_equal(wire_cookie_query(c), 0);
	}
	/* No room: the key is unknown, and the distance stays. */
	c = keyed_cookie(WIRE_ROLE_START_BODY, 0, WIRE_REG_NONE, 4 * 4096, 0);
	assert_int_equal(wire_cookie_reg(c), WIRE_REG_NONE);
	assert_int_equal(wire_cookie_sp_delta(c), 0);
	c = keyed_cookie(WIRE_ROLE_START_BODY, 0, WIRE_REG_NONE, 4, 16);
	assert_int_equal(wire_cookie_reg(c), WIRE_REG_NONE);
	assert_int_equal(wire_cookie_sp_delta(c), 16);
	c = keyed_cookie(WIRE_ROLE_START, 0, WIRE_REG_NONE, 4, 0);
	assert_int_equal(wire_cookie_reg(c), WIRE_REG_NONE);
	assert_int_equal(wire_cookie_sp_delta(c), 0);
}

static struct wire_provider identified(uint32_t query, uint8_t key_reg, int32_t key_slot)
{
	const struct attach_set c = {.plan = &keyed_plan};
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
static void a_provider_says_where_the_key_is(void **state)
{
	struct wire_provider p = identified(1, WIRE_REG_BX, PLAN_NO_SLOT);

	assert_int_equal(p.query, 1);
	assert_int_equal(p.key, wire_key_place(WIRE_KEY_LOCAL, WIRE_REG_BX));
	assert_int_equal(p.slot, 0);
	p = identified(0, WIRE_REG_NONE, 4 * 65535);
	assert_int_equal(p.query, WIRE_NO_QUERY);
	assert_int_equal(p.key, wire_key_place(WIRE_KEY_DEF, WIRE_KEY_ON_STACK));
	assert_int_equal(p.slot, 65535);
	p = identified(1, WIRE_REG_NONE, 0);
	assert_int_equal(p.key, wire_key_place(WIRE_KEY_LOCAL, WIRE_KEY_ON_STACK));
	assert_int_equal(p.slot, 0);
	assert_int_equal(identified(1, WIRE_REG_NONE, 4 * 65536).key, WIRE_REG_NONE);
	assert_int_equal(identified(1, WIRE_REG_NONE, PLAN_NO_SLOT).key, WIRE_REG_NONE);
	assert_int_equal(identified(2, WIRE_REG_BX, PLAN_NO_SLOT).key, WIRE_REG_NONE);
	/* There is nothing to read of (), and no probe does. */
	p = identified(3, WIRE_REG_NONE, PLAN_NO_SLOT);
	assert_int_equal(p.key, WIRE_REG_NONE);
}

/* With callers, the cookie of a wrapper has no room for it: it is in the table. */
static void a_wrapper_with_callers_has_the_key_in_the_table(void **state)
{
	const struct attach_set c = {.plan = &keyed_plan, .callers = true};
	struct wire_wrappers w;

	keyed_cookie(WIRE_ROLE_WRAPPER, 1, WIRE_REG_DX, PLAN_NO_SLOT, 8);
	assert_true(attach_set__wrappers(&c, 1, &w));
	assert_int_equal(w.key, wire_key_place(WIRE_KEY_LOCAL, WIRE_REG_DX));
	assert_int_equal(w.group, 0);
	assert_false(w.hidden);
	/* It has no sp of the body, which a slot would be counted from. */
	keyed_cookie(WIRE_ROLE_WRAPPER, 1, WIRE_REG_NONE, 16, 8);
	assert_true(attach_set__wrappers(&c, 1, &w));
	assert_int_equal(w.key, WIRE_REG_NONE);
	keyed_cookie(WIRE_ROLE_REQUEST, 1, WIRE_REG_DX, PLAN_NO_SLOT, 8);
	assert_true(attach_set__wrappers(&c, 1, &w));
	assert_int_equal(w.key, WIRE_REG_NONE);
}

/* A hidden query says so in place of a key, which nothing would show. */
static void a_hidden_query_has_no_key(void **state)
{
	const char *events = "query-provider,-local";
	struct attach_set c = {.plan = &keyed_plan, .callers = true};
	_filter_ struct filter *filter = NULL;
	struct wire_wrappers w;
	uint64_t cookie;

	assert_int_equal(filter__new(&events, 1, &filter), 0);
	c.filter = filter;
	keyed_cookie(WIRE_ROLE_START_BODY, 1, WIRE_REG_NONE, 0x14, 0);
	cookie = attach_set__cookie(&c, &keyed_site);
	assert_int_equal(wire_cookie_reg(cookie), WIRE_HIDDEN);
	assert_int_equal(wire_cookie_sp_delta(cookie), 0);
	keyed_site.query = 0;
	cookie = attach_set__cookie(&c, &keyed_site);
	assert_int_equal(wire_cookie_reg(cookie), wire_key_place(WIRE_KEY_DEF, WIRE_KEY_ON_STACK));
	keyed_cookie(WIRE_ROLE_WRAPPER, 1, WIRE_REG_DX, PLAN_NO_SLOT, 8);
	assert_true(attach_set__wrappers(&c, 1, &w));
	assert_true(w.hidden);
}

static void no_key_place_is_taken_for_another_mark(void **state)
{
	for (uint32_t key = WIRE_KEY_UNKNOWN + 1; key < WIRE_KEY_MAX; key++)
		for (uint32_t reg = 0; reg <= WIRE_KEY_ON_STACK; reg++) {
			assert_in_range(wire_key_place(key, reg), 16, WIRE_HIDDEN - 1);
			assert_int_equal(wire_key_place(key, reg) >> 4, key);
		}
}

static void a_site_of_no_query_and_no_body_says_so(void **state)
{
	uint64_t c = cookie_of((struct plan_site){.role = WIRE_ROLE_CAUGHT,
						  .query = PLAN_NONE,
						  .body = PLAN_NONE,
						  .reg = WIRE_REG_NONE,
						  .slot = PLAN_NO_SLOT},
			       0, 0);

	assert_int_equal(wire_cookie_role(c), WIRE_ROLE_CAUGHT);
	assert_int_equal(wire_cookie_query(c), WIRE_NO_QUERY);
	assert_int_equal(wire_cookie_group(c), WIRE_NO_GROUP);
	assert_int_equal(wire_cookie_sp_delta(c), 0);
}

static uint64_t end_cookie(uint8_t reg, int32_t slot)
{
	return cookie_of((struct plan_site){.role = WIRE_ROLE_END,
					    .query = PLAN_NONE,
					    .body = 0,
					    .reg = reg,
					    .slot = slot},
			 3, 9);
}

static void an_end_says_where_the_invocation_id_is(void **state)
{
	uint64_t c = end_cookie(WIRE_REG_R14, PLAN_NO_SLOT);

	assert_int_equal(wire_cookie_role(c), WIRE_ROLE_END);
	assert_int_equal(wire_cookie_group(c), 7);
	assert_int_equal(wire_cookie_reg(c), WIRE_REG_R14);
	assert_int_equal(wire_cookie_query(c), WIRE_NO_SLOT);
	c = end_cookie(WIRE_REG_NONE, 0);
	assert_int_equal(wire_cookie_reg(c), WIRE_REG_NONE);
	assert_int_equal(4 * wire_cookie_query(c), 0);
	assert_int_equal(4 * wire_cookie_query(end_cookie(WIRE_REG_NONE, 0x54)), 0x54);
	assert_int_equal(4 * wire_cookie_query(end_cookie(WIRE_REG_NONE, ID_SLOT_MOST)),
			 ID_SLOT_MOST);
	c = end_cookie(WIRE_REG_NONE, PLAN_NO_SLOT);
	assert_int_equal(wire_cookie_reg(c), WIRE_REG_NONE);
	assert_int_equal(wire_cookie_query(c), WIRE_NO_SLOT);
}

static void an_end_says_how_far_below_its_start_may_be(void **state)
{
	struct plan_site site = {.role = WIRE_ROLE_END, .slot = PLAN_NO_SLOT, .body = 1};

	assert_int_equal(wire_cookie_sp_delta(cookie_of(site, 3, 9)), PLAN_BETWEEN_MAX);
	site.body = 0;
	assert_int_equal(wire_cookie_sp_delta(cookie_of(site, 3, 9)), 0);
	/* That of a trial is in no body. */
	site.body = PLAN_NONE;
	assert_int_equal(wire_cookie_sp_delta(cookie_of(site, 3, 9)), 0);
}

static uint64_t identify_cookie(uint8_t reg, int32_t slot, int32_t vtable_offset)
{
	return cookie_of((struct plan_site){.role = WIRE_ROLE_IDENTIFY,
					    .query = PLAN_NONE,
					    .body = 1,
					    .reg = reg,
					    .slot = slot,
					    .vtable_offset = vtable_offset},
			 2, 255);
}

static void identify_says_where_the_vtable_is_and_what_is_in_it(void **state)
{
	static const int offsets[] = {0, 8, 0x18, 8 * 2047, 8 * 2048, VTABLE_MOST};
	uint64_t c;

	for (size_t i = 0; i < N_OF(offsets); i++) {
		c = identify_cookie(WIRE_REG_R12, PLAN_NO_SLOT, offsets[i]);
		assert_int_equal(wire_cookie_role(c), WIRE_ROLE_IDENTIFY);
		assert_int_equal(wire_cookie_lib(c), 255);
		assert_int_equal(wire_cookie_query(c), 2); /* the site's number */
		assert_int_equal(wire_cookie_reg(c), WIRE_REG_R12);
		assert_int_equal(wire_cookie_vtable_offset(c), offsets[i]);
		c = identify_cookie(WIRE_REG_NONE, VT_SLOT_MOST, offsets[i]);
		assert_int_equal(wire_cookie_reg(c), WIRE_REG_NONE);
		assert_int_equal(8 * wire_cookie_group(c), VT_SLOT_MOST);
		assert_int_equal(wire_cookie_vtable_offset(c), offsets[i]);
	}
	c = identify_cookie(WIRE_REG_NONE, 0, 8);
	assert_int_equal(wire_cookie_group(c), 0);
}

static void identify_says_that_a_number_is_there(void **state)
{
	uint64_t c;

	plan.queries[0].number = 7;
	c = identify_cookie(WIRE_REG_R12, PLAN_NO_SLOT, 0x20);
	assert_int_equal(wire_cookie_reg(c), WIRE_NUMBERED | WIRE_REG_R12);
	assert_int_equal(wire_cookie_vtable_offset(c), 0x20);
	c = identify_cookie(WIRE_REG_NONE, VT_SLOT_MOST, 0x20);
	assert_int_equal(wire_cookie_reg(c), wire_numbered(WIRE_REG_NONE));
	assert_int_not_equal(wire_cookie_reg(c), WIRE_REG_NONE);
	assert_int_equal(8 * wire_cookie_group(c), VT_SLOT_MOST);
	plan.queries[0].number = 0;
}

static bool provider_at(uint32_t at, uint32_t query, uint8_t lib, struct wire_provider_key *key,
			struct wire_provider *value)
{
	struct attach_set c = {.plan = &plan, .lib = lib};

	return attach_set__provider(&c, &sites[at], query, key, value);
}

static void a_query_with_a_number_is_found_by_it(void **state)
{
	struct wire_provider_key key;
	struct wire_provider value;

	plan.queries[0].number = 7;
	plan.queries[0].start_role = WIRE_ROLE_START_BODY;
	sites[2] = (struct plan_site){.role = WIRE_ROLE_IDENTIFY, .body = 1, .addr = 0x4ff0};
	assert_true(provider_at(2, 0, 3, &key, &value));
	assert_int_equal(key.distance, 7);
	/* Where such a site is, there is no other start. */
	assert_int_equal(value.query, 0);
	plan.queries[0].number = 0;
	plan.queries[0].start_role = WIRE_ROLE_WRAPPER;
}

static void providers_are_found_by_their_distance(void **state)
{
	struct wire_provider_key key;
	struct wire_provider value;

	sites[2] = (struct plan_site){.role = WIRE_ROLE_IDENTIFY, .body = 1, .addr = 0x4ff0};
	assert_true(provider_at(2, 0, 3, &key, &value));
	assert_int_equal(key.distance, 0x10);
	assert_int_equal(key.site, 2);
	assert_int_equal(key.lib, 3);
	assert_int_equal(value.query, 0);
	assert_int_equal(value.group, 0);
	/* For a provider below the site the distance wraps, as in the kernel half. */
	assert_true(provider_at(2, 1, 3, &key, &value));
	assert_int_equal(key.distance, (uint32_t)(0x100 - 0x4ff0));
	assert_int_equal(value.query, 1);
	/* A query with its own start site is known, but is not started again. */
	assert_true(provider_at(2, 2, 3, &key, &value));
	assert_int_equal(key.distance, 0x7000 - 0x4ff0);
	assert_int_equal(value.query, WIRE_NO_QUERY);
}

static void a_body_serves_its_own_queries_only(void **state)
{
	struct wire_provider_key key;
	struct wire_provider value;

	sites[1] = (struct plan_site){.role = WIRE_ROLE_IDENTIFY, .body = 2, .addr = 0x10};
	assert_false(provider_at(1, 0, 0, &key, &value));
	assert_true(provider_at(1, 1, 0, &key, &value));
	assert_int_equal(value.group, 0xfffe);
	assert_false(provider_at(1, 2, 0, &key, &value));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_field_comes_back),
		cmocka_unit_test(the_fields_do_not_touch),
		cmocka_unit_test(a_request_says_where_it_is_and_where_its_caller_is),
		cmocka_unit_test(the_wrappers_of_a_query_give_the_distance_of_its_bodies),
		cmocka_unit_test(a_start_says_where_the_key_is),
		cmocka_unit_test(a_provider_may_be_given_the_address_of_the_key),
		cmocka_unit_test(a_body_may_have_the_key_on_its_stack),
		cmocka_unit_test(a_provider_says_where_the_key_is),
		cmocka_unit_test(a_wrapper_with_callers_has_the_key_in_the_table),
		cmocka_unit_test(a_hidden_query_has_no_key),
		cmocka_unit_test(no_key_place_is_taken_for_another_mark),
		cmocka_unit_test(a_site_of_no_query_and_no_body_says_so),
		cmocka_unit_test(an_end_says_where_the_invocation_id_is),
		cmocka_unit_test(an_end_says_how_far_below_its_start_may_be),
		cmocka_unit_test(identify_says_where_the_vtable_is_and_what_is_in_it),
		cmocka_unit_test(identify_says_that_a_number_is_there),
		cmocka_unit_test(providers_are_found_by_their_distance),
		cmocka_unit_test(a_query_with_a_number_is_found_by_it),
		cmocka_unit_test(a_body_serves_its_own_queries_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
