// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/symbols/bounds.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bisect.h"
#include "plan/code/insn_length.h"
#include "plan/code/opcode.h"
#include "plan/symbols/cfa.h"
#include "plan/symbols/eh_frame.h"
#include "plan/symbols/got.h"

/* rustc's have 110,000. */
#define BOUNDS_MAX (4u << 20)

/* The sections of parts that BOLT has split off. */
static const char *const part_sections[] = {".text.warm", ".text.cold"};

struct finder {
	const struct elf_image *img;
	struct eh_frame frame;
	struct bounds *out;
	uint64_t starts[N_OF(part_sections)], sizes[N_OF(part_sections)];
	bool has_parts;
	uint32_t *taken; /* parts whose function was found by a jump */
	uint32_t n_taken, taken_capacity;
};

/* ---- Functions and parts --------------------------------------------------------------------- */

/* The first rule is that of the first instruction. */
static int note_rule(void *ctx, uint64_t start, uint64_t end, struct wire_unwind_rule rule)
{
	struct wire_unwind_rule *first = ctx;

	(void)start;
	(void)end;
	*first = rule;
	return -ECANCELED;
}

static bool is_part(const struct finder *f, const struct eh_fde *fde)
{
	struct wire_unwind_rule rule = {.base = WIRE_UNWIND_NONE};

	for (size_t i = 0; i < N_OF(part_sections); i++)
		if (fde->start - f->starts[i] < f->sizes[i])
			return true;
	/* Something is on its stack. A function that is not called, such as _start, counts, too. */
	cfa__run(&f->frame, fde, note_rule, &rule);
	return (rule.base == WIRE_UNWIND_RSP && rule.cfa != 8) || rule.base == WIRE_UNWIND_RBP;
}

/* The longest of those that begin at the same address comes first. */
static int by_address(const void *a, const void *b)
{
	const struct bound *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return x->size > y->size ? -1 : x->size < y->size;
}

/* A record that begins at another one's start is left out; one that reaches into the next is cut.
 */
static void sort(struct bounds *b)
{
	uint32_t n = 0;

	if (b->n)
		qsort(b->items, b->n, sizeof(*b->items), by_address);
	for (uint32_t i = 0; i < b->n; i++)
		if (!n || b->items[n - 1].addr != b->items[i].addr)
			b->items[n++] = b->items[i];
	b->n = n;
	for (uint32_t i = 0; i < n; i++) {
		struct bound *x = &b->items[i];

		if (i + 1 < n && x->size > x[1].addr - x->addr)
			x->size = x[1].addr - x->addr;
		if (x->of != BOUNDS_NONE)
			x->of = i;
	}
}

static int read_frame(struct finder *f)
{
	struct bounds *out = f->out;
	struct eh_frame_reader reader;
	struct eh_fde fde;
	int err = 0;

	eh_frame_reader__init(&reader, &f->frame);
	while (!err && out->n < BOUNDS_MAX && eh_frame_reader__next(&reader, &fde)) {
		struct bound b = {.addr = fde.start, .size = fde.length};
		size_t room;

		if (!fde.length || !elf_image__code(f->img, b.addr, &room))
			continue;
		b.size = b.size < room ? b.size : room;
		b.of = is_part(f, &fde) ? BOUNDS_NONE : 0;
		f->has_parts = f->has_parts || b.of == BOUNDS_NONE;
		err = array__add(&out->items, &out->n, &out->capacity, &b);
	}
	return err;
}

/* ---- Parts and their functions --------------------------------------------------------------- */

/* Where the instruction of `size` bytes at `p` jumps to, or 0. */
static uint64_t jump_target(const uint8_t *p, size_t size, uint64_t addr)
{
	if (size == 2 && opcode_is_short_jump(p))
		return addr + size + (uint64_t)(int64_t)(int8_t)p[1];
	if (size == 5 && p[0] == (OPCODE_CALL | 1))
		return opcode_target(p + 1, addr + size);
	if (size == 6 && opcode_is_jcc(p))
		return opcode_target(p + 2, addr + size);
	return 0;
}

/* Calls `each` for all jumps of bound `i` that lead out of it. */
static int each_jump(struct finder *f, uint32_t i,
		     int (*each)(struct finder *f, struct bound *from, uint64_t to))
{
	struct bound *from = &f->out->items[i];
	size_t room, size, at = 0;
	const uint8_t *code = elf_image__code(f->img, from->addr, &room);
	int err = 0;

	while (code && at < from->size && !err && (size = insn_length(code + at, room - at))) {
		uint64_t to = jump_target(code + at, size, from->addr + at);

		at += size;
		if (to && to - from->addr >= from->size)
			err = each(f, from, to);
	}
	return err;
}

/* A part that has no function yet is that of the function that jumps to it. */
static int take_part(struct finder *f, struct bound *from, uint64_t to)
{
	struct bound *part = (struct bound *)bounds__at(f->out, to);
	uint32_t number;

	if (!part || part->of != BOUNDS_NONE)
		return 0;
	part->of = from->of;
	number = (uint32_t)(part - f->out->items);
	return array__add(&f->taken, &f->n_taken, &f->taken_capacity, &number);
}

/* Control returns from a part to where it left the function, which is not the function's start. */
static int take_function(struct finder *f, struct bound *from, uint64_t to)
{
	const struct bound *back = bounds__at(f->out, to);

	if (from->of == BOUNDS_NONE && back && back->addr != to)
		from->of = back->of;
	return 0;
}

