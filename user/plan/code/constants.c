// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/code/constants.h"

#include <capstone/capstone.h>
#include <string.h>
#include "plan/symbols/relocated.h"

unsigned int constants_condition(unsigned int move)
{
	switch (move) {
	case X86_INS_CMOVE:
		return X86_INS_JE;
	case X86_INS_CMOVNE:
		return X86_INS_JNE;
	case X86_INS_CMOVA:
		return X86_INS_JA;
	case X86_INS_CMOVAE:
		return X86_INS_JAE;
	case X86_INS_CMOVB:
		return X86_INS_JB;
	case X86_INS_CMOVBE:
		return X86_INS_JBE;
	case X86_INS_CMOVS:
		return X86_INS_JS;
	case X86_INS_CMOVNS:
		return X86_INS_JNS;
	default:
		return 0;
	}
}

int constants_compare(const struct sum *left, const struct sum *right, uint8_t width,
		      unsigned int jump)
{
	uint64_t a, b;

	if (!sum_is_constant(left) || !sum_is_constant(right))
		return -1;
	a = left->constant << (64 - 8 * width);
	b = right->constant << (64 - 8 * width);
	switch (jump) {
	case X86_INS_JE:
		return a == b;
	case X86_INS_JNE:
		return a != b;
	case X86_INS_JA:
		return a > b;
	case X86_INS_JAE:
		return a >= b;
	case X86_INS_JB:
		return a < b;
	case X86_INS_JBE:
		return a <= b;
	case X86_INS_JG:
		return (int64_t)a > (int64_t)b;
	case X86_INS_JGE:
		return (int64_t)a >= (int64_t)b;
	case X86_INS_JL:
		return (int64_t)a < (int64_t)b;
	case X86_INS_JLE:
		return (int64_t)a <= (int64_t)b;
	case X86_INS_JS:
		return (int64_t)(a - b) < 0;
	case X86_INS_JNS:
		return (int64_t)(a - b) >= 0;
	default:
		return -1;
	}
}

struct sum constants_fold(unsigned int id, const struct sum *a, const struct sum *b, uint8_t size)
{
	uint64_t mask = size == 8 ? ~0ull : (1ull << 8 * size) - 1;
	unsigned int by = b->constant & (size == 8 ? 63 : 31), unused = 64 - 8 * size;

	if (!sum_is_constant(a) || !sum_is_constant(b))
		return sum_unknown;
	switch (id) {
	case X86_INS_AND:
		return sum_constant(a->constant & b->constant);
	case X86_INS_OR:
		return sum_constant(a->constant | b->constant);
	case X86_INS_SAR:
		return sum_constant((uint64_t)((int64_t)(a->constant << unused) >> unused >> by) &
				    mask);
	case X86_INS_SHR:
		return sum_constant((a->constant & mask) >> by);
	case X86_INS_SHL:
		return sum_constant((a->constant << by) & mask);
	case X86_INS_BSR:
		return b->constant ? sum_constant(63 - (uint64_t)__builtin_clzll(b->constant))
				   : sum_unknown;
	default:
		return sum_unknown;
	}
}

struct sum constants_load(const struct elf_image *img, uint64_t at, uint8_t size)
{
	size_t len;
	const uint8_t *bytes = elf_image__bytes(img, at, &len);
	uint64_t value = 0;

	if (!bytes || len < size)
		return sum_unknown;
	for (uint8_t i = 0; i < size; i++)
		value |= (uint64_t)bytes[i] << (8 * i);
	return sum_constant(value);
}

/* mov %fs:0, %rax; add WORD(%rip), %rax; ret */
bool constants_in_thread(const struct elf_image *img, uint64_t function, uint64_t *word)
{
	static const uint8_t base[] = {0x64, 0x48, 0x8b, 0x04, 0x25, 0, 0, 0, 0, 0x48, 0x03, 0x05};
	size_t len, size = sizeof(base) + 4;
	const uint8_t *p = elf_image__code(img, function, &len);
	int32_t disp;

	if (!p || len <= size || memcmp(p, base, sizeof(base)) || p[size] != 0xc3)
		return false;
	memcpy(&disp, p + sizeof(base), sizeof(disp));
	*word = function + size + (uint64_t)(int64_t)disp;
	return true;
}

static bool is_word_of(const struct elf_image *img, const char *section, uint64_t at)
{
	uint64_t start, n;

	return elf_image__section(img, section, &start, &n) && at >= start && n >= 8 &&
	       at - start <= n - 8;
}

bool constants_word(const struct elf_image *img, uint64_t at, uint64_t *word)
{
	const uint8_t *bytes;
	size_t len;

	if (at % 8 || (!is_word_of(img, ".rodata", at) && !is_word_of(img, ".data.rel.ro", at)))
		return false;
	bytes = elf_image__bytes(img, at, &len);
	if (!bytes || len < sizeof(*word))
		return false;
	*word = relocated__value(img, at);
	if (!*word)
		memcpy(word, bytes, sizeof(*word));
	return true;
}
