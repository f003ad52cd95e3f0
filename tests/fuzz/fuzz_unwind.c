// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Reads any bytes as .eh_frame, as a stored unwind table, and as the area where the kernel half
 * looks rules up. Rows, table, stored table and area must have the same rules.
 *
 * The first byte selects what the rest is.
 */
#include "base/bisect.h"
#include "unwind/area.h"
#include "unwind/codec.h"
#include "fuzz.h"

#define CODE_START 0x1000u
#define CODE_SIZE  0x3f000u
#define BLOCKS	   2

static uint8_t *memory; /* BLOCKS of an area */
static volatile uint32_t sink;

static const wire_u8 *unwind_block(wire_u32 number)
{
	return number < BLOCKS ? memory + (size_t)number * WIRE_UNWIND_BLOCK_VALUE : NULL;
}

#include "../../bpf/unwind_lookup.h"

static bool is_same(struct wire_unwind_rule a, struct wire_unwind_rule b)
{
	return !memcmp(&a, &b, sizeof(a));
}

static struct wire_unwind_rule rule_of_rows(const struct unwind_rows *r, uint64_t addr)
{
	size_t after = bisect(r->n, i, r->start + r->rows[i].at <= addr);

	return after ? r->rules.rules[r->rows[after - 1].rule] : (struct wire_unwind_rule){};
}

/* At the borders of all rows, and in between. */
static void compare(const struct unwind_rows *r, const struct unwind_table *t,
		    const struct unwind_table *stored, const struct wire_unwind_file *f)
{
	for (uint32_t i = 0; i < r->n; i++) {
		uint64_t addr = r->start + r->rows[i].at;

		for (uint64_t at = addr ? addr - 1 : 0; at < addr + 2; at++) {
			struct wire_unwind_rule rule = rule_of_rows(r, at);

			expect(is_same(unwind_table__rule(t, at), rule));
			expect(is_same(unwind_table__rule(stored, at), rule));
			expect(is_same(unwind_lookup(f, at), rule));
		}
	}
}

static void read_section(const uint8_t *data, size_t size)
{
	static const uint8_t plt[] = "\xff\x35\1\2\3\4\xff\x25\1\2\3\4\x0f\x1f\x40\0"
				     "\xff\x25\1\2\3\4\x68\1\0\0\0\xe9\1\2\3\4";
	_free_ uint8_t *copy = fuzz_copy(data, size), *bytes = NULL;
	const struct unwind_input in = {
		.frame = {copy, size, 0x1c058}, /* where that of a fixture is */
		.segments = {{CODE_START, 0, CODE_SIZE}},
		.n_segments = 1,
		.entry = CODE_START + 0x1234,
		.plts = {{CODE_START + 0x100, sizeof(plt) - 1, plt}},
		.n_plts = 1,
	};
	_unwind_rows_ struct unwind_rows rows = {}, same = {};
	_unwind_table_ struct unwind_table *t = NULL, *stored = NULL;
	struct wire_unwind_file file;
	struct unwind_area area;
	size_t len;

	expect(!unwind_rows__read(&in, &rows));
	expect(!unwind_rows__read(&in, &same));
	expect(!unwind_table__make(&in, &same, &t));
	expect(!unwind_encode(t, &bytes, &len));
	expect(!unwind_decode(bytes, len, &stored));
	unwind_area__init(&area, memory, BLOCKS);
	expect(!unwind_area__add(&area, stored, &file));
	compare(&rows, t, stored, &file);
}

/* Look up places of a table that may be nonsense. */
static void look_up(const struct unwind_table *t, const struct wire_unwind_file *f)
{
	uint64_t end = t->start + (uint64_t)t->pages * WIRE_UNWIND_PAGE_BYTES;

	for (uint64_t addr = t->start; addr < end; addr += 1009) {
		sink += unwind_table__rule(t, addr).base;
		sink += unwind_lookup(f, addr).base;
	}
}

/* The bytes behind the checksum. */
static void read_stored(const uint8_t *data, size_t size)
{
	_unwind_table_ struct unwind_table *t = NULL;
	size_t len = UNWIND_CODEC_CHECKED_FROM + size;
	_free_ uint8_t *copy = malloc(len);
	struct wire_unwind_file file;
	struct unwind_area area;

	expect(copy);
	if (size)
		memcpy(copy + UNWIND_CODEC_CHECKED_FROM, data, size);
	unwind_codec__seal(copy, len);
	if (unwind_decode(copy, len, &t) || t->pages > 64)
		return;
	unwind_area__init(&area, memory, BLOCKS);
	if (!unwind_area__add(&area, t, &file))
		look_up(t, &file);
}

/* An area that nobody has written with care. */
static void read_area(const uint8_t *data, size_t size)
{
	struct wire_unwind_file f = {};
	size_t part = size < sizeof(f) ? size : sizeof(f);

	if (part)
		memcpy(&f, data, part);
	for (size_t at = 0; size && at < BLOCKS * (size_t)WIRE_UNWIND_BLOCK_VALUE; at += size) {
		size_t left = BLOCKS * (size_t)WIRE_UNWIND_BLOCK_VALUE - at;

		memcpy(memory + at, data, size < left ? size : left);
		if (at > 1u << 16)
			at += 1u << 18;
	}
	for (uint32_t i = 0; i < 4096; i++) {
		sink += unwind_lookup(&f, f.start + i * 977ull).base;
		sink += unwind_page_value(f.directory + i * 1021, i * 31 & 0xffff);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	if (!memory)
		memory = calloc(BLOCKS, WIRE_UNWIND_BLOCK_VALUE);
	expect(memory);
	if (data[0] % 4 == 0)
		read_stored(data + 1, size - 1);
	else if (data[0] % 4 == 1)
		read_area(data + 1, size - 1);
	else
		read_section(data + 1, size - 1);
	return 0;
}
