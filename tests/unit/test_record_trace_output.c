// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/trace_output.h"

#include <regex.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"
#include "../fixtures/directory.h"
#include "../fixtures/output.h"
#include "../fixtures/sampled_trace.h"
#include "../fixtures/temporary.h"
#include "../fixtures/trace_dump.h"

static char path[sizeof(directory) + 8];

static int make_directory(void **state)
{
	int err = directory_make(state);

	strcpy(path, directory_path("a.qpt"));
	return err;
}

static int remove_files(void **state)
{
	directory_files(true);
	return 0;
}

static int create_at(struct trace_output *o, const char *at, bool force)
{
	static const struct trace_info info = {
		.tool = (char *)"test", .kernel = (char *)"6", .host = (char *)"h"};

	o->path = strdup(at);
	o->force = force;
	return trace_output__create(o, &info);
}

/* Creating fails with one line that says why, and discarding does not remove `at`. */
static void refuse(const char *at, bool force, int want, const char *why)
{
	_trace_output_ struct trace_output trace = {0};
	_output_ struct output o;
	int err;

	output_begin(&o);
	err = create_at(&trace, at, force);
	trace_output__discard(&trace);
	output_end(&o);
	assert_int_equal(err, want);
	assert_ptr_equal(strchr(o.text[1], '\n') + 1, o.text[1] + strlen(o.text[1]));
	assert_contains(o.text[1], why);
}

TEST_CASE_WITH(a_file_that_exists_is_kept, NULL, remove_files)
{
	_trace_output_ struct trace_output forced = {0};
	_free_ char *text = NULL;

	output_write(path, "precious");
	refuse(path, false, -EEXIST,
	       "a.qpt exists already; choose another name with -o, or overwrite it with --force\n");
	text = output_read(path);
	assert_string_equal(text, "precious");
	assert_int_equal(create_at(&forced, path, true), 0);
	trace_output__discard(&forced);
}

/* Under sudo too, where other files are of the invoker. */
TEST_CASE_WITH(ours_are_for_nobody_else_to_read, NULL, remove_files)
{
	_trace_output_ struct trace_output trace = {.ours = true};
	struct stat st;

	setenv("SUDO_UID", "1000", 1);
	setenv("SUDO_GID", "1000", 1);
	assert_int_equal(create_at(&trace, path, false), 0);
	trace_output__commit(&trace);
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(st.st_uid, geteuid());
}

TEST_CASE_WITH(a_place_that_cannot_be_written_to, NULL, remove_files)
{
	refuse("/nonexistent/a.qpt", false, -ENOENT,
	       "qprof-bpf: error: cannot create /nonexistent/a.qpt: No such file or directory; "
	       "choose another place with -o\n");
}

TEST_CASE_WITH(a_discarded_trace_keeps_the_file_it_would_replace, NULL, remove_files)
{
	_trace_output_ struct trace_output trace = {0};
	_free_ char *before = NULL, *after = NULL;

	output_write(path, "precious");
	assert_int_equal(create_at(&trace, path, true), 0);
	before = output_read(path);
	assert_string_equal(before, "precious");
	trace_output__discard(&trace);
	after = output_read(path);
	assert_string_equal(after, "precious");
	assert_int_equal(directory_files(false), 1);
}

/* After the commit the file has its name, even if the recorder dies. */
TEST_CASE_WITH(a_committed_trace_replaces_the_existing_file, NULL, remove_files)
{
	_trace_output_ struct trace_output trace = {0};
	_free_ char *text = NULL;

	output_write(path, "precious");
	assert_int_equal(create_at(&trace, path, true), 0);
	trace_output__commit(&trace);
	text = dump_trace(path);
	assert_contains(text, "problem: unfinished");
	trace_output__discard(&trace);
	assert_int_equal(access(path, F_OK), 0);
}

TEST_CASE_WITH(a_link_stays_one_and_its_file_is_replaced, NULL, remove_files)
{
	_trace_output_ struct trace_output trace = {0};
	char real[sizeof(path)];
	_free_ char *text = NULL;
	struct stat st;

	strcpy(real, directory_path("real"));
	output_write(real, "precious");
	assert_int_equal(symlink("real", path), 0);
	assert_int_equal(create_at(&trace, path, true), 0);
	trace_output__commit(&trace);
	assert_int_equal(lstat(path, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	text = dump_trace(real);
	assert_contains(text, "problem: unfinished");
}

/* In a directory like /tmp, where anybody can put it. */
TEST_CASE_WITH(a_link_of_another_user_is_not_followed, NULL, remove_files)
{
	char real[sizeof(path)];

	if (geteuid())
		skip();
	strcpy(real, directory_path("real"));
	output_write(real, "precious");
	assert_int_equal(chmod(directory_path("."), 01777), 0);
	assert_int_equal(symlink("real", path) ?: lchown(path, 1000, 1000), 0);
	refuse(path, true, -ELOOP, "a symlink in it belongs to another user");
	assert_int_equal(lchown(path, 0, 0), 0);
	assert_int_equal(chmod(directory_path("."), 0700), 0);
}

TEST_CASE_WITH(a_path_that_is_not_a_regular_file_is_left_alone, NULL, remove_files)
{
	/* An open() for writing would wait for a reader forever. */
	assert_int_equal(mkfifo(path, 0600), 0);
	refuse(path, true, -EINVAL, "a.qpt is no regular file");
	refuse(path, false, -EINVAL, "a.qpt is no regular file");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("/dev/full", path), 0);
	refuse(path, true, -EINVAL, "a.qpt is no regular file");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("/tmp", path), 0);
	refuse(path, true, -EISDIR, "Is a directory");
	assert_int_equal(access(path, F_OK), 0);
	refuse("-", false, -EBUSY, "cannot create -: it is a standard stream of this program");
}

