// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The point look-up, twice: for any processor, and for x86-64 with population counts and bit-field
 * instructions, chosen when the first one is made.
 *
 * Branches that depend on the data take most of the time: each misprediction costs more than all
 * else. The loops over pcs and lengths have such branches; the second version has none. The few
 * choices that skip much work for many look-ups (a chunk of one value, a pc before the first
 * change) stay branches: for places that are looked up again and again they are predicted, and for
 * others the processor is working on several look-ups at once and hides a good part of the cost.
 */
#include "pctab/linear.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#ifdef __x86_64__
#include <emmintrin.h>
#endif

#define ALWAYS_INLINE static inline __attribute__((always_inline))
#define likely(x)     __builtin_expect(!!(x), 1)
#define unlikely(x)   __builtin_expect(!!(x), 0)

ALWAYS_INLINE uint32_t load_u32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return le32toh(v);
}

/* The bits of a value with this 2-bit field, 1 to 3: 8, 16, 32. */
ALWAYS_INLINE unsigned int bits_of(unsigned int field)
{
	return 4u << field;
}

/* The first `bits` of 4 loaded bytes, their sign extended. */
ALWAYS_INLINE uint32_t extend(uint32_t loaded, unsigned int bits)
{
	unsigned int shift = (0 - bits) & 31;

	return (uint32_t)((int32_t)(loaded << shift) >> shift);
}

/* Where the chunk of `pc` starts: its offset, at or beyond the size if the index is damaged. */
ALWAYS_INLINE uint64_t find_chunk(const struct pctab_linear *t, unsigned int quantum_shift,
				  uint32_t pc)
{
	unsigned int chunk_shift = PCTAB_CHUNK_SHIFT + quantum_shift, width_shift;
	uint32_t last = (t->length - 1) >> chunk_shift, chunk = pc >> chunk_shift;
	const uint8_t *index = t->data;
	uint64_t offset;

	/* A function of one chunk has no index: there the first byte means something else. */
	if (!last)
		return 0;
	if (likely(*index < PCTAB_INDEX_WIDE)) {
		if (unlikely(last >= t->size))
			return UINT64_MAX;
		/* The first chunk starts where the index ends. */
		return chunk ? last + (uint64_t)index[chunk - 1] : last;
	}
	width_shift = *index == PCTAB_INDEX_WIDE ? 1 : 2;
	offset = 1 + ((uint64_t)last << width_shift);
	if (unlikely(offset >= t->size))
		return UINT64_MAX;
	if (chunk) {
		uint32_t entry = load_u32(index + 1 + ((uint64_t)(chunk - 1) << width_shift));

		offset += width_shift == 1 ? entry & UINT16_MAX : entry;
	}
	return offset;
}

/* The value at `pc`, counted in quanta from the start of the chunk. */
static int read_chunk(const uint8_t *chunk, const uint8_t *end, uint8_t pc, int32_t *value)
{
	unsigned int n = *chunk, at = 0, field;
	const uint8_t *pcs = chunk + 1, *lengths = pcs + n, *p = lengths + n / 4 + 1;
	uint32_t bias;

	if ((size_t)(end - chunk) < 1 + n + n / 4 + 1)
		return -EBADMSG;
	while (at < n && pcs[at] <= pc)
		at++;
	bias = at ? extend(load_u32(p), bits_of(*lengths & 3)) : 0;
	for (unsigned int i = 0; i < at; i++) {
		field = lengths[i / 4] >> (2 * (i % 4)) & 3;
		p += bits_of(field) / 8;
	}
	field = lengths[at / 4] >> (2 * (at % 4)) & 3;
	if (!field || p > end || (size_t)(end - p) < bits_of(field) / 8)
		return -EBADMSG;
	*value = (int32_t)(bias + extend(load_u32(p), bits_of(field)));
	return 0;
}

int pctab_linear_lookup_any(const struct pctab_linear *t, unsigned int quantum_shift, uint32_t pc,
			    int32_t *value)
{
	uint64_t start;

	if (pc >= t->length)
		return -ERANGE;
	start = find_chunk(t, quantum_shift, pc);
	if (start >= t->size)
		return -EBADMSG;
	return read_chunk(t->data + start, t->data + t->size, (uint8_t)(pc >> quantum_shift),
			  value);
}

#ifdef __x86_64__

#define FAST	 __attribute__((target("popcnt,bmi,bmi2")))
#define FAST_PCS 31 /* so that the lengths of n + 1 values fit 64 bits */

