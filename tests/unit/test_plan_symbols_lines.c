// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/symbols/lines.h"

#include "test.h"
#include "../fixtures/elf_builder.h"
#include "../fixtures/fixture_dir.h"
#include "../fixtures/symbols.h"
#include "../fixtures/library.h"
#include "../fixtures/rows.h"

#define MAX_ROWS 64

struct got {
	size_t range[MAX_ROWS];
	uint32_t offset[MAX_ROWS];
	uint32_t line[MAX_ROWS];
	size_t n;
	int err;
};

static int keep(void *ctx, size_t i, const struct lines_row *rows, size_t n)
{
	struct got *got = ctx;

	for (size_t k = 0; k < n; k++) {
		assert_in_range(got->n, 0, MAX_ROWS - 1);
		if (rows[k].line)
			assert_string_equal(strrchr(rows[k].file, '/'), "/lines.s");
		got->range[got->n] = i;
		got->offset[got->n] = rows[k].offset;
		got->line[got->n++] = rows[k].line;
	}
	return got->err;
}

static int take(void *ctx, size_t i, const struct lines_row *rows, size_t n)
{
	uint32_t *sum = ctx;

	assert_int_equal(i, 0);
	for (size_t k = 0; k < n; k++)
		*sum += rows[k].line + (rows[k].file ? strlen(rows[k].file) : 0);
	return 0;
}

static struct lines_range range_of(struct elf_image *img, const char *name)
{
	const struct elf_symbol *sym = symbol(img, name);

	return (struct lines_range){sym->addr, (uint32_t)sym->size};
}

static struct elf_image *open_fixture(const char *name)
{
	struct elf_image *img = NULL;

	assert_int_equal(image_of(fixture(name), &img), 0);
	return img;
}

TEST_CASE(rows_of_the_functions_that_are_asked_for)
{
	static const uint32_t lines[] = {11, 12, 13, 14, 27};
	static const uint32_t offsets[] = {0, 1, 6, 7, 0};
	_elf_image_ struct elf_image *img = open_fixture("lines.so");
	struct lines_range ranges[] = {range_of(img, "first"), range_of(img, "third")};
	struct got got = {0};

	assert_int_equal(lines__read(img, ranges, 2, keep, &got), 0);
	assert_int_equal(got.n, 5);
	for (size_t i = 0; i < got.n; i++) {
		assert_pairs(got.range[i], i == 4, got.line[i], lines[i], got.offset[i],
			     offsets[i]);
	}
}

/* Two instructions of one line make one row. */
TEST_CASE(rows_show_only_changes)
{
	_elf_image_ struct elf_image *img = open_fixture("lines.so");
	struct lines_range range = range_of(img, "second");
	struct got got = {0};

	assert_int_equal(lines__read(img, &range, 1, keep, &got), 0);
	assert_int_equal(got.n, 2);
	assert_pairs(got.offset[0], 0, got.offset[1], 2, got.line[1], 22);
}

TEST_CASE(without_line_tables_there_are_no_rows)
{
	_elf_image_ struct elf_image *img = open_fixture("driver_v0.so");
	struct lines_range range = {0, UINT32_MAX};
	struct got got = {0};

	assert_int_equal(lines__read(img, &range, 1, keep, &got), 0);
	assert_int_equal(got.n, 0);
}

TEST_CASE(nothing_is_asked_for)
{
	_elf_image_ struct elf_image *img = open_fixture("lines.so");

	assert_int_equal(lines__read(img, NULL, 0, keep, NULL), 0);
}

TEST_CASE(an_error_of_the_callback_is_returned)
{
	_elf_image_ struct elf_image *img = open_fixture("lines.so");
	struct lines_range ranges[] = {range_of(img, "first"), range_of(img, "third")};
	struct got got = {.err = -EIO};

	assert_int_equal(lines__read(img, ranges, 2, keep, &got), -EIO);
	assert_int_equal(got.n, 4);
}

/* With any wrong byte, the tables are read or refused, without reading out of bounds. */
TEST_CASE(damaged_tables_are_refused)
{
	static uint8_t buf[1 << 20];
	size_t refused = 0, len;
	FILE *f = fopen(fixture("lines.so"), "re");
	_close_ int fd = -1;
	char path[32];

	assert_non_null(f);
	len = fread(buf, 1, sizeof(buf), f);
	fclose(f);
	fd = elf_builder_memfd(buf, len);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	/* The debug sections follow the last segment. */
	for (size_t at = 0x2000; at < len; at++) {
		_elf_image_ struct elf_image *img = NULL;
		struct lines_range range = {0, UINT32_MAX};
		uint32_t sum = 0;
		int err = 0;

		assert_int_equal(pwrite(fd, "\377", 1, (off_t)at), 1);
		if (!image_of(path, &img))
			err = lines__read(img, &range, 1, take, &sum);
		assert_true(err == 0 || err == -EBADMSG);
		refused += err != 0;
		assert_int_equal(pwrite(fd, &buf[at], 1, (off_t)at), 1);
	}
	assert_true(refused > 0);
}

TEST_MAIN(fixture_dir_setup, fixture_dir_teardown)
