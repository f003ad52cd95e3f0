// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/recover/activities.h"

#include "test.h"
#define LIBRARY "drops.so"
#include "../fixtures/image.h"
#include "plan/symbols/names.h"
#include "base/array.h"

/* The assembled tests/fixtures/drops.s. */
static struct recovered found;
static const char *problem;

static int setup(void **state)
{
	return image_setup(state) ?: activities__recover(img, &found, &problem);
}

static int teardown(void **state)
{
	recovered__destroy(&found);
	return image_teardown(state);
}

/* The name that the function was given, or NULL. */
static const char *name_of(const char *function)
{
	for (uint32_t i = 0; i < found.n; i++)
		if (found.items[i].addr == symbol(img, function)->addr)
			return found.text + found.items[i].at;
	return NULL;
}

TEST_CASE(a_cold_side_without_a_name_is_found)
{
	struct name_info info;

	assert_non_null(name_of("fn_cold"));
	name_classify(name_of("fn_cold"), &info);
	assert_int_equal(info.kind, NAME_COLD_ACTIVITY);
	assert_int_equal(info.part, NAME_PART_ENTRY);
}

TEST_CASE(functions_that_number_labels_are_found)
{
	assert_non_null(strstr(name_of("number_text"), "get_or_alloc_cached_stringRe"));
	assert_non_null(strstr(name_of("number_other"), "get_or_alloc_cached_stringRe"));
}

TEST_CASE(functions_without_a_label_are_not)
{
	assert_null(name_of("fn_callback"));
	assert_null(name_of("fn_apart"));
	assert_int_equal(found.n, 3);
	assert_null(problem);
}

/* ---- Recover bodies -------------------------------------------------------------------------- */

static bool is_body(const char *name)
{
	struct name_info info;

	name_classify(name, &info);
	return info.kind == NAME_BODY_NON_INCR || info.kind == NAME_BODY_INCR;
}

/* Change the names of bodies into others, and note where bodies begin. */
static void hide_bodies(struct elf_image *img, uint64_t *entries, size_t *n_entries)
{
	const struct elf_symbol *syms;
	_free_ GElf_Sym *hidden = NULL;
	size_t n, size = 0, len = 0;
	char *names;

	assert_int_equal(elf_image__symbols(img, &syms, &n), 0);
	for (size_t i = 0; i < n; i++)
		size += strlen(syms[i].name) + 1;
	hidden = calloc(n, sizeof(*hidden));
	names = malloc(size);
	assert_true(hidden && names);
	for (size_t i = 0; i < n; i++) {
		hidden[i] = (GElf_Sym){
			.st_name = (GElf_Word)len,
			.st_info = GELF_ST_INFO(STB_LOCAL, STT_FUNC),
			.st_shndx = SHN_ABS,
			.st_value = syms[i].addr,
			.st_size = syms[i].size,
		};
		strcpy(names + len, syms[i].name);
		if (is_body(syms[i].name)) {
			names[len] = 'x';
			if (!syms[i].name[syms[i].base_len] &&
			    !array__has_u64(entries, *n_entries, syms[i].addr))
				entries[(*n_entries)++] = syms[i].addr;
		}
		len += strlen(syms[i].name) + 1;
	}
	assert_int_equal(elf_image__take_symbols(img, hidden, n, names, len), 0);
}

static int recover(struct elf_image *img, struct recovered *r)
{
	_known_symbols_ struct known_symbols known;

	return known_symbols__find(img, &known) ?: bodies__recover(img, &known, r);
}

TEST_GROUP(fixture_dir_setup, fixture_dir_teardown)

/* The assembled tests/fixtures/driver_v0.s. */
TEST_CASE(callers_of_the_cold_side_are_bodies)
{
	_elf_image_ struct elf_image *img = NULL;
	_recovered_ struct recovered r = {0};
	uint64_t entries[16];
	size_t n = 0;

	assert_int_equal(image_of(fixture("driver_v0.so"), &img), 0);
	hide_bodies(img, entries, &n);
	assert_true(n > 2);
	assert_int_equal(recover(img, &r), 0);
	assert_int_equal(r.n, n);
	for (uint32_t i = 0; i < r.n; i++) {
		struct name_info info;

		name_classify(r.text + r.items[i].at, &info);
		assert_int_equal(info.kind, NAME_BODY_UNKNOWN);
		assert_int_equal(info.part, NAME_PART_ENTRY);
		assert_true(array__has_u64(entries, n, r.items[i].addr));
	}
}

TEST_CASE(bodies_with_names_keep_them)
{
	_elf_image_ struct elf_image *img = NULL;
	_recovered_ struct recovered r = {0};

	assert_int_equal(image_of(fixture("driver_v0.so"), &img), 0);
	assert_int_equal(recover(img, &r), 0);
	assert_int_equal(r.n, 0);
}

TEST_CASE(without_a_cold_side_there_are_none)
{
	_elf_image_ struct elf_image *img = NULL;
	_recovered_ struct recovered r = {0};

	assert_int_equal(image_of(fixture("parts.so"), &img), 0);
	assert_int_equal(recover(img, &r), 0);
	assert_int_equal(r.n, 0);
}

/* ---- Recover timers -------------------------------------------------------------------------- */

/* The assembled tests/fixtures/drops.s. */
static struct elf_image *timers_img;
static struct recovered timers_found;
static const char *timers_problem;

static int timers_setup(void **state)
{
	if (fixture_dir_setup(state) || image_of(fixture("drops.so"), &timers_img))
		return -1;
	return timers__recover(timers_img, &timers_found, &timers_problem);
}

