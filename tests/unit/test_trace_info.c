// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/info.h"

#include "test.h"
#include "trace/trace.h"
#include "trace/trace_id.h"

#define _trace_info_ __cleanup(trace_info__clear)

#define _byte_buffer_ __cleanup(byte_buffer__destroy)

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
	.events = "default,-passes",
};

static int take(const uint8_t *at, size_t size, struct trace_info *info)
{
	struct byte_reader in = {.at = at, .end = at + size};

	*info = (struct trace_info){0};
	return trace_info__take(info, &in);
}

TEST_CASE(a_payload_is_read_as_it_was_stored)
{
	_byte_buffer_ struct byte_buffer out = {0};
	_trace_info_ struct trace_info info;

	trace_info__store(&full, &out);
	assert_int_equal(take(out.data, out.size, &info), 0);
	assert_struct(info, tool, full.tool, kernel, full.kernel, host, full.host, clock,
		      full.clock, clock_start_ns, full.clock_start_ns, realtime_start_ns,
		      full.realtime_start_ns);
	assert_memory_equal(&info.id, &full.id, sizeof(info.id));
	assert_struct(info, cpus, full.cpus, command, full.command, events, full.events);
}

TEST_CASE(no_command_is_read_as_none)
{
	const struct trace_info none = {.tool = (char *)"t"};
	_byte_buffer_ struct byte_buffer out = {0};
	_trace_info_ struct trace_info info;

	trace_info__store(&none, &out);
	assert_int_equal(take(out.data, out.size, &info), 0);
	assert_struct(info, command, NULL, events, NULL);
}

/* Older writers ended the payload after the host, the clock, a budget or the command. */
TEST_CASE(a_cut_payload_is_refused)
{
	_byte_buffer_ struct byte_buffer out = {0};
	/* Bytes at the end. */
	size_t events = 1 + strlen(full.events);
	size_t later = sizeof(full.id) + 1 + 1 + strlen(full.command) + events, budget = 1,
	       clock = 1;
	struct trace_info info;

	trace_info__store(&full, &out);
	for (size_t size = 0; size < out.size; size++) {
		size_t left = out.size - size;
		bool whole = left == events || left == later || left == later + budget ||
			     left == later + budget + clock;

		assert_int_equal(take(out.data, size, &info), whole ? 0 : -EBADMSG);
		trace_info__clear(&info);
	}
}

TEST_CASE(a_budget_of_earlier_versions_is_passed_over)
{
	_byte_buffer_ struct byte_buffer now = {0}, earlier = {0};
	size_t later = sizeof(full.id) + 1 + 1 + strlen(full.command) + 1 + strlen(full.events);
	size_t before;
	_trace_info_ struct trace_info info;

	trace_info__store(&full, &now);
	before = now.size - later - 1;
	byte_buffer__bytes(&earlier, now.data, before);
	byte_buffer__varint(&earlier, 30000);
	byte_buffer__bytes(&earlier, now.data + before + 1, later);
	assert_int_equal(take(earlier.data, earlier.size, &info), 0);
	assert_int_equal(info.clock, full.clock);
	assert_memory_equal(&info.id, &full.id, sizeof(info.id));
	assert_string_equal(info.command, full.command);
}

TEST_CASE(a_text_with_a_nul_is_refused)
{
	static const uint8_t bytes[] = {1, 1, 2, 'a', 0, 0, 0};
	_trace_info_ struct trace_info info;

	assert_int_equal(take(bytes, sizeof(bytes), &info), -EBADMSG);
}

/* ---- Losses ---------------------------------------------------------------------------------- */

TEST_CASE(every_cause_has_a_name_of_its_own)
{
	for (int i = 0; i < TRACE_LOSS_MAX; i++) {
		assert_true(strlen(trace_loss_text(i)) > 0);
		for (int j = 0; j < i; j++)
			assert_string_not_equal(trace_loss_name(i), trace_loss_name(j));
	}
	assert_string_equal(trace_loss_name(TRACE_LOST_RING_FULL), "ring_full");
	assert_string_equal(trace_loss_name(TRACE_COUNT_OPEN), "open");
}

TEST_CASE(there_is_nothing_past_the_end)
{
	assert_null(trace_loss_name(TRACE_LOSS_MAX));
	assert_null(trace_loss_text(TRACE_LOSS_MAX));
	assert_false(trace_loss_is_lost(TRACE_LOSS_MAX));
	assert_null(trace_loss_name((enum trace_loss) - 1));
}

