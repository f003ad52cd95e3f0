// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "base/diag.h"

#include <stdio.h>

static enum diag_level current_level = DIAG_NORMAL;

static struct {
	char *text; /* NULL: errors are printed */
	size_t size;
} held;

void diag_set_level(enum diag_level level)
{
	current_level = level;
}

enum diag_level diag_level(void)
{
	return current_level;
}

void diag_hold_errors(char *text, size_t size)
{
	held.text = text;
	held.size = size;
}

static void vsay(const char *prefix, const char *fmt, va_list ap)
{
	/* One write per line: rustc and cargo share our stderr. */
	char line[2048];
	int n = snprintf(line, sizeof(line), "qprof-bpf: %s", prefix);

	vsnprintf(line + n, sizeof(line) - n, fmt, ap);
	fprintf(stderr, "%s\n", line);
}

#define DEFINE_SAY(name, prefix, least)      \
	void name(const char *fmt, ...)      \
	{                                    \
		va_list ap;                  \
                                             \
		if (current_level < (least)) \
			return;              \
		va_start(ap, fmt);           \
		vsay(prefix, fmt, ap);       \
		va_end(ap);                  \
	}

void diag_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (held.text)
		vsnprintf(held.text, held.size, fmt, ap);
	else
		vsay("error: ", fmt, ap);
	va_end(ap);
}

DEFINE_SAY(diag_warn, "warning: ", DIAG_NORMAL)
DEFINE_SAY(diag_info, "", DIAG_NORMAL)
DEFINE_SAY(diag_verbose, "", DIAG_VERBOSE)
