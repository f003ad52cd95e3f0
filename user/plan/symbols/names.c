// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Every name is matched from its first byte, against the grammar of its mangling, and rejected at
 * the first byte that does not fit: this makes matching cheap. A demangler is not used: a few bytes
 * of v0 back references can stand for gigabytes of text, and these names are untrusted.
 *
 * The spellings, by the rustc sources that define them (compiler/...):
 *   wrappers   rustc_query_impl/src/{plumbing,query_impl}.rs, define_queries!
 *   providers  the same; before, closures given to one generic function of plumbing.rs
 *   guards     rustc_data_structures/src/profiling.rs
 *   accessors  the files of their modules
 *   bodies     rustc_query_impl/src/execution.rs; before, rustc_query_system/src/query/plumbing.rs
 */
#include "plan/symbols/names.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

#include "base/array.h"

#define WORDS_MAX 6

struct cursor {
	const char *p;
	const char *end;
};

struct word {
	const char *s;
	size_t len;
};

/* The segments of a path, outermost first: crate, modules, function. */
struct path {
	struct word words[WORDS_MAX];
	uint32_t n;
	bool generic; /* v0 only: arguments follow, the cursor is at the first */
};

static bool word_is(struct word w, const char *s)
{
	return w.len == strlen(s) && !memcmp(w.s, s, w.len);
}

static bool eat_prefix(struct cursor *c, const char *prefix)
{
	size_t len = strlen(prefix);

	if ((size_t)(c->end - c->p) < len || memcmp(c->p, prefix, len))
		return false;
	c->p += len;
	return true;
}

static bool eat(struct cursor *c, char ch)
{
	if (c->p == c->end || *c->p != ch)
		return false;
	c->p++;
	return true;
}

/* <decimal-number>, then that many bytes. */
static bool eat_counted(struct cursor *c, struct word *w, bool v0)
{
	size_t len = 0;

	if (c->p == c->end || !isdigit((unsigned char)*c->p))
		return false;
	if (!eat(c, '0')) {
		while (c->p < c->end && isdigit((unsigned char)*c->p) && len < 1000)
			len = len * 10 + (*c->p++ - '0');
		/* v0 puts a '_' between the length and a name that begins with a digit or '_'. */
		if (v0)
			eat(c, '_');
	}
	if (len > (size_t)(c->end - c->p))
		return false;
	*w = (struct word){c->p, len};
	c->p += len;
	return true;
}

/* <base-62-number> of v0: digits, then '_'; its value is not needed. */
static bool eat_base62(struct cursor *c)
{
	while (c->p < c->end && isalnum((unsigned char)*c->p))
		c->p++;
	return eat(c, '_');
}

/* <identifier> of v0, with its disambiguator. No name that is searched for is Punycode. */
static bool eat_identifier(struct cursor *c, struct word *w)
{
	if (eat(c, 's') && !eat_base62(c))
		return false;
	return eat_counted(c, w, true);
}

/* N <namespace> ..., innermost first. Returns their number. */
static uint32_t eat_namespaces(struct cursor *c)
{
	uint32_t n = 0;

	while (c->end - c->p >= 2 && *c->p == 'N' && isalpha((unsigned char)c->p[1])) {
		c->p += 2;
		n++;
	}
	return n;
}

/* A plain path below a crate: no impl, no type, no back reference. */
static bool eat_v0_path(struct cursor *c, struct path *path)
{
	path->generic = eat(c, 'I');
	path->n = eat_namespaces(c) + 1;
	if (path->n > WORDS_MAX || !eat(c, 'C'))
		return false;
	for (uint32_t i = 0; i < path->n; i++) {
		if (!eat_identifier(c, &path->words[i]))
			return false;
	}
	return true;
}

/* <length name>... 17h<16 hex digits> E; the hash is not part of the path. */
static bool eat_legacy_path(struct cursor *c, struct path *path)
{
	struct word w;

	path->n = 0;
	path->generic = false;
	while (eat_counted(c, &w, false)) {
		if (w.len == 17 && w.s[0] == 'h' && eat(c, 'E'))
			return true;
		if (path->n == WORDS_MAX)
			return false;
		path->words[path->n++] = w;
	}
	return false;
}