static int timers_teardown(void **state)
{
	recovered__destroy(&timers_found);
	elf_image__free(timers_img);
	return fixture_dir_teardown(state);
}

TEST_GROUP(timers_setup, timers_teardown)

TEST_CASE(functions_that_print_a_text_of_their_argument_drop_timers)
{
	struct name_info info;

	assert_null(timers_problem);
	assert_int_equal(timers_found.n, 1);
	assert_int_equal(timers_found.items[0].addr, symbol(timers_img, "drop_timer")->addr);
	name_classify(timers_found.text, &info);
	assert_int_equal(info.kind, NAME_DROP_TIMER);
}

/* ---- Recover guards -------------------------------------------------------------------------- */

/* The assembled tests/fixtures/drops.s. */
static struct elf_image *guards_img;
static struct recovered guards_found;

static int guards_setup(void **state)
{
	_known_symbols_ struct known_symbols known = {0};

	if (fixture_dir_setup(state) || image_of(fixture("drops.so"), &guards_img))
		return -1;
	return known_symbols__find(guards_img, &known)
		       ?: recovered_guards__find(guards_img, &known, &guards_found);
}

static int guards_teardown(void **state)
{
	recovered__destroy(&guards_found);
	elf_image__free(guards_img);
	return fixture_dir_teardown(state);
}

/* The kind of the name that the function was given; NAME_OTHER: none. */
static enum name_kind kind_of(const char *function)
{
	struct name_info info = {.kind = NAME_OTHER};

	for (uint32_t i = 0; i < guards_found.n; i++)
		if (guards_found.items[i].addr == symbol(guards_img, function)->addr)
			name_classify(guards_found.text + guards_found.items[i].at, &info);
	return info.kind;
}

TEST_GROUP(guards_setup, guards_teardown)

TEST_CASE(drops_of_guards_are_found)
{
	assert_int_equal(kind_of("drop"), NAME_DROP_GUARD);
	assert_int_equal(kind_of("drop_moved"), NAME_DROP_GUARD);
}

TEST_CASE(other_functions_are_not)
{
	assert_int_equal(kind_of("no_test"), NAME_OTHER);
	assert_int_equal(kind_of("tests_other"), NAME_OTHER);
	assert_int_equal(kind_of("no_clock"), NAME_OTHER);
	assert_int_equal(kind_of("elsewhere"), NAME_OTHER);
	assert_int_equal(kind_of("drop_timer"), NAME_OTHER);
	assert_int_equal(guards_found.n, 2);
}

/* ---- Recover cold kinds ---------------------------------------------------------------------- */

/* The findings in a variant of the assembled tests/fixtures/query_engine.s. */
struct result {
	struct elf_image *img;
	struct recovered names;
};

static struct result recovered(bool activities)
{
	struct result r = {0};

	assert_int_equal(image_of(fixture("query_engine_unnamed.so"), &r.img), 0);
	assert_int_equal(cold_kinds__are_unnamed(r.img), 1);
	assert_int_equal(cold_kinds__recover(r.img, activities, &r.names), 0);
	return r;
}

static void result__destroy(struct result *r)
{
	recovered__destroy(&r->names);
	elf_image__free(r->img);
}

static enum name_kind cold_kinds_kind_of(const struct result *r, const char *function)
{
	struct name_info info;

	for (uint32_t i = 0; i < r->names.n; i++) {
		if (r->names.items[i].addr != symbol(r->img, function)->addr)
			continue;
		name_classify(r->names.text + r->names.items[i].at, &info);
		assert_int_equal(info.part, NAME_PART_ENTRY);
		return info.kind;
	}
	return NAME_OTHER;
}

TEST_GROUP(fixture_dir_setup, fixture_dir_teardown)

TEST_CASE(the_tested_bit_shows_the_kind)
{
	__cleanup(result__destroy) struct result r = recovered(false);

	assert_int_equal(cold_kinds_kind_of(&r, "fn_provider"), NAME_COLD_PROVIDER);
	assert_int_equal(cold_kinds_kind_of(&r, "fn_load"), NAME_COLD_LOAD);
	assert_int_equal(cold_kinds_kind_of(&r, "fn_hash"), NAME_COLD_HASHING);
	assert_int_equal(cold_kinds_kind_of(&r, "fn_size"), NAME_COLD_ARTIFACT);
	assert_int_equal(r.names.n, 5);
}

TEST_CASE(several_tests_may_lead_to_one_call)
{
	__cleanup(result__destroy) struct result r = recovered(false);

	assert_int_equal(cold_kinds_kind_of(&r, "fn_blocked"), NAME_COLD_BLOCKED);
}

TEST_CASE(activities_are_named_apart)
{
	__cleanup(result__destroy) struct result r = recovered(true);

	assert_int_equal(cold_kinds_kind_of(&r, "fn_activity"), NAME_COLD_ACTIVITY);
	assert_int_equal(r.names.n, 1);
}

TEST_CASE(what_is_called_for_several_kinds_or_untested_is_none)
{
	for (int activities = 0; activities < 2; activities++) {
		__cleanup(result__destroy) struct result r = recovered(activities);

		assert_int_equal(cold_kinds_kind_of(&r, "fn_both"), NAME_OTHER);
		assert_int_equal(cold_kinds_kind_of(&r, "fn_untested"), NAME_OTHER);
	}
}

TEST_CASE(a_library_that_names_them_needs_none)
{
	_elf_image_ struct elf_image *img = NULL;

	assert_int_equal(image_of(fixture("query_engine.so"), &img), 0);
	assert_int_equal(cold_kinds__are_unnamed(img), 0);
}

TEST_MAIN(setup, teardown)
