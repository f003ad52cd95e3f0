// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/body.h"

#include "test.h"
#define LIBRARY "bodies.so"
#include "../fixtures/image.h"

/* tests/fixtures/bodies.s, assembled. Its symbols mark the sites. */

/* Mine the named body. `extra`, unless NULL, names one more part. */
static struct mined_body mine_with(const char *name, const char *extra, bool any_kind)
{
	const uint64_t cold_call = symbol(img, "cold_call")->addr;
	const struct mine_cold cold = {&cold_call, 1, any_kind};
	struct code_region regions[3];
	struct code code = {0};
	struct mined_body out;
	char cold_name[64];
	size_t n = 0;

	snprintf(cold_name, sizeof(cold_name), "%s.cold", name);
	for (int i = 0; i < 3; i++) {
		const char *part = i == 0 ? name : i == 1 ? cold_name : extra;
		const struct elf_symbol *sym = part ? find_symbol(img, part) : NULL;

		if (sym)
			regions[n++] = (struct code_region){sym->addr, sym->size};
	}
	assert_int_equal(code_decoder__decode(decoder, regions, n, &code), 0);
	assert_int_equal(mine_body(img, &code, symbol(img, name)->addr, &cold, NULL, &out), 0);
	code__free(&code);
	return out;
}

static struct mined_body mine(const char *name)
{
	return mine_with(name, NULL, false);
}

static void assert_at(const struct mined_site *site, const char *name, const char *mark)
{
	char full[64];

	snprintf(full, sizeof(full), "%s.%s", name, mark);
	assert_int_equal(site->addr, symbol(img, full)->addr);
	assert_true(site->emulated);
}

/* A body with one mask site, one end and no problem. */
static struct mined_body mine_simple(const char *name)
{
	struct mined_body m = mine(name);

	if (m.problem)
		fail_msg("%s: %s", name, m.problem);
	assert_true(m.masks_exact);
	assert_int_equal(m.n_masks, 1);
	assert_int_equal(m.n_ends, 1);
	assert_at(&m.ends[0], name, "end");
	return m;
}

static void assert_id(const struct mined_site *site, uint8_t reg, int32_t slot)
{
	assert_int_equal(site->id.reg, reg);
	assert_int_equal(site->id.slot, slot);
}

static void assert_vtable(const struct mined_site *site, uint8_t reg, int32_t slot, int32_t offset)
{
	assert_int_equal(site->vtable.offset, offset);
	assert_int_equal(site->vtable.reg, reg);
	assert_int_equal(site->vtable.slot, slot);
}

/* Two mask sites at the marks "mask" and "mask2". */
static void assert_two_masks(const struct mined_body *m, const char *name)
{
	assert_null(m->problem);
	assert_int_equal(m->n_masks, 2);
	assert_at(&m->masks[0], name, "mask");
	assert_at(&m->masks[1], name, "mask2");
	assert_vtable(&m->masks[0], WIRE_REG_R14, VTABLE_NO_SLOT, 0x20);
	assert_vtable(&m->masks[1], WIRE_REG_R15, VTABLE_NO_SLOT, 0x20);
}

static void assert_problem(const char *name, const char *part)
{
	struct mined_body m = mine(name);

	if (!m.problem || !strstr(m.problem, part))
		fail_msg("%s: %s", name, m.problem ? m.problem : "no problem");
}

TEST_CASE(a_plain_body_is_mined)
{
	struct mined_body m = mine_simple("plain");

	assert_at(&m.masks[0], "plain", "mask");
	assert_id(&m.ends[0], WIRE_REG_DX, MINE_NO_SLOT);
	assert_vtable(&m.masks[0], WIRE_REG_R14, VTABLE_NO_SLOT, 0x20);
	assert_int_equal(m.mask_disp, 0x1ef50);
}

TEST_CASE(calls_in_place_of_the_provider_s_are_noted)
{
	struct mined_body m = mine_simple("around"), plain = mine_simple("plain");

	assert_int_equal(m.n_calls, 1);
	assert_int_equal(m.calls[0], symbol(img, "between")->addr);
	assert_int_equal(m.n_offsets, 0);
	assert_false(m.calls_others);
	assert_int_equal(plain.n_offsets, 1);
	assert_int_equal(plain.offsets[0], 0x20);
}

TEST_CASE(the_guard_s_address_may_be_moved)
{
	struct mined_body m = mine_simple("moved");

	assert_at(&m.masks[0], "moved", "mask");
	assert_vtable(&m.masks[0], WIRE_REG_R14, VTABLE_NO_SLOT, 0x20);
}

