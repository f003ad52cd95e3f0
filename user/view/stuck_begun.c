// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/format.h"
#include "view/stuck_view.h"

/* Rows that a line names: the outermost one, and the innermost. */
#define INNERMOST 3

static void put_clean(FILE *out, const char *text)
{
	_free_ char *clean = format_clean(text);

	fputs(clean ?: "?", out);
}

static void put_row(FILE *out, const struct stuck_row *row)
{
	const char *unknown = row->kind == WIRE_KIND_ACTIVITY ? "<some activity>" : "<some query>";

	put_clean(out, row->name ?: unknown);
	if (!row->item)
		return;
	fputc('(', out);
	put_clean(out, row->item);
	fputc(')', out);
}

static void put_rows(FILE *out, const struct stuck_rows *rows)
{
	for (uint32_t i = 0; i < rows->n; i++) {
		if (i)
			fputs(", ", out);
		if (i == 1 && rows->n > INNERMOST + 2) {
			fprintf(out, "%" PRIu32 " more, ", rows->n - 1 - INNERMOST);
			i = rows->n - INNERMOST;
		}
		put_row(out, &rows->items[i]);
	}
}

static void put_thread(FILE *out, const struct snapshot_process *process,
		       const struct snapshot_thread *thread)
{
	_free_ char *name = stuck_compile_name(process);
	char age[FORMAT_MAX];

	fputs("qprof-bpf: ", out);
	put_clean(out, name ?: "?");
	fprintf(out, ", compiler %d, started %s ago, is in ", (int)process->pid,
		format_duration(age, process->age_ns));
	put_rows(out, &thread->rows);
	fputs(thread->n_begun ? "; recorded as begun before\n" : "\n", out);
}

void stuck_begun(FILE *out, const struct snapshot *p)
{
	for (uint32_t i = 0; i < p->n; i++)
		for (uint32_t j = 0; j < p->processes[i].n_threads; j++)
			if (p->processes[i].threads[j].rows.n)
				put_thread(out, &p->processes[i], &p->processes[i].threads[j]);
}
