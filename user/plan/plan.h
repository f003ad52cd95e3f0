/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The plan: every probe site of one librustc_driver, what it means, and how its operands are read.
 *
 * Built by reading the file only (symbols, disassembly); knows nothing of BPF or traces.
 * All addresses are ELF virtual addresses; `offset` is the file offset a uprobe wants.
 *
 * To learn how the room user/plan works, read in this order:
 *
 *	plan.h		what a plan holds: this file
 *	build.c		the steps from a library to its plan, from plan__build() at its end upwards
 *	mine/body.h	the code of a query's body, which shows most of its sites
 *	job.c		the plan is taken from a store, or a child process makes it
 *	proof.c		what a site must pass before a breakpoint is written there
 *	frames.h	the queries that a sampled stack shows
 *
 * build.c calls four rooms: symbols/ reads ELF files, code/ reads machine code, mine/ finds sites
 * in it, and recover/ gives names to a library without symbols. library/ finds a library and opens
 * it; codec.c and cache.c store its plan.
 */
#ifndef QPROF_PLAN_PLAN_H
#define QPROF_PLAN_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "plan/symbols/elf_image.h"
#include "plan/symbols/debug_file.h"
#include "qprof/wire.h"

#define PLAN_NONE    UINT32_MAX
#define PLAN_NO_SLOT (-1)
/* Bytes up the stack, and down it: more than any frame has. Of a vtable: 8,191 words. */
#define PLAN_SLOT_MAX	    262136
#define PLAN_SP_DELTA_MAX   16376
#define PLAN_VTABLE_MAX	    32760
#define PLAN_BETWEEN_MAX    PLAN_SP_DELTA_MAX
#define PLAN_BUILD_ID_MAX   ELF_BUILD_ID_MAX
#define PLAN_MASK_DISAGREES UINT64_MAX

/* How the kernel runs this instruction under a breakpoint (x86-64 uprobes). */
enum plan_class {
	PLAN_EMULATED, /* the kernel emulates it: about the cost of a trap */
	PLAN_STEPPED,  /* single-stepped out of line: several traps */
};

struct plan_site {
	uint64_t addr;
	uint64_t offset;
	uint32_t query; /* index into queries, or PLAN_NONE */
	uint32_t body;	/* index into bodies, or PLAN_NONE */
	uint32_t guard; /* index into guards, or PLAN_NONE */
	uint8_t role;	/* enum wire_role */
	uint8_t cls;	/* enum plan_class */
	/*
	 * END: the enum wire_reg that holds the invocation id, or else its offset from sp in bytes.
	 * IDENTIFY, GUARD_QUERY: the same for the query's vtable. REQUEST, GUARD_CALLED: the return
	 * address's offset.
	 */
	uint8_t reg;  /* or WIRE_REG_NONE */
	int32_t slot; /* or PLAN_NO_SLOT */
	/*
	 * IDENTIFY: of the provider's address in the vtable, bytes; or of the query's number. DROP
	 * with `reg`: of the cache of the query that is fed, from what this holds.
	 */
	int32_t vtable_offset;
	/* (sp at the body's sites) - (sp here), bytes; TIMER, TIMER_END: the sp of the function
	 * that calls, so 8 at the first instruction. */
	int32_t sp_delta;
	/*
	 * START, START_BODY, WRAPPER, IDENTIFY: the enum wire_reg that holds the query's key (a
	 * DefId's index, and its crate is in the register of the next argument), or else the key's
	 * offset from sp in bytes. Of what type the key is, the query says.
	 */
	uint8_t key_reg;  /* or WIRE_REG_NONE */
	int32_t key_slot; /* or PLAN_NO_SLOT */
	/* DROP, where a query is fed: holds which result of its VecCache that is, shifted left. */
	uint8_t result_reg; /* or WIRE_REG_NONE */
	uint8_t result_shift;
};

#define PLAN_NO_KEY 0xff

