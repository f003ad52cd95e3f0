// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/outsiders.h"

#include "test.h"

#define IS(client, compiler) outsiders_is_client(client, sizeof(client), compiler, sizeof(compiler))

#define CRATE "--crate-name\0serde\0-C\0metadata=12\0-C\0extra-filename=-12\0--out-dir\0/t/deps"

static void a_client_has_the_compilers_arguments(void **state)
{
	assert_true(IS("sccache\0/usr/bin/rustc\0" CRATE, "/usr/bin/rustc\0" CRATE));
	/* In another order, and with more of them. */
	assert_true(IS("sccache\0rustc\0" CRATE, "rustc\0--out-dir=/t/deps\0"
						 "-Cextra-filename=-12\0--crate-name=serde\0"
						 "--color\0always"));
	/* As sccache asks for the sources of the crate. */
	assert_true(IS("sccache\0rustc\0" CRATE,
		       "rustc\0--crate-name\0serde\0-C\0extra-filename=-12\0--emit\0dep-info"));
}

static void it_is_of_the_same_crate_and_build(void **state)
{
	assert_false(IS("sccache\0rustc\0" CRATE,
			"rustc\0--crate-name\0syn\0-C\0extra-filename=-12\0--out-dir\0/t/deps"));
	assert_false(IS("sccache\0rustc\0" CRATE,
			"rustc\0--crate-name\0serde\0-C\0extra-filename=-13\0--out-dir\0/t/deps"));
	assert_false(IS("sccache\0rustc\0" CRATE,
			"rustc\0--crate-name\0serde\0-C\0extra-filename=-12\0--out-dir\0/u/deps"));
	/* An option that both lack proves nothing. */
	assert_false(IS("sccache\0rustc\0-vV", "rustc\0-vV"));
	assert_false(IS("sccache\0rustc\0--crate-name\0a", "rustc\0--crate-name\0a"));
}

static void a_compiler_is_no_client(void **state)
{
	assert_false(IS("/usr/bin/rustc\0" CRATE, "/usr/bin/rustc\0" CRATE));
	assert_false(IS("sccache\0" CRATE, "rustc\0" CRATE));
	assert_false(IS("", "rustc\0" CRATE));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_client_has_the_compilers_arguments),
		cmocka_unit_test(it_is_of_the_same_crate_and_build),
		cmocka_unit_test(a_compiler_is_no_client),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
