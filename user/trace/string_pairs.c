// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/string_pairs.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "trace/trace.h"

static int reserve(struct string_pairs *p, uint32_t n)
{
	uint32_t *second_of;

	if (n <= p->n)
		return 0;
	second_of = reallocarray(p->second_of, n, sizeof(*second_of));
	if (!second_of)
		return -ENOMEM;
	memset(second_of + p->n, 0, (n - p->n) * sizeof(*second_of));
	p->second_of = second_of;
	p->n = n;
	return 0;
}

/* All of a malformed list is refused. */
static bool is_sound(struct byte_reader in, uint64_t n, uint32_t n_strings)
{
	for (uint64_t i = 0; i < 2 * n && !in.bad; i++)
		byte_reader__varint_max(&in, n_strings - 1);
	return !in.bad && in.at == in.end;
}

int string_pairs__take(struct string_pairs *p, struct byte_reader *in, uint32_t n_strings)
{
	/* There may be more pairs than strings: several libraries may say the same. */
	uint64_t n = byte_reader__varint_max(in, (uint64_t)(in->end - in->at) / 2);

	if (!n || !n_strings || !is_sound(*in, n, n_strings))
		return -EBADMSG;
	if (reserve(p, n_strings))
		return -ENOMEM;
	for (; n; n--) {
		uint32_t first = byte_reader__varint_max(in, n_strings - 1);

		p->second_of[first] = byte_reader__varint_max(in, n_strings - 1) + 1;
	}
	return 0;
}

uint32_t string_pairs__get(const struct string_pairs *p, uint32_t first)
{
	return first < p->n && p->second_of[first] ? p->second_of[first] - 1 : TRACE_NO_STRING;
}

void string_pairs__destroy(struct string_pairs *p)
{
	free(p->second_of);
	*p = (struct string_pairs){0};
}
