// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/modules.h"

#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "test.h"
#include "../fixtures/sample_items.h"

/* Labels, then items. */
enum {
	TYPECK,
	LINT_MOD,
	MODEL_OF,
	CRATE,
	MODULE,
	INNER,
	FUNCTION,
	CLOSURE,
	IMPL,
	METHOD,
	LIKE_A_MODULE,
	TYPE,
};

static const char *text_of(const void *ctx, uint32_t id)
{
	static const char *const texts[] = {
		"typeck",
		"lint_mod",
		"model_of",
		"app",
		"app::inner",
		"app::inner::deep",
		"app::inner::f",
		"app::inner::f::{{closure}}[1]",
		"app::inner::{{impl}}[3]",
		"app::inner::{{impl}}[3]::fmt::{{closure}}",
		"app::inner_too::g",
		"Binder { value: core::fmt::Debug, bound_vars: [] }",
	};

	return texts[id];
}

static const struct trace_texts texts = {.text = text_of};

struct both {
	struct items *items;
	struct module_row *rows;
	size_t n;
};

static void both__begin(struct both *b)
{
	*b = (struct both){};
	assert_int_equal(items__new(&texts, &b->items), 0);
}

static void both__destroy(struct both *b)
{
	items__free(b->items);
	module_rows__free(b->rows, b->n);
}
#define _both_ __cleanup(both__destroy)

static void add(struct both *b, uint32_t label, uint32_t item, uint64_t self_ns)
{
	const struct trace_span span = {.label = label, .kind = TRACE_KIND_QUERY, .end_ns = 1};
	const struct trace_times times = {.self_ns = self_ns};

	assert_int_equal(items__span(b->items, &span, &times, item), 0);
}

static const struct module_row *row_of(struct both *b, const char *path)
{
	if (!b->rows)
		assert_int_equal(modules__rows(b->items, &texts, &b->rows, &b->n), 0);
	for (size_t i = 0; i < b->n; i++)
		if (!strcmp(b->rows[i].path ?: "", path))
			return &b->rows[i];
	return NULL;
}

static void assert_row(struct both *b, const char *path, uint32_t items, uint64_t self_ns)
{
	const struct module_row *row = row_of(b, path);

	assert_non_null(row);
	assert_int_equal(row->items, items);
	assert_int_equal(row->sums.self_ns, self_ns);
}

TEST_CASE(an_item_counts_for_the_innermost_module_or_impl)
{
	_both_ struct both b;

	both__begin(&b);
	add(&b, TYPECK, FUNCTION, 1);
	add(&b, TYPECK, CLOSURE, 10);
	add(&b, TYPECK, IMPL, 100);
	add(&b, TYPECK, METHOD, 1000);
	add(&b, LINT_MOD, CRATE, 2);
	add(&b, LINT_MOD, MODULE, 20);
	add(&b, LINT_MOD, INNER, 200);
	add(&b, TYPECK, LIKE_A_MODULE, 3);
	assert_row(&b, "app", 2, 5);
	assert_row(&b, "app::inner", 3, 31);
	assert_row(&b, "app::inner::deep", 1, 200);
	assert_row(&b, "app::inner::{{impl}}[3]", 2, 1100);
	assert_int_equal(b.n, 4);
}

/* An unchanged incremental build runs no query of a module. */
TEST_CASE(without_modules_there_are_crates_and_impls)
{
	_both_ struct both b;

	both__begin(&b);
	add(&b, MODEL_OF, MODULE, 1);
	add(&b, TYPECK, FUNCTION, 10);
	add(&b, TYPECK, METHOD, 100);
	assert_row(&b, "app", 2, 11);
	assert_row(&b, "app::inner::{{impl}}[3]", 1, 100);
	assert_int_equal(b.n, 2);
}

TEST_CASE(queries_of_several_items_are_one)
{
	const struct module_row *row;
	_both_ struct both b;

	both__begin(&b);
	add(&b, TYPECK, FUNCTION, 4);
	add(&b, MODEL_OF, FUNCTION, 5);
	add(&b, TYPECK, CRATE, 3);
	row = row_of(&b, "app");
	assert_non_null(row);
	assert_int_equal(row->sums.executions, 3);
	assert_int_equal(row->sums.n_queries, 2);
	assert_int_equal(row->sums.queries[0].label, TYPECK);
	assert_int_equal(row->sums.queries[0].self_ns, 7);
	assert_int_equal(row->sums.queries[1].self_ns, 5);
}

