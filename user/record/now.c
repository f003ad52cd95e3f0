// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/now.h"

#include <string.h>

#include "base/cleanup.h"
#include "proc/processes.h"

#define EVERY_NS	   1000000000ull
#define THREADS_OF_PROCESS 32

bool now__ask(struct now *n, const struct now_source *from, const struct summary *s,
	      uint64_t time_ns)
{
	uint32_t processes = summary__n_processes(s), asked = 0, tids[NOW_THREADS];

	if (n->asked_ns && time_ns - n->asked_ns < EVERY_NS)
		return false;
	*n = (struct now){.asked_ns = time_ns};
	/* The latest first. */
	for (uint32_t i = processes; i-- && asked < TOP_NOW_MAX;) {
		const struct trace_process *p = summary__process_at(s, i);
		pid_t of_process[THREADS_OF_PROCESS];
		size_t n_tids;

		if (p->end_ns)
			continue;
		asked++;
		n_tids = process_tids((pid_t)p->pid, of_process, THREADS_OF_PROCESS);
		for (size_t k = 0; k < n_tids && n->n < NOW_THREADS; k++)
			n->threads[n->n++] = (struct now_thread){.process = p->index,
								 .tid = (uint32_t)of_process[k]};
	}
	for (uint32_t i = 0; i < n->n; i++)
		tids[i] = n->threads[i].tid;
	/* Without an answer, it is not known. */
	if (n->n)
		from->ask(from->ctx, tids, n->n);
	return true;
}

static bool is_about_item(const struct wire_open_frame *f)
{
	return f->kind == WIRE_KIND_QUERY && f->key &&
	       wire_key_crate(f->key) == WIRE_KEY_LOCAL_CRATE;
}

/* How much is known of what an interval is about: 2: an item; 1: an argument; 0: nothing. */
static int rank(const struct wire_open_frame *f)
{
	if (is_about_item(f))
		return 2;
	return f->kind == WIRE_KIND_ACTIVITY && f->key;
}

/* The outermost comes first. */
void now__frame(struct now *n, const struct wire_open_frame *r)
{
	if (n->tid != r->tid)
		n->innermost = n->about = (struct wire_open_frame){};
	n->tid = r->tid;
	if (r->kind == WIRE_KIND_QUERY || r->kind == WIRE_KIND_ACTIVITY)
		n->innermost = *r;
	if (rank(r) && rank(r) >= rank(&n->about))
		n->about = *r;
}

void now__stack(struct now *n, const struct wire_open_stack *r)
{
	bool any = n->tid == r->tid && n->innermost.tid && !r->torn;

	for (uint32_t i = 0; any && i < n->n; i++) {
		if (n->threads[i].tid != r->tid)
			continue;
		n->threads[i].found = true;
		n->threads[i].frame = n->about.tid ? n->about : n->innermost;
	}
	n->tid = 0;
	n->innermost = n->about = (struct wire_open_frame){};
}

bool now__take(struct now *n, const struct record *r)
{
	if (r->kind == WIRE_OPEN_FRAME)
		now__frame(n, r->open_frame);
	else if (r->kind == WIRE_OPEN_STACK)
		now__stack(n, r->open_stack);
	else
		return false;
	return true;
}

/* Of several threads: one of which most is known, of these the one that is in it longest. */
static const struct wire_open_frame *frame_of(const struct now *n, uint32_t process)
{
	const struct wire_open_frame *best = NULL;

	for (uint32_t i = 0; i < n->n; i++) {
		const struct wire_open_frame *f = &n->threads[i].frame;

		if (n->threads[i].process != process || !n->threads[i].found)
			continue;
		if (!best || rank(f) > rank(best) ||
		    (rank(f) == rank(best) && f->start_ns < best->start_ns))
			best = f;
	}
	return best;
}

static void set_path(char *to, size_t size, const char *path)
{
	size_t len = strlen(path), most = size - 1;
	const char *from = len > most ? path + len - most : path;

	while (from > path && ((unsigned char)*from & 0xc0) == 0x80)
		from++;
	memcpy(to, from, strlen(from) + 1);
}

void now_set_item(struct top_now *to, const char *path)
{
	set_path(to->item, sizeof(to->item), path);
}

void now_set_function(struct top_now *to, const char *path)
{
	set_path(to->function, sizeof(to->function), path);
}

static bool answer_for(const struct now *n, const struct now_source *from,
		       const struct trace_process *p, struct top_now *to)
{
	const struct wire_open_frame *f = frame_of(n, p->index);
	const char *name = f ? from->name(from->ctx, f) : NULL, *argument = NULL;
	_free_ char *item = NULL;

	if (!name)
		return false;
	*to = (struct top_now){.pid = p->pid};
	strncpy(to->name, name, sizeof(to->name) - 1);
	if (is_about_item(f) && from->item &&
	    !from->item(from->ctx, (pid_t)p->pid, p->crate, f->key, &item))
		now_set_item(to, item);
	if (f->kind == WIRE_KIND_ACTIVITY && from->argument)
		argument = from->argument(from->ctx, f);
	if (argument)
		now_set_item(to, argument);
	return true;
}

void now__answer(const struct now *n, const struct now_source *from, const struct summary *s,
		 struct top_nows *out)
{
	uint32_t last = TRACE_NO_PROCESS;

	out->n = 0;
	/* The threads of a process are next to each other. */
	for (uint32_t i = 0; i < n->n && out->n < TOP_NOW_MAX; i++) {
		const struct trace_process *p = summary__process_at(s, n->threads[i].process);

		if (n->threads[i].process == last || !p || p->end_ns)
			continue;
		last = n->threads[i].process;
		out->n += answer_for(n, from, p, &out->at[out->n]);
	}
}
