/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The columns of a table, described once, by a function that has a row for each of them:
 *
 *	static void crate_columns(struct columns *c, const struct crate *crate)
 *	{
 *		NAME(c, "name", "crate", crate->name, "package, target and tool");
 *		NUMBER(c, NS, "wall_ns", "wall", crate->wall_ns, "of the compiler");
 *		KNOWN(c, BYTES, "peak_bytes", WIDE(c, "peak"), crate->peak, crate->peak,
 *		      "the most resident memory; null: unknown");
 *	}
 *
 * A row has the member of the JSON document (NULL: none), the title of the table (NULL: no column
 * there), the value, and what --schema, docs/report.md and the page's tooltips say of it. JSON,
 * --schema, text, Markdown and the page's tables are made by calling the function: with the rows of
 * the table, and for --schema and for the titles without one. A value is an expression that is
 * evaluated only if there is a row.
 *
 *	struct columns c = {.to = COLUMNS_TEXT, .out = out};
 *
 *	EACH_ROW(&c, i, n)
 *		crate_columns(&c, ROW(&c, &crates[i]));
 *	return c.err;
 */
#ifndef QPROF_VIEW_COLUMNS_H
#define QPROF_VIEW_COLUMNS_H

#include <stdbool.h>
#include <stdint.h>

#include "view/json.h"
#include "view/table.h"

/* What a value is in, or of which sort it is. */
enum column_unit {
	UNIT_NS,
	UNIT_BYTES,
	UNIT_COUNT,
	UNIT_PS,
	UNIT_PPM,
	UNIT_PERCENT,
	UNIT_SHARE,
	UNIT_ID, /* printed with every digit */
	UNIT_TEXT,
	UNIT_BOOL,
	UNIT_LIST,
	UNIT_OBJECT,
	UNIT_METRIC, /* in the unit of what is compared */
	UNIT_RATIO,
	UNIT_BUILDS,
	UNIT_NONE,
	UNITS,
};

/* The unit of that name, "ns"; UNIT_NONE if there is none. */
enum column_unit column_unit_of(const char *name);

enum columns_to {
	COLUMNS_TEXT,
	COLUMNS_MARKDOWN,
	COLUMNS_JSON,
	/*
	 * JSON for the page of `export -f html`: in lists of the document, columns without a member
	 * are "@TITLE", and "~KEY" is the mark of a number. Behind a list, "@LIST" describes the
	 * columns with a title: [key, title, unit, help, whole of its percents].
	 */
	COLUMNS_PAGE,
	COLUMNS_SCHEMA,
	COLUMNS_DEFINITIONS, /* of JSON schema: the text of a column is its type there */
};

#define COLUMNS_MOST 24 /* in a table */

struct columns {
	enum columns_to to;
	FILE *out;
	int err;       /* the first; nothing is printed after it */
	bool one_line; /* of JSON */
	/* Of a table of text. */
	bool wide;	/* all columns and whole names */
	bool name_last; /* the functions of view/table.h with these names */
	bool cut_beginnings;
	size_t keep_of_name;
	size_t least_of_name; /* minimum widths; of numbers of times and counts */
	size_t least_of_numbers;
	bool keeps_table;	  /* the caller prints and frees `table` */
	const char *const *spare; /* titles, the last is NULL */
	size_t width;		  /* columns of a line; 0: unlimited */
	const char *option;	  /* shows columns that do not fit; NULL: report --wide */
	const char *indent;	  /* before each line; NULL: nothing */
	/* Private. */
	bool describes;	       /* there is no row: see ROW() */
	bool first;	       /* no member of the object yet */
	unsigned int lists;    /* that are open */
	enum column_unit unit; /* of the column that is asked for */
	const char *key;
	bool is_name;
	char path[128]; /* of the object, for the schema */
	/* Of a definition: the next member may be missing; the others; no member is added later. */
	bool optional;
	char required[512];
	bool closed;
	size_t n_fields; /* of the schema */
	struct table_column titles[COLUMNS_MOST];
	enum column_unit units[COLUMNS_MOST];
	size_t n;
	struct table *table;
	/* Of a page. */
	struct column_of_page {
		char key[32]; /* in the rows */
		const char *help;
		uint64_t whole; /* of which its values are parts; 0: none */
	} of_page[COLUMNS_MOST];
	const char *list; /* that has them */
	char title_key[32];
};

