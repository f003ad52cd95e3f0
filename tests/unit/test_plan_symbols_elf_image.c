// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/symbols/elf_image.h"
#include "plan/symbols/elf_symbol.h"

#include <fcntl.h>

#include "test.h"
#include "../fixtures/elf_builder.h"
#include "../fixtures/fixture_dir.h"
#include "../fixtures/library.h"
#include "../fixtures/output.h"
#include "../fixtures/rows.h"

#define TEXT ELF_BUILDER_TEXT_ADDR
#define FUNC(n, a, s)                               \
	{                                           \
		n, a, s, STT_FUNC, ELF_BUILDER_TEXT \
	}

static const struct elf_builder_symbol plain[] = {
	FUNC("zeta", TEXT + 8, 8),
	FUNC("beta", TEXT + 16, 16),
	FUNC("alpha", TEXT + 16, 16),
	{"data", TEXT + 4, 4, STT_OBJECT, ELF_BUILDER_TEXT},
	{"elsewhere", TEXT, 4, STT_FUNC, SHN_UNDEF},
	{"source.rs", 0, 0, STT_FILE, SHN_ABS},
	FUNC("first", TEXT, 8),
};

static struct elf_builder build(const struct elf_builder_symbol *syms, size_t n)
{
	struct elf_builder b = {0};

	elf_builder__build(&b, syms, n);
	return b;
}

static struct elf_builder build_plain(void)
{
	return build(plain, N_OF(plain));
}

static struct elf_image *open_ok(const struct elf_builder *b)
{
	struct elf_image *img = NULL;

	assert_int_equal(image_of_bytes(b->buf, b->len, &img), 0);
	return img;
}

static void assert_error(const struct output *o, const char *part)
{
	assert_contains(o->text[1], "error: ");
	assert_contains(o->text[1], part);
	assert_one_line(o->text[1]);
}

static void assert_refused(const struct elf_builder *b, const char *why)
{
	struct elf_image *img = NULL;
	_output_ struct output o = {};

	assert_int_equal(CAPTURED(&o, image_of_bytes(b->buf, b->len, &img)), -ENOEXEC);
	assert_null(img);
	assert_error(&o, why);
}

/* "name start+size base_len", the start within the code. */
static void assert_symbols(struct elf_image *img, const char *expected)
{
	const struct elf_symbol *syms, *again;
	char text[256] = "";
	size_t n, len = 0;

	assert_int_equal(elf_image__symbols(img, &syms, &n), 0);
	for (size_t i = 0; i < n; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s %u+%u %u",
					i ? ", " : "", syms[i].name,
					(unsigned int)(syms[i].addr - TEXT),
					(unsigned int)syms[i].size, syms[i].base_len);
	assert_string_equal(text, expected);
	assert_int_equal(elf_image__symbols(img, &again, &n), 0);
	assert_ptr_equal(syms, again);
}

static void assert_symbols_of(const struct elf_builder_symbol *syms, size_t n, const char *expected)
{
	struct elf_builder b = build(syms, n);
	_elf_image_ struct elf_image *img = open_ok(&b);

	assert_symbols(img, expected);
}

TEST_CASE(symbols_are_the_defined_functions_sorted)
{
	static const struct elf_builder_symbol outside[] = {
		FUNC("below", ELF_BUILDER_ADDR - 8, 8),
		FUNC("above", TEXT + ELF_BUILDER_TEXT_SIZE, 8),
		FUNC("far", UINT64_MAX - 3, 8),
		FUNC("", TEXT, 8),
		FUNC("huge", TEXT + 16, UINT64_MAX),
	};

	assert_symbols_of(plain, N_OF(plain),
			  "first 0+8 5, zeta 8+8 4, alpha 16+16 5, beta 16+16 4");
	/* Those outside the code are left out. */
	assert_int_equal(ELF_BUILDER_TEXT_SIZE, 64);
	assert_symbols_of(outside, N_OF(outside), "huge 16+48 4");
}

