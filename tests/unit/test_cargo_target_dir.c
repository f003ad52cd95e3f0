// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "cargo/target_dir.h"

#include "test.h"
#include "../fixtures/cargo_tree.h"
#include "base/cleanup.h"

#define ARGS(...) ((char *[]){__VA_ARGS__, NULL})

/* The place of a command, below the directory of the test; "" if it has none. */
static const char *found(char **argv, char **env)
{
	_free_ char *workspace = NULL, *target = NULL;
	static char text[1024];
	int err = target_dir__find(argv, env, &workspace, &target);

	if (err) {
		assert_int_equal(err, -ENOENT);
		return "";
	}
	snprintf(text, sizeof(text), "%s", target);
	if (!strncmp(text, cargo_tree_path, strlen(cargo_tree_path)))
		memmove(text, text + strlen(cargo_tree_path), strlen(text));
	return text;
}

TEST_CASE_WITH(it_is_where_cargo_looks, cargo_tree_make, cargo_tree_remove)
{
	char *none[] = {NULL}, *home[] = {"HOME=/nowhere", "CARGO=/opt/my-cargo", NULL};
	char *dir[] = {"CARGO_TARGET_DIR=/t", NULL};
	char *build[] = {"CARGO_BUILD_TARGET_DIR=b", "CARGO_TARGET_DIR=", NULL};

	/* Nothing was built. */
	assert_string_equal(found(ARGS("cargo", "build"), none), "");
	cargo_tree_write("ws/Cargo.lock", "", 1);
	cargo_tree_write("ws/member/Cargo.toml", "", 1);
	assert_string_equal(found(ARGS("cargo", "build"), none), "");
	assert_string_equal(
		found(ARGS("cargo", "build", "--manifest-path", "ws/member/Cargo.toml"), none),
		"/ws/target");
	assert_int_equal(chdir("ws/member"), 0);
	assert_string_equal(found(ARGS("/x/cargo", "build"), home), "/ws/target");
	assert_string_equal(found(ARGS("/opt/my-cargo", "build"), home), "/ws/target");
	assert_string_equal(found(ARGS("make"), home), "");
	assert_string_equal(found(ARGS("cargo", "build"), dir), "/t");
	assert_string_equal(found(ARGS("cargo", "build"), build), "/ws/member/b");
	assert_string_equal(found(ARGS("cargo", "run", "--target-dir=x"), dir), "/ws/member/x");
	assert_string_equal(found(ARGS("cargo", "run", "--target-dir", "/x"), dir), "/x");
	assert_string_equal(found(ARGS("cargo", "run", "--", "--target-dir", "/x"), none),
			    "/ws/target");
	assert_string_equal(found(ARGS("cargo", "run", "--target-dir"), none), "/ws/target");
}

TEST_CASE_WITH(it_is_where_the_configuration_says, cargo_tree_make, cargo_tree_remove)
{
	char *none[] = {NULL}, *home[] = {NULL, NULL};
	char text[64];

	snprintf(text, sizeof(text), "HOME=%s/home", cargo_tree_path);
	home[0] = text;
	cargo_tree_write("ws/Cargo.lock", "", 1);
	cargo_tree_write("home/.cargo/config.toml", "build.target-dir = 'all'\n", 1);
	assert_int_equal(chdir("ws"), 0);
	assert_string_equal(found(ARGS("cargo", "build"), home), "/home/all");
	cargo_tree_write(
		".cargo/config.toml",
		"# target-dir = \"no\"\ntarget-dir = \"no\"\n[target.x]\ntarget-dir = \"no\"\n"
		"[build]\njobs = 1\n  target-dir=\"/tt\" # yes\n",
		1);
	assert_string_equal(found(ARGS("cargo", "build"), home), "/tt");
	cargo_tree_write(".cargo/config.toml", "[build]\ntarget-dir = \"x\"\nbuild-dir = \"y\"\n",
			 1);
	assert_string_equal(found(ARGS("cargo", "build"), none), "/ws/y");
	/* A template is not followed. */
	cargo_tree_write(".cargo/config.toml", "[build]\nbuild-dir = \"{cargo-cache-home}/y\"\n",
			 1);
	assert_string_equal(found(ARGS("cargo", "build"), none), "");
	cargo_tree_write(".cargo/config.toml", "[build]\nbuild-dir = 7\nbuild-dir =\nbuild-dir", 1);
	assert_string_equal(found(ARGS("cargo", "build"), none), "/ws/target");
}

TEST_MAIN(NULL, NULL)
