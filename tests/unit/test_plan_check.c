// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/check.h"

#include <limits.h>

#include "test.h"
#include "../fixtures/sample_plan.h"

static bool fits(struct plan_site site)
{
	struct plan plan = {.sites = &site, .n_sites = 1};

	return !plan_excess(&plan);
}

static bool end_fits(int32_t slot, int32_t sp_delta)
{
	return fits((struct plan_site){.role = WIRE_ROLE_END, .slot = slot, .sp_delta = sp_delta});
}

static bool identify_fits(int32_t slot, int32_t vtable_offset)
{
	return fits((struct plan_site){
		.role = WIRE_ROLE_IDENTIFY, .slot = slot, .vtable_offset = vtable_offset});
}

static void an_ends_slot_has_16_bits(void **state)
{
	assert_true(end_fits(PLAN_NO_SLOT, 0));
	assert_true(end_fits(0, 0));
	assert_true(end_fits(4 * 65534, 0));
	assert_false(end_fits(4 * 65535, 0)); /* would read as WIRE_NO_SLOT */
	assert_false(end_fits(4 * 65536, 0)); /* would read as 0 */
	assert_false(end_fits(INT32_MAX, 0));
	assert_false(end_fits(6, 0));
	assert_false(end_fits(-4, 0));
}

static void a_distance_on_the_stack_has_12_bits(void **state)
{
	static const int32_t deltas[] = {0, 8, -8, 8 * 2047, -8 * 2048};
	static const int32_t wrong[] = {4, -4, 8 * 2048, -8 * 2049, INT32_MAX, INT32_MIN};

	for (size_t i = 0; i < N_OF(deltas); i++) {
		assert_true(end_fits(0, deltas[i]));
		assert_int_equal(wire_cookie_sp_delta(wire_cookie(0, 0, 0, 0, 0, deltas[i])),
				 deltas[i]);
	}
	for (size_t i = 0; i < N_OF(wrong); i++)
		assert_false(end_fits(0, wrong[i]));
}

static void identify_has_room_for_a_slot_and_a_vtable(void **state)
{
	assert_true(identify_fits(PLAN_NO_SLOT, 0));
	assert_true(identify_fits(8 * 65534, 8 * 4095));
	assert_false(identify_fits(8 * 65535, 0));
	assert_false(identify_fits(12, 0));
	assert_false(identify_fits(0, 8 * 4096));
	assert_false(identify_fits(0, -8));
	assert_false(identify_fits(0, 4));
}

static bool key_fits(int32_t slot)
{
	return fits((struct plan_site){.role = WIRE_ROLE_START_BODY, .key_slot = slot});
}

static void a_keys_slot_has_16_bits(void **state)
{
	assert_true(key_fits(PLAN_NO_SLOT));
	assert_true(key_fits(0));
	assert_true(key_fits(4 * 65534));
	assert_false(key_fits(4 * 65535));
	assert_false(key_fits(6));
	assert_false(key_fits(-4));
}

static bool request_fits(uint64_t addr, int32_t slot)
{
	struct plan_site request = {.role = WIRE_ROLE_REQUEST, .addr = addr, .slot = slot};
	struct plan_site wrapper = {.role = WIRE_ROLE_WRAPPER, .addr = addr, .sp_delta = slot};

	assert_int_equal(fits(request), fits(wrapper));
	return fits(request);
}

static void a_request_has_32_bits_for_its_address_and_4_for_its_slot(void **state)
{
	assert_true(request_fits(0, 0));
	assert_true(request_fits(UINT32_MAX, 8 * 15));
	assert_false(request_fits((uint64_t)UINT32_MAX + 1, 0));
	assert_false(request_fits(0, 8 * 16));
	assert_false(request_fits(0, 4));
	assert_false(request_fits(0, -8));
}