TEST_CASE(code_ends_where_the_segment_ends)
{
	struct elf_builder b = build_plain();
	_elf_image_ struct elf_image *img = open_ok(&b);
	uint64_t last = TEXT + ELF_BUILDER_TEXT_SIZE - 1, offset = 0;
	size_t len;

	assert_int_equal(*elf_image__code(img, TEXT + 5, &len), 5);
	assert_int_equal(len, ELF_BUILDER_TEXT_SIZE - 5);
	assert_int_equal(*elf_image__code(img, last, &len), ELF_BUILDER_TEXT_SIZE - 1);
	assert_int_equal(len, 1);
	assert_null(elf_image__code(img, last + 1, &len));
	assert_int_equal(len, 0);
	assert_null(elf_image__code(img, ELF_BUILDER_ADDR - 1, &len));
	assert_null(elf_image__code(img, UINT64_MAX, &len));
	assert_true(elf_image__offset(img, last, &offset));
	assert_int_equal(offset, ELF_BUILDER_TEXT_OFFSET + ELF_BUILDER_TEXT_SIZE - 1);
	assert_false(elf_image__offset(img, last + 1, &offset));
}

TEST_CASE(build_id_and_version_are_read)
{
	static const uint8_t expected[] = {0xde, 0xad, 0xbe, 0xef};
	struct elf_builder b = build_plain();
	_elf_image_ struct elf_image *img = open_ok(&b);
	uint8_t id[ELF_BUILD_ID_MAX];

	assert_int_equal(elf_image__build_id(img, id), 4);
	assert_memory_equal(id, expected, 4);
	memset(id, 0, sizeof(id));
	assert_int_equal(elf_image__identity(img, id), 4);
	assert_memory_equal(id, expected, 4);
	assert_string_equal(elf_image__rustc_version(img), "rustc version 1.95.0 (test)");
	assert_memory_equal(elf_image__path(img), "/proc/self/fd/", 14);
}

TEST_CASE(sections_in_memory_are_found_by_name)
{
	struct elf_builder b = build_plain();
	Elf64_Shdr text = elf_builder__get(&b, ELF_BUILDER_TEXT);
	_elf_image_ struct elf_image *img = open_ok(&b), *damaged = NULL;
	uint64_t addr = 0, size = 0;

	assert_true(elf_image__section(img, ".text", &addr, &size));
	assert_int_equal(addr, TEXT);
	assert_int_equal(size, ELF_BUILDER_TEXT_SIZE);
	assert_false(elf_image__section(img, ".tex", &addr, &size));
	assert_false(elf_image__section(img, "", &addr, &size));
	/* It is in the file only. */
	assert_false(elf_image__section(img, ".comment", &addr, &size));
	text.sh_type = SHT_NOBITS;
	elf_builder__put(&b, ELF_BUILDER_TEXT, text);
	damaged = open_ok(&b);
	assert_false(elf_image__section(damaged, ".text", &addr, &size));
	assert_int_equal(addr, TEXT);
}

TEST_CASE(executable_segments_are_listed)
{
	struct elf_builder b = build_plain();
	_elf_image_ struct elf_image *img = open_ok(&b);
	struct elf_segment seg = {};

	assert_int_equal(elf_image__code_segments(img, &seg, 0), 1);
	assert_int_equal(seg.size, 0);
	assert_int_equal(elf_image__code_segments(img, &seg, 1), 1);
	assert_pairs(seg.addr, ELF_BUILDER_ADDR, seg.offset, 0, seg.size,
		     ELF_BUILDER_TEXT_OFFSET + ELF_BUILDER_TEXT_SIZE);
}

TEST_CASE(the_entry_is_the_headers)
{
	struct elf_builder b = build_plain();
	_elf_image_ struct elf_image *none = open_ok(&b), *img = NULL;
	Elf64_Ehdr ehdr;

	assert_int_equal(elf_image__entry(none), 0);
	memcpy(&ehdr, b.buf, sizeof(ehdr));
	ehdr.e_entry = TEXT + 4;
	memcpy(b.buf, &ehdr, sizeof(ehdr));
	img = open_ok(&b);
	assert_int_equal(elf_image__entry(img), TEXT + 4);
}

static void identity_of(const struct elf_builder *b, uint8_t id[ELF_BUILD_ID_MAX])
{
	_elf_image_ struct elf_image *img = open_ok(b);

	assert_int_equal(elf_image__build_id(img, id), 0);
	assert_int_equal(elf_image__identity(img, id), 20);
}

