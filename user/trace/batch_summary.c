// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/batch_summary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Count beyond the room: a count that is too great means that the list is not complete. */
static void add_label(struct batch_summer *s, uint32_t label)
{
	struct batch_summary *sum = &s->summary;

	if (label >= s->n_seen_in) { /* virtual: its name is not known yet */
		sum->n_labels = QPT_INDEX_LABELS + 1;
		return;
	}
	if (s->seen_in[label] == s->batch)
		return;
	s->seen_in[label] = s->batch;
	if (sum->n_labels < QPT_INDEX_LABELS)
		sum->labels[sum->n_labels] = label;
	if (sum->n_labels <= QPT_INDEX_LABELS)
		sum->n_labels++;
}

static void add_process(struct batch_summary *sum, uint32_t process)
{
	if (sum->n_processes > QPT_INDEX_PROCESSES)
		return;
	for (uint32_t i = 0; i < sum->n_processes; i++)
		if (sum->processes[i] == process)
			return;
	if (sum->n_processes < QPT_INDEX_PROCESSES)
		sum->processes[sum->n_processes] = process;
	sum->n_processes++;
}

static void finish(struct batch_summary *sum)
{
	if (sum->n_processes > QPT_INDEX_PROCESSES)
		sum->n_processes = 0;
	if (sum->n_labels > QPT_INDEX_LABELS)
		sum->n_labels = 0;
	qsort(sum->processes, sum->n_processes, sizeof(*sum->processes), compare);
	qsort(sum->labels, sum->n_labels, sizeof(*sum->labels), compare);
}

int batch_summer__sum(struct batch_summer *s, const struct trace_span *spans, uint32_t n,
		      uint32_t n_strings)
{
	struct batch_summary *sum = &s->summary;

	if (n_strings &&
	    array__reserve_at(&s->seen_in, n_strings - 1, &s->n_seen_in, sizeof(*s->seen_in)))
		return -ENOMEM;
	if (!++s->batch) { /* the numbers have come round */
		memset(s->seen_in, 0, s->n_seen_in * sizeof(*s->seen_in));
		s->batch = 1;
	}
	sum->n = n;
	sum->n_processes = sum->n_labels = 0;
	sum->start_ns = UINT64_MAX;
	sum->end_ns = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (spans[i].start_ns < sum->start_ns)
			sum->start_ns = spans[i].start_ns;
		if (spans[i].end_ns > sum->end_ns)
			sum->end_ns = spans[i].end_ns;
		add_label(s, spans[i].label);
		if (!i || spans[i].process != spans[i - 1].process)
			add_process(sum, spans[i].process);
	}
	finish(sum);
	return 0;
}

/* Whether an ascending list holds all of another. An empty list stands for everything. */
static bool list_covers(const uint32_t *list, uint32_t n_list, const uint32_t *actual, uint32_t n)
{
	uint32_t at = 0;

	if (!n_list)
		return true;
	for (uint32_t i = 0; i < n; i++) {
		while (at < n_list && list[at] < actual[i])
			at++;
		if (at == n_list || list[at] != actual[i])
			return false;
	}
	return n;
}

bool batch_summary__covers(const struct batch_summary *indexed, const struct batch_summary *actual)
{
	return indexed->n == actual->n && indexed->start_ns <= actual->start_ns &&
	       indexed->end_ns >= actual->end_ns &&
	       list_covers(indexed->processes, indexed->n_processes, actual->processes,
			   actual->n_processes) &&
	       list_covers(indexed->labels, indexed->n_labels, actual->labels, actual->n_labels);
}

void batch_summer__destroy(struct batch_summer *s)
{
	free(s->seen_in);
	*s = (struct batch_summer){0};
}
