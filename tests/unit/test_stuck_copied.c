// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "stuck/copied.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

#define PAGE  4096u
#define PAGES 40

/* Mapped in this process and in a child, which may be read. */
static uint8_t *area;
static pid_t child;
static struct look *look;

static int setup(void **state)
{
	/* On a busy machine the child of a look may take long to answer. */
	look_ns = 60000000000;
	area = mmap(NULL, (size_t)PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		    -1, 0);
	for (uint32_t i = 0; i < PAGES * PAGE / 8; i++)
		((uint64_t *)area)[i] = i;
	/* Beyond, nothing can be read. */
	mprotect(area + (size_t)(PAGES - 1) * PAGE, PAGE, PROT_NONE);
	child = fork();
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	return child < 0 ? -1 : look__new(&look);
}

static int teardown(void **state)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	look__free(look);
	return 0;
}

static struct copied open_copied(void)
{
	return (struct copied){.look = look, .pid = child};
}

static uint64_t addr_of(uint32_t offset)
{
	return (uintptr_t)area + offset;
}

static void words_are_copied_when_they_are_needed(void **state)
{
	_copied_ struct copied c = open_copied();
	uint64_t word;

	if (!copied__word(&c, addr_of(8 * 1000), &word)) {
		print_message("skipped: other processes cannot be read here\n");
		return;
	}
	assert_int_equal(word, 1000);
	assert_int_equal(c.n, 1);
	/* The copy holds the bytes after the address, and none before it. */
	assert_true(copied__word(&c, addr_of(8 * 5000), &word));
	assert_int_equal(word, 5000);
	assert_int_equal(c.n, 1);
	assert_true(copied__word(&c, addr_of(16), &word));
	assert_int_equal(word, 2);
	assert_int_equal(c.n, 2);
	/* Across the end of a part, and of a page. */
	assert_true(copied__word(&c, addr_of(16 * PAGE - 4), &word));
	assert_int_equal(word >> 32, (16 * PAGE) / 8);
}

static void the_end_of_a_mapping_ends_a_part(void **state)
{
	_copied_ struct copied c = open_copied();
	const uint32_t end = (PAGES - 1) * PAGE;
	uint64_t word;

	if (!copied__word(&c, addr_of(end - 8), &word))
		return;
	assert_int_equal(word, end / 8 - 1);
	assert_int_equal(c.parts[0].size, PAGE);
	assert_false(copied__word(&c, addr_of(end - 4), &word));
	assert_false(copied__word(&c, addr_of(end), &word));
	assert_false(copied__word(&c, 8, &word));
	assert_false(copied__word(&c, UINT64_MAX - 3, &word));
}

static void a_closed_one_reads_no_more(void **state)
{
	_copied_ struct copied c = open_copied();
	uint64_t word;

	if (!copied__word(&c, addr_of(0), &word))
		return;
	copied__close(&c);
	assert_true(copied__word(&c, addr_of(8), &word));
	assert_int_equal(word, 1);
	assert_false(copied__word(&c, addr_of(30 * PAGE), &word));
}

static void there_are_limits(void **state)
{
	_copied_ struct copied c = open_copied();
	uint64_t word;

	c.bytes = COPIED_BYTES_MAX;
	assert_false(copied__word(&c, addr_of(0), &word));
	c.bytes = 0;
	c.ns = COPIED_NS + 1;
	assert_false(copied__word(&c, addr_of(0), &word));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_are_copied_when_they_are_needed),
		cmocka_unit_test(the_end_of_a_mapping_ends_a_part),
		cmocka_unit_test(a_closed_one_reads_no_more),
		cmocka_unit_test(there_are_limits),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
