// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/compile_name.h"

#include "test.h"

static struct trace_process process(const char *crate, const char *type, const char *command)
{
	return (struct trace_process){
		.crate = (char *)crate, .crate_type = (char *)type, .command = (char *)command};
}

static void assert_name(const char *crate, const char *type, const char *command,
			const char *expected)
{
	struct trace_process p = process(crate, type, command);
	_free_ char *name = compile_name(&p);

	assert_string_equal(name, expected);
}

static void the_type_distinguishes_crates(void **state)
{
	assert_name("syn", "lib", "rustc", "syn");
	assert_name("syn", NULL, "rustc", "syn");
	assert_name("app", "bin", "rustc", "app (bin)");
	assert_name("app", "lib", "rustc --test src/lib.rs", "app (test)");
	assert_name("x", "proc-macro", NULL, "x (proc-macro)");
	assert_name(NULL, NULL, "rustc -vV", "rustc -vV");
	assert_name(NULL, NULL, NULL, "unknown");
	assert_name(NULL, NULL, "/opt/bin/rustc --cfg f1 ...", "rustc (crate unknown)");
	assert_name(NULL, NULL, "rustc @args ...", "rustc (crate unknown)");
	assert_name("a", "lib", "rustc --crate-name a --cfg f1 ...", "a");
	assert_name("", NULL, "/opt/bin/rustc /a/b", "rustc /a/b");
	assert_name(NULL, NULL, "/opt/bin/ x", "unknown");
	assert_name("___", "lib", "rustc - --crate-name ___ --print=cfg", "rustc --print");
}

static void the_tool_distinguishes_compiles_of_a_target(void **state)
{
	assert_name("semver", "lib", "/opt/bin/rustdoc --crate-name semver src/lib.rs",
		    "semver (doc)");
	assert_name("x", "proc-macro", "rustdoc --crate-name x", "x (proc-macro doc)");
	assert_name("semver", "lib", "rustdoc --test src/lib.rs", "semver (doctests)");
	assert_name("semver", "lib", "/opt/bin/clippy-driver /opt/bin/rustc", "semver clippy");
	assert_name("x", "proc-macro", "clippy-driver rustc", "x (proc-macro) clippy");
	assert_name("app", "bin", "miri --crate-name app", "app (bin) miri");
	assert_name("build_script_build", "bin",
		    "clippy-driver rustc --out-dir /t/build/quote-0123456789abcdef",
		    "quote (build script) clippy");
}

static void an_example_of_the_documentation_has_no_crate(void **state)
{
	struct trace_process p =
		process("rust_out", "bin", "rustc @/tmp/rustdoctestX/rustdoc-cfgs -o x -");
	struct trace_process other = process("app", "bin", "rustc @/tmp/rustdoc-cfgs/options");

	assert_true(compile_is_doctest(&p));
	assert_false(compile_is_doctest(&other));
	assert_name(NULL, NULL, "rustc @/tmp/rustdoctestX/rustdoc-cfgs -o x -", "doctest");
}

static void a_build_script_is_called_after_its_package(void **state)
{
	const char *crate = "build_script_build";

	assert_name(crate, "bin", "rustc --out-dir /t/build/serde-json-0123456789abcdef -L x",
		    "serde-json (build script)");
	assert_name(crate, "bin", "rustc --out-dir=semver-0123456789abcdef",
		    "semver (build script)");
	assert_name(crate, "bin", "rustc --out-dir /t/build/nl-x/0123456789abcdef/out",
		    "nl-x (build script)");
	assert_name(crate, "bin", "rustc --out-dir /t/made/nl-x/0123456789abcdef/out",
		    "build_script_build (bin)");
	assert_name(crate, "bin", "rustc --out-dir /0123456789abcdef/out",
		    "build_script_build (bin)");
	assert_name(crate, "bin", "rustc --out-dir /t/build/out", "build_script_build (bin)");
	assert_name(crate, "bin", "rustc --out-dir /t/x-0123456789abcdeg",
		    "build_script_build (bin)");
	assert_name(crate, "bin", "rustc --out-dir -0123456789abcdef", "build_script_build (bin)");
	assert_name(crate, "bin", "rustc --out-dir", "build_script_build (bin)");
	assert_name("app", "lib", "rustc --out-dir /t/x-0123456789abcdef", "app");
}

