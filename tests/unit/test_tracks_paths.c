// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "tracks/paths.h"

#include "test.h"
#include "../fixtures/names.h"

#define N 400

/* Definition `i` is called by its number; 0 is the root. */
static struct {
	uint32_t parent[N];
	uint32_t strings[N];
	bool missing[N], nameless[N];
	bool keeps; /* strings */
	uint32_t asked;
} source;
static struct names out;

static int setup(void **state)
{
	memset(&source, 0, sizeof(source));
	for (uint32_t i = 0; i < N; i++)
		source.parent[i] = i ? i - 1 : PATHS_ROOT;
	return 0;
}

static int teardown(void **state)
{
	names_clear(&out);
	return 0;
}

static bool step(void *ctx, uint32_t index, struct path_step *to)
{
	if (index >= N || source.missing[index])
		return false;
	to->parent = source.parent[index];
	to->string = source.keeps ? &source.strings[index] : NULL;
	return true;
}

static const char *segment(void *ctx, uint32_t index, char buf[PATHS_SEGMENT_MAX])
{
	source.asked++;
	snprintf(buf, PATHS_SEGMENT_MAX, "%u", index);
	return source.nameless[index] ? NULL : buf;
}

static int find(uint32_t index, uint32_t *id)
{
	const struct path_source from = {.step = step, .segment = segment};
	const struct tracks_sink sink = names_sink(&out);

	return paths__string(&from, names_string(&out, "a", 0), index, &sink, id);
}

static void assert_path(uint32_t index, const char *expected)
{
	uint32_t id;

	assert_int_equal(find(index, &id), 0);
	if (expected)
		assert_string_equal(out.strings[id], expected);
	else
		assert_int_equal(id, TRACE_NO_STRING);
}

static void a_path_begins_at_the_root(void **state)
{
	assert_path(0, "a");
	assert_path(3, "a::1::2::3");
	source.parent[3] = 0;
	assert_path(3, "a::3");
}

static void what_is_not_below_the_root_has_no_path(void **state)
{
	assert_path(N, NULL);
	source.missing[2] = true;
	assert_path(2, NULL);
	assert_path(4, NULL);
	assert_path(1, "a::1");
	/* A cycle. */
	source.parent[6] = 7;
	assert_path(7, NULL);
	source.parent[8] = 8;
	assert_path(8, NULL);
	source.parent[9] = PATHS_ROOT - 1;
	assert_path(9, NULL);
}

static void a_segment_without_a_name_takes_its_children_with_it(void **state)
{
	source.nameless[2] = true;
	assert_path(1, "a::1");
	assert_path(2, NULL);
	assert_path(3, NULL);
}

static void the_depth_is_limited(void **state)
{
	uint32_t id;

	assert_int_equal(find(PATHS_DEPTH_MAX - 1, &id), 0);
	assert_int_not_equal(id, TRACE_NO_STRING);
	source.keeps = true;
	assert_path(PATHS_DEPTH_MAX, NULL);
}

static void kept_strings_are_not_made_again(void **state)
{
	source.keeps = true;
	assert_path(3, "a::1::2::3");
	assert_int_equal(source.asked, 3);
	assert_path(3, "a::1::2::3");
	assert_path(2, "a::1::2");
	assert_int_equal(source.asked, 3);
	assert_path(5, "a::1::2::3::4::5");
	assert_int_equal(source.asked, 5);
}

static void an_error_of_the_sink_comes_back(void **state)
{
	uint32_t id;

	names_string(&out, "a", 0);
	out.err = -ENOSPC;
	assert_int_equal(find(1, &id), -ENOSPC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_path_begins_at_the_root, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_not_below_the_root_has_no_path, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_segment_without_a_name_takes_its_children_with_it,
						setup, teardown),
		cmocka_unit_test_setup_teardown(the_depth_is_limited, setup, teardown),
		cmocka_unit_test_setup_teardown(kept_strings_are_not_made_again, setup, teardown),
		cmocka_unit_test_setup_teardown(an_error_of_the_sink_comes_back, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