/*
 * The suffixes of a mangled name: ".llvm.123" (renamed by ThinLTO, the same function), ".cold",
 * ".warm", ".cold.1" (split off it). Any other suffix makes it another function.
 */
static bool eat_suffixes(struct cursor *c, enum name_part *part)
{
	*part = NAME_PART_ENTRY;
	while (eat(c, '.')) {
		const char *start = c->p;
		struct word w;

		while (c->p < c->end && *c->p != '.')
			c->p++;
		w = (struct word){start, c->p - start};
		if (word_is(w, "cold"))
			*part = NAME_PART_COLD;
		else if (word_is(w, "warm"))
			*part = NAME_PART_WARM;
		else if (!word_is(w, "llvm") && strspn(start, "0123456789") < w.len)
			return false;
	}
	return c->p == c->end;
}

/* rustc_query_impl::query_impl::<q>::<module>::<function> */
static const struct {
	const char *module;
	const char *function;
	enum name_kind kind;
} query_functions[] = {
	{"execute_query_non_incr", "__rust_end_short_backtrace", NAME_WRAPPER_NON_INCR},
	{"execute_query_incr", "__rust_end_short_backtrace", NAME_WRAPPER_INCR},
	{"get_query_non_incr", "__rust_end_short_backtrace", NAME_WRAPPER_NON_INCR},
	{"get_query_incr", "__rust_end_short_backtrace", NAME_WRAPPER_INCR},
	{"invoke_provider_fn", "__rust_begin_short_backtrace", NAME_PROVIDER},
};

static void set_query(struct name_info *info, enum name_kind kind, struct word query)
{
	info->kind = kind;
	info->query = query.s;
	info->query_len = query.len;
}

/*
 * rustc_query_impl::plumbing::__rust_begin_short_backtrace::<F, R>, F a closure in a closure of
 * rustc_query_impl::query_impl::<q>::dynamic_query. The crate is a back reference in F.
 */
static void match_provider_closure(struct cursor args, struct name_info *info)
{
	struct word crate, module, query, function, closure[2];

	if (eat_namespaces(&args) != 5)
		return;
	if (eat(&args, 'B')) {
		if (!eat_base62(&args))
			return;
	} else if (!eat(&args, 'C') || !eat_identifier(&args, &crate) ||
		   !word_is(crate, "rustc_query_impl")) {
		return;
	}
	if (eat_identifier(&args, &module) && word_is(module, "query_impl") &&
	    eat_identifier(&args, &query) && eat_identifier(&args, &function) &&
	    eat_identifier(&args, &closure[0]) && eat_identifier(&args, &closure[1]) &&
	    !closure[0].len && !closure[1].len)
		set_query(info, NAME_PROVIDER, query);
}

/* The value of the base-62 number s[0..len), as v0 counts: "" is 0, "0" is 1. */
static size_t base62_value(const char *s, size_t len)
{
	size_t v = 0;

	for (size_t i = 0; i < len && v < 100000; i++) {
		unsigned char ch = s[i];
		size_t digit = isdigit(ch) ? ch - '0' : islower(ch) ? ch - 'a' + 10 : ch - 'A' + 36;

		v = v * 62 + digit;
	}
	return len ? v + 1 : 0;
}

/*
 * The bool that is a generic argument and ends at `end`, just after its '_': "Kb0_", "Kb1_", or a
 * back reference "KB<base-62-number>_" to the first such bool. -1 if there is none. `text` follows
 * "_R": back references count from there.
 */
