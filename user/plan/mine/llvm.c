// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/llvm.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "plan/symbols/dwarf_bytes.h"

#ifndef LLVM_REVISION /* the Makefile sets it */
#define LLVM_REVISION 0u
#endif

#define MAGIC	     0x76716c6cu /* "llqv" */
#define CHECKED_FROM 16

int llvm_plan__mine(struct elf_image *img, struct llvm_plan **out)
{
	_llvm_symbols_ struct llvm_symbols s;
	_llvm_plan_ struct llvm_plan *p = NULL;
	int err = llvm_symbols__read(img, &s);

	if (err || !s.uses_llvm)
		return err;
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	err = llvm_layout__mine(img, &s, &p->layout, &p->problem)
		      ?: llvm_passes__mine(img, &s, &p->passes);
	if (!err && p->passes.n)
		*out = take_ptr(p);
	return err;
}

struct llvm_plan *llvm_plan__ref(struct llvm_plan *p)
{
	p->users++;
	return p;
}

void llvm_plan__free(struct llvm_plan *p)
{
	if (!p || p->users--)
		return;
	llvm_passes__destroy(&p->passes);
	free(p);
}

/* ---- As bytes -------------------------------------------------------------------------------- */

/* The fields of the layout, in their order; whether they are written or read. */
struct fields {
	uint8_t *to; /* NULL: they are read */
	struct dwarf_bytes *from;
};

static void field(struct fields *f, void *value, unsigned int size)
{
	uint64_t number = 0;

	if (f->to) {
		memcpy(f->to, value, size);
		f->to += size;
		return;
	}
	number = dwarf_bytes__number(f->from, size);
	memcpy(value, &number, size);
}

#define FIELD(f, value) field((f), &(value), sizeof(value))

/* This machine is little endian, as all are that have plans. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers are copied as they are");

static void layout(struct fields *f, struct wire_llvm *l)
{
	FIELD(f, l->module);
	FIELD(f, l->size);
	FIELD(f, l->head);
	for (int i = 0; i < WIRE_LLVM_KINDS; i++) {
		FIELD(f, l->vtables[i]);
		FIELD(f, l->pass[i]);
		FIELD(f, l->unit[i]);
	}
	FIELD(f, l->next);
	FIELD(f, l->kind_at);
	FIELD(f, l->kind);
	FIELD(f, l->named_at);
	FIELD(f, l->named);
	FIELD(f, l->type_at);
	FIELD(f, l->length);
	FIELD(f, l->bytes);
	FIELD(f, l->context);
	FIELD(f, l->impl);
	FIELD(f, l->names);
	FIELD(f, l->count);
	FIELD(f, l->passes_return);
	FIELD(f, l->component);
	FIELD(f, l->nodes);
	FIELD(f, l->node_function);
}

/* Each step is a bijection, so no change of a single byte goes unnoticed. */
static uint64_t checksum(const uint8_t *p, size_t n)
{
	uint64_t sum = n;

	for (size_t i = 0; i < n; i++)
		sum = (sum ^ p[i]) * 0x9e3779b97f4a7c15;
	return sum;
}

void llvm_plan__seal(uint8_t *buf, size_t len)
{
	const uint32_t words[] = {MAGIC, LLVM_REVISION};
	uint64_t sum = checksum(buf + CHECKED_FROM, len - CHECKED_FROM);

	memcpy(buf, words, sizeof(words));
	memcpy(buf + sizeof(words), &sum, sizeof(sum));
}

#define ENCODED_LAYOUT (4 * 8 + WIRE_LLVM_KINDS * 10 + 8 + 7 * 4)

int llvm_plan__encode(const struct llvm_plan *p, uint8_t **buf, size_t *len)
{
	struct wire_llvm copy = p->layout;
	uint8_t problem[8] = {(uint8_t)p->problem};
	struct fields f = {0};
	uint32_t names = 0, n = p->passes.n;
	size_t size;
	uint8_t *bytes;

	for (uint32_t i = 0; i < n; i++)
		names += (uint32_t)strlen(p->passes.items[i].name) + 1;
	size = LLVM_PLAN_HEADER + ENCODED_LAYOUT + 8 + 8ul * n + names;
	bytes = calloc(1, size);
	if (!bytes)
		return -ENOMEM;
	f.to = bytes + CHECKED_FROM;
	field(&f, problem, sizeof(problem));
	layout(&f, &copy);
	FIELD(&f, n);
	FIELD(&f, names);
	for (uint32_t i = 0; i < n; i++)
		FIELD(&f, p->passes.items[i].vtable);
	for (uint32_t i = 0; i < n; i++)
		f.to = (uint8_t *)stpcpy((char *)f.to, p->passes.items[i].name) + 1;
	llvm_plan__seal(bytes, size);
	*buf = bytes;
	*len = size;
	return 0;
}

/* Vtables rise; the names of all are there. */
static int read_passes(struct dwarf_bytes *b, struct llvm_passes *p)
{
	uint32_t n = (uint32_t)dwarf_bytes__number(b, 4);
	uint32_t names = (uint32_t)dwarf_bytes__number(b, 4);
	struct dwarf_bytes vtables = *b;
	uint64_t last = 0;
	int err = 0;

	if (n > LLVM_PASSES_MAX || !dwarf_bytes__take(b, 8ull * n) || names != dwarf_bytes__left(b))
		return -EBADMSG;
	for (uint32_t i = 0; i < n && !err; i++) {
		uint64_t vtable = dwarf_bytes__number(&vtables, 8);
		const char *name = (const char *)b->at;
		size_t len = strnlen(name, dwarf_bytes__left(b));

		if (vtable <= last || !llvm_passes__is_name(name, len) ||
		    !dwarf_bytes__take(b, len + 1))
			return -EBADMSG;
		last = vtable;
		err = llvm_passes__add(p, vtable, name, len);
	}
	return err ?: dwarf_bytes__left(b) ? -EBADMSG : 0;
}

int llvm_plan__decode(const uint8_t *buf, size_t len, struct llvm_plan **out)
{
	_llvm_plan_ struct llvm_plan *p = NULL;
	struct dwarf_bytes b = {buf, buf + len, false};
	struct fields f = {.from = &b};
	uint64_t problem;
	int err;

	if (dwarf_bytes__number(&b, 4) != MAGIC || dwarf_bytes__number(&b, 4) != LLVM_REVISION ||
	    dwarf_bytes__number(&b, 8) != checksum(b.at, dwarf_bytes__left(&b)) || b.bad)
		return -EBADMSG;
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	problem = dwarf_bytes__number(&b, 8);
	layout(&f, &p->layout);
	if (b.bad || problem >= LLVM_PROBLEMS || (!problem && !llvm_layout_is_sound(&p->layout)))
		return -EBADMSG;
	p->problem = (enum llvm_problem)problem;
	err = read_passes(&b, &p->passes);
	if (!err)
		*out = take_ptr(p);
	return err;
}
