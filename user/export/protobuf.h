/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Appends fields of protobuf messages to a buffer. A nested message is made in its own buffer
 * first. There are two formats with a dozen small messages each; a library would need generated
 * code, and an object for each of millions of events.
 */
#ifndef QPROF_EXPORT_PROTOBUF_H
#define QPROF_EXPORT_PROTOBUF_H

#include "export/out.h"
#include "trace/bytes.h"

void protobuf__varint(struct byte_buffer *b, unsigned int field, uint64_t value);
void protobuf__double(struct byte_buffer *b, unsigned int field, double value);

/* A string; bytes that are not UTF-8 become U+FFFD. */
void protobuf__text(struct byte_buffer *b, unsigned int field, const char *text);

/* A nested message, or packed numbers. */
void protobuf__message(struct byte_buffer *b, unsigned int field,
		       const struct byte_buffer *message);

/* Write a nested message, and clear it. 0, -ENOMEM, or out__error(). */
int protobuf__put(struct out *out, unsigned int field, struct byte_buffer *message);

#endif /* QPROF_EXPORT_PROTOBUF_H */
