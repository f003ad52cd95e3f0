// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/markdown.h"

#include <errno.h>

#include "base/cleanup.h"
#include "base/format.h"

int markdown_code(FILE *out, const char *text)
{
	_free_ char *clean = format_clean(text);

	if (!clean)
		return -ENOMEM;
	fputc('`', out);
	for (const char *c = clean; *c; c++) {
		if (*c == '|')
			fputc('\\', out);
		fputc(*c == '`' ? '\'' : *c, out);
	}
	fputc('`', out);
	return 0;
}