TEST_CASE(identity_without_build_id_follows_the_symbols)
{
	uint8_t id[ELF_BUILD_ID_MAX], same[ELF_BUILD_ID_MAX], other[ELF_BUILD_ID_MAX];
	struct elf_builder b = {.no_build_id = true};
	uint64_t symtab;

	elf_builder__build(&b, plain, 3);
	identity_of(&b, id);
	identity_of(&b, same);
	assert_memory_equal(id, same, sizeof(id));
	symtab = elf_builder__get(&b, ELF_BUILDER_SYMTAB).sh_offset;
	b.buf[symtab + 2 * sizeof(Elf64_Sym) + offsetof(Elf64_Sym, st_value)] ^= 1;
	identity_of(&b, other);
	assert_memory_not_equal(id, other, sizeof(id));
}

static size_t count_symbols(const struct elf_builder *b)
{
	_elf_image_ struct elf_image *img = open_ok(b);
	const struct elf_symbol *syms;
	size_t n = 0;
	int err = elf_image__symbols(img, &syms, &n);

	assert_int_equal(err, n ? 0 : -ENODATA);
	return n;
}

TEST_CASE(names_outside_the_string_table_are_left_out)
{
	struct elf_builder b = build_plain();
	Elf64_Shdr strtab = elf_builder__get(&b, ELF_BUILDER_STRTAB);

	assert_int_equal(count_symbols(&b), 4);
	strtab.sh_size -= 1; /* "first", the last name, loses its NUL */
	elf_builder__put(&b, ELF_BUILDER_STRTAB, strtab);
	assert_int_equal(count_symbols(&b), 3);
	strtab.sh_size = 1;
	elf_builder__put(&b, ELF_BUILDER_STRTAB, strtab);
	assert_int_equal(count_symbols(&b), 0);
}

/* Symbols may share a name, so a small file can have as many bytes of names as it likes. */
TEST_CASE(the_bytes_of_all_names_are_limited)
{
	enum { N_SYMBOLS = 4200, NAME = 1 << 16 };
	const Elf64_Sym sym = {
		.st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC),
		.st_shndx = ELF_BUILDER_TEXT,
		.st_value = TEXT,
		.st_size = 1,
	};
	struct elf_builder b = build_plain();
	Elf64_Shdr names = elf_builder__get(&b, ELF_BUILDER_STRTAB);
	Elf64_Shdr table = elf_builder__get(&b, ELF_BUILDER_SYMTAB);
	_free_ uint8_t *buf = NULL;
	_elf_image_ struct elf_image *img = NULL;
	const struct elf_symbol *syms;
	size_t n;

	names.sh_offset = (b.len + 7) / 8 * 8;
	names.sh_size = NAME + 8;
	table.sh_offset = names.sh_offset + names.sh_size;
	table.sh_size = N_SYMBOLS * sizeof(sym);
	elf_builder__put(&b, ELF_BUILDER_STRTAB, names);
	elf_builder__put(&b, ELF_BUILDER_SYMTAB, table);
	buf = calloc(1, table.sh_offset + table.sh_size);
	assert_non_null(buf);
	memcpy(buf, b.buf, b.len);
	memset(buf + names.sh_offset, 'a', NAME);
	for (size_t i = 0; i < N_SYMBOLS; i++)
		memcpy(buf + table.sh_offset + i * sizeof(sym), &sym, sizeof(sym));
	assert_int_equal(image_of_bytes(buf, table.sh_offset + table.sh_size, &img), 0);
	assert_int_equal(elf_image__symbols(img, &syms, &n), -EFBIG);
	assert_int_equal(elf_image__symbols(img, &syms, &n), -EFBIG);
}

TEST_CASE(a_symbol_table_that_cannot_be_read_is_none)
{
	struct elf_builder good = build_plain();
	Elf64_Shdr symtab = elf_builder__get(&good, ELF_BUILDER_SYMTAB), bad;
	struct elf_builder b = good;

#define DAMAGE(field, value)                                   \
	do {                                                   \
		bad = symtab;                                  \
		bad.field = (value);                           \
		elf_builder__put(&b, ELF_BUILDER_SYMTAB, bad); \
		assert_int_equal(count_symbols(&b), 0);        \
	} while (0)
	DAMAGE(sh_type, SHT_PROGBITS);
	DAMAGE(sh_offset, UINT64_MAX - 8);
	DAMAGE(sh_offset, b.len);
	DAMAGE(sh_size, UINT64_MAX);
	DAMAGE(sh_size, b.len);
	DAMAGE(sh_size, 0);
	DAMAGE(sh_link, 0);
	DAMAGE(sh_link, UINT32_MAX);
	DAMAGE(sh_link, ELF_BUILDER_SECTIONS);
#undef DAMAGE
	assert_int_equal(count_symbols(&good), 4);
}

