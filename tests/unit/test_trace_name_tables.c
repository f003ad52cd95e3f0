// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/name_tables.h"

#include "test.h"
#include "../fixtures/random.h"
#include "qprof/trace_format.h"

#define _byte_buffer_  __cleanup(byte_buffer__destroy)
#define _symbol_table_ __cleanup(symbol_table__destroy)

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
static void symbols_come_back_from_several_chunks(void **state)
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

static void a_list_that_is_malformed_is_refused(void **state)
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

static void a_list_may_expand_to_so_much(void **state)
{
	struct expansion expansion = {.made = QPT_EXPANSION_FREE};
	_symbol_table_ struct symbol_table t = {.expansion = &expansion};
	struct byte_buffer bytes = {.data = (uint8_t[]){1, 0, 0, 0}, .size = 4};

	assert_int_equal(take(&t, &bytes), -E2BIG);
}

static void a_file_may_have_so_many(void **state)
{
	_symbol_table_ struct symbol_table t = {.n = QPT_SYMBOLS_MAX};
	struct byte_buffer bytes = {.data = (uint8_t[]){1, 0, 0, 0}, .size = 4};

	assert_int_equal(take(&t, &bytes), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(symbols_come_back_from_several_chunks),
		cmocka_unit_test(a_list_that_is_malformed_is_refused),
		cmocka_unit_test(a_list_may_expand_to_so_much),
		cmocka_unit_test(a_file_may_have_so_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
