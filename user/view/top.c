// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/top.h"

#include <errno.h>
#include <string.h>

#include "view/top_draw.h"

#define TOP_FILTER_MAX 64

struct top {
	struct top_data data;
	bool has_data;
	enum top_table table;
	uint32_t process; /* the process of the rows; SUMMARY_ALL: all */
	struct top_order order[TOP_TABLES];
	char filter[TOP_FILTER_MAX];
	bool editing; /* the filter is being edited: characters go into it */
	bool paused;
	bool help;
	uint32_t items_changes; /* in the rows */

	struct top_rows rows; /* all rows, sorted */
	size_t *shown;	      /* indices of the rows that pass the filter */
	size_t n_shown;
	struct top_past past; /* of this table and process */

	size_t selected;    /* index into `shown` */
	size_t first;	    /* index into `shown` of the first row on the screen */
	size_t page;	    /* rows on the screen when it was last drawn */
	bool follows;	    /* the selection stays with its row instead of its position */
	uint64_t id;	    /* id of that row */
	uint64_t came_from; /* the row of the process list that was opened */
};

int top__new(struct top **out)
{
	struct top *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->process = SUMMARY_ALL;
	t->page = 1;
	for (int i = 0; i < TOP_TABLES; i++)
		t->order[i].column = top_layout(i)->by;
	*out = t;
	return 0;
}

void top__free(struct top *t)
{
	if (!t)
		return;
	top_rows__clear(&t->rows);
	top_past__clear(&t->past);
	free(t->shown);
	free(t);
}

