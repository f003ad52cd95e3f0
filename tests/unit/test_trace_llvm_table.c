// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/job_table.h"

#include "test.h"
#include "../fixtures/random.h"
#include "qprof/trace_format.h"

#define _byte_buffer_ __cleanup(byte_buffer__destroy)
#define _llvm_table_  __cleanup(llvm_table__destroy)

#define STRINGS 9

static int take(struct llvm_table *t, const uint8_t *bytes, size_t size)
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
	struct trace_llvm entry = {
		.pass = any_string(rng),
		.function = TRACE_NO_STRING,
		.scope = rng_below(rng, TRACE_LLVM_SCOPES),
		.codegen = rng_below(rng, 2),
	};

	if (entry.scope == TRACE_LLVM_FUNCTION || entry.scope == TRACE_LLVM_SCC)
		entry.function = any_string(rng);
	return entry;
}

static bool same(const struct trace_llvm *a, const struct trace_llvm *b)
{
	return a->pass == b->pass && a->function == b->function && a->scope == b->scope &&
	       a->codegen == b->codegen;
}

static void entries_come_back_once_from_several_chunks(void **state)
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
			assert_int_equal(take(&to, bytes.data, bytes.size), 0);
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

static void strings_were_added_before(void **state)
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

static void malformed_lists_are_refused(void **state)
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
		assert_int_equal(take(&t, bad[i], sizeof(bad[i])), -EBADMSG);
	assert_int_equal(t.n, 0);
	assert_int_equal(take(&t, longer, sizeof(longer)), -EBADMSG);
	assert_int_equal(take(&t, sound, sizeof(sound)), 0);
}

static void a_list_may_expand_to_so_much(void **state)
{
	struct expansion expansion = {.made = QPT_EXPANSION_FREE};
	_llvm_table_ struct llvm_table t = {.expansion = &expansion};
	static const uint8_t bytes[] = {1, 1, 0, 0};

	assert_int_equal(take(&t, bytes, sizeof(bytes)), -E2BIG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries_come_back_once_from_several_chunks),
		cmocka_unit_test(strings_were_added_before),
		cmocka_unit_test(malformed_lists_are_refused),
		cmocka_unit_test(a_list_may_expand_to_so_much),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
