// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/profiler.h"

#include <errno.h>
#include <stdlib.h>

/* call rel32, jmp rel32 (one more), and their size; the same through a pointer at rip + rel32. */
#define OP_CALL	      0xe8
#define CALL_SIZE     5
#define OP_INDIRECT   0xff
#define MODRM_CALL    0x15
#define MODRM_JMP     0x25
#define INDIRECT_SIZE 6

static int add_addr(struct profiler_addrs *a, uint64_t addr)
{
	if (a->n == a->cap) {
		size_t cap = a->cap ? a->cap * 2 : 64;
		void *p = reallocarray(a->items, cap, sizeof(*a->items));

		if (!p)
			return -ENOMEM;
		a->items = p;
		a->cap = cap;
	}
	a->items[a->n++] = addr;
	return 0;
}

static int add_cold(struct profiler *p, uint64_t addr, enum name_kind kind)
{
	if (p->n_cold == p->cap_cold) {
		size_t cap = p->cap_cold ? p->cap_cold * 2 : 64;
		void *more = reallocarray(p->cold, cap, sizeof(*p->cold));

		if (!more)
			return -ENOMEM;
		p->cold = more;
		p->cap_cold = cap;
	}
	p->cold[p->n_cold++] = (struct profiler_cold){addr, kind};
	return 0;
}

static int note_symbol(struct profiler *p, const struct elf_symbol *sym)
{
	struct name_info info;

	name_classify(sym->name, &info);
	if (info.part != NAME_PART_ENTRY)
		return 0;
	switch (info.kind) {
	case NAME_COLD_ACTIVITY:
	case NAME_COLD_BLOCKED:
	case NAME_COLD_LOAD:
	case NAME_COLD_HASHING:
	case NAME_COLD_ARTIFACT:
	case NAME_COLD_UNKNOWN:
		return add_cold(p, sym->addr, info.kind);
	case NAME_DROP_GUARD:
		return add_addr(&p->drops, sym->addr);
	case NAME_DROP_TIMER:
		return add_addr(&p->timer_drops, sym->addr);
	case NAME_TIMER:
		p->timer = sym->addr;
		return 0;
	default:
		return 0;
	}
}

static int by_addr(const void *a, const void *b)
{
	const struct profiler_cold *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static int by_place(const void *a, const void *b)
{
	const struct profiler_slot *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

const struct profiler_cold *profiler__cold(const struct profiler *p, uint64_t addr)
{
	struct profiler_cold key = {.addr = addr};

	return p->n_cold ? bsearch(&key, p->cold, p->n_cold, sizeof(key), by_addr) : NULL;
}

bool profiler__drops(const struct profiler *p, uint64_t addr)
{
	for (size_t i = 0; i < p->drops.n; i++)
		if (p->drops.items[i] == addr)
			return true;
	return false;
}

static const struct profiler_slot *slot_at(const struct profiler *p, uint64_t at)
{
	struct profiler_slot key = {.at = at};

	return p->n_slots ? bsearch(&key, p->slots, p->n_slots, sizeof(key), by_place) : NULL;
}

uint64_t profiler__callee(const struct profiler *p, const struct code_insn *insn)
{
	const struct profiler_slot *slot;

	if (insn->flow == CODE_CALL || insn->flow == CODE_JMP)
		return insn->target;
	slot = insn->shape == CODE_GO_RIP ? slot_at(p, insn->target) : NULL;
	return slot ? slot->function : 0;
}

static int note_pointer(void *arg, uint64_t at, uint64_t value)
{
	struct profiler *p = arg;

	if (!profiler__drops(p, value) && !profiler__cold(p, value))
		return 0;
	if (p->n_slots == p->cap_slots) {
		size_t cap = p->cap_slots ? p->cap_slots * 2 : 64;
		void *more = reallocarray(p->slots, cap, sizeof(*p->slots));

		if (!more)
			return -ENOMEM;
		p->slots = more;
		p->cap_slots = cap;
	}
	p->slots[p->n_slots++] = (struct profiler_slot){at, value};
	return 0;
}

static uint64_t relative(const uint8_t *code, uint64_t next)
{
	uint32_t rel = (uint32_t)code[0] | (uint32_t)code[1] << 8 | (uint32_t)code[2] << 16 |
		       (uint32_t)code[3] << 24;

	return next + (uint64_t)(int64_t)(int32_t)rel;
}

/* True if the bytes `code` would call, or jump to, a cold side. */
static bool is_cold_call(const struct profiler *p, const uint8_t *code, size_t len, uint64_t addr)
{
	uint64_t first = p->cold[0].addr, last = p->cold[p->n_cold - 1].addr, target;
	const struct profiler_slot *slot;

	if ((code[0] & 0xfe) == OP_CALL && len >= CALL_SIZE) {
		target = relative(code + 1, addr + CALL_SIZE);
		return target >= first && target <= last && profiler__cold(p, target);
	}
	if (code[0] != OP_INDIRECT || len < INDIRECT_SIZE || !p->n_slots ||
	    (code[1] != MODRM_CALL && code[1] != MODRM_JMP))
		return false;
	target = relative(code + 2, addr + INDIRECT_SIZE);
	if (target < p->slots[0].at || target > p->slots[p->n_slots - 1].at)
		return false;
	slot = slot_at(p, target);
	return slot && profiler__cold(p, slot->function);
}

/* Every byte is looked at: to decode a whole library would take a hundred times as long. */
static int scan(struct profiler *p, const uint8_t *code, size_t len, uint64_t addr)
{
	int err = 0;

	for (size_t i = 0; i + CALL_SIZE <= len && !err; i++) {
		if ((code[i] & 0xfe) != OP_CALL && code[i] != OP_INDIRECT)
			continue;
		if (is_cold_call(p, code + i, len - i, addr + i))
			err = add_addr(&p->calls, addr + i);
	}
	return err;
}

int profiler__find(struct elf_image *img, struct profiler *out)
{
	const struct elf_symbol *syms;
	uint64_t done = 0;
	size_t n;
	int err;

	*out = (struct profiler){.n_cold = 0};
	err = elf_image__symbols(img, &syms, &n);
	for (size_t i = 0; !err && i < n; i++)
		err = note_symbol(out, &syms[i]);
	if (err || !out->n_cold)
		return err;
	qsort(out->cold, out->n_cold, sizeof(*out->cold), by_addr);
	err = elf_image__pointers(img, note_pointer, out);
	if (out->n_slots)
		qsort(out->slots, out->n_slots, sizeof(*out->slots), by_place);
	/* Sorted, but some lie within others. */
	for (size_t i = 0; !err && i < n; i++) {
		uint64_t end = syms[i].addr + syms[i].size;
		uint64_t from = syms[i].addr > done ? syms[i].addr : done;
		size_t len;
		const uint8_t *code = elf_image__code(img, from, &len);

		if (!code || end <= from)
			continue;
		err = scan(out, code, end - from < len ? end - from : len, from);
		done = end;
	}
	return err;
}

void profiler__destroy(struct profiler *p)
{
	free(p->cold);
	free(p->slots);
	free(p->drops.items);
	free(p->timer_drops.items);
	free(p->calls.items);
	*p = (struct profiler){.n_cold = 0};
}
