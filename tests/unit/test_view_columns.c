// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/columns.h"
#include <glob.h>

#include "test.h"
#include "../fixtures/output.h"
#include "../fixtures/parsed_json.h"
#include "view/view.h"
#include "view/json.h"
#include "base/cleanup.h"

struct part {
	const char *name;
	uint64_t ns, bytes;
};

static const struct part some[] = {{"a|b", 1500, 0}, {"c\n\"", 20, 4096}};

/* Each value is of the row, so that one that is evaluated without a row ends the test. */
static void part_columns(struct columns *c, const struct part *part)
{
	NAME(c, "name", "part", part->name, "its name");
	MARKED(c, NS, "ns", "took", part->ns > 1000 ? "~" : "", part->ns, "how long");
	KNOWN(c, BYTES, "bytes", WIDE(c, "memory"), part->bytes, part->bytes, "null: unknown");
	PERCENT(c, ON_PAGE(c, "share", MARKDOWN(c, "%")), part->ns, 1520);
	SOME_BOOL(c, "large", part->bytes > 1000, true, "missing: it is not");
	if (!OBJECT(c, "of", part->bytes, "missing: unknown"))
		return;
	NUMBER(c, ID, "id", NULL, part->ns, "a number");
	if (LIST(c, "texts", true, "twice its name")) {
		for (size_t i = 0; i < 2 && part; i++)
			columns__item(c, i, part->name);
		columns__leave_list(c);
	}
	columns__leave(c);
}

static int print_table(struct columns c, FILE *out)
{
	c.out = out;
	EACH_ROW (&c, i, N_OF(some))
		part_columns(&c, ROW(&c, &some[i]));
	return c.err;
}

static int print_document(enum columns_to to, FILE *out)
{
	struct columns c = {.to = to, .out = out};

	columns__begin(&c, "qprof-x/1", "its schema");
	if (LIST(&c, "parts", true, "all of them"))
		EACH_ROW (&c, i, N_OF(some))
			part_columns(&c, ROW(&c, &some[i]));
	return columns__end(&c);
}

TEST_CASE(a_table_has_the_columns_with_a_title_there)
{
	_free_ char *wide = printed_text(print_table((struct columns){.wide = true}, out));
	_free_ char *markdown =
		printed_text(print_table((struct columns){.to = COLUMNS_MARKDOWN}, out));

	assert_shows(printed_text(print_table((struct columns){}, out)), "=part      took\n"
									 "a|b   ~1.50 us\n"
									 "c?\"      20 ns\n");
	assert_string_equal(wide, "part      took    memory\n"
				  "a|b   ~1.50 us         -\n"
				  "c?\"      20 ns  4.00 KiB\n");
	assert_string_equal(markdown, "| part | took | % |\n"
				      "|---|---:|---:|\n"
				      "| `a\\|b` | ~1.50 us | 98.7 |\n"
				      "| `c?\"` | 20 ns | 1.3 |\n");
}

/* So what is compared with one is, too. Those of live have a document in each line. */
TEST_CASE(golden_documents_are_json)
{
	glob_t found;

	assert_int_equal(glob("tests/golden/view/*.json", 0, NULL, &found), 0);
	assert_true(found.gl_pathc >= 13);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		_free_ char *text = output_read(found.gl_pathv[i]);
		bool by_line = strstr(found.gl_pathv[i], "/live") != NULL;

		for (char *at = by_line ? strtok(text, "\n") : text; at;
		     at = by_line ? strtok(NULL, "\n") : NULL)
			json_object_put(parsed_json(at));
	}
	globfree(&found);
}

TEST_CASE(a_document_has_the_columns_with_a_member)
{
	_free_ char *text = printed_text(print_document(COLUMNS_JSON, out));

	json_object_put(parsed_json(text));
	assert_string_equal(text, "{\"schema\":\"qprof-x/1\",\"parts\":[\n"
				  "{\"name\":\"a|b\",\"ns\":1500,\"bytes\":null},\n"
				  "{\"name\":\"c\\n\\\"\",\"ns\":20,\"bytes\":4096,\"large\":true,"
				  "\"of\":{\"id\":20,\"texts\":[\"c\\n\\\"\",\"c\\n\\\"\"]}}]}\n");
}