TEST_CASE(an_id_may_be_at_the_bottom_of_the_frame)
{
	struct mined_body m = mine_simple("lowest");

	assert_id(&m.ends[0], WIRE_REG_NONE, 0);
}

TEST_CASE(branches_may_go_either_way)
{
	struct mined_body m = mine_simple("inverted");

	assert_at(&m.masks[0], "inverted", "mask");
	assert_id(&m.ends[0], WIRE_REG_DX, MINE_NO_SLOT);
	assert_vtable(&m.masks[0], WIRE_REG_R14, VTABLE_NO_SLOT, 0x20);
}

TEST_CASE(an_id_is_read_where_it_is_sure)
{
	struct mined_body m = mine_simple("clobbered");

	assert_id(&m.ends[0], WIRE_REG_NONE, 0x24);
	m = mine_simple("joined");
	assert_id(&m.ends[0], WIRE_REG_NONE, 0x24);
	m = mine_simple("nameless");
	assert_id(&m.ends[0], WIRE_REG_NONE, MINE_NO_SLOT);
}

TEST_CASE(a_vtable_is_read_where_it_is_sure)
{
	struct mined_body m = mine_simple("saved");

	assert_at(&m.masks[0], "saved", "mask");
	assert_vtable(&m.masks[0], WIRE_REG_NONE, 0x30, 0x28);
	m = mine_simple("vague");
	assert_vtable(&m.masks[0], WIRE_REG_NONE, VTABLE_NO_SLOT, -1);
	m = mine("saved_later");
	assert_int_equal(m.n_masks, 1);
	assert_vtable(&m.masks[0], WIRE_REG_R12, VTABLE_NO_SLOT, 0x18);
}

TEST_CASE(a_body_may_run_providers_at_two_places)
{
	struct mined_body m = mine("twice");

	assert_two_masks(&m, "twice");
	assert_int_equal(m.n_ends, 2);
	assert_at(&m.ends[0], "twice", "end");
	assert_at(&m.ends[1], "twice", "end2");
}

/* The first cold side makes a second call, which has no branch of its own. */
TEST_CASE(two_places_may_share_an_end)
{
	struct mined_body m = mine("shared_end");

	assert_two_masks(&m, "shared_end");
	assert_int_equal(m.n_ends, 1);
	assert_at(&m.ends[0], "shared_end", "end");
}

TEST_CASE(jump_tables_are_followed)
{
	struct mined_body m = mine("switched");

	assert_null(m.problem);
	assert_int_equal(m.n_masks, 1);
	assert_int_equal(m.n_ends, 2);
	for (int i = 0; i < 2; i++)
		assert_at(&m.ends[i], "switched",
			  m.ends[i].addr == symbol(img, "switched.end")->addr ? "end" : "end2");
	assert_int_not_equal(m.ends[0].addr, m.ends[1].addr);
}

TEST_CASE(other_activities_are_known_by_the_filters_bit)
{
	struct mined_body m = mine_with("activity", NULL, true);

	assert_null(m.problem);
	assert_int_equal(m.n_masks, 1);
	assert_at(&m.masks[0], "activity", "mask");
	assert_int_equal(m.n_ends, 1);
	assert_at(&m.ends[0], "activity", "end");
	/* If the names of cold calls contain the kind, the bit does not count. */
	m = mine("activity");
	assert_int_equal(m.n_masks, 2);
	assert_int_equal(m.n_ends, 2);
}

TEST_CASE(a_part_that_nothing_leads_to_is_ignored)
{
	struct mined_body m = mine_with("plain", "orphan", false);

	assert_null(m.problem);
	assert_true(m.masks_exact);
	assert_int_equal(m.n_masks, 1);
	/* A part that is given twice counts once. */
	m = mine_with("plain", "plain", false);
	assert_null(m.problem);
	assert_int_equal(m.n_masks, 1);
	assert_int_equal(m.n_ends, 1);
}

TEST_CASE(ends_that_are_not_exact_say_why)
{
	struct mined_body m;

	assert_problem("threaded", "returns without meeting");
	assert_problem("early", "returns without meeting");
	assert_problem("other_flags", "returns without meeting");
	assert_problem("other_value", "returns without meeting");
	assert_problem("tail", "leaves the function");
	assert_problem("endless", "no test of the guard");
	m = mine("early");
	assert_int_equal(m.n_ends, 1);
	assert_at(&m.ends[0], "early", "end");
	assert_true(m.masks_exact);
}

TEST_CASE(code_that_cannot_be_followed_is_refused)
{
	assert_problem("indirect", "indirect jump");
	assert_problem("middle", "leaves the function");
	assert_problem("unguarded", "event filter");
	assert_int_equal(mine("unguarded").n_masks, 0);
}

