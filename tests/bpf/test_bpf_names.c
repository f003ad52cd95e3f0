// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The names of definitions arrive exactly as they are in the memory of the test program. Memory
 * that lies costs a bounded number of reads and records, and does not disturb the program.
 */
#include "capture.h"
#include "names_of_target.h"

#include "../../bpf/names_limits.h"
#include <bpf/bpf.h>

#define RING	  (16u << 20)
#define BIG_RING  (128u << 20)
#define PROCESSES 64

/* The records that have come of one process. */
struct copy {
	uint32_t pid;
	uint8_t *table;
	size_t size, room;
	uint32_t seen[NAMES_SYMBOLS]; /* how often the text of a symbol came */
};

struct names {
	uint32_t row_size; /* 0: nothing is compared */
	struct copy copies[PROCESSES];
	size_t n_copies;
	uint32_t n_ends;
	struct wire_names_end last;
	size_t n_pieces, n_texts, n_resent, bytes;
	struct wire_counts counts;
	uint32_t n_counts;
	uint32_t *keys[NAMES_RESULTS]; /* of results */
	uint32_t n_keys[NAMES_RESULTS];
	uint32_t n_fed[2]; /* by their vtable, by their number */
};

static struct copy *copy_of(struct names *n, uint32_t pid)
{
	for (size_t i = 0; i < n->n_copies; i++)
		if (n->copies[i].pid == pid)
			return &n->copies[i];
	assert_in_range(n->n_copies, 0, PROCESSES - 1);
	n->copies[n->n_copies].pid = pid;
	return &n->copies[n->n_copies++];
}

/* The counts come first. */
static void take_keys(struct names *n, const struct wire_piece *r)
{
	uint32_t **keys = &n->keys[r->number], *n_keys = &n->n_keys[r->number];

	assert_in_range(r->number, 0, NAMES_RESULTS - 1);
	assert_true(n->n_counts > 0);
	assert_int_equal(r->offset, *n_keys * sizeof(uint32_t));
	*keys = realloc(*keys, r->offset + r->size);
	assert_non_null(*keys);
	memcpy(*keys + *n_keys, r->bytes, r->size);
	*n_keys += r->size / sizeof(uint32_t);
}

static void take_piece(struct names *n, const struct wire_piece *r, size_t size)
{
	struct copy *c = copy_of(n, r->pid);

	assert_int_equal(size, sizeof(*r) - WIRE_PIECE_MAX + r->size);
	if (r->table == WIRE_TABLE_RESULTS)
		return take_keys(n, r);
	n->n_pieces += r->table != WIRE_TABLE_INSTANCES;
	n->bytes -= r->table == WIRE_TABLE_INSTANCES ? size : 0;
	if (!n->row_size || r->table == WIRE_TABLE_INSTANCES)
		return;
	assert_int_equal(r->offset, c->size);
	if (c->size + r->size > c->room) {
		c->room = 2 * (c->size + r->size);
		c->table = realloc(c->table, c->room);
		assert_non_null(c->table);
	}
	memcpy(c->table + c->size, r->bytes, r->size);
	c->size += r->size;
}

static void take_text(struct names *n, struct copy *c, uint32_t symbol, const uint8_t *text,
		      uint32_t length)
{
	uint32_t whole = names_length(symbol);

	n->n_texts++;
	if (!n->row_size)
		return;
	assert_in_range(symbol, 0, NAMES_SYMBOLS - 1);
	assert_int_equal(length, whole < WIRE_SYMBOL_MAX ? whole : WIRE_SYMBOL_MAX);
	for (uint32_t i = 0; i < length; i++)
		assert_int_equal(text[i], names_letter(symbol, i));
	n->n_resent += c->seen[symbol]++ > 0;
}

