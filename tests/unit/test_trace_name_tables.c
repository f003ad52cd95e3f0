// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/name_tables.h"

#include "test.h"
#include "trace/job_table.h"
#include "trace/place_table.h"
#include "trace/batch_threads.h"
#include "../fixtures/random.h"
#include "qprof/trace_format.h"

#define _byte_buffer_	__cleanup(byte_buffer__destroy)
#define _symbol_table_	__cleanup(symbol_table__destroy)
#define _job_table_	__cleanup(job_table__destroy)
#define _llvm_table_	__cleanup(llvm_table__destroy)
#define _place_table_	__cleanup(place_table__destroy)
#define _batch_threads_ __cleanup(batch_threads__destroy)
#define _thread_set_	__cleanup(thread_set__destroy)

#define PROCESSES 3
#define STRINGS	  9

static int take(struct symbol_table *t, const struct byte_buffer *bytes)
{
	struct byte_reader in = {.at = bytes->data, .end = bytes->data + bytes->size};
	const char *why = NULL;
	int err = symbol_table__take(t, &in, PROCESSES, STRINGS, &why);

	assert_true(!err || why);
	return err;
}

/* The last one counts. */
TEST_CASE(symbols_come_back_from_several_chunks)
{
	struct rng rng = rng_new();
	_symbol_table_ struct symbol_table t = {0};
	uint32_t items[PROCESSES][STRINGS];

	memset(items, 0xff, sizeof(items));
	for (int chunk = 0; chunk < 4; chunk++) {
		_byte_buffer_ struct byte_buffer bytes = {0};

		byte_buffer__varint(&bytes, 3);
		for (int i = 0; i < 3; i++) {
			struct trace_symbol s = {rng_below(&rng, PROCESSES),
						 rng_below(&rng, STRINGS),
						 rng_below(&rng, STRINGS)};

			symbol_table__store(&s, &bytes);
			items[s.process][s.symbol] = s.item;
		}
		assert_int_equal(take(&t, &bytes), 0);
	}
	for (uint32_t p = 0; p < PROCESSES; p++)
		for (uint32_t s = 0; s < STRINGS; s++)
			assert_int_equal(symbol_table__item(&t, p, s), items[p][s]);
	assert_int_equal(symbol_table__item(&t, PROCESSES, 0), TRACE_NO_STRING);
}

TEST_CASE(a_list_that_is_malformed_is_refused)
{
	/* A count, then process, symbol and item of each. */
	static const struct {
		uint8_t bytes[8], size;
	} bad[] = {
		{{0}, 1},		   /* empty */
		{{2, 0, 0, 0}, 4},	   /* too short */
		{{1, PROCESSES, 0, 0}, 4}, /* no such process */
		{{1, 0, STRINGS, 0}, 4},   /* no such symbol */
		{{1, 0, 0, STRINGS}, 4},   /* no such item */
		{{1, 0, 0, 0, 0}, 5},	   /* more follows */
		{{1, 0, 0, 0x80}, 4},	   /* a number that does not end */
	};

	for (size_t i = 0; i < N_OF(bad); i++) {
		_symbol_table_ struct symbol_table t = {0};
		struct byte_buffer bytes = {.data = (uint8_t *)bad[i].bytes, .size = bad[i].size};

		assert_int_equal(take(&t, &bytes), -EBADMSG);
	}
}

TEST_CASE(a_list_may_expand_to_so_much)
{
	struct expansion expansion = {.made = QPT_EXPANSION_FREE};
	_symbol_table_ struct symbol_table t = {.expansion = &expansion};
	struct byte_buffer bytes = {.data = (uint8_t[]){1, 0, 0, 0}, .size = 4};

	assert_int_equal(take(&t, &bytes), -E2BIG);
}

TEST_CASE(a_file_may_have_so_many)
{
	_symbol_table_ struct symbol_table t = {.n = QPT_SYMBOLS_MAX};
	struct byte_buffer bytes = {.data = (uint8_t[]){1, 0, 0, 0}, .size = 4};

	assert_int_equal(take(&t, &bytes), -EBADMSG);
}

/* ---- Job table ------------------------------------------------------------------------------- */

static int job_table_take(struct job_table *t, const struct byte_buffer *bytes)
{
	struct byte_reader in = {.at = bytes->data, .end = bytes->data + bytes->size};
	const char *why = NULL;
	int err = job_table__take(t, &in, PROCESSES, STRINGS, &why);

	assert_true(!err || why);
	return err;
}

static struct trace_job any_job(struct rng *rng, uint32_t n)
{
	return (struct trace_job){.process = rng_below(rng, PROCESSES),
				  .query = rng_below(rng, STRINGS),
				  .invocation = rng_below(rng, 2) ? TRACE_NO_INVOCATION
								  : (uint32_t)rng_u64(rng),
				  .parent = rng_below(rng, n + 1)};
}