/*
 * A document of JSON, or its schema, "qprof-fields/1": each field and its unit. Everything between
 * is columns and lists of it.
 */
void columns__begin(struct columns *c, const char *schema, const char *help);
/* 0 or a negative errno. */
int columns__end(struct columns *c);

/*
 * A document that is a line, or the definition `name` of such lines, all of which have this
 * constant; NULL: none.
 */
void columns__begin_line(struct columns *c, const char *name, const char *key, const char *value);
/* 0 or a negative errno. */
int columns__end_line(struct columns *c);

/* The value in `expression`; NULL where columns are only described. */
#define ROW(c, expression) ((c)->describes ? NULL : (expression))

/* Whether a condition on the whole table lets a column be there: in a schema all are. */
#define IF(c, condition) ((c)->to == COLUMNS_SCHEMA || (condition))

/* The title of a column that only some tables have: text with all columns, that and Markdown... */
#define WIDE(c, title)	   ((c)->to == COLUMNS_TEXT && (c)->wide ? (title) : NULL)
#define ROOMY(c, title)	   ((c)->to == COLUMNS_MARKDOWN || (c)->wide ? (title) : NULL)
#define MARKDOWN(c, title) ((c)->to == COLUMNS_MARKDOWN ? (title) : NULL)
#define TEXTUAL(c, title)  ((c)->to == COLUMNS_TEXT ? (title) : NULL)
/* The title on the page, where that of text is too short, or there is none in one of them. */
#define ON_PAGE(c, page, title) ((c)->to == COLUMNS_PAGE ? (page) : (title))

/* A round without a row, if columns are to be described; then one for each of `n` rows. */
#define EACH_ROW(c, i, n)                                                                          \
	for (size_t i = columns__first(c); columns__next(c, i, columns__describe(c, i) ? 0 : (n)); \
	     i++)

