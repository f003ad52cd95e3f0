/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Fields of protobuf messages, appended to a buffer; a message in another is made in a buffer of
 * its own first. Two formats with a dozen small messages each: a library would want generated
 * code, and an object for each of millions of events.
 */
#ifndef QPROF_EXPORT_PROTOBUF_H
#define QPROF_EXPORT_PROTOBUF_H

#include "trace/bytes.h"

void protobuf__varint(struct byte_buffer *b, unsigned int field, uint64_t value);
void protobuf__double(struct byte_buffer *b, unsigned int field, double value);

/* A string is UTF-8: bytes that are not become U+FFFD. */
void protobuf__text(struct byte_buffer *b, unsigned int field, const char *text);

/* A message, or packed numbers. */
void protobuf__message(struct byte_buffer *b, unsigned int field,
		       const struct byte_buffer *message);

#endif /* QPROF_EXPORT_PROTOBUF_H */