static int find_functions_of_parts(struct finder *f)
{
	uint32_t n = f->out->n;
	int err = 0;

	for (uint32_t i = 0; i < n && !err; i++)
		if (f->out->items[i].of == i)
			err = each_jump(f, i, take_part);
	for (uint32_t i = 0; i < f->n_taken && !err; i++)
		err = each_jump(f, f->taken[i], take_part);
	/* Tables of switches lead to the others. */
	for (uint32_t i = 0; i < n && !err; i++)
		if (f->out->items[i].of == BOUNDS_NONE)
			err = each_jump(f, i, take_function);
	return err;
}

/* ---------------------------------------------------------------------------------------------- */

int bounds__find(const struct elf_image *img, struct bounds *out)
{
	struct finder f = {.img = img, .out = out};
	int err;

	*out = (struct bounds){0};
	for (size_t i = 0; i < N_OF(part_sections); i++)
		if (!elf_image__section(img, part_sections[i], &f.starts[i], &f.sizes[i]))
			f.sizes[i] = 0;
	f.frame.data = elf_image__section_bytes(img, ".eh_frame", &f.frame.addr, &f.frame.size);
	if (!f.frame.data || f.frame.size > EH_FRAME_SIZE_MAX)
		return -ENODATA;
	err = read_frame(&f);
	if (err)
		return err;
	sort(out);
	if (!out->n)
		return -ENODATA;
	err = f.has_parts ? find_functions_of_parts(&f) : 0;
	free(f.taken);
	return err;
}

const struct bound *bounds__at(const struct bounds *b, uint64_t addr)
{
	size_t behind = bisect(b->n, i, b->items[i].addr <= addr);
	const struct bound *last = behind ? &b->items[behind - 1] : NULL;

	return last && addr - last->addr < last->size ? last : NULL;
}

bool bounds__starts(const struct bounds *b, uint64_t addr)
{
	const struct bound *at = bounds__at(b, addr);

	return at && at->addr == addr && at->of == (uint32_t)(at - b->items);
}

void bounds__destroy(struct bounds *b)
{
	free(b->items);
	*b = (struct bounds){0};
}

/* ---- What is reached ------------------------------------------------------------------------- */

struct marker {
	struct elf_image *img;
	const struct bounds *b;
	uint64_t old, old_size; /* the old section */
	bool *reached;
	uint32_t *work; /* whose code is to be looked at */
	uint32_t n, capacity;
};

static void marker__destroy(struct marker *m)
{
	free(m->reached);
	free(m->work);
}

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

/* Mark the places that the code of a bound leads to, or makes a pointer to. */
static int follow(struct marker *m, const struct bound *b)
{
	size_t room, size, at = 0;
	const uint8_t *code = elf_image__code(m->img, b->addr, &room);
	int err = 0;

	while (code && at < b->size && !err && (size = insn_length(code + at, room - at))) {
		const uint8_t *p = code + at;
		uint64_t end = b->addr + at + size;

		if (size == 5 && opcode_is_call(p))
			err = mark(m, opcode_target(p + 1, end));
		else if (size == 6 && opcode_is_jcc(p))
			err = mark(m, opcode_target(p + 2, end));
		else if (size == 7 && opcode_is_lea_rip(p + 1))
			err = mark(m, opcode_target(p + 3, end));
		at += size;
	}
	return err;
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
	uint64_t addr;
	const uint8_t *p = elf_image__section_bytes(m->img, ".rela.dyn", &addr, &size);
	size_t n = p ? size / sizeof(Elf64_Rela) : 0;
	int err = 0;

	for (size_t i = 0; i < n && !err; i++) {
		Elf64_Rela rela;

		memcpy(&rela, p + i * sizeof(rela), sizeof(rela));
		if (ELF64_R_TYPE(rela.r_info) == R_X86_64_RELATIVE)
			err = mark(m, (uint64_t)rela.r_addend);
	}
	p = err ? NULL : elf_image__section_bytes(m->img, ".relr.dyn", &addr, &size);
	return p ? relr__each(p, size, follow_packed, m) : err;
}

static int mark_all(struct marker *m)
{
	const struct elf_symbol *syms;
	size_t n = 0;
	int err = elf_image__any_symbols(m->img, &syms, &n);

	if (err == -ENODATA)
		err = 0;
	for (size_t i = 0; i < n && !err; i++)
		err = mark(m, syms[i].addr);
	err = err ?: follow_pointers(m);
	for (uint32_t i = 0; i < m->b->n && !err; i++)
		if (!is_old(m, m->b->items[i].addr))
			err = follow(m, &m->b->items[i]);
	for (uint32_t i = 0; i < m->n && !err; i++)
		err = follow(m, &m->b->items[m->work[i]]);
	return err;
}

int reached__keep(struct elf_image *img, struct bounds *b)
{
	_free_ uint32_t *numbers = NULL;
	__cleanup(marker__destroy) struct marker m = {.img = img, .b = b};
	uint32_t n = 0;
	int err;

	if (!elf_image__section(img, ".bolt.org.text", &m.old, &m.old_size))
		return 0;
	m.reached = calloc(b->n + 1UL, sizeof(*m.reached));
	numbers = calloc(b->n + 1UL, sizeof(*numbers));
	err = m.reached && numbers ? mark_all(&m) : -ENOMEM;
	if (err)
		return err;
	for (uint32_t i = 0; i < b->n; i++) {
		bool stays = m.reached[i] || !is_old(&m, b->items[i].addr);

		numbers[i] = stays ? n++ : BOUNDS_NONE;
	}
	/* The parts of a function that goes have none any more. */
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
