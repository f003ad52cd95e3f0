// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/symbols/debug_file.h"

#include <sys/stat.h>

#include "test.h"
#include "../fixtures/fixture_dir.h"
#include "../fixtures/library.h"
#include "../fixtures/sample_plan.h"
#include "base/format.h"
#include "base/diag.h"

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

TEST_CASE(a_library_with_symbols_needs_none)
{
	copy("driver.debug", build_id_path("driver_v0.so"));
	assert_none("driver_v0.so");
	unlink(build_id_path("driver_v0.so"));
}

TEST_CASE(a_file_is_found_by_the_build_id)
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

TEST_CASE(a_file_is_found_by_its_name)
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

TEST_CASE(compressed_symbols_are_the_librarys)
{
	char path[512];

	snprintf(path, sizeof(path), "%s", fixture("driver_compressed.so"));
	assert_found("driver_compressed.so", SYMBOLS_OF_DEBUGDATA, path);
}

/* Only root can give a file to another user. */
TEST_CASE(a_file_of_another_user_is_not_used)
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
TEST_CASE(a_file_that_just_changed_is_not_used)
{
	const char *path = build_id_path("driver_stripped.so");

	copy("driver.debug", path);
	library_file_settled_ns = INT64_MAX;
	assert_none("driver_stripped.so");
	library_file_settled_ns = 0;
	assert_found("driver_stripped.so", SYMBOLS_OF_BUILD_ID, path);
	unlink(path);
}

/* ---- Symbols debug symbols ------------------------------------------------------------------- */

static int debug_symbols_setup(void **state)
{
	library_file_settled_ns = 0;
	debug_file_root = "/nowhere";
	return fixture_dir_setup(state);
}

/* The plan of a library with the symbols that are found. */
static struct plan *plan_of(const char *name)
{
	_library_file_ struct library_file *file = NULL;
	_debug_file_ struct debug_file *debug = NULL;
	struct plan *plan;

	assert_int_equal(library_file__open(fixture(name), &file), 0);
	debug = debug_file__find(file);
	assert_int_equal(plan__build(file, debug, &plan), 0);
	return plan;
}

/* All but the file, and where the symbols come from. */
static void assert_same_plan(struct plan *a, struct plan *b)
{
	free(a->path);
	a->path = strdup(b->path);
	a->symbols = b->symbols;
	free(a->symbols_file);
	a->symbols_file = b->symbols_file ? strdup(b->symbols_file) : NULL;
	assert_true(sample_same(a, b));
}

TEST_GROUP(debug_symbols_setup, fixture_dir_teardown)

TEST_CASE(a_debug_file_gives_the_same_plan)
{
	_plan_ struct plan *own = plan_of("driver_v0.so"), *plan = plan_of("driver_linked.so");

	assert_int_equal(own->symbols, SYMBOLS_OF_LIBRARY);
	assert_null(own->symbols_file);
	assert_int_equal(plan->symbols, SYMBOLS_OF_DEBUGLINK);
	assert_string_equal(plan->symbols_file, fixture("driver.debug"));
	assert_same_plan(plan, own);
}

TEST_CASE(compressed_symbols_give_the_same_plan)
{
	_plan_ struct plan *own = plan_of("driver_v0.so"), *plan = plan_of("driver_compressed.so");

	assert_int_equal(plan->symbols, SYMBOLS_OF_DEBUGDATA);
	assert_null(plan->symbols_file);
	assert_same_plan(plan, own);
}

/* Bytes that are not what they were: fewer symbols, or none. */
TEST_CASE(damaged_symbols_do_no_harm)
{
	_free_ uint8_t *bytes = NULL;
	size_t len = 0;
	FILE *f = fopen(fixture("driver_compressed.so"), "re");

	assert_non_null(f);
	bytes = malloc(1 << 20);
	len = fread(bytes, 1, 1 << 20, f);
	fclose(f);
	for (size_t at = 64; at < len; at += 61) {
		_library_file_ struct library_file *file = NULL;
		_debug_file_ struct debug_file *debug = NULL;
		_elf_image_ struct elf_image *img = NULL;
		char hidden[256];
		enum symbol_source source;
		_close_ int fd = -1;
		char path[32];

		bytes[at] ^= 0xff;
		fd = elf_builder_memfd(bytes, len);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		assert_int_equal(library_file__open(path, &file), 0);
		debug = debug_file__find(file);
		diag_hold_errors(hidden, sizeof(hidden));
		if (!debug_symbols__map(file, debug, &img, &source)) {
			const struct elf_symbol *syms;
			size_t n;

			elf_image__symbols(img, &syms, &n);
		}
		diag_hold_errors(NULL, 0);
		bytes[at] ^= 0xff;
	}
}

