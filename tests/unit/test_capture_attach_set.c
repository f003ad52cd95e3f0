// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/attach_set.h"

#include "test.h"
#include "../fixtures/rows.h"

static struct plan_body bodies[] = {
	{.group = 7}, {.group = 0, .between = PLAN_BETWEEN_MAX}, {.group = 0xfffe}};
static struct plan_query queries[] = {
	{.provider = 0x5000, .start_role = WIRE_ROLE_WRAPPER, .body_non_incr = 0, .body_incr = 1},
	{.provider = 0x100, .start_role = WIRE_ROLE_WRAPPER, .body_non_incr = 2, .body_incr = 1},
	{.provider = 0x7000, .start_role = WIRE_ROLE_START, .body_non_incr = 0, .body_incr = 1},
};
static struct plan_query keyed[] = {
	{.name = (char *)"def", .key = WIRE_KEY_DEF, .start_role = WIRE_ROLE_START, .body_incr = 1},
	{.name = (char *)"local",
	 .key = WIRE_KEY_LOCAL,
	 .start_role = WIRE_ROLE_WRAPPER,
	 .body_incr = 1},
	{.name = (char *)"unknown", .start_role = WIRE_ROLE_WRAPPER, .body_incr = 1},
};

#define PLAN(of, n)                                                                         \
	{                                                                                   \
		.bodies = bodies, .n_bodies = 3, .queries = of, .n_queries = 3, .sites = n, \
		.n_sites = N_OF(n)                                                          \
	}
static struct plan_site sites[4], keyed_site[1];
static const struct plan plan = PLAN(queries, sites), keyed_plan = PLAN(keyed, keyed_site);

/* The numbers that attach_set__init() would give. */
static uint32_t numbers[] = {0, 1, 2, 3};

/* ---- A site and its entry as texts ----------------------------------------------------------- */

static const char *const registers[] = {"ax", "bx",  "cx",  "dx",  "si",  "di",	 "bp", "r8",
					"r9", "r10", "r11", "r12", "r13", "r14", "r15"};
static const char *const keys[] = {"unknown", "unit", "local", "def", "crate", "memory"};

static const char *register_name(uint8_t reg)
{
	return reg == WIRE_REG_NONE ? "none" : registers[reg];
}

static long long number(const char *word)
{
	char *end;
	long long n = strtoll(word, &end, 0);

	for (size_t i = 0; *end && i < N_OF(registers); i++)
		if (!strcmp(word, registers[i]))
			return (long long)i;
	if (*end)
		fail_msg("'%s'", word);
	return n;
}

/* Names and values. What is not named is none. */
static struct plan_site site_of(uint8_t role, const char *text)
{
	struct plan_site s = {.role = role,
			      .query = PLAN_NONE,
			      .body = PLAN_NONE,
			      .reg = WIRE_REG_NONE,
			      .slot = PLAN_NO_SLOT,
			      .key_reg = WIRE_REG_NONE,
			      .key_slot = PLAN_NO_SLOT};
	char name[16], word[16];
	int len;

	for (; sscanf(text, " %15s %15s%n", name, word, &len) == 2; text += len) {
		long long n = number(word);

#define NAMED(what, field)       \
	if (!strcmp(name, what)) \
	s.field = (typeof(s.field))n
		NAMED("query", query);
		else NAMED("body", body);
		else NAMED("addr", addr);
		else NAMED("reg", reg);
		else NAMED("slot", slot);
		else NAMED("vtable", vtable_offset);
		else NAMED("sp", sp_delta);
		else NAMED("key", key_reg);
		else NAMED("key-slot", key_slot);
		else NAMED("result", result_reg);
		else NAMED("shift", result_shift);
		else fail_msg("'%s'", name);
	}
	return s;
}

static char said[256];

static void say(const char *name, long long n, long long none)
{
	size_t len = strlen(said);

	if (n != none)
		snprintf(said + len, sizeof(said) - len, " %s %lld", name, n);
}

static void say_register(const char *name, uint8_t reg)
{
	size_t len = strlen(said);

	if (reg != WIRE_REG_NONE)
		snprintf(said + len, sizeof(said) - len, " %s %s", name, register_name(reg));
}

static void say_key(const struct wire_key_place *p)
{
	size_t len = strlen(said);

	if (p->key != WIRE_KEY_UNKNOWN || p->reg != WIRE_REG_NONE || p->slot)
		snprintf(said + len, sizeof(said) - len, " key %s in %s %d", keys[p->key],
			 register_name(p->reg), p->slot);
}

