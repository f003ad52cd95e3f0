// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "pctab/varint.h"

#include <errno.h>
#include <stdbool.h>

#define VARINT_MAX 5 /* bytes of a 32-bit number */

static uint8_t *store_varint(uint8_t *p, uint32_t v)
{
	while (v >= 0x80) {
		*p++ = (uint8_t)(v | 0x80);
		v >>= 7;
	}
	*p++ = (uint8_t)v;
	return p;
}

/* Differences are taken modulo 2^32, so every pair of values has one. */
static uint32_t zigzag(uint32_t difference)
{
	return difference << 1 ^ (0 - (difference >> 31));
}

static uint32_t unzigzag(uint32_t v)
{
	return v >> 1 ^ (0 - (v & 1));
}

int pctab_varint__encode(struct pctab_buffer *out, const struct pctab_runs *runs,
			 unsigned int quantum_shift)
{
	uint32_t value = UINT32_MAX, pc = 0;
	size_t most;
	uint8_t *p;
	int err;

	err = pctab_runs__check(runs, quantum_shift);
	if (err)
		return err;
	if (__builtin_mul_overflow(runs->n, 2 * VARINT_MAX, &most) || most == SIZE_MAX)
		return -ENOMEM;
	err = pctab_buffer__reserve(out, most + 1);
	if (err)
		return err;
	p = out->data + out->size;
	for (size_t i = 0; i < runs->n; i++) {
		const struct pctab_run *run = &runs->runs[i];

		p = store_varint(p, zigzag((uint32_t)run->value - value));
		p = store_varint(p, (run->end - pc) >> quantum_shift);
		value = (uint32_t)run->value;
		pc = run->end;
	}
	*p++ = 0;
	out->size = (size_t)(p - out->data);
	return 0;
}

/* The bytes from `at` to `end`, and the run that was read last. */
struct cursor {
	const uint8_t *at;
	const uint8_t *end;
	bool started;
	uint32_t value;
	uint64_t pc; /* where the run ends, in quanta */
};

static bool read_varint(struct cursor *c, uint32_t *v)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < VARINT_MAX && c->at < c->end; i++) {
		uint8_t byte = *c->at++;

		sum |= (uint64_t)(byte & 0x7f) << (7 * i);
		if (byte < 0x80) {
			*v = (uint32_t)sum;
			return sum <= UINT32_MAX && (byte || !i);
		}
	}
	return false;
}

/* Read the next run: 1, or 0 at the end of the table, or -EBADMSG. */
static int cursor__next(struct cursor *c)
{
	uint32_t delta, quanta;

	if (!read_varint(c, &delta))
		return -EBADMSG;
	if (!delta && c->started)
		return 0;
	if (!read_varint(c, &quanta) || !quanta)
		return -EBADMSG;
	c->value += unzigzag(delta);
	c->pc += quanta;
	c->started = true;
	return 1;
}

int pctab_varint__decode(const uint8_t *data, size_t size, unsigned int quantum_shift,
			 struct pctab_runs *runs, size_t *used)
{
	struct cursor c = {.at = data, .end = data + size, .value = UINT32_MAX};
	int more;

	if (quantum_shift > PCTAB_QUANTUM_SHIFT_MAX)
		return -EBADMSG;
	pctab_runs__clear(runs);
	while ((more = cursor__next(&c)) > 0) {
		int err;

		if (c.pc > UINT32_MAX >> quantum_shift)
			return -EBADMSG;
		err = pctab_runs__add(runs, (uint32_t)(c.pc << quantum_shift), (int32_t)c.value);
		if (err)
			return err;
	}
	if (used)
		*used = (size_t)(c.at - data);
	return more;
}

/* Takes at most VARINT_MAX bytes, and does not look whether they make sense. Mostly it is one. */
static inline const uint8_t *take_varint(const uint8_t *p, uint32_t *v)
{
	uint32_t byte = *p++, sum = byte & 0x7f;
	unsigned int shift = 7;

	if (__builtin_expect(byte < 0x80, 1)) {
		*v = byte;
		return p;
	}
	do {
		byte = *p++;
		sum |= (byte & 0x7f) << shift;
		shift += 7;
	} while (byte >= 0x80 && shift < 7 * VARINT_MAX);
	*v = sum;
	return p;
}

/* In locals that stay in registers, up to near the end; from there with care. */
int pctab_varint__lookup(const uint8_t *data, size_t size, unsigned int quantum_shift, uint32_t pc,
			 int32_t *value)
{
	const uint8_t *at = data, *end = data + size;
	uint32_t target = pc >> quantum_shift, v = UINT32_MAX;
	uint64_t run_end = 0;
	struct cursor c;

	/* As long as two varints must be there: by room, or because they are short. */
	while (end - at >= 2 * VARINT_MAX || (end - at >= 2 && (at[0] | at[1]) < 0x80)) {
		uint32_t delta, quanta;

		if (!*at && at != data)
			return -ERANGE;
		at = take_varint(at, &delta);
		at = take_varint(at, &quanta);
		v += unzigzag(delta);
		run_end += quanta;
		if (run_end > target) {
			*value = (int32_t)v;
			return 0;
		}
	}
	c = (struct cursor){at, end, at != data, v, run_end};
	do {
		int more = cursor__next(&c);

		if (more <= 0)
			return more ?: -ERANGE;
	} while (c.pc <= target);
	*value = (int32_t)c.value;
	return 0;
}