static int bool_before(const char *text, const char *end)
{
	const char *p = end - 1;

	while (p > text && isalnum((unsigned char)p[-1]))
		p--;
	if (end - p >= 4 && end[-4] == 'K' && end[-3] == 'b' && (end[-2] == '0' || end[-2] == '1'))
		return end[-2] - '0';
	for (; end - p >= 3; p++) {
		size_t at = base62_value(p + 2, end - 1 - (p + 2));
		const char *to;

		if (p[0] != 'K' || p[1] != 'B' || at >= (size_t)(p - text))
			continue;
		to = text + at;
		if (p - to >= 3 && to[0] == 'b' && (to[1] == '0' || to[1] == '1') && to[2] == '_')
			return to[1] - '0';
	}
	return -1;
}

/*
 * The last generic argument, a bool, of a generic function whose name ends at `end`:
 *   ... <bool> "E" <instantiating crate: "B" <base-62-number> or "C" <identifier>>
 * Found from the end, where it is unambiguous, to be spared from parsing types. -1 if it is none.
 */
static int last_bool_argument(const char *args, const char *text, const char *end)
{
	for (const char *p = end - 2; p > args; p--) {
		struct cursor c = {p + 1, end};
		struct word crate;

		if (*p != 'E' || p[-1] != '_')
			continue;
		if (eat(&c, 'B') ? eat_base62(&c) : eat(&c, 'C') && eat_identifier(&c, &crate))
			return c.p == end ? bool_before(text, p) : -1;
		return -1;
	}
	return -1;
}

static void match_body(const struct path *path, struct cursor args, const char *text,
		       struct name_info *info)
{
	bool known = path->n == 3 ? word_is(path->words[0], "rustc_query_impl")
				  : path->n == 4 && word_is(path->words[0], "rustc_query_system");
	int incr;

	if (!known || !word_is(path->words[path->n - 1], "try_execute_query"))
		return;
	if (!path->generic) {
		info->kind = NAME_BODY_UNKNOWN;
		return;
	}
	incr = last_bool_argument(args.p, text, args.end);
	if (incr >= 0)
		info->kind = incr ? NAME_BODY_INCR : NAME_BODY_NON_INCR;
}

static bool path_is(const struct path *path, const char *const *words, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (i >= path->n || !word_is(path->words[i], words[i]))
			return false;
	return path->n == n;
}

/* std::sync::once_lock::OnceLock<rustc_middle::ty::context::GlobalCtxt> */
static bool is_context(struct cursor type)
{
	static const char *const lock[] = {"std", "sync", "once_lock", "OnceLock"};
	static const char *const context[] = {"rustc_middle", "ty", "context", "GlobalCtxt"};
	struct path outer, inner;

	return eat_v0_path(&type, &outer) && outer.generic && path_is(&outer, lock, N_OF(lock)) &&
	       eat_v0_path(&type, &inner) && !inner.generic &&
	       path_is(&inner, context, N_OF(context)) && eat(&type, 'E');
}

/* The type that core::ptr::drop_in_place (1.97: drop_glue) drops: a path, or an Option of one. */
static void match_dropped(struct cursor args, struct name_info *info)
{
	struct path type;
	struct word w;

	if (is_context(args)) {
		info->kind = NAME_DROP_CONTEXT;
		return;
	}
	/* The crate of Option is a back reference to that of drop_in_place. */
	if (eat_prefix(&args, "INtNtB")) {
		if (!eat_base62(&args) || !eat_identifier(&args, &w) || !word_is(w, "option") ||
		    !eat_identifier(&args, &w) || !word_is(w, "Option"))
			return;
	}
	if (!eat_v0_path(&args, &type) || type.n != 3 || type.generic || !eat(&args, 'E') ||
	    !word_is(type.words[0], "rustc_data_structures") ||
	    !word_is(type.words[1], "profiling"))
		return;
	if (word_is(type.words[2], "TimingGuard"))
		info->kind = NAME_DROP_GUARD;
	else if (word_is(type.words[2], "VerboseTimingGuard"))
		info->kind = NAME_DROP_TIMER;
}