/* All of an entry that is not none. */
static const char *text_of(const struct wire_site *s)
{
	said[0] = '\0';
	say("query", s->query, WIRE_NO_QUERY);
	say("group", s->group, WIRE_NO_GROUP);
	say("hidden", s->hidden, 0);
	say("number", s->number, 0);
	say("kind", s->kind, 0);
	say("label", s->label, 0);
	say("moment", s->moment, 0);
	say("numbered", s->numbered, 0);
	say_register("reg", s->reg);
	say_register("base", s->base);
	say("shift", s->shift, 0);
	say("slot", s->slot, WIRE_NO_SLOT);
	say("offset", s->offset, 0);
	say("sp", s->sp_delta, 0);
	say("between", s->between, 0);
	say("addr", s->addr, 0);
	say_key(&s->key);
	return said + !!*said;
}

static const char *described(const struct plan *of, const struct plan_site *site, bool callers)
{
	const struct attach_set c = {
		.plan = of, .lib = 254, .callers = callers, .numbers = numbers, .first = 1000};
	struct wire_site out;

	attach_set__site(&c, site, &out);
	assert_pairs(out.role, site->role, out.lib, 254);
	return text_of(&out);
}

struct row {
	uint8_t role;
	const char *site, *entry;
};

#define ROWS(of, ...) \
	check_rows(of, (const struct row[]){__VA_ARGS__}, N_OF(((const struct row[]){__VA_ARGS__})))

static void check_rows(const struct plan *of, const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		sites[1] = site_of(rows[i].role, rows[i].site);
		row_text(rows[i].site, described(of, &sites[1], false), rows[i].entry);
	}
}

/* ---- Sites ----------------------------------------------------------------------------------- */

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

TEST_CASE(an_entry_says_what_its_role_needs)
{
	_Static_assert(PLAN_BETWEEN_MAX == 16376 && PLAN_VTABLE_MAX == 32760, "the rows' limits");
	/* Which query starts. */
	for (uint8_t start = WIRE_ROLE_START; start <= WIRE_ROLE_WRAPPER; start++)
		ROWS(&plan,
		     {start, "query 65534 body 2 sp -16376", "query 65534 group 65534 sp -16376"});
	/* Where a request is, and where its caller is. */
	ROWS(&plan,
	     {WIRE_ROLE_REQUEST, "query 65534 addr 0xfedcba98 slot 120",
	      "query 65534 slot 120 addr 4275878552"},
	     /* One of no query and no body says so. */
	     {WIRE_ROLE_CAUGHT, "", ""},
	     /* Where the invocation id is, and how far below its start may be. */
	     {WIRE_ROLE_END, "body 0 reg r14", "group 7 reg r14"},
	     {WIRE_ROLE_END, "body 0 slot 0x54", "group 7 slot 84"},
	     {WIRE_ROLE_END, "body 1", "group 0 between 16376"},
	     /* That of a trial is in no body. */
	     {WIRE_ROLE_END, "", ""},
	     /* Where a feed is among the results, or that it is none. */
	     {WIRE_ROLE_DROP, "query 0 result cx shift 32", "query 0 base cx shift 32"},
	     {WIRE_ROLE_DROP, "result cx shift 32", "moment 2"},
	     /* Where the vtable is, and what is in it. */
	     {WIRE_ROLE_IDENTIFY, "body 1 reg r12 vtable 32760", "group 0 reg r12 offset 32760"});
	queries[0].number = 7;
	ROWS(&plan, {WIRE_ROLE_IDENTIFY, "body 1 slot 0 vtable 32760",
		     "group 0 numbered 1 slot 0 offset 32760"});
	queries[0].number = 0;
}

/* With callers, a wrapper at which its query starts has the caller's place too. */
TEST_CASE(a_wrapper_may_be_a_request)
{
	const struct plan_site wrapper =
		site_of(WIRE_ROLE_WRAPPER, "query 1 body 0 addr 0xfedcba98 sp 400");

	assert_string_equal(described(&plan, &wrapper, true),
			    "query 1 group 7 slot 400 sp 400 addr 4275878552");
	assert_string_equal(described(&plan, &wrapper, false),
			    "query 1 group 7 sp 400 addr 4275878552");
}

TEST_CASE(a_hit_says_where_the_invocation_id_is)
{
	const struct attach_set c = {.plan = &plan, .lib = 3};
	const struct plan_hit hit = {.reg = WIRE_REG_NONE, .base = WIRE_REG_BX, .disp = 0x4c};
	struct wire_site s;

	attach_set__hit(&c, &hit, &s);
	assert_pairs(s.role, WIRE_ROLE_HIT, s.lib, 3);
	assert_string_equal(text_of(&s), "base bx slot 76");
}

