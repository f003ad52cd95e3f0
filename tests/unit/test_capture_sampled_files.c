// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "../fixtures/sampled_files.h"
#include "../fixtures/rows.h"

TEST_CASE_WITH(a_file_gets_a_table_and_a_bias, begin, finish)
{
	_library_file_ struct library_file *file = NULL, *other = NULL;
	_unwind_table_ struct unwind_table *t = NULL;
	uint32_t number;

	file = new_file("a.so");
	other = new_file("b.so");
	assert_int_equal(unwind_table__of(file, &t), 0);
	assert_int_equal(sampled_files__find(files, library_file__identity(file), getuid()), 0);
	number = add(file, getuid());
	assert_int_equal(number, 1);
	assert_int_equal(n_told, 1);
	assert_int_equal(told[0], 1);
	assert_int_equal(sampled_files__bias(files, number, 0, 0, &bias), -EAGAIN);
	assert_false(has_table(number));
	assert_int_equal(settle(number), 0);
	assert_int_equal(bias,
			 0x700000001000 - (t->segments[0].addr - t->segments[0].offset) - 0x1000);
	assert_true(has_table(number));
	assert_int_equal(fake.files[number].start, t->start);
	assert_int_equal(sampled_files__find(files, library_file__identity(file), getuid()), 1);
	assert_int_equal(sampled_files__find(files, library_file__identity(other), getuid()), 0);
	assert_int_equal(sampled_files__lost(files), 0);
	/* No segment has code there. */
	assert_int_equal(sampled_files__bias(files, number, 0, 1 << 30, &bias), -ENOENT);
}

/* The text of files with the bytes of fixtures, the last one of which may say most. */
static const char *no_llvm_in(const char *const which[2], const char *const names[2], uid_t user)
{
	uint16_t numbers[2];
	uint32_t n = 0;

	for (; n < 2 && which[n]; n++) {
		_library_file_ struct library_file *file = copy_of(which[n], names[n]);

		numbers[n] = (uint16_t)add(file, user);
	}
	settle_all(n);
	return sampled_files__no_llvm(files, numbers, n);
}

TEST_CASE_WITH(files_say_why_llvm_is_not_shown, begin, finish)
{
	static const struct {
		const char *which[2], *names[2], *why;
	} cases[] = {
		{{"unwind.so"}, {"libother.so"}, NULL},
		{{"llvm.so"}, {"libLLVM.so.22"}, NULL},
		/* Without symbols of LLVM. */
		{{"unwind.so"},
		 {"librustc_driver-1.so"},
		 "LLVM is a part of librustc_driver-1.so, which does not show it"},
		{{"unwind.so", "llvm.so"}, {"librustc_driver-2.so", "libLLVM.so.22"}, NULL},
		{{"llvm.so", "llvm_OTHER_HASH.so"}, {"libother.so", "libLLVM.so.23"}, NULL},
		{{"unwind.so", "llvm_OTHER_HASH.so"},
		 {"librustc_driver-3.so", "libLLVM.so.23"},
		 "libLLVM.so.23: Value::getName() does not show where names are"},
		{{"unwind.so"},
		 {"libLLVM.so.24"},
		 "libLLVM.so.24: it has no SavePrettyStackState()"},
		{{"llvm.so", "unwind.so"},
		 {"libLLVM.so.22", "librustc_codegen_cranelift-1.97.0.so"},
		 "librustc_codegen_cranelift-1.97.0.so generates code, not LLVM"},
		{{"llvm.so", "unwind.so"}, {"libLLVM.so.22", "librustc_codegen_llvm-1.so"}, NULL},
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		row_text(cases[i].names[0], no_llvm_in(cases[i].which, cases[i].names, getuid()),
			 cases[i].why);
		reopen_files(BLOCKS, FAKE_FILES_MAX);
	}
}

TEST_CASE_WITH(a_library_without_room_is_said, begin, finish)
{
	static const char *const which[2] = {"llvm.so"}, *const names[2] = {"libLLVM.so.22"};

	sampled_user_bytes = 1;
	assert_string_equal(no_llvm_in(which, names, foreigner(0)),
			    "libLLVM.so.22: there is no room for its unwind table");
}

/* Made, and then stored: the sink and the kernel half are given the same. */
TEST_CASE_WITH(llvms_library_has_a_layout, begin, finish)
{
	_library_file_ struct library_file *file = NULL;
	struct wire_llvm made;

	n_llvm = 0;
	file = copy_of("llvm.so", "a.so");
	settle(add(file, getuid()));
	assert_int_equal(n_llvm, 1);
	assert_int_equal(llvm_number, 1);
	assert_int_equal(llvm_problem, LLVM_FOUND);
	assert_int_not_equal(fake.llvm.passes_return, 0);
	assert_int_equal(fake.llvm_files[1], wire_place(1, fake.llvm.passes_return));
	assert_int_equal(fake.llvm.head, 0x48);
	made = fake.llvm;
	reopen_files(BLOCKS, FAKE_FILES_MAX);
	add(file, getuid());
	assert_int_equal(n_llvm, 2);
	assert_memory_equal(&fake.llvm, &made, sizeof(made));
	sample_tables__remove(tables, 1);
	assert_int_equal(fake.llvm_files[1], 0);
	assert_int_equal(fake.n_llvm_removed, 1);
}