TEST_CASE(jobs_come_back_from_several_chunks)
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

			must(job_table__payload(&from, &bytes), job_table_take(&to, &bytes));
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

TEST_CASE(a_parent_was_added_before)
{
	_job_table_ struct job_table t = {0};
	struct trace_job job = {.parent = 1};
	uint32_t id = 77;

	assert_int_equal(job_table__add(&t, &job, &id), -EINVAL);
	assert_int_equal(id, 77);
}

TEST_CASE(a_list_that_refers_to_nothing_is_refused)
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

		assert_int_equal(job_table_take(&t, &bytes), -EBADMSG);
	}
}

TEST_CASE(a_list_ends_with_its_chunk)
{
	_job_table_ struct job_table t = {0};
	struct byte_buffer bytes = {.data = (uint8_t[]){1, 0, 0, 0, 0, 0}, .size = 6};

	assert_int_equal(job_table_take(&t, &bytes), -EBADMSG);
}

TEST_CASE(job_table_a_list_may_expand_to_so_much)
{
	struct expansion expansion = {.made = QPT_EXPANSION_FREE};
	_job_table_ struct job_table t = {.expansion = &expansion};
	struct byte_buffer bytes = {.data = (uint8_t[]){1, 0, 0, 0, 0}, .size = 5};

	assert_int_equal(job_table_take(&t, &bytes), -E2BIG);
}

/* ---- Llvm table ------------------------------------------------------------------------------ */

static int llvm_table_take(struct llvm_table *t, const uint8_t *bytes, size_t size)
{
	struct byte_reader in = {.at = bytes, .end = bytes + size};
	const char *why = NULL;
	int err = llvm_table__take(t, &in, STRINGS, &why);

	assert_true(!err || why);
	return err;
}

/* The string after the last one that there is, for none. */
static uint32_t any_string(struct rng *rng)
{
	uint32_t string = rng_below(rng, STRINGS + 1);

	return string == STRINGS ? TRACE_NO_STRING : string;
}

static struct trace_llvm any_entry(struct rng *rng)
{
	struct trace_llvm entry = {.pass = any_string(rng),
				   .function = TRACE_NO_STRING,
				   .scope = rng_below(rng, TRACE_LLVM_SCOPES),
				   .codegen = rng_below(rng, 2)};

	if (entry.scope == TRACE_LLVM_FUNCTION || entry.scope == TRACE_LLVM_SCC)
		entry.function = any_string(rng);
	return entry;
}

static bool same(const struct trace_llvm *a, const struct trace_llvm *b)
{
	return a->pass == b->pass && a->function == b->function && a->scope == b->scope &&
	       a->codegen == b->codegen;
}

TEST_CASE(entries_come_back_once_from_several_chunks)
{
	struct rng rng = rng_new();
	_llvm_table_ struct llvm_table from = {0}, to = {0};
	struct trace_llvm all[1000];
	uint32_t ids[N_OF(all)];

	for (uint32_t i = 0; i < N_OF(all); i++) {
		all[i] = any_entry(&rng);
		assert_int_equal(llvm_table__add(&from, &all[i], STRINGS, &ids[i]), 0);
		if (i % 100 == 99) {
			_byte_buffer_ struct byte_buffer bytes = {0};

			assert_int_equal(llvm_table__payload(&from, &bytes), 0);
			assert_int_equal(llvm_table_take(&to, bytes.data, bytes.size), 0);
		}
	}
	/* Two scopes with a function, and two without. */
	assert_true(from.n <= 2 * 2 * (STRINGS + 1) * (STRINGS + 2));
	assert_int_equal(to.n, from.n);
	for (uint32_t i = 0; i < N_OF(all); i++)
		assert_true(same(llvm_table__get(&to, ids[i]), &all[i]));
	assert_null(llvm_table__get(&to, TRACE_NO_LLVM));
	assert_null(llvm_table__get(&to, to.n + 1));
}

TEST_CASE(strings_were_added_before)
{
	static const struct trace_llvm bad[] = {
		{.pass = STRINGS, .function = TRACE_NO_STRING},
		{.function = STRINGS, .scope = TRACE_LLVM_FUNCTION},
		{.function = 1, .scope = TRACE_LLVM_MODULE},
		{.function = 1, .scope = TRACE_LLVM_NONE},
		{.function = TRACE_NO_STRING, .scope = TRACE_LLVM_SCOPES},
	};
	_llvm_table_ struct llvm_table t = {0};
	uint32_t id = 77;

	for (size_t i = 0; i < N_OF(bad); i++)
		assert_int_equal(llvm_table__add(&t, &bad[i], STRINGS, &id), -EINVAL);
	assert_int_equal(id, 77);
	assert_int_equal(t.n, 0);
}