static void take_texts(struct names *n, const struct wire_symbols *r, size_t size)
{
	uint32_t head[2];

	assert_int_equal(size, sizeof(*r) - WIRE_SYMBOLS_MAX + r->size);
	for (uint32_t at = 0; at < r->size; at += 8 + ((head[1] + 3) & ~3u)) {
		assert_true(at + 8 <= r->size);
		memcpy(head, r->bytes + at, sizeof(head));
		assert_in_range(head[1], 0, WIRE_SYMBOL_MAX);
		assert_true(at + 8 + head[1] <= r->size);
		take_text(n, copy_of(n, r->pid), head[0], r->bytes + at + 8, head[1]);
	}
}

/* The copy is the table that the program made, and the texts of all symbols that it names. */
static void compare_copy(const struct names *n, const struct copy *c, uint32_t definitions)
{
	bool needed[NAMES_SYMBOLS] = {0};
	uint8_t row[64];

	assert_int_equal(c->size, (size_t)definitions * n->row_size);
	for (uint32_t i = 0; i < definitions; i++) {
		names_fill_row(row, n->row_size, i);
		assert_memory_equal(c->table + (size_t)i * n->row_size, row, n->row_size);
		if (names_tag(i) == TAG_NAMED)
			needed[names_symbol(i) ?: NAMES_UNNAMED_SYMBOL] = true;
		else if (names_tag(i) == TAG_FIXED)
			needed[NAMES_FIXED_SYMBOL] = true;
	}
	for (uint32_t i = 0; i < NAMES_SYMBOLS; i++)
		assert_int_equal(c->seen[i] > 0, needed[i]);
}

static void take_end(struct names *n, const struct capture *capture, const struct wire_names_end *r)
{
	struct copy *c = copy_of(n, r->pid);

	assert_int_equal(r->lib, capture->lib);
	if (n->row_size && !r->missing)
		compare_copy(n, c, r->definitions);
	c->size = 0;
	memset(c->seen, 0, sizeof(c->seen));
	n->n_ends++;
	n->last = *r;
}

static void take_fed(struct names *n, const struct capture *capture, const struct wire_fed *r)
{
	assert_int_equal(r->lib, capture->lib);
	assert_int_equal(r->pid, capture->pid);
	if (r->cache != RESULTS_DEF)
		assert_int_equal(r->cache, NAMES_FED_VTABLE + NAMES_CACHE);
	n->n_fed[r->cache == RESULTS_DEF]++;
}

struct test {
	struct capture capture;
	struct names names;
};

static void on_names(void *ctx, const void *record, size_t size)
{
	struct test *t = ctx;

	t->names.bytes += size;
	switch (*(const uint8_t *)record) {
	case WIRE_PIECE:
		return take_piece(&t->names, record, size);
	case WIRE_SYMBOLS:
		return take_texts(&t->names, record, size);
	case WIRE_COUNTS:
		assert_in_range(size, offsetof(struct wire_counts, items), sizeof(t->names.counts));
		memcpy(&t->names.counts, record, size);
		t->names.n_counts++;
		return;
	case WIRE_FED:
		assert_int_equal(size, sizeof(struct wire_fed));
		take_fed(&t->names, &t->capture, record);
		return;
	default:
		assert_int_equal(size, sizeof(struct wire_names_end));
		take_end(&t->names, &t->capture, record);
	}
}

static void close_test(struct test *t)
{
	capture_close(&t->capture);
	for (size_t i = 0; i < t->names.n_copies; i++)
		free(t->names.copies[i].table);
	for (size_t i = 0; i < NAMES_RESULTS; i++)
		free(t->names.keys[i]);
	free(t);
}

static void cleanup_test(struct test **t)
{
	if (*t)
		close_test(*t);
}
#define _test_ __attribute__((cleanup(cleanup_test)))

static struct test *open_filtered(uint32_t row_size, size_t ring_bytes, const struct filter *filter)
{
	const struct kernel_options opt = {.attach = KERNEL_ATTACH_MULTI,
					   .ring_bytes = ring_bytes,
					   .keys = true,
					   .filter = filter};
	struct test *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	capture_load(&t->capture, &opt, 0);
	plan_names_of_target(t->capture.plan, row_size);
	assert_int_equal(
		kernel__attach(t->capture.kernel, t->capture.plan, filter, &t->capture.lib), 0);
	t->capture.got.on_names = on_names;
	t->capture.got.names = t;
	t->names.row_size = row_size;
	return t;
}

