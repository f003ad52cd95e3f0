// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/record_reader.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

/* A record begins with its size, so that a later version may add fields. Empty if it is bad. */
static struct byte_reader take_fields(struct byte_reader *in)
{
	uint64_t size = byte_reader__varint_max(in, QPT_PAYLOAD_MAX);
	const uint8_t *bytes = byte_reader__bytes(in, size);

	if (in->bad)
		return (struct byte_reader){.bad = true};
	return (struct byte_reader){.at = bytes, .end = bytes + size};
}

/* Whether the current record is whole, and the last one of the list ends with its chunk. */
static bool is_whole(const struct record_reader *r, const struct byte_reader *in)
{
	return !in->bad && (r->n_left || in->at == in->end);
}

/*
 * Read a reference to a text: its string id + 1, or 0 for none. The text stays the string table's.
 * A reference to no string marks `in` bad. 0 or -ENOMEM.
 */
static int take_ref(struct record_reader *r, struct byte_reader *in, char **text)
{
	uint64_t ref = byte_reader__varint_max(in, r->names->n_strings);
	const char *found = NULL;
	int err = ref ? name_tables__repeat_text(r->names, ref - 1, &found) : 0;

	if (err == -ENOMEM)
		return err;
	in->bad |= err != 0;
	*text = err ? NULL : (char *)found;
	return 0;
}

static int take_process_fields(struct record_reader *r, struct byte_reader *in,
			       struct trace_process *p)
{
	char **texts[] = {&p->command,	     &p->crate,	   &p->crate_type,
			  &p->rustc_version, &p->build_id, &p->cwd};
	uint64_t flags, kill = 0;
	uint32_t status;

	p->index = byte_reader__varint_max(in, r->processes.n);
	flags = byte_reader__varint_max(in, QPT_PROCESS_LATE | QPT_PROCESS_EXITED);
	p->attached_late = flags & QPT_PROCESS_LATE;
	p->pid = byte_reader__varint_max(in, UINT32_MAX);
	p->parent_pid = byte_reader__varint_max(in, UINT32_MAX);
	p->start_ns = byte_reader__varint(in);
	p->end_ns = byte_reader__varint(in);
	status = byte_reader__varint_max(in, UINT32_MAX);
	p->exit_status = flags & QPT_PROCESS_EXITED ? (int32_t)status : TRACE_EXIT_UNKNOWN;
	for (size_t i = 0; i < N_OF(texts); i++)
		if (take_ref(r, in, texts[i]))
			return -ENOMEM;
	/* Files of earlier versions do not have these. */
	if (in->at < in->end)
		p->peak_bytes = byte_reader__varint(in);
	if (in->at < in->end)
		p->cpu_ns = byte_reader__varint(in);
	if (in->at < in->end)
		kill = byte_reader__varint(in);
	/* A later version may know more. */
	p->kill = kill <= QPT_KILL_OTHER ? (uint8_t)kill : TRACE_KILL_UNKNOWN;
	if (in->at < in->end && take_ref(r, in, &p->no_llvm))
		return -ENOMEM;
	return in->bad || p->index >= QPT_PROCESSES_MAX ? -EBADMSG : 0;
}

static int take_process(struct record_reader *r, struct byte_reader *in, struct trace_item *item)
{
	struct byte_reader fields = take_fields(in);
	struct trace_process record = {0};
	int err;

	if (in->bad)
		return -EBADMSG;
	err = take_process_fields(r, &fields, &record);
	if (err)
		return err;
	if (!is_whole(r, in))
		return -EBADMSG;
	item->process = process_list__set(&r->processes, &record);
	if (!item->process)
		return -ENOMEM;
	item->kind = TRACE_ITEM_PROCESS;
	return 0;
}

static int take_thread(struct record_reader *r, struct byte_reader *in, struct trace_item *item)
{
	struct trace_thread t = {.process = byte_reader__varint_max(in, UINT32_MAX)};
	uint64_t name;
	int err;

	t.tid = byte_reader__varint_max(in, UINT32_MAX);
	name = byte_reader__varint(in);
	if (in->bad || t.process >= r->processes.n || name >= r->names->n_strings)
		return -EBADMSG;
	err = name_tables__repeat_text(r->names, name, &t.name);
	err = err ?: thread_set__add(&r->threads, t.process, t.tid);
	if (err == -ENOMEM)
		return err;
	if (err || !is_whole(r, in))
		return -EBADMSG;
	r->n_names++;
	item->kind = TRACE_ITEM_THREAD;
	item->thread = t;
	return 0;
}

static int take_tally(struct record_reader *r, struct byte_reader *in, struct trace_item *item)
{
	struct trace_tally t = {.process = byte_reader__varint_max(in, UINT32_MAX)};

	t.label = byte_reader__varint_max(in, UINT32_MAX);
	t.events = byte_reader__varint(in);
	t.sum = byte_reader__varint(in);
	if (!is_whole(r, in) || t.process >= r->processes.n || t.label >= r->names->n_strings)
		return -EBADMSG;
	labels__resolve(&r->names->labels, &t.label, &t.kind);
	item->kind = TRACE_ITEM_TALLY;
	item->tally = t;
	return 0;
}

