// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "../fixtures/sampled_files.h"

TEST_CASE_WITH(a_foreign_user_may_have_so_many_files, begin, finish)
{
	_output_ struct output o = {};
	int err[3];

	for (uint64_t i = 1; i <= SAMPLED_PER_USER; i++) {
		assert_int_equal(add_pretended(i, foreigner(0)), 0);
		sampled_files__hold(files, told[n_told - 1]);
	}
	output_begin(&o);
	err[0] = add_pretended(1000, foreigner(0));
	err[1] = add_pretended(1001, foreigner(0));
	output_end(&o);
	assert_int_equal(err[0], -EDQUOT);
	assert_int_equal(err[1], -EDQUOT);
	assert_one_line(o.text[1]);
	assert_contains(o.text[1], "no room for the unwind tables of more files");
	assert_int_equal(n_told, SAMPLED_PER_USER);
	/* Another user, root and the invoker may have more. */
	assert_int_equal(add_pretended(1002, foreigner(1)), 0);
	assert_int_equal(add_pretended(1003, 0), 0);
	assert_int_equal(add_pretended(1004, getuid()), 0);
}

TEST_CASE_WITH(foreign_users_leave_half_of_the_numbers, begin, finish)
{
	_output_ struct output o = {};
	const uint32_t most = 20;
	uint64_t ino = 1;
	int err[2];

	reopen_files(BLOCKS, most + 1);
	while (ino <= most / 2) {
		assert_int_equal(add_pretended(ino, foreigner((unsigned int)ino)), 0);
		sampled_files__hold(files, told[n_told - 1]);
		ino++;
	}
	output_begin(&o);
	err[0] = add_pretended(ino, foreigner((unsigned int)ino));
	output_end(&o);
	assert_int_equal(err[0], -EDQUOT);
	while (ino <= most) {
		assert_int_equal(add_pretended(ino++, getuid()), 0);
		sampled_files__hold(files, told[n_told - 1]);
	}
	assert_int_equal(add_pretended(ino, getuid()), -EDQUOT);
}

TEST_CASE_WITH(foreign_users_leave_room_for_tables, begin, finish)
{
	_library_file_ struct library_file *a = NULL, *b = NULL;
	_output_ struct output o = {};

	/* No more than what is kept for others. */
	reopen_files((uint32_t)(sampled_kept_bytes >> WIRE_UNWIND_BLOCK_SHIFT), FAKE_FILES_MAX);
	a = new_file("a.so");
	b = new_file("b.so");
	output_begin(&o);
	settle(add(a, foreigner(0)));
	output_end(&o);
	assert_false(has_table(1));
	/* Its code can be placed all the same. */
	assert_int_equal(settle(1), 0);
	assert_int_equal(sampled_files__lost(files), 1);
	settle(add(b, getuid()));
	assert_true(has_table(2));
}

TEST_CASE_WITH(one_foreign_user_leaves_room_to_the_next, begin, finish)
{
	_library_file_ struct library_file *a = NULL, *b = NULL, *c = NULL;
	_unwind_table_ struct unwind_table *t = NULL;
	_output_ struct output o = {};

	a = new_file("a.so");
	b = new_file("b.so");
	c = new_file("c.so");
	assert_int_equal(unwind_table__of(a, &t), 0);
	sampled_user_bytes = t->size + t->size / 2 + 8 * t->n_rules + 4 * t->pages;
	sampled_files__hold(files, add(a, foreigner(0)));
	add(b, foreigner(0));
	add(c, foreigner(1));
	output_begin(&o);
	settle_all(3);
	output_end(&o);
	assert_true(has_table(1));
	assert_false(has_table(2));
	assert_true(has_table(3));
}

/* ---- Files that nobody holds any more -------------------------------------------------------- */

static uint64_t table_bytes(void)
{
	_library_file_ struct library_file *file = pretended(1);
	_unwind_table_ struct unwind_table *t = NULL;

	assert_int_equal(unwind_table__of(file, &t), 0);
	return unwind_table__bytes(t);
}

/* A process maps a file; returns its number. */
static uint32_t map(uint64_t ino, uid_t user)
{
	_library_file_ struct library_file *file = pretended(ino);
	uint32_t number =
		sampled_files__find(files, library_file__identity(file), user) ?: add(file, user);

	sampled_files__hold(files, number);
	settle(number);
	return number;
}

static bool is_there(uint64_t ino, uid_t user)
{
	_library_file_ struct library_file *file = pretended(ino);

	return sampled_files__find(files, library_file__identity(file), user);
}

