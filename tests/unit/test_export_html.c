// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <json-c/json.h>
#include <sys/mman.h>
#include "test.h"
#include "../fixtures/export_trace.h"
#include "../fixtures/page.h"
#include "../fixtures/sampled_build.h"
#include "../fixtures/random.h"
#include "../fixtures/parsed_json.h"
#include "export/html_spans.h"
#include <math.h>
#include "../fixtures/output.h"
#include "../fixtures/sample_trend.h"
#include "export/trends_page.h"

static void print_spans(FILE *f, const char *page)
{
	size_t size, n;
	_free_ uint8_t *bytes = page_block(page, "spans", &size);
	_free_ struct html_span *spans = page_spans(bytes, size, &n);

	fputs("thread depth what key flags start end\n", f);
	for (size_t i = 0; i < n; i++)
		fprintf(f, "%u %u %u %d %u %" PRId64 " %" PRId64 "\n", spans[i].thread,
			spans[i].depth, spans[i].what, (int)spans[i].key, spans[i].flags,
			(int64_t)spans[i].start_ns, (int64_t)spans[i].end_ns);
}

static void print_flame(FILE *f, const char *page)
{
	size_t size;
	_free_ uint8_t *bytes = page_block(page, "flame", &size);
	struct byte_reader r = {bytes, bytes + size, false};
	uint64_t n = byte_reader__varint(&r), depth = 0, columns[5][100];

	assert_true(n < 100);
	for (int c = 0; c < 5; c++)
		byte_reader__varints(&r, columns[c], n);
	assert_false(r.bad);
	assert_ptr_equal(r.at, r.end);
	fputs("\ndepth frame count self off\n", f);
	for (uint64_t i = 0; i < n; i++) {
		depth += bytes_unzigzag(columns[0][i]);
		fprintf(f, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", depth,
			columns[1][i], columns[2][i], columns[3][i], bytes_unzigzag(columns[4][i]));
	}
}

static void print_document(FILE *f, const char *page, const char *id)
{
	size_t size;
	_free_ uint8_t *bytes = page_block(page, id, &size);

	assert_int_equal(strlen((char *)bytes), size);
	fprintf(f, "\n%s\n%s", id, (char *)bytes);
}

/* Covers only the data; browser tests cover the page around it. */
TEST_CASE(the_data_of_the_small_trace_are_as_they_were)
{
	_free_ char *page = export_small_text(export_html, &(struct export_job){});

	assert_shows(PRINTED({
			     print_spans(to_, page);
			     print_flame(to_, page);
			     print_document(to_, page, "report");
			     print_document(to_, page, "about");
		     }),
		     "@export/small.html.txt");
}

TEST_CASE(names_are_no_part_of_the_page)
{
	_free_ char *page = export_small_text(export_html, &(struct export_job){});

	/* The four blocks and the script of the page. */
	assert_int_equal(occurrences(page, "</script>"), 5);
	assert_int_equal(occurrences(page, "<b>"), 0);
	assert_int_equal(occurrences(page, "a::main"), 0);
}

TEST_CASE(it_allows_its_own_script_only_and_loads_nothing)
{
	_free_ char *page = export_small_text(export_html, &(struct export_job){});

	assert_contains(page, "\"default-src 'none'; script-src 'sha256-");
	assert_int_equal(occurrences(page, "http"), 1); /* http-equiv */
	assert_int_equal(occurrences(page, "src="), 0);
	assert_int_equal(occurrences(page, "@script-hash@"), 0);
}

TEST_CASE(documents_are_json)
{
	_free_ char *page = export_small_text(export_html, &(struct export_job){});
	static const char *const ids[] = {"about", "report"};

	for (int i = 0; i < 2; i++) {
		size_t size;
		_free_ uint8_t *bytes = page_block(page, ids[i], &size);
		struct json_object *document = json_tokener_parse((char *)bytes), *schema;

		assert_non_null(document);
		assert_true(json_object_object_get_ex(document, "schema", &schema));
		json_object_put(document);
	}
}