/* An entry of a query's table of active jobs (mine/active_jobs.h). Offsets are bytes. */
struct plan_job_entry {
	uint8_t size; /* 0: not known */
	uint8_t key;  /* or PLAN_NO_KEY */
	uint8_t job;
	uint8_t parent; /* the job around */
};

/* Where a compiler keeps the queries that run. */
struct plan_jobs {
	uint32_t current; /* within a thread's ImplicitCtxt: the job that the thread executes */
	uint8_t ctrl;	  /* within a hash table: the address of its control bytes */
	uint8_t mask;	  /* likewise: the number of its buckets less 1 */
	bool known;
	char *problem; /* why they are unknown, or NULL */
};

/* One query: where it is requested, where its provider starts. An absent address is 0. */
struct plan_query {
	char *name;
	uint64_t wrapper_non_incr;
	uint64_t wrapper_incr;
	uint64_t provider;
	uint64_t provider_caller; /* the vtable has its address instead; 0: the provider's own */
	uint32_t body_non_incr;	  /* index into bodies, or PLAN_NONE */
	uint32_t body_incr;
	/* By which its vtable shows it (recover/recovered.h); 0: its provider's address does.
	 */
	uint32_t number;
	char *key_type; /* its key's, in rustc's sources, paths without modules; NULL: unknown */
	uint8_t key;	/* enum wire_key */
	bool key_by_address; /* its provider is given the address of a key of another type */
	struct wire_memory_key memory; /* of a WIRE_KEY_MEMORY, and of a key_by_address */
	struct plan_job_entry active;  /* of its jobs while they run */
	uint8_t start_role; /* enum wire_role of the sites that see its start, 0 if none do */
	uint32_t n_start;   /* sites that see its start, in both modes together */
	uint32_t n_end;	    /* end sites of its bodies */
	uint32_t n_request; /* wrappers whose entry is probed for the caller */
	bool start_exact;   /* starts are seen in both modes */
	bool end_exact; /* every normal return of its provider meets an end site, in both modes */
	bool has_id;	/* every one of its end sites knows the invocation id */
	bool stays;	/* its provider has a frame while it calls other functions */
	bool never_loaded;	       /* no result of it comes from the disk (mine/loads.h) */
	struct wire_query_table table; /* of its results; `kind` is 0: not known */
	char *table_problem;	       /* why it is not known, or NULL */
	char *result_keys_problem;     /* why those of a hash table are not, or NULL */
};

/* One body of try_execute_query: the function that calls providers. Shared by many queries. */
struct plan_body {
	uint64_t addr;
	uint32_t n_queries;
	uint32_t n_symbols; /* symbols at this address: > 1 where identical code was folded */
	uint32_t n_ends;
	uint32_t group; /* bodies that serve the same queries share one */
	/* 1 + the index of a body that executes queries for this one (mine/between.h), or 0. */
	uint32_t outlined;
	/*
	 * Bytes from its sp down to that of a function which it calls, and which calls the provider
	 * (mine/between.h); of several, the most. 0: it calls all providers itself.
	 */
	uint32_t between;
	bool incremental;
	char *problem; /* why its ends could not be mined, or NULL */
};

/*
 * A place where rustc's self-profiler would record an interval that is no execution of a query: a
 * guard object is made there if its kind of event is enabled, and dropped at the interval's end.
 */
struct plan_guard {
	char *function; /* the one it stands in, demangled */
	char *label;	/* the static label, or NULL: a dynamic one, read at the probe */
	uint32_t scope; /* number of its function; that of a body is its group */
	uint32_t body;	/* index into bodies, if it stands in one, or PLAN_NONE */
	uint8_t kind;	/* enum wire_kind, not WIRE_KIND_QUERY */
	/* Within its scope, from 1. Guards that share an end site share a number. */
	uint8_t number;
	/* The label's address and length: bytes above sp at its start; or PLAN_NO_SLOT. */
	int32_t label_slot;
	/* BLOCKED and LOAD: its label is that of the query which the site names. HASHING: that of
	 * the query that it runs in. */
	bool label_of_query;
	uint32_t n_end;		   /* end sites */
	bool exact;		   /* every normal way from its start meets an end site */
	char *problem;		   /* why the ends are not exact, or NULL */
	bool has_argument;	   /* its event has one in rustc's profiles */
	struct wire_source source; /* where that is; all zeroes: not known */
};

