/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The INFO chunk, with which a trace begins. */
#ifndef QPROF_TRACE_INFO_H
#define QPROF_TRACE_INFO_H

#include "trace/bytes.h"
#include "trace/trace.h"

/* Append the payload to `out`. */
void trace_info__store(const struct trace_info *info, struct byte_buffer *out);

/*
 * Read a payload into `*info`, whose texts are to be cleared in any case. 0; -EBADMSG if it is
 * malformed; -ENOMEM.
 */
int trace_info__take(struct trace_info *info, struct byte_reader *in);

/* Free the texts. */
void trace_info__clear(struct trace_info *info);

#endif /* QPROF_TRACE_INFO_H */
