// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/code_name.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"

static bool starts_with(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/* ---- Plain names ----------------------------------------------------------------------------- */

/* The '>' of "->" and of operators closes nothing. */
static bool is_arrow(const char *name, const char *p)
{
	return p > name && (p[-1] == '-' || p[-1] == '=');
}

/* The end of the brackets that open at `p`; the end of the text if they do not close. */
static const char *behind(const char *name, const char *p)
{
	int depth = 0;

	for (; *p; p++) {
		if (strchr("<([{", *p))
			depth++;
		else if (*p == ')' || *p == ']' || *p == '}' || (*p == '>' && !is_arrow(name, p)))
			depth--;
		if (!depth)
			return p + 1;
	}
	return p;
}

/* "operator<", "operator<<", "operator()" and the like, whose brackets are none. */
static size_t operator_at(const char *name, const char *p)
{
	static const char word[] = "operator";
	size_t n = strlen(word);

	if ((p > name && (isalnum((unsigned char)p[-1]) || p[-1] == '_')) ||
	    !starts_with(p, word) || !strchr("<>=!()[-+*/&|^%~", p[n]) || !p[n])
		return 0;
	if (starts_with(p + n, "()") || starts_with(p + n, "[]") || starts_with(p + n, "->"))
		return n + 2;
	while (p[n] && strchr("<>=!-+*/&|^%~", p[n]))
		n++;
	return n;
}

/* Whether '<' or '(' begins a path, and not the arguments of something. */
static bool begins_path(const char *name, const char *p)
{
	return p == name || strchr("<(&[ *", p[-1]);
}

/* The text in the brackets of a path is shortened as the rest is. */
char *code_name_plain(const char *name)
{
	/* Parts of a split function are that function: "f.cold", "f.warm.12". */
	static const char *const suffixes[] = {".cold", ".warm", ".part.", ".isra.", ".constprop."};
	char *plain = malloc(strlen(name) + 1), *out = plain;
	const char *p = name;
	int depth = 0; /* of the brackets of paths */
	size_t n;

	while (plain && *p) {
		n = operator_at(name, p);
		if (n) {
			memcpy(out, p, n);
			out += n;
			p = p[n] == '(' ? behind(name, p + n) : p + n;
		} else if (*p == '<' && !begins_path(name, p)) {
			/* The "::" of "f::<T>". */
			if (out - plain >= 2 && out[-1] == ':')
				out -= 2;
			p = behind(name, p);
		} else if (*p == '(' && !depth && !begins_path(name, p) && p[-1] != ':') {
			p = behind(name, p);
			/* "f(int) const", of C++ */
			if (*p == ' ')
				break;
		} else {
			depth += *p == '<' ? 1 : *p == '>' && !is_arrow(name, p) ? -1 : 0;
			*out++ = *p++;
		}
	}
	if (plain)
		*out = '\0';
	for (size_t i = 0; plain && i < N_OF(suffixes); i++) {
		char *found = strstr(plain, suffixes[i]);

		if (found && found > plain &&
		    strspn(found, ".abcdefghijklmnopqrstuvwxyz0123456789") == strlen(found))
			*found = '\0';
	}
	return plain;
}

/* ---- Short names ----------------------------------------------------------------------------- */

/* Closures and types within others that a short name looks through; a name may be hostile. */
#define NESTED_MOST 8

struct slice {
	const char *s, *end;
};

/* Without what precedes a path within brackets: "&mut ", "dyn ". */
static struct slice strip_sigils(struct slice t)
{
	static const char *const sigils[] = {"&mut ", "&", "*const ", "*mut ", "mut ", "dyn "};
	bool more = true;

	while (more) {
		more = false;
		for (size_t i = 0; i < N_OF(sigils); i++) {
			size_t n = strlen(sigils[i]);

			if ((size_t)(t.end - t.s) > n && !strncmp(t.s, sigils[i], n)) {
				t.s += n;
				more = true;
			}
		}
	}
	return t;
}

/* "T" and "Trait" of "<T as Trait>"; an empty trait if there is none. */
static void split_as(struct slice t, struct slice *type, struct slice *trait)
{
	int depth = 0;

	*type = t;
	*trait = (struct slice){t.end, t.end};
	for (const char *p = t.s; p + 4 <= t.end; p++) {
		if (strchr("<([{", *p))
			depth++;
		else if (strchr(")]}", *p) || (*p == '>' && !is_arrow(t.s, p)))
			depth--;
		if (depth || strncmp(p, " as ", 4))
			continue;
		*type = (struct slice){t.s, p};
		*trait = (struct slice){p + 4, t.end};
		return;
	}
}

/* The beginning of the last segment of a path: of "a::{b}::c" that is "c". */
static const char *last_segment(struct slice t)
{
	const char *last = t.s;
	int depth = 0;

	for (const char *p = t.s; p < t.end; p++) {
		if (strchr("<([{", *p))
			depth++;
		else if (strchr(")]}", *p) || (*p == '>' && !is_arrow(t.s, p)))
			depth--;
		if (!depth && p + 2 < t.end && p[0] == ':' && p[1] == ':')
			last = p + 2;
	}
	return last;
}

/* The segment before `at`, which follows its "::"; `at` if there is none. */
static const char *segment_before(struct slice t, const char *at)
{
	return at > t.s ? last_segment((struct slice){t.s, at - 2}) : at;
}

/* "Vec" of "<alloc::vec::Vec as core::iter::Extend>"; of "<T as a::Trait>" that is "Trait". */
static struct slice type_name(struct slice t)
{
	struct slice type, trait;

	/* Brackets may be within brackets; each round takes one pair off. */
	for (int i = 0; i < NESTED_MOST && t.end - t.s > 1 && *t.s == '<' && t.end[-1] == '>';
	     i++) {
		split_as((struct slice){t.s + 1, t.end - 1}, &type, &trait);
		t = strip_sigils(type);
		if (trait.s < trait.end && t.end - t.s == 1)
			t = trait;
	}
	t.s = last_segment(t);
	return t;
}

char *code_name_short(const char *plain)
{
	const struct slice all = {plain, plain + strlen(plain)};
	const char *at = last_segment(all), *before;
	struct slice owner;
	char *text = NULL;

	/* Closures and shims are named by the function around them. */
	for (int i = 0; i < NESTED_MOST && at > all.s && *at == '{'; i++)
		at = segment_before(all, at);
	before = segment_before(all, at);
	if (before == at)
		return strdup(at);
	owner = type_name((struct slice){before, at - 2});
	if (asprintf(&text, "%.*s::%s", (int)(owner.end - owner.s), owner.s, at) < 0)
		return NULL;
	return text;
}

/* ---- Parts ----------------------------------------------------------------------------------- */

/* Functions of allocators; a '*' stands for any end. */
static const char *const of_allocators[] = {
	"malloc",	    "calloc",	       "realloc",	 "free",	 "cfree",
	"memalign",	    "aligned_alloc",   "posix_memalign", "valloc",	 "pvalloc",
	"malloc_*",	    "_int_malloc",     "_int_free*",	 "_int_realloc", "_int_memalign",
	"unlink_chunk*",    "sysmalloc*",      "systrim*",	 "tcache_*",	 "arena_get*",
	"__libc_malloc*",   "__libc_calloc",   "__libc_realloc", "__libc_free",	 "__libc_memalign",
	"alloc_perturb",    "_rjem_*",	       "je_*",		 "mallocx",	 "rallocx",
	"sdallocx",	    "dallocx",	       "mi_*",		 "_mi_*",	 "__rust_alloc*",
	"__rust_dealloc*",  "__rust_realloc*", "__rdl_*",	 "__rg_*",	 "operator new*",
	"operator delete*", "_Znwm*",	       "_Znam*",	 "_ZdlPv*",	 "_ZdaPv*",
};

static bool is_of_allocator(const char *name)
{
	for (size_t i = 0; i < N_OF(of_allocators); i++) {
		size_t n = strlen(of_allocators[i]);

		/* With the NUL, unless it stands for any end. */
		n = of_allocators[i][n - 1] == '*' ? n - 1 : n + 1;
		if (!strncmp(name, of_allocators[i], n))
			return true;
	}
	return false;
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static const struct {
	const char *begins; /* the name of the file */
	const char *part;
} of_files[] = {
	{"libLLVM", CODE_LLVM},	   {"libc.so", CODE_LIBC}, {"libc-2", CODE_LIBC},
	{"libpthread", CODE_LIBC}, {"libm.so", CODE_LIBC}, {"libm-2", CODE_LIBC},
	{"ld-linux", CODE_LIBC},   {"ld-2", CODE_LIBC},	   {"libdl.so", CODE_LIBC},
	{"librt.so", CODE_LIBC},
};

/*
 * The executable holds jemalloc beside its main function, where rustc has it, and no other code of
 * C.
 */
static bool is_allocator_of_rustc(const char *name, const char *base)
{
	return (!strcmp(base, "rustc") || !strcmp(base, "rustdoc")) && strcmp(name, "main") &&
	       strcmp(name, "_start") && !strstr(name, "::");
}

/* The first segment of a path, if another one follows. */
static struct slice first_segment(struct slice t)
{
	const char *end;

	do {
		t = strip_sigils(t);
		while (t.s < t.end && strchr("<([", *t.s))
			t.s++;
		end = t.s;
		t = strip_sigils(t);
	} while (t.s > end);
	for (end = t.s; end < t.end && (isalnum((unsigned char)*end) || *end == '_'); end++)
		;
	if (t.end - end < 3 || strncmp(end, "::", 2) || end == t.s)
		end = t.s;
	return (struct slice){t.s, end};
}

/* The crate of a Rust function, or the outermost namespace of C++; empty: none. */
static struct slice crate_of(const char *name)
{
	const struct slice all = {name, name + strlen(name)};
	struct slice crate, type, trait;

	if (*name == '<') {
		const char *end = behind(name, name);

		split_as((struct slice){name + 1, end}, &type, &trait);
		crate = first_segment(type);
		/* A type of no crate, such as u32, or a parameter: the trait's. */
		return crate.s < crate.end ? crate : first_segment(trait);
	}
	return first_segment(all);
}

/* "libz" of "libz.so.1.2.13", "librustc_driver" of "librustc_driver-0123456789abcdef.so". */
static char *stem_of(const char *base)
{
	size_t n = strcspn(base, ".");

	for (size_t i = 0; i + 17 <= n; i++)
		if (base[i] == '-' && strspn(base + i + 1, "0123456789abcdef") == n - i - 1)
			n = i;
	return strndup(base, n);
}

char *code_part(const char *name, const char *file)
{
	const char *base = file ? base_of(file) : "";
	struct slice crate;

	if (is_of_allocator(name) || is_allocator_of_rustc(name, base))
		return strdup(CODE_ALLOCATOR);
	for (size_t i = 0; i < N_OF(of_files); i++)
		if (starts_with(base, of_files[i].begins))
			return strdup(of_files[i].part);
	crate = crate_of(name);
	if (crate.end - crate.s == 4 && !strncmp(crate.s, "llvm", 4))
		return strdup(CODE_LLVM);
	if (crate.s < crate.end)
		return strndup(crate.s, (size_t)(crate.end - crate.s));
	/* rustc's own wrappers of LLVM are C++ in a crate of this name. */
	if (starts_with(name, "LLVMRust"))
		return strdup("rustc_llvm");
	return *base ? stem_of(base) : strdup(CODE_UNKNOWN);
}

bool code_part_is_general(const char *part)
{
	static const char *const general[] = {
		CODE_ALLOCATOR, CODE_LIBC,   CODE_UNKNOWN,	  "core",
		"alloc",	"std",	     "hashbrown",	  "libgcc_s",
		"[vdso]",	"libstdc++", "compiler_builtins",
	};

	for (size_t i = 0; i < N_OF(general); i++)
		if (!strcmp(part, general[i]))
			return true;
	return false;
}

/* ---- Functions ------------------------------------------------------------------------------- */

/* A hostile trace may have a name of a megabyte, and use it for each function. */
#define NAME_MOST 2048

#define UNKNOWN_QUERY "(unknown query)"

/* The number of a function of this name and part; takes the name. */
static int number_of(struct code_functions *f, char *name, struct code_function *function,
		     uint32_t *out)
{
	_free_ char *owned = name, *key = NULL;
	bool is_new;

	if (!name)
		return -ENOMEM;
	if (asprintf(&key, "%u %u %s", function->part, function->kind, name) < 0) {
		key = NULL;
		return -ENOMEM;
	}
	if (interner__id(&f->keys, key, out, &is_new))
		return -ENOMEM;
	if (!is_new)
		return 0;
	function->name = owned;
	if (array__add(&f->at, &f->n, &f->capacity, function))
		return -ENOMEM;
	take_ptr(owned);
	return 0;
}

static int add_function(struct code_functions *f, const struct trace_function *from, uint32_t *out)
{
	_free_ char *cut = strndup(from->name ?: "", NAME_MOST);
	_free_ char *part = cut ? code_part(cut, from->file) : NULL;
	struct code_function function = {.file = from->file};
	char *name = NULL;
	bool is_new;

	if (!part || interner__id(&f->part_keys, part, &function.part, &is_new) ||
	    (is_new && array__add(&f->parts, &f->n_parts, &f->parts_capacity, &part)))
		return -ENOMEM;
	if (is_new)
		take_ptr(part);
	function.is_general = code_part_is_general(f->parts[function.part]);
	/* Code without a symbol has the name of its file. */
	if (*cut || !from->file)
		name = *cut ? code_name_plain(cut) : strdup(CODE_UNKNOWN);
	else if (asprintf(&name, "[%s]", base_of(from->file)) < 0)
		name = NULL;
	return number_of(f, name, &function, out);
}

static int find_location(struct code_functions *f, uint32_t locindex, uint32_t *out)
{
	static const struct trace_function nowhere = {.name = ""};
	struct trace_location at = {.function = &nowhere};

	if (f->has_last && locindex - f->last.first <= f->last.size) {
		*out = f->last_number;
		return 0;
	}
	if (locindex == TRACE_NO_LOCATION || !f->source.locate ||
	    !f->source.locate(f->source.ctx, locindex, &at))
		at.function = &nowhere;
	*out = u64_map__get(&f->by_first, at.function->first);
	if (*out == U64_MAP_NONE && (add_function(f, at.function, out) ||
				     u64_map__put(&f->by_first, at.function->first, *out)))
		return -ENOMEM;
	f->has_last = at.function != &nowhere;
	f->last = *at.function;
	f->last_number = *out;
	return 0;
}

static int find_interval(struct code_functions *f, const struct trace_stack *entry, uint32_t *out)
{
	bool is_unknown = entry->kind == TRACE_STACK_UNKNOWN;
	struct code_function function = {
		.part = CODE_NO_PART,
		.kind = is_unknown ? TRACE_KIND_QUERY : entry->kind - TRACE_STACK_QUERY,
		.is_unknown = is_unknown,
	};
	uint64_t key = (uint64_t)entry->kind << 32 | entry->place;
	_free_ char *cut = NULL;

	*out = u64_map__get(&f->by_interval, key);
	if (*out != U64_MAP_NONE)
		return 0;
	cut = strndup(is_unknown ? UNKNOWN_QUERY : f->texts.text(f->texts.ctx, entry->place),
		      NAME_MOST);
	return number_of(f, take_ptr(cut), &function, out)
		       ?: u64_map__put(&f->by_interval, key, *out);
}

int code_functions__find(struct code_functions *f, const struct trace_stack *entry, uint32_t *out)
{
	if (entry->kind == TRACE_STACK_LOCATION)
		return find_location(f, entry->place, out);
	return find_interval(f, entry, out);
}

bool code_functions__is_of(const struct code_functions *f, uint32_t number, const char *part)
{
	uint32_t of = f->at[number].part;

	if (of != CODE_NO_PART)
		return !strcmp(f->parts[of], part);
	/* LLVM's threads that were seen from outside show no function. */
	return f->at[number].kind == TRACE_KIND_ACTIVITY && !strcmp(part, CODE_LLVM) &&
	       !strcmp(f->at[number].name, TRACE_ACTIVITY_LLVM);
}

void code_functions__destroy(struct code_functions *f)
{
	for (uint32_t i = 0; i < f->n; i++)
		free(f->at[i].name);
	for (uint32_t i = 0; i < f->n_parts; i++)
		free(f->parts[i]);
	free(f->at);
	free(f->parts);
	interner__destroy(&f->keys);
	interner__destroy(&f->part_keys);
	u64_map__destroy(&f->by_first);
	u64_map__destroy(&f->by_interval);
	*f = (struct code_functions){};
}
