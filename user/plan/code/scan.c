// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/code/scan.h"

#include <string.h>

#include "plan/code/opcode.h"

struct calls {
	const struct elf_image *img;
	struct code_range targets;
	int (*each)(void *, uint64_t, uint64_t);
	void *arg;
};

int code_scan__spans(struct elf_image *img, int (*look)(void *, const struct code_span *),
		     void *arg)
{
	const struct elf_symbol *syms;
	uint64_t done = 0;
	size_t n;
	int err = elf_image__symbols(img, &syms, &n);

	/* Spans are sorted, but some lie within others. */
	for (size_t i = 0; !err && i < n; i++) {
		uint64_t end = syms[i].addr + syms[i].size;
		struct code_span span = {.addr = syms[i].addr > done ? syms[i].addr : done};

		if (end <= span.addr)
			continue;
		span.bytes = elf_image__code(img, span.addr, &span.len);
		if (!span.bytes)
			continue;
		if (span.len > end - span.addr)
			span.len = end - span.addr;
		err = look(arg, &span);
		done = end;
	}
	return err;
}

static int look_at(const struct calls *c, const struct code_span *span, size_t i)
{
	const uint8_t *p = span->bytes + i;
	uint64_t to = 0;

	if (opcode_is_call(p))
		to = opcode_target(p + 1, span->addr + i + OPCODE_CALL_SIZE);
	else if (i + OPCODE_INDIRECT_SIZE <= span->len && opcode_is_call_through(p))
		to = elf_image__through(
			c->img, opcode_target(p + 2, span->addr + i + OPCODE_INDIRECT_SIZE));
	return (to >= c->targets.first && to <= c->targets.last)
		       ? c->each(c->arg, span->addr + i, to)
		       : 0;
}

typedef uint8_t bytes16 __attribute__((vector_size(16)));

/* Bit 8 * i and more are set if the byte `p[i]` may begin a call: one in twenty does. */
static void find_starts(const uint8_t *p, uint64_t starts[2])
{
	bytes16 at, next, found;

	memcpy(&at, p, sizeof(at));
	memcpy(&next, p + 1, sizeof(next));
	found = (bytes16)((at & 0xfe) == OPCODE_CALL) |
		((bytes16)(at == OPCODE_INDIRECT) & (bytes16)((next & 0xcf) == 0x05));
	memcpy(starts, &found, sizeof(found));
}

static int look_for_calls(void *arg, const struct code_span *span)
{
	const struct calls *c = arg;
	size_t end = span->len < OPCODE_CALL_SIZE ? 0 : span->len - OPCODE_CALL_SIZE + 1, i = 0;
	int err = 0;

	for (; i + 20 < end && !err; i += 16) {
		uint64_t starts[2];

		find_starts(span->bytes + i, starts);
		for (size_t k = 0; k < 2; k++)
			while (starts[k] && !err) {
				int bit = __builtin_ctzll(starts[k]);

				err = look_at(c, span, i + 8 * k + bit / 8);
				starts[k] &= ~((uint64_t)0xff << bit);
			}
	}
	for (; i < end && !err; i++)
		err = look_at(c, span, i);
	return err;
}

int code_scan__calls(struct elf_image *img, struct code_range targets,
		     int (*each)(void *, uint64_t, uint64_t), void *arg)
{
	struct calls c = {img, targets, each, arg};

	return code_scan__spans(img, look_for_calls, &c);
}
