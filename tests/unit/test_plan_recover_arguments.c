// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/recover/arguments.h"
#include "plan/symbols/names.h"
#include "plan/recover/providers.h"
#include "plan/recover/recovered.h"

#include "test.h"
#define LIBRARY "cold_sides_unnamed.so"
#include "../fixtures/image.h"

/* The assembled tests/fixtures/cold_sides.s: once with names for all functions. */
static struct elf_image *named;
static struct recovered found, again;

static int setup(void **state)
{
	if (image_setup(state) || image_of(fixture("cold_sides.so"), &named))
		return -1;
	return arguments__recover(img, &found) ?: arguments__recover(named, &again);
}

static int teardown(void **state)
{
	recovered__destroy(&found);
	recovered__destroy(&again);
	elf_image__free(named);
	return image_teardown(state);
}

/* The name that the function was given, or "". */
static const char *name_of(const char *function)
{
	for (uint32_t i = 0; i < found.n; i++)
		if (found.items[i].addr == symbol(img, function)->addr)
			return found.text + found.items[i].at;
	return "";
}

TEST_CASE(functions_are_told_by_what_is_passed_to_others)
{
	assert_non_null(strstr(name_of("expansion"), "11LocalExpnId9expn_data"));
	assert_non_null(strstr(name_of("expansion_text"), "7ExtCtxt15expansion_descr"));
	assert_non_null(strstr(name_of("record_span"), "20record_arg_with_span"));
	assert_non_null(strstr(name_of("number_text"), "3impj10__fmt_inner"));
}

TEST_CASE(each_has_one_name_and_others_have_none)
{
	assert_int_equal(found.n, 4);
	assert_string_equal(name_of("outside"), "");
	assert_string_equal(name_of("print_span"), "");
}

/* Cold sides are looked at all the same, and what they look up expansions with has its name. */
TEST_CASE(functions_with_names_get_the_same)
{
	assert_int_equal(again.n, 1);
	for (uint32_t i = 0; i < again.n; i++)
		assert_int_equal(again.items[i].addr, symbol(named, "expansion")->addr);
}

/* ---- Recover readers ------------------------------------------------------------------------- */

/* The assembled tests/fixtures/readers.s. */
static struct bounds bounds;
static struct recovered readers_found;

static int open_readers(const char *name)
{
	return image_of(fixture(name), &img) ?: bounds__find(img, &bounds)
						     ?: readers__recover(img, &bounds, &readers_found);
}

static void close_readers(void)
{
	recovered__destroy(&readers_found);
	bounds__destroy(&bounds);
	elf_image__free(img);
	img = NULL;
	bounds = (struct bounds){0};
	readers_found = (struct recovered){0};
}

static int readers_setup(void **state)
{
	return fixture_dir_setup(state) || open_readers("readers.so") ? -1 : 0;
}

static int readers_teardown(void **state)
{
	close_readers();
	return fixture_dir_teardown(state);
}

/* The kind of the name that the function was given; NAME_OTHER: none. */
static enum name_kind kind_of(const char *function)
{
	struct name_info info = {.kind = NAME_OTHER};

	for (uint32_t i = 0; i < readers_found.n; i++)
		if (readers_found.items[i].addr == symbol(img, function)->addr)
			name_classify(readers_found.text + readers_found.items[i].at, &info);
	return info.kind;
}

TEST_GROUP(readers_setup, readers_teardown)

TEST_CASE(the_drop_of_the_context_is_found)
{
	assert_int_equal(kind_of("drop"), NAME_DROP_CONTEXT);
	assert_int_equal(kind_of("near"), NAME_OTHER);
	assert_int_equal(kind_of("amid"), NAME_OTHER);
	assert_int_equal(kind_of("reads_few"), NAME_OTHER);
	assert_int_equal(kind_of("no_state"), NAME_OTHER);
}

/* Before 1.86 the state of a context that is there was 3. */
TEST_CASE(an_older_drop_is_found)
{
	close_readers();
	assert_int_equal(open_readers("readers_before.so"), 0);
	assert_int_equal(kind_of("drop"), NAME_DROP_CONTEXT);
	assert_int_equal(kind_of("no_state"), NAME_OTHER);
}

TEST_CASE(functions_that_unpack_spans_are_found)
{
	assert_int_equal(kind_of("span"), NAME_SPAN_DATA);
	assert_int_equal(kind_of("span_elsewhere"), NAME_SPAN_DATA);
	assert_int_equal(kind_of("span_lost"), NAME_OTHER);
	assert_int_equal(readers_found.n, 3);
}

/* ---- Recover providers ----------------------------------------------------------------------- */

#define QUERIES 40
#define FIRST	10

/* An assembled tests/fixtures/vtables.s. */
struct library {
	struct elf_image *img;
	struct bounds bounds;
};

static struct library opened(const char *name)
{
	struct library l = {0};

