// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "cli/dump_stacks.h"

#include "test.h"
#include "../fixtures/output.h"
#include "../fixtures/sampled_trace.h"
#include "../fixtures/temporary.h"

static struct trace_reader *read_whole(void)
{
	struct trace_reader *r = NULL;
	struct trace_item item;

	assert_int_equal(trace_reader__open(temporary, &r, NULL), 0);
	while (!trace_reader__next(r, &item) && item.kind != TRACE_ITEM_END)
		;
	assert_null(trace_reader__problem(r));
	return r;
}

static char *printed(struct dump_stacks *d, const struct trace_reader *r, uint32_t stack)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(dump_stacks__print(d, r, stack, out), 0);
	fclose(out);
	return text;
}

#define LOCATION(locindex, function, offset)                                        \
	"\"location\":{\"locindex\":" #locindex ",\"function\":\"" function         \
	"\",\"offset\":" #offset ",\"file\":null,\"line\":null,\"library\":\"/lib/" \
	"librustc_driver.so\"}}\n"

static void entries_are_printed_once_and_the_outermost_first(void **state)
{
	_trace_writer_ struct trace_writer *w = sampled_trace_open(temporary);
	struct dump_stacks d = {0};
	uint32_t first, second, unknown;
	struct trace_reader *r;
	char *text;

	sampled_trace_begin(w);
	first = sampled_trace_stack(w, SAMPLED_TYPECK, 5);
	second = sampled_trace_stack(w, SAMPLED_TYPECK, 6);
	unknown = sampled_trace_entry(w, first, TRACE_STACK_UNKNOWN, 0);
	unknown = sampled_trace_entry(w, unknown, TRACE_STACK_LOCATION, TRACE_NO_LOCATION);
	assert_int_equal(trace_writer__finish(w), 0);
	r = read_whole();
	text = printed(&d, r, first);
	assert_string_equal(
		text, "{\"type\":\"stack\",\"id\":1,\"parent\":null,\"depth\":1," LOCATION(
			      8, "rustc_driver::main",
			      7) "{\"type\":\"stack\",\"id\":2,\"parent\":1,\"depth\":2,"
				 "\"query\":\"typeck\",\"kind\":\"Query\"}\n"
				 "{\"type\":\"stack\",\"id\":3,\"parent\":2,\"depth\":3," LOCATION(
					 106, "rustc_hir::walk", 5));
	free(text);
	text = printed(&d, r, second);
	assert_string_equal(text, "{\"type\":\"stack\",\"id\":4,\"parent\":2,\"depth\":3," LOCATION(
					  107, "rustc_hir::walk", 6));
	free(text);
	text = printed(&d, r, unknown);
	assert_string_equal(text, "{\"type\":\"stack\",\"id\":5,\"parent\":3,\"depth\":4,"
				  "\"query\":null,\"kind\":\"Query\"}\n"
				  "{\"type\":\"stack\",\"id\":6,\"parent\":5,\"depth\":5,"
				  "\"location\":{\"locindex\":0,\"function\":null,\"offset\":null,"
				  "\"file\":null,\"line\":null,\"library\":null}}\n");
	free(text);
	text = printed(&d, r, TRACE_NO_STACK);
	assert_string_equal(text, "");
	free(text);
	dump_stacks__clear(&d);
	trace_reader__free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(entries_are_printed_once_and_the_outermost_first,
						temporary_make, temporary_remove),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
