// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/threads.h"

#include <errno.h>

#include "analyze/on_cpu.h"
#include "base/table.h"

struct thread {
	struct thread_row row; /* self_ns as measured, with probe time */
	uint64_t self_probe_ns;
};

struct threads {
	TABLE(struct thread) rows; /* by process << 32 | tid */
};

int threads__new(struct threads **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
}

static struct thread *get_thread(struct threads *t, uint32_t process, uint32_t tid)
{
	return table__get(&t->rows, (uint64_t)process << 32 | tid,
			  .row = {.process = process,
				  .tid = tid,
				  .last_label = TRACE_NO_STRING,
				  .last_invocation = TRACE_NO_INVOCATION});
}

int threads__name(struct threads *t, const struct trace_thread *thread)
{
	struct thread *found = get_thread(t, thread->process, thread->tid);

	if (!found)
		return -ENOMEM;
	found->row.name = thread->name;
	return 0;
}

int threads__span(struct threads *t, const struct trace_span *span, const struct trace_times *times)
{
	struct thread *found;

	if (span->kind == TRACE_KIND_OFF_CPU)
		return 0;
	found = get_thread(t, span->process, span->tid);
	if (!found)
		return -ENOMEM;
	found->row.count++;
	found->row.self_ns += times->self_ns;
	found->row.self_off_ns += times->self_off_ns;
	found->row.last_label = span->label;
	found->row.last_invocation = span->invocation;
	found->row.last_ns = span->end_ns;
	found->self_probe_ns += times->self_probe_ns;
	return 0;
}

int threads__sample(struct threads *t, const struct trace_sample *sample)
{
	return get_thread(t, sample->process, sample->tid) ? 0 : -ENOMEM;
}

uint32_t threads__n(const struct threads *t)
{
	return t->rows.n;
}

struct thread_row threads__at(const struct threads *t, uint32_t i)
{
	struct thread_row row = t->rows.at[i].row;

	row.self_ns = trace_without_probes(row.self_ns, t->rows.at[i].self_probe_ns);
	row.cpu_ns = on_cpu_ns(row.self_ns, row.self_off_ns);
	return row;
}

void threads__free(struct threads *t)
{
	if (!t)
		return;
	table__destroy(&t->rows);
	free(t);
}
