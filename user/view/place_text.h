/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Where the source of an item begins, as terminals and editors link it. */
#ifndef QPROF_VIEW_PLACE_TEXT_H
#define QPROF_VIEW_PLACE_TEXT_H

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/format.h"
#include "trace/trace.h"

/* "src/lib.rs:12", which the caller frees, or "" if it is unknown. NULL: no memory. */
static inline char *place_text(const struct trace_texts *names, uint32_t string)
{
	const struct trace_place *place = trace_texts__place(names, string);
	_free_ char *file = format_clean(place ? names->text(names->ctx, place->file) : "");
	char *text;

	if (!file || !place)
		return take_ptr(file);
	return asprintf(&text, "%s:%" PRIu32, file, place->line) < 0 ? NULL : text;
}

/* Below `dir` and `components` more; NULL if it is not there. */
static inline const char *place_below(const char *path, const char *dir, unsigned int components)
{
	const char *below = strstr(path, dir);

	below = below ? below + strlen(dir) : NULL;
	for (; below && components; components--) {
		below = strchr(below, '/');
		below = below ? below + 1 : NULL;
	}
	return below;
}

/*
 * The source of a downloaded package without the directory of these: "itertools-0.10.3/src/lib.rs".
 * Nobody edits it. Other absolute paths are whole, so that they are links: cargo has them for
 * packages beside the workspace.
 */
static inline const char *place_in_package(const char *path)
{
	static const struct {
		const char *dir;
		unsigned int components; /* below it, before the package */
	} downloads[] = {
		{"/registry/src/", 1},
		{"/git/checkouts/", 0},
		{"/usr/share/cargo/registry/", 0},
		{"/lib/rustlib/src/rust/library/", 0},
	};
	const char *below = NULL;

	if (*path != '/')
		return path;
	for (size_t i = 0; i < N_OF(downloads) && !below; i++)
		below = place_below(path, downloads[i].dir, downloads[i].components);
	/* The name of the standard library's own files without its sources. */
	if (!below && !strncmp(path, "/rustc/", 7))
		below = place_below(path, "/library/", 0);
	return below ?: path;
}

#endif /* QPROF_VIEW_PLACE_TEXT_H */
