// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/recover/activities.h"
#include "plan/recover/arguments.h"
#include "plan/recover/providers.h"
#include "plan/recover/recovered.h"

#include "test.h"
#include "../fixtures/recovered.h"
#include "base/array.h"

/* ---- Activities: tests/fixtures/drops.s ------------------------------------------------------ */

TEST_CASE(a_cold_side_without_a_name_is_found)
{
	_recovery_ struct recovery r = recovery_open("drops.so");

	assert_int_equal(activities__recover(r.img, &r.names, &r.problem), 0);
	assert_null(r.problem);
	ASSERT_KINDS(&r, 3, {"fn_cold", NAME_COLD_ACTIVITY}, {"fn_callback", NAME_OTHER},
		     {"fn_apart", NAME_OTHER});
	/* Functions that number labels. */
	row_part("text", recovery__name(&r, "number_text"), "get_or_alloc_cached_stringRe");
	row_part("other", recovery__name(&r, "number_other"), "get_or_alloc_cached_stringRe");
}

/* They print a text of their argument. */
TEST_CASE(drops_of_timers_are_found)
{
	_recovery_ struct recovery r = recovery_open("drops.so");

	assert_int_equal(timers__recover(r.img, &r.names, &r.problem), 0);
	assert_null(r.problem);
	ASSERT_KINDS(&r, 1, {"drop_timer", NAME_DROP_TIMER});
}

TEST_CASE(drops_of_guards_are_found)
{
	_recovery_ struct recovery r = recovery_open("drops.so");
	_known_symbols_ struct known_symbols known = {0};

	assert_int_equal(known_symbols__find(r.img, &known), 0);
	assert_int_equal(recovered_guards__find(r.img, &known, &r.names), 0);
	ASSERT_KINDS(&r, 2, {"drop", NAME_DROP_GUARD}, {"drop_moved", NAME_DROP_GUARD},
		     {"no_test", NAME_OTHER}, {"tests_other", NAME_OTHER}, {"no_clock", NAME_OTHER},
		     {"elsewhere", NAME_OTHER}, {"drop_timer", NAME_OTHER});
}

/* ---- Bodies: tests/fixtures/driver_v0.s ------------------------------------------------------ */

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

static void recover_bodies(struct recovery *r)
{
	_known_symbols_ struct known_symbols known;

	assert_int_equal(known_symbols__find(r->img, &known), 0);
	assert_int_equal(bodies__recover(r->img, &known, &r->names), 0);
}

TEST_CASE(callers_of_the_cold_side_are_bodies)
{
	_recovery_ struct recovery r = recovery_open("driver_v0.so");
	_recovery_ struct recovery named = recovery_open("driver_v0.so");
	_recovery_ struct recovery without = recovery_open("parts.so");
	uint64_t entries[16];
	size_t n = 0;

	hide_bodies(r.img, entries, &n);
	assert_true(n > 2);
	recover_bodies(&r);
	assert_int_equal(r.names.n, n);
	for (uint32_t i = 0; i < r.names.n; i++) {
		struct name_info info;

		name_classify(r.names.text + r.names.items[i].at, &info);
		assert_pairs(info.kind, NAME_BODY_UNKNOWN, info.part, NAME_PART_ENTRY);
		assert_true(array__has_u64(entries, n, r.names.items[i].addr));
	}
	/* Those with names keep them, and without a cold side there are none. */
	recover_bodies(&named);
	recover_bodies(&without);
	assert_int_equal(named.names.n + without.names.n, 0);
}

/* ---- Kinds of cold sides: tests/fixtures/query_engine.s -------------------------------------- */

TEST_CASE(the_tested_bit_shows_the_kind)
{
	_recovery_ struct recovery r = recovery_open("query_engine_unnamed.so");
	_recovery_ struct recovery activities = recovery_open("query_engine_unnamed.so");
	_recovery_ struct recovery named = recovery_open("query_engine.so");

	assert_int_equal(cold_kinds__are_unnamed(r.img), 1);
	assert_int_equal(cold_kinds__recover(r.img, false, &r.names), 0);
	/* Several tests may lead to the call of fn_blocked. */
	ASSERT_KINDS(&r, 5, {"fn_provider", NAME_COLD_PROVIDER}, {"fn_load", NAME_COLD_LOAD},
		     {"fn_hash", NAME_COLD_HASHING}, {"fn_size", NAME_COLD_ARTIFACT},
		     {"fn_blocked", NAME_COLD_BLOCKED}, {"fn_both", NAME_OTHER},
		     {"fn_untested", NAME_OTHER});
	assert_int_equal(cold_kinds__recover(activities.img, true, &activities.names), 0);
	ASSERT_KINDS(&activities, 1, {"fn_activity", NAME_COLD_ACTIVITY}, {"fn_both", NAME_OTHER},
		     {"fn_untested", NAME_OTHER});
	/* A library that names them needs none. */
	assert_int_equal(cold_kinds__are_unnamed(named.img), 0);
}

