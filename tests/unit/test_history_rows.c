// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/rows.h"
#include "test.h"
#include "history/columns.h"
#include "../fixtures/output.h"
#include "history/cells.h"
#include "../fixtures/sample_history.h"
#include "history/subjects.h"
#include "../fixtures/directory.h"
#include "history/crate_sums.h"

static struct history_rows r;

static int begin(void **state)
{
	history_rows__init(&r);
	return 0;
}

static int clear(void **state)
{
	history_rows__clear(&r);
	return 0;
}
#define ROWS_CASE(name) TEST_CASE_WITH(name, begin, clear)

ROWS_CASE(equal_texts_are_one)
{
	const char *first;
	char text[] = "typeck";

	assert_null(history_rows__text(&r, NULL));
	first = history_rows__text(&r, text);
	assert_ptr_not_equal(first, text);
	text[0] = 'T';
	assert_string_equal(first, "typeck");
	assert_string_equal(history_rows__text(&r, text), "Typeck");
	assert_ptr_equal(history_rows__text(&r, "typeck"), first);
	assert_string_equal(history_rows__text(&r, ""), "");
}

ROWS_CASE(texts_stay_where_they_are)
{
	const char *all[500];

	for (size_t i = 0; i < N_OF(all); i++) {
		char text[16];

		snprintf(text, sizeof(text), "crate%zu", i);
		all[i] = history_rows__text(&r, text);
	}
	for (size_t i = 0; i < N_OF(all); i++) {
		char text[16];

		snprintf(text, sizeof(text), "crate%zu", i);
		assert_string_equal(all[i], text);
		assert_ptr_equal(history_rows__text(&r, text), all[i]);
	}
}

ROWS_CASE(nothing_is_known_of_an_appended_row)
{
	assert_true(r.build.start_ns == HISTORY_UNKNOWN);
	assert_null(r.build.build);
	for (uint64_t i = 0; i < 100; i++) {
		struct history_query *row = history_rows__append(&r, HISTORY_QUERY);

		assert_null(row->crate);
		assert_true(row->count == HISTORY_UNKNOWN);
		row->count = i;
	}
	assert_int_equal(history_rows__n(&r, HISTORY_QUERY), 100);
	for (uint64_t i = 0; i < 100; i++) {
		const struct history_query *row = history_rows__at(&r, HISTORY_QUERY, i);

		assert_int_equal(row->count, i);
	}
	assert_null(history_rows__at(&r, HISTORY_QUERY, 100));
}

ROWS_CASE(there_is_one_build)
{
	assert_int_equal(history_rows__n(&r, HISTORY_BUILD), 1);
	assert_ptr_equal(history_rows__at(&r, HISTORY_BUILD, 0), &r.build);
	assert_null(history_rows__at(&r, HISTORY_BUILD, 1));
	assert_int_equal(history_rows__n(&r, HISTORY_ITEM), 0);
}

ROWS_CASE(cleared_rows_can_be_used_again)
{
	for (int i = 0; i < 2; i++) {
		r.build.host = history_rows__text(&r, "host");
		assert_non_null(history_rows__append(&r, HISTORY_COMPILE));
		assert_int_equal(history_rows__n(&r, HISTORY_COMPILE), 1);
		history_rows__clear(&r);
		assert_null(r.build.host);
		assert_int_equal(history_rows__n(&r, HISTORY_COMPILE), 0);
	}
}

/* ---- Columns --------------------------------------------------------------------------------- */

TEST_CASE(the_tables_describe_all_fields_in_order)
{
	for (int id = 0; id < HISTORY_TABLES; id++) {
		const struct history_table *t = history_table(id);

		assert_int_equal(t->n * sizeof(uint64_t), t->row_size);
		for (size_t i = 0; i < t->n; i++) {
			assert_int_equal(t->columns[i].offset, i * sizeof(uint64_t));
			assert_non_null(t->columns[i].unit);
			assert_non_null(t->columns[i].text);
		}
	}
}

TEST_CASE(every_table_begins_with_the_build)
{
	for (int id = 0; id < HISTORY_TABLES; id++) {
		assert_string_equal(history_table(id)->columns[0].name, "build");
		assert_string_equal(history_table(id)->columns[1].name, "start_ns");
	}
}

TEST_CASE(columns_are_found_by_name)
{
	for (int id = 0; id < HISTORY_TABLES; id++) {
		const struct history_table *t = history_table(id);

		for (size_t i = 0; i < t->n; i++)
			assert_ptr_equal(history_table__column(t, t->columns[i].name),
					 &t->columns[i]);
	}
	assert_null(history_table__column(history_table(HISTORY_BUILD), "crate"));
	assert_null(history_table__column(history_table(HISTORY_ITEM), ""));
}

