// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/item_output.h"

#include "test.h"
#include "../fixtures/output.h"
#include "../fixtures/sampled_trace.h"
#include "../fixtures/temporary.h"
#include "../fixtures/trace_dump.h"
#include "qprof/trace_format.h"

TEST_CASE_WITH(names_and_places_reach_the_trace, temporary_make, temporary_remove)
{
	_trace_output_ struct trace_output trace = {.writer = sampled_trace_open(temporary)};
	struct item_output o = {.trace = &trace};
	struct trace_piece pieces[2] = {{.text = "a"}, {.text = "::one"}};
	struct trace_mapping m = {.first = 7, .n = 1};
	struct trace_place place = {.line = 3, .call_file = TRACE_NO_STRING};
	const struct trace_span span = {.end_ns = 1, .invocation = 7};
	_free_ char *text = NULL;

	item_output__text(&o, "a", &pieces[0].id);
	pieces[0].text = NULL;
	item_output__foreign(&o, pieces[0].id);
	item_output__compose(&o, pieces, 2, &m.string);
	item_output__map(&o, &m);
	item_output__text(&o, "a.rs", &place.file);
	place.string = m.string;
	item_output__place(&o, &place);
	assert_int_equal(trace_writer__span(trace.writer, &span), 0);
	assert_int_equal(trace.err, 0);
	assert_int_equal(trace_writer__finish(trace.writer), 0);
	text = dump_trace(temporary);
	assert_contains(text, "typeck #7 event=a::one foreign at=a.rs:3\n");
}

TEST_CASE_WITH(more_names_than_there_is_room_for_are_left_out, temporary_make, temporary_remove)
{
	_trace_output_ struct trace_output trace = {.writer = sampled_trace_open(temporary)};
	struct item_output o = {.trace = &trace};
	const struct trace_mapping most = {.n = QPT_MAPPED_MAX}, more = {.n = 1};
	struct output out;
	uint32_t id = 77;

	output_begin(&out);
	item_output__map(&o, &most);
	item_output__map(&o, &more);
	item_output__map(&o, &more);
	item_output__text(&o, "late", &id);
	output_end(&out);
	assert_contains(out.text[1], "the trace has no room for more names of items");
	assert_one_line(out.text[1]);
	output_free(&out);
	assert_int_equal(id, TRACE_NO_STRING);
	assert_int_equal(trace.err, 0);
}

TEST_CASE(nothing_goes_into_a_trace_that_failed)
{
	_trace_output_ struct trace_output trace = {.err = -ENOSPC};
	struct item_output o = {.trace = &trace};
	const struct trace_mapping m = {.n = 1};
	uint32_t id = 77;

	item_output__text(&o, "a", &id);
	assert_int_equal(id, TRACE_NO_STRING);
	item_output__map(&o, &m);
	assert_int_equal(trace.err, -ENOSPC);
}

TEST_MAIN(NULL, NULL)
