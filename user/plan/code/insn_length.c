// SPDX-License-Identifier: Apache-2.0 OR MIT
/* By the opcode maps of Intel's manual, volume 2, appendix A, for 64-bit mode. */
#include "plan/code/insn_length.h"

#include <stdbool.h>

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

/* As any_length(), with few branches: needs INSN_LENGTH_MAX bytes. 0: use any_length(). */
static inline size_t simple_length(const uint8_t *p)
{
	uint8_t f;
	size_t at = simple_opcode(p, &f);

	return is_simple[f] ? at + immediates[f] + (modrms[f] ? modrm_length(p + at, 2) : 0) : 0;
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
	size_t size = len >= INSN_LENGTH_MAX ? simple_length(p) : 0;

	return size ?: any_length(p, len);
}

/* jmp, jcc, loop and jrcxz, in one byte. */
static bool is_short_branch(uint8_t opcode)
{
	return opcode == 0xeb || (opcode & 0xf0) == 0x70 || (opcode & 0xfc) == 0xe0;
}

/* By the length that ModRM leads to: bytes of the displacement in it. */
static const uint8_t displacements[7] = {[2] = 1, [3] = 1, [5] = 4, [6] = 4};

static inline struct insn_displacement displacement_of_modrm(const uint8_t *p, size_t at)
{
	size_t n = modrm_length(p + at, 2);
	bool only_sib = n == 2 && (modrm_lengths[p[at]] & 0x80);
	uint8_t size = only_sib ? 0 : displacements[n];

	return (struct insn_displacement){(uint8_t)(at + n - size), size};
}

/* The displacement of an instruction whose opcode ends at `at`. */
static inline struct insn_displacement find_displacement(const uint8_t *p, size_t at, enum follow f)
{
	if (has_modrm(f))
		return displacement_of_modrm(p, at);
	if (f == J)
		return (struct insn_displacement){(uint8_t)at, 4};
	return (struct insn_displacement){(uint8_t)at, f == B && is_short_branch(p[at - 1])};
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