TEST_CASE(only_what_is_missing_is_lost)
{
	struct trace_losses losses;
	uint64_t expected = 0;

	for (int i = 0; i < TRACE_LOSS_MAX; i++) {
		bool lost = i <= TRACE_LOST_TARGETS_FULL || i == TRACE_LOST_UNKNOWN_PROVIDER ||
			    i == TRACE_LOST_BAD_RECORD || i == TRACE_LOST_MAPPINGS ||
			    i == TRACE_LOST_COMPILERS;

		losses.count[i] = 1u << i;
		assert_int_equal(trace_loss_is_lost(i), lost);
		expected += lost ? 1u << i : 0;
	}
	assert_int_equal(trace_losses__total(&losses), expected);
}

/* ---- Process --------------------------------------------------------------------------------- */

TEST_CASE(a_copy_owns_its_texts)
{
	char command[] = "rustc a.rs", crate[] = "a";
	struct trace_process p = {.index = 3,
				  .pid = 7,
				  .end_ns = 9,
				  .exit_status = 256,
				  .command = command,
				  .crate = crate};
	struct trace_process copy;

	assert_int_equal(trace_process__copy(&copy, &p), 0);
	command[0] = crate[0] = 'X';
	assert_struct(copy, command, "rustc a.rs", crate, "a", crate_type, NULL, index, 3, pid, 7,
		      end_ns, 9, exit_status, 256);
	trace_process__clear(&copy);
	assert_struct(copy, command, NULL, exit_status, TRACE_EXIT_UNKNOWN);
	trace_process__clear(&copy);
}

/* ---- Trace id -------------------------------------------------------------------------------- */

static const struct trace_info info = {
	.tool = (char *)"qprof-bpf 0.1", .host = (char *)"h", .clock_start_ns = 5};
static const struct trace_process first = {
	.pid = 7, .start_ns = 9, .command = (char *)"rustc --crate-name a"};

static bool same(struct trace_id a, struct trace_id b)
{
	return !memcmp(&a, &b, sizeof(a));
}

TEST_CASE(the_text_has_the_usual_form)
{
	const struct trace_id id = {{0x0f, 0x1e, 0x2d, 0x3c, 0x4b, 0x5a, 0x49, 0x78, 0x86, 0x95,
				     0xa4, 0xb3, 0xc2, 0xd1, 0xe0, 0xff}};
	char text[TRACE_ID_TEXT];

	trace_id__text(&id, text);
	assert_string_equal(text, "0f1e2d3c-4b5a-4978-8695-a4b3c2d1e0ff");
}

TEST_CASE(every_new_trace_has_another)
{
	struct trace_id a = {}, b = {};
	char text[TRACE_ID_TEXT];

	assert_false(trace_id__is_set(&a));
	must(trace_id__make(&a), trace_id__make(&b));
	assert_true(trace_id__is_set(&a));
	assert_false(same(a, b));
	trace_id__text(&a, text);
	assert_int_equal(text[14], '4');
	assert_non_null(strchr("89ab", text[19]));
}

TEST_CASE(a_trace_keeps_its_id)
{
	struct trace_info with = info;

	assert_int_equal(trace_id__make(&with.id), 0);
	assert_true(same(trace_id_of(&with, &first), with.id));
	assert_true(same(trace_id_of(&with, NULL), with.id));
}

TEST_CASE(the_beginning_stands_for_a_missing_id)
{
	struct trace_id id = trace_id_of(&info, &first);
	struct trace_info other = info;
	struct trace_process other_first = first;
	char text[TRACE_ID_TEXT];

	trace_id__text(&id, text);
	/* It is in the stores of users: it must not change. */
	assert_string_equal(text, "d9cfc1a6-7191-8faf-9770-03e7618687c3");
	assert_true(same(id, trace_id_of(&info, &first)));
	assert_false(same(id, trace_id_of(&info, NULL)));
	other.realtime_start_ns++;
	assert_false(same(id, trace_id_of(&other, &first)));
	other_first.command = (char *)"rustc --crate-name b";
	assert_false(same(id, trace_id_of(&info, &other_first)));
}

TEST_MAIN(NULL, NULL)
