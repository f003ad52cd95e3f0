// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/layout.h"

#include "test.h"
#define LIBRARY "layout.so"
#include "../fixtures/image.h"
#include "../fixtures/rows.h"
#include "plan/check.h"

#define MOST 10

/* Functions of a library, at most one of each kind, with their cold parts. */
struct functions_of {
	struct layout_function items[MOST];
	struct code_region regions[MOST][2];
	size_t n;
};

/* NULL: there is none of this kind. */
static void list(struct functions_of *out, const enum name_kind *kinds, const char *const *names,
		 size_t n)
{
	out->n = 0;
	for (size_t i = 0; i < n; i++) {
		struct code_region *regions = out->regions[out->n];
		const struct elf_symbol *sym, *cold;
		char cold_name[64];

		if (!names[i])
			continue;
		snprintf(cold_name, sizeof(cold_name), "%s.cold", names[i]);
		sym = symbol(img, names[i]);
		cold = find_symbol(img, cold_name);
		regions[0] = (struct code_region){sym->addr, sym->size};
		if (cold)
			regions[1] = (struct code_region){cold->addr, cold->size};
		out->items[out->n++] = (struct layout_function){.kind = kinds[i],
								.entry = sym->addr,
								.regions = regions,
								.n_regions = cold ? 2 : 1};
	}
}

/* ---- Definitions ----------------------------------------------------------------------------- */

struct accessors {
	const char *drop, *table, *keys, *path, *name, *text, *symbol, *display, *numbered,
		*context;
};

#define GOOD                                                                                   \
	{                                                                                      \
		"a_drop", "a_table", "a_keys", "a_path", "a_name", "a_text", NULL, NULL, NULL, \
			NULL                                                                   \
	}

static void list_accessors(const struct accessors *a, struct functions_of *out)
{
	static const enum name_kind kinds[] = {NAME_DROP_CONTEXT,     NAME_DEF_PATH_TABLE,
					       NAME_ENUMERATED_KEYS,  NAME_DEF_PATH,
					       NAME_DEF_PATH_DATA,    NAME_SYMBOL_TEXT,
					       NAME_DEF_PATH_SYMBOL,  NAME_DEF_PATH_DISPLAY,
					       NAME_NUMBERED_DISPLAY, NAME_CONTEXT_DEF_PATH};

	list(out, kinds,
	     (const char *const[]){a->drop, a->table, a->keys, a->path, a->name, a->text, a->symbol,
				   a->display, a->numbered, a->context},
	     N_OF(kinds));
}

static const char *mine(struct accessors a, struct plan_layout *out)
{
	struct functions_of f;
	const char *problem = "not set";

	list_accessors(&a, &f);
	*out = (struct plan_layout){.root = 77};
	assert_int_equal(layout_mine(img, decoder, f.items, f.n, out, &problem), 0);
	if (problem)
		assert_pairs(out->root, 77, out->wire.size, 0);
	return problem;
}

static void assert_problem(struct accessors a, const char *part)
{
	struct plan_layout l;

	row_part("layout", mine(a, &l), part);
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
	assert_pairs(l.wire.drop, symbol(img, "a_drop")->addr, l.wire.globals,
		     symbol(img, "globals")->addr, l.wire.context, 0, l.wire.table, 0x1f560,
		     l.wire.count, 0x1f568, l.wire.size, 16, l.wire.tag, 0, l.wire.symbol, 4,
		     l.disambiguator, 8, l.parent, 12, l.no_parent, 0xffffff01, l.root, 0, l.plain,
		     1 << 4, l.wire.symbols, 0x40, l.wire.n_symbols, 0x48, l.wire.symbol_size, 24,
		     l.wire.text, 0, l.wire.length, 8);
	assert_tags(&l, tags, N_OF(tags));
}

TEST_CASE(other_code_with_other_offsets_shows_them)
{
	static const uint32_t tags[] = {WIRE_TAG_NAMED, WIRE_TAG_NAMED, 7, 100, 1000000};
	struct plan_layout l;

	assert_null(mine((struct accessors){"b_drop", "b_table", "b_keys", "b_path", "b_name",
					    "b_text", NULL, NULL, NULL, NULL},
			 &l));
	assert_null(plan_layout_excess(&l));
	assert_pairs(l.wire.drop, symbol(img, "b_drop.site")->addr, l.wire.globals,
		     symbol(img, "globals")->addr, l.wire.table, 0x4000, l.wire.count, 0x4018,
		     l.wire.size, 16, l.wire.tag, 8, l.wire.symbol, 12, l.disambiguator, 4,
		     l.parent, 0, l.no_parent, 0xffffffff, l.root, 2, l.plain, 0, l.wire.symbols,
		     0x10, l.wire.n_symbols, 0x18, l.wire.symbol_size, 32, l.wire.text, 8,
		     l.wire.length, 24);
	assert_tags(&l, tags, N_OF(tags));
}

