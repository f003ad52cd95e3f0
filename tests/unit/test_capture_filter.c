// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/filter.h"

#include "test.h"
#include "../fixtures/rows.h"

static struct filter *made(const char *list)
{
	struct filter *f = NULL;

	assert_int_equal(filter__new(&list, 1, &f), 0);
	return f;
}

static bool passes(const char *list, enum filter_class class, const char *label)
{
	_filter_ struct filter *f = made(list);

	return filter__passes(f, class, label);
}

static bool may_pass(const char *list, enum filter_class class)
{
	_filter_ struct filter *f = made(list);

	return filter__may_pass(f, class);
}

/* `want`: a letter for each class that passes. */
static void assert_classes(const char *list, const char *want)
{
	static const char letters[FILTER_CLASSES + 1] = "qatpblhc";

	for (int i = 0; i < FILTER_CLASSES; i++)
		if (passes(list, i, "x") != !!strchr(want, letters[i]))
			fail_msg("%s: class %d", list, i);
}

TEST_CASE(each_word_stands_for_its_kind)
{
	assert_classes("query-provider", "q");
	assert_classes("generic-activity", "atp");
	assert_classes("passes", "p");
	assert_classes("query-blocked", "b");
	assert_classes("incr-cache-load", "l");
	assert_classes("incr-result-hashing", "h");
	assert_classes("all", "qatpblh");
	assert_classes("query-cache-hit", "qc");
	assert_classes("default", "apbl");
	assert_classes("default,query-provider", "qapbl");
	assert_classes("none", "");
	assert_classes("passes,query-provider", "pq");
}

TEST_CASE(a_filter_can_be_made_of_another_ones_words)
{
	static const char *const lists[] = {"none,counts", "-passes,t*"};
	_filter_ struct filter *f = NULL, *empty = NULL;

	assert_int_equal(filter__new(lists, 2, &f), 0);
	assert_string_equal(filter__text(f), "none,counts,-passes,t*");
	assert_int_equal(filter__new(NULL, 0, &empty), 0);
	assert_string_equal(filter__text(empty), "default");
}

TEST_CASE(the_last_word_that_fits_decides)
{
	assert_classes("all,-passes", "qatblh");
	assert_classes("all,-generic-activity,passes", "qpblh");
	assert_classes("all,none,query-blocked", "b");
	assert_classes("all,query-cache-hit,-query-cache-hit", "qatpblh");
	assert_classes("query-cache-hit,-query-provider", "c");
	assert_classes("query-cache-hit,none", "");
	assert_classes("query-cache-hit,-all", "");
	assert_true(passes("all,-type*", FILTER_QUERY, "trait_def"));
	assert_false(passes("all,-type*", FILTER_QUERY, "type_of"));
	assert_true(passes("all,-type*,type_of", FILTER_QUERY, "type_of"));
	assert_false(passes("all,type_of,-type*", FILTER_QUERY, "type_of"));
	assert_true(passes("type_of", FILTER_LOAD, "type_of"));
	assert_false(passes("type_of", FILTER_LOAD, "type"));
	assert_false(passes("type_of", FILTER_LOAD, NULL));
}

TEST_CASE(a_list_that_only_takes_away_takes_from_the_default)
{
	_filter_ struct filter *f = NULL;

	assert_classes("-passes", "abl");
	assert_classes("-query-blocked,-passes", "al");
	assert_classes("-query-cache-hit", "apbl");
	assert_int_equal(filter__new(NULL, 0, &f), 0);
	assert_false(filter__passes(f, FILTER_QUERY, "typeck"));
	assert_true(filter__passes(f, FILTER_LOAD, "typeck"));
	assert_false(filter__passes(f, FILTER_HASHING, "typeck"));
}

TEST_CASE(the_default_leaves_out_what_is_tiny)
{
	assert_false(passes("default", FILTER_ACTIVITY, "metadata_decode_entry_type_of"));
	assert_false(passes("default", FILTER_ACTIVITY, "incr_comp_encode_dep_graph"));
	assert_false(passes("default", FILTER_ACTIVITY, "encode_query_results_for"));
	assert_true(passes("default", FILTER_ACTIVITY, "metadata_register_crate"));
	assert_true(passes("default,query-provider", FILTER_QUERY, "mir_pass_like_query"));
	assert_true(passes("default,mir_pass_*", FILTER_DYNAMIC, "mir_pass_inline"));
	assert_true(passes("generic-activity", FILTER_DYNAMIC, "mir_pass_inline"));
}

static bool wants_off_cpu(const char *list)
{
	_filter_ struct filter *f = made(list);

	return filter__wants_off_cpu(f);
}

/* off-cpu and the other words do not affect each other. */
TEST_CASE(off_cpu_is_recorded_unless_taken_away)
{
	assert_true(wants_off_cpu("query-provider"));
	assert_true(wants_off_cpu("none,passes"));
	assert_false(wants_off_cpu("passes,-off-cpu"));
	assert_true(wants_off_cpu("-off-cpu,off-cpu"));
	assert_classes("off-cpu", "apbl");
	assert_classes("-off-cpu", "apbl");
	assert_classes("query-provider,-off-cpu", "q");
}

/* "none" takes away what needs a site, and "-counts" all. */
TEST_CASE(counts_may_be_read_without_sites)
{
	static const struct {
		const char *list;
		bool counts, readings;
	} cases[] = {
		{"none", false, true},		{"none,counts", true, true},
		{"none,-counts", false, false}, {"-counts,none", false, false},
		{"default", true, true},	{"-counts", false, false},
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		_filter_ struct filter *f = made(cases[i].list);

		row_equal(cases[i].list, filter__wants_counts(f), cases[i].counts);
		row_equal(cases[i].list, filter__wants_readings(f), cases[i].readings);
	}
	assert_true(filter__wants_readings(NULL));
}

