// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Limits on changes that noise may hide. tests/unit/test_cli_cmd_diff.c has the others. */
#include "cli/gates.h"

#include "options/exit_code.h"
#include "test.h"

#define MS 1000000ull

static int sum_of(void *ctx, compare_pick *pick, const void *pick_ctx, struct compare_row *out)
{
	*out = *(const struct compare_row *)ctx;
	return 1;
}

static struct spread all(uint64_t ns)
{
	return (struct spread){.n = 1, .median = ns, .min = ns, .max = ns};
}

/* The CPU time was 1 s, and is `ns` now. */
static struct diff_gate judged(uint64_t ns, uint64_t noise_ppm, uint64_t limit_ppm, int *status)
{
	struct compare_row row = {
		.compared = true,
		.too_noisy = noise_ppm > COMPARE_NOISE_MOST,
		.noise_ppm = noise_ppm,
		.of[COMPARE_CPU] = {all(1000 * MS), all(ns)},
	};
	const struct compare_result result = {
		.rules = {.metric = COMPARE_CPU},
		.noise_is_estimated = true,
		.noise_ppm = noise_ppm,
		.too_noisy = row.too_noisy,
	};
	struct cli_gate limit = {.text = "limit", .limit.ppm = limit_ppm};
	const struct cli_gates limits = {.gates = &limit, .n = 1};
	struct diff_gate gate = {};
	struct diff_view v = {.result = &result, .n_gates = 1};

	assert_int_equal(gates__judge(&limits, &result.rules, sum_of, &row, "report", &gate), 0);
	gates__decide(true, &v, &gate);
	*status = v.status;
	return gate;
}

/* 18 % more where a machine that is busy may have 60 % more or less. */
TEST_CASE(a_limit_within_the_noise_has_no_verdict)
{
	static const struct {
		uint64_t ns, noise, limit;
		enum diff_verdict verdict;
	} cases[] = {
		{1183 * MS, 600000, 200000, DIFF_NO_VERDICT},
		{1183 * MS, 600000, 100000, DIFF_NO_VERDICT},
		{1000 * MS, 600000, 200000, DIFF_NO_VERDICT},
		{700 * MS, 600000, 200000, DIFF_NO_VERDICT},
		/* Even so it is too little. */
		{500 * MS, 600000, 200000, DIFF_PASSED},
		{1183 * MS, 600000, 1000000, DIFF_PASSED},
		{1000 * MS, UINT64_MAX, 1000000, DIFF_NO_VERDICT},
		/* An estimate that is worth something. */
		{1040 * MS, 80000, 100000, DIFF_PASSED},
		{1183 * MS, 80000, 200000, DIFF_PASSED},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int status;
		struct diff_gate gate =
			judged(cases[i].ns, cases[i].noise, cases[i].limit, &status);

		if (gate.verdict != cases[i].verdict)
			fail_msg("case %zu: %d", i, gate.verdict);
		assert_int_equal(status,
				 gate.verdict == DIFF_PASSED ? EXIT_CODE_OK : EXIT_CODE_FAILURE);
		if (gate.verdict == DIFF_NO_VERDICT)
			assert_string_equal(gate.why, "there is too much noise");
	}
}

TEST_MAIN(NULL, NULL)
