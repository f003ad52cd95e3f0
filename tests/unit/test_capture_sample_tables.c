// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/sample_tables.h"

#include "test.h"
#include "../fixtures/fake_kernel_samples.h"
#include "../fixtures/fixture_dir.h"
#include "../fixtures/rows.h"
#include "unwind/job.h"

static struct kernel_samples kernel;

static struct sample_tables *open_tables(uint32_t n_blocks)
{
	struct sample_tables *t = NULL;

	fake_kernel_samples(&kernel, n_blocks);
	assert_int_equal(sample_tables__new(&kernel, &t), 0);
	return t;
}

static void close_tables(struct sample_tables *t)
{
	sample_tables__free(t);
	close(kernel.area);
}

static struct unwind_table *fixture_table(void)
{
	_library_file_ struct library_file *file = NULL;
	struct unwind_table *t = NULL;

	assert_int_equal(library_file__open(fixture("unwind.so"), &file), 0);
	assert_int_equal(unwind_table__of(file, &t), 0);
	return t;
}

/* Whoever maps the area, as the kernel half does, finds the rules where the file says. */
TEST_CASE(a_table_is_where_the_file_says)
{
	struct sample_tables *tables = open_tables(2);
	_unwind_table_ struct unwind_table *t = fixture_table();
	const struct wire_unwind_file *f = &fake.files[5];
	uint32_t before = sample_tables__left(tables);
	_free_ uint8_t *rules = malloc(t->n_rules * sizeof(*t->rules));
	ssize_t size = (ssize_t)(t->n_rules * sizeof(*t->rules));

	assert_int_equal(sample_tables__add(tables, 5, t), 0);
	assert_int_equal(fake.n_numbers, 1);
	assert_pairs(fake.numbers[0], 5, f->start, t->start, f->pages, t->pages, f->n_rules,
		     t->n_rules);
	assert_int_equal(pread(kernel.area, rules, (size_t)size, f->rules), size);
	assert_memory_equal(rules, t->rules, (size_t)size);
	assert_true(before - sample_tables__left(tables) >= t->size + (uint32_t)size);
	close_tables(tables);
}

TEST_CASE(a_full_area_takes_no_more)
{
	struct sample_tables *tables = open_tables(1);
	_unwind_table_ struct unwind_table *t = fixture_table();
	uint32_t number = 1, left;
	int err;

	while (!(err = sample_tables__add(tables, number, t)))
		number++;
	assert_int_equal(err, -ENOSPC);
	assert_true(number > 10);
	assert_int_equal(fake.n_numbers, number - 1);
	/* A table that does not fit takes no room. */
	left = sample_tables__left(tables);
	assert_int_equal(sample_tables__add(tables, number, t), -ENOSPC);
	assert_int_equal(sample_tables__left(tables), left);
	close_tables(tables);
}

TEST_CASE(an_area_that_cannot_be_mapped_is_an_error)
{
	struct kernel_samples k = {.area = -1, .n_blocks = 1};
	struct sample_tables *t = NULL;

	assert_int_equal(sample_tables__new(&k, &t), -EBADF);
	assert_null(t);
}

/* By which the kernel half knows that an entry was replaced while it was read. */
TEST_CASE(no_two_mappings_have_the_same_serial)
{
	struct sample_tables *t = open_tables(1);
	struct wire_mappings m = {.pid = 7};
	uint64_t last;

	assert_int_equal(sample_tables__map(t, &m), 0);
	last = fake.mappings.serial;
	assert_int_equal(sample_tables__map(t, &m), 0);
	assert_true(fake.mappings.serial > last);
	last = fake.mappings.serial;
	m.pid = 8;
	assert_int_equal(sample_tables__map(t, &m), 0);
	assert_true(fake.mappings.serial > last);
	close_tables(t);
}

/* An entry that the kernel half has found is older than one that it is given. */
TEST_CASE(what_was_found_is_forgotten)
{
	struct sample_tables *t = open_tables(1);
	struct wire_mappings m = {.pid = 7};

	assert_int_equal(sample_tables__map(t, &m), 0);
	assert_int_equal(fake.n_noted_removed, 1);
	sample_tables__unmap(t, 7);
	assert_int_equal(fake.n_noted_removed, 2);
	fake.n_refusals = 1;
	fake.refusal = E2BIG;
	assert_int_equal(sample_tables__map(t, &m), -E2BIG);
	assert_int_equal(fake.n_noted_removed, 2);
	close_tables(t);
}

TEST_CASE(the_vdso_has_no_inode)
{
	const struct wire_file_key none = {0};
	const struct elf_segment code = {.addr = 0x5000, .offset = 0x1000, .size = 0x300};
	struct sample_tables *t = open_tables(1);

	assert_int_equal(sample_tables__know(t, 9, NULL, &code, 1), 0);
	assert_int_equal(fake.n_known, 1);
	assert_memory_equal(&fake.key, &none, sizeof(none));
	assert_int_equal(fake.known.file, 9);
	assert_int_equal(fake.known.n, 1);
	assert_pairs(fake.known.segments[0].addr, 0x5000, fake.known.segments[0].offset, 0x1000,
		     fake.known.segments[0].size, 0x300);
	close_tables(t);
}

/* The kernel has entries in reserve, which it refills in the background. */
TEST_CASE(a_table_without_reserve_is_tried_again)
{
	struct sample_tables *t = open_tables(1);
	struct wire_mappings m = {.pid = 7};

	fake.n_refusals = 3;
	fake.refusal = ENOMEM;
	assert_int_equal(sample_tables__map(t, &m), 0);
	assert_int_equal(fake.n_mappings, 1);
	fake.n_refusals = 1000;
	assert_int_equal(sample_tables__map(t, &m), -ENOMEM);
	/* Any other error stays. */
	fake.n_refusals = 1;
	fake.refusal = E2BIG;
	assert_int_equal(sample_tables__map(t, &m), -E2BIG);
	assert_int_equal(fake.n_mappings, 1);
	close_tables(t);
}

TEST_CASE(a_process_is_forgotten)
{
	struct sample_tables *t = open_tables(1);

	sample_tables__unmap(t, 12);
	assert_int_equal(fake.n_removed, 1);
	assert_int_equal(fake.removed[0], 12);
	assert_int_equal(sample_tables__numbers(t), FAKE_FILES_MAX);
	close_tables(t);
	sample_tables__free(NULL);
}

TEST_MAIN(fixture_dir_setup, fixture_dir_teardown)
