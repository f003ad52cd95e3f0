// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/llvm.h"

#include <errno.h>
#include <string.h>

#include "test.h"
#include "../fixtures/fixture_dir.h"
#include "../fixtures/library.h"
#include "../fixtures/rows.h"

/* The assembled tests/fixtures/llvm.s, or another library. */
static struct llvm_plan *plan_of(const char *name)
{
	_elf_image_ struct elf_image *img = NULL;
	struct llvm_plan *p = NULL;

	assert_int_equal(image_of(fixture(name), &img), 0);
	assert_int_equal(llvm_plan__mine(img, &p), 0);
	return p;
}

static void assert_layout(const struct wire_llvm *l)
{
	assert_pairs(l->component, 0x18, l->nodes, 8, l->node_function, 16, l->head, 0x48, l->next,
		     1);
	for (int i = 0; i < WIRE_LLVM_KINDS; i++) {
		assert_true(l->vtables[i] && l->vtables[i] < l->size);
		assert_int_equal(l->pass[i], i == WIRE_LLVM_LEGACY ? 2 : 4);
		assert_int_equal(l->unit[i], 3);
	}
	/* One behind the other in the file. */
	assert_pairs(l->vtables[WIRE_LLVM_OF_FUNCTION] - l->vtables[WIRE_LLVM_LEGACY], 48,
		     l->vtables[WIRE_LLVM_OF_MODULE] - l->vtables[WIRE_LLVM_LEGACY], 96, l->kind_at,
		     0, l->kind, 13, l->named_at, 7, l->named, 0x10, l->type_at, 8, l->context,
		     0x18, l->impl, 0x20, l->names, 0xa0, l->count, 0xb0, l->length, 0, l->bytes,
		     16);
	assert_true(l->module && l->module < l->size);
	assert_true(llvm_layout_is_sound(l));
}

TEST_CASE(exported_functions_show_the_layout)
{
	static const char *const same[] = {"llvm.so", "llvm_stripped.so", "llvm_packed.so"};

	for (size_t i = 0; i < N_OF(same); i++) {
		_llvm_plan_ struct llvm_plan *p = plan_of(same[i]);

		assert_non_null(p);
		row_equal(same[i], p->problem, LLVM_FOUND);
		assert_layout(&p->layout);
	}
}

TEST_CASE(what_is_otherwise_is_refused_with_a_reason)
{
	static const struct {
		const char *name;
		enum llvm_problem problem;
	} wrong[] = {
		{"llvm_HEAD_BY_FS.so", LLVM_NO_HEAD},
		{"llvm_NO_BACK_LINK.so", LLVM_NO_HEAD},
		{"llvm_OTHER_HASH.so", LLVM_NO_NAMES},
		{"llvm_TWO_KINDS.so", LLVM_NO_KIND},
		{"llvm_NO_PASS.so", LLVM_NO_PASS_MANAGER},
		{"llvm_TWO_VTABLES.so", LLVM_NO_PASS_MANAGER},
	};

	for (size_t i = 0; i < N_OF(wrong); i++) {
		_llvm_plan_ struct llvm_plan *p = plan_of(wrong[i].name);

		assert_non_null(p);
		row_equal(wrong[i].name, p->problem, wrong[i].problem);
		row_equal(wrong[i].name, p->layout.size, 0);
		assert_non_null(llvm_problem_text(p->problem));
	}
	assert_null(llvm_problem_text(LLVM_FOUND));
	assert_null(llvm_problem_text(LLVM_PROBLEMS));
}

/* Of a symbol of a fixture. */
static uint64_t address_in(const char *name, const char *symbol)
{
	_elf_image_ struct elf_image *img = NULL;
	const struct elf_symbol *syms;
	size_t n;

	assert_int_equal(image_of(fixture(name), &img), 0);
	assert_int_equal(elf_image__symbols(img, &syms, &n), 0);
	for (size_t i = 0; i < n; i++)
		if (!strcmp(syms[i].name, symbol))
			return syms[i].addr;
	return 0;
}

TEST_CASE(the_innermost_function_shows_where_components_are)
{
	static const struct {
		const char *name, *returns;
		uint32_t component;
	} shown[] = {
		{"llvm.so", "returns_to_component", 0x18},
		{"llvm_IN_REGISTER.so", "returns_to_repeated", 0x10},
	};
	static const char *const unknown[] = {"llvm_UNCERTAIN.so", "llvm_NO_NODES.so"};

	for (size_t i = 0; i < N_OF(shown); i++) {
		_llvm_plan_ struct llvm_plan *p = plan_of(shown[i].name);

		row_equal(shown[i].name, p->layout.component, shown[i].component);
		row_equal(shown[i].name, !p->layout.passes_return, false);
		row_equal(shown[i].name, p->layout.passes_return,
			  address_in(shown[i].name, shown[i].returns));
	}
	for (size_t i = 0; i < N_OF(unknown); i++) {
		_llvm_plan_ struct llvm_plan *p = plan_of(unknown[i]);

		row_equal(unknown[i], p->problem, LLVM_FOUND);
		row_equal(unknown[i], p->layout.passes_return, 0);
		row_equal(unknown[i], p->layout.nodes, 0);
	}
}