	assert_int_equal(image_of(fixture(name), &l.img), 0);
	assert_int_equal(bounds__find(l.img, &l.bounds), 0);
	return l;
}

static void library__destroy(struct library *l)
{
	bounds__destroy(&l->bounds);
	elf_image__free(l->img);
}

static void take(struct library *l, const char *prefix, uint64_t functions[QUERIES])
{
	for (int i = 0; i < QUERIES; i++) {
		char name[32];

		snprintf(name, sizeof(name), "%s_%d", prefix, FIRST + i);
		functions[i] = symbol(l->img, name)->addr;
	}
}

TEST_GROUP(fixture_dir_setup, fixture_dir_teardown)

TEST_CASE(each_reads_a_place)
{
	__cleanup(library__destroy) struct library l = opened("vtables.so");
	uint64_t functions[QUERIES];
	uint32_t places[QUERIES];

	take(&l, "provider", functions);
	assert_int_equal(providers_places(l.img, &l.bounds, functions, QUERIES, places), 1);
	for (uint32_t i = 0; i < QUERIES; i++)
		assert_int_equal(places[i], i);
	/* A gap, and functions that read nothing. */
	assert_int_equal(providers_places(l.img, &l.bounds, functions + 1, QUERIES - 1, places), 1);
	functions[5] = functions[4];
	assert_int_equal(providers_places(l.img, &l.bounds, functions, QUERIES, places), 0);
	take(&l, "incr", functions);
	assert_int_equal(providers_places(l.img, &l.bounds, functions, QUERIES, places), 0);
}

TEST_CASE(closures_call_providers)
{
	__cleanup(library__destroy) struct library l = opened("vtables.so");
	uint64_t functions[QUERIES], expected[QUERIES];

	take(&l, "compute", functions);
	take(&l, "provider", expected);
	assert_int_equal(providers_called(l.img, &l.bounds, functions, QUERIES), 0);
	assert_memory_equal(functions, expected, sizeof(functions));
	take(&l, "incr", functions);
	take(&l, "incr", expected);
	assert_int_equal(providers_called(l.img, &l.bounds, functions, QUERIES), 0);
	assert_memory_equal(functions, expected, sizeof(functions));
}

TEST_CASE(defaults_are_counted)
{
	__cleanup(library__destroy) struct library l = opened("vtables.so");
	struct address_counts counts;
	uint64_t function = 0, other = 0;

	assert_int_equal(addresses__count(l.img, &l.bounds, &counts), 0);
	assert_int_equal(providers_defaults(l.img, &l.bounds, &counts, QUERIES, &function), 1);
	assert_int_equal(function, symbol(l.img, "defaults")->addr);
	assert_int_equal(providers_defaults(l.img, &l.bounds, &counts, QUERIES - 1, &other), 0);
	assert_int_equal(providers_defaults(l.img, &l.bounds, &counts, QUERIES + 1, &other), 0);
}

/* ---- Recover recovered ----------------------------------------------------------------------- */

/* The assembled tests/fixtures/parts.s. */
static struct elf_image *recovered_img;

static int recovered_setup(void **state)
{
	return fixture_dir_setup(state) || image_of(fixture("parts.so"), &recovered_img) ? -1 : 0;
}

static int recovered_teardown(void **state)
{
	elf_image__free(recovered_img);
	return fixture_dir_teardown(state);
}

static bool has(const struct recovered *r, uint64_t addr)
{
	for (uint32_t i = 0; i < r->n; i++)
		if (r->items[i].addr == addr)
			return true;
	return false;
}

TEST_GROUP(recovered_setup, recovered_teardown)

TEST_CASE(names_and_parts_become_symbols)
{
	const uint64_t exported = symbol(recovered_img, "exported")->addr;
	const uint64_t other = symbol(recovered_img, "other")->addr,
		       lone = symbol(recovered_img, "lone")->addr;
	const uint64_t undescribed = symbol(recovered_img, "undescribed")->addr;
	_bounds_ struct bounds bounds;
	_recovered_ struct recovered r = {0};
	const struct elf_symbol *syms;
	char name[32];
	size_t n;

	assert_int_equal(bounds__find(recovered_img, &bounds), 0);
	assert_int_equal(recovered__add(&r, exported, "first"), 0);
	assert_int_equal(recovered__add(&r, undescribed, "nowhere"), 0);
	assert_int_equal(recovered__add(&r, exported, "second.1"), 0);
	assert_true(has(&r, exported));
	assert_false(has(&r, other));
	assert_int_equal(recovered__give(&r, &bounds, recovered_img), 0);
	assert_int_equal(elf_image__symbols(recovered_img, &syms, &n), 0);
	/* The function and its three parts have two names each; three more have none. */
	assert_int_equal(n, 11);
	assert_int_equal(symbol(recovered_img, "first")->addr, exported);
	assert_int_equal(symbol(recovered_img, "second.1")->addr, exported);
	assert_non_null(find_symbol(recovered_img, "first.cold"));
	assert_int_equal(symbol(recovered_img, "second.1.cold")->base_len, strlen("second.1"));
	snprintf(name, sizeof(name), "fn_%llx", (unsigned long long)other);
	assert_int_equal(symbol(recovered_img, name)->addr, other);
	snprintf(name, sizeof(name), "fn_%llx.cold", (unsigned long long)lone);
	assert_int_equal(symbol(recovered_img, name)->addr, lone);
	assert_null(find_symbol(recovered_img, "nowhere"));

	/* Again, with one more name. */
	assert_int_equal(recovered__add(&r, other, "third"), 0);
	assert_int_equal(recovered__give(&r, &bounds, recovered_img), 0);
	assert_int_equal(symbol(recovered_img, "third")->addr, other);
	assert_int_equal(symbol(recovered_img, "first")->addr, exported);
}