/* Functions that are neither generic nor methods. Callbacks find the query context themselves. */
static const struct {
	const char *crate;
	const char *module;
	const char *function;
	enum name_kind kind;
} plain_functions[] = {
	{"rustc_query_impl", "profiling_support", "alloc_self_profile_query_strings",
	 NAME_QUERY_STRINGS},
	{"rustc_span", "source_map", "get_source_map", NAME_SOURCE_MAP},
	{"rustc_interface", "passes", "source_span", NAME_SOURCE_SPAN},
	{"rustc_interface", "callbacks", "def_id_debug", NAME_DEF_ID_DEBUG},
	{"rustc_interface", "callbacks", "track_span_parent", NAME_TRACK_PARENT},
	{"rustc_interface", "callbacks", "dep_kind_debug", NAME_DEP_KIND_DEBUG},
	{"rustc_interface", "callbacks", "dep_node_debug", NAME_DEP_NODE_DEBUG},
};

static void match_path(const struct path *path, struct cursor rest, const char *text,
		       struct name_info *info)
{
	/*
	 * rustc_data_structures::outline::<F, R>, F a closure in the check that a task is new. The
	 * types of the task are in F. key_name.h reads them.
	 */
	static const char check[] = "52assert_dep_node_not_yet_allocated_in_current_session";
	const struct word *w = path->words;

	for (size_t i = 0; i < N_OF(plain_functions) && path->n == 3 && !path->generic; i++)
		if (word_is(w[0], plain_functions[i].crate) &&
		    word_is(w[1], plain_functions[i].module) &&
		    word_is(w[2], plain_functions[i].function))
			info->kind = plain_functions[i].kind;
	for (size_t i = 0; i < N_OF(query_functions) && path->n == 5; i++)
		if (word_is(w[0], "rustc_query_impl") && word_is(w[1], "query_impl") &&
		    word_is(w[3], query_functions[i].module) &&
		    word_is(w[4], query_functions[i].function))
			set_query(info, query_functions[i].kind, w[2]);
	if (path->n == 3 && path->generic && word_is(w[0], "rustc_query_impl") &&
	    word_is(w[1], "plumbing") && word_is(w[2], "__rust_begin_short_backtrace"))
		match_provider_closure(rest, info);
	else if (path->n == 2 && word_is(w[0], "__rustc") && word_is(w[1], "__rust_panic_cleanup"))
		info->kind = NAME_PANIC_CLEANUP;
	else if (path->n == 3 && path->generic && word_is(w[0], "core") && word_is(w[1], "ptr") &&
		 (word_is(w[2], "drop_in_place") || word_is(w[2], "drop_glue")))
		match_dropped(rest, info);
	else if (path->n == 2 && path->generic && word_is(w[0], "rustc_data_structures") &&
		 word_is(w[1], "outline") && eat_prefix(&rest, "NCINvM") &&
		 memmem(rest.p, (size_t)(rest.end - rest.p), check, strlen(check)))
		info->kind = NAME_KEY_WITNESS;
	else
		match_body(path, rest, text, info);
}

/* SelfProfilerRef::exec::cold_call::<{closure of SelfProfilerRef::<method>}> */
static const struct {
	const char *method;
	enum name_kind kind;
} cold_calls[] = {
	{"query_provider", NAME_COLD_PROVIDER},
	{"generic_activity", NAME_COLD_ACTIVITY},
	{"generic_activity_with_arg", NAME_COLD_ACTIVITY},
	{"generic_activity_with_args", NAME_COLD_ACTIVITY},
	{"generic_activity_with_arg_recorder", NAME_COLD_ACTIVITY},
	{"query_blocked", NAME_COLD_BLOCKED},
	{"incr_cache_loading", NAME_COLD_LOAD},
	{"incr_result_hashing", NAME_COLD_HASHING},
	{"artifact_size", NAME_COLD_ARTIFACT},
};

/* SelfProfilerRef, from just after the M of its impl: the impl's own path, then its type. */
static bool eat_self_profiler(struct cursor *c)
{
	struct word w[3];

	if (eat(c, 's') && !eat_base62(c))
		return false;
	return eat_namespaces(c) == 1 && eat(c, 'C') && eat_identifier(c, &w[0]) &&
	       word_is(w[0], "rustc_data_structures") && eat_identifier(c, &w[1]) &&
	       word_is(w[1], "profiling") && eat_namespaces(c) == 1 && eat(c, 'B') &&
	       eat_base62(c) && eat_identifier(c, &w[2]) && word_is(w[2], "SelfProfilerRef");
}

