// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "import/mm_reader.h"
#include "import/mm_file.h"

#include "test.h"
#include "../fixtures/mm_bytes.h"
#include "../fixtures/random.h"
#include "base/cleanup.h"
#include "qprof/trace_format.h"

static struct mm_reader *open_bytes(struct mm_bytes *m, size_t page)
{
	struct mm_reader *r = NULL;
	const char *why;
	char path[40];
	_close_ int fd = mm_bytes__open(m, page, path);

	assert_int_equal(mm_reader__open(path, &r, &why), 0);
	mm_bytes__end(m);
	return r;
}

TEST_CASE(events_are_as_written)
{
	struct rng rng = rng_new();
	uint64_t seed = rng.state;
	_mm_reader_ struct mm_reader *r = NULL;
	static struct mm_event events[9000];
	struct mm_bytes m;

	mm_bytes__begin(&m);
	for (int i = 0; i < 9000; i++) {
		uint64_t kind = rng_u64(&rng), id = rng_u64(&rng);
		uint64_t start = rng_any_size(&rng) >> 16, end = MM_INSTANT - rng_below(&rng, 4);

		mm_bytes__event(&m, kind, id, i, start, end);
	}
	r = open_bytes(&m, 1 + rng_below(&rng, 5000));
	assert_null(mm_reader__problem(r));
	assert_int_equal(mm_reader__n_events(r), 9000);
	/* The pieces do not match the blocks of the reader. */
	for (uint32_t at = 0; at < 9000; at += 3000)
		assert_int_equal(mm_reader__events(r, at, 3000, events + at), 0);
	rng.state = seed;
	for (uint32_t i = 0; i < 9000; i++) {
		const struct mm_event *e = &events[i];

		assert_true(e->kind == rng_u64(&rng));
		assert_true(e->id == rng_u64(&rng));
		assert_int_equal(e->thread, i);
		assert_true(e->start == rng_any_size(&rng) >> 16);
		assert_true(e->end == MM_INSTANT - rng_below(&rng, 4));
		assert_int_equal(e->type, e->end == MM_INSTANT	 ? MM_INSTANT_EVENT
					  : e->end == MM_INTEGER ? MM_INTEGER_EVENT
								 : MM_INTERVAL_EVENT);
	}
}

TEST_CASE(labels_are_checked_as_upstream_does)
{
	static const struct {
		const char *text, *label;
	} cases[] = {
		{"typeck", "typeck"},	      {"type ck\t\n\f\r", "type ck\t\n\f\r"},
		{"typeck\036arg", "typeck"},  {"typeck\036", "typeck"},
		{"\xc3\xa9", "\xc3\xa9"},     {"", "<parse error>"},
		{"\036arg", "<parse error>"}, {"a\vb", "<parse error>"},
		{"a\177b", "<parse error>"},  {"a\001\036b", "<parse error>"},
		{"a\036\001", "a"},
	};
	uint64_t ids[N_OF(cases)];
	_mm_reader_ struct mm_reader *r = NULL;
	struct mm_bytes m;

	mm_bytes__begin(&m);
	for (size_t i = 0; i < N_OF(cases); i++)
		ids[i] = mm_bytes__string(&m, cases[i].text);
	r = open_bytes(&m, 100);
	for (size_t i = 0; i < N_OF(cases); i++) {
		assert_string_equal(mm_reader__label(r, ids[i]), cases[i].label);
		assert_string_equal(mm_reader__kind(r, ids[i]), cases[i].text);
	}
	assert_string_equal(mm_reader__label(r, 5), "<unknown>");
	assert_true(mm_reader__address(r, 5) == UINT32_MAX);
}

TEST_CASE(without_metadata_the_file_gives_the_time)
{
	_mm_reader_ struct mm_reader *r = NULL;
	struct mm_bytes m;

	mm_bytes__begin(&m);
	r = open_bytes(&m, 100);
	assert_false(mm_reader__metadata(r)->found);
	assert_int_equal(mm_reader__metadata(r)->start_time_ns, 1700000000000000000);
}

TEST_CASE(errors_say_why)
{
	struct mm_reader *r = NULL;
	const char *why = NULL;

	assert_int_equal(mm_reader__open("/nonexistent", &r, &why), -ENOENT);
	assert_string_equal(why, "No such file or directory");
	assert_null(r);
	mm_reader__free(NULL);
}