static bool has_pass(const struct llvm_plan *p, const char *name)
{
	for (uint32_t i = 0; i < p->passes.n; i++)
		if (!strcmp(p->passes.items[i].name, name)) {
			assert_string_equal(
				llvm_passes__name(&p->passes, p->passes.items[i].vtable), name);
			return true;
		}
	return false;
}

TEST_CASE(passes_have_names_by_function_symbol_or_type)
{
	_llvm_plan_ struct llvm_plan *p = plan_of("llvm.so"),
				     *stripped = plan_of("llvm_stripped.so");

	assert_int_equal(p->passes.n, 6);
	assert_true(has_pass(p, "DCEPass"));
	assert_true(has_pass(p, "RequireAnalysisPass"));
	assert_true(has_pass(p, "X86DAGToDAGISelLegacy"));
	assert_true(has_pass(p, "HiddenLegacy"));
	assert_true(has_pass(p, "DAG selection"));
	assert_true(has_pass(p, "InstCombinePass"));
	assert_null(llvm_passes__name(&p->passes, 8));
	/* The symbols of two are gone, and one of them returns its name. */
	assert_int_equal(stripped->passes.n, 5);
	assert_true(has_pass(stripped, "HiddenLegacy"));
	assert_false(has_pass(stripped, "X86DAGToDAGISelLegacy"));
}

TEST_CASE(a_library_without_llvm_has_no_plan)
{
	assert_null(plan_of("eval.so"));
}

/* ---- As bytes -------------------------------------------------------------------------------- */

TEST_CASE(a_plan_is_the_same_after_it_was_stored)
{
	_llvm_plan_ struct llvm_plan *p = plan_of("llvm.so"), *back = NULL;
	_free_ uint8_t *bytes = NULL;
	size_t len;

	assert_int_equal(llvm_plan__encode(p, &bytes, &len), 0);
	assert_int_equal(llvm_plan__decode(bytes, len, &back), 0);
	assert_int_equal(back->problem, LLVM_FOUND);
	assert_layout(&back->layout);
	assert_memory_equal(&back->layout, &p->layout, sizeof(p->layout));
	assert_int_equal(back->passes.n, p->passes.n);
	for (uint32_t i = 0; i < p->passes.n; i++) {
		assert_int_equal(back->passes.items[i].vtable, p->passes.items[i].vtable);
		assert_string_equal(back->passes.items[i].name, p->passes.items[i].name);
	}
}

/* Decode `len` bytes after a change of byte `at`, sealed again; -1: after none. */
static int decode_with(const uint8_t *bytes, size_t len, size_t at, uint8_t value, bool seal)
{
	_free_ uint8_t *copy = malloc(len + 1);
	_llvm_plan_ struct llvm_plan *p = NULL;

	assert_non_null(copy);
	memcpy(copy, bytes, len);
	if (at < len)
		copy[at] = value;
	if (seal)
		llvm_plan__seal(copy, len);
	return llvm_plan__decode(copy, len, &p);
}

TEST_CASE(damaged_bytes_are_refused)
{
	_llvm_plan_ struct llvm_plan *p = plan_of("llvm.so");
	_free_ uint8_t *bytes = NULL;
	size_t len, layout = LLVM_PLAN_HEADER;

	assert_int_equal(llvm_plan__encode(p, &bytes, &len), 0);
	assert_int_equal(decode_with(bytes, len, len, 0, false), 0);
	for (size_t i = 0; i < len; i++)
		assert_int_equal(decode_with(bytes, len, i, bytes[i] ^ 1, false), -EBADMSG);
	for (size_t n = LLVM_PLAN_HEADER; n < len; n++)
		assert_int_equal(decode_with(bytes, n, n, 0, true), -EBADMSG);
	/* The problem; the size of all; a vtable beyond it; a word that no entry has. */
	assert_int_equal(decode_with(bytes, len, 16, LLVM_PROBLEMS, true), -EBADMSG);
	assert_int_equal(decode_with(bytes, len, layout + 15, 1, true), -EBADMSG);
	assert_int_equal(decode_with(bytes, len, layout + 31, 1, true), -EBADMSG);
	assert_int_equal(decode_with(bytes, len, layout + 32, WIRE_LLVM_WORDS, true), -EBADMSG);
	/* A name that does not end, and one that is not printable. */
	assert_int_equal(decode_with(bytes, len, len - 1, 'x', true), -EBADMSG);
	assert_int_equal(decode_with(bytes, len, len - 2, '\n', true), -EBADMSG);
}

TEST_MAIN(fixture_dir_setup, fixture_dir_teardown)
