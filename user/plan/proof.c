// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/proof.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/array.h"
#include "base/bisect.h"
#include "plan/check.h"
#include "plan/code/insn_length.h"
#include "plan/code/opcode.h"

/* No function of rustc is longer, so a site further from its start is not proven. */
#define REACH_MAX (1u << 20)
/* Code that is decoded for all sites of a library, so that the time for it has a limit. */
#define WALK_MAX (64u << 20)

struct walker {
	struct elf_image *img;
	uint8_t *code;
	size_t capacity;
	size_t left; /* of WALK_MAX */
};

/*
 * Read the code from `from` up to the longest instruction at `to`. Returns its length; 0 if there
 * is none, or if too much has been read already.
 */
static size_t read_code(struct walker *w, uint64_t from, uint64_t to)
{
	size_t len = to - from + INSN_LENGTH_MAX;

	if (len > w->left)
		return 0;
	w->left -= len;
	if (len > w->capacity) {
		uint8_t *code = realloc(w->code, len);

		if (!code)
			return 0;
		w->code = code;
		w->capacity = len;
	}
	return elf_image__copy(w->img, from, w->code, len);
}

/*
 * Prove the sites of one function, which are in order. A site that is not the start of an
 * instruction does not end the walk: sites behind it may still be proven.
 */
static void walk(struct walker *w, uint64_t start, struct proof_site *sites, size_t n)
{
	size_t at = 0, len;

	while (n && sites[n - 1].addr - start > REACH_MAX)
		n--;
	len = n ? read_code(w, start, sites[n - 1].addr) : 0;
	for (size_t i = 0; i < n; i++) {
		uint64_t to = sites[i].addr - start;
		size_t size;

		while (at < to && (size = insn_length(w->code + at, len - at)))
			at += size;
		if (at != to || at >= len)
			continue;
		size = insn_length(w->code + at, len - at);
		sites[i].proven = size && opcode_is_emulated(w->code + at, size);
		sites[i].n_code =
			(uint8_t)(len - at < PLAN_CODE_BYTES ? len - at : PLAN_CODE_BYTES);
		memcpy(sites[i].code, w->code + at, sites[i].n_code);
	}
}

static bool is_at_offset(const struct elf_image *img, uint64_t addr, uint64_t expected)
{
	uint64_t offset;

	return elf_image__offset(img, addr, &offset) && offset == expected;
}

int proof__check(struct elf_image *img, struct proof_site *sites, size_t n)
{
	struct walker w = {.img = img, .left = WALK_MAX};
	const uint64_t *starts;
	size_t n_starts, end;
	int err = n ? elf_image__starts(img, &starts, &n_starts) : 0;

	if (n)
		qsort(sites, n, sizeof(*sites), array__by_u64);
	for (size_t i = 0; i < n && !err; i = end) {
		size_t behind = bisect(n_starts, k, starts[k] <= sites[i].addr);

		for (end = i + 1; end < n; end++)
			if (behind < n_starts && sites[end].addr >= starts[behind])
				break;
		if (behind)
			walk(&w, starts[behind - 1], &sites[i], end - i);
	}
	for (size_t i = 0; i < n; i++)
		sites[i].proven =
			sites[i].proven && is_at_offset(img, sites[i].addr, sites[i].offset);
	free(w.code);
	return err;
}

static int by_index(const void *a, const void *b)
{
	const struct proof_site *x = a, *y = b;

	return x->index < y->index ? -1 : x->index > y->index;
}

int proof__of_plan(struct elf_image *img, const struct plan *plan, uint64_t *bad)
{
	_free_ struct proof_site *sites = calloc(plan->n_sites + 1UL, sizeof(*sites));
	uint32_t crc = crc32_z(0, NULL, 0);
	int err;

	*bad = 0;
	if (!sites)
		return -ENOMEM;
	for (uint32_t i = 0; i < plan->n_sites; i++)
		sites[i] = (struct proof_site){
			.addr = plan->sites[i].addr,
			.offset = plan->sites[i].offset,
			.index = i,
		};
	err = proof__check(img, sites, plan->n_sites);
	if (err)
		return err;
	for (uint32_t i = 0; i < plan->n_sites; i++) {
		*bad = sites[i].addr;
		if (!sites[i].proven)
			return -EBADMSG;
	}
	*bad = 0;
	/* As plan_code_crc(), of the code that was proven. */
	qsort(sites, plan->n_sites, sizeof(*sites), by_index);
	for (uint32_t i = 0; i < plan->n_sites; i++)
		crc = crc32_z(crc, sites[i].code, sites[i].n_code);
	return crc == plan->code_crc ? 0 : -EBADMSG;
}

int proof__of_code(struct elf_image *img, const struct plan *plan, uint64_t *bad)
{
	uint32_t crc = crc32_z(0, NULL, 0);

	for (uint32_t i = 0; i < plan->n_sites; i++) {
		const struct plan_site *site = &plan->sites[i];
		uint8_t code[INSN_LENGTH_MAX];
		size_t len = elf_image__copy(img, site->addr, code, sizeof(code));
		size_t size = insn_length(code, len);

		*bad = site->addr;
		crc = crc32_z(crc, code, len < PLAN_CODE_BYTES ? len : PLAN_CODE_BYTES);
		if (!size || !opcode_is_emulated(code, size) ||
		    !is_at_offset(img, site->addr, site->offset))
			return -EBADMSG;
	}
	*bad = 0;
	return crc == plan->code_crc ? 0 : -EBADMSG;
}

int proof__of_hits(struct elf_image *img, struct plan_hits *hits)
{
	_free_ struct proof_site *sites = calloc(hits->n + 1UL, sizeof(*sites));
	uint32_t n = 0;
	int err;

	if (!sites)
		return -ENOMEM;
	for (uint32_t i = 0; i < hits->n; i++)
		sites[i] = (struct proof_site){
			.addr = hits->items[i].addr,
			.offset = hits->items[i].offset,
			.index = i,
		};
	err = proof__check(img, sites, hits->n);
	if (err)
		return err;
	qsort(sites, hits->n, sizeof(*sites), by_index);
	for (uint32_t i = 0; i < hits->n; i++)
		if (sites[i].proven)
			hits->items[n++] = hits->items[i];
	hits->n_unproven = hits->n - n;
	hits->n = n;
	return 0;
}