bool top__paused(const struct top *t)
{
	return t->paused;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static void select_row(struct top *t, size_t i)
{
	size_t last = t->n_shown ? t->n_shown - 1 : 0;

	t->selected = i < last ? i : last;
	if (t->n_shown)
		t->id = t->rows.at[t->shown[t->selected]].id;
}

/* Find the followed row. If it is not shown any more, keep its old position. */
static void find_selected(struct top *t)
{
	for (size_t i = 0; t->follows && i < t->n_shown; i++) {
		if (t->rows.at[t->shown[i]].id == t->id) {
			t->selected = i;
			return;
		}
	}
	select_row(t, t->selected);
}

static int show_rows(struct top *t)
{
	const struct top_order *o = &t->order[t->table];
	size_t *shown = reallocarray(t->shown, t->rows.n ?: 1, sizeof(*shown));

	if (!shown)
		return -ENOMEM;
	t->shown = shown;
	t->n_shown = 0;
	top_rows__sort(&t->rows, t->table, o->column, o->reverse);
	for (size_t i = 0; i < t->rows.n; i++) {
		if (top_rows__has(&t->rows, i, t->table, t->filter))
			shown[t->n_shown++] = i;
	}
	find_selected(t);
	return 0;
}

static int make_rows(struct top *t, struct top_past *past)
{
	struct top_rows rows;
	int err;

	if (!t->has_data)
		return 0;
	err = top_rows__make(&t->data, t->table, t->process, past, &rows);
	if (err)
		return err;
	top_rows__clear(&t->rows);
	t->rows = rows;
	return top_past__set(&t->past, &t->rows, t->data.now_ns) ?: show_rows(t);
}

int top__update(struct top *t, const struct top_data *data)
{
	bool has_past = t->has_data;

	t->data = *data;
	t->has_data = true;
	return make_rows(t, has_past ? &t->past : NULL);
}

/* ---- Going elsewhere ------------------------------------------------------------------------- */

/* Switch the table. There are no earlier counts for the new one, so it has no rates yet. */
static int go(struct top *t, enum top_table table, uint32_t process)
{
	t->table = table;
	t->process = process;
	t->filter[0] = '\0';
	t->follows = false;
	t->selected = t->first = 0;
	return make_rows(t, NULL);
}

static int next_table(struct top *t)
{
	enum top_table next = (t->table + 1) % TOP_TABLES;

	/* A single process has no list of processes. */
	if (next == TOP_PROCESSES && t->process != SUMMARY_ALL)
		next = TOP_QUERIES;
	return go(t, next, t->process);
}

static int open_selected(struct top *t)
{
	const struct top_row *row = t->n_shown ? &t->rows.at[t->shown[t->selected]] : NULL;

	if (!row || row->process == SUMMARY_ALL || t->process != SUMMARY_ALL)
		return 0;
	t->came_from = row->process;
	return go(t, t->table == TOP_ITEMS ? TOP_ITEMS : TOP_QUERIES, row->process);
}

bool top__wants_items(const struct top *t)
{
	return t->table == TOP_ITEMS;
}

int top__set_items(struct top *t, const struct item_list *items, uint32_t left)
{
	bool changed = t->data.items != items || items->changes != t->items_changes;

	t->data.items = items;
	t->data.items_left = left;
	t->items_changes = items->changes;
	return changed && t->table == TOP_ITEMS ? make_rows(t, NULL) : 0;
}

static int go_to_processes(struct top *t)
{
	bool back = t->process != SUMMARY_ALL;
	int err = go(t, TOP_PROCESSES, SUMMARY_ALL);

	if (err || !back)
		return err;
	t->follows = true;
	t->id = t->came_from;
	find_selected(t);
	return 0;
}

static int go_back(struct top *t)
{
	if (t->filter[0]) {
		t->filter[0] = '\0';
		return show_rows(t);
	}
	return t->table == TOP_PROCESSES ? 0 : go_to_processes(t);
}

/* ---- Keys ------------------------------------------------------------------------------------ */

static int sort_by_next(struct top *t, bool forward)
{
	struct top_order *o = &t->order[t->table];
	size_t n = top_layout(t->table)->n, column = o->column;

	do
		column = (column + (forward ? 1 : n - 1)) % n;
	while (!top_rows__has_column(&t->rows, t->table, column));
	*o = (struct top_order){.column = column};
	return show_rows(t);
}

static void move(struct top *t, int key)
{
	size_t at = t->selected, page = t->page ?: 1;

	switch (key) {
	case TOP_KEY_UP:
	case 'k':
		select_row(t, at ? at - 1 : 0);
		break;
	case TOP_KEY_DOWN:
	case 'j':
		select_row(t, at + 1);
		break;
	case TOP_KEY_PAGE_UP:
		select_row(t, at > page ? at - page : 0);
		break;
	case TOP_KEY_PAGE_DOWN:
		select_row(t, at + page);
		break;
	case TOP_KEY_HOME:
	case 'g':
		select_row(t, 0);
		break;
	case TOP_KEY_END:
	case 'G':
		select_row(t, SIZE_MAX);
		break;
	default:
		return;
	}
	/* The top position stays at the top, to show the current worst row. */
	t->follows = t->selected > 0;
}

static int edit_filter(struct top *t, int key)
{
	size_t n = strlen(t->filter);

	switch (key) {
	case TOP_KEY_ENTER:
		t->editing = false;
		break;
	case TOP_KEY_ESCAPE:
		t->editing = false;
		t->filter[0] = '\0';
		break;
	case TOP_KEY_CLEAR:
		t->filter[0] = '\0';
		break;
	case TOP_KEY_BACKSPACE:
		/* The last character with all its bytes. */
		while (n && ((unsigned char)t->filter[n - 1] & 0xc0) == 0x80)
			n--;
		t->filter[n ? n - 1 : 0] = '\0';
		break;
	default:
		if (key < ' ' || key > '~' || n + 1 >= TOP_FILTER_MAX)
			break;
		t->filter[n] = (char)key;
		t->filter[n + 1] = '\0';
	}
	return show_rows(t);
}

static int command(struct top *t, int key)
{
	switch (key) {
	case TOP_KEY_TAB:
		return next_table(t);
	case TOP_KEY_ENTER:
		return open_selected(t);
	case TOP_KEY_ESCAPE:
	case TOP_KEY_BACKSPACE:
		return go_back(t);
	case 'p':
		return go_to_processes(t);
	case 'i':
		return go(t, t->table == TOP_ITEMS ? TOP_QUERIES : TOP_ITEMS, t->process);
	case '>':
	case 's':
	case TOP_KEY_RIGHT:
		return sort_by_next(t, true);
	case '<':
	case 'S':
	case TOP_KEY_LEFT:
		return sort_by_next(t, false);
	case 'r':
		t->order[t->table].reverse = !t->order[t->table].reverse;
		return show_rows(t);
	case '/':
		t->editing = true;
		return 0;
	case ' ':
		t->paused = !t->paused;
		return 0;
	case '?':
	case 'h':
		t->help = true;
		return 0;
	default:
		move(t, key);
		return 0;
	}
}

int top__key(struct top *t, int key, bool *quit)
{
	if (t->editing)
		return edit_filter(t, key);
	if (t->help) {
		t->help = false;
		return 0;
	}
	if (key == 'q')
		*quit = true;
	return *quit ? 0 : command(t, key);
}

int top__draw(struct top *t, size_t lines, size_t columns, struct top_screen *out)
{
	struct top_shown shown = {
		.data = t->has_data ? &t->data : NULL,
		.table = t->table,
		.process = t->process,
		.order = t->order[t->table],
		.filter = t->filter,
		.editing = t->editing,
		.paused = t->paused,
		.help = t->help,
		.rows = &t->rows,
		.shown = t->shown,
		.n_shown = t->n_shown,
	};

	/* Choose the first row on the screen so that the selected row is visible. */
	if (t->has_data && lines && !t->help) {
		size_t rows = top_draw__rows(lines);
		size_t most = t->n_shown > rows ? t->n_shown - rows : 0;

		t->page = rows;
		if (t->selected < t->first)
			t->first = t->selected;
		if (rows && t->selected >= t->first + rows)
			t->first = t->selected - rows + 1;
		if (t->first > most)
			t->first = most;
	}
	shown.selected = t->selected;
	shown.first = t->first;
	return top_draw(&shown, lines, columns, out);
}
