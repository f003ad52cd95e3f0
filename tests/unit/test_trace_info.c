// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/info.h"

#include "test.h"

static const struct trace_info full = {
	.tool = "qprof-bpf 1",
	.kernel = "6.18",
	.host = "h",
	.clock = TRACE_CLOCK_REALTIME,
	.clock_start_ns = 1ULL << 60,
	.realtime_start_ns = 7,
	.id = {{0x0f, 0x1e, [6] = 0x40, [8] = 0x80, [15] = 0xff}},
	.cpus = 8,
	.command = "cargo build",
};

static int take(const uint8_t *at, size_t size, struct trace_info *info)
{
	struct byte_reader in = {.at = at, .end = at + size};

	*info = (struct trace_info){0};
	return trace_info__take(info, &in);
}

static void a_payload_is_read_as_it_was_stored(void **state)
{
	struct byte_buffer out = {0};
	struct trace_info info;

	trace_info__store(&full, &out);
	assert_int_equal(take(out.data, out.size, &info), 0);
	assert_string_equal(info.tool, full.tool);
	assert_string_equal(info.kernel, full.kernel);
	assert_string_equal(info.host, full.host);
	assert_int_equal(info.clock, full.clock);
	assert_int_equal(info.clock_start_ns, full.clock_start_ns);
	assert_int_equal(info.realtime_start_ns, full.realtime_start_ns);
	assert_memory_equal(&info.id, &full.id, sizeof(info.id));
	assert_int_equal(info.cpus, full.cpus);
	assert_string_equal(info.command, full.command);
	trace_info__clear(&info);
	byte_buffer__destroy(&out);
}

static void no_command_is_read_as_none(void **state)
{
	const struct trace_info none = {.tool = (char *)"t"};
	struct byte_buffer out = {0};
	struct trace_info info;

	trace_info__store(&none, &out);
	assert_int_equal(take(out.data, out.size, &info), 0);
	assert_null(info.command);
	trace_info__clear(&info);
	byte_buffer__destroy(&out);
}

/* Older writers ended the payload after the host, the clock or a budget; all are valid. */
static void a_cut_payload_is_refused(void **state)
{
	struct byte_buffer out = {0};
	/* Bytes at the end. */
	size_t later = sizeof(full.id) + 1 + 1 + strlen(full.command), budget = 1, clock = 1;
	struct trace_info info;

	trace_info__store(&full, &out);
	for (size_t size = 0; size < out.size; size++) {
		size_t left = out.size - size;
		bool whole =
			left == later || left == later + budget || left == later + budget + clock;

		assert_int_equal(take(out.data, size, &info), whole ? 0 : -EBADMSG);
		trace_info__clear(&info);
	}
	byte_buffer__destroy(&out);
}

static void a_budget_of_earlier_versions_is_passed_over(void **state)
{
	struct byte_buffer now = {0}, earlier = {0};
	size_t later = sizeof(full.id) + 1 + 1 + strlen(full.command), before;
	struct trace_info info;

	trace_info__store(&full, &now);
	before = now.size - later - 1;
	byte_buffer__bytes(&earlier, now.data, before);
	byte_buffer__varint(&earlier, 30000);
	byte_buffer__bytes(&earlier, now.data + before + 1, later);
	assert_int_equal(take(earlier.data, earlier.size, &info), 0);
	assert_int_equal(info.clock, full.clock);
	assert_memory_equal(&info.id, &full.id, sizeof(info.id));
	assert_string_equal(info.command, full.command);
	trace_info__clear(&info);
	byte_buffer__destroy(&now);
	byte_buffer__destroy(&earlier);
}

static void a_text_with_a_nul_is_refused(void **state)
{
	static const uint8_t bytes[] = {1, 1, 2, 'a', 0, 0, 0};
	struct trace_info info;

	assert_int_equal(take(bytes, sizeof(bytes), &info), -EBADMSG);
	trace_info__clear(&info);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_payload_is_read_as_it_was_stored),
		cmocka_unit_test(no_command_is_read_as_none),
		cmocka_unit_test(a_cut_payload_is_refused),
		cmocka_unit_test(a_budget_of_earlier_versions_is_passed_over),
		cmocka_unit_test(a_text_with_a_nul_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
