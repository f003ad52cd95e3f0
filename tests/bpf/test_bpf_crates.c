// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Names of other crates and of their cached definitions arrive exactly as they are in the memory of
 * the test program. Memory that lies about them costs a bounded number of reads and records.
 */
#include "capture.h"
#include "names_of_target.h"

#include "../../bpf/names_limits.h"

#define BIG_RING   (128u << 20)
#define CRATES_MAX 64
#define KEYS_MAX   (CRATES_MAX * 1024)

struct test {
	struct capture capture;
	uint32_t n_crates, n_keys, n_ends;
	size_t n_pieces, bytes;
	bool compares;
	struct wire_crate crates[CRATES_MAX];
	uint64_t keys[KEYS_MAX]; /* crate << 32 | index */
	bool texts[NAMES_SYMBOLS];
	struct wire_names_end last;
};

static void take_crates(struct test *t, const struct wire_piece *r)
{
	assert_int_equal(r->size % sizeof(struct wire_crate), 0);
	for (uint32_t at = 0; at < r->size; at += sizeof(struct wire_crate)) {
		assert_in_range(t->n_crates, 0, CRATES_MAX - 1);
		memcpy(&t->crates[t->n_crates++], r->bytes + at, sizeof(struct wire_crate));
	}
}

static void take_keys(struct test *t, const struct wire_piece *r)
{
	uint32_t n = r->size / (1 + NAMES_KEY_SIZE);

	assert_int_equal(r->size, n * (1 + NAMES_KEY_SIZE));
	for (uint32_t i = 0; i < n; i++) {
		const uint8_t *at = r->bytes + n + (n - 1 - i) * NAMES_KEY_SIZE;
		uint8_t row[16];
		uint32_t index;

		memcpy(&index, at + NAMES_KEY_INDEX, sizeof(index));
		assert_int_equal(index, 1000 * r->number + r->offset + i);
		names_fill_row(row, 16, index);
		assert_memory_equal(at + NAMES_KEY, row, 16);
		if (r->bytes[i] & 0x80)
			continue;
		assert_in_range(t->n_keys, 0, KEYS_MAX - 1);
		t->keys[t->n_keys++] = (uint64_t)r->number << 32 | index;
	}
}

static void take_texts(struct test *t, const struct wire_symbols *r)
{
	uint32_t head[2];

	for (uint32_t at = 0; at < r->size; at += 8 + ((head[1] + 3) & ~3u)) {
		memcpy(head, r->bytes + at, sizeof(head));
		assert_in_range(head[0], 0, NAMES_SYMBOLS - 1);
		t->texts[head[0]] = true;
	}
}

static void take_piece(struct test *t, const struct wire_piece *r, size_t size)
{
	assert_int_equal(size, sizeof(*r) - WIRE_PIECE_MAX + r->size);
	t->n_pieces++;
	if (t->compares && r->table == WIRE_TABLE_CRATES)
		take_crates(t, r);
	else if (t->compares && r->table == WIRE_TABLE_KEYS)
		take_keys(t, r);
}

static void on_names(void *ctx, const void *record, size_t size)
{
	struct test *t = ctx;

	/* What queries were about has limits of its own: test_bpf_instances.c. */
	if (*(const uint8_t *)record != WIRE_PIECE ||
	    ((const struct wire_piece *)record)->table != WIRE_TABLE_INSTANCES)
		t->bytes += size;
	switch (*(const uint8_t *)record) {
	case WIRE_PIECE:
		return take_piece(t, record, size);
	case WIRE_SYMBOLS:
		return take_texts(t, record);
	case WIRE_COUNTS:
		return;
	default:
		assert_int_equal(size, sizeof(t->last));
		memcpy(&t->last, record, sizeof(t->last));
		t->n_ends++;
	}
}

static void cleanup_test(struct test **t)
{
	if (*t)
		capture_close(&(*t)->capture);
	free(*t);
}
#define _test_ __attribute__((cleanup(cleanup_test)))

static struct test *open_test(bool has_crates)
{
	const struct kernel_options opt = {
		.attach = KERNEL_ATTACH_MULTI, .ring_bytes = BIG_RING, .keys = true};
	struct test *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	capture_load(&t->capture, &opt, 0);
	plan_names_of_target(t->capture.plan, 16);
	t->capture.plan->layout.wire.crates = (struct wire_layout_crates){
		.size = has_crates ? NAMES_KEY_SIZE : 0,
		.index = NAMES_KEY_INDEX,
		.key = NAMES_KEY,
		.own_id = NAMES_OWN_ID,
		.store = NAMES_STORE,
		.crates = NAMES_CRATES,
		.n_crates = NAMES_N_CRATES,
		.name = NAMES_CRATE_NAME,
		.stable_id = NAMES_STABLE_ID,
		.keys = NAMES_KEYS,
		.keys_mask = NAMES_KEYS_MASK,
	};
	assert_int_equal(kernel__attach(t->capture.kernel, t->capture.plan, NULL, &t->capture.lib),
			 0);
	t->capture.got.on_names = on_names;
	t->capture.got.names = t;
	t->compares = true;
	return t;
}

