// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/wrap.h"

#include <stdbool.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/format.h"

static size_t width_of(const char *text, size_t len)
{
	_free_ char *word = strndup(text, len);

	return word ? format_width(word) : len;
}

void wrap_print(FILE *out, const char *text, size_t used, size_t width, size_t indent)
{
	bool begun = false; /* the line has a word */

	while (*text) {
		size_t blanks = strspn(text, " "), len = strcspn(text + blanks, " ");
		size_t takes = blanks + width_of(text + blanks, len);

		if (width && begun && len && used + takes > width) {
			fprintf(out, "\n%*s", (int)indent, "");
			takes -= blanks;
			used = indent;
		} else {
			fprintf(out, "%*s", (int)blanks, "");
		}
		fprintf(out, "%.*s", (int)len, text + blanks);
		used += takes;
		begun |= len;
		text += blanks + len;
	}
	fputc('\n', out);
}
