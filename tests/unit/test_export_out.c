// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <fcntl.h>

#include "test.h"
#include "../fixtures/output.h"
#include "export/out.h"
typedef void (*put_fn)(struct out *o);

/* The output, which the caller frees. */
static char *written(put_fn put)
{
	char path[] = "/tmp/qprof-out-XXXXXX", *text;
	_close_ int fd = mkstemp(path);
	_out_ struct out *o = NULL;

	assert_int_equal(out__new(fd, &o), 0);
	put(o);
	assert_int_equal(out__flush(o), 0);
	text = output_read(path);
	assert_int_equal(strlen(text), out__size(o));
	unlink(path);
	return text;
}

static void assert_written(put_fn put, const char *expected)
{
	_free_ char *text = written(put);

	assert_string_equal(text, expected);
}

static void put_numbers(struct out *o)
{
	out__number(o, 0);
	out__text(o, " ");
	out__number(o, UINT64_MAX);
	out__text(o, " ");
	out__microseconds(o, 7);
	out__text(o, " ");
	out__microseconds(o, 1234567);
}

static void put_json(struct out *o)
{
	out__json(o, "a\"\\\n\x1f\x7f/\xc3\xa9\xff\xed\xa0\x80");
}

static void put_xml(struct out *o)
{
	out__xml(o, "<a b='c' d=\"e\">&\x01\n\xc3\xa9\xff\xef\xbf\xbf");
}

static void put_plain(struct out *o)
{
	out__plain(o, "a;b,\nc\x7f d\xc3\xa9\xff\xc2\x85\xe2\x80\xa8", ";,", '_');
}

static void texts_stay_in_what_they_are_in(void **state)
{
	assert_written(put_numbers, "0 18446744073709551615 0.007 1234.567");
	assert_written(put_json, "\"a\\\"\\\\\\u000a\\u001f\x7f/\xc3\xa9\xef\xbf\xbd"
				 "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
	assert_written(put_xml, "&lt;a b=&#39;c&#39; d=&quot;e&quot;&gt;&amp;\xef\xbf\xbd"
				"\xef\xbf\xbd\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd");
	assert_written(put_plain, "a_b__c_ d\xc3\xa9\xef\xbf\xbd__");
}

static char large[200001];

static void put_large(struct out *o)
{
	out__text(o, "x");
	out__text(o, large);
	out__text(o, "y");
}

static void text_larger_than_the_buffer_keeps_its_order(void **state)
{
	_free_ char *text = NULL;

	memset(large, '-', sizeof(large) - 1);
	text = written(put_large);
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