/* A table takes longer than a mapping that is there for a moment. */
TEST_CASE_WITH(files_that_wait_for_a_table_make_room, begin, finish)
{
	const uint64_t n = 3ull * SAMPLED_PER_USER;
	uint64_t lost;

	for (uint64_t i = 1; i <= n; i++) {
		uint32_t number;

		assert_int_equal(add_pretended(i, foreigner(0)), 0);
		number = told[n_told - 1];
		sampled_files__hold(files, number);
		sampled_files__release(files, number);
	}
	/* None is lost without a word, and the first is being made. */
	lost = sampled_files__lost(files);
	assert_int_equal(lost, n - SAMPLED_PER_USER);
	assert_true(is_there(1, foreigner(0)));
	assert_true(is_there(n, foreigner(0)));
}

/* Each build has macros of its own. All of them have tables, and the toolchain keeps its one. */
TEST_CASE_WITH(builds_of_one_user_never_end_to_have_tables, begin, finish)
{
	const uint64_t toolchain = 1, builds = 20, macros = 40;
	uint32_t numbers[40], most = 0;

	for (uint64_t build = 0; build < builds; build++) {
		uint32_t first = map(toolchain, foreigner(0));

		assert_int_equal(first, 1);
		assert_true(has_table(first));
		for (uint64_t i = 0; i < macros; i++) {
			numbers[i] = map(100 + build * macros + i, foreigner(0));
			assert_true(has_table(numbers[i]));
			most = numbers[i] > most ? numbers[i] : most;
		}
		for (uint64_t i = 0; i < macros; i++)
			sampled_files__release(files, numbers[i]);
		sampled_files__release(files, first);
	}
	assert_int_equal(sampled_files__lost(files), 0);
	/* The numbers come back too. */
	assert_int_equal(n_told, 1 + builds * macros);
	assert_in_range(most, SAMPLED_PER_USER, SAMPLED_PER_USER + 2 * macros);
}

TEST_CASE_WITH(a_file_that_is_held_stays, begin, finish)
{
	_output_ struct output o = {};
	uint32_t a, b;

	sampled_user_bytes = table_bytes() * 3 / 2;
	a = map(1, foreigner(0));
	output_begin(&o);
	b = map(2, foreigner(0));
	output_end(&o);
	assert_true(has_table(a));
	assert_false(has_table(b));
	assert_int_equal(sampled_files__lost(files), 1);
	/* Nothing has changed: it is not made again and again. */
	assert_true(is_there(2, foreigner(0)));
	/* The process that has `a` ends. The next one that maps `b` has its table. */
	sampled_files__release(files, a);
	assert_false(is_there(2, foreigner(0)));
	assert_int_equal(add_pretended(2, foreigner(0)), 0);
	assert_int_equal(settle(b), 0);
	assert_true(has_table(b));
	assert_false(has_table(a));
	assert_false(is_there(1, foreigner(0)));
	assert_int_equal(sampled_files__lost(files), 0);
}

/* Records, and walks that have begun, may still have the number; and the kernel half's caches. */
TEST_CASE_WITH(a_number_is_used_again_once_nothing_has_it, begin, finish)
{
	const struct library_identity third = {.ino = 3};

	reopen_files(BLOCKS, 3);
	sampled_files__release(files, map(1, getuid()));
	assert_int_equal(map(2, getuid()), 2);
	assert_true(sampled_files__may_add(files, &third, getuid()));
	assert_false(has_table(1));
	assert_int_equal(add_pretended(3, getuid()), -EAGAIN);
	fake.n_noted_known = 5;
	sampled_files__settle(files);
	assert_int_equal(fake.n_noted_known, 0);
	assert_int_equal(fake.n_recent, kernel.n_recent);
	assert_int_equal(add_pretended(3, getuid()), -EAGAIN);
	sampled_files__settle(files);
	n_told = 0;
	assert_int_equal(map(3, getuid()), 1);
	assert_int_equal(n_told, 1);
	assert_int_equal(told[0], 1);
	assert_true(has_table(1));
}

/* The user with the most bytes loses the file that was mapped least recently. */
TEST_CASE_WITH(foreign_users_share_their_half, begin, finish)
{
	uint32_t small;

	sampled_kept_bytes = (BLOCKS << WIRE_UNWIND_BLOCK_SHIFT) - table_bytes() * 9 / 2;
	small = map(1, foreigner(0));
	sampled_files__release(files, small);
	for (uint64_t i = 2; i <= 4; i++)
		sampled_files__release(files, map(i, foreigner(1)));
	assert_true(is_there(2, foreigner(1)));
	sampled_files__release(files, map(5, foreigner(2)));
	/* 2 was found after 3 was. */
	assert_false(is_there(3, foreigner(1)));
	assert_true(is_there(2, foreigner(1)));
	assert_true(has_table(small));
	assert_int_equal(sampled_files__lost(files), 0);
}

