// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/job_table.h"

#include "test.h"
#include "../fixtures/random.h"
#include "qprof/trace_format.h"

#define _byte_buffer_ __cleanup(byte_buffer__destroy)
#define _job_table_   __cleanup(job_table__destroy)

#define PROCESSES 3
#define STRINGS	  9

static int take(struct job_table *t, const struct byte_buffer *bytes)
{
	struct byte_reader in = {.at = bytes->data, .end = bytes->data + bytes->size};
	const char *why = NULL;
	int err = job_table__take(t, &in, PROCESSES, STRINGS, &why);

	assert_true(!err || why);
	return err;
}

static struct trace_job any_job(struct rng *rng, uint32_t n)
{
	return (struct trace_job){
		.process = rng_below(rng, PROCESSES),
		.query = rng_below(rng, STRINGS),
		.invocation = rng_below(rng, 2) ? TRACE_NO_INVOCATION : (uint32_t)rng_u64(rng),
		.parent = rng_below(rng, n + 1),
	};
}

static void jobs_come_back_from_several_chunks(void **state)
{
	struct rng rng = rng_new();
	_job_table_ struct job_table from = {0}, to = {0};
	struct trace_job all[1000];

	for (uint32_t i = 0; i < N_OF(all); i++) {
		uint32_t id;

		all[i] = any_job(&rng, i);
		assert_int_equal(job_table__add(&from, &all[i], &id), 0);
		assert_int_equal(id, i + 1);
		if (i % 300 == 299 || i + 1 == N_OF(all)) {
			_byte_buffer_ struct byte_buffer bytes = {0};

			assert_int_equal(job_table__payload(&from, &bytes), 0);
			assert_int_equal(take(&to, &bytes), 0);
		}
	}
	assert_int_equal(to.n, N_OF(all));
	for (uint32_t i = 0; i < N_OF(all); i++) {
		all[i].depth = all[i].parent ? all[all[i].parent - 1].depth + 1 : 1;
		assert_memory_equal(job_table__get(&to, i + 1), &all[i], sizeof(all[i]));
	}
	assert_null(job_table__get(&to, TRACE_NO_JOB));
	assert_null(job_table__get(&to, N_OF(all) + 1));
}

static void a_parent_was_added_before(void **state)
{
	_job_table_ struct job_table t = {0};
	struct trace_job job = {.parent = 1};
	uint32_t id = 77;

	assert_int_equal(job_table__add(&t, &job, &id), -EINVAL);
	assert_int_equal(id, 77);
}

static void a_list_that_refers_to_nothing_is_refused(void **state)
{
	/* A count, then process, query, invocation and the way to the parent of each. */
	static const uint8_t bad[][6] = {
		{2, 0, 0, 0, 0},	     /* too short */
		{1, 2 * PROCESSES, 0, 0, 0}, /* no such process */
		{1, 1, 0, 0, 0},	     /* process -1 */
		{1, 0, STRINGS, 0, 0},	     /* no such query */
		{1, 0, 0, 1, 0},	     /* invocation -1 */
		{1, 0, 0, 0, 1},	     /* its own parent is none */
	};

	for (size_t i = 0; i < N_OF(bad); i++) {
		_job_table_ struct job_table t = {0};
		struct byte_buffer bytes = {.data = (uint8_t *)bad[i], .size = 5};

		assert_int_equal(take(&t, &bytes), -EBADMSG);
	}
}

static void a_list_ends_with_its_chunk(void **state)
{
	_job_table_ struct job_table t = {0};
	struct byte_buffer bytes = {.data = (uint8_t[]){1, 0, 0, 0, 0, 0}, .size = 6};

	assert_int_equal(take(&t, &bytes), -EBADMSG);
}

static void a_list_may_expand_to_so_much(void **state)
{
	struct expansion expansion = {.made = QPT_EXPANSION_FREE};
	_job_table_ struct job_table t = {.expansion = &expansion};
	struct byte_buffer bytes = {.data = (uint8_t[]){1, 0, 0, 0, 0}, .size = 5};

	assert_int_equal(take(&t, &bytes), -E2BIG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jobs_come_back_from_several_chunks),
		cmocka_unit_test(a_parent_was_added_before),
		cmocka_unit_test(a_list_that_refers_to_nothing_is_refused),
		cmocka_unit_test(a_list_ends_with_its_chunk),
		cmocka_unit_test(a_list_may_expand_to_so_much),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