/* ---- Mm strings ------------------------------------------------------------------------------ */

static struct mm_bytes m;

static int begin(void **state)
{
	mm_bytes__begin(&m);
	return 0;
}

static int end(void **state)
{
	mm_bytes__end(&m);
	return 0;
}

static void load(struct mm_strings *s)
{
	__cleanup(mm_file__destroy) struct mm_file f;
	const char *why;
	char path[40];
	_close_ int fd = mm_bytes__open(&m, 5000, path);

	assert_int_equal(mm_file__open(&f, path, &why), 0);
	assert_int_equal(mm_strings__load(s, &f), 0);
}

static void check(const struct mm_strings *s, uint64_t id, const char *text, const char *label)
{
	__cleanup(byte_buffer__destroy) struct byte_buffer out = {0};

	assert_int_equal(mm_strings__text(s, id, &out), 0);
	assert_string_equal((char *)out.data, text);
	assert_int_equal(out.size, strlen(text) + 1);
	assert_int_equal(mm_strings__label(s, id, &out), 0);
	assert_string_equal((char *)out.data, label);
}

/* A string of a text and one or two references; b = 0: only one. */
static uint64_t concatenation(const char *text, uint64_t a, uint64_t b)
{
	struct byte_buffer *data = &m.streams[MM_STRING_DATA];
	uint64_t id = data->size + MM_FIRST_REGULAR_ID;

	byte_buffer__bytes(data, text, strlen(text));
	byte_buffer__bytes(data, "\xfe", 1);
	mm_bytes__u64(data, a);
	if (b) {
		byte_buffer__bytes(data, "\xfe", 1);
		mm_bytes__u64(data, b);
	}
	byte_buffer__bytes(data, "\xff", 1);
	return id;
}

TEST_CASE_WITH(strings_refer_to_strings, begin, end)
{
	uint64_t a = mm_bytes__string(&m, "a"), sep = mm_bytes__string(&m, "\x1e");
	uint64_t ab = concatenation("b", a, 0), label = concatenation("", ab, sep);
	uint64_t both = concatenation("", label, 7);
	__cleanup(mm_strings__destroy) struct mm_strings s;

	mm_bytes__map(&m, 7, a);
	mm_bytes__map(&m, 7, ab);
	mm_bytes__map(&m, 100000000, both);
	mm_bytes__map(&m, 100000003, a); /* a regular id: ignored */
	load(&s);
	check(&s, a, "a", "a");
	check(&s, 7, "ba", "ba"); /* the last mapping of an id counts */
	check(&s, both, "ba\036ba", "ba");
	check(&s, 100000000, "ba\036ba", "ba");
	check(&s, 8, "<unknown>", "<unknown>");
	check(&s, MM_INVALID_ID, "<unknown>", "<unknown>");
	check(&s, UINT64_MAX, "<unknown>", "<unknown>");
	assert_int_equal(mm_strings__address(&s, 7), ab - MM_FIRST_REGULAR_ID);
	assert_true(mm_strings__address(&s, 8) == MM_NO_ADDRESS);
}

/* Each string refers to the previous one twice: 2^60 components. */
TEST_CASE_WITH(doubling_ends, begin, end)
{
	uint64_t id = mm_bytes__string(&m, "");
	__cleanup(byte_buffer__destroy) struct byte_buffer out = {0};
	__cleanup(mm_strings__destroy) struct mm_strings s;

	for (int i = 0; i < 60; i++)
		id = concatenation("", id, id);
	load(&s);
	assert_int_equal(mm_strings__text(&s, id, &out), 0);
	assert_string_equal((char *)out.data, "<invalid>");
}

TEST_CASE_WITH(texts_have_a_limit, begin, end)
{
	_free_ char *text = malloc(50001);
	__cleanup(byte_buffer__destroy) struct byte_buffer out = {0};
	__cleanup(mm_strings__destroy) struct mm_strings s;
	uint64_t id;

	memset(text, 'x', 50000);
	text[50000] = '\0';
	id = mm_bytes__string(&m, text);
	for (int i = 0; i < 10; i++)
		id = concatenation("", id, id);
	load(&s);
	assert_int_equal(mm_strings__text(&s, id, &out), 0);
	assert_int_equal(out.size, QPT_TEXT_MAX + 1);
}