static struct test *open_test(uint32_t row_size, size_t ring_bytes)
{
	return open_filtered(row_size, ring_bytes, NULL);
}

static struct test *run(const char *script, uint32_t row_size, uint32_t ends)
{
	struct test *t = open_test(row_size, BIG_RING);

	capture_script(&t->capture, script);
	assert_not_disturbed(&t->capture);
	assert_int_equal(t->names.n_ends, ends);
	return t;
}

static void compare(const char *script, uint32_t row_size, uint32_t ends)
{
	_test_ struct test *t = NULL;

	need_capture();
	t = run(script, row_size, ends);
	assert_int_equal(t->names.last.missing, 0);
}

TEST_CASE(tables_of_all_sizes)
{
	compare("N0 N1 N2 N255 N256 N257 N511 N512 N513 N5000", 16, 10);
}

TEST_CASE(rows_of_another_size)
{
	compare("J0 J1 J63 J64 J65 J128 J5000", 64, 7);
}

/* 5,000 rows name 3,000 symbols: the same symbols again, behind others with the same low bits. */
TEST_CASE(a_symbol_comes_once_or_seldom_twice)
{
	_test_ struct test *t = NULL;

	need_capture();
	t = run("N1999", 16, 1);
	assert_int_equal(t->names.n_resent, 0);
	close_test(take_ptr(t));
	t = run("N5000", 16, 1);
	assert_true(t->names.n_resent > 0);
	assert_true(t->names.n_texts <= 5000);
}

/* Rows that an earlier and larger copy left in the slot are not looked at. */
TEST_CASE(a_small_table_after_a_large_one)
{
	_test_ struct test *t = NULL;
	size_t before;

	need_capture();
	t = run("N5000", 16, 1);
	before = t->names.n_texts;
	close_test(take_ptr(t));
	t = run("N5000 N1", 16, 2);
	assert_int_equal(t->names.n_texts, before + 1);
}

TEST_CASE(the_hit_is_counted_and_no_span)
{
	_test_ struct test *t = NULL;

	need_capture();
	t = run("a N10 a", 16, 1);
	assert_int_equal(t->capture.counters[WIRE_COUNT_HITS], 2 + 1 + 2);
	assert_int_equal(t->capture.counters[WIRE_COUNT_SPANS], 2);
}

TEST_CASE(two_processes_at_once)
{
	compare("p2(f(*20(N5000)))", 16, 40);
}

/* Without a slot a copy is missing, and says so; all others are whole. */
TEST_CASE(more_processes_than_slots)
{
	_test_ struct test *t = NULL;

	need_capture();
	t = run("p24(f(*5(N2000)))", 16, 24 * 5);
	assert_int_equal(t->names.n_copies, 24);
}

TEST_CASE(within_queries_of_threads)
{
	compare("a(b(N100))t(a(N100))p4(f(a(*20(N300))))x(N20)", 16, 83);
}

/* Links of this process to a raw tracepoint. */
static unsigned int n_links(const char *tracepoint)
{
	unsigned int n = 0;

	for (int fd = 0; fd < 1024; fd++) {
		char path[64], line[256], name[128];
		FILE *f;

		snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
		f = fopen(path, "r");
		while (f && fgets(line, sizeof(line), f))
			n += sscanf(line, "tp_name: %127s", name) == 1 && !strcmp(name, tracepoint);
		if (f)
			fclose(f);
	}
	return n;
}

TEST_CASE(deadly_signals_are_seen)
{
	_test_ struct test *t = NULL;

	need_capture();
	t = open_test(16, BIG_RING);
	/* Two where the kernel may skip one. */
	assert_in_range(n_links("sched_process_exit"), 1, 2);
	assert_int_equal(n_links("signal_deliver"), 1);
	capture_script(&t->capture, "a");
}

