// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/symbols/functions.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <zlib.h>

#include "base/array.h"
#include "base/bisect.h"
#include "plan/code/opcode.h"

#define MAGIC	    0x6e667071u /* "qpfn" */
#define CHECKSUM_AT 4
#define BASE_AT	    8
#define NUMBERS_AT  16
#define ID_AT	    32
#define NO_NAME	    UINT32_MAX
/* Executable segments: librustc_driver has two. */
#define SEGMENTS_MAX 8

struct functions {
	const uint8_t *bytes;
	size_t len;
	uint32_t n, names_size, id_size;
	uint64_t base;
	uint8_t *owned; /* the bytes; or NULL */
	void *map;
	size_t map_size;
};

/* ---- Reading an ELF file --------------------------------------------------------------------- */

struct range {
	uint64_t addr; /* first: they are sorted by it */
	uint32_t size;
	uint32_t name;
};

/* A symbol that the sweep has entered and not left. */
struct open_symbol {
	uint64_t end;
	const char *name;
	uint32_t name_at; /* NO_NAME: it has no range yet */
};

struct builder {
	struct range *ranges;
	uint32_t n, capacity;
	char *names;
	size_t names_size, names_capacity;
	/* Nested symbols, the innermost last. */
	struct open_symbol *open;
	size_t n_open;
	uint64_t at; /* all addresses below this one have their ranges */
};

static void builder__destroy(struct builder *b)
{
	free(b->ranges);
	free(b->names);
	free(b->open);
}

static int add_range(struct builder *b, uint64_t addr, uint64_t end, uint32_t name)
{
	struct range r = {addr, (uint32_t)(end - addr), name};

	return end - addr > UINT32_MAX ? 0 : array__add(&b->ranges, &b->n, &b->capacity, &r);
}

/* Add a range for the innermost symbol, up to `end`. */
static int add_innermost(struct builder *b, uint64_t end)
{
	struct open_symbol *open = &b->open[b->n_open - 1];
	uint64_t addr = b->at;
	int err = 0;

	if (end <= addr)
		return 0;
	if (open->name_at == NO_NAME) {
		size_t size = strlen(open->name) + 1;

		if (size >= NO_NAME - b->names_size)
			return -EFBIG;
		open->name_at = (uint32_t)b->names_size;
		err = bytes__append(&b->names, &b->names_size, &b->names_capacity, open->name,
				    size);
	}
	b->at = end;
	return err ?: add_range(b, addr, end, open->name_at);
}

/* Add ranges for all addresses up to `addr`. */
static int advance(struct builder *b, uint64_t addr)
{
	int err = 0;

	for (; !err && b->n_open && b->open[b->n_open - 1].end <= addr; b->n_open--)
		err = add_innermost(b, b->open[b->n_open - 1].end);
	if (!err && b->n_open)
		err = add_innermost(b, addr);
	b->at = addr;
	return err;
}

/*
 * Symbols are sorted by address. Those without a size are labels, not functions. Each symbol adds
 * at most two ranges: the part before the next symbol, and the rest of an outer symbol behind its
 * own end.
 */
static int add_symbols(struct builder *b, const struct elf_symbol *syms, size_t n)
{
	uint64_t last = 0;
	int err = 0;

	b->open = calloc(n + 1, sizeof(*b->open));
	if (!b->open)
		return -ENOMEM;
	for (size_t i = 0; i < n && !err; i++) {
		uint64_t size = syms[i].size < UINT32_MAX ? syms[i].size : UINT32_MAX;
		struct open_symbol open = {syms[i].addr + size, syms[i].name, NO_NAME};

		/* Skip a symbol that would end past the end of the address space. */
		if (open.end <= syms[i].addr)
			continue;
		if (b->n_open && last == syms[i].addr) {
			if (open.end > b->open[b->n_open - 1].end)
				b->open[b->n_open - 1] = open;
			continue;
		}
		err = advance(b, syms[i].addr);
		b->open[b->n_open++] = open;
		last = syms[i].addr;
	}
	return err ?: advance(b, UINT64_MAX);
}

