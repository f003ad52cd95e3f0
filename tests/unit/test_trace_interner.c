// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/interner.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "qprof/trace_format.h"

static void the_same_text_has_the_same_id(void **state)
{
	struct interner t = {0};
	char text[16];
	uint32_t id;
	bool is_new;

	(void)state;
	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < 5000; i++) {
			snprintf(text, sizeof(text), "query_%u", i);
			assert_int_equal(interner__id(&t, text, &id, &is_new), 0);
			assert_int_equal(id, i);
			assert_int_equal(is_new, round == 0);
		}
	}
	assert_int_equal(interner__id(&t, "", &id, &is_new), 0);
	assert_int_equal(id, 5000);
	interner__destroy(&t);
}

static void an_added_text_is_never_found(void **state)
{
	struct interner t = {0};
	uint32_t added, id;
	bool is_new;

	(void)state;
	assert_int_equal(interner__add(&t, "typeck", &added), 0);
	assert_int_equal(interner__id(&t, "typeck", &id, &is_new), 0);
	assert_true(is_new && id != added);
	assert_string_equal(interner__text(&t, id), "typeck");
	assert_null(interner__text(&t, added));
	assert_int_equal(interner__add(&t, "typeck", &added), 0);
	assert_int_equal(added, 2);
	interner__destroy(&t);
}

static void a_text_beyond_the_limit_is_refused(void **state)
{
	_free_ char *text = malloc(QPT_TEXT_MAX + 2);
	struct interner t = {0};
	uint32_t id;
	bool is_new;

	(void)state;
	memset(text, 'x', QPT_TEXT_MAX + 1);
	text[QPT_TEXT_MAX + 1] = '\0';
	assert_int_equal(interner__id(&t, text, &id, &is_new), -E2BIG);
	assert_int_equal(t.n, 0);
	text[QPT_TEXT_MAX] = '\0';
	assert_int_equal(interner__id(&t, text, &id, &is_new), 0);
	interner__destroy(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_text_has_the_same_id),
		cmocka_unit_test(an_added_text_is_never_found),
		cmocka_unit_test(a_text_beyond_the_limit_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
