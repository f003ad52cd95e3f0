// SPDX-License-Identifier: Apache-2.0 OR MIT
/* By the opcode maps of Intel's manual, volume 2, appendix A, for 64-bit mode. */
#include "plan/code/insn_length.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "plan/code/opcode.h"

/* The bytes behind an opcode. */
enum follow {
	N,  /* nothing */
	M,  /* ModRM */
	B,  /* one byte */
	Z,  /* 4 bytes, or 2 with the operand-size prefix */
	J,  /* 4 bytes, of a branch: such a prefix only with REX.W, which overrides it */
	W,  /* 2 bytes */
	MB, /* ModRM and a byte */
	MZ,
	V,  /* as Z, 8 bytes with REX.W */
	O,  /* an address of 8 bytes */
	E,  /* 3 bytes */
	T,  /* ModRM; a byte if it is TEST */
	TZ, /* likewise, as Z */
	X,  /* no instruction, or read elsewhere */
};

static const uint8_t one_byte[256] = {
	/* 00 */ M,  M,	 M, M,	B, Z, X,  X,  M, M,  M, M,  B, Z, X, X,
	/* 10 */ M,  M,	 M, M,	B, Z, X,  X,  M, M,  M, M,  B, Z, X, X,
	/* 20 */ M,  M,	 M, M,	B, Z, X,  X,  M, M,  M, M,  B, Z, X, X,
	/* 30 */ M,  M,	 M, M,	B, Z, X,  X,  M, M,  M, M,  B, Z, X, X,
	/* 40 */ X,  X,	 X, X,	X, X, X,  X,  X, X,  X, X,  X, X, X, X,
	/* 50 */ N,  N,	 N, N,	N, N, N,  N,  N, N,  N, N,  N, N, N, N,
	/* 60 */ X,  X,	 X, M,	X, X, X,  X,  Z, MZ, B, MB, N, N, N, N,
	/* 70 */ B,  B,	 B, B,	B, B, B,  B,  B, B,  B, B,  B, B, B, B,
	/* 80 */ MB, MZ, X, MB, M, M, M,  M,  M, M,  M, M,  M, M, M, X,
	/* 90 */ N,  N,	 N, N,	N, N, N,  N,  N, N,  X, N,  N, N, N, N,
	/* a0 */ O,  O,	 O, O,	N, N, N,  N,  B, Z,  N, N,  N, N, N, N,
	/* b0 */ B,  B,	 B, B,	B, B, B,  B,  V, V,  V, V,  V, V, V, V,
	/* c0 */ MB, MB, W, N,	X, X, MB, MZ, E, N,  W, N,  N, B, X, N,
	/* d0 */ M,  M,	 M, M,	X, X, X,  N,  M, M,  M, M,  M, M, M, M,
	/* e0 */ B,  B,	 B, B,	B, B, B,  B,  J, J,  X, B,  N, N, N, N,
	/* f0 */ X,  N,	 X, X,	N, N, T,  TZ, N, N,  N, N,  N, N, M, M,
};

/* After 0f. */
static const uint8_t two_bytes[256] = {
	/* 00 */ M,  M,	 M,  M,	 X,  N,	 N,  N, N, N, X,  N, X,	 M, N, X,
	/* 10 */ M,  M,	 M,  M,	 M,  M,	 M,  M, M, M, M,  M, M,	 M, M, M,
	/* 20 */ X,  X,	 X,  X,	 X,  X,	 X,  X, M, M, M,  M, M,	 M, M, M,
	/* 30 */ N,  N,	 N,  N,	 N,  N,	 X,  N, X, X, X,  X, X,	 X, X, X,
	/* 40 */ M,  M,	 M,  M,	 M,  M,	 M,  M, M, M, M,  M, M,	 M, M, M,
	/* 50 */ M,  M,	 M,  M,	 M,  M,	 M,  M, M, M, M,  M, M,	 M, M, M,
	/* 60 */ M,  M,	 M,  M,	 M,  M,	 M,  M, M, M, M,  M, M,	 M, M, M,
	/* 70 */ MB, MB, MB, MB, M,  M,	 M,  N, X, X, X,  X, M,	 M, M, M,
	/* 80 */ J,  J,	 J,  J,	 J,  J,	 J,  J, J, J, J,  J, J,	 J, J, J,
	/* 90 */ M,  M,	 M,  M,	 M,  M,	 M,  M, M, M, M,  M, M,	 M, M, M,
	/* a0 */ N,  N,	 N,  M,	 MB, M,	 X,  X, N, N, N,  M, MB, M, M, M,
	/* b0 */ M,  M,	 M,  M,	 M,  M,	 M,  M, M, M, MB, M, M,	 M, M, M,
	/* c0 */ M,  M,	 MB, M,	 MB, MB, MB, M, N, N, N,  N, N,	 N, N, N,
	/* d0 */ M,  M,	 M,  M,	 M,  M,	 M,  M, M, M, M,  M, M,	 M, M, M,
	/* e0 */ M,  M,	 M,  M,	 M,  M,	 M,  M, M, M, M,  M, M,	 M, M, M,
	/* f0 */ M,  M,	 M,  M,	 M,  M,	 M,  M, M, M, M,  M, M,	 M, M, X,
};