/* Members, marks, what only tables have, and behind the rows what the columns are. */
TEST_CASE(a_page_has_the_members_and_the_columns_of_tables)
{
	_free_ char *text = printed_text(print_document(COLUMNS_PAGE, out));

	json_object_put(parsed_json(text));
	assert_string_equal(
		text,
		"{\"schema\":\"qprof-x/1\",\"parts\":[\n"
		"{\"name\":\"a|b\",\"ns\":1500,\"~ns\":\"~\",\"bytes\":null,\"@share\":1500},\n"
		"{\"name\":\"c\\n\\\"\",\"ns\":20,\"bytes\":4096,\"@share\":20,\"large\":true,"
		"\"of\":{\"id\":20,\"texts\":[\"c\\n\\\"\",\"c\\n\\\"\"]}}],\"@parts\":["
		"[\"name\",\"part\",\"text\",\"its name\",0],[\"ns\",\"took\",\"ns\",\"how "
		"long\",0],[\"@share\",\"share\",\"percent\",null,1520]]}\n");
}

TEST_CASE(a_schema_has_all_that_a_document_may_have)
{
	_free_ char *text = printed_text(print_document(COLUMNS_SCHEMA, out));

	json_object_put(parsed_json(text));
	assert_contains(text, "{\"path\":\"parts\",\"unit\":\"list\",\"text\":\"all of them\"}");
	assert_contains(text, "{\"path\":\"parts[].ns\",\"unit\":\"ns\",\"text\":\"how long\"}");
	assert_contains(text, "{\"path\":\"parts[].of\",\"unit\":\"object\",");
	assert_contains(text, "{\"path\":\"parts[].of.id\",\"unit\":\"id\",");
	assert_contains(text, "{\"path\":\"parts[].of.texts\",\"unit\":\"list\",");
	assert_lacks(text, "memory");
}

static ssize_t refuse(void *cookie, const char *data, size_t size)
{
	(void)cookie;
	(void)data;
	(void)size;
	errno = EFBIG;
	return 0;
}

TEST_CASE(the_first_error_ends_a_table)
{
	struct columns c = {.to = COLUMNS_MARKDOWN};
	unsigned int rows = 0;

	c.out = fopencookie(NULL, "w", (cookie_io_functions_t){.write = refuse});
	assert_non_null(c.out);
	setvbuf(c.out, NULL, _IONBF, 0);
	EACH_ROW (&c, i, 1000) {
		rows++;
		part_columns(&c, ROW(&c, &some[0]));
	}
	assert_int_equal(c.err, -EIO);
	assert_true(rows < 3);
	fclose(c.out);
}

/* ---- The page of all fields ------------------------------------------------------------------ */

/* The path of the object that a field is in: "build.crates[]" of "build.crates[].pid". */
static size_t object_length(const char *path)
{
	const char *dot = strrchr(path, '.');

	return dot ? dot - path : 0;
}

static const char *text_of(struct json_object *fields, size_t i, const char *key)
{
	return json_object_get_string(member(json_object_array_get_idx(fields, i), key));
}

static bool is_in(const char *path, const char *of)
{
	return object_length(path) == object_length(of) && !strncmp(path, of, object_length(of));
}

static void put_object(FILE *out, struct json_object *fields, const char *of)
{
	fprintf(out, object_length(of) ? "\n## `%.*s`\n\n" : "\n## The document%.*s\n\n",
		(int)object_length(of), of);
	fputs("| field | unit | content |\n|---|---|---|\n", out);
	for (size_t i = 0; i < json_object_array_length(fields); i++) {
		const char *path = text_of(fields, i, "path"), *name = path + object_length(path);

		if (is_in(path, of))
			fprintf(out, "| `%s` | %s | %s |\n", name + (*name == '.'),
				text_of(fields, i, "unit"), text_of(fields, i, "text"));
	}
}

static int put_page(FILE *out, struct json_object *fields)
{
	fputs("# The fields of a report\n\n"
	      "The fields of `report --json`, schema `qprof-report/3`, as `report --schema` prints "
	      "them. [report.md](report.md#json)\nsays more of some. Rows of "
	      "`processes[].queries` have the fields of `queries[]`. The page is generated: after\n"
	      "a change of a column run `GOLDEN_UPDATE=1 build/tests/unit/test_view_columns`.\n",
	      out);
	for (size_t i = 0; i < json_object_array_length(fields); i++) {
		const char *path = text_of(fields, i, "path");
		size_t first = 0;

		while (!is_in(text_of(fields, first, "path"), path))
			first++;
		/* Queries of a process are as those of all. */
		if (first == i &&
		    strncmp(path, "processes[].queries[].", strlen("processes[].queries[].")) != 0)
			put_object(out, fields, path);
	}
	return 0;
}

