// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "options/value.h"

#include "test.h"
#include "../fixtures/directory.h"
#include "../fixtures/output.h"
#include "../fixtures/rows.h"

struct value {
	const char *text;
	int err;
	uint64_t value;
};

static void check(int (*parse)(const char *, uint64_t *), const struct value *values, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t value = 0;
		int err = parse(values[i].text, &value);

		if (err != values[i].err || (!err && value != values[i].value))
			fail_msg("'%s': %d, %llu", values[i].text, err, (unsigned long long)value);
	}
}

TEST_CASE(durations_have_units)
{
	static const struct value values[] = {
		{"1s", 0, 1000000000},
		{"1", 0, 1000000000},
		{"500ms", 0, 500000000},
		{"100us", 0, 100000},
		{"7ns", 0, 7},
		{"2m", 0, 120000000000},
		{"2min", 0, 120000000000},
		{"1h", 0, 3600000000000},
		{"1.5s", 0, 1500000000},
		{"0.25", 0, 250000000},
		{"1.000001s", 0, 1000001000},
		{"0", 0, 0},
		{"", -EINVAL, 0},
		{"s", -EINVAL, 0},
		{"-1s", -EINVAL, 0},
		{"1 s", -EINVAL, 0},
		{"1x", -EINVAL, 0},
		{"1.s", -EINVAL, 0},
		{".5s", -EINVAL, 0},
		{"1.0000001s", -EINVAL, 0},
		{"1e3", -EINVAL, 0},
		{"99999999999999999999s", -ERANGE, 0},
		{"99999999999h", -ERANGE, 0},
	};

	check(value_duration, values, N_OF(values));
}

TEST_CASE(sizes_are_powers_of_1024)
{
	static const struct value values[] = {
		{"16m", 0, 16 << 20}, {"16M", 0, 16 << 20},  {"16MiB", 0, 16 << 20},
		{"64k", 0, 64 << 10}, {"64kB", 0, 64 << 10}, {"1g", 0, 1 << 30},
		{"4096", 0, 4096},    {"0", 0, 0},	     {"", -EINVAL, 0},
		{"m", -EINVAL, 0},    {"16x", -EINVAL, 0},   {"16mm", -EINVAL, 0},
		{"-1", -EINVAL, 0},   {"1.5m", -EINVAL, 0},  {"99999999999999g", -ERANGE, 0},
	};

	check(value_size, values, N_OF(values));
}

TEST_CASE(numbers_are_digits)
{
	static const struct value values[] = {
		{"0", 0, 0},	    {"18446744073709551615", 0, UINT64_MAX},
		{"007", 0, 7},	    {"18446744073709551616", -ERANGE, 0},
		{"", -EINVAL, 0},   {"+1", -EINVAL, 0},
		{"1 ", -EINVAL, 0}, {"0x1", -EINVAL, 0},
	};

	check(value_number, values, N_OF(values));
}

TEST_CASE(pids_add_up)
{
	struct cli_pids pids = {};

	assert_int_equal(value_pids("1,22,333", &pids), 0);
	assert_int_equal(value_pids("22,4", &pids), 0);
	assert_int_equal(pids.n, 4);
	assert_int_equal(pids.pids[0], 1);
	assert_int_equal(pids.pids[3], 4);
	free(pids.pids);
}

TEST_CASE(bad_pids_are_refused)
{
	static const char *const texts[] = {"", ",", "1,", ",1", "1,,2", "1 2", "a", "-1"};
	struct cli_pids pids = {};

	for (size_t i = 0; i < N_OF(texts); i++)
		row_equal(texts[i], value_pids(texts[i], &pids), -EINVAL);
	assert_int_equal(value_pids("0", &pids), -ERANGE);
	assert_int_equal(value_pids("2147483648", &pids), -ERANGE);
	free(pids.pids);
}