TEST_CASE(samples_of_the_items_of_a_module_are_added_up)
{
	static const uint32_t of[] = {FUNCTION, CLOSURE, CLOSURE, CRATE};
	_both_ struct both b;

	both__begin(&b);
	for (size_t i = 0; i < N_OF(of); i++) {
		uint32_t label = of[i] == CRATE ? MODEL_OF : TYPECK;

		assert_int_equal(items__about(b.items, label, of[i]), 1);
		for (uint8_t cause = TRACE_SAMPLE_CPU; cause < TRACE_SAMPLE_CAUSES; cause++)
			assert_int_equal(items__sample(b.items, label, of[i], cause, 1000), 0);
	}
	assert_row(&b, "app", 3, 4000);
	assert_int_equal(row_of(&b, "app")->sums.cpu_ns, 4000);
	for (uint8_t cause = TRACE_SAMPLE_CPU; cause < TRACE_SAMPLE_CAUSES; cause++)
		assert_int_equal(sample_sum__error(&row_of(&b, "app")->sums.sampled[cause]), 2000);
}

TEST_CASE(time_outside_of_items_has_no_path)
{
	_both_ struct both b;

	both__begin(&b);
	add(&b, TYPECK, TRACE_NO_STRING, 9);
	add(&b, TYPECK, FUNCTION, 1);
	assert_row(&b, "", 0, 9);
	assert_int_equal(row_of(&b, "")->sums.item, TRACE_NO_STRING);
	assert_int_not_equal(row_of(&b, "app")->sums.item, TRACE_NO_STRING);
}

/* Profiles of rustc's own print keys that are no definitions. */
TEST_CASE(a_type_is_not_cut)
{
	_both_ struct both b;

	both__begin(&b);
	add(&b, TYPECK, TYPE, 9);
	assert_row(&b, "Binder { value: core::fmt::Debug, bound_vars: [] }", 1, 9);
}

TEST_CASE(nothing_has_no_rows)
{
	_both_ struct both b;

	both__begin(&b);
	assert_null(row_of(&b, "app"));
	assert_int_equal(b.n, 0);
}

/* ---- Item list ------------------------------------------------------------------------------- */

/* Item `id` of a compile, with one query that took `self_us`. */
static void item_list_add(struct items *items, uint32_t id, uint64_t self_us)
{
	const struct trace_span span = {.label = SI_TYPECK, .end_ns = 1};
	const struct trace_times times = {.self_ns = self_us * 1000};

	assert_int_equal(items__span(items, &span, &times, id), 0);
}

static struct items *new_items(void)
{
	struct items *items;

	assert_int_equal(items__new(&sample_item_texts, &items), 0);
	return items;
}

static void check(const struct item_list *l, uint32_t i, uint32_t process, uint32_t item,
		  uint64_t self_us, uint64_t executions)
{
	assert_true(i < l->n);
	assert_int_equal(l->at[i].process, process);
	assert_int_equal(l->at[i].item, item);
	assert_int_equal(l->at[i].self_ns, self_us * 1000);
	assert_int_equal(l->at[i].executions, executions);
	assert_int_equal(l->at[i].most.label, SI_TYPECK);
	assert_int_equal(l->at[i].most.self_ns, self_us * 1000);
}

TEST_CASE(the_items_of_several_compiles_are_in_one_order)
{
	_items_ struct items *first = new_items(), *second = new_items(), *again = new_items();
	struct item_list l = {};

	item_list_add(first, SI_FUNCTION, 20);
	item_list_add(first, SI_METHOD, 30);
	item_list_add(first, SI_METHOD, 10);
	assert_int_equal(item_list__set(&l, 0, first), 0);
	assert_int_equal(l.n, 2);
	item_list_add(second, SI_FUNCTION, 30);
	item_list_add(second, SI_CRATE, 50);
	item_list_add(second, SI_MODULE, 1);
	assert_int_equal(item_list__set(&l, 7, second), 0);
	assert_int_equal(l.n, 5);
	check(&l, 0, 7, SI_CRATE, 50, 1);
	check(&l, 1, 0, SI_METHOD, 40, 2);
	check(&l, 2, 7, SI_FUNCTION, 30, 1);
	check(&l, 3, 0, SI_FUNCTION, 20, 1);
	check(&l, 4, 7, SI_MODULE, 1, 1);
	assert_int_equal(l.changes, 2);

	/* More is known of a compile than before. */
	item_list_add(again, SI_FUNCTION, 35);
	assert_int_equal(item_list__set(&l, 0, again), 0);
	assert_int_equal(l.n, 4);
	check(&l, 0, 7, SI_CRATE, 50, 1);
	check(&l, 1, 0, SI_FUNCTION, 35, 1);
	check(&l, 2, 7, SI_FUNCTION, 30, 1);
	check(&l, 3, 7, SI_MODULE, 1, 1);
	assert_int_equal(l.changes, 3);
	item_list__clear(&l);
	assert_int_equal(l.n, 0);
}

TEST_CASE(a_compile_without_items_adds_none)
{
	_items_ struct items *none = new_items();
	struct item_list l = {};

	assert_int_equal(item_list__set(&l, 3, none), 0);
	assert_int_equal(l.n, 0);
	assert_int_equal(l.changes, 1);
	item_list__clear(&l);
}

TEST_MAIN(NULL, NULL)
