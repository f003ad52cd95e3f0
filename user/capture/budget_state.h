/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What the files of a budget share: budget.c, which decides and switches, budget_process.c, which
 * keeps count of what was seen of each compiler, and guesses what was not, and budget_guards.c,
 * which leaves out probes that would not be hit.
 */
#ifndef QPROF_CAPTURE_BUDGET_STATE_H
#define QPROF_CAPTURE_BUDGET_STATE_H

#include <time.h>

#include "capture/budget.h"
#include "capture/rates.h"

/*
 * CPU time that a compiler takes longer to start for each site of its copy of the library.
 * Measured: see docs/budget.md.
 */
#define SITE_NS UINT64_C(5500)

/* A query as it is watched now. */
struct watched {
	uint8_t lib;
	uint32_t query; /* of the plan */
	uint32_t set;	/* of the governor */
	bool wrapped;
	bool present; /* there are probes at its starts */
	bool learns;  /* its executions are told, unless it is not watched */
	bool starts;  /* they are attached */
	bool counts;  /* they count, or do nothing */
	enum governor_watch told;
	bool sampled;	    /* counted for a tick, though it is off */
	double rate_before; /* the gap */
	uint64_t gone_ns;   /* when its starts were taken away */
};

struct watched_set {
	uint8_t lib;
	uint32_t set;	 /* of the units */
	bool ends;	 /* attached */
	uint64_t end_ns; /* they are to go then; 0: they are not */
};

/* Of a library; groups are those of guard_groups.h. All zeroes is one without. */
struct watched_guards {
	struct watched_guard *guards; /* as in the plan */
	uint32_t n;
	struct watched_group *groups;
	uint32_t n_groups;
};

struct watched_guard {
	uint32_t group;
	uint8_t kind; /* enum wire_kind */
	bool tells;   /* the first of its kind and label that is asked for */
};

struct watched_group {
	uint8_t kind;	  /* that of its first guard */
	bool unnamed;	  /* labels are told when they happen: none to say that they are not */
	bool incremental; /* only incremental compilers have such intervals */
	bool present;	  /* some of it is asked for */
	bool attached;	  /* for good */
	bool told_off;
};

/* What the command line of a compiler says, or does not exclude. */
struct command_says {
	bool incremental;
	bool threads;
};

/* A compiler. */
struct process {
	pid_t pid;
	clockid_t clock;
	uint64_t cpu_ns;
	uint64_t seen;	   /* executions of queries */
	uint32_t last_id;  /* the greatest invocation id */
	uint8_t lib;	   /* of the last interval that was seen */
	bool has_lib;	   /* there was one */
	bool incremental;  /* or maybe */
	double *gaps;	   /* CPU seconds not watched, by query, since it was last taken away */
	double *estimated; /* executions before that */
};

struct budget {
	struct kernel *kernel;
	struct budget_sink sink;
	struct governor *governor;
	const struct filter *filter; /* or NULL */
	uint64_t budget_ppm;	     /* 0: nothing is governed, only learnt */
	uint64_t hit_ps;
	struct watched *queries;
	uint32_t n_queries;
	struct watched_set *sets;
	uint32_t n_sets;
	struct process *processes;
	uint32_t n_processes;
	uint32_t most_processes;
	uint32_t first_query[WIRE_WATCHED_LIBS]; /* of each library, plus 1; 0: none */
	uint32_t queries_of[WIRE_WATCHED_LIBS];
	struct watched_guards guards[WIRE_WATCHED_LIBS];
	struct command_says some_say;		 /* of any compiler so far */
	struct rates *known[WIRE_WATCHED_LIBS];	 /* from earlier recordings */
	struct rates *learnt[WIRE_WATCHED_LIBS]; /* from this one */
	uint64_t added_ns;			 /* when the last library was */
	bool hides;				 /* queries are executed that nobody tells of */
	bool untold;				 /* what was decided then */
	uint64_t installed_ns;			 /* what the probes took the compilers to start */
	uint64_t cpu_ns;			 /* of all compilers so far */
	uint64_t switched_ns;			 /* that probes came and went took the compilers */
	uint64_t ticked_ns;
};

/* What units__set_starts() and the like returned: an error, or what is to be paid for. */
int budget__pay(struct budget *b, int sites);

/* Tell what was decided when libraries were added: nobody could be told then. */
int budget__tell_foreseen(struct budget *b);

/*
 * Choose which guards of a library are attached, and attach them; those that are not are told of
 * with what is foreseen.
 */
int budget__add_guards(struct budget *b, uint8_t lib, const struct plan *plan);
int budget__tell_foreseen_guards(struct budget *b);

/*
 * A compiler was started with, or has, such a command line: what was left out because of those so
 * far is attached from now on.
 */
int budget__heed(struct budget *b, struct command_says says);
int budget__heed_exec(struct budget *b, const void *record, size_t size);

/* What the arguments of a running process say; those that cannot be read may say anything. */
struct command_says budget_command_of(pid_t pid);

/* An interval of a guard's was seen; a compiler of that library had CPU time while they were
 * watched. */
void budget__note_guard(struct budget *b, const struct wire_span *r);
void budget__learn_guards(struct budget *b, uint8_t lib, double cpu_s);

void budget__free_guards(struct budget *b);

/* The CPU time of the compilers goes on. */
void budget__advance(struct budget *b);

/* Tell what was not seen of those that are left. */
int budget__remove_processes(struct budget *b);

/*
 * Query `i` of the budget is not watched from now on, or is again: what was executed in between is
 * guessed from the rates before and `after`.
 */
void budget__open_gap(struct budget *b, uint32_t i);
void budget__close_gap(struct budget *b, uint32_t i, double after);

#endif /* QPROF_CAPTURE_BUDGET_STATE_H */