/* ---- Mm metadata ----------------------------------------------------------------------------- */

static struct mm_metadata parse(const char *text)
{
	struct mm_metadata m;

	assert_int_equal(mm_metadata__parse(&m, text, strlen(text)), 0);
	return m;
}

static void check_cmd(const char *escaped, const char *cmd)
{
	__cleanup(mm_metadata__clear) struct mm_metadata m;
	char text[256];

	snprintf(text, sizeof(text), "{\"start_time\": 5, \"process_id\": 6, \"cmd\": \"%s\"}",
		 escaped);
	m = parse(text);
	assert_struct(m, found, true, start_time_ns, 5);
	assert_struct(m.process, pid, 6, command, cmd);
}

TEST_CASE(escapes_of_json_and_of_rust_are_taken)
{
	check_cmd("rustc a.rs ", "rustc a.rs");
	check_cmd("", "");
	check_cmd("don\\'t \\\"x\\\" \\\\\\' \\\\u{e9}", "don't \"x\" \\' \\u{e9}");
	check_cmd("\\u{e9} \\u00e9 \\u{1f980} \\ud83e\\udd80", "\xc3\xa9 \xc3\xa9 \xf0\x9f\xa6\x80 "
							       "\xf0\x9f\xa6\x80");
	check_cmd("\\t\\n\\r\\u{7f}|", "\t\n\r\x7f|");
	/* An escaped quote does not end the text. */
	check_cmd("a\\u{22}b\\u{5c}c", "a\"b\\c");
	check_cmd("a\\u{0}b", "a b");
	check_cmd("\\u{d800}.\\u{10ffff}", "\xef\xbf\xbd.\xf4\x8f\xbf\xbf");
	check_cmd("raw \xc3\xa9", "raw \xc3\xa9");
}

TEST_CASE(malformed_metadata_counts_as_missing)
{
	static const char *const texts[] = {
		"",
		"{",
		"[1]",
		"5",
		"null",
		"{}",
		"<unknown>",
		"{\"start_time\": 1, \"process_id\": 1}",
		"{\"start_time\": 1, \"process_id\": 4294967296, \"cmd\": \"\"}",
		"{\"start_time\": \"1\", \"process_id\": 1, \"cmd\": \"\"}",
		"{\"start_time\": -1, \"process_id\": 1, \"cmd\": \"\"}",
		"{\"start_time\": 1.5, \"process_id\": 1, \"cmd\": \"\"}",
		"{\"start_time\": 1, \"process_id\": 1, \"cmd\": 1}",
		"{\"start_time\": 1, \"process_id\": 1, \"cmd\": \"\\u{110000}\"}",
		"{\"start_time\": 1, \"process_id\": 1, \"cmd\": \"\\u{e9\"}",
		"{\"start_time\": 1, \"process_id\": 1, \"cmd\": \"\\x\"}",
		"{\"start_time\": 1, \"process_id\": 1, \"cmd\": \"\\",
	};

	for (size_t i = 0; i < N_OF(texts); i++) {
		struct mm_metadata m = parse(texts[i]);

		if (m.found)
			fail_msg("%s", texts[i]);
		assert_int_equal(m.process.exit_status, TRACE_EXIT_UNKNOWN);
		mm_metadata__clear(&m);
	}
}

TEST_CASE(our_own_member_is_taken)
{
	struct mm_metadata m = parse("{\"start_time\": 18446744073709551615, \"process_id\": 1, "
				     "\"cmd\": \"\", \"qprof\": {\"crate\": \"a\", "
				     "\"crate_type\": null, \"exit_status\": 4294967295, "
				     "\"attached_late\": true, \"losses\": {\"ring_full\": 3, "
				     "\"new_cause\": 1}}}");

	assert_true(m.found && m.exported && m.has_losses);
	assert_true(m.start_time_ns == UINT64_MAX);
	assert_struct(m.process, crate, "a", crate_type, NULL, exit_status, -1, attached_late,
		      true);
	assert_int_equal(m.losses.count[TRACE_LOST_RING_FULL], 3);
	mm_metadata__clear(&m);
	m = parse("{\"start_time\": 1, \"process_id\": 1, \"cmd\": \"\", \"qprof\": "
		  "{\"losses\": null, \"crate\": 5}}");
	assert_true(m.exported && !m.has_losses && !m.process.crate);
	mm_metadata__clear(&m);
	m = parse("{\"start_time\": 1, \"process_id\": 1, \"cmd\": \"\", \"qprof\": [1]}");
	assert_true(m.found && !m.exported);
	mm_metadata__clear(&m);
}