TEST_CASE_WITH(a_library_that_is_not_understood_has_none, begin, finish)
{
	_library_file_ struct library_file *file = copy_of("llvm_OTHER_HASH.so", "a.so");

	n_llvm = 0;
	settle(add(file, getuid()));
	assert_int_equal(n_llvm, 1);
	assert_int_equal(llvm_problem, LLVM_NO_NAMES);
	assert_int_equal(fake.llvm_files[1], 0);
}

TEST_CASE_WITH(a_stored_table_is_there_at_once, begin, finish)
{
	_library_file_ struct library_file *file = NULL;

	file = new_file("a.so");
	settle(add(file, getuid()));
	assert_int_equal(cache_home_count("code-"), 1);
	reopen_files(BLOCKS, FAKE_FILES_MAX);
	n_forks = 0;
	assert_int_equal(sampled_files__bias(files, add(file, getuid()), 0, 0x1000, &bias), 0);
	assert_int_equal(n_forks, 0);
	assert_true(has_table(1));
}

/* A store keeps few files, so a foreign user could make room there of what others need. */
TEST_CASE_WITH(tables_of_a_new_toolchain_can_be_waited_for, begin, finish)
{
	_library_file_ struct library_file *a = NULL, *b = NULL;
	uint32_t numbers[2];

	a = new_file("a.so");
	b = new_file("b.so");
	numbers[0] = add(a, getuid());
	numbers[1] = add(b, getuid());
	assert_int_equal(sampled_files__bias(files, numbers[1], 0, 0, &bias), -EAGAIN);
	sampled_files__await_own(files, 60000000000);
	assert_true(has_table(numbers[0]));
	assert_true(has_table(numbers[1]));
	/* Nothing is waited for. */
	sampled_files__await_own(files, UINT64_MAX / 2);
}

/* Others' files can take as long as they like. */
TEST_CASE_WITH(foreign_tables_are_not_waited_for, begin, finish)
{
	_library_file_ struct library_file *a = NULL;
	uint32_t number;

	a = new_file("a.so");
	number = add(a, foreigner(0));
	sampled_files__await_own(files, 0);
	sampled_files__await_own(files, UINT64_MAX / 2);
	assert_int_equal(sampled_files__bias(files, number, 0, 0, &bias), -EAGAIN);
}

TEST_CASE_WITH(tables_of_foreign_files_are_not_stored, begin, finish)
{
	_library_file_ struct library_file *file = NULL;

	file = new_file("a.so");
	assert_int_equal(settle(add(file, foreigner(0))), 0);
	assert_true(has_table(1));
	assert_int_equal(cache_home_count("code-"), 0);
}

/* A recording may be shorter than the time that its tables take. */
TEST_CASE_WITH(tables_that_are_being_made_are_stored_at_the_end, begin, finish)
{
	_library_file_ struct library_file *file = NULL, *foreign = NULL;

	file = new_file("a.so");
	foreign = new_file("b.so");
	add(file, getuid());
	add(foreign, foreigner(0));
	close_files();
	assert_int_equal(cache_home_count("code-"), 1);
}

/* cmocka's handler would go on with the test in the child. */
static void die_of_signals(void)
{
	signal(SIGBUS, SIG_DFL);
}

/* Those of damaged files are missing, and nothing else happens. */
TEST_CASE_WITH(files_without_tables_are_counted, begin, finish)
{
	_library_file_ struct library_file *text = NULL, *short_file = NULL;
	_output_ struct output o = {};
	int err[2];

	in_child = die_of_signals;
	output_write(fixture("text.so"), "no ELF file, but long enough to be read as one\n");
	assert_int_equal(library_file__try(fixture("text.so"), &text), 0);
	/* It becomes shorter after it was opened: the child that maps it is killed. */
	short_file = new_file("short.so");
	assert_int_equal(truncate(fixture("short.so"), 64), 0);
	output_begin(&o);
	err[0] = settle(add(text, getuid()));
	err[1] = settle(add(short_file, getuid()));
	output_end(&o);
	assert_int_equal(err[0], -ENOENT);
	assert_int_equal(err[1], -ENOENT);
	assert_string_equal(o.text[1], "");
	assert_int_equal(sampled_files__lost(files), 2);
	assert_int_equal(fake.n_numbers, 0);
}

TEST_CASE_WITH(the_vdso_has_one_number_and_its_table, begin, finish)
{
	const struct library_identity none = {0};
	_unwind_table_ struct unwind_table *t = NULL;
	uint32_t first = 0, again = 0;

	if (unwind_vdso__table(&t))
		skip();
	assert_int_equal(sampled_files__find(files, &none, getuid()), 0);
	assert_int_equal(sampled_files__add_vdso(files, &first), 0);
	assert_int_equal(sampled_files__add_vdso(files, &again), 0);
	assert_pairs(first, 1, again, 1, n_told, 1);
	assert_true(told_vdso);
	assert_int_equal(sampled_files__find(files, &none, foreigner(0)), 1);
	assert_int_equal(sampled_files__bias(files, first, 0x7ffff7fc1000, 0, &bias), 0);
	assert_int_equal(bias, 0x7ffff7fc1000);
	assert_int_equal(fake.files[first].n_rules, t->n_rules);
}

TEST_MAIN(fixture_dir_setup, fixture_dir_teardown)
