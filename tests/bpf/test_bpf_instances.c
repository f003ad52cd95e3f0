// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Instances arrive with their definitions, of any crate, and a hash of their symbols, as the user
 * half makes it. Symbols that lie have none, and of very many only so many bytes are read.
 */
#include "capture.h"
#include "names_of_target.h"

#include "../../bpf/names_limits.h"
#include "decode/symbols.h"

#define RING (128u << 20)

struct test {
	struct capture capture;
	struct wire_instance instances[NAMES_INSTANCES];
	uint32_t n_instances[NAMES_RESULTS], n_symbols[NAMES_RESULTS];
};

static void take_instances(struct test *t, const struct wire_piece *r)
{
	struct wire_instance instance;

	assert_in_range(r->number, RESULTS_INSTANCES, RESULTS_INSTANCES_MANY);
	assert_int_equal(r->offset, t->n_instances[r->number] * sizeof(instance));
	assert_int_equal(r->size % sizeof(instance), 0);
	for (uint32_t i = 0; i < r->size / sizeof(instance); i++) {
		uint32_t at = t->n_instances[r->number]++;

		memcpy(&instance, r->bytes + i * sizeof(instance), sizeof(instance));
		t->n_symbols[r->number] += instance.symbol != 0;
		if (r->number == RESULTS_INSTANCES && at < NAMES_INSTANCES)
			t->instances[at] = instance;
	}
}

static void on_names(void *ctx, const void *record, size_t size)
{
	struct wire_piece piece;

	if (*(const uint8_t *)record != WIRE_PIECE)
		return;
	assert_in_range(size, 1, sizeof(piece));
	memcpy(&piece, record, size);
	if (piece.table == WIRE_TABLE_INSTANCES)
		take_instances(ctx, &piece);
}

static void cleanup_test(struct test **t)
{
	if (!*t)
		return;
	capture_close(&(*t)->capture);
	free(*t);
}
#define _test_ __attribute__((cleanup(cleanup_test)))

static struct test *run(const struct filter *filter)
{
	const struct kernel_options opt = {
		.attach = KERNEL_ATTACH_MULTI, .ring_bytes = RING, .keys = true, .filter = filter};
	struct test *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	capture_load(&t->capture, &opt, 0);
	plan_names_of_target(t->capture.plan, 16);
	assert_int_equal(
		kernel__attach(t->capture.kernel, t->capture.plan, filter, &t->capture.lib), 0);
	t->capture.got.on_names = on_names;
	t->capture.got.names = t;
	capture_script(&t->capture, "N10");
	assert_true(WIFEXITED(t->capture.status));
	assert_int_equal(WEXITSTATUS(t->capture.status), 0);
	assert_whole(&t->capture);
	return t;
}

/* Definitions of the crate, of another one, and keys that are about none. */
static void assert_instances(const struct test *t)
{
	static char text[NAMES_INSTANCE_ROOM];

	assert_int_equal(t->n_instances[RESULTS_INSTANCES], NAMES_INSTANCES);
	for (uint32_t i = 0; i < NAMES_INSTANCES; i++) {
		bool lies = names_symbol_lie(i) < SYMBOL_LIES;

		names_instance_symbol(i, text);
		assert_int_equal(t->instances[i].key,
				 i % 3 ? wire_key(i % 3 - 1, names_key(i)) : 0);
		assert_int_equal(t->instances[i].symbol, lies ? 0 : symbols__hash(text));
	}
}

TEST_CASE(symbols_are_hashed_or_unknown)
{
	static const char *const list = "default";
	_filter_ struct filter *filter = NULL;
	_test_ struct test *t = NULL;

	need_capture();
	assert_int_equal(filter__new(&list, 1, &filter), 0);
	t = run(filter);
	assert_instances(t);
}

/* Executions have keys, but not symbols. */
TEST_CASE(recorded_executions_have_symbols_too)
{
	_test_ struct test *t = NULL;

	need_capture();
	t = run(NULL);
	assert_instances(t);
}

TEST_CASE(so_many_bytes_are_read)
{
	const uint32_t most = NAMES_SYMBOLS_MAX / WIRE_SYMBOL_HASHED + 1;
	_test_ struct test *t = NULL;

	need_capture();
	t = run(NULL);
	assert_int_equal(t->n_instances[RESULTS_INSTANCES_MANY], NAMES_INSTANCES_MANY);
	assert_in_range(t->n_symbols[RESULTS_INSTANCES_MANY], most / 2, most);
}

TEST_MAIN(NULL, NULL)