TEST_CASE(the_type_of_a_column_is_that_of_its_field)
{
	const struct history_table *t = history_table(HISTORY_ITEM);
	struct history_item row = {};
	const char *path = "app::main";

	history_column__set_text(history_table__column(t, "item"), &row, path);
	history_column__set_number(history_table__column(t, "self_ns"), &row, 7);
	assert_ptr_equal(row.item, path);
	assert_int_equal(row.self_ns, 7);
	assert_ptr_equal(history_column__text(history_table__column(t, "item"), &row), path);
	assert_int_equal(history_column__number(history_table__column(t, "self_ns"), &row), 7);
}

TEST_CASE(nothing_is_known_of_a_cleared_row)
{
	struct history_compile row;

	memset(&row, 1, sizeof(row));
	history_table__clear_row(history_table(HISTORY_COMPILE), &row);
	assert_struct(row, build, NULL, tool, NULL);
	assert_true(row.start_ns == HISTORY_UNKNOWN);
	assert_true(row.exit_status == HISTORY_UNKNOWN);
}

static void put_table(FILE *out, const struct history_table *t)
{
	fprintf(out, "**%s**: %s\n\n| column | type | |\n|---|---|---|\n", t->name, t->text);
	for (size_t i = 0; i < t->n; i++) {
		const struct history_column *c = &t->columns[i];
		const char *type = c->type == HISTORY_TEXT ? "text" : *c->unit ? c->unit : "number";

		fprintf(out, "| `%s` | %s%s | %s |\n", c->name, type,
			c->required ? ", never null" : "", c->text);
	}
	putc('\n', out);
}

static int put_tables(FILE *out)
{
	for (int id = 0; id < HISTORY_TABLES; id++)
		put_table(out, history_table(id));
	return 0;
}

/* After a change: GOLDEN_UPDATE=1, and copy the text into the page. */
TEST_CASE(the_page_has_all_columns)
{
	_free_ char *tables = printed_text(put_tables(out)), *page = NULL;

	assert_golden("history-columns.md", tables);
	page = output_read("docs/history.md");
	assert_non_null(page);
	if (!strstr(page, tables))
		fail_msg("docs/history.md has not the text of tests/golden/history-columns.md");
}

/* ---- Cells ----------------------------------------------------------------------------------- */

static int set(const char *column, const struct store_value *cell)
{
	const struct history_table *t = history_table(HISTORY_BUILD);

	return history_cell__set(&r, history_table__column(t, column), &r.build, cell);
}

ROWS_CASE(cells_become_columns)
{
	char text[] = "main";

	must(set("branch", &(struct store_value){.type = STORE_TEXT, .text = text}),
	     set("lost", &(struct store_value){.type = STORE_INTEGER, .integer = 7}));
	text[0] = 'x';
	assert_struct(r.build, branch, "main", lost, 7);
	/* An unknown value stays unknown. */
	assert_int_equal(set("host", &(struct store_value){.type = STORE_NULL}), 0);
	assert_int_equal(set("cpus", &(struct store_value){.type = STORE_NULL}), 0);
	assert_struct(r.build, host, NULL, cpus, HISTORY_UNKNOWN);
}

ROWS_CASE(cells_of_another_type_are_refused)
{
	static const struct store_value text = {.type = STORE_TEXT, .text = "7"};
	static const struct store_value number = {.type = STORE_INTEGER, .integer = 7};
	static const struct store_value negative = {.type = STORE_INTEGER, .integer = -1};
	static const struct store_value real = {.type = STORE_REAL, .real = 7};

	assert_int_equal(set("lost", &text), -EPROTO);
	assert_int_equal(set("lost", &negative), -EPROTO);
	assert_int_equal(set("lost", &real), -EPROTO);
	assert_int_equal(set("host", &number), -EPROTO);
	assert_struct(r.build, lost, HISTORY_UNKNOWN, host, NULL);
}

static void assert_fault(enum history_table_id table, const void *row, const char *expected)
{
	char why[128] = "";

	assert_int_equal(row_check(table, row, why, sizeof(why)), !*expected);
	assert_string_equal(why, expected);
}

ROWS_CASE(rows_of_a_build_are_right)
{
	sample_history(&r, 1);
	for (int id = 0; id < HISTORY_TABLES; id++)
		for (size_t i = 0; i < history_rows__n(&r, id); i++)
			assert_fault(id, history_rows__at(&r, id, i), "");
}

ROWS_CASE(an_id_is_a_uuid)
{
	static const char *const none[] = {"", "0f1e2d3c", "0F1e2d3c-4b5a-4978-8695-000000000001",
					   "0f1e2d3c-4b5a-4978-8695-0000000000011"};

	sample_history(&r, 1);
	for (size_t i = 0; i < N_OF(none); i++) {
		r.build.build = none[i];
		assert_fault(HISTORY_BUILD, &r.build, "\"build\" is no UUID in lower case");
	}
	r.build.build = NULL;
	assert_fault(HISTORY_BUILD, &r.build, "it has no \"build\"");
}

