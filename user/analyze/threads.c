// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/threads.h"

#include <errno.h>

#include "base/array.h"
#include "base/map.h"

struct thread {
	struct thread_row row; /* self_ns as it was measured */
	uint64_t self_probe_ns;
};

struct threads {
	struct thread *at;
	uint32_t n;
	uint32_t capacity;
	struct u64_map index; /* process << 32 | tid */
};

int threads__new(struct threads **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
}

static int find(struct threads *t, uint32_t process, uint32_t tid, struct thread **out)
{
	uint64_t key = (uint64_t)process << 32 | tid;
	uint32_t i = u64_map__get(&t->index, key);
	int err;

	if (i == U64_MAP_NONE) {
		err = array__reserve_one(&t->at, t->n, &t->capacity, sizeof(*t->at))
			      ?: u64_map__put(&t->index, key, t->n);
		if (err)
			return err;
		i = t->n++;
		t->at[i] = (struct thread){
			.row = {.process = process, .tid = tid, .last_label = TRACE_NO_STRING},
		};
	}
	*out = &t->at[i];
	return 0;
}

int threads__name(struct threads *t, const struct trace_thread *thread)
{
	struct thread *found;
	int err = find(t, thread->process, thread->tid, &found);

	if (!err)
		found->row.name = thread->name;
	return err;
}

int threads__span(struct threads *t, const struct trace_span *span, const struct trace_off *off)
{
	struct thread *found;
	int err;

	if (span->kind == TRACE_KIND_OFF_CPU)
		return 0;
	err = find(t, span->process, span->tid, &found);
	if (err)
		return err;
	found->row.count++;
	found->row.self_ns += span->self_ns;
	found->row.self_off_ns += off->self_off_ns;
	found->row.last_label = span->label;
	found->row.last_ns = span->end_ns;
	found->self_probe_ns += span->self_probe_ns;
	return 0;
}

uint32_t threads__n(const struct threads *t)
{
	return t->n;
}

struct thread_row threads__at(const struct threads *t, uint32_t i)
{
	struct thread_row row = t->at[i].row;

	row.self_ns = trace_without_probes(row.self_ns, t->at[i].self_probe_ns);
	return row;
}

void threads__free(struct threads *t)
{
	if (!t)
		return;
	free(t->at);
	u64_map__destroy(&t->index);
	free(t);
}