TEST_CASE(malformed_lists_are_refused)
{
	/* A count, then the head, the pass and the function of each. */
	static const uint8_t bad[][4] = {
		{2, 1, 0, 0},		/* too short */
		{1, 8, 0, 0},		/* no such bit */
		{1, 1, STRINGS + 1, 0}, /* no such pass */
		{1, 1, 0, STRINGS + 1}, /* no such function */
		{1, 3, 0, 1},		/* a module has no name */
	};
	static const uint8_t sound[] = {1, 1, STRINGS, STRINGS}, longer[] = {1, 1, 0, 0, 0};
	_llvm_table_ struct llvm_table t = {0};

	for (size_t i = 0; i < N_OF(bad); i++)
		assert_int_equal(llvm_table_take(&t, bad[i], sizeof(bad[i])), -EBADMSG);
	assert_int_equal(t.n, 0);
	assert_int_equal(llvm_table_take(&t, longer, sizeof(longer)), -EBADMSG);
	assert_int_equal(llvm_table_take(&t, sound, sizeof(sound)), 0);
}

TEST_CASE(llvm_table_a_list_may_expand_to_so_much)
{
	struct expansion expansion = {.made = QPT_EXPANSION_FREE};
	_llvm_table_ struct llvm_table t = {.expansion = &expansion};
	static const uint8_t bytes[] = {1, 1, 0, 0};

	assert_int_equal(llvm_table_take(&t, bytes, sizeof(bytes)), -E2BIG);
}

/* ---- Place table ----------------------------------------------------------------------------- */

static const struct trace_place places[] = {
	{.process = 1, .string = 5, .file = 2, .line = 100, .call_file = TRACE_NO_STRING},
	{.process = 1, .string = 3, .file = 1, .line = UINT32_MAX, .call_file = 9, .call_line = 1},
	{.process = 1, .string = 3, .file = 7, .line = 1, .call_file = TRACE_NO_STRING},
	{.process = 1, .string = 0, .file = 2, .line = 99, .call_file = 2, .call_line = 4000000000},
};

static struct byte_buffer payload_of(uint32_t process, const struct trace_place *all, uint32_t n)
{
	struct byte_buffer b = {0};
	struct trace_place last = {0};

	byte_buffer__varint(&b, process);
	byte_buffer__varint(&b, n);
	for (uint32_t i = 0; i < n; i++)
		place_table__store(&b, &all[i], &last);
	return b;
}

static int place_table_take(struct place_table *t, const struct byte_buffer *b, size_t size,
			    uint32_t n_processes, uint32_t n_strings)
{
	struct byte_reader in = {.at = b->data, .end = b->data + size};

	return place_table__take(t, &in, n_processes, n_strings);
}

static void assert_same(const struct trace_place *a, const struct trace_place *b)
{
	assert_non_null(a);
	assert_struct(*a, file, b->file, line, b->line, call_file, b->call_file, call_line,
		      b->call_line);
}

TEST_CASE(what_is_stored_is_found)
{
	_byte_buffer_ struct byte_buffer b = payload_of(1, places, N_OF(places));
	_place_table_ struct place_table t = {0};

	assert_int_equal(place_table_take(&t, &b, b.size, 2, 10), 0);
	assert_same(place_table__find(&t, 1, 5), &places[0]);
	assert_same(place_table__find(&t, 1, 0), &places[3]);
	/* The first one counts. */
	assert_same(place_table__find(&t, 1, 3), &places[1]);
	assert_same(place_table__find(&t, TRACE_NO_PROCESS, 3), &places[1]);
	assert_null(place_table__find(&t, 0, 3));
	assert_null(place_table__find(&t, 1, 4));
	assert_null(place_table__find(&t, 1, TRACE_NO_STRING));
}

TEST_CASE(each_process_has_its_own)
{
	const struct trace_place other = {
		.process = 0, .string = 5, .file = 8, .line = 3, .call_file = TRACE_NO_STRING};
	const struct trace_place same = {
		.process = 2, .string = 5, .file = 2, .line = 101, .call_file = TRACE_NO_STRING};
	_byte_buffer_ struct byte_buffer a = payload_of(1, places, 1), b = payload_of(0, &other, 1);
	_byte_buffer_ struct byte_buffer c = payload_of(2, &same, 1);
	_place_table_ struct place_table t = {0};

	must(place_table_take(&t, &a, a.size, 2, 10), place_table_take(&t, &c, c.size, 3, 10));
	assert_same(place_table__find(&t, TRACE_NO_PROCESS, 5), &places[0]);
	/* In another file: it is another definition. */
	assert_int_equal(place_table_take(&t, &b, b.size, 2, 10), 0);
	assert_same(place_table__find(&t, 1, 5), &places[0]);
	assert_same(place_table__find(&t, 0, 5), &other);
	assert_null(place_table__find(&t, TRACE_NO_PROCESS, 5));
}