/* Files of root and the invoker take nothing from the half that foreign users have. */
TEST_CASE_WITH(own_files_do_not_count_against_the_foreign_half, begin, finish)
{
	_output_ struct output o = {};
	uint64_t most, own = 0, ino = 100;
	uint32_t n = 0;
	bool has = true;

	reopen_files(2, FAKE_FILES_MAX);
	sampled_kept_bytes = WIRE_UNWIND_BLOCK_BYTES;
	most = 2 * WIRE_UNWIND_BLOCK_BYTES / table_bytes();
	for (; own < most * 3 / 4; own++)
		sampled_files__release(files, map(ino++, getuid()));
	for (; n < most / 2 - 4; n++)
		assert_true(has_table(map(ino++, foreigner(n))));
	assert_int_equal(sampled_files__lost(files), 0);
	/* The other half is not theirs. */
	output_begin(&o);
	while (has && n < most)
		has = has_table(map(ino++, foreigner(n++)));
	output_end(&o);
	assert_false(has);
	assert_in_range(n, most / 2 - 4, most / 2 + 1);
	for (own = 0; own < most / 2 - 4; own++)
		assert_true(has_table(map(ino++, getuid())));
}

/* However much memory there is. */
TEST_CASE_WITH(half_of_the_memory_is_for_foreign_users, begin, finish)
{
	uint64_t ino = 1;

	sampled_kept_bytes = 0;
	for (uint32_t n_blocks = 2; n_blocks <= BLOCKS; n_blocks *= 4) {
		reopen_files(n_blocks, FAKE_FILES_MAX);
		assert_true(has_table(map(ino++, foreigner(0))));
		close_files();
	}
}

/* A foreign user who maps the files of others first must not take their tables from them. */
TEST_CASE_WITH(a_file_that_others_map_too_is_not_foreign, begin, finish)
{
	_library_file_ struct library_file *file = NULL;
	_output_ struct output o = {};
	const struct library_identity *id;

	reopen_files((uint32_t)(sampled_kept_bytes >> WIRE_UNWIND_BLOCK_SHIFT), FAKE_FILES_MAX);
	file = new_file("a.so");
	id = library_file__identity(file);
	output_begin(&o);
	settle(add(file, foreigner(0)));
	output_end(&o);
	assert_int_equal(sampled_files__find(files, id, foreigner(1)), 1);
	/* To be added again, as often as it takes to open it. */
	assert_int_equal(sampled_files__find(files, id, getuid()), 0);
	assert_int_equal(sampled_files__find(files, id, getuid()), 0);
	assert_true(sampled_files__may_add(files, id, getuid()));
	assert_int_equal(add(file, getuid()), 1);
	assert_int_equal(n_told, 1);
	assert_int_equal(settle(1), 0);
	assert_true(has_table(1));
	assert_int_equal(sampled_files__lost(files), 0);
	assert_int_equal(sampled_files__find(files, id, getuid()), 1);
}

/* The inodes that children have read, in the order in which they were started. */
static ino_t *order;

static void note_file(void)
{
	struct stat st;

	for (int fd = 3; fd < 1024; fd++)
		if (!fstat(fd, &st) && S_ISREG(st.st_mode))
			order[n_forks] = st.st_ino;
}

TEST_CASE_WITH(files_of_others_come_before_foreign_ones, begin, finish)
{
	/* The first two of these begin at once. */
	static const struct {
		const char *name;
		bool foreign;
		unsigned int turn;
	} all[] = {
		{"f1.so", true, 1}, {"f2.so", true, 4},	 {"o1.so", false, 2},
		{"f3.so", true, 5}, {"o2.so", false, 3},
	};
	struct library_file *opened[N_OF(all)];

	order = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(order, MAP_FAILED);
	in_child = note_file;
	for (size_t i = 0; i < N_OF(all); i++)
		opened[i] = new_file(all[i].name);
	n_forks = 0;
	for (size_t i = 0; i < N_OF(all); i++)
		add(opened[i], all[i].foreign ? foreigner(0) : getuid());
	assert_int_equal(n_forks, 2);
	settle_all(N_OF(all));
	for (size_t i = 0; i < N_OF(all); i++) {
		assert_true(has_table((uint32_t)i + 1));
		assert_int_equal(order[all[i].turn], library_file__identity(opened[i])->ino);
		library_file__free(opened[i]);
	}
	munmap(order, 4096);
}

TEST_MAIN(fixture_dir_setup, fixture_dir_teardown)
