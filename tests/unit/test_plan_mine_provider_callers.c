// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/between.h"

#include "test.h"
#define LIBRARY "provider_callers.so"
#include "../fixtures/image.h"

/* The callers that are found of two providers; NULL: none. */
static void assert_callers(const char *first, const char *second, const char *of_first,
			   const char *of_second)
{
	struct plan_query queries[] = {{.provider = first ? symbol(img, first)->addr : 0},
				       {.provider = symbol(img, second)->addr}};
	struct plan plan = {.queries = queries, .n_queries = 2};

	assert_int_equal(provider_callers_find(img, decoder, &plan), 0);
	assert_int_equal(queries[0].provider_caller, of_first ? symbol(img, of_first)->addr : 0);
	assert_int_equal(queries[1].provider_caller, of_second ? symbol(img, of_second)->addr : 0);
}

TEST_CASE(a_provider_has_one_caller_or_none)
{
	/* Each provider has a caller of its own. */
	assert_callers("first", "second", "closure_of_first", "closure_of_second");
	/* All providers have one. */
	assert_callers("first", "closure_of_first", NULL, NULL);
	assert_callers(NULL, "second", NULL, NULL);
	/* A caller of several is none. */
	assert_callers("third", "fourth", NULL, NULL);
	/* Several callers are none. */
	assert_callers("first", "third", NULL, NULL);
}

TEST_MAIN(image_setup, image_teardown)