ALWAYS_INLINE uint64_t load_u64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* The lowest `n` bits; n is below 64. */
ALWAYS_INLINE uint64_t low_bits(uint64_t v, unsigned int n)
{
	return v & ((UINT64_C(1) << n) - 1);
}

/* Bit i is set if byte i of 16 is at most that of `limits`. */
ALWAYS_INLINE uint32_t up_to(const uint8_t *bytes, __m128i limits)
{
	__m128i b = _mm_loadu_si128((const __m128i *)bytes);

	return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(b, limits), b));
}

/* The sum of the lengths that 2-bit fields stand for. */
FAST ALWAYS_INLINE unsigned int sum_lengths(uint64_t fields)
{
	/* 01, 10, 11 have 1, 1, 2 bits; count one more for 10, two for 11. */
	uint64_t more = fields & (fields >> 1 | UINT64_C(0xaaaaaaaaaaaaaaaa));

	return (unsigned int)(__builtin_popcountll(fields) + __builtin_popcountll(more));
}

/* The farthest byte that a chunk of FAST_PCS can make pctab_linear_lookup_fast() read. */
#define FAST_REACH (1 + FAST_PCS + (FAST_PCS / 4 + 1) + 4 * (FAST_PCS + 1))

_Static_assert(PCTAB_PADDING >= FAST_REACH && PCTAB_PADDING >= 1 + 2 * sizeof(__m128i) &&
		       PCTAB_PADDING >= 1 + FAST_PCS + sizeof(uint64_t),
	       "a chunk that starts in a table is read within its padding");

/* The value at `p`, added to `bias`. */
ALWAYS_INLINE int read_value(const uint8_t *p, unsigned int field, uint32_t bias, int32_t *value)
{
	if (unlikely(!field))
		return -EBADMSG;
	*value = (int32_t)(bias + extend(load_u32(p), bits_of(field)));
	return 0;
}

FAST int pctab_linear_lookup_fast(const struct pctab_linear *t, unsigned int quantum_shift,
				  uint32_t pc, int32_t *value)
{
	const uint8_t *chunk, *lengths, *values;
	uint64_t start, fields;
	uint32_t changes, bias;
	unsigned int n, at;
	__m128i limits;

	if (unlikely(pc >= t->length))
		return -ERANGE;
	start = find_chunk(t, quantum_shift, pc);
	if (unlikely(start >= t->size))
		return -EBADMSG;
	chunk = t->data + start;
	n = *chunk;
	if (!n)
		return read_value(chunk + 2, chunk[1] & 3, 0, value);
	pc >>= quantum_shift;
	limits = _mm_set1_epi8((char)pc);
	changes = up_to(chunk + 1, limits);
	if (unlikely(n > 16)) {
		if (n > FAST_PCS)
			return read_chunk(chunk, t->data + t->size, (uint8_t)pc, value);
		changes |= up_to(chunk + 17, limits) << 16;
	}
	lengths = chunk + 1 + n;
	values = lengths + n / 4 + 1;
	fields = load_u64(lengths);
	changes = (uint32_t)low_bits(changes, n);
	if (!changes)
		return read_value(values, fields & 3, 0, value);
	at = (unsigned int)__builtin_popcount(changes);
	bias = extend(load_u32(values), bits_of(fields & 3));
	return read_value(values + sum_lengths(low_bits(fields, 2 * at)), fields >> (2 * at) & 3,
			  bias, value);
}

bool pctab_linear_lookup_is_fast(void)
{
	return __builtin_cpu_supports("popcnt") && __builtin_cpu_supports("bmi2");
}

#else

int pctab_linear_lookup_fast(const struct pctab_linear *t, unsigned int quantum_shift, uint32_t pc,
			     int32_t *value)
{
	return pctab_linear_lookup_any(t, quantum_shift, pc, value);
}

bool pctab_linear_lookup_is_fast(void)
{
	return false;
}

#endif

static int choose(const struct pctab_linear *t, unsigned int quantum_shift, uint32_t pc,
		  int32_t *value)
{
	pctab_linear_lookup_fn *chosen =
		pctab_linear_lookup_is_fast() ? pctab_linear_lookup_fast : pctab_linear_lookup_any;

	__atomic_store_n(&pctab_linear_lookup_chosen, chosen, __ATOMIC_RELAXED);
	return chosen(t, quantum_shift, pc, value);
}

pctab_linear_lookup_fn *pctab_linear_lookup_chosen = choose;
