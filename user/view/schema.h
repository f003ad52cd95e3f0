/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The document that --schema prints, qprof-fields/1: each field of a JSON output, and its unit. */
#ifndef QPROF_VIEW_SCHEMA_H
#define QPROF_VIEW_SCHEMA_H

#include <stdio.h>

#include "view/json.h"

struct schema {
	struct json json; /* `json.err` is set once writing has failed */
	size_t n;
};

/* `of` is the schema of the output that is described, as "qprof-report/3". */
void schema__begin(struct schema *s, FILE *out, const char *of);

/* `path` has the names of the objects around the field, "a.b[]"; "" for the document itself. */
void schema__field(struct schema *s, const char *path, const char *name, const char *unit,
		   const char *text);

/* 0 or a negative errno. */
int schema__end(struct schema *s);

#endif /* QPROF_VIEW_SCHEMA_H */
