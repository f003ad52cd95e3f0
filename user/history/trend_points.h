/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The data of a trend (history/trend.h). */
#ifndef QPROF_HISTORY_TREND_POINTS_H
#define QPROF_HISTORY_TREND_POINTS_H

#include "history/questions.h"

/* Smaller changes, as ratios, are no news: of counts, which are certain, and of what has noise. */
#define TREND_LEAST_OF_COUNTS 0.002
#define TREND_LEAST_OF_OTHERS 0.01

enum trend_metric {
	TREND_CPU,     /* ns; of whole builds and crates without what recording added */
	TREND_WALL,    /* ns */
	TREND_COUNT,   /* executions of queries; exact */
	TREND_RESULTS, /* of queries, of whole builds and crates; exact */
	TREND_MEMORY,  /* bytes: the peak of one compiler */
	TREND_METRICS,
};

struct trend_question {
	struct history_series of;
	enum trend_metric metric;
	struct history_filter filter; /* `state` is not used: only whole builds count */
};

/* Why a point is in the list and yet not among those in which changes are looked for. */
enum trend_reason {
	TREND_COUNTED,	  /* it is */
	TREND_NO_VALUE,	  /* not known of that build */
	TREND_LOST,	  /* records were lost, so numbers are too low */
	TREND_FAILED,	  /* more compiles failed than usual, or the crate's did */
	TREND_OTHER_WORK, /* far fewer or more compiles than usual, or another kind of build: an
			     incremental one among clean ones */
	TREND_OTHER_KIND, /* too few builds of its profile; of times also of its host, or recorded
			     as it was */
	TREND_OTHER_QUERIES, /* executions of queries that cannot be made those that others count */
	TREND_REASONS,
};

/* One build. Points of one commit follow each other, commits are in the order of first builds. */
struct trend_point {
	const struct history_build *build; /* commit, branch, start, label, host, toolchain... */
	uint64_t value;			   /* in the metric's unit, or HISTORY_UNKNOWN */
	const char *how;		   /* "exact", "sampled"; or NULL */
	bool begins;			   /* it is the first of its commit, or has none */
	enum trend_reason reason;
	uint32_t group; /* builds of other groups are not comparable; from 0 */
};

/* The level of the points of one group changed; of these the counted ones have the levels. */
struct trend_change {
	size_t point;  /* the first build of the new level: its commit made the change... */
	size_t former; /* ...or one after this, the last build of the former level */
	double before; /* means of the levels, in the metric's unit */
	double after;
	double change;	   /* as a ratio: 0.03 is 3 % more; infinite from 0 */
	double confidence; /* 0 to 1; exact counts: 1 */
	bool toolchain;	   /* the toolchains of `former` and `point` differ */
};

/* The builds that trends are of. */
struct trend_builds {
	struct history_builds list; /* whole ones, the oldest first */
	uint64_t not_whole;	    /* further ones that are unfinished, damaged or parts */
	char *workspace; /* that of the newest build; NULL: the user chose one, or none */
	bool elsewhere;	 /* there are builds of other workspaces */
};

struct trend {
	struct trend_question question; /* its texts are the caller's */
	bool exact;			/* without noise: counts and results */
	struct trend_point *points;	/* the oldest first */
	size_t n;
	struct trend_change *changes; /* the oldest first */
	size_t n_changes;
	uint32_t capacity;
	uint32_t n_groups;
	size_t reasons[TREND_REASONS]; /* points of each */
	size_t absent;		       /* builds without the crate, query or item: no points */
	size_t n_builds;	       /* with or without a point */
	uint64_t not_whole;	       /* further builds, which are not whole: no points */
	double least;		       /* smaller changes, as a ratio, are none */
	char *uncounted; /* queries whose executions are in no value, as history_build's; or NULL */
	/* Sentences without a period: what was left out, and how numbers were made comparable. */
	char *notes[TREND_REASONS + 8];
	size_t n_notes;
	struct trend_builds own; /* what points refer to, if it is of no other trend */
};

/* ---- Its parts, for history/trend.c ---- */

/* A group of fewer points has no statistics of its own. */
#define TREND_KINDS_LEAST 6

/*
 * Set the reasons and groups of points that are TREND_COUNTED or TREND_FAILED so far, and add notes
 * to the trend. Points are of one group if they are of one profile, and of times if they ran on one
 * host and were recorded alike. If most of the builds ran on hosts that have too few of them, hosts
 * with the same number of CPUs are one. Toolchains make groups if they take turns, as in a CI that
 * builds each commit by several; a new toolchain that stays is a change like others. -ENOMEM.
 */
int trend_kinds__sort_out(struct trend *t);

/* Add a note of printf's; -ENOMEM. */
int trend__note(struct trend *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * Make the executions of builds, or of a crate, those of the queries that all counted points count;
 * their names are t->uncounted, in a note. Where an uncounted query of a point is not among these,
 * its value becomes unknown. 0, or a negative errno after a line.
 */
int trend_counted__level(struct store *s, struct trend *t);

#endif /* QPROF_HISTORY_TREND_POINTS_H */
