/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Recognizes rustc's symbols, in all supported versions: the code that depends on the spelling of
 * functions in rustc's sources. Only mine/load_callers.c spells out one more module.
 */
#ifndef QPROF_PLAN_SYMBOLS_NAMES_H
#define QPROF_PLAN_SYMBOLS_NAMES_H

#include <stdbool.h>
#include <stddef.h>

enum name_kind {
	NAME_OTHER,
	NAME_WRAPPER_NON_INCR, /* query_impl::<q>::execute_query_non_incr / get_query_non_incr */
	NAME_WRAPPER_INCR,
	NAME_PROVIDER,	    /* query_impl::<q>::invoke_provider_fn::__rust_begin_short_backtrace */
	NAME_BODY_NON_INCR, /* try_execute_query::<.., false> */
	NAME_BODY_INCR,	    /* try_execute_query::<.., true> */
	NAME_KEY_WITNESS,   /* outline::<..::with_task::<(&QueryVTable<cache>, key), ..>> */
	NAME_KEY_GUARD,	    /* <ActiveJobGuard<key> as Drop>::drop, before 1.95 JobOwner's */
	NAME_KEY_TABLE,	    /* RawTable<(key, (value, DepNodeIndex))>::reserve_rehash::<..> */
	NAME_COLD_PROVIDER, /* SelfProfilerRef::exec::cold_call::<..query_provider..> */
	/* The same for guards of other events. */
	NAME_COLD_ACTIVITY, /* generic_activity and its variants with arguments */
	NAME_COLD_BLOCKED,
	NAME_COLD_LOAD,
	NAME_COLD_HASHING,
	NAME_COLD_ARTIFACT, /* artifact_size: records no interval */
	NAME_COLD_HIT,	    /* SelfProfilerRef::query_cache_hit::cold_call: no guard */
	NAME_COLD_UNKNOWN,  /* exec::cold_call of an unknown event: legacy mangling */
	NAME_PANIC_CLEANUP, /* __rust_panic_cleanup */
	NAME_DROP_GUARD,    /* drop_in_place::<TimingGuard> or drop_glue, or of an Option */
	NAME_DROP_TIMER,    /* the same of a VerboseTimingGuard */
	NAME_TIMER,	    /* SelfProfilerRef::verbose_generic_activity */
	/* Functions whose code shows where names of definitions are: */
	NAME_QUERY_STRINGS,    /* profiling_support::alloc_self_profile_query_strings */
	NAME_DROP_CONTEXT,     /* drop_in_place::<OnceLock<GlobalCtxt>> or drop_glue */
	NAME_DEF_PATH_TABLE,   /* TyCtxt::def_path_table */
	NAME_ENUMERATED_KEYS,  /* DefPathTable::enumerated_keys_and_path_hashes */
	NAME_DEF_PATH,	       /* Definitions::def_path */
	NAME_CONTEXT_DEF_PATH, /* TyCtxt::def_path, which calls that */
	NAME_DEF_PATH_DATA,    /* DefPathData::name */
	NAME_DEF_PATH_SYMBOL,  /* DisambiguatedDefPathData::as_sym, which uses that */
	NAME_DEF_PATH_DISPLAY, /* <DefPathData as Display>::fmt, which does, too */
	NAME_NUMBERED_DISPLAY, /* <DisambiguatedDefPathData as Display>::fmt, likewise */
	NAME_SYMBOL_TEXT,      /* Symbol::as_str */
	/* The same of other crates' definitions. */
	NAME_DEF_PATH_HASH,    /* TyCtxt::def_path_hash */
	NAME_HASH_TO_DEF,      /* TyCtxt::def_path_hash_to_def_id, where there is no such */
	NAME_STORE,	       /* CStore::from_tcx */
	NAME_STORE_CRATE,      /* CStore::get_crate_data */
	NAME_STORE_CRATE_NAME, /* <CStore as CrateStore>::crate_name */
	NAME_STORE_STABLE_ID,  /* <CStore as CrateStore>::stable_crate_id */
	NAME_STORE_DEF_KEY,    /* <CStore as CrateStore>::def_key */
	/* Functions whose code shows where a thread keeps its current query context: */
	NAME_DEF_ID_DEBUG,   /* rustc_interface::callbacks::def_id_debug */
	NAME_TRACK_PARENT,   /* rustc_interface::callbacks::track_span_parent */
	NAME_DEP_KIND_DEBUG, /* rustc_interface::callbacks::dep_kind_debug */
	NAME_DEP_NODE_DEBUG, /* rustc_interface::callbacks::dep_node_debug */
	/* The same for the places of definitions: */
	NAME_SOURCE_MAP,   /* source_map::get_source_map */
	NAME_FILE_INDEX,   /* SourceMap::lookup_source_file_idx */
	NAME_FILE_BY_NAME, /* SourceMap::get_source_file */
	NAME_LOCAL_PATH,   /* FileName::into_local_path */
	NAME_FILE_LINES,   /* SourceFile::lines */
	NAME_LINE_BOUNDS,  /* SourceFile::line_bounds */
	NAME_SPAN_DATA,	   /* Span::data_untracked */
	NAME_SOURCE_SPAN,  /* rustc_interface::passes::source_span: what the provider calls */
	NAME_BODY_UNKNOWN, /* try_execute_query, mode unknown: legacy mangling */
};

enum name_part { NAME_PART_ENTRY, NAME_PART_COLD, NAME_PART_WARM }; /* BOLT's and LLVM's splits */

struct name_info {
	enum name_kind kind;
	enum name_part part;
	bool legacy;	   /* legacy mangling (_ZN...E), not v0 */
	const char *query; /* for wrappers and providers: inside `symbol`, not NUL-terminated */
	size_t query_len;
};

/*
 * Classify one mangled symbol. Cheap for the 99 % that are NAME_OTHER (no demangling, no
 * allocation). Closures and helper instances nested inside a function are NAME_OTHER, not the
 * function.
 *
 * Legacy mangling leaves out generic arguments: bodies are NAME_BODY_UNKNOWN there, cold calls
 * NAME_COLD_UNKNOWN, and the providers of compilers before `invoke_provider_fn`, instances of one
 * generic function, are NAME_OTHER, because their query is nameless. v0 names contain both.
 */
void name_classify(const char *symbol, struct name_info *info);

/* The names that are searched for, for the error message when a library has none of them. */
const char *names_looked_for(void);

#endif /* QPROF_PLAN_SYMBOLS_NAMES_H */
