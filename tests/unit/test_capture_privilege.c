// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "test.h"
#include "capture/privilege.h"

#include "../fixtures/output.h"

#define BIT(n)	      (UINT64_C(1) << (n))
#define CAP_SYS_ADMIN BIT(21)
#define CAP_PERFMON   BIT(38)
#define CAP_BPF	      BIT(39)

static void assert_missing(uint64_t effective, int perf_events, int n, const char *names)
{
	char buf[128] = "what was there before";

	assert_int_equal(privilege_missing(effective, perf_events, buf, sizeof(buf)), n);
	assert_string_equal(buf, names);
}

TEST_CASE(capabilities_attach)
{
	/* Two capabilities attach. */
	assert_missing(0, 0, 2, "CAP_BPF, CAP_PERFMON");
	assert_missing(CAP_BPF, 0, 1, "CAP_PERFMON");
	assert_missing(CAP_PERFMON, 0, 1, "CAP_BPF");
	assert_missing(CAP_BPF | CAP_PERFMON, 0, 0, "");
	assert_missing(~(CAP_BPF | CAP_PERFMON | CAP_SYS_ADMIN), 0, 2, "CAP_BPF, CAP_PERFMON");
	/* The old one stands for both. */
	assert_missing(CAP_SYS_ADMIN, 0, 0, "");
	assert_missing(UINT64_MAX, 0, 0, "");
	/* Perf events need the old one. */
	assert_missing(CAP_BPF | CAP_PERFMON, 1, 1, "CAP_SYS_ADMIN");
	assert_missing(0, 1, 1, "CAP_SYS_ADMIN");
	assert_missing(CAP_SYS_ADMIN, 1, 0, "");
}

TEST_CASE(a_small_buffer_is_not_overrun)
{
	char buf[10] = "", guard = buf[9];

	assert_int_equal(privilege_missing(0, 0, buf, 9), 2);
	assert_string_equal(buf, "CAP_BPF,");
	assert_int_equal(buf[9], guard);
}

TEST_CASE(the_line_names_what_is_missing_or_what_forbids)
{
	char missing[128];
	struct output o;
	int n = privilege_missing(privilege_effective(), 1, missing, sizeof(missing));

	output_begin(&o);
	privilege_explain("attach", 1);
	output_end(&o);
	assert_string_equal(o.text[0], "");
	if (n)
		assert_contains(o.text[1],
				"cannot attach: missing CAP_SYS_ADMIN; run it with sudo");
	else
		assert_contains(o.text[1], "cannot attach: the kernel refused although");
	output_free(&o);
}

/* Attaching to later libraries takes all of these. No other capability is used after set-up. */
TEST_CASE(a_recording_keeps_what_it_uses)
{
	const uint64_t always =
		CAP_BPF | CAP_PERFMON | BIT(19) | BIT(2) | BIT(5) | BIT(24) | BIT(40);
	const uint64_t ids = BIT(6) | BIT(7), override = BIT(1);

	assert_int_equal(privilege_to_record(true, true), always | ids | CAP_SYS_ADMIN);
	assert_int_equal(privilege_to_record(true, false), always | ids | override | CAP_SYS_ADMIN);
	assert_int_equal(privilege_to_record(false, true) & ~CAP_SYS_ADMIN, always | ids);
}

/* With CAP_SYS_PTRACE, no capability that attaches a probe is kept. None is added. */
TEST_CASE(a_look_keeps_what_reads)
{
	const uint64_t reads = BIT(19) | BIT(2) | BIT(40);

	assert_int_equal(privilege_to_look(UINT64_MAX), reads);
	assert_int_equal(privilege_to_look(CAP_BPF | CAP_PERFMON | BIT(19)), BIT(19));
	assert_int_equal(privilege_to_look(CAP_BPF | CAP_PERFMON | CAP_SYS_ADMIN), CAP_PERFMON);
	assert_int_equal(privilege_to_look(0), 0);
}

TEST_MAIN(NULL, NULL)