TEST_CASE(not_asked_for)
{
	const struct kernel_options opt = {.attach = KERNEL_ATTACH_MULTI, .ring_bytes = RING};
	_capture_ struct capture c = CAPTURE_NONE;

	need_capture();
	capture_load(&c, &opt, 0);
	assert_int_equal(n_links("signal_deliver"), 0);
	plan_names_of_target(c.plan, 16);
	assert_int_equal(kernel__attach(c.kernel, c.plan, NULL, &c.lib), 0);
	capture_script(&c, "aN10H0");
	assert_not_disturbed(&c);
	assert_int_equal(c.counters[WIRE_COUNT_HITS], 2);
}

/* A library without a layout has no names. */
TEST_CASE(a_layout_of_size_0)
{
	_test_ struct test *t = NULL;

	need_capture();
	t = run("N10 H0", 0, 0);
	assert_int_equal(t->names.bytes, 0);
}

/* By its number, as target_names.c makes them. */
static void assert_results(const struct wire_count *c)
{
	assert_int_equal(c[RESULTS_VEC].results, 100);
	assert_int_equal(c[RESULTS_VEC].others, 0);
	assert_int_equal(c[RESULTS_DEF].results, 101);
	assert_int_equal(c[RESULTS_DEF].others, 7);
	assert_int_equal(c[RESULTS_DEF].active, RESULTS_DEF);
	assert_int_equal(c[RESULTS_SHARDS].results, NAMES_SHARDS * (NAMES_SHARDS - 1) / 2);
	assert_int_equal(c[RESULTS_ONCE].results, 1);
	assert_int_equal(c[RESULTS_NONE].results, 0);
	assert_int_equal(c[RESULTS_NONE].active, RESULTS_NONE);
	for (uint32_t i = RESULTS_MANY; i < RESULTS_KEYS; i++)
		assert_int_equal(c[i].results, WIRE_NO_COUNT);
	assert_int_equal(c[RESULTS_KEYS].results, NAMES_VEC_RESULTS);
}

TEST_CASE(results_are_counted_or_unknown)
{
	_test_ struct test *t = NULL;

	need_capture();
	t = run("N10", 16, 1);
	assert_int_equal(t->names.n_counts, 1);
	assert_int_equal(t->names.counts.moment, WIRE_COUNTS_DROPPED);
	assert_int_equal(t->names.counts.first, 0);
	assert_int_equal(t->names.counts.of, NAMES_RESULTS);
	assert_int_equal(t->names.counts.n, NAMES_RESULTS);
	assert_results(t->names.counts.items);
}

static void assert_keys(const struct names *n, uint32_t query, uint32_t n_keys)
{
	assert_int_equal(n->n_keys[query], n_keys);
	for (uint32_t i = 0; i < n_keys; i++)
		assert_int_equal(n->keys[query][i], names_key(i) + NAMES_VEC_MARK);
}

/* Keys of the first buckets of a table, from number `from` on, or of other crates. */
static uint32_t assert_hash(const struct names *n, uint32_t query, uint32_t from, uint32_t buckets)
{
	for (uint32_t i = 0; i < buckets; i++) {
		bool others = query == RESULTS_HASH_SHARDS && names_bucket_is_of_others(i);
		uint32_t key = others ? WIRE_KEY_OF_OTHERS : names_key(i) + NAMES_VEC_MARK;

		if (names_bucket_is_full(i))
			assert_int_equal(n->keys[query][from++], key);
	}
	return from;
}

static void assert_hashes(const struct names *n)
{
	uint32_t keys = 0;
	assert_int_equal(assert_hash(n, RESULTS_HASH, 0, NAMES_HASH_BUCKETS),
			 n->n_keys[RESULTS_HASH]);
	for (uint32_t i = 0; i < NAMES_SHARDS; i++)
		keys = assert_hash(n, RESULTS_HASH_SHARDS, keys, NAMES_HASH_SHARD_BUCKETS);
	assert_int_equal(n->n_keys[RESULTS_HASH_SHARDS], keys);
	assert_int_equal(n->n_keys[RESULTS_HASH_NOWHERE] + n->n_keys[RESULTS_HASH_MANY], 0);
	assert_in_range(n->n_keys[RESULTS_HASH_SPARSE], 1, 2 * NAMES_HASH_BUCKETS);
	assert_in_range(n->n_keys[RESULTS_HASH_ENDLESS], NAMES_HASH_LARGE, NAMES_KEYS_MAX);
}

