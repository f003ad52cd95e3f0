// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/layout.h"

#include "test.h"
#define LIBRARY "layout.so"
#include "../fixtures/image.h"
#include "plan/check.h"

/* One function of each kind, by name; NULL: there is none. */
struct accessors {
	const char *drop, *table, *keys, *path, *name, *text, *symbol, *display, *numbered,
		*context;
};

#define GOOD                                                                                   \
	{                                                                                      \
		"a_drop", "a_table", "a_keys", "a_path", "a_name", "a_text", NULL, NULL, NULL, \
			NULL                                                                   \
	}

#define FUNCTIONS 10

static size_t list(const struct accessors *a, struct layout_function *out,
		   struct code_region regions[][2])
{
	const struct layout_function kinds[FUNCTIONS] = {
		{.kind = NAME_DROP_CONTEXT},	 {.kind = NAME_DEF_PATH_TABLE},
		{.kind = NAME_ENUMERATED_KEYS},	 {.kind = NAME_DEF_PATH},
		{.kind = NAME_DEF_PATH_DATA},	 {.kind = NAME_SYMBOL_TEXT},
		{.kind = NAME_DEF_PATH_SYMBOL},	 {.kind = NAME_DEF_PATH_DISPLAY},
		{.kind = NAME_NUMBERED_DISPLAY}, {.kind = NAME_CONTEXT_DEF_PATH},
	};
	const char *names[FUNCTIONS] = {a->drop, a->table,  a->keys,	a->path,     a->name,
					a->text, a->symbol, a->display, a->numbered, a->context};
	size_t n = 0;

	for (size_t i = 0; i < FUNCTIONS; i++) {
		const struct elf_symbol *sym, *cold;
		char cold_name[64];

		if (!names[i])
			continue;
		snprintf(cold_name, sizeof(cold_name), "%s.cold", names[i]);
		sym = symbol(img, names[i]);
		cold = find_symbol(img, cold_name);
		out[n] = kinds[i];
		out[n].entry = sym->addr;
		regions[n][0] = (struct code_region){sym->addr, sym->size};
		if (cold)
			regions[n][1] = (struct code_region){cold->addr, cold->size};
		out[n].regions = regions[n];
		out[n].n_regions = cold ? 2 : 1;
		n++;
	}
	return n;
}

static const char *mine(struct accessors a, struct plan_layout *out)
{
	struct layout_function functions[FUNCTIONS];
	struct code_region regions[FUNCTIONS][2];
	const char *problem = "not set";
	size_t n = list(&a, functions, regions);

	*out = (struct plan_layout){.root = 77};
	assert_int_equal(layout_mine(img, decoder, functions, n, out, &problem), 0);
	return problem;
}

static void assert_problem(struct accessors a, const char *part)
{
	struct plan_layout l;
	const char *problem = mine(a, &l);

	if (!problem || !strstr(problem, part))
		fail_msg("%s, not: %s", problem ?: "no problem", part);
	assert_int_equal(l.root, 77);
	assert_int_equal(l.wire.size, 0);
}

static void assert_tags(const struct plan_layout *l, const uint32_t *tags, uint32_t n)
{
	for (uint32_t i = 0; i < WIRE_TAGS; i++)
		assert_int_equal(l->wire.tags[i], i < n ? tags[i] : WIRE_TAG_UNKNOWN);
}

