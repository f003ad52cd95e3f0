// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Guards, and plans with a filter. */
#include "capture/attach_set.h"

#include "test.h"
#include "../fixtures/rows.h"

static struct plan_body bodies[] = {
	{.group = 7}, {.group = 0, .between = PLAN_BETWEEN_MAX}, {.group = 0xfffe}};
static struct plan_query named[] = {
	{.name = (char *)"alpha", .start_role = WIRE_ROLE_START, .body_incr = 0},
	{.name = (char *)"beta", .start_role = WIRE_ROLE_WRAPPER, .body_incr = 0},
};

enum { PHASE, TINY, DYNAMIC, LOADING, WAITING, HASHES, SHARED, N_GUARDS };

static struct plan_guard guards[N_GUARDS] = {
	[PHASE] = {.label = (char *)"phase", .kind = WIRE_KIND_ACTIVITY, .scope = 9, .number = 1},
	[TINY] = {.label = (char *)"metadata_decode_x",
		  .kind = WIRE_KIND_ACTIVITY,
		  .scope = 9,
		  .number = 2},
	[DYNAMIC] = {.kind = WIRE_KIND_ACTIVITY, .scope = 10, .number = 1, .label_slot = 0x48},
	[LOADING] = {.kind = WIRE_KIND_LOAD, .scope = 7, .number = 1, .label_of_query = true},
	[WAITING] = {.kind = WIRE_KIND_BLOCKED, .scope = 7, .number = 2, .label_of_query = true},
	[HASHES] = {.kind = WIRE_KIND_HASHING, .scope = 7, .number = 3, .label_of_query = true},
	[SHARED] = {.label = (char *)"other", .kind = WIRE_KIND_ACTIVITY, .scope = 9, .number = 2},
};

enum {
	AT_START,
	AT_CAUGHT,
	AT_PHASE,
	AT_TINY,
	AT_DYNAMIC,
	AT_WAITING,
	AT_HASHES,
	AT_SHARED,
	AT_LOADING,
	AT_PHASE_END,
	AT_SHARED_END,
	AT_TIMER,
	N_SITES,
};

#define SITE(r, q, g)                                                                     \
	{                                                                                 \
		.role = (r), .query = (q), .guard = (g), .body = 0, .reg = WIRE_REG_NONE, \
		.slot = PLAN_NO_SLOT                                                      \
	}

static struct plan_site filtered_sites[N_SITES] = {
	[AT_START] = SITE(WIRE_ROLE_START, 0, PLAN_NONE),
	[AT_CAUGHT] = SITE(WIRE_ROLE_CAUGHT, PLAN_NONE, PLAN_NONE),
	[AT_PHASE] = SITE(WIRE_ROLE_GUARD, PLAN_NONE, PHASE),
	[AT_TINY] = SITE(WIRE_ROLE_GUARD, PLAN_NONE, TINY),
	[AT_DYNAMIC] = SITE(WIRE_ROLE_GUARD, PLAN_NONE, DYNAMIC),
	[AT_WAITING] = SITE(WIRE_ROLE_GUARD, 1, WAITING),
	[AT_HASHES] = SITE(WIRE_ROLE_GUARD, PLAN_NONE, HASHES),
	[AT_SHARED] = SITE(WIRE_ROLE_GUARD, PLAN_NONE, SHARED),
	[AT_LOADING] = SITE(WIRE_ROLE_GUARD_QUERY, PLAN_NONE, LOADING),
	[AT_PHASE_END] = SITE(WIRE_ROLE_GUARD_END, PLAN_NONE, PHASE),
	[AT_SHARED_END] = SITE(WIRE_ROLE_GUARD_END, PLAN_NONE, TINY),
	[AT_TIMER] = SITE(WIRE_ROLE_TIMER, PLAN_NONE, PLAN_NONE),
};

static const struct plan filtered = {
	.bodies = bodies,
	.n_bodies = 3,
	.queries = named,
	.n_queries = 2,
	.guards = guards,
	.n_guards = N_GUARDS,
	.sites = filtered_sites,
	.n_sites = N_SITES,
};

static struct filter *filter_in_use;

static void choose(struct attach_set *c, const char *events)
{
	assert_int_equal(filter__new(&events, 1, &filter_in_use), 0);
	assert_int_equal(attach_set__init(c, &filtered, filter_in_use, 3, false), 0);
}

static void done(struct attach_set *c)
{
	attach_set__clear(c);
	filter__free(filter_in_use);
}