/* Where executions are not recorded: of each query as many as it has, or too few. */
TEST_CASE(results_have_keys)
{
	static const char *const list = "default";
	_filter_ struct filter *filter = NULL;
	_test_ struct test *t = NULL;

	need_capture();
	assert_int_equal(filter__new(&list, 1, &filter), 0);
	t = open_filtered(16, BIG_RING, filter);
	capture_script(&t->capture, "N10");
	assert_not_disturbed(&t->capture);
	assert_int_equal(t->names.n_ends, 1);
	assert_int_equal(t->names.last.missing, 0);
	assert_results(t->names.counts.items);
	assert_keys(&t->names, RESULTS_VEC, 100);
	assert_keys(&t->names, RESULTS_DEF, 101);
	assert_keys(&t->names, RESULTS_KEYS, NAMES_VEC_RESULTS);
	assert_keys(&t->names, RESULTS_KEYS_NOWHERE, 2 * NAMES_VEC_FIRST);
	for (uint32_t i = RESULTS_SHARDS; i < RESULTS_KEYS; i++)
		assert_keys(&t->names, i, 0);
	assert_hashes(&t->names);
}

TEST_CASE(recorded_executions_have_keys_of_their_own)
{
	_test_ struct test *t = NULL;

	need_capture();
	t = run("N10", 16, 1);
	for (uint32_t i = 0; i < NAMES_RESULTS; i++)
		assert_keys(&t->names, i, 0);
}

/* They are more than the ring: what is behind a piece without room is not sent. */
TEST_CASE(keys_without_room_are_not_whole)
{
	static const char *const list = "default";
	_filter_ struct filter *filter = NULL;
	_test_ struct test *t = NULL;

	need_capture();
	assert_int_equal(filter__new(&list, 1, &filter), 0);
	t = open_filtered(16, 16384, filter);
	t->names.row_size = 0;
	capture_begin(&t->capture, "N10");
	capture_finish_undrained(&t->capture);
	capture_stop(&t->capture);
	assert_int_equal(t->names.n_counts, 1);
	assert_keys(&t->names, RESULTS_VEC, 100);
	assert_true(t->names.n_keys[RESULTS_KEYS] < NAMES_VEC_RESULTS);
	assert_keys(&t->names, RESULTS_KEYS,
		    t->names.n_keys[RESULTS_KEYS] / WIRE_KEYS_MAX * WIRE_KEYS_MAX);
}

TEST_CASE(what_is_fed_is_sent)
{
	_test_ struct test *t = NULL;

	need_capture();
	t = run("n3N10", 16, 1);
	assert_int_equal(t->names.n_fed[0], 3);
	assert_int_equal(t->names.n_fed[1], 3);
	assert_int_equal(t->names.counts.lost_ns, 0);
}

/* The counts say when that come when there is room again. */
TEST_CASE(what_is_fed_without_room_is_counted)
{
	_test_ struct test *t = NULL;

	need_capture();
	t = open_test(16, 16384);
	t->names.row_size = 0;
	capture_begin(&t->capture, "n1000.N10");
	capture_wait_for_dot(&t->capture);
	capture_drain(&t->capture);
	assert_int_equal(write(t->capture.to_target, "", 1), 1);
	capture_finish_target(&t->capture);
	capture_stop(&t->capture);
	assert_int_equal(t->names.n_counts, 1);
	assert_in_range(t->names.counts.lost_ns, 1, t->names.counts.time_ns);
	assert_int_equal(t->names.n_fed[0] + t->names.n_fed[1] +
				 t->capture.counters[WIRE_LOST_RING_FULL],
			 2000);
}