TEST_CASE_WITH(a_file_that_cannot_take_its_place_stays_and_is_reported_once, NULL, remove_files)
{
	_trace_output_ struct trace_output trace = {0};
	_free_ char *text = NULL;
	_output_ struct output o;

	output_write(path, "precious");
	assert_int_equal(create_at(&trace, path, true), 0);
	assert_string_equal(trace_output__place(&trace), path);
	unlink(path);
	assert_int_equal(mkdir(path, 0700), 0);
	output_begin(&o);
	trace_output__commit(&trace);
	trace_output__commit(&trace);
	output_end(&o);
	assert_ptr_equal(strchr(o.text[1], '\n') + 1, o.text[1] + strlen(o.text[1]));
	assert_contains(o.text[1], "cannot replace ");
	assert_contains(o.text[1], trace_output__place(&trace));
	assert_true(trace.place_err < 0);
	text = dump_trace(trace_output__place(&trace));
	assert_contains(text, "problem: unfinished");
	assert_int_equal(rmdir(path), 0);
}

/* Finish, with one line and an error if `removed`. */
static void finish(struct trace_output *trace, bool removed)
{
	_output_ struct output o;

	output_begin(&o);
	trace_output__finish(trace, NULL);
	output_end(&o);
	assert_int_equal(trace->err, removed ? -ENOENT : 0);
	if (removed) {
		assert_ptr_equal(strchr(o.text[1], '\n') + 1, o.text[1] + strlen(o.text[1]));
		assert_contains(o.text[1], "a.qpt was removed while it was written, or another");
	} else {
		assert_string_equal(o.text[1], "");
	}
}

TEST_CASE_WITH(a_trace_that_was_removed_is_reported, NULL, remove_files)
{
	_trace_output_ struct trace_output trace = {0};

	assert_int_equal(create_at(&trace, path, false), 0);
	trace_output__commit(&trace);
	assert_int_equal(unlink(path), 0);
	finish(&trace, true);
}

TEST_CASE_WITH(a_trace_whose_place_another_took_is_reported, NULL, remove_files)
{
	_trace_output_ struct trace_output first = {0}, second = {0};

	assert_int_equal(create_at(&first, path, true), 0);
	trace_output__commit(&first);
	assert_int_equal(create_at(&second, path, true), 0);
	trace_output__commit(&second);
	finish(&first, true);
	finish(&second, false);
}

/* It is whole, and the user knows where it is. */
TEST_CASE_WITH(a_trace_may_be_moved, NULL, remove_files)
{
	_trace_output_ struct trace_output trace = {0};
	char moved[sizeof(path)];

	strcpy(moved, directory_path("moved"));
	assert_int_equal(create_at(&trace, path, false), 0);
	trace_output__commit(&trace);
	assert_int_equal(rename(path, moved), 0);
	finish(&trace, false);
}

TEST_CASE_WITH(the_first_error_is_reported_and_kept, NULL, remove_files)
{
	_trace_output_ struct trace_output trace = {.path = strdup("b.qpt")};
	_output_ struct output o;

	output_begin(&o);
	trace_output__wrote(&trace, 0);
	trace_output__wrote(&trace, -EIO);
	trace_output__wrote(&trace, -ENOSPC);
	trace_output__wrote(&trace, 0);
	output_end(&o);
	assert_int_equal(trace.err, -EIO);
	assert_string_equal(o.text[1], "qprof-bpf: error: cannot write b.qpt: Input/output error; "
				       "choose another place with -o. What was written up to here "
				       "can be read\n");
}

TEST_CASE(a_trace_is_called_by_when_it_was_made)
{
	char name[TRACE_OUTPUT_NAME_MAX];
	regex_t form;

	assert_int_equal(regcomp(&form, "^qprof-[0-9]{8}T[0-9]{6}Z[.]qpt$", REG_EXTENDED), 0);
	trace_output__default_name(name);
	assert_int_equal(regexec(&form, name, 0, NULL, 0), 0);
	regfree(&form);
}

/* ---- Labels ---------------------------------------------------------------------------------- */

TEST_CASE_WITH(labels_have_the_numbers_of_the_trace, temporary_make, temporary_remove)
{
	_trace_output_ struct trace_output trace = {.writer = sampled_trace_open(temporary)};
	struct label_names l = {0};
	uint32_t id;

	assert_int_equal(label_names__id(&l, &trace, "mir_built", &id), 0);
	assert_int_equal(id, SAMPLED_MIR_BUILT);
	assert_string_equal(label_names__get(&l, SAMPLED_MIR_BUILT), "mir_built");
	/* It is a string of the trace, but no label. */
	assert_string_equal(label_names__get(&l, SAMPLED_TYPECK), "<unknown>");
	assert_string_equal(label_names__get(&l, UINT32_MAX), "<unknown>");
	label_names__clear(&l);
}

/* Not with gaps, whose size would double with each. */
TEST_CASE(numbers_without_the_trace_are_dense)
{
	_trace_output_ struct trace_output trace = {.err = -ENOSPC};
	struct label_names l = {0};
	char name[16];
	uint32_t id;

	for (uint32_t i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "label %u", i % 100);
		assert_int_equal(label_names__id(&l, &trace, name, &id), 0);
		assert_int_equal(id, i % 100);
		assert_string_equal(label_names__get(&l, id), name);
	}
	label_names__clear(&l);
}

TEST_MAIN(make_directory, directory_remove)