/* The end of the code that holds `addr`, or `addr` if none does. */
static uint64_t end_of_code(const struct elf_segment *segments, size_t n, uint64_t addr)
{
	for (size_t i = 0; i < n; i++)
		if (addr >= segments[i].addr && addr - segments[i].addr < segments[i].size)
			return segments[i].addr + segments[i].size;
	return addr;
}

/* Add the parts of the code from `addr` to `end` that none of `n` ranges covers. */
static int add_rest(struct builder *b, uint64_t addr, uint64_t end, uint32_t n, uint32_t *next)
{
	int err = 0;

	while (addr < end && !err) {
		const struct range *r;

		while (*next < n && b->ranges[*next].addr + b->ranges[*next].size <= addr)
			++*next;
		r = *next < n && b->ranges[*next].addr < end ? &b->ranges[*next] : NULL;
		if (!r || r->addr > addr) {
			uint64_t to = r ? r->addr : end;

			err = add_range(b, addr, to, NO_NAME);
			addr = to;
		} else {
			addr = r->addr + r->size;
		}
	}
	return err;
}

/* Code without a symbol, up to where a function starts, or has a symbol. */
static int add_unnamed(struct builder *b, struct elf_image *img)
{
	struct elf_segment segments[SEGMENTS_MAX];
	size_t n_segments = elf_image__code_segments(img, segments, SEGMENTS_MAX), n = 0;
	uint32_t named = b->n, next = 0;
	const uint64_t *starts = NULL;
	int err = elf_image__starts(img, &starts, &n) == -ENOMEM ? -ENOMEM : 0;

	n_segments = n_segments < SEGMENTS_MAX ? n_segments : SEGMENTS_MAX;
	for (size_t i = 0; i < n && !err; i++) {
		uint64_t end = end_of_code(segments, n_segments, starts[i]);

		if (i + 1 < n && starts[i + 1] < end)
			end = starts[i + 1];
		err = add_rest(b, starts[i], end, named, &next);
	}
	if (b->n)
		qsort(b->ranges, b->n, sizeof(*b->ranges), array__by_u64);
	/* Offsets from the first address have 32 bits. */
	while (b->n && b->ranges[b->n - 1].addr - b->ranges[0].addr > UINT32_MAX)
		b->n--;
	return err;
}

static void put_u32(uint8_t *p, uint32_t v)
{
	v = htole32(v);
	memcpy(p, &v, sizeof(v));
}

static int encode(const struct builder *b, struct elf_image *img, uint8_t **bytes, size_t *len)
{
	uint64_t base = b->n ? b->ranges[0].addr : 0, le_base = htole64(base);
	size_t size = FUNCTIONS_HEADER + (size_t)b->n * FUNCTIONS_RANGE + b->names_size;
	uint8_t *buf = calloc(1, size), *p = buf + FUNCTIONS_HEADER;

	if (!buf)
		return -ENOMEM;
	memcpy(buf + BASE_AT, &le_base, sizeof(le_base));
	put_u32(buf + NUMBERS_AT, b->n);
	put_u32(buf + NUMBERS_AT + 4, (uint32_t)b->names_size);
	put_u32(buf + NUMBERS_AT + 8, elf_image__identity(img, buf + ID_AT));
	for (uint32_t i = 0; i < b->n; i++, p += FUNCTIONS_RANGE) {
		put_u32(p, (uint32_t)(b->ranges[i].addr - base));
		put_u32(p + 4, b->ranges[i].size);
		put_u32(p + 8, b->ranges[i].name);
	}
	if (b->names_size)
		memcpy(p, b->names, b->names_size);
	functions__seal(buf, size);
	*bytes = buf;
	*len = size;
	return 0;
}

int functions__of_image(struct elf_image *img, struct functions **out)
{
	__cleanup(builder__destroy) struct builder b = {};
	const struct elf_symbol *syms;
	_free_ uint8_t *bytes = NULL;
	size_t n = 0, len;
	int err = elf_image__any_symbols(img, &syms, &n);

	if (err && err != -ENODATA)
		return err;
	err = add_symbols(&b, syms, n) ?: add_unnamed(&b, img) ?: encode(&b, img, &bytes, &len);
	err = err ?: functions__of_bytes(bytes, len, NULL, 0, out);
	if (!err)
		(*out)->owned = take_ptr(bytes);
	return err;
}

