// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/key_types.h"

#include "test.h"
#include "../fixtures/fixture_dir.h"
#include "../fixtures/library.h"
#include "base/array.h"

/* Bodies, and the queries that they serve. */
enum body { KNOWN, WRONG, LOCAL, CRATE, MIXED, NO_QUERY, OPEN, UNGUARDED, BODIES };

static struct plan_query queries[] = {
	{.name = (char *)"def", .body_non_incr = KNOWN, .body_incr = PLAN_NONE},
	{.name = (char *)"pair", .body_non_incr = WRONG, .body_incr = PLAN_NONE},
	{.name = (char *)"local", .body_non_incr = LOCAL, .body_incr = MIXED},
	{.name = (char *)"silent", .body_non_incr = CRATE, .body_incr = MIXED},
	{.name = (char *)"both", .body_non_incr = OPEN, .body_incr = UNGUARDED},
};
static struct plan_body plan_bodies[BODIES];
static const struct plan plan = {
	.queries = queries,
	.n_queries = N_OF(queries),
	.bodies = plan_bodies,
	.n_bodies = BODIES,
};

#define TYPE(t, k)                  \
	{                           \
		.type = t, .key = k \
	}
static const struct key_name def = TYPE("DefId", WIRE_KEY_DEF);
static const struct job_guard def_guard = {{TYPE("DefId", WIRE_KEY_DEF)}, 1};
static const struct job_guard local_or_crate = {
	{TYPE("LocalDefId", WIRE_KEY_LOCAL), TYPE("CrateNum", WIRE_KEY_CRATE)}, 2};

static void make(const char *library, struct body_name bodies[BODIES])
{
	_elf_image_ struct elf_image *img = NULL;
	_code_decoder_ struct code_decoder *decoder = NULL;
	_memory_keys_ struct memory_keys *memory = NULL;

	for (uint32_t i = 0; i < BODIES; i++)
		bodies[i] = (struct body_name){.guard = local_or_crate};
	bodies[KNOWN] = bodies[WRONG] =
		(struct body_name){.any = true, .name = def, .guard = def_guard};
	bodies[UNGUARDED].guard.n = 0;
	assert_int_equal(image_of(fixture(library), &img), 0);
	assert_int_equal(code_decoder__new(img, &decoder), 0);
	assert_int_equal(memory_keys__new(img, decoder, &memory), 0);
	assert_int_equal(key_choice__make(img, memory, &plan, bodies), 0);
}

/* Of the assembled tests/fixtures/memory_keys.s. */
static void assert_type(enum body body, const char *type, enum wire_key key)
{
	struct body_name bodies[BODIES];

	make("memory_keys.so", bodies);
	assert_string_equal(bodies[body].name.type, type);
	assert_int_equal(bodies[body].name.key, key);
	assert_int_equal(bodies[body].any, type[0] || body == WRONG);
}

TEST_CASE(a_type_that_fits_stays)
{
	assert_type(KNOWN, "DefId", WIRE_KEY_DEF);
}

TEST_CASE(a_type_that_is_denied_goes)
{
	assert_type(WRONG, "", WIRE_KEY_UNKNOWN);
}

TEST_CASE(the_type_is_taken_that_is_asked_in_the_same_way)
{
	assert_type(LOCAL, "LocalDefId", WIRE_KEY_LOCAL);
}

TEST_CASE(a_key_that_is_asked_nothing_is_of_a_type_that_is_asked_nothing)
{
	assert_type(CRATE, "CrateNum", WIRE_KEY_CRATE);
}

TEST_CASE(all_queries_of_a_body_must_agree)
{
	assert_type(MIXED, "", WIRE_KEY_UNKNOWN);
}

TEST_CASE(what_nothing_shows_stays_open)
{
	assert_type(NO_QUERY, "", WIRE_KEY_UNKNOWN);
	assert_type(OPEN, "", WIRE_KEY_UNKNOWN);
	assert_type(UNGUARDED, "", WIRE_KEY_UNKNOWN);
}

TEST_CASE(without_the_enum_nothing_changes)
{
	struct body_name bodies[BODIES];

	make("job_guards.so", bodies);
	assert_string_equal(bodies[WRONG].name.type, "DefId");
	assert_false(bodies[LOCAL].any);
	assert_false(bodies[CRATE].any);
}

TEST_MAIN(fixture_dir_setup, fixture_dir_teardown)