/* Each mode has its distance. */
TEST_CASE(the_wrappers_of_a_query_give_the_distance_of_its_bodies)
{
	const struct attach_set c = {.plan = &plan, .callers = true};
	struct wire_wrappers w;

	sites[0] = site_of(WIRE_ROLE_WRAPPER, "query 1 body 0");
	sites[1] = site_of(WIRE_ROLE_REQUEST, "query 1 body 1 slot 16 sp -400");
	sites[2] = site_of(WIRE_ROLE_REQUEST, "query 2 body 0 slot 0 sp -600");
	sites[3] = site_of(WIRE_ROLE_REQUEST, "query 2 body 1 slot 0 sp -800");
	assert_true(attach_set__wrappers(&c, 1, &w));
	assert_pairs(w.reach[0], 424, w.reach[1], 0);
	assert_true(attach_set__wrappers(&c, 2, &w));
	assert_pairs(w.reach[0], 608, w.reach[1], 808, w.between[0], 0, w.between[1],
		     PLAN_BETWEEN_MAX);
	assert_false(attach_set__wrappers(&c, 0, &w));
}

/* ---- Keys ------------------------------------------------------------------------------------ */

TEST_CASE(a_start_says_where_the_key_is)
{
	_Static_assert(PLAN_SLOT_MAX == 262136, "four times 65534");
	for (uint8_t start = WIRE_ROLE_START; start <= WIRE_ROLE_WRAPPER; start++)
		ROWS(&keyed_plan,
		     {start, "query 0 body 1 sp -400 key cx",
		      "query 0 group 0 sp -400 key def in cx 0"},
		     {start, "query 1 body 1 key r14", "query 1 group 0 key local in r14 0"},
		     /* Of no known type, at no known place. */
		     {start, "query 2 body 1 sp 8 key cx", "query 2 group 0 sp 8"},
		     {start, "query 0 body 1 sp 8", "query 0 group 0 sp 8"});
	/* It may be on the stack of a body, counted from its sp, which others do not have. */
	ROWS(&keyed_plan,
	     {WIRE_ROLE_START_BODY, "query 0 body 1 key-slot 0",
	      "query 0 group 0 key def in none 0"},
	     {WIRE_ROLE_START_BODY, "query 0 body 1 key-slot 262136",
	      "query 0 group 0 key def in none 65534"},
	     {WIRE_ROLE_START_BODY, "query 0 body 1 key-slot 4 sp 16", "query 0 group 0 sp 16"},
	     {WIRE_ROLE_START, "query 0 body 1 key-slot 4", "query 0 group 0"},
	     {WIRE_ROLE_WRAPPER, "query 1 body 1 key-slot 16 sp 8", "query 1 group 0 sp 8"});
	/* A provider may be given the address of a key that its body has itself. */
	keyed[0].key_by_address = true;
	ROWS(&keyed_plan,
	     {WIRE_ROLE_START, "query 0 body 1 key si sp 8",
	      "query 0 group 0 sp 8 key memory in si 0"},
	     {WIRE_ROLE_START_BODY, "query 0 body 1 key-slot 4",
	      "query 0 group 0 key def in none 1"});
	keyed[0].key_by_address = false;
}

/* One body, many queries: of what type the key is, differs. */
TEST_CASE(a_provider_says_where_the_key_is)
{
	static const struct {
		uint32_t query;
		const char *site, *entry;
	} rows[] = {
		{1, "body 1 reg r14 key bx", " query 1 key local in bx 0"},
		{0, "body 1 reg r14 key-slot 262136", " key def in none 65534"},
		{1, "body 1 reg r14", " query 1"},
		{2, "body 1 reg r14 key bx", " query 2"},
	};
	const struct attach_set c = {.plan = &keyed_plan, .numbers = numbers};

	for (size_t i = 0; i < N_OF(rows); i++) {
		struct wire_provider_key key;
		struct wire_provider p;

		keyed_site[0] = site_of(WIRE_ROLE_IDENTIFY, rows[i].site);
		assert_true(attach_set__provider(&c, keyed_site, rows[i].query, &key, &p));
		said[0] = '\0';
		say("query", p.query, WIRE_NO_QUERY);
		say_key(&p.key);
		row_text(rows[i].site, said, rows[i].entry);
	}
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
	keyed_site[0] = site_of(WIRE_ROLE_START_BODY, "query 1 body 1 key-slot 0x14");
	attach_set__site(&c, keyed_site, &out);
	assert_string_equal(text_of(&out), "query 1 group 0 hidden 1");
	keyed_site[0].query = 0;
	attach_set__site(&c, keyed_site, &out);
	assert_string_equal(text_of(&out), "query 0 group 0 key def in none 5");
}

/* ---- Providers ------------------------------------------------------------------------------- */

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
	assert_pairs(key.distance, 0x10, key.site, 1002, value.query, 0, value.group, 0);
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