/* The symbol of a definition comes with it. */
static void compare_key(const struct test *t, uint32_t crate, uint32_t index)
{
	uint64_t key = (uint64_t)crate << 32 | index;
	uint32_t i = 0;

	while (i < t->n_keys && t->keys[i] != key)
		i++;
	assert_true(i < t->n_keys);
	if (names_tag(index) == TAG_NAMED)
		assert_true(t->texts[names_symbol(index)]);
}

static uint32_t compare_crate(const struct test *t, uint32_t crate, const struct wire_crate *got)
{
	uint32_t n = names_entries(crate), used = 0;

	assert_int_equal(got->number, crate);
	assert_int_equal(got->name, names_symbol(crate + 11));
	assert_true(got->stable_id == names_stable_id(crate));
	assert_true(t->texts[got->name]);
	/* A cache of one entry is an empty one, of which there is no memory. */
	for (uint32_t i = 0; n > 1 && i < n; i++) {
		if (!names_entry_is_used(crate, i))
			continue;
		compare_key(t, crate, 1000 * crate + i);
		used++;
	}
	return used;
}

static void compare(uint32_t n)
{
	_test_ struct test *t = open_test(true);
	uint32_t at = 1, keys = 0;
	char script[16];

	snprintf(script, sizeof(script), "K%u", n);
	capture_script(&t->capture, script);
	assert_not_disturbed(&t->capture);
	assert_int_equal(t->n_ends, 1);
	assert_int_equal(t->last.missing, 0);
	assert_int_equal(t->crates[0].name, WIRE_TAG_UNKNOWN);
	assert_true(t->crates[0].stable_id == NAMES_OWN);
	for (uint32_t i = 0; i < n; i++)
		if (names_has_crate(i))
			keys += compare_crate(t, i, &t->crates[at++]);
	assert_int_equal(t->n_crates, at);
	assert_int_equal(t->n_keys, keys);
}

TEST_CASE(crates_and_their_caches_arrive)
{
	need_capture();
	compare(0);
	compare(1);
	compare(2);
	compare(50);
}

TEST_CASE(a_layout_without_crates)
{
	_test_ struct test *t = NULL;

	need_capture();
	t = open_test(false);
	capture_script(&t->capture, "K50");
	assert_not_disturbed(&t->capture);
	assert_int_equal(t->n_ends, 1);
	assert_int_equal(t->last.definitions, 3);
	assert_int_equal(t->n_crates + t->n_keys, 0);
}

/* ---- Memory that lies --------------------------------------------------------------------------
 */

/* Runs the lie, and an honest copy behind it, which shows that nothing is left of the lie. */
static struct test *lie(enum names_lie how)
{
	struct test *t = open_test(true);
	char script[16];

	t->compares = false;
	snprintf(script, sizeof(script), "H%d.K9", how);
	capture_begin(&t->capture, script);
	/* The bytes may be more than the ring's; the target waits behind the lie. */
	while (!t->n_ends)
		capture_drain(&t->capture);
	assert_int_equal(t->last.definitions, 256);
	assert_in_range(t->last.missing, 1, NAMES_MISSING_MAX + 2);
	capture_wait_for_dot(&t->capture);
	capture_go(&t->capture);
	capture_finish_target(&t->capture);
	capture_stop(&t->capture);
	assert_not_disturbed(&t->capture);
	assert_int_equal(t->n_ends, 2);
	assert_int_equal(t->last.missing, 0);
	return t;
}

static void lies_are_bounded(enum names_lie how, size_t bytes)
{
	_test_ struct test *t = lie(how);

	assert_in_range(t->bytes, 1, bytes);
}

TEST_CASE(crates_that_are_nowhere)
{
	need_capture();
	lies_are_bounded(LIE_STORE, 64 << 10);
	lies_are_bounded(LIE_METADATA, 64 << 10);
	lies_are_bounded(LIE_KEYS, 64 << 10);
}

/* 512 of their addresses can be read, all else fails. */
TEST_CASE(a_count_of_2_to_the_63)
{
	need_capture();
	lies_are_bounded(LIE_CRATES, 1 << 20);
}

TEST_CASE(caches_of_2_to_the_63)
{
	need_capture();
	lies_are_bounded(LIE_MASK, 64 << 10);
}

/* Beyond the limit of all entries, each crate's cache is missing. */
TEST_CASE(more_entries_than_any_compiler_has)
{
	_test_ struct test *t = NULL;

	need_capture();
	t = lie(LIE_CRATES_MANY);
	assert_true(t->bytes <= (size_t)NAMES_ENTRIES_MAX * (1 + NAMES_KEY_SIZE) +
					t->n_pieces * (sizeof(struct wire_piece) - WIRE_PIECE_MAX) +
					(4u << 20));
}

TEST_MAIN(NULL, NULL)
