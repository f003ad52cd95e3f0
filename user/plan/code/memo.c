// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/code/memo.h"

#include <stdlib.h>
#include <string.h>

#include "plan/code/insn_length.h"
#include "plan/code/opcode.h"

#define ENTRY_BITS 15
#define CACHE_LINE 64
/* Room for an instruction and a byte more. */
#define ROOM 16

_Static_assert(INSN_LENGTH_MAX < ROOM, "room");

/* How an entry depends on the displacement. */
enum kind {
	KIND_EXACT,	/* not known: the entry is of the instruction with this displacement */
	KIND_IGNORED,	/* nothing; this and the next are of any displacement */
	KIND_ADDRESSED, /* `disp` is it */
	KIND_RELATIVE,	/* `target`, relative to the instruction's end */
};

/*
 * The bytes of an instruction, padded with zeroes. Unless its kind is KIND_EXACT, there are zeroes
 * in place of the displacement too.
 */
struct key {
	uint64_t low, high;
};

/* The last instruction stored here, without its address, and without what its kind says. */
struct entry {
	struct key key;	       /* and the kind, in its last byte */
	struct code_insn insn; /* size 0: none */
};

_Static_assert(sizeof(struct entry) == CACHE_LINE, "one line of the cache for each");

struct code_memo {
	struct entry entries[1u << ENTRY_BITS];
};

struct code_memo *code_memo__new(void)
{
	struct code_memo *m = aligned_alloc(CACHE_LINE, sizeof(*m));

	return m ? memset(m, 0, sizeof(*m)) : NULL;
}

void code_memo__free(struct code_memo *m)
{
	free(m);
}

/* The bytes that begin with an instruction. */
struct text {
	uint8_t bytes[ROOM];
	size_t size; /* 0: there is no instruction */
	struct insn_displacement at;
	uint64_t displacement;
};

static inline void read_text(struct text *t, const uint8_t *bytes, size_t len)
{
	if (len < ROOM) {
		memset(t->bytes, 0, ROOM);
		memcpy(t->bytes, bytes, len);
	} else {
		memcpy(t->bytes, bytes, ROOM);
	}
	t->size = insn_length_displaced(t->bytes, ROOM, &t->at);
	if (t->size > len)
		t->size = 0;
	t->displacement = t->at.size == 1 ? (uint64_t)(int8_t)t->bytes[t->at.at]
			  : t->at.size	  ? opcode_target(t->bytes + t->at.at, 0)
					  : 0;
}

/* With any displacement, or with its own. */
static inline struct key key_of(const struct text *t, bool any)
{
	unsigned int behind = 8 * (unsigned int)(ROOM - t->size);
	struct key key;

	memcpy(&key, t->bytes, sizeof(key));
	if (behind >= 64) {
		key.low &= UINT64_MAX >> (behind - 64);
		key.high = 0;
	} else {
		key.high &= UINT64_MAX >> behind;
	}
	if (any && t->at.size == 4)
		memset((uint8_t *)&key + t->at.at, 0, 4);
	else if (any)
		((uint8_t *)&key)[t->at.at] = 0;
	return key;
}

static inline size_t place_of(struct key key, bool any)
{
	uint64_t h = (key.low + any) * 0x9e3779b97f4a7c15u ^ key.high;

	return (h ^ h >> 32) * 0xd6e8feb86659fd93u >> (64 - ENTRY_BITS);
}

#define KIND_SHIFT (8 * (ROOM - 1) - 64)

static inline enum kind kind_of(const struct entry *e)
{
	return (enum kind)(e->key.high >> KIND_SHIFT);
}

static inline const struct entry *look_up(const struct code_memo *m, const struct text *t, bool any)
{
	struct key key = key_of(t, any);
	const struct entry *e = &m->entries[place_of(key, any)];
	uint64_t high = e->key.high & (((uint64_t)1 << KIND_SHIFT) - 1);

	return e->key.low == key.low && high == key.high && e->insn.size == t->size &&
			       any == (kind_of(e) != KIND_EXACT)
		       ? e
		       : NULL;
}

size_t code_memo__find(const struct code_memo *m, const uint8_t *bytes, size_t len, uint64_t addr,
		       struct code_insn *out)
{
	const struct entry *e;
	struct text t;

	read_text(&t, bytes, len);
	if (!t.size)
		return 0;
	e = t.at.size ? look_up(m, &t, true) : NULL;
	e = e ?: look_up(m, &t, false);
	if (!e)
		return 0;
	*out = e->insn;
	out->addr = addr;
	if (kind_of(e) == KIND_ADDRESSED)
		out->disp = (int64_t)t.displacement;
	else if (kind_of(e) == KIND_RELATIVE)
		out->target = addr + t.size + t.displacement;
	return t.size;
}

static bool has_target(const struct code_insn *insn)
{
	return insn->flow == CODE_JCC || insn->flow == CODE_JMP || insn->flow == CODE_CALL ||
	       insn->shape == CODE_LEA_RIP || insn->shape == CODE_GO_RIP;
}

/* A displacement of 0 shows nothing. */
static enum kind find_kind(const struct text *t, const struct code_insn *insn)
{
	if (has_target(insn))
		return insn->target == insn->addr + t->size + t->displacement ? KIND_RELATIVE
									      : KIND_EXACT;
	if (!t->displacement || (insn->sp_adjust && insn->shape == CODE_LEA))
		return KIND_EXACT;
	if (insn->disp == (int64_t)t->displacement)
		return KIND_ADDRESSED;
	return insn->disp ? KIND_EXACT : KIND_IGNORED;
}

void code_memo__add(struct code_memo *m, const uint8_t *bytes, const struct code_insn *insn)
{
	enum kind kind = KIND_EXACT;
	struct entry *e;
	struct text t;
	struct key key;

	read_text(&t, bytes, insn->size);
	if (!t.size || t.size != insn->size)
		return;
	if (t.at.size)
		kind = find_kind(&t, insn);
	/* Where its target is, depends on its address in a way that is not known. */
	if (kind == KIND_EXACT && has_target(insn))
		return;
	key = key_of(&t, kind != KIND_EXACT);
	e = &m->entries[place_of(key, kind != KIND_EXACT)];
	*e = (struct entry){key, *insn};
	e->key.high |= (uint64_t)kind << KIND_SHIFT;
}