static void a_build_script_may_lie_in_its_package(void **state)
{
	const char *crate = "build_script_main";

	assert_name(crate, "bin", "rustc /r/proc-macro2-1.0.47/build.rs --out-dir /t",
		    "proc-macro2 (build script)");
	assert_name(crate, "bin", "rustc /r/a-2-0.1.0-rc.1/build.rs", "a-2 (build script)");
	assert_name(crate, "bin", "rustc /r/rust-1.95.0/a/build.rs", "build_script_main (bin)");
	assert_name(crate, "bin", "rustc /r/-1.0/build.rs", "build_script_main (bin)");
	assert_name(crate, "bin", "rustc /r/a-1/build.rs", "build_script_main (bin)");
	assert_name(crate, "bin", "rustc build.rs", "build_script_main (bin)");
	assert_name("app", "lib", "rustc /r/app-1.0/lib.rs", "app");
}

static void a_compiler_that_is_only_queried_compiles_nothing(void **state)
{
	struct trace_process asks = process("___", "lib", "rustc - --crate-name ___ --print=cfg");
	struct trace_process version = process(NULL, NULL, "rustc -vV");
	struct trace_process compiles = process("a", "lib", "rustc --crate-name a a.rs --printer");
	struct trace_process cut = process(NULL, NULL, "rustc @args ...");
	struct trace_process cut_asks = process(NULL, NULL, "rustc --print cfg @args ...");

	assert_false(compile_only_queries(&cut));
	assert_true(compile_only_queries(&cut_asks));
	assert_true(compile_only_queries(&asks));
	assert_true(compile_only_queries(&version));
	assert_false(compile_only_queries(&compiles));
}

static void metadata_is_one_of_what_is_emitted(void **state)
{
	static const char *const with[] = {"rustc --emit=dep-info,metadata,link", "--emit metadata",
					   "--emit=metadata=x.rmeta"};
	static const char *const without[] = {"rustc --emit=dep-info,link", "--emit", "rustc",
					      "rustc -C metadata=abc",
					      "--emit=xmetadata,metadatas"};

	for (size_t i = 0; i < N_OF(with); i++) {
		struct trace_process p = process("a", "lib", with[i]);

		assert_true(compile_emits_metadata(&p));
	}
	for (size_t i = 0; i < N_OF(without); i++) {
		struct trace_process p = process("a", "lib", without[i]);

		assert_false(compile_emits_metadata(&p));
	}
}

static void own_crates_are_not_of_a_registry(void **state)
{
	static const char *const own[] = {
		"rustc --crate-name app src/main.rs --crate-type bin",
		"rustc --crate-name app /home/me/../other/src/lib.rs",
		"rustc --crate-name build_script_build build.rs --check-cfg cfg(docsrs)",
		"rustc --crate-name app --cap-lints=warn -Cdebuginfo=1 main.rs",
	};
	static const char *const foreign[] = {
		"rustc --crate-name syn vendor/syn/src/lib.rs -C metadata=1 --cap-lints allow",
		"rustc --crate-name syn vendor/syn/src/lib.rs -Cmetadata=1 --cap-lints=warn -L x",
		"rustc --crate-name syn /home/me/.cargo/registry/src/index-1/syn-2.0/src/lib.rs",
		"rustc --crate-name x /home/me/.cargo/git/checkouts/x-1/2/src/lib.rs",
		"rustc --crate-name core /r/toolchain/lib/rustlib/src/rust/library/core/src/lib.rs",
		"rustc - --crate-name ___ --print=cfg",
	};

	for (size_t i = 0; i < N_OF(own); i++) {
		struct trace_process p = process("app", "lib", own[i]);

		assert_true(compile_is_own(&p));
	}
	for (size_t i = 0; i < N_OF(foreign); i++) {
		struct trace_process p = process("syn", "lib", foreign[i]);

		assert_false(compile_is_own(&p));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_type_distinguishes_crates),
		cmocka_unit_test(the_tool_distinguishes_compiles_of_a_target),
		cmocka_unit_test(an_example_of_the_documentation_has_no_crate),
		cmocka_unit_test(a_build_script_is_called_after_its_package),
		cmocka_unit_test(a_build_script_may_lie_in_its_package),
		cmocka_unit_test(a_compiler_that_is_only_queried_compiles_nothing),
		cmocka_unit_test(metadata_is_one_of_what_is_emitted),
		cmocka_unit_test(own_crates_are_not_of_a_registry),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
