/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The table of libraries: which stage each one is in, whose quota it counts to, which plan is made
 * next, and which library makes room for another. It decides and changes nothing outside itself:
 * capture/libraries.h makes plans, attaches and detaches.
 */
#ifndef QPROF_CAPTURE_LIBRARY_TABLE_H
#define QPROF_CAPTURE_LIBRARY_TABLE_H

#include "capture/retired_numbers.h"
#include "plan/job.h"

/* Libraries of a foreign user at a time. */
#define LIBRARIES_PER_USER 16
/* Plans that are made at a time; of all foreign users' libraries one. */
#define LIBRARIES_PLANNERS 2

/* The progress of a library. */
struct library_state {
	bool planned;		      /* and attached to, or failed; else it is being planned */
	int err;		      /* why it could not be attached to, or 0 */
	uint64_t attached_ns;	      /* CLOCK_MONOTONIC; its probes were there from then on */
	uint64_t part_ns[PLAN_PARTS]; /* likewise of each optional part; 0: it is not there */
};

/* Of `parts`, those whose probes a process that maps the library at `time_ns` does not hit. */
static inline uint32_t library_state__lacks(const struct library_state *lib, uint32_t parts,
					    uint64_t time_ns)
{
	for (enum plan_part part = 0; part < PLAN_PARTS; part++)
		if (lib->part_ns[part] && lib->part_ns[part] < time_ns)
			parts &= ~PLAN_PART_BIT(part);
	return parts;
}

/* All of its probes were there from this time on; 0: they are not. */
static inline void library_state__set_all(struct library_state *lib, uint64_t time_ns)
{
	lib->attached_ns = time_ns;
	for (enum plan_part part = 0; part < PLAN_PARTS; part++)
		lib->part_ns[part] = time_ns;
}

enum library_stage {
	LIBRARY_QUEUED,
	LIBRARY_PLANNING,
	LIBRARY_ATTACHED,
	LIBRARY_FAILED,
};

/* capture/libraries.c owns everything that a library points to. */
struct library {
	enum library_stage stage;
	struct library_file *file; /* NULL: it failed */
	struct library_identity id;
	uint64_t inode;	     /* see struct libraries_ops; the open file keeps it */
	uid_t user;	     /* its quota counts this library */
	bool foreign;	     /* the user is neither root nor the invoker */
	struct plan *plan;   /* LIBRARY_ATTACHED */
	unsigned int checks; /* how often the plan was proven again since */
	int watch;	     /* of file_watch; or negative */
	uint64_t rank;	     /* among queued libraries the lowest rank is next */
	uint64_t begin_ns;   /* its plan begins no earlier, or began then */
	uint64_t used_ns;    /* the last request for it */
	bool in_use;	     /* at the last scan */
	unsigned int tries;  /* plans of it that were not finished */
	struct plan_job *job;
	uint8_t number;
	int part_err[PLAN_PARTS]; /* why it could not be attached, or 0 */
	struct library_state state;
};

struct library_table {
	struct library **items; /* each one is an allocation of its own, and stays in place */
	uint32_t n;
	uint32_t capacity;
	uint64_t rank; /* of the plan that was begun last */
};

void library_table__destroy(struct library_table *t);

/* Add a copy of `new` to the table, at the end of its user's queue. -ENOMEM. */
int library_table__add(struct library_table *t, const struct library *new, struct library **out);

/* Remove and free a library. The caller has freed everything that it points to. */
void library_table__remove(struct library_table *t, struct library *lib);

/* `inode` is the file's by struct libraries_ops, or 0. */
bool library__is_file(const struct library *lib, const struct library_file *file, uint64_t inode);
struct library *library_table__find(const struct library_table *t, const struct library_file *file,
				    uint64_t inode);

/* An attached library has the inode of `lib`: an overlay showed the same file twice. */
bool library_table__is_probed(const struct library_table *t, const struct library *lib);

/* Libraries in a stage that have the same user as `of`; NULL: of all users. */
unsigned int library_table__count(const struct library_table *t, enum library_stage stage,
				  const struct library *of);

/* The quota of the user of `lib`, with `n_old` numbers that are not free again yet, has room. */
bool library_table__has_room(const struct library_table *t, const struct library *lib,
			     uint32_t n_old);

/*
 * The library to detach for `of`: attached, not in use, unused for longest. It has the same user;
 * if all foreign users together leave no room, any foreign user. NULL: there is none.
 */
struct library *library_table__idlest(const struct library_table *t, const struct library *of);

/* The failed library to forget now that `of` has failed; NULL: all can be remembered. */
struct library *library_table__oldest_failed(const struct library_table *t,
					     const struct library *of);

/*
 * The library to plan next, or NULL: users take turns. All foreign users together have one planner,
 * so there is always one for root and the invoker.
 */
struct library *library_table__next(const struct library_table *t,
				    const struct retired_numbers *old, uint64_t now_ns);

/* The foreign library that is being planned while one of another foreign user waits, or NULL. */
struct library *library_table__waited_for(const struct library_table *t,
					  const struct retired_numbers *old, uint64_t now_ns);

/* Its plan is given up for now: LIBRARY_QUEUED, behind those that wait. */
void library_table__requeue(struct library_table *t, struct library *lib);

/* The plan of `lib` begins: LIBRARY_PLANNING. Later ones of other users rank behind it. */
void library_table__begin(struct library_table *t, struct library *lib);

#endif /* QPROF_CAPTURE_LIBRARY_TABLE_H */