TEST_CASE(tests_of_the_filter_may_share_a_cold_side)
{
	struct mined_body m = mine("asked_twice");

	assert_null(m.problem);
	assert_true(m.masks_exact);
	assert_int_equal(m.n_masks, 2);
	assert_at(&m.masks[0], "asked_twice", "mask2");
	assert_at(&m.masks[1], "asked_twice", "mask");
	assert_int_equal(m.n_ends, 1);
	assert_at(&m.ends[0], "asked_twice", "end");
}

TEST_CASE(a_guard_may_be_where_sp_is)
{
	struct mined_body m = mine_simple("bottom");

	assert_at(&m.masks[0], "bottom", "mask");
}

TEST_CASE(an_unclear_branch_to_the_cold_side_is_not_guessed)
{
	static const char *const names[] = {"other_argument", "two_ways"};

	for (int i = 0; i < 2; i++) {
		struct mined_body m = mine(names[i]);

		assert_problem(names[i], "cold side was not recognised");
		assert_false(m.masks_exact);
		assert_int_equal(m.n_masks, 0);
	}
}

TEST_CASE(too_many_sites_are_refused)
{
	struct mined_body m = mine("many");

	assert_problem("many", "more sites");
	assert_false(m.masks_exact);
	assert_int_equal(m.n_masks, MINE_MAX_SITES);
}

TEST_CASE(a_giant_function_is_mined)
{
	struct mined_body m = mine_simple("giant");

	assert_at(&m.masks[0], "giant", "mask");
}

/* A cut leaves meaningless code, which must neither be accepted nor crash. */
TEST_CASE(every_cut_is_survived)
{
	const uint64_t cold_call = symbol(img, "cold_call")->addr;
	const struct mine_cold cold = {&cold_call, 1, false};
	const struct elf_symbol *sym = find_symbol(img, "plain"),
				*part = find_symbol(img, "plain.cold");
	__cleanup(code__free) struct code code = {0};

	for (uint64_t skip = 0; skip < sym->size; skip++)
		for (uint64_t size = 0; size <= sym->size - skip; size++) {
			struct code_region regions[] = {{sym->addr + skip, size},
							{part->addr, part->size - skip % 8}};
			struct mined_body m;

			assert_int_equal(code_decoder__decode(decoder, regions, 2, &code), 0);
			assert_int_equal(mine_body(img, &code, sym->addr, &cold, NULL, &m), 0);
			assert_true(m.n_masks <= 1 && m.n_ends <= 1);
			assert_true(m.problem || (m.n_masks == 1 && m.n_ends == 1));
		}
}

static void assert_entry(const char *name, const char *mark, int32_t pushed, bool emulated)
{
	struct mined_entry at;
	char full[64];

	snprintf(full, sizeof(full), "%s%s", name, mark);
	assert_int_equal(mine_entry(decoder, symbol(img, name)->addr, &at), 0);
	assert_int_equal(at.addr, symbol(img, full)->addr);
	assert_int_equal(at.pushed, pushed);
	assert_int_equal(at.emulated, emulated);
}

TEST_CASE(a_start_is_probed_where_the_kernel_emulates)
{
	assert_entry("entry_push", "", 0, true);
	assert_entry("entry_endbr", ".site", 0, true);
	assert_entry("entry_sub", ".site", 0x28, true);
	assert_entry("entry_lea", ".site", 0x18, true);
	assert_entry("entry_memory", ".site", 16, true);
	assert_entry("entry_branch", ".site", 0, true);
}

TEST_CASE(else_it_is_probed_at_the_entry)
{
	struct mined_entry at;

	assert_entry("entry_aligned", "", 0, false);
	assert_entry("entry_tail", "", 0, false);
	assert_entry("entry_loop", "", 0, false);
	assert_int_equal(mine_entry(decoder, UINT64_MAX - 4, &at), -EFAULT);
}

TEST_CASE(a_frame_is_what_the_prologue_takes)
{
	assert_int_equal(mine_frame(decoder, symbol(img, "entry_push")->addr), 8);
	assert_int_equal(mine_frame(decoder, symbol(img, "entry_sub")->addr), 0x28);
	assert_int_equal(mine_frame(decoder, symbol(img, "entry_lea")->addr), 0x18 + 8);
	assert_int_equal(mine_frame(decoder, symbol(img, "entry_memory")->addr), 3 * 8);
	assert_int_equal(mine_frame(decoder, symbol(img, "entry_tail")->addr), 0);
	assert_int_equal(mine_frame(decoder, symbol(img, "entry_aligned")->addr), -ENOTSUP);
	assert_int_equal(mine_frame(decoder, UINT64_MAX - 4), -EFAULT);
}

TEST_MAIN(image_setup, image_teardown)
