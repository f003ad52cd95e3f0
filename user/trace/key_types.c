// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/key_types.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "trace/trace.h"

static int reserve(struct key_types *k, uint32_t n)
{
	uint32_t *type_of;

	if (n <= k->n)
		return 0;
	type_of = reallocarray(k->type_of, n, sizeof(*type_of));
	if (!type_of)
		return -ENOMEM;
	memset(type_of + k->n, 0, (n - k->n) * sizeof(*type_of));
	k->type_of = type_of;
	k->n = n;
	return 0;
}

/* All of a malformed list is refused. */
static bool is_sound(struct byte_reader in, uint64_t n, uint32_t n_strings)
{
	for (uint64_t i = 0; i < 2 * n && !in.bad; i++)
		byte_reader__varint_max(&in, n_strings - 1);
	return !in.bad && in.at == in.end;
}

int key_types__take(struct key_types *k, struct byte_reader *in, uint32_t n_strings)
{
	/* Several libraries may say the same of a label. */
	uint64_t n = byte_reader__varint_max(in, (uint64_t)(in->end - in->at) / 2);

	if (!n || !n_strings || !is_sound(*in, n, n_strings))
		return -EBADMSG;
	if (reserve(k, n_strings))
		return -ENOMEM;
	for (; n; n--) {
		uint32_t label = byte_reader__varint_max(in, n_strings - 1);

		k->type_of[label] = byte_reader__varint_max(in, n_strings - 1) + 1;
	}
	return 0;
}

uint32_t key_types__get(const struct key_types *k, uint32_t label)
{
	return label < k->n && k->type_of[label] ? k->type_of[label] - 1 : TRACE_NO_STRING;
}

void key_types__destroy(struct key_types *k)
{
	free(k->type_of);
	*k = (struct key_types){0};
}