TEST_CASE(choices_match_whole_words)
{
	unsigned int index;

	assert_int_equal(value_choice("auto", "auto|multi|perf", &index), 0);
	assert_int_equal(index, 0);
	assert_int_equal(value_choice("perf", "auto|multi|perf", &index), 0);
	assert_int_equal(index, 2);
	assert_int_equal(value_choice("mult", "auto|multi|perf", &index), -EINVAL);
	assert_int_equal(value_choice("auto|multi", "auto|multi|perf", &index), -EINVAL);
	assert_int_equal(value_choice("", "auto|multi|perf", &index), -EINVAL);
}

TEST_CASE(a_threshold_is_a_time_or_a_part)
{
	static const struct {
		const char *text;
		int err;
		uint64_t ns, ppm;
	} cases[] = {
		{"10ms", 0, 10000000, 0}, {"1%", 0, 0, 10000},	   {"0.125%", 0, 0, 1250},
		{"100%", 0, 0, 1000000},  {"101%", -ERANGE, 0, 0}, {"1.%", -EINVAL, 0, 0},
		{"%", -EINVAL, 0, 0},	  {"1%%", -EINVAL, 0, 0},  {"0.1234%", -EINVAL, 0, 0},
		{"-1%", -EINVAL, 0, 0},	  {"1x", -EINVAL, 0, 0},   {"", -EINVAL, 0, 0},
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct cli_threshold t;

		row_equal(cases[i].text, value_threshold(cases[i].text, &t), cases[i].err);
		if (cases[i].err)
			continue;
		row_equal(cases[i].text, t.ns, cases[i].ns);
		row_equal(cases[i].text, t.ppm, cases[i].ppm);
	}
}

TEST_CASE(texts_add_up)
{
	struct cli_texts texts = {};

	assert_int_equal(value_texts("a", &texts), 0);
	assert_int_equal(value_texts("b", &texts), 0);
	assert_int_equal(value_texts("", &texts), -EINVAL);
	assert_int_equal(texts.n, 2);
	assert_string_equal(texts.texts[1], "b");
	free(texts.texts);
}

TEST_CASE(gates_name_what_they_watch)
{
	static const struct {
		const char *text, *crate, *query;
		uint64_t ns, ppm, bytes;
	} good[] = {
		{"5%", NULL, NULL, 0, 50000, 0},
		{"250.5%", NULL, NULL, 0, 2505000, 0},
		{"100ms", NULL, NULL, 100000000, 0, 0},
		{"typeck=10%", NULL, "typeck", 0, 100000, 0},
		{"mir_*=1%", NULL, "mir_*", 0, 10000, 0},
		{"*=1%", NULL, "*", 0, 10000, 0},
		{"serde/typeck=1s", "serde", "typeck", 1000000000, 0, 0},
		{"serde/*=1%", "serde", NULL, 0, 10000, 0},
		{"a=b/c/d=1%", "a=b", "c/d", 0, 10000, 0},
		{"typeck=0", NULL, "typeck", 0, 0, 0},
		{"200MiB", NULL, NULL, 0, 0, 200 << 20},
		{"serde/*=1G", "serde", NULL, 0, 0, 1 << 30},
		/* Of minutes and megabytes, a small letter is the former. */
		{"2m", NULL, NULL, 120000000000, 0, 0},
	};
	static const char *const bad[] = {
		"",    "typeck", "=5%", "typeck=", "/typeck=5%", "serde/=5%",
		"5%%", "-5%",	 "5",	"1.5",	   "typeck=10"};
	struct cli_gates gates = {};

	for (size_t i = 0; i < N_OF(good); i++) {
		const struct cli_gate *gate;

		row_equal(good[i].text, value_gate(good[i].text, &gates), 0);
		gate = &gates.gates[gates.n - 1];
		row_text(good[i].text, gate->text, good[i].text);
		row_text(good[i].text, gate->crate, good[i].crate);
		row_text(good[i].text, gate->query, good[i].query);
		row_equal(good[i].text, gate->limit.ns, good[i].ns);
		row_equal(good[i].text, gate->limit.ppm, good[i].ppm);
		row_equal(good[i].text, gate->limit_bytes, good[i].bytes);
	}
	for (size_t i = 0; i < N_OF(bad); i++)
		row_equal(bad[i], value_gate(bad[i], &gates), -EINVAL);
	assert_int_equal(value_gate("1000001%", &gates), -ERANGE);
	assert_int_equal(gates.n, N_OF(good));
	for (size_t i = 0; i < gates.n; i++) {
		free(gates.gates[i].crate);
		free(gates.gates[i].query);
	}
	free(gates.gates);
}