/* Many of the texts end inside an escape. */
TEST_CASE(random_texts_are_harmless)
{
	static const char alphabet[] = "\\\\\\u{}'\"e9x{\":,[";
	struct rng rng = rng_new();

	for (int i = 0; i < 20000; i++) {
		size_t size = rng_below(&rng, 30);
		char *text = malloc(size + 1);
		struct mm_metadata m;

		for (size_t j = 0; j < size; j++)
			text[j] = alphabet[rng_below(&rng, sizeof(alphabet) - 1)];
		assert_int_equal(mm_metadata__parse(&m, text, size), 0);
		mm_metadata__clear(&m);
		free(text);
	}
}

/* ---- Mm file --------------------------------------------------------------------------------- */

TEST_CASE(streams_are_put_together)
{
	struct rng rng = rng_new();
	struct mm_bytes m;
	__cleanup(mm_file__destroy) struct mm_file f;
	const char *why;
	char path[40];
	int fd;

	mm_bytes__begin(&m);
	for (int i = 0; i < 3000; i++)
		mm_bytes__event(&m, rng_u64(&rng), i, i, i, i);
	fd = mm_bytes__open(&m, 1 + rng_below(&rng, 100), path);
	assert_int_equal(mm_file__open(&f, path, &why), 0);
	assert_struct(f, problem, "", version, 9, mtime_ns, 1700000000000000000,
		      streams[MM_EVENTS].size, m.streams[MM_EVENTS].size,
		      streams[MM_STRING_DATA].size, 8);
	for (int i = 0; i < 2000; i++) {
		uint64_t at = rng_below(&rng, m.streams[MM_EVENTS].size + 1);
		uint64_t size = rng_below(&rng, m.streams[MM_EVENTS].size + 1 - at) % 5000;
		uint8_t got[5000];

		assert_int_equal(mm_file__read(&f, MM_EVENTS, at, got, size), 0);
		assert_memory_equal(got, m.streams[MM_EVENTS].data + at, size);
	}
	assert_int_equal(mm_file__read(&f, MM_EVENTS, m.streams[MM_EVENTS].size, path, 1), -EIO);
	assert_int_equal(mm_file__read(&f, MM_EVENTS, UINT64_MAX, path, 1), -EIO);
	assert_int_equal(mm_file__read(&f, MM_EVENTS, 1, path, SIZE_MAX), -EIO);
	close(fd);
	mm_bytes__end(&m);
}

static void refuse(const char *path, int err, const char *says)
{
	__cleanup(mm_file__destroy) struct mm_file f;
	const char *why = NULL;

	assert_int_equal(mm_file__open(&f, path, &why), err);
	assert_string_equal(why, says);
}

TEST_CASE(a_path_that_is_not_a_regular_file_is_refused)
{
	refuse("/nonexistent", -ENOENT, "No such file or directory");
	refuse("/tmp", -EINVAL, "it is not a regular file");
	refuse("/dev/null", -EINVAL, "it is not a regular file");
	refuse("/dev/zero", -EINVAL, "it is not a regular file");
}

TEST_CASE(a_file_that_shrinks_is_an_error)
{
	struct mm_bytes m;
	__cleanup(mm_file__destroy) struct mm_file f;
	const char *why;
	char path[40], got[9];
	int fd;

	mm_bytes__begin(&m);
	mm_bytes__string(&m, "x");
	fd = mm_bytes__open(&m, 100, path);
	assert_int_equal(mm_file__open(&f, path, &why), 0);
	assert_int_equal(ftruncate(fd, 10), 0);
	assert_int_equal(mm_file__read(&f, MM_STRING_DATA, 1, got, 9), -EIO);
	close(fd);
	mm_bytes__end(&m);
}

TEST_CASE(the_first_problem_holds)
{
	__cleanup(mm_file__destroy) struct mm_file f = {.fd = -1};

	mm_file__problem(&f, "cut at %d", 5);
	mm_file__problem(&f, "cut at %d", 6);
	assert_string_equal(f.problem, "cut at 5");
}

TEST_MAIN(NULL, NULL)
