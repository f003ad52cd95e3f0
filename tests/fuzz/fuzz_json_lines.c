// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Reads any bytes as lines of a history. A build that is accepted is printed, and read again as the
 * same lines.
 */
#include <errno.h>

#include "history/json_lines.h"
#include "fuzz.h"

/* Print the first build of some lines as lines. */
static int print_again(const char *bytes, size_t size, char **text, size_t *len)
{
	_fclose_ FILE *in = fmemopen((void *)bytes, size, "r");
	_json_lines_ struct json_lines *l = NULL;
	_history_rows_ struct history_rows rows;
	FILE *out;
	int err;

	expect(in && !json_lines__new(in, &l));
	history_rows__init(&rows);
	err = json_lines__next(l, &rows);
	expect(err == 1 || err == 0 ||
	       ((err == -EBADMSG || err == -EPROTONOSUPPORT) && json_lines__problem(l)));
	if (err != 1)
		return err;
	out = open_memstream(text, len);
	expect(out && !json_lines__write(out, &rows) && !fclose(out));
	return 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_free_ char *text = NULL, *again = NULL;
	size_t len, len_again;

	if (!size || print_again((const char *)data, size, &text, &len) != 1)
		return 0;
	expect(print_again(text, len, &again, &len_again) == 1);
	expect(len == len_again && !memcmp(text, again, len));
	return 0;
}