/* `want` has one letter per site, in upper case if the site is wanted. */
static void assert_wants(const char *events, const char *want)
{
	struct attach_set c;
	uint32_t n = 0;

	choose(&c, events);
	for (int i = 0; i < N_SITES; i++) {
		bool wanted = want[i] >= 'A' && want[i] <= 'Z';

		n += wanted;
		if (attach_set__wants(&c, &filtered_sites[i]) != wanted)
			fail_msg("%s: site %d", events, i);
	}
	assert_int_equal(c.n_sites, n);
	done(&c);
}

TEST_CASE(only_sites_of_what_is_asked_for_are_wanted)
{
	/*                                  start, caught, phase, tiny, dynamic, waiting, hashes,
	 *                                  other, loading, phase's end, shared end, timer */
	assert_wants("all", "SCPTDWHXLEET");
	assert_wants("default", "sCPtdWhXLEET");
	assert_wants("default,query-provider", "SCPtdWhXLEET");
	assert_wants("query-provider", "SCptdwhxleet");
	assert_wants("passes", "sCptdwhxleeT");
	assert_wants("generic-activity", "sCPTDwhXlEET");
	assert_wants("query-blocked", "sCptdWhxleet");
	assert_wants("query-blocked,-beta", "sCptdwhxleet");
	assert_wants("incr-cache-load", "sCptdwhxLeet");
	assert_wants("incr-result-hashing", "SCptdwHxleet");
	assert_wants("generic-activity,-other,-meta*", "sCPtDwhxlEeT");
}

/* Three bodies: one of two queries, of which one shares the next with a third; one of the last. */
enum { ALPHA, BETA, GAMMA, DELTA, N_SHARERS };
static struct plan_query sharers[N_SHARERS] = {
	[ALPHA] = {.name = (char *)"alpha", .body_non_incr = 0, .body_incr = PLAN_NONE},
	[BETA] = {.name = (char *)"beta", .body_non_incr = 0, .body_incr = 1},
	[GAMMA] = {.name = (char *)"gamma", .body_non_incr = PLAN_NONE, .body_incr = 1},
	[DELTA] = {.name = (char *)"delta", .body_non_incr = 2, .body_incr = PLAN_NONE},
};

#define OF_QUERY(r, q)                                                                         \
	{                                                                                      \
		.role = (r), .query = (q), .body = 0, .guard = PLAN_NONE, .slot = PLAN_NO_SLOT \
	}
#define OF_BODY(r, b)                                                             \
	{                                                                         \
		.role = (r), .query = PLAN_NONE, .body = (b), .guard = PLAN_NONE, \
		.slot = PLAN_NO_SLOT                                              \
	}

static struct plan_site shared_sites[] = {
	OF_QUERY(WIRE_ROLE_START, ALPHA),   OF_QUERY(WIRE_ROLE_WRAPPER, BETA),
	OF_QUERY(WIRE_ROLE_START, GAMMA),   OF_QUERY(WIRE_ROLE_START_BODY, DELTA),
	OF_BODY(WIRE_ROLE_END, 0),	    OF_BODY(WIRE_ROLE_IDENTIFY, 1),
	OF_BODY(WIRE_ROLE_END, 2),	    OF_QUERY(WIRE_ROLE_REQUEST, ALPHA),
	OF_QUERY(WIRE_ROLE_REQUEST, DELTA), OF_BODY(WIRE_ROLE_CAUGHT, PLAN_NONE),
};

/* One letter per site, as above. */
static void assert_follows(const char *events, bool callers, const char *want)
{
	const struct plan plan = {
		.bodies = bodies,
		.n_bodies = 3,
		.queries = sharers,
		.n_queries = N_SHARERS,
		.sites = shared_sites,
		.n_sites = N_OF(shared_sites),
	};
	_filter_ struct filter *f = NULL;
	_attach_set_ struct attach_set c = {0};

	assert_int_equal(filter__new(&events, 1, &f), 0);
	assert_int_equal(attach_set__init(&c, &plan, f, 3, callers), 0);
	for (size_t i = 0; i < N_OF(shared_sites); i++)
		if (attach_set__wants(&c, &shared_sites[i]) != (want[i] < 'a'))
			fail_msg("%s: site %zu", events, i);
}

