// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/recover/providers.h"

#include "../fixtures/fixture_dir.h"
#include "../fixtures/library.h"
#include "../fixtures/symbols.h"

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

static void each_reads_a_place(void **state)
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

static void closures_call_providers(void **state)
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

static void defaults_are_counted(void **state)
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_reads_a_place),
		cmocka_unit_test(closures_call_providers),
		cmocka_unit_test(defaults_are_counted),
	};

	return cmocka_run_group_tests(tests, fixture_dir_setup, fixture_dir_teardown);
}