struct prefixes {
	bool short_operand;
	uint8_t rex; /* 0: none */
};

/* By ModRM: its bytes, with a SIB byte and a displacement; and 0x80 where SIB may add 4 more. */
#define ROW(none, disp32, sib) none, none, none, none, sib, disp32, none, none
#define ROWS(none, disp32, sib)                                                         \
	ROW(none, disp32, sib), ROW(none, disp32, sib), ROW(none, disp32, sib),         \
		ROW(none, disp32, sib), ROW(none, disp32, sib), ROW(none, disp32, sib), \
		ROW(none, disp32, sib), ROW(none, disp32, sib)

static const uint8_t modrm_lengths[256] = {
	ROWS(1, 5, 0x82),
	ROWS(2, 2, 3),
	ROWS(5, 5, 6),
	ROWS(1, 1, 1),
};

/* 0 if the length needs more than these `len` bytes. */
static inline size_t modrm_length(const uint8_t *p, size_t len)
{
	uint8_t n;

	if (!len)
		return 0;
	n = modrm_lengths[p[0]];
	if (!(n & 0x80))
		return n;
	return len < 2 ? 0 : (p[1] & 7) == 5 ? 6 : 2;
}

static inline bool has_modrm(enum follow f)
{
	return f == M || f == MB || f == MZ || f == T || f == TZ;
}

static size_t immediate_length(enum follow f, struct prefixes pre, const uint8_t *modrm)
{
	bool wide = pre.rex & 8;
	size_t z = pre.short_operand && !wide ? 2 : 4;

	switch (f) {
	case B:
	case MB:
		return 1;
	case W:
		return 2;
	case E:
		return 3;
	case J:
		return 4;
	case Z:
	case MZ:
		return z;
	case V:
		return wide ? 8 : z;
	case O:
		return 8;
	/* TEST is the first two of eight. */
	case T:
		return (modrm[0] & 0x38) < 0x10 ? 1 : 0;
	case TZ:
		return (modrm[0] & 0x38) < 0x10 ? z : 0;
	default:
		return 0;
	}
}

/* The length of an instruction whose opcode ends at `at`. */
static size_t finish(const uint8_t *p, size_t len, size_t at, enum follow f, struct prefixes pre)
{
	size_t modrm = 0, end;

	if (f == X || (f == J && pre.short_operand && !(pre.rex & 8)))
		return 0;
	if (has_modrm(f)) {
		modrm = modrm_length(p + at, len - at);
		if (!modrm)
			return 0;
	}
	end = at + modrm + immediate_length(f, pre, p + at);
	return end <= len && end <= INSN_LENGTH_MAX ? end : 0;
}

/* The opcode maps of VEX and EVEX; EVEX has two more, without immediates. */
static enum follow follow_of_map(unsigned int map, uint8_t opcode)
{
	switch (map) {
	case 1:
		return two_bytes[opcode] == J ? X : two_bytes[opcode];
	case 2:
	case 5:
	case 6:
		return M;
	case 3:
		return MB;
	default:
		return X;
	}
}

/* VEX in two or three bytes, EVEX in four, at `at`; the opcode follows. */
static size_t vector_length(const uint8_t *p, size_t len, size_t at)
{
	size_t opcode = at + (p[at] == 0xc5 ? 2 : p[at] == 0xc4 ? 3 : 4);
	unsigned int map;

	if (opcode >= len)
		return 0;
	map = p[at] == 0xc5 ? 1 : p[at + 1] & (p[at] == 0xc4 ? 0x1f : 7);
	if (map > 3 && p[at] != 0x62)
		return 0;
	return finish(p, len, opcode + 1, follow_of_map(map, p[opcode]), (struct prefixes){0});
}

static size_t escaped_length(const uint8_t *p, size_t len, size_t at, struct prefixes pre)
{
	if (at >= len)
		return 0;
	if (p[at] == 0x38 || p[at] == 0x3a)
		return at + 1 < len ? finish(p, len, at + 2, p[at] == 0x38 ? M : MB, pre) : 0;
	return finish(p, len, at + 1, two_bytes[p[at]], pre);
}