static void assert_same_names(struct accessors a, const struct plan_layout *own)
{
	struct plan_layout l;

	assert_null(mine(a, &l));
	assert_tags(&l, own->wire.tags, WIRE_TAGS);
	assert_int_equal(l.plain, own->plain);
}

/* Both agree with DefPathData::name. */
TEST_CASE(other_functions_show_what_definitions_are_called)
{
	struct accessors a = GOOD;
	struct plan_layout own;

	assert_null(mine(a, &own));
	a.name = NULL;
	a.symbol = "a_symbol";
	assert_problem(a, "nor both functions");
	a.display = "a_display";
	assert_same_names(a, &own);
	a.symbol = NULL;
	assert_problem(a, "nor both functions");
	a.symbol = "a_symbol";
	a.display = "display.other";
	assert_problem(a, "show different names");
	a.symbol = NULL;
	a.display = "a_display";
	a.numbered = "display.numbered";
	assert_same_names(a, &own);
	a.numbered = "display.other";
	assert_problem(a, "show different names");
}

/* The empty symbol stands for another one, which is printed in braces. */
TEST_CASE(a_name_may_be_empty)
{
	struct accessors a = GOOD;
	struct plan_layout own, l;

	assert_null(mine(a, &own));
	a.name = NULL;
	a.display = a.numbered = "display.unnamed";
	assert_null(mine(a, &l));
	assert_tags(&l, own.wire.tags, WIRE_TAGS);
	assert_pairs(own.wire.unnamed, 0, l.wire.unnamed, 0x76e, l.wire.unnamed_tags,
		     1 << 2 | 1 << 3 | 1 << 5);
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

/* With one function of the good ones replaced; the row is that function. */
struct broken {
	size_t member; /* its offset among the accessors */
	const char *function, *part;
};

#define BROKEN(member, function, part)                             \
	{                                                          \
		offsetof(struct accessors, member), function, part \
	}

TEST_CASE(what_code_does_not_show_is_named)
{
	static const struct broken rows[] = {
		BROKEN(drop, NULL, "no drop of OnceLock<GlobalCtxt>"),
		BROKEN(table, NULL, "no TyCtxt::def_path_table"),
		BROKEN(keys, NULL, "neither DefPathTable::enumerated_keys_and_path_hashes"),
		BROKEN(path, NULL, "no Definitions::def_path"),
		BROKEN(name, NULL, "no DefPathData::name"),
		BROKEN(text, NULL, "no Symbol::as_str"),
		/* The table is a part of the context. */
		BROKEN(table, "table.elsewhere", "TyCtxt::def_path_table returns no part"),
		BROKEN(table, "table.several", "TyCtxt::def_path_table returns several"),
		BROKEN(table, "table.leaves", "TyCtxt::def_path_table is too complex"),
		/* Further than in any plan. */
		BROKEN(table, "table.far", "TyCtxt::def_path_table returns no part"),
		/* It has a first entry and an end. */
		BROKEN(keys, "keys.first", "enumerated_keys_and_path_hashes makes no pair"),
		BROKEN(keys, "keys.large", "enumerated_keys_and_path_hashes makes no pair"),
		/* An entry has a tag, a parent and a name. */
		BROKEN(path, "path.untagged", "Definitions::def_path does not look for a root"),
		BROKEN(path, "path.overlapping",
		       "Definitions::def_path reads entries of another size"),
		BROKEN(path, "path.copies_little", "Definitions::def_path copies no symbol"),
		/* Some tags have a name of their own. */
		BROKEN(name, "name.fixed", "no kind of definition has a name of its own"),
		BROKEN(name, "name.two_kinds", "names of definitions are of several kinds"),
		/* Texts are in a table of the thread's globals. */
		BROKEN(text, "text.called", "Symbol::as_str returns no entry"),
		BROKEN(text, "text.local", "Symbol::as_str"),
		BROKEN(text, "text.unbounded", "Symbol::as_str compares no symbol"),
		/* The context is known where it is dropped. */
		BROKEN(drop, "drop.unconditional", "tests no state"),
		BROKEN(drop, "drop.state_first", "state before the value"),
		BROKEN(drop, "drop.moved", "moves its argument"),
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		struct accessors a = GOOD;
		struct plan_layout l;

		memcpy((char *)&a + rows[i].member, &rows[i].function, sizeof(rows[i].function));
		row_part(rows[i].function ?: rows[i].part, mine(a, &l), rows[i].part);
	}
}

TEST_CASE(a_copy_that_shows_all_is_enough)
{
	struct accessors a = GOOD;
	struct layout_function functions[MOST + 1];
	struct functions_of f;
	const struct elf_symbol *bad = symbol(img, "table.elsewhere");
	struct code_region region = {bad->addr, bad->size};
	struct plan_layout l;
	const char *problem;

	list_accessors(&a, &f);
	memcpy(functions + 1, f.items, f.n * sizeof(*functions));
	functions[0] = (struct layout_function){.kind = NAME_DEF_PATH_TABLE,
						.entry = bad->addr,
						.regions = &region,
						.n_regions = 1};
	assert_int_equal(layout_mine(img, decoder, functions, f.n + 1, &l, &problem), 0);
	assert_null(problem);
	assert_int_equal(l.wire.table, 0x1f560);
}

/* ---- A thread's context ---------------------------------------------------------------------- */

static const enum name_kind callbacks[] = {NAME_DEF_ID_DEBUG, NAME_TRACK_PARENT};

/* Of these two functions; NULL: there is none. */
static const char *mine_context(const enum name_kind kinds[2], const char *debug,
				const char *parent, struct wire_layout_current *out)
{
	const char *problem = "not set";
	struct functions_of f;

	list(&f, kinds, (const char *const[]){debug, parent}, 2);
	*out = (struct wire_layout_current){.context = 77};
	assert_int_equal(layout_context_mine(img, f.items, f.n, out, &problem), 0);
	if (problem)
		assert_pairs(out->context, 77, out->known, 0);
	return problem;
}

TEST_CASE(the_code_shows_the_threads_context)
{
	static const enum name_kind older[] = {NAME_DEP_KIND_DEBUG, NAME_DEP_NODE_DEBUG};
	const uint64_t current = symbol(img, "current")->addr;
	struct wire_layout_current out;

	assert_null(mine_context(callbacks, "a_debug", "a_parent", &out));
	assert_pairs(out.known, 1, out.offset, current, out.context, 0x10);
	assert_null(mine_context(callbacks, "b_debug", "b_parent", &out));
	assert_pairs(out.offset, current, out.context, 0x28);
	assert_null(mine_context(older, "a_debug", "a_parent", &out));
	assert_pairs(out.offset, current, out.context, 0x10);
	assert_non_null(mine_context(older, "a_debug", "b_parent", &out));
}

TEST_CASE(a_context_that_is_not_shown_is_not_guessed)
{
	static const struct {
		const char *debug, *parent, *part;
	} rows[] = {
		{NULL, "a_parent", "there is no rustc_interface::callbacks::def_id_debug"},
		{"a_debug", NULL, "there is no rustc_interface::callbacks::track_span"},
		/* One field is read, and is tested before. */
		{"b_table", "a_parent", "reads no context"},
		{"debug.untested", "a_parent", "reads no context"},
		{"debug.several", "a_parent", "reads several"},
		/* It is the address of something large. */
		{"a_debug", "b_table", "reads nothing far"},
		{"a_debug", "parent.near", "reads nothing far"},
		{"a_debug", "parent.several", "finds several"},
		/* Both functions find the same. */
		{"a_debug", "b_parent", "find different contexts"},
		{"a_debug", "parent.elsewhere", "find different contexts"},
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		struct wire_layout_current out;

		row_part(rows[i].part, mine_context(callbacks, rows[i].debug, rows[i].parent, &out),
			 rows[i].part);
	}
}

/* ---- Crates ---------------------------------------------------------------------------------- */

static int other_setup(const char *name)
{
	return fixture_dir_setup(NULL) ?: image_of(fixture(name), &img)
						  ?: code_decoder__new(img, &decoder);
}

static int crates_setup(void **state)
{
	return other_setup("crates.so");
}

TEST_GROUP(crates_setup, image_teardown)

struct crate_accessors {
	const char *hash, *store, *id, *crate, *name, *key, *to_def;
};

static const struct crate_accessors crates_a = {"a_hash",	"a_store", "a_id", "a_crate",
						"a_crate_name", "a_key",   NULL};
static const struct crate_accessors crates_b = {"b_hash",	"b_store", "b_id", NULL,
						"b_crate_name", "b_key",   NULL};

static const char *mine_crates(struct crate_accessors a, struct wire_layout_crates *out)
{
	static const enum name_kind kinds[] = {
		NAME_DEF_PATH_HASH,    NAME_STORE,	   NAME_STORE_STABLE_ID, NAME_STORE_CRATE,
		NAME_STORE_CRATE_NAME, NAME_STORE_DEF_KEY, NAME_HASH_TO_DEF,
	};
	const struct wire_layout definitions = {.table = 0x4000, .size = 16};
	const char *problem = "not set";
	struct functions_of f;

	list(&f, kinds,
	     (const char *const[]){a.hash, a.store, a.id, a.crate, a.name, a.key, a.to_def},
	     N_OF(kinds));
	*out = (struct wire_layout_crates){.pad = 77};
	assert_int_equal(layout_mine_crates(img, f.items, f.n, &definitions, out, &problem), 0);
	if (problem)
		assert_int_equal(out->pad, 77);
	return problem;
}

TEST_CASE(the_code_shows_where_crates_are)
{
	struct wire_layout_crates l;

	assert_null(mine_crates(crates_a, &l));
	assert_pairs(l.size, 20, l.index, 0, l.key, 4, l.own_id, 0x1f598, l.store, 0x1f428,
		     l.crates, 8, l.n_crates, 0x10, l.name, 0x88, l.stable_id, 0xa10, l.keys, 0xb40,
		     l.keys_mask, 0xb48);
	assert_null(mine_crates(crates_b, &l));
	assert_pairs(l.size, 20, l.index, 16, l.key, 0, l.own_id, 0x4050, l.store, 0x3ff8, l.crates,
		     0, l.n_crates, 0x18, l.name, 0x10, l.stable_id, 0x18, l.keys, 0x28,
		     l.keys_mask, 0x30);
}

/* That the function which shows it most clearly is there is not needed. */
TEST_CASE(hashes_are_compared_with_the_own_id)
{
	struct crate_accessors a = crates_a;
	struct wire_layout_crates l;

	a.hash = NULL;
	a.to_def = "to_def";
	assert_null(mine_crates(a, &l));
	assert_int_equal(l.own_id, 0x1f420);
	a.to_def = "to_def.several";
	assert_string_equal(mine_crates(a, &l),
			    "TyCtxt::def_path_hash_to_def_id compares several StableCrateIds");
	a.to_def = "a_store";
	assert_string_equal(mine_crates(a, &l),
			    "TyCtxt::def_path_hash_to_def_id compares no StableCrateId "
			    "of the compiled crate");
}

/* The store behind a vtable; no function that gets a crate; functions that look in the cache. */
TEST_CASE(crates_are_found_in_other_ways)
{
	struct crate_accessors a = crates_a;
	struct wire_layout_crates l;

	a.store = "store.dyn";
	assert_null(mine_crates(a, &l));
	assert_int_equal(l.store, 0x1f428);
	a = crates_a;
	a.crate = NULL;
	assert_null(mine_crates(a, &l));
	assert_int_equal(l.name, 0x88);
	a = crates_a;
	a.key = "c_key";
	assert_null(mine_crates(a, &l));
	assert_pairs(l.size, 20, l.index, 0, l.keys, 0x40, l.keys_mask, 0x48);
	a.key = "d_key";
	assert_null(mine_crates(a, &l));
	assert_int_equal(l.keys, 0x40);
	a = (struct crate_accessors){"a_hash",		 "a_store", "a_id", "crate.first",
				     "crate_name.first", "a_key",   NULL};
	row_part("crate.first", mine_crates(a, &l), "CrateStore::crate_name returns");
}

TEST_CASE(crates_that_are_not_shown_are_not_guessed)
{
#define WITHOUT(of, member, function, part)                                  \
	{                                                                    \
		of, offsetof(struct crate_accessors, member), function, part \
	}
	const struct {
		struct crate_accessors of;
		size_t member;
		const char *function, *part;
	} rows[] = {
		WITHOUT(crates_a, hash, NULL, "no TyCtxt::def_path_hash"),
		WITHOUT(crates_a, store, NULL, "no CStore::from_tcx"),
		WITHOUT(crates_a, id, NULL, "no CrateStore::stable_crate_id"),
		WITHOUT(crates_a, name, NULL, "no CrateStore::crate_name"),
		WITHOUT(crates_a, key, NULL, "no CrateStore::def_key"),
		/* The own id comes with a hash of the definition. */
		WITHOUT(crates_b, hash, "hash.constant", "TyCtxt::def_path_hash returns"),
		WITHOUT(crates_b, hash, "hash.before", "TyCtxt::def_path_hash returns"),
		WITHOUT(crates_b, hash, "b_store", "TyCtxt::def_path_hash returns"),
		/* The store is a part of the context. */
		WITHOUT(crates_b, store, "store.elsewhere", "CStore::from_tcx returns"),
		WITHOUT(crates_b, store, "store.far", "CStore::from_tcx returns"),
		WITHOUT(crates_b, store, "store.no_vtable", "CStore::from_tcx returns"),
		/* Crates are in a table with an end, not the one that keys are looked up in. */
		WITHOUT(crates_b, id, "id.unbounded", "compares no crate"),
		WITHOUT(crates_b, id, "id.inline", "CrateStore::stable_crate_id returns"),
		WITHOUT(crates_b, id, "a_id", "CrateStore::def_key compares"),
		/* A name is in a crate's metadata. */
		WITHOUT(crates_a, crate, "crate.first", "CrateStore::crate_name returns"),
		WITHOUT(crates_a, name, "crate_name.outside", "CrateStore::crate_name returns"),
		WITHOUT(crates_a, name, "b_id", "CrateStore::crate_name returns"),
		WITHOUT(crates_a, key, "key.by_store", "CrateStore::def_key compares"),
		WITHOUT(crates_a, key, "key.of_another", "CrateStore::def_key compares"),
		WITHOUT(crates_a, key, "key.by_number", "CrateStore::def_key compares"),
		/* An entry is below the control bytes. */
		WITHOUT(crates_b, key, "key.larger", "CrateStore::def_key compares"),
		WITHOUT(crates_b, key, "key.amid", "CrateStore::def_key compares"),
		WITHOUT(crates_b, key, "key.unmasked", "CrateStore::def_key compares"),
		WITHOUT(crates_b, key, "a_key", "CrateStore::def_key compares"),
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		struct crate_accessors a = rows[i].of;
		struct wire_layout_crates l;

		memcpy((char *)&a + rows[i].member, &rows[i].function, sizeof(rows[i].function));
		row_part(rows[i].function ?: rows[i].part, mine_crates(a, &l), rows[i].part);
	}
}

/* ---- Places ---------------------------------------------------------------------------------- */

static int places_setup(void **state)
{
	return other_setup("places.so");
}

TEST_GROUP(places_setup, image_teardown)

struct place_accessors {
	const char *spans, *map, *files, *by_name, *path, *lines, *bounds, *data;
};

static const struct place_accessors places_a = {"a_spans", "a_map",   "a_files",  "a_by_name",
						"a_path",  "a_lines", "a_bounds", "a_data"};

static const char *mine_places(struct place_accessors a, struct wire_layout_places *out)
{
	static const enum name_kind kinds[] = {NAME_PROVIDER,	  NAME_SOURCE_MAP, NAME_FILE_INDEX,
					       NAME_FILE_BY_NAME, NAME_LOCAL_PATH, NAME_FILE_LINES,
					       NAME_LINE_BOUNDS,  NAME_SPAN_DATA};
	const struct wire_layout definitions = {.globals = symbol(img, "globals")->addr};
	const char *problem = "not set";
	struct functions_of f;

	list(&f, kinds,
	     (const char *const[]){a.spans, a.map, a.files, a.by_name, a.path, a.lines, a.bounds,
				   a.data},
	     N_OF(kinds));
	if (a.spans) {
		f.items[0].query = "source_spanning";
		f.items[0].query_len = strlen("source_span");
	}
	*out = (struct wire_layout_places){.ready = 77};
	assert_int_equal(layout_mine_places(img, f.items, f.n, &definitions, out, &problem), 0);
	if (problem)
		assert_int_equal(out->ready, 77);
	return problem;
}

TEST_CASE(the_code_shows_where_places_are)
{
	struct wire_layout_places l;

	assert_null(mine_places(places_a, &l));
	assert_null(plan_places_excess(&l));
	assert_true(l.ready == 1ull << 63);
	assert_pairs(l.known, 1, l.spans, 0x1f448, l.n_spans, 0x1f548, l.first, 1, l.step, 2,
		     l.source_map, 0x30, l.files, 0xe8, l.n_files, 0xf0, l.file_size, 0x160,
		     l.file_start, 0x154, l.file_length, 0x158, l.name, 0x58, l.name_length, 0x60,
		     l.name_capacity, 0x50, l.state, 0x118, l.lines, 0x128, l.n_lines, 0x130,
		     l.interned, 0xb0, l.n_interned, 0xb8, l.interned_size, 24, l.position, 4,
		     l.context, 12);
	assert_null(mine_places((struct place_accessors){"b_spans", "b_map", "b_files", "b_by_name",
							 "a_path", "b_lines", "b_bounds", "b_data"},
				&l));
	assert_true(l.ready == -3ull);
	assert_pairs(l.spans, 0x400, l.n_spans, 0x500, l.first, 8, l.step, 1, l.source_map, 0x78,
		     l.files, 0x28, l.n_files, 0x18, l.file_start, 0x34, l.file_length, 0x38,
		     l.name, 0x20, l.state, 0x48, l.lines, 0x58, l.n_lines, 0x50, l.interned,
		     0x208);
}

TEST_CASE(code_with_less_inlining_and_older_code_show_the_same)
{
	struct wire_layout_places l, expected;

	assert_null(mine_places(places_a, &expected));
	assert_null(mine_places((struct place_accessors){"a_spans", "c_map", "a_files", "c_by_name",
							 "b_path", "a_lines", "c_bounds", "c_data"},
				&l));
	/* The entries have something in front. */
	expected.position += 8;
	expected.context += 8;
	assert_memory_equal(&l, &expected, sizeof(l));
	/* As 1.85 has them. The path is behind what says that it is one. */
	assert_null(mine_places((struct place_accessors){"d_spans", "a_map", "a_files", "d_by_name",
							 "d_path", "a_lines", "a_bounds", "a_data"},
				&l));
	assert_pairs(l.spans, 0x400, l.n_spans, 0x500, l.first, WIRE_SPANS_IN_ONE, l.step, 1,
		     l.name_capacity, 0x58, l.name, 0x60, l.name_length, 0x68, l.lines, 0x128);
	assert_null(plan_places_excess(&l));
}

TEST_CASE(places_that_are_not_shown_are_not_guessed)
{
#define LACKS(member, function, part)                                    \
	{                                                                \
		offsetof(struct place_accessors, member), function, part \
	}
	static const struct broken rows[] = {
		LACKS(spans, NULL, "no provider of source_span"),
		LACKS(map, NULL, "no source_map::get_source_map"),
		LACKS(files, NULL, "no SourceMap::lookup_source_file_idx"),
		LACKS(by_name, NULL, "no SourceMap::get_source_file"),
		LACKS(path, NULL, "no FileName::into_local_path"),
		LACKS(lines, NULL, "no SourceFile::lines"),
		LACKS(bounds, NULL, "no SourceFile::line_bounds"),
		LACKS(data, NULL, "no Span::data_untracked"),
		LACKS(spans, "spans.skewed", "shows no table of spans"),
		LACKS(spans, "spans.uncounted", "shows no table of spans"),
		LACKS(map, "map.elsewhere", "get_source_map returns no part"),
		LACKS(files, "files.called", "compares no position"),
		LACKS(by_name, "by_name.other", "compares no name"),
		LACKS(by_name, "by_name.two_words", "compares no name"),
		LACKS(path, "path.kept", "returns no path"),
		LACKS(path, "path.freed_alone", "returns no path"),
		LACKS(lines, "lines.always", "no lines that are at hand"),
		LACKS(bounds, "bounds.far", "reads the start of a file elsewhere"),
		LACKS(data, "data.other", "Span::data_untracked"),
		LACKS(data, "data.called", "unpacks spans in another way"),
		LACKS(data, "data.unbounded", "returns no entry of a table"),
		LACKS(data, "data.of_others", "fills in no entry of the globals' table"),
		LACKS(data, "data.counted_otherwise", "fills in no entry of the globals' table"),
		LACKS(data, "data.of_other_size", "fills in no entry of the globals' table"),
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		struct place_accessors a = places_a;
		struct wire_layout_places l;

		memcpy((char *)&a + rows[i].member, &rows[i].function, sizeof(rows[i].function));
		row_part(rows[i].function ?: rows[i].part, mine_places(a, &l), rows[i].part);
	}
}

TEST_MAIN(image_setup, image_teardown)
