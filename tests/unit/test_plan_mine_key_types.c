// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/key_types.h"

#include "test.h"
#define LIBRARY "body_names.so"
#include "../fixtures/image.h"
#include "../fixtures/rows.h"
#include "base/array.h"

/* "type size key", with "-" for a size that is not known. */
static void print_name(const struct key_name *name, char text[KEY_TYPE_MAX + 32])
{
	static const char *const keys[] = {"?", "unit", "local", "def", "crate"};
	char size[16] = "-";

	assert_in_range(name->key, 0, N_OF(keys) - 1);
	if (name->has_size)
		snprintf(size, sizeof(size), "%u", name->size);
	snprintf(text, KEY_TYPE_MAX + 32, "%s %s %s", name->type, size, keys[name->key]);
}

static struct known_symbols known;
static struct plan_body bodies[16];

/* Bodies at these symbols, or those with these beginnings, in the order of their addresses. */
static int place_bodies(const char *const *names, uint32_t n)
{
	const struct elf_symbol *syms;
	size_t n_syms;

	assert_int_equal(elf_image__symbols(img, &syms, &n_syms), 0);
	memset(bodies, 0, sizeof(bodies));
	for (uint32_t i = 0; i < n; i++) {
		for (size_t k = 0; k < n_syms && !bodies[i].addr; k++)
			if (!strcmp(syms[k].name, names[i]) ||
			    (*names[i] == '_' &&
			     !strncmp(syms[k].name, names[i], strlen(names[i]))))
				bodies[i].addr = syms[k].addr;
		if (i && bodies[i].addr <= bodies[i - 1].addr)
			return -1;
	}
	return known_symbols__find(img, &known);
}

/* ---- By the names of what bodies call: tests/fixtures/body_names.s --------------------------- */

enum body {
	PLAIN,
	DIRECT,
	SPLIT,
	THROUGH,
	FAR,
	BOTH,
	NO_QUERY,
	SHARED,
	OUTLINING,
	OWN,
	GUARDED,
	CONFIRMED,
	CONTRADICTED,
	BODIES
};

static const char *const names[] = {"plain",	   "direct",
				    "split",	   "through",
				    "far",	   "both",
				    "no_query",	   "shared",
				    "outlining",   "_RINvNtCsfhTr2ijyTAe_16rustc_query_impl",
				    "guarded",	   "confirmed",
				    "contradicted"};

static struct body_name *found;
static struct plan_query queries[] = {
	{.body_non_incr = PLAIN, .body_incr = DIRECT},
	{.body_non_incr = PLAN_NONE, .body_incr = OUTLINING},
	{.body_non_incr = OWN, .body_incr = SPLIT},
};
static struct plan plan = {
	.bodies = bodies,
	.n_bodies = BODIES,
	.queries = queries,
	.n_queries = N_OF(queries),
};

static int setup(void **state)
{
	if (image_setup(state) || place_bodies(names, BODIES))
		return -1;
	bodies[OUTLINING].outlined = SHARED + 1;
	return body_names__find(img, &known, decoder, &plan, &found);
}

static int teardown(void **state)
{
	free(found);
	known_symbols__destroy(&known);
	return image_teardown(state);
}

TEST_CASE(a_body_has_the_types_of_what_it_calls)
{
	static const struct {
		enum body body;
		const char *name; /* NULL: none shows any */
	} rows[] = {
		{DIRECT, "DefId 8 def"},
		{SPLIT, "LocalDefId 4 local"},
		/* Two functions may be between. */
		{THROUGH, "LocalDefId 4 local"},
		{FAR, NULL},
		/* What executes for a body has its types. */
		{SHARED, "DefId 8 def"},
		{OUTLINING, "DefId 8 def"},
		/* Both bodies of a query have one cache, and own names show more. */
		{PLAIN, "DefId 8 def"},
		{OWN, "() 8 unit"},
		/* Tasks of two types, and of no query. */
		{BOTH, " - ?"},
		{NO_QUERY, NULL},
		/* A guard has the type alone, and confirms it or leaves it unknown. */
		{GUARDED, "DefId - def"},
		{CONFIRMED, "DefId 8 def"},
		{CONTRADICTED, " - ?"},
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		const struct body_name *b = &found[rows[i].body];
		char text[KEY_TYPE_MAX + 32];

		print_name(&b->name, text);
		if (rows[i].body != CONTRADICTED)
			row_equal(names[rows[i].body], b->any, rows[i].name != NULL);
		if (rows[i].name)
			row_text(names[rows[i].body], text, rows[i].name);
	}
	assert_false(found[OWN].borrowed);
}

/* ---- By guards: tests/fixtures/job_guards.s -------------------------------------------------- */

static struct job_guard *guards;