TEST_CASE(the_page_has_all_fields_of_a_report)
{
	_free_ char *text = printed_text(report_schema(out));
	struct json_object *schema = parsed_json(text);

	assert_shows(printed_text(put_page(out, member(schema, "fields"))),
		     "@../../docs/report-fields.md");
	json_object_put(schema);
}

/* ---- Json ------------------------------------------------------------------------------------ */

static char *printed(struct json *j, int (*put)(struct json *))
{
	char *text = NULL;
	size_t len;

	j->out = open_memstream(&text, &len);
	assert_int_equal(put(j), 0);
	fclose(j->out);
	return text;
}

TEST_CASE(members_keep_their_order_and_type)
{
	struct json j = {};

	json__begin(&j);
	json__text(&j, "text", "a/b");
	json__text(&j, "none", NULL);
	json__number(&j, "most", UINT64_MAX);
	json__bool(&j, "yes", true);
	json__null(&j, "null");
	assert_shows(printed(&j, json__put),
		     "={\"text\":\"a/b\",\"none\":null,\"most\":18446744073709551615,"
		     "\"yes\":true,\"null\":null}");
}

TEST_CASE(an_open_object_takes_more_members)
{
	struct json j = {};

	json__begin(&j);
	json__number(&j, "a", 1);
	assert_shows(printed(&j, json__put_open), "={\"a\":1");
}

TEST_CASE(an_array_separates_its_items)
{
	char *text = NULL;
	size_t len;
	struct json j = {.out = open_memstream(&text, &len)};
	struct json inner = {};

	json__array(&j, "items");
	for (size_t i = 0; i < 3; i++) {
		if (i < 2)
			json__item(&j, i);
		else
			json__line(&j, i);
		json__known(&j, "n", i, i);
		json__begin(&inner);
		json__value(&j, "inner", json__take(&inner));
		assert_int_equal(json__put(&j), 0);
	}
	json__print(&j, "]");
	json__print_text(&j, NULL);
	json__print_text(&j, "\"");
	fclose(j.out);
	assert_string_equal(text, ",\"items\":[{\"n\":null,\"inner\":{}},{\"n\":1,\"inner\":{}},\n"
				  "{\"n\":2,\"inner\":{}}]null\"\\\"\"");
	free(text);
}

TEST_CASE(texts_become_valid_utf8)
{
	struct json_object *object = json_new_text("\xff\xc3\xa9\xe2\x82");

	assert_string_equal(json_object_get_string(object),
			    "\xef\xbf\xbd\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd");
	json_object_put(object);
}

TEST_CASE(losses_name_every_cause)
{
	struct trace_losses losses = {};
	struct json j = {};
	char *text;

	losses.count[TRACE_LOST_RING_FULL] = 5;
	json__begin(&j);
	json__losses(&j, "losses", &losses);
	json__losses(&j, "unknown", NULL);
	text = printed(&j, json__put);
	for (int i = 0; i < TRACE_LOSS_MAX; i++)
		assert_non_null(strstr(text, trace_loss_name(i)));
	assert_non_null(strstr(text, "\"ring_full\":5"));
	assert_non_null(strstr(text, "\"unknown\":null"));
	free(text);
}

TEST_CASE(the_first_failure_is_kept_and_ends_the_document)
{
	char *text = NULL;
	size_t len;
	struct json j = {.out = open_memstream(&text, &len)};

	json__begin(&j);
	json__value(&j, "failed", NULL);
	json__number(&j, "after", 1);
	assert_int_equal(json__put(&j), -ENOMEM);
	json__item(&j, 1);
	json__number(&j, "next", 1);
	assert_int_equal(json__put(&j), -ENOMEM);
	json__array(&j, "array");
	json__print(&j, "]");
	assert_null(json__take(&j));
	fclose(j.out);
	assert_string_equal(text, "");
	free(text);
}

TEST_MAIN(NULL, NULL)
