// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/body.h"

#include "test.h"
#define LIBRARY "bodies.so"
#include "../fixtures/image.h"
#include "../fixtures/rows.h"
#include "../fixtures/rows.h"

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

static size_t print_operand(char *text, size_t size, uint8_t reg, int32_t slot, int32_t none)
{
	if (reg != WIRE_REG_NONE)
		return (size_t)snprintf(text, size, "%s", plan_reg_name(reg));
	return (size_t)(slot == none ? snprintf(text, size, "?")
				     : snprintf(text, size, "[%#x]", (unsigned int)slot));
}

/*
 * "mask vtable+offset, end id": each mask site at its mark with where the vtable is, and each end
 * with where the id is, "?" if that is not known, and the problem. Sites are in the order of marks.
 */
static void print_body(const struct mined_body *m, const char *name, char *text, size_t size)
{
	size_t len = 0;

	*text = '\0';
	for (size_t i = 0; i < m->n_masks + m->n_ends; i++) {
		const bool end = i >= m->n_masks;
		const struct mined_site *s = end ? &m->ends[i - m->n_masks] : &m->masks[i];

		assert_true(s->emulated);
		len += (size_t)snprintf(text + len, size - len, "%s%s ", len ? ", " : "",
					mark_at(s->addr, name));
		len += end ? print_operand(text + len, size - len, s->id.reg, s->id.slot,
					   MINE_NO_SLOT)
			   : print_operand(text + len, size - len, s->vtable.reg, s->vtable.slot,
					   VTABLE_NO_SLOT);
		if (!end && s->vtable.offset >= 0)
			len += (size_t)snprintf(text + len, size - len, "+%#x", s->vtable.offset);
	}
	snprintf(text + len, size - len, "%s%s", m->masks_exact ? "" : "; masks are not exact",
		 m->problem ? "; " : "");
	if (m->problem)
		strncat(text, m->problem, size - strlen(text) - 1);
}

TEST_CASE(bodies_show_where_they_are_asked_and_where_they_end)
{
	static const struct {
		const char *name, *extra; /* NULL: no other part */
		bool any_kind;		  /* names of cold calls have no kind */
		const char *shown;
	} rows[] = {
		{"plain", NULL, false, "mask r14+0x20, end rdx"},
		/* The guard's address may be moved. */
		{"moved", NULL, false, "mask r14+0x20, end rdx"},
		/* An id may be at the bottom of the frame. */
		{"lowest", NULL, false, "mask r14+0x20, end [0]"},
		/* Branches may go either way. */
		{"inverted", NULL, false, "mask r14+0x20, end rdx"},
		/* An id is read where it is sure, and a vtable. */
		{"clobbered", NULL, false, "mask r14+0x20, end [0x24]"},
		{"joined", NULL, false, "? r14+0x20, end [0x24]"},
		{"nameless", NULL, false, "? r14+0x20, end ?"},
		{"saved", NULL, false, "mask [0x30]+0x28, end rdx"},
		{"vague", NULL, false, "mask ?, end rdx"},
		{"saved_later", NULL, false, "mask r12+0x18, end rdx"},
		/*
		 * A body may run providers at two places, which may share an end: the first cold
		 * side makes a second call, which has no branch of its own.
		 */
		{"twice", NULL, false, "mask r14+0x20, mask2 r15+0x20, end rdx, end2 rdx"},
		{"shared_end", NULL, false, "mask r14+0x20, mask2 r15+0x20, end rdx"},
		/* Jump tables are followed. */
		{"switched", NULL, false, "mask r14+0x20, end2 rdx, end rdx"},
		/* Tests of the filter may share a cold side. */
		{"asked_twice", NULL, false, "mask2 r14+0x20, mask r14+0x20, end rdx"},
		/* A guard may be where sp is. */
		{"bottom", NULL, false, "mask r14+0x20, end rdx"},
		{"around", NULL, false, "mask r14+0x28, end rdx"},
		{"giant", NULL, false, "mask r14+0x20, end ?"},
		/* Ends that are not exact say why. */
		{"threaded", NULL, false,
		 "? r14+0x20; a path returns without meeting the guard's end"},
		{"early", NULL, false,
		 "? r14+0x20, end rdx; a path returns without meeting the guard's end"},
		{"other_flags", NULL, false,
		 "? r14+0x20; a path returns without meeting the guard's end"},
		{"other_value", NULL, false,
		 "? r14+0x20; a path returns without meeting the guard's end"},
		{"tail", NULL, false,
		 "? r14+0x20; a path leaves the function before the guard's end"},
		{"endless", NULL, false,
		 "? r14+0x20; no test of the guard was found after the provider"},
		/* Code that cannot be followed is refused. */
		{"indirect", NULL, false,
		 "? r14+0x20; an indirect jump before the guard's end could not be followed"},
		{"middle", NULL, false,
		 "? r14+0x20; a path leaves the function before the guard's end"},
		{"unguarded", NULL, false, "; no test of the profiler's event filter was found"},
		/* An unclear branch to the cold side is not guessed. */
		{"other_argument", NULL, false,
		 "; masks are not exact; the branch to the profiler's cold side was not "
		 "recognised"},
		{"two_ways", NULL, false,
		 "; masks are not exact; the branch to the profiler's cold side was not "
		 "recognised"},
		/*
		 * Other activities are known by the bit of the filter. If the names of cold calls
		 * contain the kind, the bit does not count.
		 */
		{"activity", NULL, true, "mask r14+0x20, end rdx"},
		{"activity", NULL, false, "other r14+0x20, mask r14+0x20, other_end ?, end rdx"},
		/* A part that nothing leads to is ignored, and one that is given twice counts once.
		 */
		{"plain", "orphan", false, "mask r14+0x20, end rdx"},
		{"plain", "plain", false, "mask r14+0x20, end rdx"},
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		const struct mined_body m =
			mine_with(rows[i].name, rows[i].extra, rows[i].any_kind);
		char text[512];

		print_body(&m, rows[i].name, text, sizeof(text));
		row_text(rows[i].name, text, rows[i].shown);
	}
}

TEST_CASE(calls_in_place_of_the_provider_s_are_noted)
{
	const struct mined_body m = mine_with("around", NULL, false);
	const struct mined_body plain = mine_with("plain", NULL, false);

	assert_pairs(m.n_calls, 1, m.calls[0], symbol(img, "between")->addr, m.n_offsets, 0,
		     m.calls_others, false, plain.n_offsets, 1, plain.offsets[0], 0x20,
		     plain.mask_disp, 0x1ef50);
}

TEST_CASE(too_many_sites_are_refused)
{
	const struct mined_body m = mine_with("many", NULL, false);

	row_part("many", m.problem, "more sites");
	assert_pairs(m.masks_exact, false, m.n_masks, MINE_MAX_SITES);
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
