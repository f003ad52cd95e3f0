// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/profiler.h"

#include <stdlib.h>

#include "base/array.h"
#include "plan/code/scan.h"

static int add_addr(struct profiler_addrs *a, uint64_t addr)
{
	return array__add(&a->items, &a->n, &a->capacity, &addr);
}

static int add_cold(struct profiler *p, uint64_t addr, enum name_kind kind)
{
	struct profiler_cold cold = {addr, kind};

	return array__add(&p->cold, &p->n_cold, &p->cold_capacity, &cold);
}

static int note_symbol(struct profiler *p, const struct known_symbol *known)
{
	const struct elf_symbol *sym = known->sym;

	if (known->info.part != NAME_PART_ENTRY)
		return 0;
	switch (known->info.kind) {
	case NAME_COLD_ACTIVITY:
	case NAME_COLD_BLOCKED:
	case NAME_COLD_LOAD:
	case NAME_COLD_HASHING:
	case NAME_COLD_ARTIFACT:
	case NAME_COLD_UNKNOWN:
		return add_cold(p, sym->addr, known->info.kind);
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

static void *find(uint64_t key, const void *items, size_t n, size_t size)
{
	return n ? bsearch(&key, items, n, size, array__by_u64) : NULL;
}

const struct profiler_cold *profiler__cold(const struct profiler *p, uint64_t addr)
{
	return find(addr, p->cold, p->n_cold, sizeof(*p->cold));
}

bool profiler__drops(const struct profiler *p, uint64_t addr)
{
	return array__has_u64(p->drops.items, p->drops.n, addr);
}

uint64_t profiler__callee(const struct code_insn *insn)
{
	return insn->flow == CODE_CALL || insn->flow == CODE_JMP ? insn->target : 0;
}

static int note_call(void *arg, uint64_t addr, uint64_t to)
{
	struct profiler *p = arg;

	return profiler__cold(p, to) ? add_addr(&p->calls, addr) : 0;
}

static int find_calls(struct elf_image *img, struct profiler *p)
{
	struct code_range cold = {p->cold[0].addr, p->cold[p->n_cold - 1].addr};

	return code_scan__calls(img, cold, note_call, p);
}

int profiler__find(struct elf_image *img, const struct known_symbols *known, struct profiler *out)
{
	int err = 0;

	*out = (struct profiler){.n_cold = 0};
	for (uint32_t i = 0; !err && i < known->n; i++)
		err = note_symbol(out, &known->items[i]);
	if (err || !out->n_cold)
		return err;
	qsort(out->cold, out->n_cold, sizeof(*out->cold), array__by_u64);
	return find_calls(img, out);
}

void profiler__destroy(struct profiler *p)
{
	free(p->cold);
	free(p->drops.items);
	free(p->timer_drops.items);
	free(p->calls.items);
	*p = (struct profiler){.n_cold = 0};
}