static void queries_bodies_and_sites_are_numbered_in_16_bits(void **state)
{
	struct plan plan = {.n_queries = 65535, .n_bodies = 65535};
	_free_ struct plan_site *sites = calloc(65537, sizeof(*sites));

	assert_null(plan_excess(&plan));
	plan.n_queries++;
	assert_non_null(strstr(plan_excess(&plan), "65,535 queries"));
	plan.n_queries--;
	plan.n_bodies++;
	assert_non_null(strstr(plan_excess(&plan), "65,535 bodies"));
	plan.n_bodies = 0;
	for (uint32_t i = 0; i < 65537; i++)
		sites[i].role = WIRE_ROLE_IDENTIFY;
	plan.sites = sites;
	plan.n_sites = 65536;
	assert_null(plan_excess(&plan));
	plan.n_sites++;
	assert_non_null(strstr(plan_excess(&plan), "65,536 probe sites"));
}

#define WRONG(member, value, part)                                \
	do {                                                      \
		uint32_t good_ = (member);                        \
                                                                  \
		(member) = (value);                               \
		assert_non_null(plan_excess(plan));               \
		assert_non_null(strstr(plan_excess(plan), part)); \
		(member) = good_;                                 \
		assert_null(plan_excess(plan));                   \
	} while (0)

static void a_layout_stays_in_its_structs(void **state)
{
	_plan_ struct plan *plan = sample_plan_with_names();
	struct plan_layout *l = &plan->layout;

	WRONG(l->wire.size, 7, "definitions of less than 8");
	WRONG(l->wire.size, 65, "definitions of less than 8");
	WRONG(l->wire.size, 19, "definitions with a field");
	WRONG(l->wire.tag, 21, "definitions with a field");
	WRONG(l->wire.tag, UINT32_MAX, "definitions with a field");
	WRONG(l->wire.symbol, 21, "definitions with a field");
	WRONG(l->disambiguator, 21, "definitions with a field");
	WRONG(l->parent, 21, "definitions with a field");
	WRONG(l->wire.symbol_size, 15, "symbols of less than");
	WRONG(l->wire.symbol_size, 65, "symbols of less than");
	WRONG(l->wire.text, 25, "symbols with a field");
	WRONG(l->wire.length, UINT32_MAX, "symbols with a field");
	WRONG(l->wire.context, PLAN_LAYOUT_MAX, "tables of names");
	WRONG(l->wire.table, PLAN_LAYOUT_MAX, "tables of names");
	WRONG(l->wire.count, PLAN_LAYOUT_MAX, "tables of names");
	WRONG(l->wire.symbols, PLAN_LAYOUT_MAX, "tables of names");
	WRONG(l->wire.n_symbols, PLAN_LAYOUT_MAX, "tables of names");
	WRONG(l->wire.current.context, PLAN_LAYOUT_MAX, "a context more than");
	WRONG(l->wire.tags[31], PLAN_LAYOUT_MAX, "a kind of definitions");
	WRONG(l->wire.unnamed, PLAN_LAYOUT_MAX, "definitions without a name");
	WRONG(l->root, WIRE_TAGS, "a kind of crate roots");
	WRONG(l->root, 4, "a kind of crate roots"); /* named */
	WRONG(l->root, 5, "a kind of crate roots"); /* unknown */
	WRONG(l->wire.crates.size, 29, "entries of a cache");
	WRONG(l->wire.crates.index, 20, "entries of a cache");
	WRONG(l->wire.crates.index, 25, "entries of a cache");
	WRONG(l->wire.crates.key, 1, "entries of a cache");
	WRONG(l->wire.crates.own_id, PLAN_LAYOUT_MAX, "names of crates");
	WRONG(l->wire.crates.keys_mask, PLAN_LAYOUT_MAX, "names of crates");
}