int functions__read(struct library_file *file, struct functions **out)
{
	_elf_image_ struct elf_image *img = NULL;

	return elf_image__read(file, &img) ?: functions__of_image(img, out);
}

/* ---- Bytes ----------------------------------------------------------------------------------- */

/* The names are left out: they are many, and few are ever looked at. */
static uint32_t checksum(const uint8_t *bytes, size_t len)
{
	size_t end = FUNCTIONS_HEADER + (size_t)opcode_u32(bytes + NUMBERS_AT) * FUNCTIONS_RANGE;

	return (uint32_t)crc32_z(0, bytes + BASE_AT, (end < len ? end : len) - BASE_AT);
}

void functions__seal(uint8_t *bytes, size_t len)
{
	put_u32(bytes, MAGIC);
	put_u32(bytes + CHECKSUM_AT, checksum(bytes, len));
}

static struct function_range range_at(const struct functions *f, uint32_t i)
{
	const uint8_t *p = f->bytes + FUNCTIONS_HEADER + (size_t)i * FUNCTIONS_RANGE;
	const uint8_t *names = f->bytes + FUNCTIONS_HEADER + (size_t)f->n * FUNCTIONS_RANGE;
	uint32_t name = opcode_u32(p + 8);

	return (struct function_range){
		.addr = f->base + opcode_u32(p),
		.size = opcode_u32(p + 4),
		.symbol = name < f->names_size ? (const char *)names + name : NULL,
	};
}

static bool are_good(const struct functions *f)
{
	uint64_t last = f->base;

	if (f->len < FUNCTIONS_HEADER || opcode_u32(f->bytes) != MAGIC ||
	    opcode_u32(f->bytes + CHECKSUM_AT) != checksum(f->bytes, f->len))
		return false;
	if (f->len - FUNCTIONS_HEADER != (uint64_t)f->n * FUNCTIONS_RANGE + f->names_size ||
	    f->id_size > ELF_BUILD_ID_MAX || f->base > UINT64_MAX - 2ull * UINT32_MAX)
		return false;
	for (uint32_t i = 0; i < f->n; i++) {
		struct function_range r = range_at(f, i);

		if (r.addr < last || !r.size)
			return false;
		last = r.addr + r.size;
	}
	return !f->names_size || !f->bytes[f->len - 1];
}

int functions__of_bytes(const uint8_t *bytes, size_t len, void *map, size_t map_size,
			struct functions **out)
{
	_functions_ struct functions *f = calloc(1, sizeof(*f));
	uint64_t base;

	if (!f)
		return -ENOMEM;
	f->bytes = bytes;
	f->len = len;
	if (len >= FUNCTIONS_HEADER) {
		memcpy(&base, bytes + BASE_AT, sizeof(base));
		f->base = le64toh(base);
		f->n = opcode_u32(bytes + NUMBERS_AT);
		f->names_size = opcode_u32(bytes + NUMBERS_AT + 4);
		f->id_size = opcode_u32(bytes + NUMBERS_AT + 8);
	}
	if (!are_good(f))
		return -EBADMSG;
	f->map = map;
	f->map_size = map_size;
	*out = take_ptr(f);
	return 0;
}

const uint8_t *functions__bytes(const struct functions *f, size_t *len)
{
	*len = f->len;
	return f->bytes;
}

bool functions__find(const struct functions *f, uint64_t pc, struct function_range *out)
{
	size_t behind = bisect(f->n, i, range_at(f, (uint32_t)i).addr <= pc);
	struct function_range r;

	if (!behind)
		return false;
	r = range_at(f, (uint32_t)behind - 1);
	if (pc - r.addr >= r.size)
		return false;
	*out = r;
	return true;
}

uint32_t functions__build_id(const struct functions *f, uint8_t id[ELF_BUILD_ID_MAX])
{
	memcpy(id, f->bytes + ID_AT, ELF_BUILD_ID_MAX);
	return f->id_size;
}

size_t functions__memory(const struct functions *f)
{
	return sizeof(*f) + (f->owned ? f->len : 0);
}

void functions__free(struct functions *f)
{
	if (!f)
		return;
	if (f->map)
		munmap(f->map, f->map_size);
	free(f->owned);
	free(f);
}
