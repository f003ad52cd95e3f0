// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/writer_state.h"

#include <errno.h>
#include <string.h>

/* References to texts are one more than the id; 0 is no text. */
static int intern_ref(struct trace_writer *w, const char *text, uint32_t *ref)
{
	int err;

	*ref = 0;
	if (!text)
		return 0;
	err = trace_writer__intern(w, text, ref);
	if (!err)
		++*ref;
	return err;
}

static uint8_t *store_process(uint8_t *at, const struct trace_process *p, const uint32_t refs[6])
{
	bool exited = p->exit_status != TRACE_EXIT_UNKNOWN;

	at = bytes_store_varint(at, p->index);
	at = bytes_store_varint(at, (p->attached_late ? QPT_PROCESS_LATE : 0) |
					    (exited ? QPT_PROCESS_EXITED : 0));
	at = bytes_store_varint(at, p->pid);
	at = bytes_store_varint(at, p->parent_pid);
	at = bytes_store_varint(at, p->start_ns);
	at = bytes_store_varint(at, p->end_ns);
	at = bytes_store_varint(at, exited ? (uint32_t)p->exit_status : 0);
	for (int i = 0; i < 6; i++)
		at = bytes_store_varint(at, refs[i]);
	return at;
}

int trace_writer__process(struct trace_writer *w, const struct trace_process *p)
{
	const char *texts[6] = {p->command,	  p->crate,    p->crate_type,
				p->rustc_version, p->build_id, p->cwd};
	uint8_t record[13 * BYTES_VARINT_MAX];
	uint32_t refs[6];
	size_t size;

	if (w->sink.file.error)
		return w->sink.file.error;
	if (p->index > w->n_processes || p->index >= QPT_PROCESSES_MAX)
		return -EINVAL;
	for (int i = 0; i < 6; i++) {
		int err = intern_ref(w, texts[i], &refs[i]);

		if (err)
			return err;
	}
	size = store_process(record, p, refs) - record;
	byte_buffer__varint(&w->new_processes.body, size);
	byte_buffer__bytes(&w->new_processes.body, record, size);
	w->n_processes += p->index == w->n_processes;
	return writer__added(w, &w->new_processes);
}

int trace_writer__thread(struct trace_writer *w, const struct trace_thread *t)
{
	uint32_t name;
	int err;

	if (t->process >= w->n_processes)
		return -EINVAL;
	err = trace_writer__intern(w, t->name, &name);
	if (!err)
		err = thread_set__add(&w->threads, t->process, t->tid);
	if (err)
		return err;
	byte_buffer__varint(&w->new_threads.body, t->process);
	byte_buffer__varint(&w->new_threads.body, t->tid);
	byte_buffer__varint(&w->new_threads.body, name);
	return writer__added(w, &w->new_threads);
}

int trace_writer__tally(struct trace_writer *w, const struct trace_tally *t)
{
	struct byte_buffer *body = &w->tallies.body;
	uint32_t label = t->label;
	int err = w->sink.file.error;

	if (err)
		return err;
	if (t->process >= w->n_processes || label >= w->strings.n)
		return -EINVAL;
	err = writer__label(w, &label, t->kind);
	if (err)
		return err;
	byte_buffer__varint(body, t->process);
	byte_buffer__varint(body, label);
	byte_buffer__varint(body, t->events);
	byte_buffer__varint(body, t->sum);
	return writer__added_tally(w);
}

/* A record of its own size: a later version may say more. */
int trace_writer__decision(struct trace_writer *w, const struct trace_decision *d)
{
	uint8_t record[5 * BYTES_VARINT_MAX], *at = record;
	uint32_t label = d->label;
	int err = w->sink.file.error;

	if (err)
		return err;
	if (label >= w->strings.n || d->watch >= TRACE_WATCH_MAX)
		return -EINVAL;
	err = writer__label(w, &label, d->kind);
	if (err)
		return err;
	at = bytes_store_varint(at, d->time_ns);
	at = bytes_store_varint(at, label);
	at = bytes_store_varint(at, d->watch);
	at = bytes_store_varint(at, d->cost_ppm);
	at = bytes_store_varint(at, d->budget_ppm);
	byte_buffer__varint(&w->new_decisions.body, at - record);
	byte_buffer__bytes(&w->new_decisions.body, record, at - record);
	return writer__added(w, &w->new_decisions);
}

int trace_writer__losses(struct trace_writer *w, const struct trace_losses *losses)
{
	if (w->sink.file.error)
		return w->sink.file.error;
	/* "None" is news too: a file without the chunk cannot tell. */
	if (!w->losses_given || memcmp(&w->losses, losses, sizeof(*losses))) {
		w->losses_given = true;
		w->losses = *losses;
		w->losses_changed = true;
	}
	return 0;
}

int trace_writer__costs(struct trace_writer *w, const struct trace_costs *costs)
{
	byte_buffer__clear(&w->raw);
	byte_buffer__varint(&w->raw, costs->subtracted);
	byte_buffer__varint(&w->raw, TRACE_COST_MAX);
	for (int i = 0; i < TRACE_COST_MAX; i++)
		byte_buffer__varint(&w->raw, costs->ps[i]);
	return chunk_sink__write(&w->sink, QPT_COSTS, &w->raw, NULL);
}