static void places_stay_in_their_structs(void **state)
{
	_plan_ struct plan *plan = sample_plan_with_names();
	struct plan_layout *l = &plan->layout;

	WRONG(l->wire.places.first, 0, "buckets of spans");
	WRONG(l->wire.places.first, 17, "buckets of spans");
	WRONG(l->wire.places.step, 0, "buckets of spans");
	WRONG(l->wire.places.step, 3, "buckets of spans");
	WRONG(l->wire.places.spans, PLAN_LAYOUT_MAX, "tables of places");
	WRONG(l->wire.places.n_spans, PLAN_LAYOUT_MAX, "tables of places");
	WRONG(l->wire.places.source_map, PLAN_LAYOUT_MAX, "tables of places");
	WRONG(l->wire.places.files, PLAN_LAYOUT_MAX, "tables of places");
	WRONG(l->wire.places.n_files, PLAN_LAYOUT_MAX, "tables of places");
	WRONG(l->wire.places.interned, PLAN_LAYOUT_MAX, "tables of places");
	WRONG(l->wire.places.n_interned, PLAN_LAYOUT_MAX, "tables of places");
	WRONG(l->wire.places.file_size, WIRE_FILE_SIZE_MAX + 1, "source files of more than");
	WRONG(l->wire.places.file_start, 0x15d, "source files of more than");
	WRONG(l->wire.places.file_length, UINT32_MAX, "source files of more than");
	WRONG(l->wire.places.name, 0x159, "source files with a field");
	WRONG(l->wire.places.name_length, 0x159, "source files with a field");
	WRONG(l->wire.places.name_capacity, 0x159, "source files with a field");
	WRONG(l->wire.places.state, 0x159, "source files with a field");
	WRONG(l->wire.places.lines, 0x159, "source files with a field");
	WRONG(l->wire.places.n_lines, UINT32_MAX, "source files with a field");
	WRONG(l->wire.places.interned_size, 15, "interned spans");
	WRONG(l->wire.places.interned_size, 65, "interned spans");
	WRONG(l->wire.places.position, 21, "interned spans");
	WRONG(l->wire.places.context, 21, "interned spans");
	WRONG(l->wire.calls.contexts, PLAN_LAYOUT_MAX, "tables of expansions");
	WRONG(l->wire.calls.n_contexts, PLAN_LAYOUT_MAX, "tables of expansions");
	WRONG(l->wire.calls.expansions, PLAN_LAYOUT_MAX, "tables of expansions");
	WRONG(l->wire.calls.n_expansions, PLAN_LAYOUT_MAX, "tables of expansions");
	WRONG(l->wire.calls.context_size, WIRE_EXPANSION_MAX + 1, "contexts or expansions");
	WRONG(l->wire.calls.expansion_size, WIRE_EXPANSION_MAX + 1, "contexts or expansions");
	WRONG(l->wire.calls.crate, 25, "contexts or expansions");
	WRONG(l->wire.calls.number, UINT32_MAX, "contexts or expansions");
	WRONG(l->wire.calls.call, 73, "contexts or expansions");
	WRONG(l->wire.calls.kind, 80, "contexts or expansions");
	WRONG(l->wire.calls.tag, 256, "contexts or expansions");
}
#undef WRONG

static void a_usual_plan_exceeds_no_limit(void **state)
{
	_plan_ struct plan *plan = sample_plan();

	assert_null(plan_excess(plan));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_ends_slot_has_16_bits),
		cmocka_unit_test(a_distance_on_the_stack_has_12_bits),
		cmocka_unit_test(identify_has_room_for_a_slot_and_a_vtable),
		cmocka_unit_test(a_keys_slot_has_16_bits),
		cmocka_unit_test(a_request_has_32_bits_for_its_address_and_4_for_its_slot),
		cmocka_unit_test(queries_bodies_and_sites_are_numbered_in_16_bits),
		cmocka_unit_test(a_layout_stays_in_its_structs),
		cmocka_unit_test(places_stay_in_their_structs),
		cmocka_unit_test(a_usual_plan_exceeds_no_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