/* With a size limit that the trace may exceed, the exporter reads the trace twice. */
TEST_CASE(read_twice_it_is_the_same)
{
	static const char *const ids[] = {"spans", "flame", "report", "about"};
	struct export_job once = {}, twice = {.max_bytes = 170000};
	_free_ char *a = export_small_text(export_html, &once);
	_free_ char *b = export_small_text(export_html, &twice);

	assert_int_equal(twice.reserved > 0, 1);
	assert_int_equal(twice.left_out, 0);
	for (int i = 0; i < 4; i++) {
		size_t a_size, b_size;
		_free_ uint8_t *x = page_block(a, ids[i], &a_size);
		_free_ uint8_t *y = page_block(b, ids[i], &b_size);

		assert_int_equal(a_size, b_size);
		assert_memory_equal(x, y, a_size);
	}
}

TEST_CASE(intervals_left_out_for_the_size_limit_are_noted)
{
	struct export_job job = {.max_bytes = 36};
	_free_ char *page = export_small_text(export_html, &job);
	size_t size;
	_free_ uint8_t *about = page_block(page, "about", &size);

	assert_true(job.left_out > 0);
	assert_contains((char *)about, "\"note\":\"");
	assert_contains((char *)about, " intervals are left out");
}

TEST_CASE(sampled_stacks_have_blocks_of_their_own)
{
	struct export_job job = {};
	size_t size;
	_free_ char *page = export_of(sampled_build_write, export_html, &job, &size), *about;
	_free_ uint8_t *stacks = NULL;

	about = (char *)page_block(page, "about", &size);
	about = realloc(about, size + 1);
	about[size] = '\0';
	assert_contains(about,
			"\"stacks\":[\n{\"cause\":\"cpu\",\"frames\":[\"rt::lang_start (std)\"");
	assert_contains(about, "\"[typeck]\"");
	assert_contains(about, "\n{\"cause\":\"faults\",\"frames\":[");
	stacks = page_block(page, "stacks-off_cpu", &size);
	/* The number of stacks comes first, with the two processes. */
	assert_true(size > 10 && stacks[0] > 5);
}

/* ---- Html spans ------------------------------------------------------------------------------ */

#define SPANS 150000 /* more than two batches */

/* The spans that are read back from the page equal the original ones. */
static void assert_kept(const struct html_span *spans, size_t n)
{
	_close_ int fd = memfd_create("spans", MFD_CLOEXEC);
	_out_ struct out *out = NULL;
	_gzip_ struct gzip *p = NULL;
	struct html_spans s = {0};
	_free_ struct html_span *found = NULL;
	_free_ uint8_t *bytes = NULL;
	_free_ char *text = NULL;
	size_t size, n_found;

	must(out__new(fd, &out), gzip__new(out, GZIP_BASE64, &p));
	for (size_t i = 0; i < n; i++)
		assert_int_equal(html_spans__add(&s, &spans[i], p), 0);
	assert_int_equal(html_spans__finish(&s, p), 0);
	html_spans__destroy(&s);
	must(gzip__finish(p), out__flush(out));
	text = calloc(1, out__size(out) + 1);
	assert_int_equal(pread(fd, text, out__size(out), 0), out__size(out));
	bytes = page_unpack(text, &size);
	found = page_spans(bytes, size, &n_found);
	assert_int_equal(n_found, n);
	for (size_t i = 0; i < n; i++)
		assert_struct(found[i], thread, spans[i].thread, depth, spans[i].depth, what,
			      spans[i].what, key, spans[i].key, flags, spans[i].flags, start_ns,
			      spans[i].start_ns, end_ns, spans[i].end_ns);
}

/* Most spans are as a thread produces them; one in 50 has arbitrary times. */
TEST_CASE(random_spans_come_out_as_they_went_in)
{
	static struct html_span spans[SPANS];
	struct rng rng = rng_new();
	uint64_t now = 1000, depth = 0;

	for (size_t i = 0; i < SPANS; i++) {
		bool odd = !rng_below(&rng, 50);

		depth = depth && rng_below(&rng, 2) ? depth - 1 : depth + rng_below(&rng, 3);
		spans[i] = (struct html_span){
			.thread = i && rng_below(&rng, 100) ? spans[i - 1].thread
							    : (uint32_t)rng_below(&rng, 5),
			.depth = (uint32_t)depth,
			.what = (uint32_t)rng_below(&rng, 300),
			.key = rng_below(&rng, 3) ? HTML_NO_KEY : (uint32_t)rng_below(&rng, 1000),
			.flags = (uint8_t)rng_below(&rng, 8),
			.start_ns = odd ? rng_u64(&rng) : now};
		now += rng_below(&rng, 3000);
		spans[i].end_ns = odd ? rng_u64(&rng) : now;
		now += rng_below(&rng, 30);
	}
	assert_kept(spans, SPANS);
}

