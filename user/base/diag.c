// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "base/diag.h"

#include <stdio.h>

static enum diag_level current_level = DIAG_NORMAL;

void diag_set_level(enum diag_level level)
{
	current_level = level;
}

enum diag_level diag_level(void)
{
	return current_level;
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

DEFINE_SAY(diag_error, "error: ", DIAG_QUIET)
DEFINE_SAY(diag_warn, "warning: ", DIAG_NORMAL)
DEFINE_SAY(diag_info, "", DIAG_NORMAL)
DEFINE_SAY(diag_verbose, "", DIAG_VERBOSE)