TEST_CASE(exported_functions_keep_their_names)
{
	_elf_image_ struct elf_image *stripped = NULL;
	_recovered_ struct recovered r = {0};

	assert_int_equal(image_of(fixture("parts_stripped.so"), &stripped), 0);
	assert_false(elf_image__has_symbols(stripped));
	assert_int_equal(dynsym__recover(stripped, &r), 0);
	assert_int_equal(r.n, 2);
	assert_int_equal(r.items[0].addr, r.items[1].addr);
	assert_string_equal(r.text + r.items[0].at, "exported");
	assert_string_equal(r.text + r.items[1].at, "also_exported");
}

/* ---- Recover query names --------------------------------------------------------------------- */

static struct name_info info_of(const struct recovered *r, uint32_t i, uint64_t addr)
{
	struct name_info info;

	assert_int_equal(r->items[i].addr, addr);
	name_classify(r->text + r->items[i].at, &info);
	return info;
}

static void assert_query(const struct name_info *info, enum name_kind kind)
{
	assert_int_equal(info->kind, kind);
	assert_int_equal(info->query_len, strlen("type_of"));
	assert_memory_equal(info->query, "type_of", info->query_len);
}

TEST_GROUP(NULL, NULL)

TEST_CASE(functions_have_the_names_that_a_plan_looks_for)
{
	__cleanup(recovered__destroy) struct recovered r = {0};
	struct name_info info[3];

	/* The text goes on behind the name. */
	assert_int_equal(query_names__wrappers(&r, "type_of_", 7, 0x10, 0x20), 0);
	assert_int_equal(query_names__provider(&r, "type_of_", 7, 0x30), 0);
	assert_int_equal(query_names__loader(&r, "type_of_", 7, 0x40), 0);
	assert_int_equal(r.n, 4);
	for (uint32_t i = 0; i < N_OF(info); i++)
		info[i] = info_of(&r, i, 0x10 * (i + 1));
	assert_query(&info[0], NAME_WRAPPER_NON_INCR);
	assert_query(&info[1], NAME_WRAPPER_INCR);
	assert_query(&info[2], NAME_PROVIDER);
	assert_non_null(strstr(r.text + r.items[3].at, "7type_of"));
}

/* ---- Recover query numbers ------------------------------------------------------------------- */

TEST_CASE(numbers_are_found_by_wrapper)
{
	_query_numbers_ struct query_numbers q = {0};

	assert_null(query_numbers__of(&q, 0x10));
	assert_int_equal(query_numbers__add(&q, (struct query_number){0x30, 7, -8}), 0);
	assert_int_equal(query_numbers__add(&q, (struct query_number){0x10, 9, -16}), 0);
	query_numbers__sort(&q);
	assert_int_equal(query_numbers__of(&q, 0x10)->number, 9);
	assert_int_equal(query_numbers__of(&q, 0x10)->vtable, -16);
	assert_int_equal(query_numbers__of(&q, 0x30)->number, 7);
	assert_null(query_numbers__of(&q, 0x20));
}

/* ---- Recover addresses ----------------------------------------------------------------------- */

TEST_GROUP(fixture_dir_setup, fixture_dir_teardown)

/* Of the assembled tests/fixtures/vtables.s: 39 queries with four each, and 40 providers. */
TEST_CASE(functions_with_the_most_are_first)
{
	_elf_image_ struct elf_image *recovered_img = NULL;
	_bounds_ struct bounds bounds = {0};
	struct address_counts counts;

	assert_int_equal(image_of(fixture("vtables.so"), &recovered_img), 0);
	assert_int_equal(bounds__find(recovered_img, &bounds), 0);
	assert_int_equal(addresses__count(recovered_img, &bounds, &counts), 0);
	assert_int_equal(counts.n, 2);
	assert_int_equal(counts.items[0].function, symbol(recovered_img, "make_table")->addr);
	assert_int_equal(counts.items[0].count, 4 * 39);
	assert_int_equal(counts.items[1].function, symbol(recovered_img, "defaults")->addr);
	assert_int_equal(counts.items[1].count, 40);
}

TEST_MAIN(setup, teardown)
