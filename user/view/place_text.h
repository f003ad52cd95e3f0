/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Where the source of an item begins, as terminals and editors link it. */
#ifndef QPROF_VIEW_PLACE_TEXT_H
#define QPROF_VIEW_PLACE_TEXT_H

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/format.h"
#include "trace/trace.h"

/* Set *out to "src/lib.rs:12", which the caller frees, or to "" if it is unknown. -ENOMEM. */
static inline int place_text(const struct trace_texts *names, uint32_t string, char **out)
{
	const struct trace_place *place = trace_texts__place(names, string);
	_free_ char *file = format_clean(place ? names->text(names->ctx, place->file) : "");
	int len;

	if (!file)
		return -ENOMEM;
	len = place ? asprintf(out, "%s:%" PRIu32, file, place->line) : asprintf(out, "%s", file);
	return len < 0 ? -ENOMEM : 0;
}

/*
 * Where an absolute path becomes one of its package: "itertools-0.10.3/src/lib.rs". Sources of
 * dependencies are far from the workspace, and mostly not where someone edits.
 */
static inline const char *place_in_package(const char *path)
{
	const char *src = NULL, *next = *path == '/' ? strstr(path, "/src/") : NULL;

	for (; next; next = strstr(next + 1, "/src/"))
		src = next;
	while (src && src > path && src[-1] != '/')
		src--;
	return src ?: path;
}

#endif /* QPROF_VIEW_PLACE_TEXT_H */
