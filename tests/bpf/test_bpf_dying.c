// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The tables of results that are read when a process dies, which may not sleep, and when a context
 * is dropped. Tables that lie, change or are not there cost a bounded number of reads and records;
 * their counts and keys are unknown, never a part that is taken for all. The process itself, and
 * the next copy, notice nothing.
 */
#include "capture.h"
#include "names_of_target.h"

#include "../../bpf/names_limits.h"

#define RING (64u << 20)
/* Of records that carry keys, names and definitions. */
#define HEADERS (1u << 20)

struct test {
	struct capture capture;
	struct wire_count counts[WIRE_TABLES_MAX];
	uint32_t n_counts, n_queries, n_keys[NAMES_RESULTS], sum_keys;
	uint64_t keys[NAMES_RESULTS]; /* their sums */
	uint32_t n_ends, n_again;     /* pieces of the lie behind its end */
	size_t bytes;		      /* of the lie */
	struct wire_names_end lie, honest;
};

static void take_counts(struct test *t, const struct wire_counts *r)
{
	if (t->n_ends)
		return;
	assert_int_equal(r->first, t->n_counts);
	assert_in_range(r->n, 1, WIRE_COUNTS_MAX);
	assert_int_equal(r->of, t->n_queries);
	memcpy(&t->counts[r->first], r->items, r->n * sizeof(*r->items));
	t->n_counts += r->n;
}

static void take_keys(struct test *t, const struct wire_piece *r)
{
	uint32_t *n = &t->n_keys[r->number % NAMES_RESULTS];

	uint32_t each =
		r->table == WIRE_TABLE_INSTANCES ? sizeof(struct wire_instance) : sizeof(uint32_t);

	t->n_again += t->n_ends && r->pid == t->lie.pid;
	if ((r->table != WIRE_TABLE_RESULTS && r->table != WIRE_TABLE_INSTANCES) || t->n_ends)
		return;
	assert_int_equal(r->offset, *n * each);
	for (uint32_t i = 0; r->table == WIRE_TABLE_RESULTS && i < r->size / each; i++)
		t->keys[r->number % NAMES_RESULTS] += ((const uint32_t *)r->bytes)[i];
	*n += r->size / each;
	t->sum_keys += r->size / each;
}

static void on_names(void *ctx, const void *record, size_t size)
{
	struct test *t = ctx;

	if (!t->n_ends)
		t->bytes += size;
	switch (*(const uint8_t *)record) {
	case WIRE_COUNTS:
		return take_counts(t, record);
	case WIRE_PIECE:
		return take_keys(t, record);
	case WIRE_NAMES_END:
		assert_int_equal(size, sizeof(t->lie));
		memcpy(t->n_ends++ ? &t->honest : &t->lie, record, size);
		return;
	default:
		return;
	}
}

static void close_test(struct test *t)
{
	capture_close(&t->capture);
	free(t);
}

static void cleanup_test(struct test **t)
{
	if (*t)
		close_test(*t);
}
#define _test_ __attribute__((cleanup(cleanup_test)))

/* Queries have probes, as what they return is hashed, and no executions: so keys are copied. */
static struct test *open_test(void (*complete)(struct plan *plan))
{
	static const char *const list = "default,incr-result-hashing";
	_filter_ struct filter *filter = NULL;
	struct kernel_options opt = {
		.attach = KERNEL_ATTACH_MULTI, .ring_bytes = RING, .keys = true};
	_elf_image_ struct elf_image *img = NULL;
	struct test *t = calloc(1, sizeof(*t));
	const struct elf_symbol *syms;
	size_t n;

	assert_non_null(t);
	assert_int_equal(filter__new(&list, 1, &filter), 0);
	opt.filter = filter;
	capture_load(&t->capture, &opt, 0);
	plan_names_of_target(t->capture.plan, 16);
	assert_int_equal(image_of(t->capture.target, &img), 0);
	assert_int_equal(elf_image__symbols(img, &syms, &n), 0);
	t->capture.plan->layout.wire.current = (struct wire_layout_current){
		.offset = address_of(syms, n, "jobs_current_offset"),
		.context = NAMES_THREAD_CONTEXT,
		.known = 1,
	};
	if (complete)
		complete(t->capture.plan);
	t->n_queries = t->capture.plan->tables.n;
	assert_int_equal(
		kernel__attach(t->capture.kernel, t->capture.plan, filter, &t->capture.lib), 0);
	t->capture.got.on_names = on_names;
	t->capture.got.names = t;
	return t;
}

