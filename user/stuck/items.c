// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "stuck/items.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* Registers by their numbers in struct cfa_preserved. */
static const uint8_t registers[CFA_PRESERVED] = {WIRE_REG_BX, WIRE_REG_R12, WIRE_REG_R13,
						 WIRE_REG_R14, WIRE_REG_R15};

static bool read_register(const struct item_call *c, uint8_t reg, uint64_t *value)
{
	const struct call *call = &c->calls->items[c->index];

	if (reg == WIRE_REG_BP) {
		*value = call->bp;
		return !call->bp_lost;
	}
	for (unsigned int i = 0; i < CFA_PRESERVED; i++)
		if (registers[i] == reg)
			return calls__preserved(c->calls, c->index, i, c->stopped, c->memory,
						value);
	return false;
}

bool item_key__is_preserved(const struct plan_held_key *held)
{
	return !held->in_place && held->reg != WIRE_REG_NONE && held->reg != WIRE_REG_BP;
}

/* As the kernel half reads one at a probe. */
static uint64_t make_key(uint8_t key, uint32_t index, uint32_t krate)
{
	switch (key) {
	case WIRE_KEY_LOCAL:
		return wire_key(WIRE_KEY_LOCAL_CRATE, index);
	case WIRE_KEY_DEF:
		return krate == WIRE_NO_CRATE ? 0 : wire_key(krate, index);
	default:
		return 0;
	}
}

/* The words of a key that lies on the copied stack, as bpf/operands.h reads them. */
static uint64_t key_in_memory(const struct wire_memory_key *m, uint64_t at, struct copied *memory)
{
	uint32_t words[WIRE_MEMORY_WORDS];
	uint64_t pairs[WIRE_MEMORY_WORDS / 2];
	uint32_t variant, index;

	for (size_t i = 0; i < N_OF(pairs); i++)
		if (!m || !copied__word(memory, at + m->offset + 8 * i, &pairs[i]))
			return 0;
	memcpy(words, pairs, sizeof(words));
	variant = (m->narrow ? words[0] & 0xff : words[0]) - m->first;
	index = variant < WIRE_VARIANTS ? m->words[variant] : m->other;
	if (index == WIRE_LOCAL_WORD)
		return make_key(WIRE_KEY_LOCAL, words[0], 0);
	if (index >= WIRE_MEMORY_WORDS - 1)
		return 0;
	return make_key(WIRE_KEY_DEF, words[index], words[index + 1]);
}

uint64_t item_key(const struct plan_held_key *held, const struct wire_memory_key *m,
		  const struct item_call *c)
{
	uint64_t slot = c->calls->items[c->index].sp + (uint32_t)held->slot, value;

	if (held->in_place)
		return held->slot < 0 ? 0 : key_in_memory(m, slot, c->memory);
	if (held->reg != WIRE_REG_NONE) {
		if (held->key == WIRE_KEY_DEF || !read_register(c, held->reg, &value))
			return 0;
	} else if (held->slot < 0 || !copied__word(c->memory, slot, &value)) {
		return 0;
	}
	if (held->key == WIRE_KEY_MEMORY)
		return key_in_memory(m, value, c->memory);
	return make_key(held->key, (uint32_t)value, (uint32_t)(value >> 32));
}

static bool is_local(uint64_t key)
{
	return key && wire_key_crate(key) == WIRE_KEY_LOCAL_CRATE;
}

/* The name of a row further in with the same key, or NULL. */
static const char *known_name(const struct stuck_rows *rows, uint32_t row)
{
	for (uint32_t i = row + 1; i < rows->n; i++)
		if (rows->items[i].key == rows->items[row].key && rows->items[i].item)
			return rows->items[i].item;
	return NULL;
}

static int name_row(const struct item_names *n, const struct compiler_context *c,
		    struct stuck_rows *rows, uint32_t row)
{
	struct stuck_row *r = &rows->items[row];
	const char *known = known_name(rows, row);

	if (!known)
		return compiler_names__path(&n->memory, n->layout, c, n->crate, (uint32_t)r->key,
					    &r->item);
	r->item = strdup(known);
	return r->item ? 0 : -ENOMEM;
}

static void forget(struct stuck_rows *rows)
{
	for (uint32_t i = 0; i < rows->n; i++)
		free(take_ptr(rows->items[i].item));
}

int item_names__find(const struct item_names *n, struct stuck_rows *rows)
{
	struct compiler_context c, after;
	uint32_t named = 0;
	int err = compiler_context__of_thread(&n->memory, n->layout, n->bias, n->fs_base, &c);

	for (uint32_t i = rows->n; i-- && !err && named < ITEMS_NAMED_MAX;) {
		if (!is_local(rows->items[i].key))
			continue;
		named++;
		err = name_row(n, &c, rows, i);
		/* Without a name, or unreadable: others may be neither. */
		if (err == -ENOENT || err == -EFAULT)
			err = 0;
	}
	if (!err)
		err = compiler_context__of_thread(&n->memory, n->layout, n->bias, n->fs_base,
						  &after);
	/* Last: all that was read is of this program, or of none that is named. */
	if (err || after.context != c.context || (named && !n->runs_same(n->memory.ctx)))
		forget(rows);
	return err == -ENOMEM ? err : 0;
}