TEST_CASE(a_text_matches_one_of_the_globs)
{
	const char *texts[] = {"type*", "mir_?"};
	const struct cli_texts globs = {texts, 2}, none = {};

	assert_true(value_matches(&globs, "typeck"));
	assert_true(value_matches(&globs, "mir_x"));
	assert_false(value_matches(&globs, "mir_xy"));
	assert_false(value_matches(&globs, "a_typeck"));
	assert_true(value_matches(&none, "typeck"));
}

TEST_CASE(a_limit_is_a_time_or_a_size)
{
	static const struct {
		const char *text;
		int err;
		uint64_t ns, bytes;
	} values[] = {
		{"90s", 0, 90000000000, 0},  {"30min", 0, 1800000000000, 0},
		{"1h", 0, 3600000000000, 0}, {"7d", 0, 604800000000000, 0},
		{"256m", 0, 0, 256 << 20},   {"10g", 0, 0, 10ull << 30},
		{"1k", 0, 0, 1024},	     {"5", -EINVAL, 0, 0},
		{"0d", -ERANGE, 0, 0},	     {"0", -ERANGE, 0, 0},
		{"1.5h", -EINVAL, 0, 0},     {"1w", -EINVAL, 0, 0},
		{"", -EINVAL, 0, 0},	     {"99999999999999d", -ERANGE, 0, 0},
	};

	for (size_t i = 0; i < N_OF(values); i++) {
		struct cli_limits limits = {0};

		row_equal(values[i].text, value_limit(values[i].text, &limits), values[i].err);
		row_equal(values[i].text, limits.ns, values[i].ns);
		row_equal(values[i].text, limits.bytes, values[i].bytes);
	}
}

/* ---- Trace list ------------------------------------------------------------------------------ */

static int list(const char *word, struct trace_list *list)
{
	_output_ struct output o = {};
	int err = CAPTURED(&o, trace_list__init(list, word));

	assert_string_equal(o.text[0], "");
	if (err)
		assert_contains(o.text[1], "error: ");
	else
		assert_string_equal(o.text[1], "");
	return err;
}

TEST_CASE(commas_separate_files)
{
	_trace_list_ struct trace_list l;

	assert_int_equal(list("a.qpt,b,c.qpt", &l), 0);
	assert_int_equal(l.n, 3);
	assert_string_equal(l.paths[0], "a.qpt");
	assert_string_equal(l.paths[1], "b");
	assert_string_equal(l.paths[2], "c.qpt");
}

TEST_CASE(empty_names_are_refused)
{
	static const char *const words[] = {"", ",", "a,", ",a", "a,,b"};

	for (size_t i = 0; i < N_OF(words); i++) {
		_trace_list_ struct trace_list l;

		row_equal(words[i], list(words[i], &l), -EINVAL);
	}
}

TEST_CASE(a_directory_is_all_its_traces)
{
	_trace_list_ struct trace_list l = {}, none = {};

	assert_int_equal(list(directory, &none), -ENOENT);
	output_write(directory_path("b.qpt"), "");
	output_write(directory_path("a.qpt"), "");
	output_write(directory_path("notes.txt"), "");
	output_write(directory_path(".qpt"), "");
	assert_int_equal(list(directory, &l), 0);
	assert_int_equal(l.n, 2);
	assert_string_equal(l.paths[0], directory_path("a.qpt"));
	assert_string_equal(l.paths[1], directory_path("b.qpt"));
}

TEST_CASE(a_file_may_have_commas)
{
	_trace_list_ struct trace_list l;

	output_write(directory_path("a,b"), "");
	assert_int_equal(list(directory_path("a,b"), &l), 0);
	assert_int_equal(l.n, 1);
	assert_string_equal(l.paths[0], directory_path("a,b"));
}

TEST_MAIN(directory_make, directory_remove)