#define COLUMN(c, unit, key, title, help, put)                        \
	do {                                                          \
		if (columns__wants(c, UNIT_##unit, key, title, help)) \
			put;                                          \
	} while (0)

#define OPTIONAL(c, unit, key, title, help, put)        \
	do {                                            \
		(c)->optional = true;                   \
		COLUMN(c, unit, key, title, help, put); \
	} while (0)

/* A number that is always known; null or "-" unless `known`; missing or "-" unless `there`. */
#define NUMBER(c, unit, key, title, value, help) \
	COLUMN(c, unit, key, title, help, columns__number(c, value))
#define KNOWN(c, unit, key, title, known, value, help) \
	COLUMN(c, unit, key, title, help, (known) ? columns__number(c, value) : columns__unknown(c))
#define SOME(c, unit, key, title, there, value, help) \
	OPTIONAL(c, unit, key, title, help, (there) ? columns__number(c, value) : columns__none(c))
/* In tables with a mark before it, in JSON without. */
#define MARKED(c, unit, key, title, mark, value, help) \
	COLUMN(c, unit, key, title, help, columns__marked(c, mark, value))
/* In tables only. */
#define PERCENT(c, title, part, whole) \
	COLUMN(c, PERCENT, NULL, title, NULL, columns__percent(c, part, whole))
/* Text; NULL: null or "-". A name is a code span in Markdown. */
#define TEXT(c, key, title, value, help) COLUMN(c, TEXT, key, title, help, columns__text(c, value))
#define NAME(c, key, title, value, help) \
	COLUMN(c, TEXT, key, title, help, ((c)->is_name = true, columns__text(c, value)))
#define SOME_TEXT(c, key, title, there, value, help) \
	OPTIONAL(c, TEXT, key, title, help, (there) ? columns__text(c, value) : columns__none(c))
/* Text that is freed; NULL: out of memory. */
#define OWNED(c, key, title, value, help) \
	COLUMN(c, TEXT, key, title, help, columns__owned(c, value))
#define OWNED_NAME(c, key, title, value, help) \
	COLUMN(c, TEXT, key, title, help, ((c)->is_name = true, columns__owned(c, value)))
/* Likewise, in a table only, with a mark before it that is no part of the name. */
#define MARKED_NAME(c, title, mark, value) \
	COLUMN(c, TEXT, NULL, title, NULL, columns__marked_name(c, mark, value))
/* Text in a table only, as printf() has it. */
#define FORMAT(c, title, ...) COLUMN(c, TEXT, NULL, title, NULL, columns__format(c, __VA_ARGS__))
/* Text of a table that stands for a number, so on the right. */
#define CELL(c, title, value) COLUMN(c, NONE, NULL, title, NULL, columns__text(c, value))
/* In hex; 0: null or "-". */
#define ADDRESS(c, key, title, value, help) \
	COLUMN(c, NONE, key, title, help, columns__address(c, value))
#define BOOL(c, key, value, help) COLUMN(c, BOOL, key, NULL, help, columns__bool(c, value))
#define KNOWN_BOOL(c, key, known, value, help) \
	COLUMN(c, BOOL, key, NULL, help, (known) ? columns__bool(c, value) : columns__unknown(c))
#define SOME_BOOL(c, key, there, value, help) \
	OPTIONAL(c, BOOL, key, NULL, help, (there) ? columns__bool(c, value) : columns__none(c))
/* A number with so many decimals. */
#define REAL(c, unit, key, known, value, decimals, help) \
	COLUMN(c, unit, key, NULL, help,                 \
	       (known) ? columns__real(c, value, decimals) : columns__unknown(c))

/*
 * Begin a member that is an object or a list of such: true if its columns follow, and then
 * columns__leave(). Of a list EACH_ROW() leaves. Missing unless `there`. Tables have none of them.
 */
#define OBJECT(c, key, there, help)                                               \
	((c)->optional = true, columns__wants(c, UNIT_OBJECT, key, NULL, help) && \
				       columns__object(c, (c)->describes || (there)))
#define OBJECT_OR_NULL(c, key, there, help)                 \
	(columns__wants(c, UNIT_OBJECT, key, NULL, help) && \
	 columns__object_or_null(c, (c)->describes || (there)))
#define LIST(c, key, there, help)                         \
	(columns__wants(c, UNIT_LIST, key, NULL, help) && \
	 columns__list(c, (c)->describes || (there)))
void columns__leave(struct columns *c);
/* A list of texts: each with columns__item(), then columns__leave_list(). */
void columns__item(struct columns *c, size_t i, const char *text);
void columns__leave_list(struct columns *c);

/* Whether the rows are those of a table, of a page's too. Lists within rows are none. */
bool columns__has_titles(const struct columns *c);

/* The columns of a name of which text has `most`; 0: all, as Markdown and wide tables have. */
static inline size_t columns__most(const struct columns *c, size_t most)
{
	return c->to == COLUMNS_TEXT && !c->wide ? most : 0;
}

/* Below a table: how many rows it does not have; nothing if it has all. NULL: without a noun. */
void columns__more(const struct columns *c, size_t n, const char *one, const char *many);

/* For the macros. */
bool columns__wants(struct columns *c, enum column_unit unit, const char *key, const char *title,
		    const char *help);
void columns__number(struct columns *c, uint64_t value);
void columns__marked(struct columns *c, const char *mark, uint64_t value);
void columns__signed(struct columns *c, int64_t value);
void columns__percent(struct columns *c, uint64_t part, uint64_t whole);
void columns__real(struct columns *c, double value, int decimals);
void columns__text(struct columns *c, const char *text);
void columns__format(struct columns *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void columns__owned(struct columns *c, char *text);
void columns__marked_name(struct columns *c, const char *mark, char *name);
void columns__bool(struct columns *c, bool value);
void columns__address(struct columns *c, uint64_t value);
void columns__unknown(struct columns *c);
void columns__none(struct columns *c);
bool columns__object(struct columns *c, bool there);
bool columns__object_or_null(struct columns *c, bool there);
bool columns__list(struct columns *c, bool there);
size_t columns__first(struct columns *c);
bool columns__describe(struct columns *c, size_t i);
bool columns__next(struct columns *c, size_t i, size_t n);

#endif /* QPROF_VIEW_COLUMNS_H */
