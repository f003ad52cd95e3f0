// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/hits.h"

#include "test.h"
#define LIBRARY "hits.so"
#include "../fixtures/image.h"
#include "../fixtures/rows.h"
#include "base/diag.h"
#include "plan/symbols/elf_image.h"

/* tests/fixtures/hits.s, assembled. Its symbols mark the hits. */
static struct plan_hits *hits;

static int setup(void **state)
{
	return image_setup(state) ?: hits_of(fixture("hits.so"), &hits);
}

static int teardown(void **state)
{
	plan_hits__free(hits);
	return image_teardown(state);
}

static const struct plan_hit *find(const char *name)
{
	uint64_t addr = symbol(img, name)->addr;

	for (uint32_t i = 0; i < hits->n; i++)
		if (hits->items[i].addr == addr)
			return &hits->items[i];
	return NULL;
}

static const struct plan_hit *hit(const char *name)
{
	const struct plan_hit *h = find(name);
	uint64_t offset;

	if (!h)
		fail_msg("%s was not found", name);
	assert_true(elf_image__offset(img, h->addr, &offset));
	assert_int_equal(h->offset, offset);
	return h;
}

static void assert_register(const char *name, enum wire_reg reg)
{
	assert_int_equal(hit(name)->reg, reg);
}

static void assert_memory(const char *name, enum wire_reg base, uint32_t disp)
{
	const struct plan_hit *h = hit(name);

	assert_pairs(h->reg, WIRE_REG_NONE, h->base, base, h->disp, disp);
}

TEST_CASE(hits_and_their_ids_are_found)
{
	assert_int_equal(hits->filter, 0x404);
	assert_register("in_register.hit", WIRE_REG_R13);
	assert_register("as_it_is.hit", WIRE_REG_SI);
	assert_memory("in_slot.hit", WIRE_REG_NONE, 0x18);
	assert_register("through_slot.hit", WIRE_REG_R8);
	assert_memory("in_memory.hit", WIRE_REG_R12, 0x6c);
	assert_register("falls.hit", WIRE_REG_R15);
	/* Sites without a hit or id are left out. */
	assert_null(find("computed.hit"));
	assert_null(find("other_bits.hit"));
	assert_null(find("elsewhere.hit"));
	/* Three more lead to the call of in_register. */
	assert_int_equal(hits->n, 9);
	/* Calls without a site are counted. */
	assert_int_equal(hits->n_calls, 8);
	assert_int_equal(hits->n_missed, 2);
}

TEST_CASE(a_library_without_hits_has_none)
{
	_plan_hits_ struct plan_hits *none = NULL;

	assert_int_equal(hits_of(fixture("guards.so"), &none), 0);
	assert_int_equal(none->n, 0);
	assert_int_equal(none->n_calls, 0);
}

TEST_CASE(a_missing_library_is_an_error)
{
	struct plan_hits *none = NULL;

	diag_set_level(DIAG_QUIET);
	assert_int_equal(hits_of(fixture("nowhere.so"), &none), -ENOENT);
	assert_null(none);
}

TEST_MAIN(setup, teardown)