/* Of the functions the one whose name is the last in the table of names. */
static const Elf64_Sym *last_named(const uint8_t *elf, const Elf64_Shdr *symtab)
{
	const Elf64_Sym *syms = (const void *)(elf + symtab->sh_offset), *last = NULL;

	for (size_t i = 0; i < symtab->sh_size / sizeof(*syms); i++)
		if (ELF64_ST_TYPE(syms[i].st_info) == STT_FUNC &&
		    (!last || syms[i].st_name > last->st_name))
			last = &syms[i];
	return last;
}

/* The table of names ends after two bytes of the last one, which is written to `name`. */
static void cut_last_name(uint8_t *elf, char *name, size_t size)
{
	const Elf64_Ehdr *ehdr = (const void *)elf;
	Elf64_Shdr *sections = (void *)(elf + ehdr->e_shoff), *names;
	const Elf64_Sym *last = NULL;

	for (size_t i = 0; i < ehdr->e_shnum; i++) {
		if (sections[i].sh_type != SHT_SYMTAB)
			continue;
		names = &sections[sections[i].sh_link];
		last = last_named(elf, &sections[i]);
		assert_non_null(last);
		snprintf(name, size, "%s", (char *)elf + names->sh_offset + last->st_name);
		names->sh_size = last->st_name + 2;
	}
	assert_non_null(last);
}

TEST_CASE(a_name_that_the_table_does_not_end_is_none)
{
	_library_file_ struct library_file *file = NULL;
	_debug_file_ struct debug_file *debug = NULL;
	_elf_image_ struct elf_image *img = NULL;
	_free_ uint8_t *bytes = malloc(1 << 20);
	const struct elf_symbol *syms;
	enum symbol_source source;
	char name[4096];
	size_t len, n;
	FILE *f = fopen(fixture("driver.debug"), "r+e");

	assert_non_null(f);
	len = fread(bytes, 1, 1 << 20, f);
	cut_last_name(bytes, name, sizeof(name));
	rewind(f);
	assert_int_equal(fwrite(bytes, 1, len, f), len);
	fclose(f);
	assert_int_equal(library_file__open(fixture("driver_linked.so"), &file), 0);
	debug = debug_file__find(file);
	assert_non_null(debug);
	assert_int_equal(debug_symbols__map(file, debug, &img, &source), 0);
	assert_int_equal(elf_image__symbols(img, &syms, &n), 0);
	assert_true(n > 0);
	for (size_t i = 0; i < n; i++)
		assert_string_not_equal(syms[i].name, name);
}

/* old.so with its symbols compressed, of which so many are said to be local. */
static void make_compressed(uint32_t locals)
{
	_free_ uint8_t *bytes = malloc(1 << 20);
	_free_ char *command = NULL;
	FILE *f = fopen(fixture("old.so"), "re");
	Elf64_Shdr *sections;
	size_t len;

	assert_non_null(f);
	len = fread(bytes, 1, 1 << 20, f);
	fclose(f);
	sections = (void *)(bytes + ((Elf64_Ehdr *)bytes)->e_shoff);
	while (sections->sh_type != SHT_SYMTAB)
		sections++;
	sections->sh_info = locals ?: sections->sh_info;
	f = fopen(fixture("symbols"), "we");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, len, f), len);
	/* Memory of this size has a mapping of its own, so reading it after freeing is a signal. */
	assert_int_equal(ftruncate(fileno(f), 33 << 20), 0);
	fclose(f);
	assert_true(asprintf(&command,
			     "cd %s && xz -0fk symbols && objcopy --add-section "
			     ".gnu_debugdata=symbols.xz old_stripped.so old_compressed.so",
			     fixture_dir) > 0);
	assert_int_equal(system(command), 0);
}

static int map_compressed(uint32_t locals)
{
	_library_file_ struct library_file *file = NULL;
	_debug_file_ struct debug_file *debug = NULL;
	_elf_image_ struct elf_image *img = NULL;
	const struct elf_symbol *syms;
	enum symbol_source source;
	size_t n;

	make_compressed(locals);
	assert_int_equal(library_file__open(fixture("old_compressed.so"), &file), 0);
	debug = debug_file__find(file);
	assert_int_equal(debug_symbols__map(file, debug, &img, &source), 0);
	assert_int_equal(source, SYMBOLS_OF_DEBUGDATA);
	return elf_image__symbols(img, &syms, &n);
}

/* With a wrong number libdwfl frees the compressed symbols, and reads them all the same. */
TEST_CASE(too_many_local_symbols_are_none)
{
	assert_int_equal(map_compressed(0), 0);
	assert_int_equal(map_compressed(1000), -ENODATA);
}

TEST_MAIN(setup, fixture_dir_teardown)