/* An end of a body is of any of its queries, which are followed together. */
TEST_CASE(a_named_query_has_the_sites_of_its_bodies_alone)
{
	assert_follows("default", false, "abgdeieqrC");
	assert_follows("default,delta", false, "abgDeiEqrC");
	assert_follows("default,alpha", false, "ABGdEIeqrC");
	assert_follows("gamma", false, "ABGdEIeqrC");
	assert_follows("default,alpha,-alpha", false, "abgdeieqrC");
	assert_follows("alpha,delta", false, "ABGDEIEqrC");
	assert_follows("query-provider", false, "ABGDEIEqrC");
	assert_follows("default,incr-result-hashing", false, "ABGDEIEqrC");
	/* Other requests show that one is over. */
	assert_follows("default,delta", true, "ABGDEIEQRC");
	assert_follows("default", true, "abgdeieqrC");
}

static struct wire_site site_of(const struct attach_set *c, const struct plan_site *site)
{
	struct wire_site out;

	attach_set__site(c, site, &out);
	return out;
}

static enum plan_part wanted_part(int site)
{
	switch (site) {
	case AT_WAITING:
		return PLAN_PART_THREADS;
	case AT_LOADING:
	case AT_HASHES:
		return PLAN_PART_INCREMENTAL;
	default:
		return PLAN_PART_ALWAYS;
	}
}

/* An end that guards of different parts share is always there. */
TEST_CASE(only_some_compilers_need_the_sites_of_an_optional_part)
{
	struct plan_site own_end = SITE(WIRE_ROLE_GUARD_END, PLAN_NONE, WAITING);
	struct attach_set c;

	choose(&c, "all");
	for (int i = 0; i < N_SITES; i++)
		assert_int_equal(attach_set__part(&c, &filtered_sites[i]), wanted_part(i));
	assert_int_equal(attach_set__part(&c, &own_end), PLAN_PART_THREADS);
	done(&c);
	guards[WAITING].number = guards[HASHES].number;
	choose(&c, "default");
	assert_int_equal(attach_set__part(&c, &own_end), PLAN_PART_ALWAYS);
	done(&c);
	guards[WAITING].number = 2;
}

TEST_CASE(a_query_needed_but_not_selected_is_hidden)
{
	struct wire_provider_key key;
	struct wire_provider value;
	struct attach_set c;

	choose(&c, "incr-result-hashing,incr-cache-load,-beta");
	assert_true(site_of(&c, &filtered_sites[AT_START]).hidden);
	assert_true(attach_set__provider(&c, &filtered_sites[AT_LOADING], 0, &key, &value));
	assert_false(value.hidden);
	assert_true(attach_set__provider(&c, &filtered_sites[AT_LOADING], 1, &key, &value));
	assert_true(value.hidden);
	done(&c);
	choose(&c, "all");
	assert_false(site_of(&c, &filtered_sites[AT_START]).hidden);
	done(&c);
}

static struct plan_guard loads[] = {
	{.kind = WIRE_KIND_LOAD, .scope = 40, .number = 2, .label_of_query = true},
	{.kind = WIRE_KIND_LOAD, .scope = 41, .number = 1, .label_of_query = true},
};

static struct plan_site called_sites[] = {
	SITE(WIRE_ROLE_GUARD_CALLED, PLAN_NONE, 1),
	{.role = WIRE_ROLE_GUARD_CALLED,
	 .addr = 0x5000,
	 .query = PLAN_NONE,
	 .body = PLAN_NONE,
	 .guard = 0,
	 .reg = WIRE_REG_NONE,
	 .slot = 0x48},
};

static struct plan_step steps[] = {
	{0x5100, 0, PLAN_NONE, WIRE_REG_NONE, 0x78, 0},
	{0x4100, 0, 1, WIRE_REG_R14, PLAN_NO_SLOT, 448},
	{0x6100, 1, 0, WIRE_REG_R14, PLAN_NO_SLOT, 448},
};

static struct plan_query loaded[] = {
	{.name = (char *)"alpha", .provider = 0x1000, .body_incr = 1, .body_non_incr = 0},
	{.name = (char *)"beta", .provider = 0x2000, .body_incr = 2, .body_non_incr = 1},
};

static const struct plan loading = {
	.bodies = bodies,
	.n_bodies = 3,
	.queries = loaded,
	.n_queries = 2,
	.guards = loads,
	.n_guards = 2,
	.steps = steps,
	.n_steps = 3,
	.sites = called_sites,
	.n_sites = 2,
};