ROWS_CASE(numbers_and_texts_have_limits)
{
	char text[HISTORY_TEXT_MAX + 2] = "";

	sample_history(&r, 1);
	r.build.lost = HISTORY_NUMBER_MAX - 1;
	assert_fault(HISTORY_BUILD, &r.build, "");
	r.build.lost = HISTORY_NUMBER_MAX;
	assert_fault(HISTORY_BUILD, &r.build, "\"lost\" is no number from 0 to 2^63 - 2");
	r.build.lost = HISTORY_UNKNOWN;
	memset(text, 'a', HISTORY_TEXT_MAX);
	r.build.label = text;
	assert_fault(HISTORY_BUILD, &r.build, "");
	text[HISTORY_TEXT_MAX] = 'a';
	assert_fault(HISTORY_BUILD, &r.build, "\"label\" is longer than 4096 bytes");
	r.build.label = NULL;
	r.build.start_ns = HISTORY_UNKNOWN;
	assert_fault(HISTORY_BUILD, &r.build, "it has no \"start_ns\"");
}

/* ---- Subjects -------------------------------------------------------------------------------- */

static struct store *s;
static struct history_rows newest;

static int make_store(void **state)
{
	if (directory_make(state) || store__open(directory_path("a.db"), STORE_WRITE, &s))
		return -1;
	for (unsigned int number = 1; number <= 2; number++) {
		struct history_compile *compiles;

		history_rows__clear(&newest);
		sample_history(&newest, number);
		compiles = newest.rows[HISTORY_COMPILE];
		compiles[number - 1].cpu_ns *= 2;
		assert_int_equal(store__add(s, &newest), 0);
	}
	return 0;
}

static int remove_store(void **state)
{
	store__close(s);
	history_rows__clear(&newest);
	return directory_remove(state);
}

TEST_GROUP(make_store, remove_store)

TEST_CASE(crates_are_those_of_the_build_by_cpu_time)
{
	_history_subjects_ struct history_subjects all = {}, one = {};

	assert_int_equal(history_subjects__ask(s, &newest.build, HISTORY_CRATES, 10, &all), 0);
	assert_struct(all, n, 2, names[0], "syn (build script)", names[1], "syn");
	assert_int_equal(history_subjects__ask(s, &newest.build, HISTORY_CRATES, 1, &one), 0);
	assert_int_equal(one.n, 1);
}

TEST_CASE(queries_are_those_of_all_crates_by_self_time)
{
	_history_subjects_ struct history_subjects queries = {};

	assert_int_equal(history_subjects__ask(s, &newest.build, HISTORY_QUERIES, 10, &queries), 0);
	assert_struct(queries, n, 3, names[0], "LLVM_passes", names[1], "mir_borrowck", names[2],
		      "typeck");
}

TEST_CASE(llvms_work_is_by_kind)
{
	_history_subjects_ struct history_subjects passes = {}, functions = {};

	assert_int_equal(history_subjects__ask(s, &newest.build, HISTORY_PASSES, 10, &passes), 0);
	assert_struct(passes, n, 1, names[0], "InstCombine");
	must(history_subjects__ask(s, &newest.build, HISTORY_FUNCTIONS_IN_LLVM, 10, &functions));
	assert_struct(functions, n, 1, names[0], "syn::parse::Parser::next");
}

TEST_CASE(a_build_that_is_not_there_has_none)
{
	const struct history_build other = {.build = "0f1e2d3c-4b5a-4978-8695-000000000009"};
	_history_subjects_ struct history_subjects none = {};

	assert_int_equal(history_subjects__ask(s, &other, HISTORY_CRATES, 10, &none), 0);
	assert_int_equal(none.n, 0);
}

/* ---- Crate sums ------------------------------------------------------------------------------ */

/* The sums themselves are tested with history/extract. */

TEST_CASE(a_long_text_is_cut_between_characters)
{
	_history_rows_ struct history_rows rows;
	char text[HISTORY_TEXT_MAX + 10];
	const char *cut;

	history_rows__init(&rows);
	memset(text, 'a', sizeof(text));
	text[sizeof(text) - 1] = 0;
	memcpy(text + HISTORY_TEXT_MAX - 1, "\xc3\xa9", 2);
	cut = crate_sums_text(&rows, text);
	assert_int_equal(strlen(cut), HISTORY_TEXT_MAX - 1);
	memcpy(text + HISTORY_TEXT_MAX - 2, "\xc3\xa9z", 3);
	assert_int_equal(strlen(crate_sums_text(&rows, text)), HISTORY_TEXT_MAX);
}

TEST_CASE(a_text_is_printable)
{
	_history_rows_ struct history_rows rows;

	history_rows__init(&rows);
	assert_string_equal(crate_sums_text(&rows, "a\n\xff"), "a??");
	assert_string_equal(crate_sums_text(&rows, NULL), "");
}

TEST_CASE(a_number_fits_a_store_and_is_known)
{
	assert_int_equal(crate_sums_number(7), 7);
	assert_true(crate_sums_number(UINT64_MAX) == HISTORY_NUMBER_MAX - 1);
	assert_true(crate_sums_number(HISTORY_NUMBER_MAX) == HISTORY_NUMBER_MAX - 1);
}

TEST_MAIN(NULL, NULL)
