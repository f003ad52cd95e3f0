// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/item_output.h"

#include <errno.h>

#include "base/diag.h"

static void wrote(struct item_output *o, int err, bool *full, const char *kind)
{
	*full = err == -E2BIG;
	if (*full)
		diag_warn("the trace has no room for more %s of items", kind);
	else
		trace_output__wrote(o->trace, err);
}

static void wrote_name(struct item_output *o, int err)
{
	wrote(o, err, &o->names_full, "names");
}

static bool takes_names(const struct item_output *o)
{
	return !o->trace->err && !o->names_full;
}

int item_output__text(void *items, const char *text, uint32_t *id)
{
	struct item_output *o = items;

	*id = TRACE_NO_STRING;
	if (takes_names(o))
		wrote_name(o, trace_writer__intern(o->trace->writer, text, id));
	return 0;
}

int item_output__compose(void *items, const struct trace_piece *pieces, uint32_t n, uint32_t *id)
{
	struct item_output *o = items;

	*id = TRACE_NO_STRING;
	if (takes_names(o))
		wrote_name(o, trace_writer__compose(o->trace->writer, pieces, n, id));
	return 0;
}

int item_output__foreign(void *items, uint32_t id)
{
	struct item_output *o = items;

	if (takes_names(o))
		wrote_name(o, trace_writer__foreign(o->trace->writer, id));
	return 0;
}

void item_output__map(struct item_output *o, const struct trace_mapping *m)
{
	if (takes_names(o))
		wrote_name(o, trace_writer__map(o->trace->writer, m));
}

void item_output__name(const struct item_output *o, const struct trace_mapping *m, uint32_t id,
		       char **text)
{
	uint32_t at = id - m->first, string;

	if (!takes_names(o) || id < m->first || at >= m->n)
		return;
	string = m->strings ? m->strings[at] : m->string + (m->series ? at : 0);
	/* An execution without a name has a string that does not exist. */
	trace_writer__text(o->trace->writer, string, text);
}

int item_output__place(void *items, const struct trace_place *place)
{
	struct item_output *o = items;

	if (takes_names(o) && !o->places_full)
		wrote(o, trace_writer__place(o->trace->writer, place), &o->places_full,
		      "files and lines");
	return 0;
}
