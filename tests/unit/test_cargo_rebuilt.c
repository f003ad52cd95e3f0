// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Of trees as cargo leaves them: a build at second 100 is followed by one at second 200. */
#include "cargo/rebuilt.h"

#include "test.h"
#include "../fixtures/cargo_tree.h"

#define PRINT  "target/debug/.fingerprint/"
#define LOW    "low-0123456789abcdef"
#define DEP    "dep-1123456789abcdef"
#define SCRIPT "dep-2123456789abcdef"
#define RUN    "dep-3123456789abcdef"

/* Each fingerprint is its JSON text's, here a number that a test picks. */
static void put_unit(const char *dir, const char *file, const char *hash, const char *fields,
		     const char *deps, const char *local, time_t time)
{
	char path[256], json[1024];

	snprintf(json, sizeof(json),
		 "{\"rustc\":7,%s,\"target\":3,\"deps\":[%s],\"local\":[%s],"
		 "\"config\":8,\"compile_kind\":0}",
		 fields, deps, local);
	snprintf(path, sizeof(path), PRINT "%s/%s.json", dir, file);
	cargo_tree_write(path, json, time + 5);
	snprintf(path, sizeof(path), PRINT "%s/%s", dir, file);
	cargo_tree_write(path, hash, time + 5);
}

#define FIELDS_WITH(features, profile) FIELDS_AT("5", features, profile)
#define FIELDS			       FIELDS_WITH("[]", "1")
#define FIELDS_AT(path, features, profile)                                                \
	"\"features\":\"" features "\",\"declared_features\":\"[]\",\"profile\":" profile \
	",\"rustflags\":[],\"path\":" path
#define CHECK "{\"CheckDepInfo\":{\"dep_info\":\"debug/.fingerprint/x\",\"checksum\":false}}"

/* Its list of inputs: "src/lib.rs" of the package, and the variable V. */
static void put_inputs(const char *dir, const char *file, const char *value, time_t time)
{
	uint8_t bytes[128] =
		"\x01\0\0\0\xff\x01\x01\0\0\0\0\x0a\0\0\0src/lib.rs\0\x01\0\0\0\x01\0\0\0V\x01";
	size_t size = 36;
	char path[256];

	bytes[size] = (uint8_t)strlen(value);
	memcpy(bytes + size + 4, value, strlen(value));
	snprintf(path, sizeof(path), PRINT "%s/dep-%s", dir, file);
	cargo_tree_put(path, bytes, size + 4 + strlen(value), time);
	snprintf(path, sizeof(path), PRINT "%s/invoked.timestamp", dir);
	cargo_tree_write(path, "", time);
}

static void put_low(const char *fields, const char *value, time_t time)
{
	put_unit(LOW, "lib-low", "0100000000000000", fields, "", CHECK, time);
	put_inputs(LOW, "lib-low", value, time);
}

static void put_dep(const char *deps, time_t time)
{
	put_unit(DEP, "lib-dep", "0200000000000000", FIELDS, deps, CHECK, time);
	put_inputs(DEP, "lib-dep", "v", time);
}

/* "low" in the workspace, and "dep", which depends on it and has a build script. */
static int make_built(void **state)
{
	if (cargo_tree_make(state))
		return -1;
	cargo_tree_write("Cargo.lock", "", 50);
	cargo_tree_write("a b/low/Cargo.toml", "", 50);
	cargo_tree_write("a b/low/src/lib.rs", "", 50);
	cargo_tree_write("dep/Cargo.toml", "", 50);
	cargo_tree_write("dep/src/lib.rs", "", 50);
	cargo_tree_write("dep/build/main.rs", "", 50);
	cargo_tree_write("dep/watched", "", 50);
	cargo_tree_write("target/debug/deps/low-0123456789abcdef.d",
			 "/t/low.d: a\\ b/low/src/lib.rs\n", 100);
	cargo_tree_write("target/debug/deps/dep-1123456789abcdef.d", "x: dep/src/lib.rs dep/x.rs\n",
			 100);
	cargo_tree_write("target/debug/build/" SCRIPT "/build_script_build-2123456789abcdef.d",
			 "x: dep/build/main.rs\n", 100);
	put_low(FIELDS, "v", 100);
	put_dep("[9,\"low\",false,1],[8,\"build_script_build\",false,3]", 100);
	put_unit(SCRIPT, "build-script-build-script-build", "0400000000000000", FIELDS, "", CHECK,
		 100);
	put_inputs(SCRIPT, "build-script-build-script-build", "v", 100);
	put_unit(RUN, "run-build-script-build-script-build", "0300000000000000", FIELDS,
		 "[9,\"build_script_build\",false,4]",
		 "{\"RerunIfChanged\":{\"output\":\"o\",\"paths\":[\"watched\"]}}", 100);
	return 0;
}

