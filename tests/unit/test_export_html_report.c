// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "test.h"
#include "../fixtures/export_trace.h"
#include "../fixtures/parsed_json.h"
#include "export/html_report.h"

/* An export that writes the report only. */
static int export_report(struct export_job *job)
{
	_html_report_ struct html_report *h = NULL;
	struct trace_item item;
	_free_ char *text = NULL;
	int err = html_report__new(job, &h);

	while (!err && !(err = trace_reader__next(job->r, &item)) && item.kind != TRACE_ITEM_END)
		err = html_report__item(h, &item);
	if (!err)
		text = PRINTED(err = html_report__print(h, to_));
	out__text(job->out, text ?: "");
	return err;
}

/* The self_ns of the row `name` in the array `rows`. */
static uint64_t self_of(struct json_object *report, const char *rows, const char *name)
{
	struct json_object *all = member(report, rows), *row;

	for (size_t i = 0; i < json_object_array_length(all); i++) {
		row = json_object_array_get_idx(all, i);
		if (!strcmp(json_object_get_string(member(row, "name")), name))
			return json_object_get_uint64(member(row, "self_ns"));
	}
	fail_msg("no row of %s", name);
	return 0;
}

static struct json_object *report_of_small(bool raw)
{
	struct export_job job = {.raw = raw};
	_free_ char *text = export_small_text(export_report, &job);
	struct json_object *report = json_tokener_parse(text);

	assert_non_null(report);
	return report;
}

static void it_has_queries_and_crates(void **state)
{
	struct json_object *raw = report_of_small(true);

	/* Four executions: 300 + 200 + 0 + 1996000 ns. */
	assert_int_equal(self_of(raw, "queries", "mir_built"), 1996500);
	assert_true(self_of(raw, "groups", "a") >= 1996500);
	json_object_put(raw);
}

static void probes_are_taken_off_unless_it_is_raw(void **state)
{
	struct json_object *raw = report_of_small(true), *report = report_of_small(false);

	assert_true(self_of(report, "queries", "typeck") < self_of(raw, "queries", "typeck"));
	json_object_put(raw);
	json_object_put(report);
}

/* An item that no key is around is there, but has no name. */
static void it_has_items(void **state)
{
	struct json_object *report = report_of_small(true), *items = member(report, "items");
	uint64_t self_ns = 0;

	assert_int_equal(json_object_array_length(items), 2);
	for (size_t i = 0; i < json_object_array_length(items); i++) {
		struct json_object *row = json_object_array_get_idx(items, i), *name;

		assert_true(json_object_object_get_ex(row, "name", &name));
		if (name && !strcmp(json_object_get_string(name), "a::main"))
			self_ns = json_object_get_uint64(member(row, "self_ns"));
	}
	assert_int_equal(self_ns, 300);
	json_object_put(report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_has_queries_and_crates),
		cmocka_unit_test(it_has_items),
		cmocka_unit_test(probes_are_taken_off_unless_it_is_raw),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
