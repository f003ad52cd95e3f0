// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/batch_threads.h"

#include "test.h"
#include "../fixtures/random.h"
#include "qprof/trace_format.h"

#define ITEMS 500u

static void items_are_grouped_and_keep_their_order(void **state)
{
	struct rng rng = rng_new();
	struct batch_threads b = {0};
	uint32_t threads[ITEMS], grouped[ITEMS];

	for (int round = 0; round < 3; round++) {
		assert_int_equal(batch_threads__reserve(&b, ITEMS), 0);
		batch_threads__begin(&b);
		for (uint32_t i = 0; i < ITEMS; i++) {
			threads[i] = rng_below(&rng, 7);
			assert_int_equal(batch_threads__add(&b, i, threads[i] / 2, threads[i] % 2),
					 0);
		}
		assert_int_equal(b.n, 7);
		batch_threads__arrange(&b);
		memset(grouped, 0xff, sizeof(grouped));
		for (uint32_t i = 0; i < ITEMS; i++)
			grouped[batch_threads__place(&b, i)] = i;
		for (uint32_t t = 0; t < b.n; t++) {
			uint32_t thread = b.at[t].process * 2 + b.at[t].tid;

			for (uint32_t k = 0; k < b.at[t].n; k++) {
				uint32_t item = grouped[b.at[t].first + k];

				assert_int_equal(threads[item], thread);
				assert_true(!k || grouped[b.at[t].first + k - 1] < item);
			}
		}
	}
	batch_threads__destroy(&b);
}

static int load(const struct byte_buffer *bytes, uint32_t n_threads, uint32_t n,
		uint32_t n_processes, struct batch_threads *b)
{
	struct byte_reader in = {.at = bytes->data, .end = bytes->data + bytes->size};

	assert_int_equal(batch_threads__reserve(b, n > n_threads ? n : n_threads), 0);
	return batch_threads__load(b, &in, n_threads, n, n_processes);
}

static void a_table_comes_back_and_must_add_up(void **state)
{
	struct batch_threads b = {0}, back = {0};
	struct thread_set set = {0};
	struct byte_buffer bytes = {0};

	assert_int_equal(batch_threads__reserve(&b, 3), 0);
	batch_threads__begin(&b);
	batch_threads__add(&b, 0, 4, 70);
	batch_threads__add(&b, 1, 5, UINT32_MAX);
	batch_threads__add(&b, 2, 4, 70);
	batch_threads__store(&b, &bytes);
	assert_int_equal(load(&bytes, 2, 3, 6, &back), 0);
	assert_int_equal(back.n, 2);
	assert_int_equal(back.at[0].n, 2);
	assert_int_equal(back.at[1].first, 2);
	assert_int_equal(back.at[1].tid, UINT32_MAX);
	assert_int_equal(batch_threads__add_to(&back, &set), 0);
	assert_int_equal(set.known.used, 2);
	assert_int_equal(load(&bytes, 2, 3, 5, &back), -ENOENT);
	assert_int_equal(load(&bytes, 2, 4, 6, &back), -EBADMSG);
	assert_int_equal(load(&bytes, 2, 2, 6, &back), -EBADMSG);
	assert_int_equal(load(&bytes, 1, 3, 6, &back), -EBADMSG);
	bytes.size--;
	assert_int_equal(load(&bytes, 2, 3, 6, &back), -EBADMSG);
	thread_set__destroy(&set);
	byte_buffer__destroy(&bytes);
	batch_threads__destroy(&b);
	batch_threads__destroy(&back);
}

/* ---- Thread set ------------------------------------------------------------------------------ */

static void threads_count_once_and_up_to_the_limit(void **state)
{
	struct thread_set s = {0};

	for (int again = 0; again < 2; again++)
		for (uint32_t i = 0; i < QPT_THREADS_MAX; i++)
			assert_int_equal(thread_set__add(&s, i % 1000, i), 0);
	assert_int_equal(s.known.used, QPT_THREADS_MAX);
	assert_int_equal(thread_set__add(&s, 1000, 0), -E2BIG);
	assert_int_equal(thread_set__add(&s, 0, 0), 0);
	thread_set__destroy(&s);
	assert_int_equal(thread_set__add(&s, 0, 0), 0);
	assert_int_equal(s.known.used, 1);
	thread_set__destroy(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(items_are_grouped_and_keep_their_order),
		cmocka_unit_test(a_table_comes_back_and_must_add_up),
		cmocka_unit_test(threads_count_once_and_up_to_the_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