/* `c` is just after "INvNvM". The closure's function may be generic itself. */
static void match_cold_call(struct cursor c, struct name_info *info)
{
	struct word w[2], method;
	uint32_t nested;

	if (!eat_self_profiler(&c) || !eat_identifier(&c, &w[0]) || !word_is(w[0], "exec") ||
	    !eat_identifier(&c, &w[1]) || !word_is(w[1], "cold_call"))
		return;
	nested = eat_namespaces(&c);
	if (nested == 1 && eat(&c, 'I'))
		nested += eat_namespaces(&c);
	if (nested != 2 || !eat(&c, 'B') || !eat_base62(&c) || !eat_identifier(&c, &method))
		return;
	for (size_t i = 0; i < N_OF(cold_calls); i++) {
		if (word_is(method, cold_calls[i].method))
			info->kind = cold_calls[i].kind;
	}
}

/* Functions by which the compiler itself reads the names of definitions. */
static const struct {
	const char *crate;
	const char *module; /* the innermost, or "" */
	const char *type;
	const char *method;
	enum name_kind kind;
} accessors[] = {
	{"rustc_middle", "context", "TyCtxt", "def_path_table", NAME_DEF_PATH_TABLE},
	{"rustc_middle", "context", "TyCtxt", "def_path", NAME_CONTEXT_DEF_PATH},
	{"rustc_hir", "definitions", "DefPathTable", "enumerated_keys_and_path_hashes",
	 NAME_ENUMERATED_KEYS},
	{"rustc_hir", "definitions", "Definitions", "def_path", NAME_DEF_PATH},
	{"rustc_hir", "definitions", "DefPathData", "name", NAME_DEF_PATH_DATA},
	{"rustc_hir", "definitions", "DisambiguatedDefPathData", "as_sym", NAME_DEF_PATH_SYMBOL},
	{"rustc_span", "symbol", "Symbol", "as_str", NAME_SYMBOL_TEXT},
	{"rustc_span", "source_map", "SourceMap", "lookup_source_file_idx", NAME_FILE_INDEX},
	{"rustc_span", "source_map", "SourceMap", "get_source_file", NAME_FILE_BY_NAME},
	{"rustc_span", "", "FileName", "into_local_path", NAME_LOCAL_PATH},
	{"rustc_span", "", "SourceFile", "lines", NAME_FILE_LINES},
	{"rustc_span", "", "SourceFile", "line_bounds", NAME_LINE_BOUNDS},
	{"rustc_span", "span_encoding", "Span", "data_untracked", NAME_SPAN_DATA},
	{"rustc_middle", "context", "TyCtxt", "def_path_hash", NAME_DEF_PATH_HASH},
	{"rustc_middle", "context", "TyCtxt", "def_path_hash_to_def_id", NAME_HASH_TO_DEF},
	{"rustc_metadata", "creader", "CStore", "from_tcx", NAME_STORE},
	{"rustc_metadata", "creader", "CStore", "get_crate_data", NAME_STORE_CRATE},
};

/* Likewise, of its trait CrateStore. */
static const struct {
	const char *method;
	enum name_kind kind;
} store_accessors[] = {
	{"crate_name", NAME_STORE_CRATE_NAME},
	{"stable_crate_id", NAME_STORE_STABLE_ID},
	{"def_key", NAME_STORE_DEF_KEY},
};

