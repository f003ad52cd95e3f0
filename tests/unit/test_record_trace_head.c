// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/trace_output.h"

#include "test.h"
#include "trace/trace_id.h"

TEST_CASE(it_names_the_machine_and_the_command)
{
	char *const command[] = {(char *)"cargo", (char *)"build", (char *)"-r", NULL};
	_trace_head_ struct trace_head head;
	struct trace_info info;

	assert_int_equal(trace_head__init(&head, command, &info), 0);
	assert_string_equal(info.command, "cargo build -r");
	assert_string_equal(info.host, head.machine.nodename);
	assert_true(info.cpus > 0);
	assert_true(trace_id__is_set(&info.id));
	assert_int_equal(info.realtime_start_ns, 0);
}

TEST_CASE(there_may_be_no_command)
{
	char *const empty[] = {NULL};
	_trace_head_ struct trace_head head;
	struct trace_info info;

	assert_int_equal(trace_head__init(&head, NULL, &info), 0);
	assert_null(info.command);
	trace_head__destroy(&head);
	assert_int_equal(trace_head__init(&head, empty, &info), 0);
	assert_string_equal(info.command, "");
}

TEST_MAIN(NULL, NULL)