TEST_CASE(the_code_of_today_shows_all)
{
	static const uint32_t tags[] = {
		7, 15, WIRE_TAG_NAMED, WIRE_TAG_NAMED, 0x38, WIRE_TAG_NAMED};
	struct plan_layout l;

	assert_null(mine((struct accessors)GOOD, &l));
	assert_null(plan_layout_excess(&l));
	assert_null(l.problem);
	assert_int_equal(l.wire.drop, symbol(img, "a_drop")->addr);
	assert_int_equal(l.wire.globals, symbol(img, "globals")->addr);
	assert_int_equal(l.wire.context, 0);
	assert_int_equal(l.wire.table, 0x1f560);
	assert_int_equal(l.wire.count, 0x1f568);
	assert_int_equal(l.wire.size, 16);
	assert_int_equal(l.wire.tag, 0);
	assert_int_equal(l.wire.symbol, 4);
	assert_int_equal(l.disambiguator, 8);
	assert_int_equal(l.parent, 12);
	assert_int_equal(l.no_parent, 0xffffff01);
	assert_int_equal(l.root, 0);
	assert_tags(&l, tags, N_OF(tags));
	assert_int_equal(l.plain, 1 << 4);
	assert_int_equal(l.wire.symbols, 0x40);
	assert_int_equal(l.wire.n_symbols, 0x48);
	assert_int_equal(l.wire.symbol_size, 24);
	assert_int_equal(l.wire.text, 0);
	assert_int_equal(l.wire.length, 8);
}

TEST_CASE(other_code_with_other_offsets_shows_them)
{
	static const uint32_t tags[] = {WIRE_TAG_NAMED, WIRE_TAG_NAMED, 7, 100, 1000000};
	struct plan_layout l;

	assert_null(mine((struct accessors){"b_drop", "b_table", "b_keys", "b_path", "b_name",
					    "b_text", NULL, NULL, NULL, NULL},
			 &l));
	assert_null(plan_layout_excess(&l));
	assert_int_equal(l.wire.drop, symbol(img, "b_drop.site")->addr);
	assert_int_equal(l.wire.globals, symbol(img, "globals")->addr);
	assert_int_equal(l.wire.table, 0x4000);
	assert_int_equal(l.wire.count, 0x4018);
	assert_int_equal(l.wire.size, 16);
	assert_int_equal(l.wire.tag, 8);
	assert_int_equal(l.wire.symbol, 12);
	assert_int_equal(l.disambiguator, 4);
	assert_int_equal(l.parent, 0);
	assert_int_equal(l.no_parent, 0xffffffff);
	assert_int_equal(l.root, 2);
	assert_tags(&l, tags, N_OF(tags));
	assert_int_equal(l.plain, 0);
	assert_int_equal(l.wire.symbols, 0x10);
	assert_int_equal(l.wire.n_symbols, 0x18);
	assert_int_equal(l.wire.symbol_size, 32);
	assert_int_equal(l.wire.text, 8);
	assert_int_equal(l.wire.length, 24);
}

/* Both agree with DefPathData::name. */
TEST_CASE(other_functions_show_what_definitions_are_called)
{
	struct accessors a = GOOD;
	struct plan_layout own, l;

	assert_null(mine(a, &own));
	a.name = NULL;
	a.symbol = "a_symbol";
	assert_problem(a, "nor both functions");
	a.display = "a_display";
	assert_null(mine(a, &l));
	assert_tags(&l, own.wire.tags, WIRE_TAGS);
	assert_int_equal(l.plain, own.plain);
	a.symbol = NULL;
	assert_problem(a, "nor both functions");
	a.symbol = "a_symbol";
	a.display = "display.other";
	assert_problem(a, "show different names");
	a.symbol = NULL;
	a.display = "a_display";
	a.numbered = "display.numbered";
	assert_null(mine(a, &l));
	assert_tags(&l, own.wire.tags, WIRE_TAGS);
	assert_int_equal(l.plain, own.plain);
	a.numbered = "display.other";
	assert_problem(a, "show different names");
}

/* The empty symbol stands for another one, which is printed in braces. */
TEST_CASE(a_name_may_be_empty)
{
	struct accessors a = GOOD;
	struct plan_layout own, l;

	assert_null(mine(a, &own));
	assert_int_equal(own.wire.unnamed, 0);
	a.name = NULL;
	a.display = a.numbered = "display.unnamed";
	assert_null(mine(a, &l));
	assert_tags(&l, own.wire.tags, WIRE_TAGS);
	assert_int_equal(l.wire.unnamed, 0x76e);
	assert_int_equal(l.wire.unnamed_tags, 1 << 2 | 1 << 3 | 1 << 5);
	a.numbered = "display.numbered";
	assert_problem(a, "show different names");
}