static struct rebuilt *remembered(void)
{
	char *argv[] = {"cargo", "build", NULL}, *env[] = {NULL};
	struct rebuilt *r = NULL;

	assert_int_equal(rebuilt__remember(argv, env, &r), 0);
	return r;
}

static int add_line(void *ctx, const struct rebuilt_crate *c)
{
	fprintf(ctx, "%s: %s %s\n", c->crate, trace_rebuilt_name(c->reason), c->detail);
	return 0;
}

/* Compare what is found, a line each, and free `r`. */
static void assert_found(struct rebuilt *r, const char *expected)
{
	char text[1024] = "";
	FILE *to = fmemopen(text, sizeof(text), "w");

	assert_non_null(r);
	assert_int_equal(rebuilt__each(r, add_line, to), 0);
	fclose(to);
	assert_string_equal(text, expected);
	rebuilt__free(r);
}

TEST_CASE_WITH(nothing_was_built_again, make_built, cargo_tree_remove)
{
	assert_found(remembered(), "");
}

TEST_CASE_WITH(what_was_never_built_is_no_matter, cargo_tree_make, cargo_tree_remove)
{
	assert_null(remembered());
	cargo_tree_write("Cargo.lock", "", 50);
	assert_null(remembered());
	cargo_tree_write("target/debug/x", "", 50);
	assert_null(remembered());
}

TEST_CASE_WITH(a_changed_file_is_found_and_what_depends_on_it, make_built, cargo_tree_remove)
{
	struct rebuilt *r = remembered();

	cargo_tree_write("a b/low/src/lib.rs", "x", 150);
	put_low(FIELDS, "v", 200);
	put_dep("[9,\"low\",false,1],[8,\"build_script_build\",false,3]", 200);
	assert_found(r, "low: file src/lib.rs\ndep: dependency \n");
}

TEST_CASE_WITH(a_file_that_changed_meanwhile_is_no_reason, make_built, cargo_tree_remove)
{
	struct rebuilt *r = remembered();

	put_low(FIELDS, "v", 200);
	cargo_tree_write("a b/low/src/lib.rs", "x", 250);
	assert_found(r, "low: unknown \n");
}

TEST_CASE_WITH(a_variable_that_was_read_is_found, make_built, cargo_tree_remove)
{
	struct rebuilt *r = remembered();

	put_low(FIELDS, "other", 200);
	assert_found(r, "low: environment V\n");
}

TEST_CASE_WITH(a_deleted_output_is_not_known, make_built, cargo_tree_remove)
{
	struct rebuilt *r = remembered();

	put_low(FIELDS, "v", 200);
	assert_found(r, "low: unknown \n");
}

TEST_CASE_WITH(one_that_did_not_end_well_is_built_again, make_built, cargo_tree_remove)
{
	struct rebuilt *r;

	cargo_tree_write(PRINT LOW "/lib-low", "", 120);
	r = remembered();
	put_low(FIELDS, "v", 200);
	assert_found(r, "low: unfinished \n");
}

TEST_CASE_WITH(a_crate_that_is_built_twice_is_named_once, make_built, cargo_tree_remove)
{
	struct rebuilt *r = remembered();

	put_unit("low-f123456789abcdef", "lib-low", "0f00000000000000", FIELDS_WITH("[]", "2"), "",
		 CHECK, 200);
	put_unit("low-e123456789abcdef", "lib-low", "0e00000000000000", FIELDS_WITH("[]", "3"), "",
		 CHECK, 200);
	assert_found(r, "low: profile \n");
}

