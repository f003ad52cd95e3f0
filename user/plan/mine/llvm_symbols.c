// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/llvm_symbols.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/array.h"

/* Symbols of either table, and virtual functions of a class, that are looked at. */
#define SYMBOLS_MAX	   (2u << 20)
#define VTABLES_MAX	   (1u << 16)
#define PASS_FUNCTIONS_MAX 256

/* A name, or the beginning and the end of one: template arguments are of one version. */
static const struct {
	const char *begin, *end;
} names[] = {
	[LLVM_SAVE_STATE] = {"_ZN4llvm20SavePrettyStackStateEv", NULL},
	[LLVM_NEW_ENTRY] = {"_ZN4llvm21PrettyStackTraceEntryC2Ev", NULL},
	[LLVM_GET_NAME] = {"_ZNK4llvm5Value7getNameEv", NULL},
	[LLVM_IS_FUNCTION] = {"LLVMIsAFunction", NULL},
	[LLVM_PRINT_LEGACY] = {"_ZNK4llvm27PassManagerPrettyStackEntry5printE", "raw_ostreamE"},
	[LLVM_VTABLE_LEGACY] = {"_ZTVN4llvm27PassManagerPrettyStackEntryE", NULL},
	[LLVM_RUN_FUNCTION] = {"_ZN4llvm11PassManagerINS_8FunctionENS_15AnalysisManagerIS1_JEEEJEE3"
			       "runE",
			       "_"},
	[LLVM_RUN_MODULE] = {"_ZN4llvm11PassManagerINS_6ModuleENS_15AnalysisManagerIS1_JEEEJEE3"
			     "runE",
			     "_"},
	[LLVM_RUN_COMPONENT] = {"_ZN4llvm11PassManagerINS_13LazyCallGraph3SCCENS_15AnalysisManager"
				"IS2_JRS1_EEEJS4_RNS_17CGSCCUpdateResultEEE3runE",
				"_"},
	[LLVM_RUN_REPEATED] = {"_ZN4llvm21DevirtSCCRepeatedPass3runE", "E"},
	[LLVM_RUN_COMPONENTS] = {"_ZN4llvm33ModuleToPostOrderCGSCCPassAdaptor3runE", "E"},
	[LLVM_RUN_INLINER] = {"_ZN4llvm11InlinerPass3runE", "E"},
	[LLVM_VTABLE_FUNCTION] = {"_ZTVZN4llvm11PassManagerINS_8FunctionE", "15StackTraceEntry"},
	[LLVM_VTABLE_MODULE] = {"_ZTVZN4llvm11PassManagerINS_6ModuleE", "15StackTraceEntry"},
};

_Static_assert(N_OF(names) == LLVM_SYMBOLS, "a symbol without a name");

static bool begins(const char *name, const char *with)
{
	return !strncmp(name, with, strlen(with));
}

static bool is_named(const char *name, size_t i)
{
	size_t len = strlen(name), end = names[i].end ? strlen(names[i].end) : 0;

	if (!end)
		return !strcmp(name, names[i].begin);
	return begins(name, names[i].begin) && len >= end &&
	       !strcmp(name + len - end, names[i].end);
}

/* "_ZN4llvm4Pass12functionName", const or not. */
static bool is_of_pass(const char *name)
{
	const char *at = begins(name, "_ZNK") ? name + 4 : begins(name, "_ZN") ? name + 3 : "";

	return begins(at, "4llvm4Pass") && isdigit((unsigned char)at[10]);
}

static int note(struct llvm_symbols *s, const GElf_Sym *sym, const char *name)
{
	const struct llvm_vtable vtable = {sym->st_value, name};
	bool is_llvms;

	if (name[0] != '_' && name[0] != 'L')
		return 0;
	is_llvms = begins(name, "_ZN4llvm") || begins(name, "_ZNK4llvm");
	s->uses_llvm = s->uses_llvm || is_llvms;
	s->wants_llvm = s->wants_llvm || (is_llvms && sym->st_shndx == SHN_UNDEF);
	if (sym->st_shndx == SHN_UNDEF || !sym->st_value)
		return 0;
	for (size_t i = 0; i < LLVM_SYMBOLS; i++)
		if (!s->of[i].addr && is_named(name, i))
			s->of[i] = (struct code_region){sym->st_value, sym->st_size};
	if (begins(name, "_ZTV") && s->n_vtables < VTABLES_MAX)
		return array__add(&s->vtables, &s->n_vtables, &s->vtables_capacity, &vtable);
	if (is_of_pass(name) && s->n_of_passes < PASS_FUNCTIONS_MAX)
		return array__add(&s->of_passes, &s->n_of_passes, &s->of_passes_capacity,
				  &sym->st_value);
	return 0;
}

