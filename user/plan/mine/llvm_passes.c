// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/llvm_passes.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "plan/code/opcode.h"
#include "plan/symbols/demangle.h"

/* ---- Symbols --------------------------------------------------------------------------------- */

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

int llvm_symbols__read(struct elf_image *img, struct llvm_symbols *out)
{
	static const uint32_t types[] = {SHT_DYNSYM, SHT_SYMTAB};
	struct got_part part = {0};
	size_t len = 0;
	int err = 0;

	*out = (struct llvm_symbols){0};
	elf_version(EV_CURRENT);
	out->elf = elf_begin(library_file__fd(elf_image__file(img)), ELF_C_READ_MMAP, NULL);
	if (!out->elf)
		return 0;
	for (size_t i = 0; i < N_OF(types); i++) {
		Elf_Scn *scn = NULL;
		GElf_Shdr shdr;

		while (!err && (scn = elf_nextscn(out->elf, scn)))
			if (gelf_getshdr(scn, &shdr) && shdr.sh_type == types[i])
				err = read_table(out, scn, &shdr);
		/* A library that knows nothing of LLVM may have very many symbols of its own. */
		if (err || !out->uses_llvm)
			return err;
	}
	if (out->n_vtables)
		qsort(out->vtables, out->n_vtables, sizeof(*out->vtables), array__by_u64);
	if (out->n_of_passes)
		qsort(out->of_passes, out->n_of_passes, sizeof(*out->of_passes), array__by_u64);
	if (!elf_image__section(img, ".data.rel.ro", &part.addr, &part.size))
		return got__read(out->elf, &part, 0, &out->data);
	part.bytes = elf_image__bytes(img, part.addr, &len);
	part.size = part.bytes && part.size < len ? part.size : len;
	return got__read(out->elf, &part, 1, &out->data);
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

/* Of a vtable. No pass has more. */
#define FUNCTIONS_MAX 48
/* The names of a PassModel, and of a Pass, are among the functions from the third on. */
#define NAME_FIRST 2
#define NAME_END   6
/* No name of a type is longer, with its template arguments. */
#define TEXT_MAX 4096

bool llvm_passes__is_name(const char *name, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (name[i] < ' ' || name[i] > '~')
			return false;
	return len && len <= LLVM_PASS_NAME_MAX;
}

int llvm_passes__add(struct llvm_passes *p, uint64_t vtable, const char *name, size_t len)
{
	struct llvm_pass new = {.vtable = vtable, .name = strndup(name, len)};
	int err = new.name ? array__add(&p->items, &p->n, &p->capacity, &new) : -ENOMEM;

	if (err)
		free(new.name);
	return err;
}

const char *llvm_passes__name(const struct llvm_passes *p, uint64_t vtable)
{
	const struct llvm_pass *found =
		p->n ? bsearch(&vtable, p->items, p->n, sizeof(*p->items), array__by_u64) : NULL;

	return found ? found->name : NULL;
}

void llvm_passes__destroy(struct llvm_passes *p)
{
	for (uint32_t i = 0; i < p->n; i++)
		free(p->items[i].name);
	free(p->items);
	*p = (struct llvm_passes){0};
}

/* A text with its length. */
struct text {
	const char *at;
	size_t len;
};

/* The class alone: "llvm::Wrapper<llvm::X>" is "Wrapper". */
static int add_class_of(struct llvm_passes *p, uint64_t vtable, struct text t)
{
	const char *end = memchr(t.at, '<', t.len), *colon;

	if (end)
		t.len = (size_t)(end - t.at);
	colon = memrchr(t.at, ':', t.len);
	if (colon) {
		t.len -= (size_t)(colon + 1 - t.at);
		t.at = colon + 1;
	}
	return llvm_passes__is_name(t.at, t.len) ? llvm_passes__add(p, vtable, t.at, t.len) : 0;
}

/* ---- A function that returns a constant ------------------------------------------------------ */

#define ENDBR64_SIZE 4

static bool returned_text(const struct elf_image *img, uint64_t function, struct text *out)
{
	static const uint8_t endbr64[ENDBR64_SIZE] = {0xf3, 0x0f, 0x1e, 0xfa};
	uint64_t text = 0;
	size_t len, room, at = 0;
	const uint8_t *p = elf_image__code(img, function, &len);

	*out = (struct text){0};
	if (p && len > ENDBR64_SIZE && !memcmp(p, endbr64, ENDBR64_SIZE))
		at = ENDBR64_SIZE;
	for (int i = 0; p && i < 3 && at < len; i++) {
		size_t left = len - at;

		if (left >= 7 && p[at] == 0x48 && p[at + 1] == OPCODE_LEA && p[at + 2] == 0x05) {
			text = opcode_target(p + at + 3, function + at + 7);
			at += 7;
		} else if (left >= 5 && p[at] == 0xba) {
			out->len = opcode_u32(p + at + 1);
			at += 5;
		} else if (p[at] == 0xc3) {
			out->at = (const char *)elf_image__bytes(img, text, &room);
			return out->at && out->len && out->len <= room && out->len < TEXT_MAX;
		} else {
			return false;
		}
	}
	return false;
}

/* ---- The name of a class --------------------------------------------------------------------- */

/* A mangled name behind "_ZTV" or "_ZTS". */
static int add_class(struct llvm_passes *p, uint64_t vtable, const char *mangled)
{
	char symbol[TEXT_MAX];
	_free_ char *path = NULL;

	if ((size_t)snprintf(symbol, sizeof(symbol), "_Z%s", mangled) >= sizeof(symbol))
		return 0;
	path = cxx_name(symbol);
	return path ? add_class_of(p, vtable, (struct text){path, strlen(path)}) : 0;
}

/*
 * "N4llvm6detail9PassModelI": what runs it, then the pass. The first is a name of namespace llvm,
 * or one within another name of it.
 */
static const char *modelled(const char *mangled)
{
	static const char *const before[] = {"NS_8FunctionE", "NS_6ModuleE", "NS_4LoopE",
					     "NS_13LazyCallGraph3SCCE", "NS_15MachineFunctionE"};
	const char *at = strstr(mangled, "6detail9PassModelI");

	if (!at)
		return NULL;
	at += strlen("6detail9PassModelI");
	for (size_t i = 0; i < N_OF(before); i++)
		if (!strncmp(at, before[i], strlen(before[i])))
			return at + strlen(before[i]);
	return NULL;
}

/* The pass's name: "NS_15InstCombinePassE", of namespace llvm; or "N12_GLOBAL__N_1..", or alone. */
static int add_modelled(struct llvm_passes *p, uint64_t vtable, const char *pass)
{
	char nested[TEXT_MAX];

	if (strncmp(pass, "NS_", 3) != 0)
		return add_class(p, vtable, pass);
	if ((size_t)snprintf(nested, sizeof(nested), "N4llvm%s", pass + 3) >= sizeof(nested))
		return 0;
	return add_class(p, vtable, nested);
}

/* The mangled name of the class: that of the vtable's symbol; else its type has it, in word two. */
static const char *class_name(const struct llvm_symbols *s, const struct elf_image *img,
			      uint64_t vtable)
{
	const uint64_t key = vtable - 16; /* objects have the address behind two words */
	const struct llvm_vtable *v = s->n_vtables ? bsearch(&key, s->vtables, s->n_vtables,
							     sizeof(*s->vtables), array__by_u64)
						   : NULL;
	uint64_t type = got__value(s->data, vtable - 8);
	uint64_t name = type ? got__value(s->data, type + 8) : 0;
	size_t room;
	const char *text = name ? (const char *)elf_image__bytes(img, name, &room) : NULL;

	if (v)
		return v->name + strlen("_ZTV");
	return text && memchr(text, '\0', room < TEXT_MAX ? room : TEXT_MAX) ? text : NULL;
}

static bool has_pass_function(const struct llvm_symbols *s, const uint64_t *functions, uint32_t n)
{
	for (uint32_t i = 0; i < n && s->n_of_passes; i++)
		if (bsearch(&functions[i], s->of_passes, s->n_of_passes, sizeof(*s->of_passes),
			    array__by_u64))
			return true;
	return false;
}

/* ---- All vtables ----------------------------------------------------------------------------- */

static int see_vtable(struct llvm_passes *p, const struct elf_image *img,
		      const struct llvm_symbols *s, uint64_t vtable)
{
	uint64_t functions[FUNCTIONS_MAX];
	const char *name, *model;
	uint32_t n, before = p->n;
	struct text t;
	int err = 0;

	if (!llvm_symbols__functions(s, img, vtable, functions, FUNCTIONS_MAX, &n) ||
	    n <= NAME_FIRST)
		return 0;
	name = class_name(s, img, vtable);
	model = name ? modelled(name) : NULL;
	if (model)
		err = add_modelled(p, vtable, model);
	else if (name && has_pass_function(s, functions, n))
		err = add_class(p, vtable, name);
	if (err || p->n > before)
		return err;
	for (uint32_t i = NAME_FIRST; i < n && i < NAME_END; i++)
		if (returned_text(img, functions[i], &t))
			return add_class_of(p, vtable, t);
	return 0;
}

int llvm_passes__mine(const struct elf_image *img, const struct llvm_symbols *s,
		      struct llvm_passes *out)
{
	uint64_t slot, value, last = 0;
	int err = 0;

	*out = (struct llvm_passes){0};
	for (uint32_t i = 0;
	     s->data && !err && out->n < LLVM_PASSES_MAX && got__slot(s->data, i, &slot, &value);
	     i++) {
		/* A slot may have two relocations. */
		if (slot != last)
			err = see_vtable(out, img, s, slot);
		last = slot;
	}
	return err;
}