TEST_CASE(no_room_is_missing)
{
	_test_ struct test *t = NULL;
	size_t records;

	need_capture();
	t = run("N5000", 16, 1);
	records = t->names.n_pieces;
	assert_int_equal(records, (5000 * 16 + 4095) / 4096);
	close_test(take_ptr(t));
	t = open_test(16, 4096);
	t->names.row_size = 0;
	capture_begin(&t->capture, "N5000");
	capture_finish_undrained(&t->capture);
	capture_stop(&t->capture);
	assert_int_equal(t->names.n_ends, 1);
	/* Only the last piece is small enough for a page. */
	assert_in_range(t->names.n_pieces, 0, 1);
	assert_true(t->names.last.missing >= records - t->names.n_pieces);
}

/* ---- Memory that lies --------------------------------------------------------------------------
 */

/* Runs the lie, and an honest copy behind it, which shows that nothing is left of the lie. */
static struct names lie(enum names_lie how, uint32_t row_size)
{
	struct names before;
	char script[16];
	struct test *t = open_test(row_size, BIG_RING);

	t->names.row_size = 0;
	snprintf(script, sizeof(script), "H%d.%c50", how, row_size == 64 ? 'J' : 'N');
	capture_begin(&t->capture, script);
	/* The bytes are more than the ring's; the target waits behind the lie. */
	while (!t->names.n_ends)
		capture_drain(&t->capture);
	before = t->names;
	t->names.row_size = row_size;
	capture_wait_for_dot(&t->capture);
	capture_go(&t->capture);
	capture_finish_target(&t->capture);
	capture_stop(&t->capture);
	assert_not_disturbed(&t->capture);
	assert_int_equal(t->names.n_ends, 2);
	assert_int_equal(t->names.last.missing, 0);
	assert_int_equal(t->names.last.definitions, 50);
	assert_in_range(before.last.missing, 1, NAMES_MISSING_MAX + 2);
	close_test(t);
	return before;
}

/* 4,096 bytes of the table can be read. The pieces behind them fail one by one, up to the limit. */
TEST_CASE(a_count_of_2_to_the_63)
{
	struct names n;

	need_capture();
	n = lie(LIE_COUNT, 16);
	assert_int_equal(n.last.definitions, NAMES_DEFINITIONS_MAX);
	assert_int_equal(n.n_pieces, 1);
	assert_int_equal(n.last.missing, 1 + NAMES_DEFINITIONS_MAX * 16 / WIRE_PIECE_MAX - 1);
	n = lie(LIE_COUNT, 64);
	assert_int_equal(n.n_pieces, 1);
	assert_int_equal(n.last.missing, 1 + NAMES_MISSING_MAX);
}

TEST_CASE(tables_that_are_nowhere)
{
	static const enum names_lie lies[] = {LIE_TABLE, LIE_TABLE_KERNEL, LIE_GLOBALS, LIE_BASE,
					      LIE_CONTEXT};

	need_capture();
	for (size_t i = 0; i < N_OF(lies); i++) {
		struct names n = lie(lies[i], 16);

		assert_int_equal(n.n_pieces, 0);
		assert_int_equal(n.n_texts, 0);
		assert_int_equal(n.last.missing, 1);
	}
}

static uint32_t symbols_of(uint32_t definitions)
{
	uint32_t n = 0;

	/* The fixed symbol is that of row 5, which has another tag. */
	for (uint32_t i = 0; i < definitions; i++)
		n += names_tag(i) == TAG_NAMED;
	return n + 1;
}

TEST_CASE(symbols_that_are_nowhere)
{
	struct names n;

	need_capture();
	n = lie(LIE_SYMBOLS, 16);
	assert_int_equal(n.n_pieces, 1);
	assert_int_equal(n.n_texts, 0);
	assert_int_equal(n.last.missing, symbols_of(256));
}