/* Of a compile that fails, cargo keeps the former note. */
TEST_CASE_WITH(a_compile_that_fails_has_a_reason_if_a_file_changed, make_built, cargo_tree_remove)
{
	struct rebuilt *r = remembered();

	cargo_tree_write("a b/low/src/lib.rs", "x", 150);
	cargo_tree_write(PRINT LOW "/invoked.timestamp", "", 200);
	cargo_tree_write(PRINT LOW "/lib-low", "", 200);
	cargo_tree_write(PRINT DEP "/invoked.timestamp", "", 200);
	assert_found(r, "low: file src/lib.rs\n");
}

TEST_CASE_WITH(other_features_have_another_directory, make_built, cargo_tree_remove)
{
	struct rebuilt *r = remembered();

	put_unit("low-f123456789abcdef", "lib-low", "0f00000000000000",
		 FIELDS_WITH("[\\\"std\\\"]", "1"), "", CHECK, 200);
	/* A package of a similar name, and a target that was not built before. */
	put_unit("low-er-f123456789abcdef", "lib-low", "0e00000000000000", FIELDS, "", CHECK, 200);
	put_unit("low-e123456789abcdef", "test-lib-low", "0d00000000000000", FIELDS, "", CHECK,
		 200);
	assert_found(r, "low: features +std\n");
}

/* A second version of a package, and a wrapper such as clippy's, have directories of their own. */
TEST_CASE_WITH(another_version_was_not_built_before, make_built, cargo_tree_remove)
{
	struct rebuilt *r = remembered();

	put_unit("low-f123456789abcdef", "lib-low", "0f00000000000000", FIELDS, "", CHECK, 200);
	put_unit("low-e123456789abcdef", "lib-low", "0e00000000000000", FIELDS_AT("6", "[]", "1"),
		 "", CHECK, 200);
	assert_found(r, "");
}

TEST_CASE_WITH(a_check_is_told_from_a_build, make_built, cargo_tree_remove)
{
	struct rebuilt *r;

	cargo_tree_write("target/debug/deps/liblow-0123456789abcdef.rmeta", "", 100);
	cargo_tree_write("target/debug/deps/liblow-0123456789abcdef.rlib", "", 100);
	cargo_tree_write("target/debug/deps/liblow-f123456789abcdef.rmeta", "", 200);
	r = remembered();
	put_unit("low-f123456789abcdef", "lib-low", "0f00000000000000", FIELDS_WITH("[]", "2"), "",
		 CHECK, 200);
	assert_found(r, "low: command \n");
	r = remembered();
	cargo_tree_write("target/debug/deps/liblow-e123456789abcdef.rmeta", "", 300);
	put_unit("low-e123456789abcdef", "lib-low", "0e00000000000000", FIELDS_WITH("[]", "3"), "",
		 CHECK, 300);
	assert_found(r, "low: profile \n");
}

TEST_CASE_WITH(a_build_script_is_run_again, make_built, cargo_tree_remove)
{
	struct rebuilt *r = remembered();

	cargo_tree_write("dep/watched", "x", 150);
	put_unit(RUN, "run-build-script-build-script-build", "0300000000000000", FIELDS,
		 "[9,\"build_script_build\",false,4]",
		 "{\"RerunIfChanged\":{\"output\":\"o\",\"paths\":[\"gone\"]}}", 200);
	assert_found(r, "dep (build script run): build_script \n");
	r = remembered();
	put_unit(RUN, "run-build-script-build-script-build", "0300000000000000", FIELDS,
		 "[9,\"build_script_build\",false,4]",
		 "{\"RerunIfChanged\":{\"output\":\"o\",\"paths\":[\"gone\"]}}", 300);
	put_dep("[9,\"low\",false,1],[8,\"build_script_build\",false,3]", 300);
	assert_found(r, "dep (build script run): missing_file gone\ndep: dependency \n");
}