TEST_CASE(a_segment_is_cut_at_the_end_of_the_file)
{
	struct elf_builder b = build_plain();
	Elf64_Phdr phdr;
	size_t len;

	memcpy(&phdr, b.buf + sizeof(Elf64_Ehdr), sizeof(phdr));
	phdr.p_filesz = phdr.p_memsz = UINT64_MAX - ELF_BUILDER_ADDR;
	memcpy(b.buf + sizeof(Elf64_Ehdr), &phdr, sizeof(phdr));

	_elf_image_ struct elf_image *img = open_ok(&b);

	assert_non_null(elf_image__code(img, ELF_BUILDER_ADDR, &len));
	assert_int_equal(len, b.len);
	assert_null(elf_image__code(img, ELF_BUILDER_ADDR + b.len, &len));
}

TEST_CASE(a_file_without_code_is_refused)
{
	struct elf_builder b = build_plain();
	Elf64_Phdr good, bad;

	memcpy(&good, b.buf + sizeof(Elf64_Ehdr), sizeof(good));
#define DAMAGE(field, value)                                           \
	do {                                                           \
		bad = good;                                            \
		bad.field = (value);                                   \
		memcpy(b.buf + sizeof(Elf64_Ehdr), &bad, sizeof(bad)); \
		assert_refused(&b, "holds no code");                   \
	} while (0)
	DAMAGE(p_flags, PF_R);
	DAMAGE(p_type, PT_NOTE);
	DAMAGE(p_offset, b.len);
	DAMAGE(p_offset, UINT64_MAX);
	DAMAGE(p_filesz, 0);
	DAMAGE(p_vaddr, UINT64_MAX - 4);
#undef DAMAGE
}

TEST_CASE(a_file_of_an_unsupported_format_is_refused)
{
	struct elf_builder good = build_plain(), b;

#define DAMAGE(offset, value, why)       \
	do {                             \
		b = good;                \
		b.buf[offset] = (value); \
		assert_refused(&b, why); \
	} while (0)
	DAMAGE(0, 'M', "not an ELF file");
	DAMAGE(EI_DATA, ELFDATA2MSB, "another machine");
	DAMAGE(offsetof(Elf64_Ehdr, e_machine), EM_386, "another machine");
	DAMAGE(offsetof(Elf64_Ehdr, e_type), ET_REL, "neither a shared library nor a program");
#undef DAMAGE
	b = good;
	b.len = 0;
	assert_refused(&b, "too short");
}

static void assert_not_opened(const char *path, int err, const char *why)
{
	struct elf_image *img = NULL;
	_output_ struct output o = {};

	assert_int_equal(CAPTURED(&o, image_of(path, &img)), err);
	assert_null(img);
	assert_error(&o, why);
}

TEST_CASE(a_file_that_cannot_be_opened_is_reported)
{
	assert_not_opened("/nonexistent/librustc_driver.so", -ENOENT,
			  "/nonexistent/librustc_driver.so: No such file or directory");
	assert_not_opened("/", -ENOEXEC, "not a regular file");
	assert_not_opened("/dev/null", -ENOEXEC, "not a regular file");
}

static const struct elf_symbol *find(const struct elf_symbol *syms, size_t n, const char *part)
{
	for (size_t i = 0; i < n; i++) {
		if (strstr(syms[i].name, part))
			return &syms[i];
	}
	fail_msg("no symbol has %s in its name", part);
	return NULL;
}

static void check_driver(const char *path)
{
	_elf_image_ struct elf_image *img = NULL;
	const struct elf_symbol *syms, *sym;
	uint8_t id[ELF_BUILD_ID_MAX];
	uint64_t offset;
	size_t n, len;

	assert_int_equal(image_of(path, &img), 0);
	assert_int_equal(elf_image__build_id(img, id), 20);
	assert_string_equal(elf_image__rustc_version(img), "rustc version 1.95.0 (fixture)");
	assert_int_equal(elf_image__symbols(img, &syms, &n), 0);
	sym = find(syms, n, "4beta18invoke_provider_fn");
	assert_int_equal(elf_image__code(img, sym->addr, &len)[4], 0x53); /* push %rbx */
	assert_true(elf_image__offset(img, sym->addr, &offset));
	/* Another symbol follows at the same address. */
	sym = find(syms, n, "11SingleCacheAhj4_EKb0_");
	assert_int_equal(sym[0].addr, sym[1].addr);
	assert_int_equal(sym[0].size, sym[1].size);
	assert_non_null(strstr(sym[1].name, "11SingleCacheAhj8_EKb0_"));
}