/* A child lies, and an honest context is dropped behind it: nothing is left of the lie. */
static struct test *lie_with(enum names_death how, const char *end,
			     void (*complete)(struct plan *plan))
{
	struct test *t = open_test(complete);
	char script[64];

	snprintf(script, sizeof(script), "f(Y%d%s)N50", how, end);
	capture_script(&t->capture, script);
	assert_true(WIFEXITED(t->capture.status) && !WEXITSTATUS(t->capture.status));
	assert_int_equal(t->n_ends, 2 + (!strcmp(end, "+O") || !strcmp(end, "++")));
	assert_int_equal(t->lie.moment, *end == '+'   ? WIRE_COUNTS_FINISHED
					: *end == 'O' ? WIRE_COUNTS_DROPPED
						      : WIRE_COUNTS_DYING);
	assert_int_equal(t->honest.moment, WIRE_COUNTS_DROPPED);
	assert_int_equal(t->honest.definitions, 50);
	assert_int_equal(t->honest.missing, 0);
	assert_in_range(t->lie.missing, 0, NAMES_MISSING_MAX + 2);
	assert_int_equal(t->capture.counters[WIRE_LOST_RING_FULL], 0);
	assert_int_equal(t->capture.got.n_others, 0);
	return t;
}

/* A query shows where the context is. */
static struct test *die(enum names_death how)
{
	return lie_with(how, "ik9", NULL);
}

static struct test *drop(enum names_death how)
{
	return lie_with(how, "O", NULL);
}

static void assert_no_counts(const struct test *t)
{
	assert_int_equal(t->n_counts, NAMES_RESULTS);
	for (uint32_t i = 0; i < NAMES_RESULTS; i++)
		assert_int_equal(t->counts[i].results, WIRE_NO_COUNT);
	assert_int_equal(t->sum_keys, 0);
}

static uint32_t honest_count(uint32_t query)
{
	return query == RESULTS_ONCE ? 1 : query == RESULTS_NONE ? 0 : query;
}

/* The first of all keys, of queries with a hash table; others have no buckets. */
static void assert_honest_keys(const struct test *t, uint32_t query)
{
	uint32_t n = query < RESULTS_HASH ? 0 : query;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += names_key(i) + NAMES_VEC_MARK;
	assert_int_equal(t->n_keys[query], n);
	/* What instances are sent as is compared in test_bpf_instances.c. */
	if (query < RESULTS_INSTANCES)
		assert_int_equal(t->keys[query], sum);
}

/* Those that are sent although the number of results is unknown, or not theirs: of hash tables. */
static uint32_t keys_of_hash_tables(void)
{
	uint32_t sum = 0;

	for (uint32_t i = RESULTS_HASH; i < NAMES_RESULTS; i++)
		sum += i;
	return sum;
}

/* However it ends: by a signal, by itself, or with a drop. */
TEST_CASE(an_honest_end_has_counts)
{
	static const char *const ends[] = {"ik9", "ik11", "iq1", "it(q1)", "ip4(F1q0)", "O"};

	need_capture();
	for (size_t k = 0; k < N_OF(ends); k++) {
		_test_ struct test *t = lie_with(DEATH_HONEST, ends[k], NULL);

		assert_int_equal(t->n_counts, NAMES_RESULTS);
		for (uint32_t i = 0; i < NAMES_RESULTS; i++) {
			assert_int_equal(t->counts[i].results, honest_count(i));
			assert_honest_keys(t, i);
		}
	}
}

/* Whether it is dropped by a function that has no probe, by one that has, or dies before. */
TEST_CASE(a_context_that_has_finished_is_copied_once)
{
	static const char *const ends[] = {"+", "+ik9", "+iq0", "+O"};

	need_capture();
	for (size_t k = 0; k < N_OF(ends); k++) {
		_test_ struct test *t = lie_with(DEATH_KEYS_MANY, ends[k], NULL);

		assert_int_equal(t->n_counts, NAMES_RESULTS);
		assert_int_equal(t->counts[RESULTS_VEC].results, NAMES_DYING_MAX);
		assert_true(t->sum_keys > 0);
		assert_int_equal(t->n_again, 0);
	}
}