TEST_CASE_WITH(a_watched_file_is_found, make_built, cargo_tree_remove)
{
	struct rebuilt *r = remembered();

	cargo_tree_write("dep/watched", "x", 150);
	put_unit(RUN, "run-build-script-build-script-build", "0300000000000000", FIELDS,
		 "[9,\"build_script_build\",false,4]",
		 "{\"RerunIfChanged\":{\"output\":\"o\",\"paths\":[\"watched\"]}}", 200);
	assert_found(r, "dep (build script run): file watched\n");
}

TEST_CASE_WITH(an_empty_name_hides_no_other_one, make_built, cargo_tree_remove)
{
	static const char watched[] =
		"{\"RerunIfChanged\":{\"output\":\"o\",\"paths\":[\"\",\"watched\"]}}";
	struct rebuilt *r;

	put_unit(RUN, "run-build-script-build-script-build", "0300000000000000", FIELDS,
		 "[9,\"build_script_build\",false,4]", watched, 100);
	r = remembered();
	cargo_tree_write("dep/watched", "x", 150);
	put_unit(RUN, "run-build-script-build-script-build", "0300000000000000", FIELDS,
		 "[9,\"build_script_build\",false,4]", watched, 200);
	assert_found(r, "dep (build script run): file watched\n");
}

/* Nothing of these is read, and none waits. */
TEST_CASE_WITH(what_is_no_file_is_left_out, make_built, cargo_tree_remove)
{
	struct rebuilt *r = remembered();

	assert_int_equal(mkdir(PRINT "fifo-0123456789abcdef", 0700), 0);
	assert_int_equal(mkfifo(PRINT "fifo-0123456789abcdef/lib-fifo.json", 0600), 0);
	assert_int_equal(symlink(LOW, PRINT "low-f123456789abcdef"), 0);
	assert_int_equal(mkdir(PRINT "link-0123456789abcdef", 0700), 0);
	assert_int_equal(
		symlink("../" LOW "/lib-low.json", PRINT "link-0123456789abcdef/lib-link.json"), 0);
	assert_int_equal(symlink("debug", "target/release"), 0);
	cargo_tree_write(PRINT "low-a123456789abcdef/lib-low.json", "{\"rustc\":1}", 200);
	cargo_tree_write(PRINT "no_hash/lib-low.json", "{\"rustc\":1}", 200);
	assert_found(r, "");
	r = remembered();
	put_low(FIELDS, "other", 200);
	assert_found(r, "low: environment V\n");
}

/* Cargo.lock of the time before the package was a member: its target directory is another one. */
TEST_CASE_WITH(nothing_is_said_of_files_of_another_workspace, make_built, cargo_tree_remove)
{
	char *argv[] = {"cargo", "build", "--target-dir=../target", NULL}, *env[] = {NULL};
	struct rebuilt *r = NULL;

	cargo_tree_write("dep/Cargo.lock", "", 50);
	assert_int_equal(chdir("dep"), 0);
	assert_int_equal(rebuilt__remember(argv, env, &r), 0);
	assert_int_equal(chdir(".."), 0);
	cargo_tree_write("dep/watched", "x", 150);
	put_low(FIELDS, "v", 200);
	put_dep("[9,\"low\",false,1],[8,\"build_script_build\",false,3]", 200);
	put_unit(RUN, "run-build-script-build-script-build", "0300000000000000", FIELDS,
		 "[9,\"build_script_build\",false,4]",
		 "{\"RerunIfChanged\":{\"output\":\"o\",\"paths\":[\"watched\"]}}", 200);
	assert_found(r, "");
}

/* Anybody can put a Cargo.lock and a target directory into /tmp, above a project of ours. */
TEST_CASE_WITH(what_another_user_has_laid_is_not_read, make_built, cargo_tree_remove)
{
	static const char *const paths[] = {"Cargo.lock", "target", "."};

	if (geteuid())
		skip();
	for (size_t i = 0; i < N_OF(paths); i++) {
		assert_int_equal(chown(paths[i], 12345, 12345), 0);
		assert_null(remembered());
		assert_int_equal(chown(paths[i], 0, 0), 0);
	}
	assert_found(remembered(), "");
}

TEST_MAIN(NULL, NULL)
