// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/symbols/reached.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "plan/code/insn_length.h"
#include "plan/code/opcode.h"
#include "plan/symbols/relr.h"

struct marker {
	struct elf_image *img;
	const struct bounds *b;
	uint64_t old, old_size; /* the old section */
	bool *reached;
	uint32_t *work; /* whose code is to be looked at */
	uint32_t n, capacity;
};

static bool is_old(const struct marker *m, uint64_t addr)
{
	return addr - m->old < m->old_size;
}

static int mark(struct marker *m, uint64_t addr)
{
	const struct bound *at = is_old(m, addr) ? bounds__at(m->b, addr) : NULL;
	uint32_t i = at ? (uint32_t)(at - m->b->items) : 0;

	if (!at || m->reached[i])
		return 0;
	m->reached[i] = true;
	return array__add(&m->work, &m->n, &m->capacity, &i);
}

/* The place that the instruction of `size` bytes at `p` leads to, or makes a pointer to; or 0. */
static uint64_t target_of(const uint8_t *p, size_t size, uint64_t end)
{
	if (size == 5 && opcode_is_call(p))
		return opcode_target(p + 1, end);
	if (size == 6 && opcode_is_jcc(p))
		return opcode_target(p + 2, end);
	if (size == 7 && opcode_is_lea_rip(p + 1))
		return opcode_target(p + 3, end);
	return 0;
}

static int follow(struct marker *m, const struct bound *b)
{
	size_t room, size, at = 0;
	const uint8_t *code = elf_image__code(m->img, b->addr, &room);
	int err = 0;

	while (code && at < b->size && !err && (size = insn_length(code + at, room - at))) {
		err = mark(m, target_of(code + at, size, b->addr + at + size));
		at += size;
	}
	return err;
}

static int follow_exports(struct marker *m)
{
	const struct elf_symbol *syms;
	size_t n;
	int err = elf_image__any_symbols(m->img, &syms, &n);

	if (err)
		return err == -ENODATA ? 0 : err;
	for (size_t i = 0; i < n && !err; i++)
		err = mark(m, syms[i].addr);
	return err;
}

/* A section's part of the file; NULL if there is none. */
static const uint8_t *section(const struct marker *m, const char *name, size_t *size)
{
	uint64_t addr, in_memory;
	const uint8_t *p;

	if (!elf_image__section(m->img, name, &addr, &in_memory))
		return NULL;
	p = elf_image__bytes(m->img, addr, size);
	if (*size > in_memory)
		*size = in_memory;
	return p;
}

static int follow_packed(void *arg, uint64_t place)
{
	struct marker *m = arg;
	uint64_t to;
	size_t room;
	const uint8_t *p = elf_image__bytes(m->img, place, &room);

	if (!p || room < sizeof(to))
		return 0;
	memcpy(&to, p, sizeof(to));
	return mark(m, to);
}

/* Mark the functions whose addresses the dynamic linker writes into data. */
static int follow_pointers(struct marker *m)
{
	size_t size;
	const uint8_t *p = section(m, ".rela.dyn", &size);
	size_t n = p ? size / sizeof(Elf64_Rela) : 0;
	int err = 0;

	for (size_t i = 0; i < n && !err; i++) {
		Elf64_Rela rela;

		memcpy(&rela, p + i * sizeof(rela), sizeof(rela));
		if (ELF64_R_TYPE(rela.r_info) == R_X86_64_RELATIVE)
			err = mark(m, (uint64_t)rela.r_addend);
	}
	p = err ? NULL : section(m, ".relr.dyn", &size);
	return p ? relr__each(p, size, follow_packed, m) : err;
}

static int mark_all(struct marker *m)
{
	int err = follow_exports(m) ?: follow_pointers(m);

	for (uint32_t i = 0; i < m->b->n && !err; i++)
		if (!is_old(m, m->b->items[i].addr))
			err = follow(m, &m->b->items[i]);
	for (uint32_t i = 0; i < m->n && !err; i++)
		err = follow(m, &m->b->items[m->work[i]]);
	return err;
}

/* The parts of a function that goes have none any more. */
static int keep(const struct marker *m, struct bounds *b)
{
	_free_ uint32_t *numbers = calloc(b->n + 1UL, sizeof(*numbers));
	uint32_t n = 0;

	if (!numbers)
		return -ENOMEM;
	for (uint32_t i = 0; i < b->n; i++) {
		bool stays = m->reached[i] || !is_old(m, b->items[i].addr);

		numbers[i] = stays ? n++ : BOUNDS_NONE;
	}
	for (uint32_t i = 0; i < b->n; i++) {
		struct bound x = b->items[i];

		if (x.of != BOUNDS_NONE)
			x.of = numbers[x.of];
		if (numbers[i] != BOUNDS_NONE)
			b->items[numbers[i]] = x;
	}
	b->n = n;
	return 0;
}

int reached__keep(struct elf_image *img, struct bounds *b)
{
	struct marker m = {.img = img, .b = b};
	int err;

	if (!elf_image__section(img, ".bolt.org.text", &m.old, &m.old_size))
		return 0;
	m.reached = calloc(b->n + 1UL, sizeof(*m.reached));
	err = m.reached ? mark_all(&m) ?: keep(&m, b) : -ENOMEM;
	free(m.reached);
	free(m.work);
	return err;
}