/* Which compilers execute a guard, and so which have to have its breakpoints. */
enum plan_part {
	PLAN_PART_ALWAYS,
	PLAN_PART_THREADS,     /* those with several threads, which wait for each other */
	PLAN_PART_INCREMENTAL, /* those with a dependency graph: with -C incremental */
	PLAN_PARTS,
};

#define PLAN_PART_BIT(part) (UINT32_C(1) << (part))
/* All but PLAN_PART_ALWAYS. */
#define PLAN_PARTS_OPTIONAL (PLAN_PART_BIT(PLAN_PARTS) - 1 - PLAN_PART_BIT(PLAN_PART_ALWAYS))

/*
 * One step of the search that a GUARD_CALLED site makes up the stack: the return address `addr`
 * leads to the next one, or to the query's body. Slots are bytes above sp at the site.
 */
struct plan_step {
	uint64_t addr;
	uint32_t guard;
	uint32_t body; /* `addr` lies in this body; PLAN_NONE: `slot` has the next return address */
	uint8_t reg;   /* of the vtable, or WIRE_REG_NONE */
	int32_t slot;
	int32_t vtable_offset; /* as of a site */
};

/* The state of a thread, as the part of the code that it is in shows it. */
enum plan_frame_kind {
	PLAN_FRAME_WRAPPER,  /* of query `of`: its body was called */
	PLAN_FRAME_PROVIDER, /* of query `of` */
	PLAN_FRAME_BODY,     /* body `of`, where no query runs */
	PLAN_FRAME_RUNS,     /* body `of`, where one of its queries runs */
	PLAN_FRAME_CALLS,    /* the same, in a call of the provider of query `of` */
	PLAN_FRAME_GUARD,    /* between guard `of`'s start and its ends */
	PLAN_FRAME_KINDS,
};

/*
 * A part of the code. Of functions that were folded into one, `of` is any. The innermost pc of a
 * stack lies in it as it is, a return address less 1: it belongs to the call before it.
 */
struct plan_frame {
	uint64_t addr;
	uint32_t size;
	uint32_t of;
	uint8_t kind;
};

/* Offsets in structs of the compiler, and the numbers of symbols that tags stand for, are below
 * this. */
#define PLAN_LAYOUT_MAX (1u << 20)

/*
 * How names of definitions are read from the memory of a compiler of this library. All that a probe
 * needs is in `wire`, whose `size` is 0 if anything is unknown. Offsets are bytes.
 */
struct plan_layout {
	struct wire_layout wire;
	uint32_t disambiguator; /* within a definition */
	uint32_t parent;	/* within a definition: the index of its parent */
	uint32_t no_parent;	/* that of a crate's root */
	uint32_t root;		/* tag of a crate's root, which has the crate's name */
	uint32_t plain;		/* bit 1 << tag: the tag's symbol is printed without braces */
	char *problem;		/* why it is unknown, or NULL */
	char *crates_problem;	/* likewise of wire.crates, if the rest is known */
	char *current_problem;	/* why wire.current is unknown, or NULL */
	char *places_problem;	/* likewise of wire.places */
	char *calls_problem;	/* likewise of wire.calls */
};

struct debug_file;
struct library_file;
struct plan_hits;

/* The file of results that an incremental compiler maps, and that it may load. */
#define PLAN_OLD_RESULTS "query-cache.bin"