static int take_results(struct record_reader *r, struct byte_reader *in, struct trace_item *item)
{
	struct trace_results list = {.process = byte_reader__varint_max(in, UINT32_MAX)};
	uint64_t last = 0;

	if (!r->items)
		r->items = malloc(TRACE_RESULTS_MAX * sizeof(*r->items));
	if (!r->items)
		return -ENOMEM;
	list.label = byte_reader__varint_max(in, UINT32_MAX);
	list.kind = byte_reader__varint_max(in, TRACE_RESULTS_UNKNOWN);
	list.n = byte_reader__varint_max(in, TRACE_RESULTS_MAX);
	if (!expansion__results(r->names->expansion, list.n))
		return -E2BIG;
	for (uint32_t i = 0; i < list.n && !in->bad; i++) {
		last += bytes_unzigzag(byte_reader__varint(in));
		in->bad |= last >= r->names->n_strings;
		r->items[i] = (uint32_t)last;
	}
	if (!is_whole(r, in) || list.process >= r->processes.n || list.label >= r->names->n_strings)
		return -EBADMSG;
	list.items = r->items;
	item->kind = TRACE_ITEM_RESULTS;
	item->results = list;
	return 0;
}

static int take_rebuilt(struct record_reader *r, struct byte_reader *in, struct trace_item *item)
{
	struct trace_rebuilt rebuilt = {.crate = byte_reader__varint_max(in, UINT32_MAX)};
	uint64_t detail = byte_reader__varint_max(in, r->names->n_strings);
	uint64_t reason = byte_reader__varint(in);

	if (!is_whole(r, in) || rebuilt.crate >= r->names->n_strings)
		return -EBADMSG;
	rebuilt.detail = detail ? (uint32_t)detail - 1 : TRACE_NO_STRING;
	/* A later version may know more. */
	rebuilt.reason = reason < TRACE_REBUILT_MAX ? (uint8_t)reason : TRACE_REBUILT_UNKNOWN;
	item->kind = TRACE_ITEM_REBUILT;
	item->rebuilt = rebuilt;
	return 0;
}

static const struct list {
	int (*take)(struct record_reader *r, struct byte_reader *in, struct trace_item *item);
	const char *empty;
	const char *malformed;
} lists[] = {
	[QPT_PROCESSES] = {take_process, "a list of processes or threads is empty",
			   "a process record is malformed"},
	[QPT_THREADS] = {take_thread, "a list of processes or threads is empty",
			 "a thread record is malformed"},
	[QPT_TALLIES] = {take_tally, "a list of tallies is empty", "a tally is malformed"},
	[QPT_RESULTS] = {take_results, "a list of results is empty",
			 "a list of results is malformed"},
	[QPT_REBUILT] = {take_rebuilt, "a list of rebuilt crates is empty",
			 "a rebuilt crate is malformed"},
};

int record_reader__begin(struct record_reader *r, uint8_t type, struct byte_reader *in,
			 const char **why)
{
	r->type = type;
	r->n_left = byte_reader__varint_max(in, QPT_PAYLOAD_MAX);
	*why = lists[type].empty;
	return r->n_left ? 0 : -EBADMSG;
}

int record_reader__next(struct record_reader *r, struct byte_reader *in, struct trace_item *item,
			const char **why)
{
	r->n_left--;
	*why = lists[r->type].malformed;
	return lists[r->type].take(r, in, item);
}

/* Counts by a stable number; those of a later version are skipped. */
static bool take_counts(struct byte_reader *in, uint64_t *counts, uint64_t n_known)
{
	uint64_t n = byte_reader__varint_max(in, QPT_PAYLOAD_MAX);

	for (uint64_t i = 0; i < n && !in->bad; i++) {
		uint64_t count = byte_reader__varint(in);

		if (i < n_known)
			counts[i] = count;
	}
	return !in->bad && in->at == in->end;
}

int record_reader__losses(struct record_reader *r, struct byte_reader *in, struct trace_item *item,
			  const char **why)
{
	item->losses = (struct trace_losses){0};
	*why = "a record of losses is malformed";
	if (!take_counts(in, item->losses.count, TRACE_LOSS_MAX))
		return -EBADMSG;
	r->n_lost = trace_losses__total(&item->losses);
	item->kind = TRACE_ITEM_LOSSES;
	return 0;
}

int record_reader__sampling(struct byte_reader *in, struct trace_item *item, const char **why)
{
	uint64_t flags;

	item->sampling.hz = byte_reader__varint_max(in, UINT32_MAX);
	item->sampling.fault_period = byte_reader__varint_max(in, UINT32_MAX);
	flags = byte_reader__varint(in);
	*why = "the record of how it samples is malformed";
	if (in->bad)
		return -EBADMSG;
	item->sampling.off_cpu = flags & QPT_SAMPLING_OFF_CPU;
	item->sampling.light = flags & QPT_SAMPLING_LIGHT;
	item->sampling.queries = flags & QPT_SAMPLING_QUERIES;
	item->kind = TRACE_ITEM_SAMPLING;
	return 0;
}

int record_reader__costs(struct byte_reader *in, struct trace_item *item, const char **why)
{
	item->costs = (struct trace_costs){.subtracted = byte_reader__varint_max(in, 1)};
	*why = "a record of costs is malformed";
	if (!take_counts(in, item->costs.ps, TRACE_COST_MAX))
		return -EBADMSG;
	item->kind = TRACE_ITEM_COSTS;
	return 0;
}

int record_reader__overhead(struct byte_reader *in, struct trace_item *item, const char **why)
{
	item->overhead = (struct trace_overhead){};
	*why = "a record of what recording took is malformed";
	if (!take_counts(in, item->overhead.of, TRACE_OVERHEAD_MAX))
		return -EBADMSG;
	item->kind = TRACE_ITEM_OVERHEAD;
	return 0;
}

int record_reader__part(struct byte_reader *in, struct trace_item *item, const char **why)
{
	item->part = (uint32_t)byte_reader__varint_max(in, UINT32_MAX);
	*why = "the number of a part is malformed";
	if (in->bad || !item->part)
		return -EBADMSG;
	item->kind = TRACE_ITEM_PART;
	return 0;
}

void record_reader__destroy(struct record_reader *r)
{
	process_list__destroy(&r->processes);
	thread_set__destroy(&r->threads);
	free(r->items);
}
