// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "stuck/copied.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"

/* Read at a time, unless the mapping ends before. A multiple of the page's size. */
#define PART_BYTES BROKER_MEMORY_MAX
#define PAGE	   4096u

static bool holds(const struct copied_part *p, uint64_t addr)
{
	return addr >= p->addr && addr - p->addr <= p->size - sizeof(uint64_t);
}

static const struct copied_part *find(struct copied *c, uint64_t addr)
{
	if (c->n && holds(&c->parts[c->last], addr))
		return &c->parts[c->last];
	for (uint32_t i = c->n; i--;) {
		if (!holds(&c->parts[i], addr))
			continue;
		c->last = i;
		return &c->parts[i];
	}
	return NULL;
}

static int read_range(struct copied *c, uint64_t addr, uint32_t size, uint8_t *bytes)
{
	const struct broker_memory range = {addr, size};
	uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC);
	int err;

	if (c->ns > COPIED_NS)
		return -ETIME;
	err = broker__memory(c->broker, c->pid, &range, 1, bytes);
	c->ns += clock_ns(CLOCK_MONOTONIC) - begin_ns;
	return err;
}

/*
 * Stacks grow down, and a walk goes up: what follows is likely to be needed next. All of a range is
 * read, or nothing: it may reach past the end of the mapping.
 */
static int copy_from(struct copied *c, uint64_t addr)
{
	struct copied_part part = {.addr = addr / PAGE * PAGE, .size = PART_BYTES};
	_free_ uint8_t *bytes = malloc(PART_BYTES);
	int err = bytes ? read_range(c, part.addr, part.size, bytes) : -ENOMEM;

	while (err == -EFAULT && part.size > PAGE) {
		part.size /= 2;
		err = read_range(c, part.addr, part.size, bytes);
	}
	if (err)
		return err;
	part.bytes = realloc(bytes, part.size) ?: bytes;
	bytes = part.bytes;
	err = array__add(&c->parts, &c->n, &c->capacity, &part);
	if (err)
		return err;
	take_ptr(bytes);
	c->bytes += part.size;
	c->last = c->n - 1;
	return 0;
}

bool copied__word(struct copied *c, uint64_t addr, uint64_t *word)
{
	const struct copied_part *p = find(c, addr);

	if (!p && c->broker && c->bytes < COPIED_BYTES_MAX && !copy_from(c, addr))
		p = find(c, addr);
	if (!p)
		return false;
	memcpy(word, p->bytes + (addr - p->addr), sizeof(*word));
	return true;
}

void copied__close(struct copied *c)
{
	c->broker = NULL;
}

void copied__clear(struct copied *c)
{
	for (uint32_t i = 0; i < c->n; i++)
		free(c->parts[i].bytes);
	free(c->parts);
	*c = (struct copied){0};
}

const struct compiler_job *copied__job(const struct compiler_jobs *jobs, struct copied *stack,
				       uint64_t sp, uint64_t end, uint32_t query, uint64_t expected)
{
	const struct compiler_job *only = NULL;
	bool several = false;
	uint64_t word;

	for (; jobs->n && sp < end && copied__word(stack, sp, &word); sp += sizeof(word)) {
		const struct compiler_job *job;

		if (word != jobs->context || !copied__word(stack, sp + jobs->number, &word))
			continue;
		job = compiler_jobs__find(jobs, word);
		if (job && word == expected)
			return job;
		if (!job || job->query != query)
			continue;
		several |= only && only != job;
		only = job;
	}
	return several ? NULL : only;
}