static int read_table(struct llvm_symbols *s, Elf_Scn *scn, const GElf_Shdr *shdr)
{
	Elf_Data *syms = elf_getdata(scn, NULL);
	GElf_Sym sym;
	int err = 0;

	for (int i = 0; syms && !err && i < (int)SYMBOLS_MAX && gelf_getsym(syms, i, &sym); i++) {
		/* libelf returns no name that does not end within its section. */
		const char *name = elf_strptr(s->elf, shdr->sh_link, sym.st_name);

		if (name)
			err = note(s, &sym, name);
	}
	return err;
}

static int read_tables(struct llvm_symbols *s)
{
	static const uint32_t types[] = {SHT_DYNSYM, SHT_SYMTAB};
	int err = 0;

	for (size_t i = 0; i < N_OF(types); i++) {
		Elf_Scn *scn = NULL;
		GElf_Shdr shdr;

		while (!err && (scn = elf_nextscn(s->elf, scn)))
			if (gelf_getshdr(scn, &shdr) && shdr.sh_type == types[i])
				err = read_table(s, scn, &shdr);
		/* A library that knows nothing of LLVM may have very many symbols of its own. */
		if (!s->uses_llvm)
			break;
	}
	return err;
}

static int read_data(struct llvm_symbols *s, const struct elf_image *img)
{
	struct got_part part = {0};
	size_t len = 0;

	if (!elf_image__section(img, ".data.rel.ro", &part.addr, &part.size))
		return got__read(s->elf, &part, 0, &s->data);
	part.bytes = elf_image__bytes(img, part.addr, &len);
	part.size = part.bytes && part.size < len ? part.size : len;
	return got__read(s->elf, &part, 1, &s->data);
}

int llvm_symbols__read(struct elf_image *img, struct llvm_symbols *out)
{
	int err;

	*out = (struct llvm_symbols){0};
	elf_version(EV_CURRENT);
	out->elf = elf_begin(library_file__fd(elf_image__file(img)), ELF_C_READ_MMAP, NULL);
	if (!out->elf)
		return 0;
	err = read_tables(out);
	if (err || !out->uses_llvm)
		return err;
	if (out->n_vtables)
		qsort(out->vtables, out->n_vtables, sizeof(*out->vtables), array__by_u64);
	if (out->n_of_passes)
		qsort(out->of_passes, out->n_of_passes, sizeof(*out->of_passes), array__by_u64);
	return read_data(out, img);
}

const char *llvm_symbols__vtable(const struct llvm_symbols *s, uint64_t addr)
{
	const uint64_t key = addr - 16;
	const struct llvm_vtable *v = s->n_vtables ? bsearch(&key, s->vtables, s->n_vtables,
							     sizeof(*s->vtables), array__by_u64)
						   : NULL;

	return v ? v->name : NULL;
}

static bool is_code(const struct elf_image *img, uint64_t addr)
{
	size_t len;

	return addr && elf_image__code(img, addr, &len);
}

/* Neither bytes of the file nor a relocation. */
static bool is_zero(const struct llvm_symbols *s, const struct elf_image *img, uint64_t addr)
{
	size_t len;
	const uint8_t *bytes = elf_image__bytes(img, addr, &len);
	uint64_t word = 1;

	if (bytes && len >= sizeof(word))
		memcpy(&word, bytes, sizeof(word));
	return !word && !got__value(s->data, addr);
}

bool llvm_symbols__functions(const struct llvm_symbols *s, const struct elf_image *img,
			     uint64_t addr, uint64_t *functions, uint32_t most, uint32_t *n)
{
	uint64_t type, value;

	*n = 0;
	if (!s->data || !is_code(img, got__value(s->data, addr)))
		return false;
	/* Before it are the offset of the object, and the address of its type, if that is kept. */
	type = got__value(s->data, addr - 8);
	if (!is_zero(s, img, addr - 16) || is_code(img, type) ||
	    (!type && !is_zero(s, img, addr - 8)))
		return false;
	for (; *n < most && is_code(img, value = got__value(s->data, addr + 8ull * *n)); ++*n)
		functions[*n] = value;
	return true;
}

void llvm_symbols__destroy(struct llvm_symbols *s)
{
	got__free(s->data);
	free(s->vtables);
	free(s->of_passes);
	if (s->elf)
		elf_end(s->elf);
	*s = (struct llvm_symbols){0};
}
