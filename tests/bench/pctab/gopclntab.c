// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "gopclntab.h"

#include <errno.h>
#include <string.h>

#include "pctab/pctab.h"

/* The header: a magic number, two zeroes, two bytes, then words of the pointer's size. */
enum {
	HEADER_MAGIC = 0,
	HEADER_ZERO = 4,
	HEADER_QUANTUM = 6,
	HEADER_POINTER_SIZE = 7,
	HEADER_WORDS = 8,
};

/* Go 1.26 writes 0 for the start of the text; it is not needed here. */
enum {
	WORD_FUNCTIONS,
	WORD_FILES,
	WORD_TEXT_START,
	WORD_NAMES,
	WORD_CUTAB,
	WORD_FILETAB,
	WORD_PCTAB,
	WORD_FUNCTAB,
	N_WORDS,
};

#define MAGIC_GO_1_2  0xfffffffbu
#define MAGIC_GO_1_16 0xfffffffau
#define MAGIC_GO_1_18 0xfffffff0u
#define MAGIC_GO_1_20 0xfffffff1u

/* An entry of functab: two u32. */
#define FUNCTAB_ENTRY_SIZE 8

/* A function's record; Go 1.20 put the start line behind cuOffset. */
enum {
	RECORD_ENTRY = 0,
	RECORD_NAME = 4,
	RECORD_SP = 16, /* then the files and the lines */
	RECORD_N_DATA = 28,
	RECORD_SIZE_GO_1_18 = 40,
	RECORD_SIZE_GO_1_20 = 44,
};

/* The caller has checked the bounds. */
static uint32_t load_u32(const struct gopclntab *t, const uint8_t *p)
{
	if (t->big_endian)
		return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
	return (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

static uint64_t load_word(const struct gopclntab *t, unsigned int i)
{
	const uint8_t *p = t->bytes + HEADER_WORDS + (size_t)i * t->pointer_size;
	uint64_t first = load_u32(t, p), second;

	if (t->pointer_size == 4)
		return first;
	second = load_u32(t, p + 4);
	return t->big_endian ? first << 32 | second : second << 32 | first;
}

static const char *check_magic(struct gopclntab *t)
{
	switch (load_u32(t, t->bytes + HEADER_MAGIC)) {
	case MAGIC_GO_1_18:
		t->record_size = RECORD_SIZE_GO_1_18;
		return NULL;
	case MAGIC_GO_1_20:
		t->record_size = RECORD_SIZE_GO_1_20;
		return NULL;
	case MAGIC_GO_1_2:
	case MAGIC_GO_1_16:
		return "it was built by a Go before 1.18";
	default:
		return "its function table has an unknown version";
	}
}

static const char *check_header(struct gopclntab *t)
{
	uint8_t quantum;
	const char *why;

	if (t->size < HEADER_WORDS + N_WORDS * sizeof(uint64_t))
		return "its function table is cut short";
	why = check_magic(t);
	if (why)
		return why;
	quantum = t->bytes[HEADER_QUANTUM];
	t->pointer_size = t->bytes[HEADER_POINTER_SIZE];
	if (t->bytes[HEADER_ZERO] || t->bytes[HEADER_ZERO + 1] ||
	    (t->pointer_size != 4 && t->pointer_size != 8) ||
	    (quantum != 1 && quantum != 2 && quantum != 4))
		return "the header of its function table is damaged";
	t->quantum_shift = (uint8_t)__builtin_ctz(quantum);
	return NULL;
}

static const char *check_parts(struct gopclntab *t)
{
	uint64_t n = load_word(t, WORD_FUNCTIONS), names = load_word(t, WORD_NAMES);
	uint64_t pctab = load_word(t, WORD_PCTAB), functab = load_word(t, WORD_FUNCTAB);

	if (names > t->size || pctab > t->size || functab > t->size)
		return "its function table names parts outside of itself";
	/* One more entry than functions would have: a u32 that ends the last one. */
	if (n > UINT32_MAX || n * FUNCTAB_ENTRY_SIZE + sizeof(uint32_t) > t->size - functab)
		return "its function table is cut short";
	t->n_functions = (uint32_t)n;
	t->names = names;
	t->pctab = pctab;
	t->pctab_end = functab > pctab ? functab : t->size;
	t->functab = functab;
	t->text_size = load_u32(t, t->bytes + functab + n * FUNCTAB_ENTRY_SIZE);
	return NULL;
}

int gopclntab__init(struct gopclntab *t, const uint8_t *bytes, size_t size, bool big_endian,
		    const char **why)
{
	struct gopclntab new = {.bytes = bytes, .size = size, .big_endian = big_endian};

	*why = check_header(&new) ?: check_parts(&new);
	if (*why)
		return -ENOEXEC;
	*t = new;
	return 0;
}

static const char *name_at(const struct gopclntab *t, uint32_t offset)
{
	size_t room = t->size - t->names;
	const uint8_t *names = t->bytes + t->names;

	if (offset >= room || !memchr(names + offset, '\0', room - offset))
		return "";
	return (const char *)names + offset;
}

int gopclntab__function(const struct gopclntab *t, uint32_t i, struct gopclntab_function *f)
{
	const uint8_t *functab = t->bytes + t->functab;
	const uint8_t *entry = functab + (size_t)i * FUNCTAB_ENTRY_SIZE, *record;
	uint32_t start = load_u32(t, entry), at = load_u32(t, entry + 4), n;
	uint32_t next = load_u32(t, entry + FUNCTAB_ENTRY_SIZE);
	size_t room = t->size - t->functab;

	if (next < start || next > t->text_size || at > room || room - at < t->record_size)
		return -EBADMSG;
	record = functab + at;
	n = load_u32(t, record + RECORD_N_DATA);
	/* The record repeats the entry: what does not is no record. */
	if (load_u32(t, record + RECORD_ENTRY) != start || n > GOPCLNTAB_DATA_MAX ||
	    room - at - t->record_size < n * sizeof(uint32_t))
		return -EBADMSG;
	f->entry = start;
	f->room = next - start;
	f->name = name_at(t, load_u32(t, record + RECORD_NAME));
	f->n_tables = GOPCLNTAB_DATA + n;
	for (uint32_t k = 0; k < GOPCLNTAB_DATA; k++)
		f->tables[k] = load_u32(t, record + RECORD_SP + 4 * k);
	for (uint32_t k = 0; k < n; k++)
		f->tables[GOPCLNTAB_DATA + k] = load_u32(t, record + t->record_size + 4 * k);
	return 0;
}

const uint8_t *gopclntab__table(const struct gopclntab *t, uint32_t offset, size_t *size)
{
	if (!offset || offset >= t->pctab_end - t->pctab) {
		*size = 0;
		return NULL;
	}
	*size = t->pctab_end - t->pctab - offset;
	return t->bytes + t->pctab + offset;
}