struct plan {
	struct library_file *file; /* the file it was made from, or NULL; the plan's reference */
	uint8_t build_id[PLAN_BUILD_ID_MAX];
	uint32_t build_id_len;
	char *path;		    /* the file's path, for people; never NULL */
	char *rustc_version;	    /* from .comment or the symbols, or NULL */
	char *mangling;		    /* "v0" or "legacy" */
	uint8_t symbols;	    /* enum symbol_source */
	char *symbols_file;	    /* the debug file, for people; NULL: the library itself */
	struct plan_query *queries; /* sorted by name */
	uint32_t n_queries;
	struct plan_body *bodies;
	uint32_t n_bodies;
	struct plan_guard *guards; /* by function and address */
	uint32_t n_guards;
	uint32_t n_artifacts;	 /* places where a size would be recorded: no interval, no guard */
	struct plan_step *steps; /* the steps of one guard follow one another */
	uint32_t n_steps;
	struct plan_frame *frames; /* by address, not overlapping */
	uint32_t n_frames;
	/* PLAN_FRAME_GUARD only: by address; equal ranges have the outer guard first. */
	struct plan_frame *guard_frames;
	uint32_t n_guard_frames;
	struct plan_site *sites; /* sorted by (role, addr) */
	uint32_t n_sites;
	uint32_t sites_capacity; /* only while the plan is made */
	uint32_t code_crc;	 /* see plan_code_crc() */
	/* Displacement of the event filter mask; 0 if unknown, or PLAN_MASK_DISAGREES. */
	uint64_t mask_disp;
	struct plan_layout layout;
	struct plan_jobs jobs;
	struct wire_expansions expansions; /* `size` is 0: not known */
	char *expansions_problem;	   /* why they are unknown, or NULL */
	char *keys_problem;	   /* why definitions in keys in memory are not found, or NULL */
	struct wire_tables tables; /* of the results of queries; `n` is 0: not known */
	char *tables_problem;	   /* why they are unknown, or NULL */
	bool names_old_results;	   /* its text has PLAN_OLD_RESULTS */
	char *feeds_problem;	   /* why not all sites that feed queries are, or NULL */
	struct plan_hits *hits;	   /* NULL: not looked for. They are not stored with the plan. */
	uint32_t refs;		   /* beside the first one */
};

/*
 * Make the plan of a librustc_driver, which it maps: see elf_image__map(). `debug` may be NULL; see
 * debug_symbols__map().
 * Returns 0 and a plan the caller frees, or a negative errno after one diag_error line:
 * -ENOEXEC (not an ELF file for this machine, or damaged),
 * -ENODATA (no symbol table), -ENOTSUP (no rustc queries under any name we know, or more of
 * something than the probes can carry).
 */
int plan__build(struct library_file *file, struct debug_file *debug, struct plan **out);

/*
 * As plan__build() with the debug file that is found, but from a store (cache.h) if that has the
 * plan, and otherwise made by a child process: truncating the file meanwhile ends only the child.
 * All sites are proven (proof.h): -EBADMSG if they cannot be. -EIO the child died.
 */
int plan__load(struct library_file *file, struct plan **out);

/* As plan__load(), but the plan is made, and stored. */
int plan__make(struct library_file *file, struct plan **out);

/* One more reference, for a part of this thread's work that outlives the owner's. */
struct plan *plan__ref(const struct plan *plan);

/* Give back one reference; the last one frees it. */
void plan__free(struct plan *plan);
DEFINE_CLEANUP(struct plan, plan__free)
#define _plan_ __cleanup(plan__free_p)