/* ---- What is passed to others: tests/fixtures/cold_sides.s ----------------------------------- */

TEST_CASE(functions_are_told_by_what_is_passed_to_others)
{
	_recovery_ struct recovery r = recovery_open("cold_sides_unnamed.so");
	_recovery_ struct recovery named = recovery_open("cold_sides.so");

	assert_int_equal(arguments__recover(r.img, &r.names), 0);
	assert_int_equal(r.names.n, 4);
	row_part("1", recovery__name(&r, "expansion"), "11LocalExpnId9expn_data");
	row_part("2", recovery__name(&r, "expansion_text"), "7ExtCtxt15expansion_descr");
	row_part("3", recovery__name(&r, "record_span"), "20record_arg_with_span");
	row_part("4", recovery__name(&r, "number_text"), "3impj10__fmt_inner");
	assert_null(recovery__name(&r, "outside"));
	assert_null(recovery__name(&r, "print_span"));
	/* With names for all, cold sides are looked at all the same. */
	assert_int_equal(arguments__recover(named.img, &named.names), 0);
	assert_int_equal(named.names.n, 1);
	assert_non_null(recovery__name(&named, "expansion"));
}

/* ---- Readers of the context and of spans: tests/fixtures/readers.s --------------------------- */

TEST_CASE(the_drop_of_the_context_and_readers_of_spans_are_found)
{
	_recovery_ struct recovery r = recovery_open("readers.so");
	_recovery_ struct recovery before = recovery_open("readers_before.so");

	assert_int_equal(readers__recover(r.img, &r.bounds, &r.names), 0);
	ASSERT_KINDS(&r, 3, {"drop", NAME_DROP_CONTEXT}, {"near", NAME_OTHER}, {"amid", NAME_OTHER},
		     {"reads_few", NAME_OTHER}, {"no_state", NAME_OTHER}, {"span", NAME_SPAN_DATA},
		     {"span_elsewhere", NAME_SPAN_DATA}, {"span_lost", NAME_OTHER});
	/* Before 1.86 the state of a context that is there was 3. */
	assert_int_equal(readers__recover(before.img, &before.bounds, &before.names), 0);
	ASSERT_KINDS(&before, before.names.n, {"drop", NAME_DROP_CONTEXT},
		     {"no_state", NAME_OTHER});
}

/* ---- Providers: tests/fixtures/vtables.s ----------------------------------------------------- */

#define QUERIES 40
#define FIRST	10

static void take(const struct recovery *r, const char *prefix, uint64_t functions[QUERIES])
{
	for (int i = 0; i < QUERIES; i++) {
		char name[32];

		snprintf(name, sizeof(name), "%s_%d", prefix, FIRST + i);
		functions[i] = symbol(r->img, name)->addr;
	}
}

TEST_CASE(each_reads_a_place)
{
	_recovery_ struct recovery r = recovery_open("vtables.so");
	uint64_t functions[QUERIES];
	uint32_t places[QUERIES];

	take(&r, "provider", functions);
	assert_int_equal(providers_places(r.img, &r.bounds, functions, QUERIES, places), 1);
	for (uint32_t i = 0; i < QUERIES; i++)
		assert_int_equal(places[i], i);
	/* A gap, and functions that read nothing. */
	assert_int_equal(providers_places(r.img, &r.bounds, functions + 1, QUERIES - 1, places), 1);
	functions[5] = functions[4];
	assert_int_equal(providers_places(r.img, &r.bounds, functions, QUERIES, places), 0);
	take(&r, "incr", functions);
	assert_int_equal(providers_places(r.img, &r.bounds, functions, QUERIES, places), 0);
}

TEST_CASE(closures_call_providers)
{
	static const char *const calls[][2] = {{"compute", "provider"}, {"incr", "incr"}};
	_recovery_ struct recovery r = recovery_open("vtables.so");
	uint64_t functions[QUERIES], expected[QUERIES];

	for (size_t i = 0; i < N_OF(calls); i++) {
		take(&r, calls[i][0], functions);
		take(&r, calls[i][1], expected);
		assert_int_equal(providers_called(r.img, &r.bounds, functions, QUERIES), 0);
		assert_memory_equal(functions, expected, sizeof(functions));
	}
}