TEST_CASE(there_may_be_none)
{
	assert_kept(NULL, 0);
}

/* ---- Html report ----------------------------------------------------------------------------- */

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

TEST_CASE(it_has_queries_and_crates)
{
	struct json_object *raw = report_of_small(true);

	/* Four executions: 300 + 200 + 0 + 1996000 ns. */
	assert_int_equal(self_of(raw, "queries", "mir_built"), 1996500);
	assert_true(self_of(raw, "groups", "a") >= 1996500);
	json_object_put(raw);
}

TEST_CASE(probes_are_taken_off_unless_it_is_raw)
{
	struct json_object *raw = report_of_small(true), *report = report_of_small(false);

	assert_true(self_of(report, "queries", "typeck") < self_of(raw, "queries", "typeck"));
	json_object_put(raw);
	json_object_put(report);
}

/* An item that no key is around is there, but has no name. */
TEST_CASE(it_has_items)
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

/* ---- Trends page ----------------------------------------------------------------------------- */

static struct sample_trend sample;

/* The document of a page with the sample's trend and the builds [first, n). */
static char *document_of(size_t first, size_t n)
{
	const struct history_builds builds = {.at = sample.builds + first, .n = n - first};
	const struct history_filter filter = {.branch = "main"};
	_trends_page_ struct trends_page *page = NULL;
	_out_ struct out *out = NULL;
	_fclose_ FILE *f = tmpfile();
	char *text = calloc(1, 1 << 20);
	char *block;
	size_t size;

	assert_non_null(f);
	assert_non_null(text);
	must(out__new(fileno(f), &out),
	     trends_page__new(out, &builds, &filter, "a \"store\"", &page),
	     trends_page__add(page, &sample.trend), trends_page__finish(page), out__flush(out));
	rewind(f);
	assert_true(fread(text, 1, (1 << 20) - 1, f) > 1000);
	block = (char *)page_block(text, "trends", &size);
	free(text);
	return block;
}

static struct json_object *trend_of(struct json_object *document)
{
	return json_object_array_get_idx(member(document, "trends"), 0);
}

TEST_CASE(points_refer_to_builds_by_number)
{
	struct json_object *document, *trend, *point;
	_free_ char *text = NULL;

	sample_trend(&sample, SAMPLE_BUILDS);
	sample.points[3].value = HISTORY_UNKNOWN;
	sample.change.change = INFINITY;
	text = document_of(0, SAMPLE_BUILDS);
	document = parsed_json(text);
	trend = trend_of(document);
	assert_string_equal(json_object_get_string(member(document, "store")), "a \"store\"");
	assert_int_equal(json_object_array_length(member(trend, "points")), SAMPLE_BUILDS);
	point = json_object_array_get_idx(member(trend, "points"), SAMPLE_LOST);
	assert_int_equal(json_object_get_int(json_object_array_get_idx(point, 0)), SAMPLE_LOST);
	assert_non_null(json_object_array_get_idx(point, 2));
	point = json_object_array_get_idx(member(trend, "points"), 3);
	assert_null(json_object_array_get_idx(point, 1));
	assert_null(member(json_object_array_get_idx(member(trend, "changes"), 0), "change"));
	json_object_put(document);
}

/* A build may be added between two questions. */
TEST_CASE(points_of_other_builds_are_left_out)
{
	struct json_object *document, *changes, *point;
	_free_ char *text = NULL, *without = NULL;

	sample_trend(&sample, SAMPLE_BUILDS);
	text = document_of(10, SAMPLE_BUILDS);
	document = parsed_json(text);
	assert_int_equal(json_object_array_length(member(trend_of(document), "points")),
			 SAMPLE_BUILDS - 10);
	changes = member(trend_of(document), "changes");
	point = member(json_object_array_get_idx(changes, 0), "point");
	assert_int_equal(json_object_get_int(point), SAMPLE_CHANGED - 10);
	json_object_put(document);
	/* The change goes with its build. */
	without = document_of(SAMPLE_CHANGED + 1, SAMPLE_BUILDS);
	document = parsed_json(without);
	assert_int_equal(json_object_array_length(member(trend_of(document), "changes")), 0);
	json_object_put(document);
}

TEST_MAIN(NULL, NULL)
