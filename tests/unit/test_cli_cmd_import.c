// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "test.h"
#include "../fixtures/directory.h"
#include "../fixtures/output.h"
#include "../fixtures/trace_dump.h"
#include "cli/cmd.h"
#include "options/exit_code.h"

#define MM(name) "tests/golden/mm/" name ".mm_profdata"

/* The output of the last command; the next one frees it. */
static struct output o;

static int import(const char *const *files, size_t n, const char *to, bool force)
{
	const struct cli_import_options options = {
		.files = {(const char **)files, n}, .output = to, .force = force};
	int status;

	output_free(&o);
	output_begin(&o);
	status = cmd_import(&options);
	output_end(&o);
	return status;
}

TEST_CASE(every_file_is_a_process)
{
	static const char *const files[] = {MM("good-plain"), MM("good-no-names")};
	const char *out = directory_path("t.qpt");

	assert_says(&o, import(files, 2, out, false), EXIT_CODE_OK, "=",
		    "2>imported 6 intervals of 2 profiles; wrote ");
	assert_contains(o.text[1], MM("good-no-names") ": 2 of 2 events have no name in it");
	assert_shows(dump_trace(out), "\nprocess 1 pid=4711",
		     "\nspan 1/3 depth=0 1700000000000000001..",
		     " import] [] [] realtime 1700000000000000000 1700000000000000000\n",
		     "\nlosses\nwhole\n");

	assert_says(&o, import(files, 1, out, false), EXIT_CODE_FAILURE,
		    "2>exists already; choose another name with -o, or overwrite");
	assert_int_equal(import(files, 1, out, true), EXIT_CODE_OK);
	directory_files(true);
}

TEST_CASE(damaged_files_are_reported_but_not_as_losses)
{
	static const char *const files[] = {MM("bad-killed"), MM("bad-order")};
	const char *out = directory_path("t.qpt");

	assert_says(&o, import(files, 2, out, false), EXIT_CODE_OK,
		    "2>killed.mm_profdata: cut short at byte ",
		    "2>killed.mm_profdata: its command and start are unknown",
		    "2>order.mm_profdata: 2 intervals make no sense, and were left",
		    "2>order.mm_profdata: 1 intervals overlap others");
	assert_shows(dump_trace(out), "!losses");
	directory_files(true);
}

TEST_CASE(one_that_cannot_be_read_leaves_nothing)
{
	static const char *const files[] = {MM("good-plain"), MM("bad-version-7")};

	assert_int_equal(import(files, 2, directory_path("t.qpt"), true), EXIT_CODE_FAILURE);
	assert_contains(o.text[1], "cannot import " MM("bad-version-7") ": it has another version");
	assert_ptr_equal(strchr(o.text[1], '\n'), o.text[1] + strlen(o.text[1]) - 1);
	assert_int_equal(directory_files(false), 0);
}

TEST_CASE(the_input_is_not_the_output)
{
	const char *path = directory_path("b.mm_profdata");
	size_t size = 0;
	uint8_t *bytes = slurp(MM("good-no-events"), &size);
	int fd = openat(directory_fd, "a.mm_profdata", O_WRONLY | O_CREAT, 0600);
	char same[64];

	assert_int_equal(write(fd, bytes, size), size);
	close(fd);
	free(bytes);
	must(linkat(directory_fd, "a.mm_profdata", directory_fd, "b.mm_profdata", 0));
	snprintf(same, sizeof(same), "%s/a.mm_profdata", directory);
	assert_says(&o, import(&path, 1, same, true), EXIT_CODE_FAILURE,
		    "2>is to be read, and cannot be the output");
	directory_files(true);
}

TEST_CASE(without_a_name_it_is_the_first_files)
{
	char *cwd = get_current_dir_name(), file[512];
	const char *files[] = {file};
	int err;

	snprintf(file, sizeof(file), "%s/" MM("good-plain"), cwd);
	assert_int_equal(chdir(directory), 0);
	err = import(files, 1, NULL, false);
	assert_int_equal(chdir(cwd), 0);
	assert_int_equal(err, EXIT_CODE_OK);
	assert_contains(o.text[1], "wrote good-plain.qpt (");
	assert_int_equal(access(directory_path("good-plain.qpt"), R_OK), 0);
	directory_files(true);
	free(cwd);
}

TEST_MAIN(directory_make, directory_remove)
