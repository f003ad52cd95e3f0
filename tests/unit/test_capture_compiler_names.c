// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/compiler_names.h"

#include <errno.h>

#include "test.h"
#include "../fixtures/names.h"

/* The memory of a compiler: addresses from BASE on. */
#define BASE	0x10000u
#define CONTEXT (BASE + 0x100)
#define GLOBALS (BASE + 0x200)
#define THREAD	(BASE + 0x300)
#define CURRENT (BASE + 0x400)
#define WORDS	(BASE + 0x500) /* in the library's GOT */
#define TABLE	(BASE + 0x1000)
#define SYMBOLS (BASE + 0x8000)
#define TEXTS	(BASE + 0xc000)
#define N_BYTES 0x10000u

static uint8_t bytes[N_BYTES];
static uint32_t n_reads;
static struct plan_layout layout;
static struct wire_piece rows;

static void put(uint64_t addr, uint64_t value)
{
	memcpy(bytes + (addr - BASE), &value, sizeof(value));
}

static int do_read(void *ctx, const struct broker_memory *ranges, uint32_t n, uint8_t *to)
{
	n_reads++;
	assert_in_range(n, 1, BROKER_RANGES_MAX);
	for (uint32_t i = 0; i < n; to += ranges[i++].size) {
		if (!ranges[i].size)
			continue;
		if (ranges[i].addr < BASE || ranges[i].addr - BASE > N_BYTES ||
		    N_BYTES - (ranges[i].addr - BASE) < ranges[i].size)
			return -EFAULT;
		memcpy(to, bytes + (ranges[i].addr - BASE), ranges[i].size);
	}
	return 0;
}

static const struct compiler_memory memory = {.read = do_read};
static const struct compiler_context context = {CONTEXT, GLOBALS, 0};

static void put_symbol(uint32_t symbol, const char *text)
{
	uint64_t at = SYMBOLS + symbol * layout.wire.symbol_size, to = TEXTS + 64 * symbol;

	put(at + layout.wire.text, to);
	put(at + layout.wire.length, strlen(text));
	strcpy((char *)bytes + (to - BASE), text);
}

static void put_rows(void)
{
	memcpy(bytes + (TABLE - BASE), rows.bytes, rows.size);
	put(CONTEXT + layout.wire.count, rows.size / NAMES_ROW);
}

/* The crate, a module in it, and a function in that. */
static int setup(void **state)
{
	layout = names_layout();
	layout.wire.table = 0x10;
	layout.wire.count = 0x18;
	layout.wire.symbols = 0x10;
	layout.wire.n_symbols = 0x18;
	layout.wire.symbol_size = 24;
	layout.wire.text = 0;
	layout.wire.length = 8;
	layout.wire.globals = 0x508;
	layout.wire.current =
		(struct wire_layout_current){.offset = 0x500, .context = 0x20, .known = 1};
	memset(bytes, 0, sizeof(bytes));
	n_reads = 0;
	put(CONTEXT + layout.wire.table, TABLE);
	put(GLOBALS + layout.wire.symbols, SYMBOLS);
	put(GLOBALS + layout.wire.n_symbols, 64);
	put(WORDS, 0x40);
	put(WORDS + 8, 0x48);
	put(THREAD + 0x40, CURRENT);
	put(THREAD + 0x48, GLOBALS);
	put(CURRENT + 0x20, CONTEXT);
	rows = names_piece(0, 0);
	names_root(&rows);
	names_row(&rows, TAG_NAMED, SYMBOL_FIRST, 0, 0);
	names_row(&rows, TAG_NAMED, SYMBOL_FIRST + 1, 2, 1);
	put_symbol(SYMBOL_FIRST, "inner");
	put_symbol(SYMBOL_FIRST + 1, "work");
	put_rows();
	return 0;
}

static void assert_path(uint32_t index, const char *want)
{
	char *path = NULL;
	int err = compiler_names__path(&memory, &layout, &context, "a", index, &path);

	if (!want) {
		assert_int_not_equal(err, 0);
		assert_null(path);
		return;
	}
	assert_int_equal(err, 0);
	assert_string_equal(path, want);
	free(path);
}

TEST_CASE_WITH(the_context_is_that_of_the_thread, setup, NULL)
{
	struct compiler_context found;

	assert_int_equal(compiler_context__of_thread(&memory, &layout, BASE, THREAD, &found), 0);
	assert_int_equal(found.context, CONTEXT);
	assert_int_equal(found.globals, GLOBALS);
	put(THREAD + 0x40, 0);
	assert_int_equal(compiler_context__of_thread(&memory, &layout, BASE, THREAD, &found),
			 -ENOENT);
	assert_int_equal(compiler_context__of_thread(&memory, &layout, 7, THREAD, &found), -EFAULT);
	layout.wire.current.known = 0;
	assert_int_equal(compiler_context__of_thread(&memory, &layout, BASE, THREAD, &found),
			 -ENODATA);
}

TEST_CASE_WITH(a_path_leads_to_the_root, setup, NULL)
{
	assert_path(0, "a");
	assert_path(1, "a::inner");
	assert_path(2, "a::inner::work[2]");
	assert_path(3, NULL);
	assert_path(UINT32_MAX, NULL);
}

TEST_CASE_WITH(a_row_that_leads_nowhere_has_no_path, setup, NULL)
{
	rows.size = NAMES_ROW;
	names_row(&rows, TAG_NAMED, SYMBOL_FIRST, 0, 2);
	names_row(&rows, TAG_NAMED, SYMBOL_FIRST, 0, 1);
	names_row(&rows, TAG_NAMED, 5000, 0, 0);
	names_row(&rows, TAG_NAMED, SYMBOL_FIRST + 2, 0, 0);
	names_row(&rows, 31, SYMBOL_FIRST, 0, 0);
	put_rows();
	for (uint32_t i = 1; i < 6; i++)
		assert_path(i, NULL);
}

/* Each lie costs a few reads only. */
TEST_CASE_WITH(lies_are_bounded, setup, NULL)
{
	put(CONTEXT + layout.wire.count, UINT64_MAX);
	put(SYMBOLS + SYMBOL_FIRST * layout.wire.symbol_size + layout.wire.length, UINT64_MAX);
	/* Its text ends before its length does. */
	assert_path(1, NULL);
	assert_true(n_reads < 10);
}

static int take(void *ctx, const void *record, size_t size)
{
	const struct wire_piece *r = record;
	const struct wire_symbols *texts = record;
	uint32_t *n = ctx;

	if (r->type == WIRE_PIECE) {
		assert_int_equal(size, offsetof(struct wire_piece, bytes) + r->size);
		assert_int_equal(r->pid, 11);
		assert_memory_equal(r->bytes, rows.bytes + r->offset, r->size);
		n[0] += r->size;
	} else {
		assert_int_equal(texts->type, WIRE_SYMBOLS);
		assert_int_equal(size, offsetof(struct wire_symbols, bytes) + texts->size);
		n[1] += texts->size;
	}
	return 0;
}

TEST_CASE_WITH(all_of_them_come_as_records, setup, NULL)
{
	uint32_t n[2] = {0};

	assert_int_equal(compiler_names__copy(&memory, &layout, &context, 11, 2, take, n), 0);
	assert_int_equal(n[0], rows.size);
	assert_int_equal(n[1] >= 2 * 8 + 5 + 4, 1);
	put(CONTEXT + layout.wire.table, 5);
	assert_int_equal(compiler_names__copy(&memory, &layout, &context, 11, 2, take, n), -EFAULT);
}

TEST_MAIN(NULL, NULL)