static bool is_prefix(uint8_t b)
{
	return b == 0x26 || b == 0x2e || b == 0x36 || b == 0x3e || (b >= 0x64 && b <= 0x67) ||
	       b == 0xf0 || b == 0xf2 || b == 0xf3;
}

/* For most opcodes: the number of immediate bytes, and whether ModRM follows. */
static const uint8_t immediates[X + 1] = {
	[B] = 1, [MB] = 1, [Z] = 4, [MZ] = 4, [J] = 4,
};
static const uint8_t modrms[X + 1] = {[M] = 1, [MB] = 1, [MZ] = 1};
static const uint8_t is_simple[X + 1] = {
	[N] = 1, [M] = 1, [B] = 1, [MB] = 1, [Z] = 1, [MZ] = 1, [J] = 1,
};

/* The length up to the opcode's end; *f is what follows. Accepts no prefix but REX. */
static inline size_t simple_opcode(const uint8_t *p, uint8_t *f)
{
	size_t at = (p[0] & 0xf0) == 0x40;

	*f = one_byte[p[at]];
	if (p[at] == 0x0f)
		*f = two_bytes[p[++at]];
	return at + 1;
}

static size_t any_length(const uint8_t *p, size_t len)
{
	struct prefixes pre = {0};
	bool short_address = false;
	size_t at = 0;

	/* REX counts only right before the opcode. */
	for (; at < len && at < INSN_LENGTH_MAX && is_prefix(p[at]); at++) {
		pre.short_operand = pre.short_operand || p[at] == 0x66;
		short_address = short_address || p[at] == 0x67;
	}
	if (at < len && (p[at] & 0xf0) == 0x40)
		pre.rex = p[at++];
	if (at >= len)
		return 0;
	if (p[at] == 0x0f)
		return escaped_length(p, len, at + 1, pre);
	if (p[at] == 0xc4 || p[at] == 0xc5 || p[at] == 0x62)
		return vector_length(p, len, at);
	/* POP; with another number in its ModRM byte, the prefix of XOP. */
	if (p[at] == 0x8f)
		return at + 1 < len && !(p[at + 1] & 0x38) ? finish(p, len, at + 1, M, pre) : 0;
	/* No compiler shortens an absolute address. */
	if (one_byte[p[at]] == O && short_address)
		return 0;
	return finish(p, len, at + 1, one_byte[p[at]], pre);
}

size_t insn_length(const uint8_t *p, size_t len)
{
	size_t at;
	uint8_t f;

	/* Most instructions, with few branches. */
	if (len >= INSN_LENGTH_MAX) {
		at = simple_opcode(p, &f);
		if (is_simple[f])
			return at + immediates[f] + (modrms[f] ? modrm_length(p + at, 2) : 0);
	}
	return any_length(p, len);
}

/* By the length that ModRM leads to: bytes of the displacement in it. */
static const uint8_t displacements[7] = {[2] = 1, [3] = 1, [5] = 4, [6] = 4};

/* The displacement of an instruction whose opcode ends at `at`. */
static inline struct insn_displacement find_displacement(const uint8_t *p, size_t at, enum follow f)
{
	uint8_t opcode = p[at - 1];

	if (has_modrm(f)) {
		size_t n = modrm_length(p + at, 2);
		bool only_sib = n == 2 && (modrm_lengths[p[at]] & 0x80);
		uint8_t size = only_sib ? 0 : displacements[n];

		return (struct insn_displacement){(uint8_t)(at + n - size), size};
	}
	if (f == J)
		return (struct insn_displacement){(uint8_t)at, 4};
	/* jmp, jcc, loop and jrcxz, in one byte. */
	return (struct insn_displacement){
		(uint8_t)at,
		f == B && (opcode == 0xeb || (opcode & 0xf0) == 0x70 || (opcode & 0xfc) == 0xe0)};
}

size_t insn_length_displaced(const uint8_t *p, size_t len, struct insn_displacement *d)
{
	bool prefix = len && (p[0] == 0x66 || p[0] == 0xf2 || p[0] == 0xf3);
	size_t size, at;
	uint8_t f;

	*d = (struct insn_displacement){0, 0};
	if (len < INSN_LENGTH_MAX + 1)
		return insn_length(p, len);
	at = prefix + simple_opcode(p + prefix, &f);
	size = prefix || !is_simple[f]
		       ? any_length(p, len)
		       : at + immediates[f] + (modrms[f] ? modrm_length(p + at, 2) : 0);
	/* No prefix is known to be ignored by a branch. */
	if (size && (has_modrm(f) || !prefix))
		*d = find_displacement(p, at, f);
	return size;
}

/* ---- Decoded before -------------------------------------------------------------------------- */

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