/* As the function that returns its ends shows it. */
TEST_CASE(the_reader_of_a_path_shows_the_table)
{
	struct accessors a = GOOD;
	struct plan_layout own, l;

	assert_null(mine(a, &own));
	a.keys = NULL;
	assert_problem(a, "nor TyCtxt::def_path");
	a.context = "a_context_path";
	assert_null(mine(a, &l));
	assert_memory_equal(&l.wire, &own.wire, sizeof(l.wire));
	a.context = "context_path.elsewhere";
	assert_problem(a, "returns another table");
	a.context = "context_path.other";
	assert_problem(a, "TyCtxt::def_path passes no part");
	a.context = "a_context_path";
	a.path = "b_path";
	assert_problem(a, "Definitions::def_path shows no table");
}

#define BROKEN(member, function, part)      \
	do {                                \
		struct accessors a_ = GOOD; \
                                            \
		a_.member = (function);     \
		assert_problem(a_, part);   \
	} while (0)

TEST_CASE(a_missing_function_is_named)
{
	BROKEN(drop, NULL, "no drop of OnceLock<GlobalCtxt>");
	BROKEN(table, NULL, "no TyCtxt::def_path_table");
	BROKEN(keys, NULL, "neither DefPathTable::enumerated_keys_and_path_hashes");
	BROKEN(path, NULL, "no Definitions::def_path");
	BROKEN(name, NULL, "no DefPathData::name");
	BROKEN(text, NULL, "no Symbol::as_str");
}

TEST_CASE(the_table_is_a_part_of_the_context)
{
	BROKEN(table, "table.elsewhere", "TyCtxt::def_path_table returns no part");
	BROKEN(table, "table.several", "TyCtxt::def_path_table returns several");
	BROKEN(table, "table.leaves", "TyCtxt::def_path_table is too complex");
	/* Further than in any plan. */
	BROKEN(table, "table.far", "TyCtxt::def_path_table returns no part");
}

TEST_CASE(the_table_has_a_first_entry_and_an_end)
{
	BROKEN(keys, "keys.first", "enumerated_keys_and_path_hashes makes no pair");
	BROKEN(keys, "keys.large", "enumerated_keys_and_path_hashes makes no pair");
}

TEST_CASE(an_entry_has_a_tag_a_parent_and_a_name)
{
	BROKEN(path, "path.untagged", "Definitions::def_path does not look for a root");
	BROKEN(path, "path.overlapping", "Definitions::def_path reads entries of another size");
	BROKEN(path, "path.copies_little", "Definitions::def_path copies no symbol");
}

TEST_CASE(some_tags_have_a_name_of_their_own)
{
	BROKEN(name, "name.fixed", "no kind of definition has a name of its own");
	BROKEN(name, "name.two_kinds", "names of definitions are of several kinds");
}

TEST_CASE(texts_are_in_a_table_of_the_threads_globals)
{
	BROKEN(text, "text.called", "Symbol::as_str returns no entry");
	BROKEN(text, "text.local", "Symbol::as_str");
	BROKEN(text, "text.unbounded", "Symbol::as_str compares no symbol");
}

TEST_CASE(the_context_is_known_where_it_is_dropped)
{
	BROKEN(drop, "drop.unconditional", "tests no state");
	BROKEN(drop, "drop.state_first", "state before the value");
	BROKEN(drop, "drop.moved", "moves its argument");
}

TEST_CASE(a_copy_that_shows_all_is_enough)
{
	struct accessors a = GOOD;
	struct layout_function functions[FUNCTIONS + 1];
	struct code_region regions[FUNCTIONS][2];
	size_t n = list(&a, functions + 1, regions) + 1;
	const struct elf_symbol *bad = symbol(img, "table.elsewhere");
	struct code_region region = {bad->addr, bad->size};
	struct plan_layout l;
	const char *problem;

	functions[0] = (struct layout_function){.kind = NAME_DEF_PATH_TABLE,
						.entry = bad->addr,
						.regions = &region,
						.n_regions = 1};
	assert_int_equal(layout_mine(img, decoder, functions, n, &l, &problem), 0);
	assert_null(problem);
	assert_int_equal(l.wire.table, 0x1f560);
}

