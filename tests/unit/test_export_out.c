// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <fcntl.h>

#include "test.h"
#include "../fixtures/output.h"
#include "export/out.h"
/* The output of `call`, which writes to `o`; the caller frees it. */
#define WRITTEN(call)                                          \
	({                                                     \
		char path_[] = "/tmp/qprof-out-XXXXXX";        \
		_close_ int fd_ = mkstemp(path_);              \
		_out_ struct out *o = NULL;                    \
		char *text_;                                   \
                                                               \
		assert_int_equal(out__new(fd_, &o), 0);        \
		call;                                          \
		assert_int_equal(out__flush(o), 0);            \
		text_ = output_read(path_);                    \
		assert_int_equal(strlen(text_), out__size(o)); \
		unlink(path_);                                 \
		text_;                                         \
	})

#define assert_written(call, expected)               \
	do {                                         \
		_free_ char *text = WRITTEN(call);   \
                                                     \
		assert_string_equal(text, expected); \
	} while (0)

static void texts_stay_in_what_they_are_in(void **state)
{
	assert_written(out__number(o, 0), "0");
	assert_written(out__number(o, UINT64_MAX), "18446744073709551615");
	assert_written(out__json(o, "a\"\\\n\x1f\x7f/\xc3\xa9\xff\xed\xa0\x80"),
		       "\"a\\\"\\\\\\u000a\\u001f\\u007f/\xc3\xa9\xef\xbf\xbd"
		       "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
	assert_written(out__plain(o, "a;b,\nc\x7f d\xc3\xa9\xff\xc2\x85\xe2\x80\xa8", ";,", '_'),
		       "a_b__c_ d\xc3\xa9\xef\xbf\xbd__");
}

static void text_larger_than_the_buffer_keeps_its_order(void **state)
{
	static char large[200001];
	_free_ char *text = NULL;

	memset(large, '-', sizeof(large) - 1);
	text = WRITTEN({
		out__text(o, "x");
		out__text(o, large);
		out__text(o, "y");
	});
	assert_int_equal(strlen(text), sizeof(large) + 1);
	assert_int_equal(text[0], 'x');
	assert_int_equal(text[sizeof(large)], 'y');
}

static void the_first_error_stays(void **state)
{
	_close_ int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	_out_ struct out *o = NULL;

	assert_int_equal(out__new(fd, &o), 0);
	out__text(o, "x");
	assert_int_equal(out__error(o), 0);
	assert_int_equal(out__flush(o), -ENOSPC);
	assert_int_equal(out__error(o), -ENOSPC);
	assert_int_equal(out__flush(o), -ENOSPC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_stay_in_what_they_are_in),
		cmocka_unit_test(text_larger_than_the_buffer_keeps_its_order),
		cmocka_unit_test(the_first_error_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