/* `c` is just after "NvM": an impl's own path, its type, the method. */
static void match_accessor(struct cursor c, struct name_info *info)
{
	struct word crate, module = {"", 0}, type, method;
	uint32_t n;

	if (eat(&c, 's') && !eat_base62(&c))
		return;
	n = eat_namespaces(&c);
	if (!eat(&c, 'C') || !eat_identifier(&c, &crate))
		return;
	for (; n; n--)
		if (!eat_identifier(&c, &module))
			return;
	if (eat_namespaces(&c) != 1 || !eat(&c, 'B') || !eat_base62(&c) ||
	    !eat_identifier(&c, &type) || !eat_identifier(&c, &method) || c.p != c.end)
		return;
	for (size_t i = 0; i < N_OF(accessors); i++)
		if (word_is(crate, accessors[i].crate) && word_is(module, accessors[i].module) &&
		    word_is(type, accessors[i].type) && word_is(method, accessors[i].method))
			info->kind = accessors[i].kind;
}

/* `c` is just after the path of the impl. */
static void match_display(struct cursor c, struct name_info *info)
{
	static const char *const trait[] = {"core", "fmt", "Display"};
	struct path path;
	struct word type, w;

	if (eat_namespaces(&c) != 1 || !eat(&c, 'B') || !eat_base62(&c) ||
	    !eat_identifier(&c, &type) || !eat_v0_path(&c, &path) || path.generic ||
	    !path_is(&path, trait, N_OF(trait)) || !eat_identifier(&c, &w) || !word_is(w, "fmt") ||
	    c.p != c.end)
		return;
	if (word_is(type, "DefPathData"))
		info->kind = NAME_DEF_PATH_DISPLAY;
	else if (word_is(type, "DisambiguatedDefPathData"))
		info->kind = NAME_NUMBERED_DISPLAY;
}

/*
 * `c` is just after the path of the impl: the drop of the guard of a query that runs. The type of
 * its key is in the guard's. key_name.h reads it.
 */
static void match_job_guard(struct cursor c, struct name_info *info)
{
	static const char drop[] = "4Drop4drop";
	struct word w;

	if (eat_prefix(&c, "INtB") && eat_base62(&c) && eat_identifier(&c, &w) &&
	    (word_is(w, "ActiveJobGuard") || word_is(w, "JobOwner")) &&
	    memmem(c.p, (size_t)(c.end - c.p), drop, strlen(drop)))
		info->kind = NAME_KEY_GUARD;
}

/* `c` is just after "NvX": an impl's own path, its type, its trait, the method. */
static void match_trait_method(struct cursor c, struct name_info *info)
{
	static const char *const trait[] = {"rustc_session", "cstore", "CrateStore"};
	static const char *const definitions[] = {"rustc_hir", "definitions"};
	struct path path;
	struct word w[3];

	if ((eat(&c, 's') && !eat_base62(&c)) || !eat_v0_path(&c, &path) || path.generic)
		return;
	if (path_is(&path, definitions, N_OF(definitions))) {
		match_display(c, info);
		return;
	}
	if (word_is(path.words[0], "rustc_query_impl") ||
	    word_is(path.words[0], "rustc_query_system"))
		match_job_guard(c, info);
	if (!word_is(path.words[0], "rustc_metadata"))
		return;
	if (eat_namespaces(&c) != 2 || !eat(&c, 'B') || !eat_base62(&c) ||
	    !eat_identifier(&c, &w[0]) || !eat_identifier(&c, &w[1]) || !word_is(w[1], "CStore"))
		return;
	if (!eat_v0_path(&c, &path) || path.generic || !path_is(&path, trait, N_OF(trait)) ||
	    !eat_identifier(&c, &w[2]) || c.p != c.end)
		return;
	for (size_t i = 0; i < N_OF(store_accessors); i++)
		if (word_is(w[2], store_accessors[i].method))
			info->kind = store_accessors[i].kind;
}

/* `c` is just after "INvM": a cache's table of results grows. Their type is in that of its rows. */
static void match_table(struct cursor c, struct name_info *info)
{
	static const char table[] = "9hashbrown3raw", value[] = "10ErasedData",
			  grow[] = "EE14reserve_rehash";
	const char *at = memmem(c.p, (size_t)(c.end - c.p), grow, strlen(grow));

	if (at && memmem(c.p, (size_t)(at - c.p), table, strlen(table)) &&
	    memmem(c.p, (size_t)(at - c.p), value, strlen(value)))
		info->kind = NAME_KEY_TABLE;
}