/* Index of the body at an ELF address, or PLAN_NONE; folded twins share one. */
uint32_t plan__body_at(const struct plan *plan, uint64_t addr);
/* The body that executes queries for `body`, which may be PLAN_NONE; or PLAN_NONE. */
uint32_t plan__outlined(const struct plan *plan, uint32_t body);
/* True if the vtables of this body's queries have numbers, by which they are told apart. */
bool plan__has_numbers(const struct plan *plan, uint32_t body);
/* True if executions of query `q` are in this body. */
bool plan__serves(const struct plan *plan, const struct plan_query *q, uint32_t body);
/* Sites that only a recording with callers attaches to. */
uint32_t plan__requests(const struct plan *plan);
/* True if its key names a definition or a crate. */
bool plan_query__names(const struct plan_query *q);
/* Which results of a query may be fed: come from another query, without an execution. */
enum plan_fed {
	PLAN_FED_NOT,
	PLAN_FED_LOCAL,	  /* all of the crate that is compiled, and no others */
	PLAN_FED_SOME,	  /* some of the crate that is compiled, perhaps */
	PLAN_FED_SEEN,	  /* likewise, and each is seen by a site */
	PLAN_FED_UNKNOWN, /* its table is not known */
};

enum plan_fed plan_query__fed(const struct plan *plan, const struct plan_query *q);
/* True if a query is fed with each definition: no site sees it. */
bool plan_query__is_fed_always(const struct plan_query *q);
/* True if a query is fed at the site, which has the role WIRE_ROLE_DROP. */
bool plan_site__feeds(const struct plan_site *s);
/* Whether this may be the vtable_offset of such a site. */
bool plan_site__feed_fits(int64_t offset);
/*
 * The keys of its results about the crate's own definitions can be read: these are in a VecCache,
 * by their numbers, or in a hash table whose entries are known.
 */
bool plan_query__has_keys(const struct plan_query *q);
/* Its key is exactly an Instance: a function with its generic arguments. */
bool plan_query__of_instances(const struct plan_query *q);
/* And its results are the symbols of these. */
bool plan_query__has_symbols(const struct plan_query *q);
/* The number of queries whose table of results is known. */
uint32_t plan__tables(const struct plan *plan);
/* The number of the n_start sites of query `i` at which its key can be read. */
uint32_t plan__key_sites(const struct plan *plan, uint32_t i);
/* Number of its wrappers; n_request of them are probed for callers. */
uint32_t plan_query__wrappers(const struct plan_query *q);

enum plan_part plan_guard__part(const struct plan_guard *g);

/* True if a query's start may be seen at it. */
bool plan_site__is_start(const struct plan_site *site);
/* True if the query's key can be read at it. */
bool plan_site__has_key(const struct plan_site *site);

/* Where its symbols come from, as part of a sentence: "the library". */
const char *plan_symbols_name(enum symbol_source source);
const char *plan_role_name(enum wire_role role);
/* The same of a site; "feed" where a query is fed, though its program is that of the role "drop".
 */
const char *plan_site__role_name(const struct plan_site *s);
/* As rustc's profiles name the kind of event. */
const char *plan_kind_name(enum wire_kind kind);
/* The type in rustc's sources; NULL if it is unknown. */
const char *plan_key_name(enum wire_key key);
/* The type in rustc's sources; NULL if it is unknown. */
const char *plan_cache_name(enum wire_cache kind);
const char *plan_reg_name(enum wire_reg reg);

/* How a definition is printed, by what a compiler's table has of it. */

/* The longest text of a symbol, with braces and a number. */
#define DEFINITION_SEGMENT_MAX (WIRE_SYMBOL_MAX + 32)

/* An entry of the table. */
struct definition {
	uint32_t tag;
	uint32_t symbol;
	uint32_t disambiguator;
	uint32_t parent; /* its index, or that of no definition */
};

/* `bytes` has l->wire.size of them. */
struct definition definition__read(const struct plan_layout *l, const uint8_t *bytes);

/* The symbol that names it, or WIRE_TAG_UNKNOWN. */
uint32_t definition__symbol(const struct plan_layout *l, const struct definition *d);

/* As rustc prints it behind the path of its parent; `text` is that of its symbol. */
void definition__segment(const struct plan_layout *l, const struct definition *d, const char *text,
			 char out[DEFINITION_SEGMENT_MAX]);

#endif /* QPROF_PLAN_PLAN_H */