static int guards_setup(void **state)
{
	static const char *const guarded[] = {"one",	 "two",		"nothing",   "both",
					      "most",	 "none",	"split",     "direct",
					      "through", "contradicts", "two_tables"};
	struct plan guarded_plan = {.bodies = bodies, .n_bodies = N_OF(guarded)};

	if (fixture_dir_setup(state) || image_of(fixture("job_guards.so"), &img) ||
	    code_decoder__new(img, &decoder) || place_bodies(guarded, N_OF(guarded)))
		return -1;
	return job_guards__find(img, &known, decoder, &guarded_plan, &guards);
}

static int guards_teardown(void **state)
{
	free(guards);
	known_symbols__destroy(&known);
	return image_teardown(state);
}

TEST_GROUP(guards_setup, guards_teardown)

TEST_CASE(a_body_drops_the_guard_of_its_keys)
{
	/* In the order of the bodies; NULL: no known type. */
	static const struct {
		const char *name;
		uint32_t n;
		const char *has[2];
	} rows[] = {
		{"one", 1, {"DefId"}},
		{"two: folded functions have several types", 2, {"LocalDefId", "CrateNum"}},
		{"nothing", 1, {"()"}},
		{"both", 0, {NULL}},
		{"most", 0, {NULL}},
		{"none", 0, {NULL}},
		{"split", 1, {"DefId"}},
		/* The table of the cache leaves some types. */
		{"direct", 1, {"LocalDefId"}},
		{"through", 1, {"LocalDefId"}},
		{"contradicts", 0, {NULL}},
		{"two_tables: which is the cache's is not known", 2, {NULL}},
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		row_equal(rows[i].name, guards[i].n, rows[i].n);
		for (size_t k = 0; k < 2 && rows[i].has[k]; k++)
			row_equal(rows[i].name, job_guard__has(&guards[i], rows[i].has[k]), true);
	}
	assert_false(job_guard__has(&guards[1], "DefId"));
	assert_int_equal(guards[0].types[0].key, WIRE_KEY_DEF);
	assert_false(guards[0].types[0].has_size);
}

/* ---- The choice among types: tests/fixtures/memory_keys.s ------------------------------------ */

/* Bodies, and the queries that they serve. */
enum choice { KNOWN, WRONG, LOCAL, CRATE, MIXED, UNSERVED, OPEN, UNGUARDED, CHOICES };

static struct plan_query asking[] = {
	{.name = (char *)"def", .body_non_incr = KNOWN, .body_incr = PLAN_NONE},
	{.name = (char *)"pair", .body_non_incr = WRONG, .body_incr = PLAN_NONE},
	{.name = (char *)"local", .body_non_incr = LOCAL, .body_incr = MIXED},
	{.name = (char *)"silent", .body_non_incr = CRATE, .body_incr = MIXED},
	{.name = (char *)"both", .body_non_incr = OPEN, .body_incr = UNGUARDED},
};
static struct plan_body chosen_bodies[CHOICES];
static const struct plan choosing = {
	.queries = asking,
	.n_queries = N_OF(asking),
	.bodies = chosen_bodies,
	.n_bodies = CHOICES,
};

#define TYPE(t, k)                  \
	{                           \
		.type = t, .key = k \
	}
static const struct key_name def = TYPE("DefId", WIRE_KEY_DEF);
static const struct job_guard def_guard = {{TYPE("DefId", WIRE_KEY_DEF)}, 1};
static const struct job_guard local_or_crate = {
	{TYPE("LocalDefId", WIRE_KEY_LOCAL), TYPE("CrateNum", WIRE_KEY_CRATE)}, 2};

static void choose(const char *library, struct body_name out[CHOICES])
{
	_elf_image_ struct elf_image *of = NULL;
	_code_decoder_ struct code_decoder *code = NULL;
	_memory_keys_ struct memory_keys *memory = NULL;

	for (uint32_t i = 0; i < CHOICES; i++)
		out[i] = (struct body_name){.guard = local_or_crate};
	out[KNOWN] = out[WRONG] = (struct body_name){.any = true, .name = def, .guard = def_guard};
	out[UNGUARDED].guard.n = 0;
	assert_int_equal(image_of(fixture(library), &of), 0);
	assert_int_equal(code_decoder__new(of, &code), 0);
	assert_int_equal(memory_keys__new(of, code, &memory), 0);
	assert_int_equal(key_choice__make(of, memory, &choosing, out), 0);
}

TEST_GROUP(fixture_dir_setup, fixture_dir_teardown)

TEST_CASE(the_type_is_taken_that_is_asked_in_the_same_way)
{
	static const char *const chosen[CHOICES] = {
		[KNOWN] = "DefId - def",
		[WRONG] = " - ?", /* denied */
		[LOCAL] = "LocalDefId - local",
		[CRATE] = "CrateNum - crate", /* neither it nor the query is asked anything */
		[MIXED] = " - ?",	      /* all queries of a body must agree */
		/* Nothing shows these. */
		[UNSERVED] = " - ?",
		[OPEN] = " - ?",
		[UNGUARDED] = " - ?",
	};
	struct body_name out[CHOICES];

	choose("memory_keys.so", out);
	for (enum choice i = 0; i < CHOICES; i++) {
		char text[KEY_TYPE_MAX + 32];

		print_name(&out[i].name, text);
		assert_string_equal(text, chosen[i]);
		assert_int_equal(out[i].any, *text != ' ' || i == WRONG);
	}
	/* Without the enum nothing changes. */
	choose("job_guards.so", out);
	assert_string_equal(out[WRONG].name.type, "DefId");
	assert_false(out[LOCAL].any || out[CRATE].any);
}