static void match_v0(struct cursor name, struct name_info *info)
{
	struct cursor c = name;
	struct path path;
	struct word w[2];

	if (eat_prefix(&c, "INvNvM")) {
		match_cold_call(c, info);
	} else if (eat_prefix(&c, "INvM")) {
		match_table(c, info);
	} else if (eat_prefix(&c, "NvNvM")) {
		if (eat_self_profiler(&c) && eat_identifier(&c, &w[0]) &&
		    eat_identifier(&c, &w[1]) && c.p == c.end && word_is(w[0], "query_cache_hit") &&
		    word_is(w[1], "cold_call"))
			info->kind = NAME_COLD_HIT;
	} else if (eat_prefix(&c, "NvM")) {
		match_accessor(c, info);
		if (eat_self_profiler(&c) && eat_identifier(&c, &w[0]) && c.p == c.end &&
		    word_is(w[0], "verbose_generic_activity"))
			info->kind = NAME_TIMER;
	} else if (eat_prefix(&c, "NvX")) {
		match_trait_method(c, info);
	} else if (eat_v0_path(&c, &path) && (path.generic || c.p == c.end)) {
		match_path(&path, c, name.p, info);
	}
}

static void match_legacy(struct cursor *c, struct name_info *info)
{
	struct path path;
	const struct word *w = path.words;

	if (!eat_legacy_path(c, &path))
		return;
	if (path.n > 3 && word_is(w[0], "rustc_data_structures") && word_is(w[1], "profiling") &&
	    word_is(w[2], "SelfProfilerRef")) {
		if (path.n == 5 && word_is(w[3], "exec") && word_is(w[4], "cold_call"))
			info->kind = NAME_COLD_UNKNOWN;
		else if (path.n == 5 && word_is(w[3], "query_cache_hit") &&
			 word_is(w[4], "cold_call"))
			info->kind = NAME_COLD_HIT;
		else if (path.n == 4 && word_is(w[3], "verbose_generic_activity"))
			info->kind = NAME_TIMER;
	} else if (path.n == 3 && word_is(w[0], "core") && word_is(w[1], "ptr")) {
		/* Legacy mangling spells the type out. */
		if (word_is(w[2], "drop_in_place$LT$rustc_data_structures..profiling..TimingGuard"
				  "$GT$") ||
		    word_is(w[2], "drop_in_place$LT$core..option..Option$LT$rustc_data_structures.."
				  "profiling..TimingGuard$GT$$GT$"))
			info->kind = NAME_DROP_GUARD;
		else if (word_is(w[2], "drop_in_place$LT$rustc_data_structures..profiling.."
				       "VerboseTimingGuard$GT$"))
			info->kind = NAME_DROP_TIMER;
	} else {
		match_path(&path, *c, c->p, info);
	}
}

void name_classify(const char *symbol, struct name_info *info)
{
	/* v0 adds no dots of its own; most names are v0 and have none. */
	const char *dot = strchrnul(symbol, '.');
	struct cursor c = {symbol, dot + strlen(dot)};

	*info = (struct name_info){.kind = NAME_OTHER};
	if (eat_prefix(&c, "_R")) {
		match_v0((struct cursor){c.p, dot}, info);
		c.p = dot;
	} else if (eat_prefix(&c, "_ZN")) {
		info->legacy = true;
		match_legacy(&c, info);
	} else if (eat_prefix(&c, "__rust_panic_cleanup")) {
		info->kind = NAME_PANIC_CLEANUP;
	}
	if (info->kind != NAME_OTHER && !eat_suffixes(&c, &info->part))
		*info = (struct name_info){.kind = NAME_OTHER, .legacy = info->legacy};
}

const char *names_looked_for(void)
{
	return "rustc_query_impl::query_impl::<query>::execute_query_{non_incr,incr} "
	       "(or the older get_query_{non_incr,incr}) and try_execute_query";
}