/* As rustdoc's, whose drops are not seen. */
TEST_CASE(the_next_context_that_finishes_is_copied_too)
{
	_test_ struct test *t = NULL;

	need_capture();
	t = lie_with(DEATH_HONEST, "++", NULL);
	assert_true(t->n_again > 0);
}

/* All slots are another thread's, or none is. */
static void set_owners(uint32_t tid)
{
	struct bpf_map_info info;
	int fd = map_of_ours("names_slots", &info);
	_free_ uint32_t *value = malloc(info.value_size);

	assert_non_null(value);
	for (uint32_t i = 0; i < info.max_entries; i++) {
		assert_int_equal(bpf_map_lookup_elem(fd, &i, value), 0);
		value[0] = tid;
		assert_int_equal(bpf_map_update_elem(fd, &i, value, BPF_ANY), 0);
	}
}

static void go_on(struct test *t)
{
	assert_int_equal(write(t->capture.to_target, "", 1), 1);
}

/* Of a context that finished when no slot was free, the drop copies all. */
TEST_CASE(what_found_no_slot_is_copied_at_the_drop)
{
	_test_ struct test *t = NULL;
	char script[32];

	need_capture();
	t = open_test(NULL);
	snprintf(script, sizeof(script), "Y%d.+.O", DEATH_HONEST);
	capture_begin(&t->capture, script);
	capture_wait_for_dot(&t->capture);
	set_owners(1);
	go_on(t);
	capture_wait_for_dot(&t->capture);
	capture_drain(&t->capture);
	assert_int_equal(t->n_ends, 1);
	assert_int_equal(t->lie.moment, WIRE_COUNTS_FINISHED);
	assert_true(t->lie.uncopied);
	assert_int_equal(t->lie.missing, 1);
	assert_int_equal(t->n_counts, 0);
	t->n_ends = 0;
	set_owners(0);
	go_on(t);
	capture_finish_target(&t->capture);
	capture_stop(&t->capture);
	assert_int_equal(t->n_ends, 1);
	assert_int_equal(t->lie.moment, WIRE_COUNTS_DROPPED);
	assert_false(t->lie.uncopied);
	assert_int_equal(t->lie.missing, 0);
	assert_int_equal(t->n_counts, NAMES_RESULTS);
	for (uint32_t i = 0; i < NAMES_RESULTS; i++) {
		assert_int_equal(t->counts[i].results, honest_count(i));
		assert_honest_keys(t, i);
	}
	assert_int_equal(t->n_again, 0);
}

TEST_CASE(what_cannot_be_read_has_no_count)
{
	static const enum names_death deaths[] = {DEATH_NAMES, DEATH_NOWHERE, DEATH_KERNEL,
						  DEATH_NOT_RESIDENT, DEATH_PROTECTED};

	need_capture();
	for (size_t i = 0; i < N_OF(deaths); i++) {
		_test_ struct test *t = die(deaths[i]);

		assert_no_counts(t);
		assert_true(deaths[i] == DEATH_NAMES || t->lie.missing > 0);
		assert_true(t->bytes < HEADERS);
	}
}

TEST_CASE(counts_of_2_to_the_60)
{
	_test_ struct test *t = NULL;

	need_capture();
	t = die(DEATH_COUNTS);
	for (uint32_t i = 0; i < NAMES_RESULTS; i++)
		assert_int_equal(t->counts[i].results, i == RESULTS_ONCE   ? 1
						       : i == RESULTS_NONE ? 0
									   : WIRE_NO_COUNT);
	assert_int_equal(t->sum_keys, keys_of_hash_tables());
	assert_true(t->bytes < HEADERS);
}

/* Nothing that was read leads to a second look at the same place. */
TEST_CASE(tables_that_point_to_themselves)
{
	_test_ struct test *t = NULL;

	need_capture();
	t = die(DEATH_CIRCLES);
	assert_int_equal(t->n_counts, NAMES_RESULTS);
	for (uint32_t i = 0; i < NAMES_RESULTS; i++)
		assert_in_range(t->n_keys[i], 0, NAMES_CIRCLE);
	assert_true(t->bytes < HEADERS);
}

