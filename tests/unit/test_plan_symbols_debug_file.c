// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/symbols/debug_file.h"

#include <sys/stat.h>

#include "test.h"
#include "../fixtures/fixture_dir.h"
#include "../fixtures/library.h"
#include "base/format.h"

static char root[256];

static int setup(void **state)
{
	library_file_settled_ns = 0;
	if (fixture_dir_setup(state))
		return -1;
	snprintf(root, sizeof(root), "%s/root", fixture_dir);
	debug_file_root = root;
	return 0;
}

static struct debug_file *found(const char *name)
{
	_library_file_ struct library_file *file = NULL;

	assert_int_equal(library_file__open(fixture(name), &file), 0);
	return debug_file__find(file);
}

static void copy(const char *from, const char *to)
{
	char command[1024];

	snprintf(command, sizeof(command), "mkdir -p $(dirname %s) && cp %s %s", to, fixture(from),
		 to);
	assert_int_equal(system(command), 0);
}

/* The path below `root` by the library's build-id. */
static const char *build_id_path(const char *name)
{
	static char path[512];
	_elf_image_ struct elf_image *img = NULL;
	uint8_t id[ELF_BUILD_ID_MAX];
	char hex[2 * ELF_BUILD_ID_MAX + 1];

	assert_int_equal(image_of(fixture(name), &img), 0);
	format_hex(hex, id, elf_image__build_id(img, id));
	snprintf(path, sizeof(path), "%s/.build-id/%.2s/%s.debug", root, hex, hex + 2);
	return path;
}

static void assert_none(const char *name)
{
	_debug_file_ struct debug_file *d = found(name);

	assert_null(d);
}

static void assert_found(const char *name, enum symbol_source source, const char *path)
{
	_debug_file_ struct debug_file *d = found(name);

	assert_non_null(d);
	assert_int_equal(d->source, source);
	assert_string_equal(d->path, path);
	assert_true(d->library_fd >= 0);
	assert_true(source == SYMBOLS_OF_DEBUGDATA ? d->fd < 0 : d->fd >= 0);
}

static void a_library_with_symbols_needs_none(void **state)
{
	copy("driver.debug", build_id_path("driver_v0.so"));
	assert_none("driver_v0.so");
	unlink(build_id_path("driver_v0.so"));
}

static void a_file_is_found_by_the_build_id(void **state)
{
	const char *path = build_id_path("driver_stripped.so");

	assert_none("driver_stripped.so");
	copy("driver.debug", path);
	assert_found("driver_stripped.so", SYMBOLS_OF_BUILD_ID, path);
	/* of another build; without symbols; no ELF file; no file */
	copy("driver_other.debug", path);
	assert_none("driver_stripped.so");
	copy("driver_stripped.so", path);
	assert_none("driver_stripped.so");
	copy("driver.debug.xz", path);
	assert_none("driver_stripped.so");
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_none("driver_stripped.so");
	unlink(path);
}

static void a_file_is_found_by_its_name(void **state)
{
	char path[512];

	snprintf(path, sizeof(path), "%s", fixture("driver.debug"));
	assert_found("driver_linked.so", SYMBOLS_OF_DEBUGLINK, path);
	snprintf(path, sizeof(path), "%s/moved", fixture_dir);
	assert_int_equal(rename(fixture("driver.debug"), path), 0);
	assert_none("driver_linked.so");
	snprintf(path, sizeof(path), "%s/.debug/driver.debug", fixture_dir);
	copy("moved", path);
	assert_found("driver_linked.so", SYMBOLS_OF_DEBUGLINK, path);
	unlink(path);
	snprintf(path, sizeof(path), "%s%s/driver.debug", root, fixture_dir);
	copy("moved", path);
	assert_found("driver_linked.so", SYMBOLS_OF_DEBUGLINK, path);
	unlink(path);
	snprintf(path, sizeof(path), "%s/moved", fixture_dir);
	assert_int_equal(rename(path, fixture("driver.debug")), 0);
}

static void compressed_symbols_are_the_librarys(void **state)
{
	char path[512];

	snprintf(path, sizeof(path), "%s", fixture("driver_compressed.so"));
	assert_found("driver_compressed.so", SYMBOLS_OF_DEBUGDATA, path);
}

/* Only root can give a file to another user. */
static void a_file_of_another_user_is_not_used(void **state)
{
	const char *path = build_id_path("driver_stripped.so");

	if (geteuid())
		skip();
	copy("driver.debug", path);
	assert_int_equal(chown(path, 65534, 65534), 0);
	assert_none("driver_stripped.so");
	/* It may be of the library's owner, or of root. */
	assert_int_equal(chown(fixture("driver_stripped.so"), 65534, 65534), 0);
	assert_found("driver_stripped.so", SYMBOLS_OF_BUILD_ID, path);
	assert_int_equal(chown(path, 0, 0), 0);
	assert_found("driver_stripped.so", SYMBOLS_OF_BUILD_ID, path);
	assert_int_equal(chown(fixture("driver_stripped.so"), 0, 0), 0);
	unlink(path);
}

/* One whose time of change the clock may reach again. */
static void a_file_that_just_changed_is_not_used(void **state)
{
	const char *path = build_id_path("driver_stripped.so");

	copy("driver.debug", path);
	library_file_settled_ns = INT64_MAX;
	assert_none("driver_stripped.so");
	library_file_settled_ns = 0;
	assert_found("driver_stripped.so", SYMBOLS_OF_BUILD_ID, path);
	unlink(path);
}

static void nothing_is_nothing_to_free(void **state)
{
	debug_file__free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_library_with_symbols_needs_none),
		cmocka_unit_test(a_file_is_found_by_the_build_id),
		cmocka_unit_test(a_file_is_found_by_its_name),
		cmocka_unit_test(compressed_symbols_are_the_librarys),
		cmocka_unit_test(a_file_of_another_user_is_not_used),
		cmocka_unit_test(a_file_that_just_changed_is_not_used),
		cmocka_unit_test(nothing_is_nothing_to_free),
	};

	return cmocka_run_group_tests(tests, setup, fixture_dir_teardown);
}