TEST_CASE(what_is_malformed_is_refused)
{
	_byte_buffer_ struct byte_buffer b = payload_of(1, places, N_OF(places)),
					 none = payload_of(1, NULL, 0);
	_place_table_ struct place_table t = {0};

	for (size_t size = 0; size < b.size; size++)
		assert_int_equal(place_table_take(&t, &b, size, 2, 10), -EBADMSG);
	byte_buffer__varint(&b, 0);
	assert_int_equal(place_table_take(&t, &b, b.size, 2, 10), -EBADMSG);
	b.size--;
	assert_int_equal(place_table_take(&t, &b, b.size, 1, 10), -EBADMSG); /* no such process */
	assert_int_equal(place_table_take(&t, &b, b.size, 2, 9), -EBADMSG);  /* no such string */
	assert_int_equal(place_table_take(&t, &b, b.size, 2, 0), -EBADMSG);
	assert_int_equal(place_table_take(&t, &none, none.size, 2, 10), -EBADMSG);
}

TEST_CASE(a_line_is_not_0)
{
	struct trace_place place = places[0];
	_place_table_ struct place_table t = {0};
	struct byte_buffer b;

	place.line = 0;
	b = payload_of(1, &place, 1);
	assert_int_equal(place_table_take(&t, &b, b.size, 2, 10), -EBADMSG);
	byte_buffer__destroy(&b);
	place = places[1];
	place.call_line = 0;
	b = payload_of(1, &place, 1);
	assert_int_equal(place_table_take(&t, &b, b.size, 2, 10), -EBADMSG);
	byte_buffer__destroy(&b);
}

TEST_CASE(many_places_in_few_bytes_are_refused)
{
	struct expansion e = {.made = QPT_EXPANSION_FREE - 100};
	_place_table_ struct place_table t = {.expansion = &e};
	_byte_buffer_ struct byte_buffer b = payload_of(1, places, N_OF(places));

	assert_int_equal(place_table_take(&t, &b, b.size, 2, 10), -E2BIG);
}

/* ---- Batch threads --------------------------------------------------------------------------- */

#define ITEMS 500u

TEST_CASE(items_are_grouped_and_keep_their_order)
{
	struct rng rng = rng_new();
	_batch_threads_ struct batch_threads b = {0};
	uint32_t threads[ITEMS], grouped[ITEMS];

	for (int round = 0; round < 3; round++) {
		assert_int_equal(batch_threads__reserve(&b, ITEMS), 0);
		batch_threads__begin(&b);
		for (uint32_t i = 0; i < ITEMS; i++) {
			threads[i] = rng_below(&rng, 7);
			must(batch_threads__add(&b, i, threads[i] / 2, threads[i] % 2));
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
}

static int load(const struct byte_buffer *bytes, uint32_t n_threads, uint32_t n,
		uint32_t n_processes, struct batch_threads *b)
{
	struct byte_reader in = {.at = bytes->data, .end = bytes->data + bytes->size};

	assert_int_equal(batch_threads__reserve(b, n > n_threads ? n : n_threads), 0);
	return batch_threads__load(b, &in, n_threads, n, n_processes);
}

TEST_CASE(a_table_comes_back_and_must_add_up)
{
	_batch_threads_ struct batch_threads b = {0}, back = {0};
	_thread_set_ struct thread_set set = {0};
	_byte_buffer_ struct byte_buffer bytes = {0};

	assert_int_equal(batch_threads__reserve(&b, 3), 0);
	batch_threads__begin(&b);
	batch_threads__add(&b, 0, 4, 70);
	batch_threads__add(&b, 1, 5, UINT32_MAX);
	batch_threads__add(&b, 2, 4, 70);
	batch_threads__store(&b, &bytes);
	assert_int_equal(load(&bytes, 2, 3, 6, &back), 0);
	assert_struct(back, n, 2, at[0].n, 2, at[1].first, 2, at[1].tid, UINT32_MAX);
	assert_int_equal(batch_threads__add_to(&back, &set), 0);
	assert_int_equal(set.known.used, 2);
	assert_int_equal(load(&bytes, 2, 3, 5, &back), -ENOENT);
	assert_int_equal(load(&bytes, 2, 4, 6, &back), -EBADMSG);
	assert_int_equal(load(&bytes, 2, 2, 6, &back), -EBADMSG);
	assert_int_equal(load(&bytes, 1, 3, 6, &back), -EBADMSG);
	bytes.size--;
	assert_int_equal(load(&bytes, 2, 3, 6, &back), -EBADMSG);
}

/* ---- Thread set ------------------------------------------------------------------------------ */

TEST_CASE(threads_count_once_and_up_to_the_limit)
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

TEST_MAIN(NULL, NULL)
