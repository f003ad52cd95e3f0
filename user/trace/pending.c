// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/pending.h"

int pending__write(struct pending *p, struct chunk_sink *sink, enum qpt_chunk_type type,
		   const uint32_t *head)
{
	struct byte_buffer *payload = chunk_sink__payload(sink);
	int err;

	if (!p->n)
		return 0;
	if (head)
		byte_buffer__varint(payload, *head);
	byte_buffer__varint(payload, p->n);
	byte_buffer__bytes(payload, p->body.data, p->body.size);
	payload->failed |= p->body.failed;
	err = chunk_sink__write(sink, type, payload, NULL);
	if (err)
		return err;
	byte_buffer__clear(&p->body);
	p->n = 0;
	return 0;
}