TEST_CASE(a_load_is_asked_for_by_its_callers)
{
	const struct plan_site *site = &called_sites[1];
	struct wire_provider_key key;
	struct wire_provider provider;
	struct wire_step step;
	struct attach_set c;
	struct wire_site s;

	assert_int_equal(attach_set__init(&c, &loading, NULL, 3, false), 0);
	s = site_of(&c, site);
	assert_pairs(s.role, WIRE_ROLE_GUARD_CALLED, s.lib, 3, s.group, 40, s.number, 2, s.slot,
		     0x48, s.kind, WIRE_KIND_LOAD);

	assert_true(attach_set__step(&c, site, 0, &key, &step));
	assert_pairs(key.distance, 0x100, key.site, 1, step.next, 1, step.slot, 0x78 / 8);
	assert_true(attach_set__step(&c, site, 1, &key, &step));
	assert_int_equal(key.distance, (uint32_t)-0xf00);
	assert_int_equal(step.next, 0);
	assert_int_equal(step.reg, WIRE_REG_R14);
	assert_int_equal(step.vtable_offset, 448 / 8);
	assert_false(attach_set__step(&c, site, 2, &key, &step));

	/* Only incremental bodies load, and only the bodies in the steps of the guard. */
	assert_true(attach_set__provider(&c, site, 0, &key, &provider));
	assert_int_equal(key.distance, (uint32_t)-0x4000);
	assert_int_equal(provider.query, 0);
	assert_int_equal(provider.kind, WIRE_KIND_LOAD);
	assert_false(attach_set__provider(&c, site, 1, &key, &provider));
	/* The vtable has the address of what calls the provider. */
	loaded[0].provider_caller = 0x1800;
	assert_true(attach_set__provider(&c, site, 0, &key, &provider));
	loaded[0].provider_caller = 0;
	assert_int_equal(key.distance, (uint32_t)-0x3800);
	attach_set__clear(&c);
}

TEST_CASE(a_guard_says_what_it_is)
{
	struct wire_provider_key key;
	struct wire_provider value;
	struct attach_set c;
	struct wire_site s;

	choose(&c, "all");
	s = site_of(&c, &filtered_sites[AT_TINY]);
	assert_pairs(s.role, WIRE_ROLE_GUARD, s.lib, 3, s.query, TINY, s.group, 9, s.number, 2,
		     s.label, WIRE_LABEL_NONE, s.kind, WIRE_KIND_ACTIVITY);
	s = site_of(&c, &filtered_sites[AT_DYNAMIC]);
	assert_int_equal(s.label, WIRE_LABEL_IN_MEMORY);
	assert_int_equal(s.slot, 0x48);
	s = site_of(&c, &filtered_sites[AT_WAITING]);
	assert_pairs(s.query, 1, s.label, WIRE_LABEL_NONE, s.kind, WIRE_KIND_BLOCKED);
	s = site_of(&c, &filtered_sites[AT_HASHES]);
	assert_int_equal(s.label, WIRE_LABEL_OF_QUERY);
	assert_int_equal(s.kind, WIRE_KIND_HASHING);
	assert_true(attach_set__provider(&c, &filtered_sites[AT_LOADING], 0, &key, &value));
	assert_pairs(value.query, 0, value.group, 7, value.number, 1, value.kind, WIRE_KIND_LOAD);
	done(&c);
}

/* Only a guard whose argument can be read looks it up. */
TEST_CASE(the_source_of_an_argument_is_in_a_table)
{
	struct plan_guard with[N_GUARDS];
	struct plan plan = filtered;
	struct wire_source source = {0};
	struct attach_set c;
	uint32_t key = 0;

	memcpy(with, guards, sizeof(with));
	with[TINY].source = (struct wire_source){.site = 7, .text = WIRE_ARGUMENT_STRING};
	plan.guards = with;
	assert_int_equal(attach_set__init(&c, &plan, NULL, 3, false), 0);
	assert_int_equal(site_of(&c, &filtered_sites[AT_TINY]).label, WIRE_LABEL_WITH_ARGUMENT);
	assert_true(attach_set__source(&c, &filtered_sites[AT_TINY], &key, &source));
	assert_int_equal(key, wire_lib_key(3, TINY));
	assert_int_equal(source.site, 7);
	assert_false(attach_set__source(&c, &filtered_sites[AT_DYNAMIC], &key, &source));
	assert_false(attach_set__source(&c, &filtered_sites[AT_SHARED_END], &key, &source));
	attach_set__clear(&c);
}

TEST_MAIN(NULL, NULL)