/* 39 queries with four addresses each, and 40 providers. */
TEST_CASE(addresses_and_defaults_are_counted)
{
	_recovery_ struct recovery r = recovery_open("vtables.so");
	struct address_counts counts;
	uint64_t function = 0, other = 0;

	assert_int_equal(addresses__count(r.img, &r.bounds, &counts), 0);
	assert_int_equal(counts.n, 2);
	assert_int_equal(counts.items[0].function, symbol(r.img, "make_table")->addr);
	assert_int_equal(counts.items[0].count, 4 * 39);
	assert_int_equal(counts.items[1].function, symbol(r.img, "defaults")->addr);
	assert_int_equal(counts.items[1].count, 40);
	assert_int_equal(providers_defaults(r.img, &r.bounds, &counts, QUERIES, &function), 1);
	assert_int_equal(function, symbol(r.img, "defaults")->addr);
	assert_int_equal(providers_defaults(r.img, &r.bounds, &counts, QUERIES - 1, &other), 0);
	assert_int_equal(providers_defaults(r.img, &r.bounds, &counts, QUERIES + 1, &other), 0);
}

/* ---- Names become symbols: tests/fixtures/parts.s -------------------------------------------- */

TEST_CASE(names_and_parts_become_symbols)
{
	_recovery_ struct recovery r = recovery_open("parts.so");
	const uint64_t exported = symbol(r.img, "exported")->addr;
	const uint64_t other = symbol(r.img, "other")->addr, lone = symbol(r.img, "lone")->addr;
	const uint64_t undescribed = symbol(r.img, "undescribed")->addr;
	const struct elf_symbol *syms;
	char name[32];
	size_t n;

	assert_true(bounds__starts(&r.bounds, other));
	assert_false(bounds__starts(&r.bounds, symbol(r.img, "cold")->addr));
	assert_int_equal(recovered__add(&r.names, exported, "first"), 0);
	assert_int_equal(recovered__add(&r.names, undescribed, "nowhere"), 0);
	assert_int_equal(recovered__add(&r.names, exported, "second.1"), 0);
	assert_non_null(recovery__name(&r, "exported"));
	assert_null(recovery__name(&r, "other"));
	assert_int_equal(recovered__give(&r.names, &r.bounds, r.img), 0);
	assert_int_equal(elf_image__symbols(r.img, &syms, &n), 0);
	/* The function and its three parts have two names each; three more have none. */
	assert_int_equal(n, 11);
	assert_int_equal(symbol(r.img, "first")->addr, exported);
	assert_int_equal(symbol(r.img, "second.1")->addr, exported);
	assert_non_null(find_symbol(r.img, "first.cold"));
	assert_int_equal(symbol(r.img, "second.1.cold")->base_len, strlen("second.1"));
	snprintf(name, sizeof(name), "fn_%llx", (unsigned long long)other);
	assert_int_equal(symbol(r.img, name)->addr, other);
	snprintf(name, sizeof(name), "fn_%llx.cold", (unsigned long long)lone);
	assert_int_equal(symbol(r.img, name)->addr, lone);
	assert_null(find_symbol(r.img, "nowhere"));

	/* Again, with one more name. */
	assert_int_equal(recovered__add(&r.names, other, "third"), 0);
	assert_int_equal(recovered__give(&r.names, &r.bounds, r.img), 0);
	assert_int_equal(symbol(r.img, "third")->addr, other);
	assert_int_equal(symbol(r.img, "first")->addr, exported);
}

TEST_CASE(exported_functions_keep_their_names)
{
	_recovery_ struct recovery r = recovery_open("parts_stripped.so");

	assert_false(elf_image__has_symbols(r.img));
	assert_int_equal(dynsym__recover(r.img, &r.names), 0);
	assert_int_equal(r.names.n, 2);
	assert_int_equal(r.names.items[0].addr, r.names.items[1].addr);
	assert_string_equal(r.names.text + r.names.items[0].at, "exported");
	assert_string_equal(r.names.text + r.names.items[1].at, "also_exported");
}

TEST_CASE(functions_have_the_names_that_a_plan_looks_for)
{
	static const enum name_kind kinds[] = {NAME_WRAPPER_NON_INCR, NAME_WRAPPER_INCR,
					       NAME_PROVIDER};
	__cleanup(recovered__destroy) struct recovered r = {0};

	/* The text goes on behind the name. */
	assert_int_equal(query_names__wrappers(&r, "type_of_", 7, 0x10, 0x20), 0);
	assert_int_equal(query_names__provider(&r, "type_of_", 7, 0x30), 0);
	assert_int_equal(query_names__loader(&r, "type_of_", 7, 0x40), 0);
	assert_int_equal(r.n, 4);
	for (uint32_t i = 0; i < N_OF(kinds); i++) {
		struct name_info info;

		name_classify(r.text + r.items[i].at, &info);
		assert_pairs(r.items[i].addr, 0x10 * (i + 1), info.kind, kinds[i], info.query_len,
			     strlen("type_of"));
		assert_memory_equal(info.query, "type_of", info.query_len);
	}
	assert_non_null(strstr(r.text + r.items[3].at, "7type_of"));
}

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

TEST_MAIN(fixture_dir_setup, fixture_dir_teardown)