static void check_stripped(const char *path)
{
	_elf_image_ struct elf_image *img = NULL;
	const struct elf_symbol *syms;
	size_t n;

	assert_int_equal(image_of(path, &img), 0);
	assert_int_equal(elf_image__symbols(img, &syms, &n), -ENODATA);
}

/* Reads the output of a real assembler and linker. */
TEST_CASE(linked_libraries_are_read)
{
	check_driver(fixture("driver_v0.so"));
	check_stripped(fixture("driver_stripped.so"));
}

static bool is_mapped_shared(const char *path)
{
	_fclose_ FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];

	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps))
		if (strstr(line, path))
			return strstr(line, " r--s ");
	return false;
}

/* A private mapping could contain the breakpoints of a running capture. */
TEST_CASE(breakpoints_cannot_come_into_the_mapping)
{
	struct elf_builder b = build_plain();
	char path[] = "/tmp/qprof-test-XXXXXX";
	_close_ int fd = mkstemp(path);
	_elf_image_ struct elf_image *img = NULL;

	assert_int_equal(write(fd, b.buf, b.len), b.len);
	assert_int_equal(image_of(path, &img), 0);
	assert_true(is_mapped_shared(path));
	assert_int_equal(unlink(path), 0);
}

/* Call every function, and check the guarantees of the header for any bytes. */
static void use(const void *buf, size_t len)
{
	_elf_image_ struct elf_image *img = NULL;
	const struct elf_symbol *syms;
	uint8_t id[ELF_BUILD_ID_MAX];
	size_t n, room, sum = 0;

	if (image_of_bytes(buf, len, &img))
		return;
	assert_true(elf_image__build_id(img, id) <= ELF_BUILD_ID_MAX);
	assert_true(elf_image__identity(img, id) - 1 < ELF_BUILD_ID_MAX);
	if (elf_image__rustc_version(img))
		sum += strlen(elf_image__rustc_version(img));
	if (elf_image__symbols(img, &syms, &n))
		return;
	for (size_t i = 0; i < n; i++) {
		const uint8_t *code = elf_image__code(img, syms[i].addr, &room);
		uint64_t offset;

		assert_non_null(code);
		assert_true(syms[i].size <= room);
		assert_true(elf_image__offset(img, syms[i].addr, &offset));
		assert_true(offset < len && room <= len - offset);
		assert_true(*syms[i].name);
		assert_true(!i || syms[i - 1].addr <= syms[i].addr);
		sum += strlen(syms[i].name) + code[0] + code[room - 1];
	}
	assert_true(sum);
}

TEST_CASE(every_truncation_is_survived)
{
	struct elf_builder b = build_plain();
	_output_ struct output o = {};

	output_begin(&o);
	for (size_t len = 0; len <= b.len; len++)
		use(b.buf, len);
	output_end(&o);
}

TEST_CASE(random_damage_is_survived)
{
	static const uint8_t edges[] = {0, 1, 0x7f, 0x80, 0xff};
	struct elf_builder good = build_plain(), b;
	unsigned int seed = 1;
	_output_ struct output o = {};

	srandom(seed);
	output_begin(&o);
	for (int round = 0; round < 20000; round++) {
		int flips = 1 + random() % 4;

		b = good;
		for (int i = 0; i < flips; i++) {
			/* Half of the flips are in the two header tables. */
			size_t at = random() % 2   ? (size_t)random() % b.len
				    : random() % 2 ? (size_t)random() % ELF_BUILDER_TEXT_OFFSET
						   : b.headers + random() % (b.len - b.headers);

			b.buf[at] = random() % 2 ? random() : edges[random() % sizeof(edges)];
		}
		use(b.buf, b.len);
	}
	output_end(&o);
}

