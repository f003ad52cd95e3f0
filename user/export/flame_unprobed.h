/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Which part of the time between a query's probes was its own, where a budget left other queries
 * without probes: samples say that, as in a report.
 */
#ifndef QPROF_EXPORT_FLAME_UNPROBED_H
#define QPROF_EXPORT_FLAME_UNPROBED_H

#include "base/cleanup.h"
#include "trace/reader.h"

struct unprobed;

/* -ENOMEM. The reader must outlive it. */
int unprobed__new(const struct trace_reader *r, struct unprobed **out);

/* Take each item of the trace. Errors as model__item(). */
int unprobed__item(struct unprobed *u, const struct trace_item *item);

/* After the last item. -ENOMEM, or -EOVERFLOW as samples__rows(). */
int unprobed__end(struct unprobed *u);

/* The part, from 0 to 1, of the label's time on the CPU; 1 where samples show no other query. */
double unprobed__own(const struct unprobed *u, uint32_t label);

void unprobed__free(struct unprobed *u);

#endif /* QPROF_EXPORT_FLAME_UNPROBED_H */
