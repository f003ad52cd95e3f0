// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/symbols/debug_symbols.h"

#include "test.h"
#include "../fixtures/fixture_dir.h"
#include "../fixtures/library.h"
#include "../fixtures/sample_plan.h"
#include "base/diag.h"

static int setup(void **state)
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

static void a_debug_file_gives_the_same_plan(void **state)
{
	_plan_ struct plan *own = plan_of("driver_v0.so"), *plan = plan_of("driver_linked.so");

	assert_int_equal(own->symbols, SYMBOLS_OF_LIBRARY);
	assert_null(own->symbols_file);
	assert_int_equal(plan->symbols, SYMBOLS_OF_DEBUGLINK);
	assert_string_equal(plan->symbols_file, fixture("driver.debug"));
	assert_same_plan(plan, own);
}

static void compressed_symbols_give_the_same_plan(void **state)
{
	_plan_ struct plan *own = plan_of("driver_v0.so"), *plan = plan_of("driver_compressed.so");

	assert_int_equal(plan->symbols, SYMBOLS_OF_DEBUGDATA);
	assert_null(plan->symbols_file);
	assert_same_plan(plan, own);
}

/* Bytes that are not what they were: fewer symbols, or none. */
static void damaged_symbols_do_no_harm(void **state)
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

static void a_name_that_the_table_does_not_end_is_none(void **state)
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
static void too_many_local_symbols_are_none(void **state)
{
	assert_int_equal(map_compressed(0), 0);
	assert_int_equal(map_compressed(1000), -ENODATA);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_debug_file_gives_the_same_plan),
		cmocka_unit_test(compressed_symbols_give_the_same_plan),
		cmocka_unit_test(damaged_symbols_do_no_harm),
		cmocka_unit_test(too_many_local_symbols_are_none),
		/* It leaves the debug file damaged. */
		cmocka_unit_test(a_name_that_the_table_does_not_end_is_none),
	};

	return cmocka_run_group_tests(tests, setup, fixture_dir_teardown);
}
