// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/columns.h"

#include "../fixtures/output.h"
#include "test.h"

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
	assert_null(row.build);
	assert_null(row.tool);
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

TEST_MAIN(NULL, NULL)