/* ---- A thread's context ---------------------------------------------------------------------- */

/* NULL: there is no such function. */
static const char *mine_kinds(const enum name_kind kinds[2], const char *debug, const char *parent,
			      struct wire_layout_current *out)
{
	const char *names[] = {debug, parent}, *problem = "not set";
	struct layout_function functions[2];
	struct code_region regions[2];
	size_t n = 0;

	for (size_t i = 0; i < 2; i++) {
		if (!names[i])
			continue;
		regions[n].addr = symbol(img, names[i])->addr;
		regions[n].size = symbol(img, names[i])->size;
		functions[n] = (struct layout_function){
			kinds[i], regions[n].addr, &regions[n], 1, NULL, 0};
		n++;
	}
	*out = (struct wire_layout_current){.context = 77};
	assert_int_equal(layout_context_mine(img, functions, n, out, &problem), 0);
	return problem;
}

static const char *mine_context(const char *debug, const char *parent,
				struct wire_layout_current *out)
{
	static const enum name_kind kinds[] = {NAME_DEF_ID_DEBUG, NAME_TRACK_PARENT};

	return mine_kinds(kinds, debug, parent, out);
}

static void assert_context_problem(const char *debug, const char *parent, const char *part)
{
	struct wire_layout_current out;
	const char *problem = mine_context(debug, parent, &out);

	if (!problem || !strstr(problem, part))
		fail_msg("%s, not: %s", problem ?: "no problem", part);
	assert_int_equal(out.context, 77);
	assert_int_equal(out.known, 0);
}

TEST_CASE(the_code_shows_the_threads_context)
{
	struct wire_layout_current out;

	assert_null(mine_context("a_debug", "a_parent", &out));
	assert_int_equal(out.known, 1);
	assert_int_equal(out.offset, symbol(img, "current")->addr);
	assert_int_equal(out.context, 0x10);
	assert_null(mine_context("b_debug", "b_parent", &out));
	assert_int_equal(out.offset, symbol(img, "current")->addr);
	assert_int_equal(out.context, 0x28);
}

TEST_CASE(older_functions_show_it_too)
{
	static const enum name_kind kinds[] = {NAME_DEP_KIND_DEBUG, NAME_DEP_NODE_DEBUG};
	struct wire_layout_current out;

	assert_null(mine_kinds(kinds, "a_debug", "a_parent", &out));
	assert_int_equal(out.offset, symbol(img, "current")->addr);
	assert_int_equal(out.context, 0x10);
	assert_non_null(mine_kinds(kinds, "a_debug", "b_parent", &out));
}

TEST_CASE(a_missing_callback_is_named)
{
	assert_context_problem(NULL, "a_parent",
			       "there is no rustc_interface::callbacks::def_id_debug");
	assert_context_problem("a_debug", NULL,
			       "there is no rustc_interface::callbacks::track_span");
}

TEST_CASE(one_field_is_read_and_is_tested_before)
{
	assert_context_problem("b_table", "a_parent", "reads no context");
	assert_context_problem("debug.untested", "a_parent", "reads no context");
	assert_context_problem("debug.several", "a_parent", "reads several");
}

TEST_CASE(the_field_is_the_address_of_something_large)
{
	assert_context_problem("a_debug", "b_table", "reads nothing far");
	assert_context_problem("a_debug", "parent.near", "reads nothing far");
	assert_context_problem("a_debug", "parent.several", "finds several");
}

TEST_CASE(both_functions_find_the_same)
{
	assert_context_problem("a_debug", "b_parent", "find different contexts");
	assert_context_problem("a_debug", "parent.elsewhere", "find different contexts");
}

TEST_MAIN(image_setup, image_teardown)