/* ---- The enum of queries with their keys ----------------------------------------------------- */

struct library {
	struct elf_image *img;
	struct code_decoder *decoder;
	struct memory_keys *memory;
	struct tagged_keys *tagged;
};

static struct plan_query tagged_queries[] = {
	{.name = (char *)"silent"}, {.name = (char *)"def"},	   {.name = (char *)"local"},
	{.name = (char *)"value"},  {.name = (char *)"pair"},	   {.name = (char *)"farther"},
	{.name = (char *)"both"},   {.name = (char *)"elsewhere"}, {.name = (char *)"inlined"},
	{.name = (char *)"other"},  {.name = (char *)"niche"},	   {.name = (char *)"loca"},
};
static const struct plan tagged_plan = {.queries = tagged_queries,
					.n_queries = N_OF(tagged_queries)};

static struct library whole, broken;

static int open_library(struct library *l, const char *name)
{
	return image_of(fixture(name), &l->img) ?: code_decoder__new(l->img, &l->decoder)
	       ?: memory_keys__new(l->img, l->decoder, &l->memory)
	       ?: tagged_keys__new(l->img, l->memory, &tagged_plan, &l->tagged);
}

static void close_library(struct library *l)
{
	tagged_keys__free(l->tagged);
	memory_keys__free(l->memory);
	code_decoder__free(l->decoder);
	elf_image__free(l->img);
}

static enum tagged_answer ask(const struct library *l, const char *query, const char *type)
{
	for (uint32_t i = 0; i < N_OF(tagged_queries); i++)
		if (!strcmp(tagged_queries[i].name, query))
			return tagged_keys__fits(l->tagged, i, type);
	fail_msg("no query %s", query);
	return TAGGED_UNKNOWN;
}

static int tagged_setup(void **state)
{
	int err = fixture_dir_setup(state) ?: open_library(&whole, "memory_keys.so")
						     ?: open_library(&broken,
								     "memory_keys_broken.so");

	/* The first type that fits shows where in the enum keys are. */
	return err ?: ask(&whole, "def", "DefId") != TAGGED_FITS;
}

static int tagged_teardown(void **state)
{
	close_library(&whole);
	close_library(&broken);
	return fixture_dir_teardown(state);
}

TEST_GROUP(tagged_setup, tagged_teardown)

TEST_CASE(keys_are_asked_as_their_type_is)
{
	static const struct {
		const char *query, *type;
		enum tagged_answer answer;
	} rows[] = {
		{"def", "DefId", TAGGED_FITS},
		{"local", "LocalDefId", TAGGED_FITS},
		{"pair", "(DefId, DefId)", TAGGED_FITS},
		{"value", "PseudoCanonicalInput<GlobalId>", TAGGED_FITS},
		{"def", "LocalDefId", TAGGED_DENIED},
		{"def", "GlobalId", TAGGED_DENIED},
		{"local", "DefId", TAGGED_DENIED},
		{"pair", "DefId", TAGGED_DENIED},
		{"value", "GlobalId", TAGGED_DENIED},
		/* A key elsewhere in the enum is another one. */
		{"farther", "DefId", TAGGED_DENIED},
		{"def", "(DefId, DefId)", TAGGED_DENIED},
		/* Neither is asked. */
		{"silent", "CrateNum", TAGGED_SILENT},
		{"silent", "LocalDefId", TAGGED_UNKNOWN},
		{"def", "CrateNum", TAGGED_UNKNOWN},
		{"both", "DefId", TAGGED_UNKNOWN},
		{"elsewhere", "DefId", TAGGED_UNKNOWN},
		/* Nothing is called, or something unknown, but the key is used. */
		{"inlined", "CrateNum", TAGGED_UNKNOWN},
		{"other", "CrateNum", TAGGED_UNKNOWN},
		{"niche", "DefId", TAGGED_UNKNOWN},
		{"loca", "DefId", TAGGED_UNKNOWN}, /* no such name */
	};

	for (size_t i = 0; i < N_OF(rows); i++)
		row_equal(rows[i].query, ask(&whole, rows[i].query, rows[i].type), rows[i].answer);
	/* Without functions of keys all is unknown. */
	assert_int_equal(ask(&broken, "def", "DefId"), TAGGED_UNKNOWN);
	assert_int_equal(ask(&broken, "silent", "CrateNum"), TAGGED_UNKNOWN);
}

TEST_MAIN(setup, teardown)
