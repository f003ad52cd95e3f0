/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The identity of a trace: a UUID, which stays when the file is copied or renamed. */
#ifndef QPROF_TRACE_TRACE_ID_H
#define QPROF_TRACE_TRACE_ID_H

#include "trace/trace.h"

/* 36 characters and a null. */
#define TRACE_ID_TEXT 37

/* A random one (version 4). 0 or a negative errno, as getrandom(2). */
int trace_id__make(struct trace_id *id);

/* False: the trace was written by a version that gave it none, or made from other profiles. */
bool trace_id__is_set(const struct trace_id *id);

/*
 * That of a trace. Without one, it is made of the trace's beginning (version 8): of INFO and of its
 * first process, which may be NULL; the same in every call.
 */
struct trace_id trace_id_of(const struct trace_info *info, const struct trace_process *first);

/* In lower case. */
void trace_id__text(const struct trace_id *id, char text[TRACE_ID_TEXT]);

#endif /* QPROF_TRACE_TRACE_ID_H */