/* Nor do counts, but "none" takes them away too. */
TEST_CASE(a_list_is_empty_if_it_has_no_counts_either)
{
	static const char *const empty[] = {
		"none",		"counts,none",	"none,off-cpu",		 "llvm,-counts",
		"-all,-counts", "-counts,-all", "passes,-passes,-counts"};
	static const char *const wanting[] = {"none,counts", "counts",	       "-all",
					      "-counts",     "-none",	       "llvm",
					      "none,passes", "passes,-passes", "passes,-counts"};

	for (size_t i = 0; i < N_OF(empty); i++) {
		_filter_ struct filter *f = made(empty[i]);

		row_equal(empty[i], filter__is_empty(f), true);
	}
	for (size_t i = 0; i < N_OF(wanting); i++) {
		_filter_ struct filter *f = made(wanting[i]);

		row_equal(wanting[i], filter__is_empty(f), false);
	}
	assert_classes("counts", "apbl");
	assert_classes("-counts", "apbl");
	assert_classes("none,counts", "");
}

static bool may_probe_queries(const char *list)
{
	_filter_ struct filter *f = made(list);

	return filter__may_probe_queries(f);
}

TEST_CASE(queries_have_probes_only_if_asked_for)
{
	assert_false(may_probe_queries("default"));
	assert_false(may_probe_queries("none"));
	assert_true(may_probe_queries("default,typeck"));
	assert_true(may_probe_queries("incr-result-hashing"));
	assert_true(filter__may_probe_queries(NULL));
}

/* A site whose label is not known is needed if any label may pass there. */
TEST_CASE(a_site_whose_label_may_pass_is_kept)
{
	assert_false(may_pass("default", FILTER_DYNAMIC));
	assert_true(may_pass("default,mir_*", FILTER_DYNAMIC));
	assert_true(may_pass("generic-activity,-mir_*", FILTER_DYNAMIC));
	assert_false(may_pass("mir_*,-generic-activity", FILTER_DYNAMIC));
	assert_true(may_pass("default", FILTER_TIMER));
	assert_false(may_pass("query-provider", FILTER_TIMER));
	assert_true(may_pass("-LLVM_*", FILTER_TIMER));
	assert_true(may_pass("generic-activity,-default", FILTER_ACTIVITY));
	assert_false(may_pass("default,-default", FILTER_ACTIVITY));
}

TEST_CASE(dynamic_labels_are_judged_by_their_guard)
{
	struct wire_label_key key = {.len = 8, .text = "LLVM_lto"};
	_filter_ struct filter *f = made("passes,-LLVM_pas*");

	assert_false(filter__passes_dynamic(f, &key));
	key.timer = 1;
	assert_true(filter__passes_dynamic(f, &key));
	/* A text of full length has no terminator. */
	memset(key.text, 'x', sizeof(key.text));
	assert_true(filter__passes_dynamic(f, &key));
}

TEST_CASE(an_unavailable_event_is_named)
{
	_filter_ struct filter *f = made("llvm,passes,artifact-sizes,llvm");
	_filter_ struct filter *without = made("-llvm");
	const char *why = NULL;

	assert_string_equal(filter__missing(f, 0, &why), "llvm");
	assert_non_null(why);
	assert_string_equal(filter__missing(f, 1, &why), "artifact-sizes");
	assert_null(filter__missing(f, 2, &why));
	assert_null(filter__missing(without, 0, &why));
}

TEST_CASE(several_lists_are_one)
{
	static const char *const lists[] = {"passes", "query-provider,-type_of"};
	_filter_ struct filter *f = NULL;

	assert_int_equal(filter__new(lists, 2, &f), 0);
	assert_true(filter__passes(f, FILTER_TIMER, "x"));
	assert_true(filter__passes(f, FILTER_QUERY, "x"));
	assert_false(filter__passes(f, FILTER_QUERY, "type_of"));
}

TEST_CASE(a_list_passes_all_queries_or_not)
{
	static const char *const all[] = {"default,query-provider",
					  "all",
					  "query-provider",
					  "a*,all",
					  "-type_of,query-provider",
					  "all,-passes,a*",
					  "none,all"};
	static const char *const some[] = {
		"none",	    "default",	  "-passes",
		"passes",   "-type_of",	  "typeck",
		"all,none", "all,-mir_*", "query-provider,-query-provider,typeck"};

	for (size_t i = 0; i < N_OF(all); i++) {
		_filter_ struct filter *f = made(all[i]);

		row_equal(all[i], filter__passes_all_queries(f), true);
	}
	for (size_t i = 0; i < N_OF(some); i++) {
		_filter_ struct filter *f = made(some[i]);

		row_equal(some[i], filter__passes_all_queries(f), false);
	}
	assert_true(filter__passes_all_queries(NULL));
}

TEST_CASE(empty_words_are_refused)
{
	static const char *const bad[] = {"", ",", "passes,", ",passes", "passes,,x", "-", "a,-"};
	struct filter *f;

	for (size_t i = 0; i < N_OF(bad); i++)
		row_equal(bad[i], filter__new(&bad[i], 1, &f), -EINVAL);
}

TEST_CASE(no_filter_passes_all_but_cache_hits)
{
	for (int class = 0; class < FILTER_CLASSES; class ++) {
		assert_int_equal(filter__passes(NULL, class, "typeck"), class != FILTER_HIT);
		assert_int_equal(filter__may_pass(NULL, class), class != FILTER_HIT);
	}
	assert_false(filter__is_empty(NULL));
	assert_false(filter__wants_hits(NULL));
}

TEST_MAIN(NULL, NULL)
