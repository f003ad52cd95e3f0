// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Reads any bytes as a pc-value table in each encoding, and as a Go function table. A table that a
 * decoder accepts is encoded again in both encodings, and every look-up must find the decoded
 * value.
 *
 * The first byte selects the format; the next four are the length of the code.
 */
#include "../bench/pctab/gopclntab.c"
#include "pctab/linear.h"
#include "pctab/varint.h"
#include "fuzz.h"

#define MOST_PCS 4096u /* looked up in one table */

static volatile uint32_t sink;

/* Look up every pc; the values must be those of `runs`, unless it is NULL. */
static void look_up_linear(const struct pctab_linear *t, unsigned int shift,
			   const struct pctab_runs *runs)
{
	size_t run = 0;

	for (uint32_t pc = 0; pc < t->length && pc < MOST_PCS; pc++) {
		int32_t value = 0;
		int err = pctab_linear__lookup(t, shift, pc, &value);

		sink += (uint32_t)value;
		if (!runs)
			continue;
		while (runs->runs[run].end <= pc)
			run++;
		expect(!err && value == runs->runs[run].value);
	}
}

static void check_varint(const struct pctab_runs *runs, unsigned int shift, const uint8_t *data,
			 size_t size)
{
	size_t run = 0;

	for (uint32_t pc = 0; pc < pctab_runs__length(runs) && pc < MOST_PCS; pc++) {
		int32_t value;

		while (runs->runs[run].end <= pc)
			run++;
		expect(!pctab_varint__lookup(data, size, shift, pc, &value));
		expect(value == runs->runs[run].value);
	}
}

static void encode_again(const struct pctab_runs *runs, unsigned int shift)
{
	_pctab_buffer_ struct pctab_buffer varint = {}, linear = {};
	struct pctab_linear t;

	/* A table of millions of chunks would take too long for one input. */
	if (pctab_runs__length(runs) > 1u << 20)
		return;
	expect(!pctab_varint__encode(&varint, runs, shift));
	check_varint(runs, shift, varint.data, varint.size);
	expect(!pctab_linear__encode(&linear, runs, shift));
	t = (struct pctab_linear){linear.data, (uint32_t)linear.size, pctab_runs__length(runs)};
	look_up_linear(&t, shift, runs);
}

static void read_varint_table(const uint8_t *data, size_t size, unsigned int shift)
{
	_free_ uint8_t *copy = fuzz_copy(data, size);
	_pctab_runs_ struct pctab_runs runs = {};
	size_t used;
	int32_t value;

	for (uint32_t pc = 1; pc; pc <<= 1)
		sink += (uint32_t)pctab_varint__lookup(copy, size, shift, pc - 1, &value);
	if (pctab_varint__decode(copy, size, shift, &runs, &used))
		return;
	check_varint(&runs, shift, copy, used);
	encode_again(&runs, shift);
}

static void read_linear_table(const uint8_t *data, size_t size, unsigned int shift, uint32_t length)
{
	_free_ uint8_t *copy = fuzz_copy(data, size);
	struct pctab_linear t = {copy, (uint32_t)size, length};
	_pctab_runs_ struct pctab_runs runs = {};
	bool sound = !pctab_linear__decode(&t, shift, &runs, NULL);
	int32_t value;

	look_up_linear(&t, shift, sound ? &runs : NULL);
	if (length)
		sink += (uint32_t)pctab_linear__lookup(&t, shift, length - 1, &value);
	if (sound)
		encode_again(&runs, shift);
}

static void read_functions(const uint8_t *data, size_t size, bool big_endian)
{
	_free_ uint8_t *copy = fuzz_copy(data, size);
	_pctab_runs_ struct pctab_runs runs = {};
	struct gopclntab_function f;
	struct gopclntab t;
	const char *why;

	if (gopclntab__init(&t, copy, size, big_endian, &why)) {
		sink += (uint32_t)strlen(why);
		return;
	}
	for (uint32_t i = 0; i < t.n_functions && i < 256; i++) {
		if (gopclntab__function(&t, i, &f))
			continue;
		sink += (uint32_t)strlen(f.name);
		for (uint32_t k = 0; k < f.n_tables; k++) {
			size_t room;
			const uint8_t *table = gopclntab__table(&t, f.tables[k], &room);

			if (table)
				pctab_varint__decode(table, room, t.quantum_shift, &runs, NULL);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned int kind, shift;
	uint32_t length;

	if (size < 5)
		return 0;
	kind = data[0] & 3;
	shift = data[0] >> 2 & 3;
	memcpy(&length, data + 1, sizeof(length));
	data += 5;
	size -= 5;
	if (kind == 0)
		read_varint_table(data, size, shift);
	else if (kind == 1)
		read_linear_table(data, size, shift, length);
	else
		read_functions(data, size, kind == 3);
	return 0;
}