TEST_CASE(more_keys_than_are_copied)
{
	_test_ struct test *t = NULL;

	need_capture();
	t = die(DEATH_KEYS_MANY);
	assert_in_range(t->sum_keys, 1, NAMES_DYING_MAX);
	assert_true(t->bytes <= 4 * NAMES_DYING_MAX + HEADERS);
	assert_int_equal(t->counts[RESULTS_VEC].results, NAMES_DYING_MAX);
	close_test(take_ptr(t));
	t = die(DEATH_KEYS_ABSENT);
	assert_int_equal(t->sum_keys, 0);
	assert_int_equal(t->counts[RESULTS_VEC].results, NAMES_DYING_MAX);
}

TEST_CASE(hash_tables_that_lie)
{
	need_capture();
	for (int k = 0; k < 2; k++) {
		_test_ struct test *t = k ? die(DEATH_HASHES) : drop(DEATH_HASHES);

		assert_int_equal(t->n_counts, NAMES_RESULTS);
		/* Shards have counts of their own. */
		for (uint32_t i = 0; i < NAMES_RESULTS; i++)
			if (i != RESULTS_HASH_SHARDS && i != RESULTS_HASH_ENDLESS)
				assert_int_equal(t->counts[i].results, honest_count(i));
		assert_int_equal(t->n_keys[RESULTS_HASH] + t->n_keys[RESULTS_HASH_NOWHERE] +
					 t->n_keys[RESULTS_HASH_SPARSE],
				 0);
		assert_in_range(t->sum_keys, !k, k ? NAMES_DYING_MAX : NAMES_KEYS_MAX);
	}
}

/* Each number is one that was there, or none. */
TEST_CASE(tables_that_move_meanwhile)
{
	need_capture();
	for (int k = 0; k < 20; k++) {
		_test_ struct test *t = k % 2 ? die(DEATH_MOVING) : drop(DEATH_MOVING);

		for (uint32_t i = 0; i < t->n_counts; i++) {
			uint32_t n = t->counts[i].results;

			assert_true(n == WIRE_NO_COUNT || n == honest_count(i) ||
				    n == i + NAMES_MOVED);
			assert_in_range(t->n_keys[i], 0, i + NAMES_MOVED);
		}
		assert_true(t->bytes < HEADERS);
	}
}

/* Their number is known, their keys are too many, and those beyond the limit have no names. */
static void ten_million(struct test *t, uint32_t named)
{
	assert_int_equal(t->n_counts, NAMES_RESULTS);
	assert_int_equal(t->counts[RESULTS_VEC].results, NAMES_10_MILLION);
	assert_int_equal(t->counts[RESULTS_KEYS].results, NAMES_10_MILLION);
	assert_int_equal(t->sum_keys, keys_of_hash_tables());
	assert_int_equal(t->lie.definitions, named);
	assert_true(t->lie.missing > 0);
	assert_true(t->bytes < named * 16ul + HEADERS);
}

TEST_CASE(ten_million_definitions)
{
	_test_ struct test *t = NULL;

	need_capture();
	t = die(DEATH_DEFINITIONS);
	ten_million(t, NAMES_DYING_MAX);
	close_test(take_ptr(t));
	t = drop(DEATH_DEFINITIONS);
	ten_million(t, NAMES_DEFINITIONS_MAX);
}

/* As many queries as a plan may have, of which each has two tables with all shards. */
static void as_many_reads_as_possible(struct plan *plan)
{
	plan->tables.n = WIRE_TABLES_MAX;
	plan->tables.n_shards = WIRE_SHARDS_MAX;
	plan->queries = reallocarray(plan->queries, WIRE_TABLES_MAX, sizeof(*plan->queries));
	assert_non_null(plan->queries);
	for (; plan->n_queries < WIRE_TABLES_MAX; plan->n_queries++) {
		plan->queries[plan->n_queries] = plan->queries[RESULTS_DEF];
		plan->queries[plan->n_queries].name = strdup("zzz");
	}
}

/* After 20 ms no record is sent: where counts are missing, no key follows. */
TEST_CASE(the_reading_ends)
{
	_test_ struct test *t = NULL;

	need_capture();
	t = lie_with(DEATH_SHARDS, "ik9", as_many_reads_as_possible);
	assert_int_equal(t->n_counts % WIRE_COUNTS_MAX, 0);
	assert_int_equal(t->sum_keys, t->n_counts < WIRE_TABLES_MAX ? 0 : keys_of_hash_tables());
	print_message("%u of %u queries in %lu us\n", t->n_counts, WIRE_TABLES_MAX,
		      (long)t->capture.counters[WIRE_COUNT_NAMES_NS] / 1000);
}

TEST_MAIN(NULL, NULL)