TEST_CASE(numbers_beyond_the_table_of_symbols)
{
	struct names n;

	need_capture();
	n = lie(LIE_NUMBERS, 16);
	/* The fixed symbol is one of the table. */
	assert_int_equal(n.n_texts, 1);
	assert_int_equal(n.last.missing, symbols_of(256) - 1);
	n = lie(LIE_NUMBERS_MANY, 16);
	assert_in_range(n.n_texts, 1, symbols_of(256));
}

TEST_CASE(texts_of_1_gib)
{
	struct names n;

	need_capture();
	n = lie(LIE_LENGTH, 16);
	assert_int_equal(n.n_texts, 1);
	assert_int_equal(n.last.missing, symbols_of(256) - 1);
	assert_true(n.bytes < 8192);
}

TEST_CASE(texts_at_the_end_of_a_mapping)
{
	struct names n;

	need_capture();
	n = lie(LIE_EDGE, 16);
	assert_int_equal(n.n_texts, 0);
	assert_int_equal(n.last.missing, symbols_of(256));
}

TEST_CASE(more_texts_than_any_compiler_has)
{
	const size_t table = NAMES_DEFINITIONS_MAX * 16ul, headers = 65536 * 16;
	struct names n;

	need_capture();
	n = lie(LIE_MANY_TEXTS, 16);
	assert_true(n.n_texts <= NAMES_TEXTS_MAX / (WIRE_SYMBOL_MAX + 8) + 1);
	assert_true(n.bytes <= table + NAMES_TEXTS_MAX + 2 * WIRE_SYMBOL_MAX + headers);
}

/* ---- Slots -------------------------------------------------------------------------------------
 */

/* How many slots have an owner; then each gets this one, unless it is -1. */
static uint32_t owned_slots(int64_t owner)
{
	struct bpf_map_info info;
	int fd = map_of_ours("names_slots", &info);
	_free_ uint32_t *value = malloc(info.value_size);
	uint32_t n = 0;

	assert_non_null(value);
	for (uint32_t i = 0; i < info.max_entries; i++) {
		assert_int_equal(bpf_map_lookup_elem(fd, &i, value), 0);
		n += *value != 0; /* the owner */
		*value = (uint32_t)owner;
		if (owner >= 0)
			assert_int_equal(bpf_map_update_elem(fd, &i, value, BPF_ANY), 0);
	}
	return n;
}

static void another(struct test *t, const char *script)
{
	struct capture *c = &t->capture;

	capture_begin(c, script);
	capture_finish_target(c);
	capture_drain(c);
	assert_int_equal(c->status, 0);
	close(c->to_target);
	close(c->from_target);
	unlink(c->expected);
	c->ended = false;
}

TEST_CASE(a_copy_without_a_slot_is_missing)
{
	_test_ struct test *t = NULL;

	need_capture();
	t = open_test(16, RING);
	owned_slots(1);
	another(t, "N10");
	assert_int_equal(t->names.n_ends, 1);
	assert_int_equal(t->names.last.definitions, 0);
	assert_int_equal(t->names.last.missing, 1);
	owned_slots(0);
	capture_script(&t->capture, "N10");
	assert_int_equal(t->names.last.definitions, 10);
	assert_int_equal(t->names.last.missing, 0);
	assert_int_equal(owned_slots(-1), 0);
}

/* The table lies in a page that is not there. */
static void read_absent(enum names_lie where, bool comes)
{
	_test_ struct test *t = open_test(16, RING);
	char script[16];

	t->names.row_size = 0;
	snprintf(script, sizeof(script), "H%d", where);
	capture_script(&t->capture, script);
	if (WEXITSTATUS(t->capture.status) == NAMES_IMPOSSIBLE)
		skip(); /* this kernel has no userfaultfd */
	assert_int_equal(t->capture.status, 0);
	assert_int_equal(t->names.n_ends, 1);
	assert_int_equal(!t->names.last.missing, comes);
	assert_int_equal(owned_slots(-1), 0);
}

TEST_CASE(pages_that_come_are_waited_for)
{
	need_capture();
	read_absent(LIE_UNTOUCHED, true);
	read_absent(LIE_BLOCKS, false);
}

TEST_MAIN(NULL, NULL)