TEST_CASE(parts_of_a_function_share_a_base)
{
	static const struct elf_builder_symbol parts[] = {
		FUNC("f", TEXT, 8),
		FUNC("f.cold", TEXT + 8, 8),
		FUNC("f.warm.1", TEXT + 16, 8),
		FUNC("f.llvm.12", TEXT + 24, 8),
		FUNC("f.llvm.12.cold", TEXT + 32, 8),
		FUNC("g.", TEXT + 40, 8),
	};
	struct elf_builder b = build(parts, N_OF(parts));
	_elf_image_ struct elf_image *img = open_ok(&b);
	const struct elf_symbol *syms;
	size_t n;

	assert_symbols(img, "f 0+8 1, f.cold 8+8 1, f.warm.1 16+8 1, f.llvm.12 24+8 9, "
			    "f.llvm.12.cold 32+8 9, g. 40+8 2");
	assert_int_equal(elf_image__symbols(img, &syms, &n), 0);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < n; k++)
			assert_int_equal(syms[i].base_hash == syms[k].base_hash,
					 syms[i].base_len == syms[k].base_len);
}

/* ---- The order of symbols -------------------------------------------------------------------- */

static const char letters[] = "abcd";

static void assert_sorted(struct elf_symbol *syms, size_t n)
{
	elf_symbols__sort(syms, n);
	for (size_t i = 1; i < n; i++) {
		const struct elf_symbol *x = &syms[i - 1], *y = &syms[i];

		assert_true(x->addr <= y->addr);
		assert_true(x->addr < y->addr || x->size >= y->size);
		assert_true(x->addr < y->addr || x->size > y->size || x->name <= y->name);
	}
}

/* Addresses that differ in each digit, and some of them several times. */
TEST_CASE(symbols_are_sorted_by_address)
{
	struct elf_symbol syms[3000];
	uint64_t address = 1, sum = 0, sum_sorted = 0;

	for (size_t i = 0; i < N_OF(syms); i++) {
		address = address * 6364136223846793005u + 1442695040888963407u;
		syms[i] = (struct elf_symbol){.addr = i % 3 ? address : address >> 52,
					      .size = i % 5,
					      .name = &letters[i % 4]};
		sum += syms[i].addr;
	}
	assert_sorted(syms, N_OF(syms));
	for (size_t i = 0; i < N_OF(syms); i++)
		sum_sorted += syms[i].addr;
	assert_int_equal(sum, sum_sorted);
}

TEST_CASE(the_longest_of_an_address_is_first)
{
	struct elf_symbol syms[] = {
		{.addr = 0x20000, .size = 1, .name = letters},
		{.addr = 0x10000, .size = 1, .name = letters + 1},
		{.addr = 0x10000, .size = 9, .name = letters + 2},
		{.addr = 0x10000, .size = 1, .name = letters},
	};

	assert_sorted(syms, N_OF(syms));
	assert_ptr_equal(syms[0].name, letters + 2);
	assert_ptr_equal(syms[1].name, letters);
	assert_ptr_equal(syms[2].name, letters + 1);
	assert_int_equal(syms[3].addr, 0x20000);
}

static uint32_t read_id(bool without, uint8_t *id, uint32_t most)
{
	static const struct elf_builder_symbol sym = {"f", ELF_BUILDER_TEXT_ADDR, 8, STT_FUNC,
						      ELF_BUILDER_TEXT};
	struct elf_builder b = {.no_build_id = without};
	uint32_t len;
	Elf *elf;

	elf_builder__build(&b, &sym, 1);
	elf_version(EV_CURRENT);
	elf = elf_memory((char *)b.buf, b.len);
	len = build_id_of(elf, id, most);
	elf_end(elf);
	return len;
}

TEST_CASE(a_build_id_is_read_from_the_note)
{
	static const uint8_t expected[] = {0xde, 0xad, 0xbe, 0xef};
	uint8_t id[20];

	assert_int_equal(read_id(false, id, sizeof(id)), sizeof(expected));
	assert_memory_equal(id, expected, sizeof(expected));
	assert_int_equal(read_id(false, id, 4), 4);
	/* longer than there is room for, or none */
	assert_int_equal(read_id(false, id, 3), 0);
	assert_int_equal(read_id(true, id, sizeof(id)), 0);
}

TEST_MAIN(fixture_dir_setup, fixture_dir_teardown)
