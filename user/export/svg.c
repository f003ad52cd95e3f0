// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A flame graph: one self-contained SVG with search and zoom (svg.js). The box at the bottom stands
 * for all time. Above it are the processes, and above each box its callees, as wide as their time.
 */
#include <errno.h>
#include <inttypes.h>

#include "export/flame.h"
#include "export/job.h"
#include "export/notes.h"
#include "base/format.h"

#define WIDTH	     1200
#define MARGIN	     10
#define ROW	     17
#define HEADER	     48
#define FOOTER	     22
#define NOTE	     18
#define LEAST_PX     0.02 /* narrower boxes are not drawn, at any zoom */
#define CHARACTER_PX 7.3  /* as in svg.js */
#define ALL_PX	     (WIDTH - 2 * MARGIN)

/* The script is embedded from the tree; the Makefile lists it as a dependency. */
__asm__(".section .rodata\n"
	".global svg_script\n"
	"svg_script: .incbin \"user/export/svg.js\"\n"
	".byte 0\n"
	".previous\n");
extern const char svg_script[];

static const char style[] =
	"text{font:12px ui-monospace,monospace;fill:#111}"
	"svg{background:#fff}"
	".title{font-size:16px;font-weight:bold}"
	".control{cursor:pointer;text-decoration:underline}"
	".b{cursor:pointer}.b:hover rect,.b:focus rect{stroke:#111}.b:focus{outline:none}"
	".below{opacity:.5}.hit rect{fill:#d3f}"
	"@media(prefers-color-scheme:dark){svg{background:#16181d}"
	"svg>text,.control{fill:#eee}}";

struct svg {
	struct export_job *job;
	struct out *out;
	const struct flame *flame;
	uint64_t *totals; /* of nodes, including everything below them, ns */
	uint64_t all_ns;
	uint32_t rows;
	uint64_t narrow; /* nodes not drawn */
	uint32_t notes;	 /* lines below the graph */
};

static void svg__clear(struct svg *s)
{
	free(s->totals);
}

static double px(const struct svg *s, uint64_t ns)
{
	return s->all_ns ? (double)ns / (double)s->all_ns * ALL_PX : 0;
}

/* A number with as many digits as a box needs, independent of the locale. */
static void put_part(struct svg *s, const char *before, double value, int decimals)
{
	char text[64];
	double scale = decimals == 9 ? 1e9 : 1e2;
	uint64_t scaled = (uint64_t)(value * scale + 0.5);

	snprintf(text, sizeof(text), "%s%" PRIu64 ".%0*" PRIu64, before, scaled / (uint64_t)scale,
		 decimals, scaled % (uint64_t)scale);
	out__text(s->out, text);
}

static void put_number(struct svg *s, const char *before, uint64_t n)
{
	out__text(s->out, before);
	out__number(s->out, n);
}

/* A warm colour, always the same for a name. */
static void put_colour(struct svg *s, const char *name)
{
	uint32_t hash = 2166136261u;
	char text[32];

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 16777619u;
	snprintf(text, sizeof(text), "rgb(%u,%u,%u)", 205 + hash % 50, 90 + (hash >> 8) % 130,
		 30 + (hash >> 16) % 50);
	out__text(s->out, text);
}

static char *format_value(const struct svg *s, char buf[FORMAT_MAX], uint64_t value)
{
	return s->job->cause == TRACE_SAMPLE_FAULT ? format_bytes(buf, value)
						   : format_duration(buf, value);
}

static void put_title(struct svg *s, const char *name, uint64_t count, uint64_t total_ns,
		      uint64_t self_ns)
{
	char buf[FORMAT_MAX];

	out__text(s->out, "<title>");
	out__xml(s->out, name);
	out__text(s->out, " (");
	out__text(s->out, format_value(s, buf, total_ns));
	out__text(s->out, ", ");
	out__text(s->out, format_percent(buf, total_ns, s->all_ns));
	out__text(s->out, " %; self ");
	out__text(s->out, format_value(s, buf, self_ns));
	if (count) {
		out__text(s->out, s->job->cause ? "; samples: " : "; executions: ");
		out__text(s->out, format_count(buf, count));
	}
	out__text(s->out, ")</title>");
}

/* The part of a name that fits into its box, for viewers without scripts. */
static void put_label(struct svg *s, const char *name, double width)
{
	_free_ char *clean = format_clean(name);
	size_t room = width > 6 + 3 * CHARACTER_PX ? (size_t)((width - 6) / CHARACTER_PX) : 0;

	if (!clean || !room)
		return;
	if (format_width(clean) > room) {
		clean[format_fit(clean, room - 2)] = '\0';
		out__xml(s->out, clean);
		out__text(s->out, "..");
	} else {
		out__xml(s->out, clean);
	}
}

static void put_box(struct svg *s, const struct flame_node *n, const char *name, uint32_t row,
		    uint64_t from_ns, uint64_t total_ns)
{
	double x = MARGIN + px(s, from_ns), width = px(s, total_ns);
	uint32_t y = HEADER + (s->rows - 1 - row) * ROW;
	bool is_process = !n || n->parent == FLAME_NONE;

	out__text(s->out, "<g class=\"b\" role=\"button\" tabindex=\"0\" data-n=\"");
	out__xml(s->out, name);
	put_part(s, "\" data-x=\"", s->all_ns ? (double)from_ns / (double)s->all_ns : 0, 9);
	put_part(s, "\" data-w=\"", s->all_ns ? (double)total_ns / (double)s->all_ns : 1, 9);
	put_number(s, "\" data-d=\"", row);
	out__text(s->out, "\">");
	put_title(s, name, is_process ? 0 : n->count, total_ns,
		  is_process ? 0 : flame__self(s->flame, n));
	put_part(s, "<rect x=\"", x, 2);
	put_number(s, "\" y=\"", y);
	put_part(s, "\" width=\"", width, 2);
	put_number(s, "\" height=\"", ROW - 1);
	out__text(s->out, "\" rx=\"1\" fill=\"");
	put_colour(s, name);
	put_part(s, "\"/><text x=\"", x + 3, 2);
	put_number(s, "\" y=\"", y + 12);
	out__text(s->out, "\">");
	put_label(s, name, width);
	out__text(s->out, "</text></g>\n");
	s->job->written++;
}

/* ---- How wide and how high ------------------------------------------------------------------- */

/* Compute the totals of all nodes of a process, children before parents. */
static void sum_process(struct svg *s, uint32_t top, uint32_t *order)
{
	uint32_t depth = 0, n = 0;

	for (uint32_t i = top; i != FLAME_NONE; i = flame__walk(s->flame, top, i, &depth)) {
		order[n++] = i;
		s->totals[i] = i == top ? 0 : flame__self(s->flame, flame__node(s->flame, i));
	}
	while (n-- > 1)
		s->totals[flame__node(s->flame, order[n])->parent] += s->totals[order[n]];
}

static int sum_all(struct svg *s)
{
	uint32_t n = flame__n_nodes(s->flame), top;
	_free_ uint32_t *order = calloc((size_t)n + 1, sizeof(*order));

	s->totals = calloc((size_t)n + 1, sizeof(*s->totals));
	if (!order || !s->totals)
		return -ENOMEM;
	for (uint32_t i = 0; (top = flame__process(s->flame, i)) != FLAME_NONE; i++) {
		sum_process(s, top, order);
		s->all_ns += s->totals[top];
	}
	return 0;
}

static bool is_drawn(const struct svg *s, uint32_t node)
{
	return px(s, s->totals[node]) >= LEAST_PX;
}

typedef void (*box_fn)(struct svg *s, uint32_t node, uint32_t row, uint64_t from_ns);

/*
 * Call `box` for each wide enough node of a process, from the left. A narrow node hides everything
 * above it. `from` has an element per row. Nodes come in drawing order, so a box begins where the
 * last one of its row ended, or where its parent begins.
 */
static uint64_t each_box(struct svg *s, uint32_t top, uint64_t from_ns, uint64_t *from, box_fn box)
{
	uint32_t depth = 0, node = top;

	from[0] = from_ns;
	while (node != FLAME_NONE) {
		uint64_t at = from[depth];
		uint32_t before = depth;

		if (is_drawn(s, node))
			box(s, node, depth + 1, at);
		else
			s->narrow++;
		from[depth] = at + s->totals[node];
		node = flame__walk(s->flame, top, node, &depth);
		if (depth > before)
			from[depth] = at;
	}
	return from_ns + s->totals[top];
}

static void count_row(struct svg *s, uint32_t node, uint32_t row, uint64_t from_ns)
{
	(void)node;
	(void)from_ns;
	if (row >= s->rows)
		s->rows = row + 1;
}

static void draw_box(struct svg *s, uint32_t node, uint32_t row, uint64_t from_ns)
{
	const struct flame_node *n = flame__node(s->flame, node);

	put_box(s, n, flame__name(s->flame, n), row, from_ns, s->totals[node]);
}

/* Depths have 16 bits; two rows, the process and the total, come first. */
#define MOST_ROWS (UINT16_MAX + 3)

static int each_process(struct svg *s, box_fn box)
{
	_free_ uint64_t *from = calloc(MOST_ROWS, sizeof(*from));
	uint64_t at = 0;
	uint32_t top;

	if (!from)
		return -ENOMEM;
	s->narrow = 0;
	for (uint32_t i = 0; (top = flame__process(s->flame, i)) != FLAME_NONE; i++)
		at = each_box(s, top, at, from, box);
	return out__error(s->out);
}

/* ---- The file -------------------------------------------------------------------------------- */

static void put_text(struct svg *s, const char *attributes, int x, uint32_t y, const char *text)
{
	out__text(s->out, "<text ");
	out__text(s->out, attributes);
	put_number(s, " x=\"", x);
	put_number(s, "\" y=\"", y);
	out__text(s->out, "\">");
	out__xml(s->out, text);
	out__text(s->out, "</text>\n");
}

static const char *title_of(const struct svg *s)
{
	if (s->job->cause)
		return export_subject(s->job);
	if (!flame__has_off(s->flame))
		return "rustc's queries, by time";
	return s->job->wall ? "rustc's queries, by wall time" : "rustc's queries, by CPU time";
}

static void put_head(struct svg *s)
{
	uint32_t height = HEADER + s->rows * ROW + FOOTER + s->notes * NOTE;

	out__text(s->out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
			  "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" role=\"group\""
			  " aria-label=\"Flame graph of ");
	out__xml(s->out, export_subject(s->job));
	out__text(s->out, "\" width=\"1200\"");
	put_number(s, " height=\"", height);
	put_number(s, "\" viewBox=\"0 0 1200 ", height);
	out__text(s->out, "\">\n<!-- This file " EXPORT_PRIVACY ". -->\n<style>");
	out__text(s->out, style);
	out__text(s->out, "</style>\n");
	put_text(s, "class=\"title\"", MARGIN, 22, title_of(s));
	put_text(s, "id=\"search\" class=\"control\" role=\"button\" tabindex=\"0\"", WIDTH - 70,
		 22, "Search");
	put_text(s,
		 "id=\"reset\" class=\"control\" role=\"button\" tabindex=\"0\" "
		 "style=\"display:none\"",
		 WIDTH - 190, 22, "Reset zoom");
	put_text(s, "id=\"found\" role=\"status\"", WIDTH - 300, 40, "");
}

/* The notes about the trace, and one about boxes that are not drawn. */
static bool note_of(const struct svg *s, int which, char note[EXPORT_NOTE_MAX])
{
	char count[FORMAT_MAX];

	if (which < EXPORT_NOTES)
		return export_note(s->job, which, note);
	snprintf(note, EXPORT_NOTE_MAX, "%s boxes narrower than 0.02 px are not drawn",
		 format_count(count, s->narrow));
	return s->narrow;
}

static void count_notes(struct svg *s)
{
	char note[EXPORT_NOTE_MAX];

	for (int i = 0; i <= EXPORT_NOTES; i++)
		s->notes += note_of(s, i, note);
}

static void put_foot(struct svg *s)
{
	uint32_t y = HEADER + s->rows * ROW + 15;
	char note[EXPORT_NOTE_MAX];

	put_text(s, "id=\"status\"", MARGIN, y, "");
	for (int i = 0; i <= EXPORT_NOTES; i++)
		if (note_of(s, i, note))
			put_text(s, "class=\"note\"", MARGIN, y += NOTE, note);
	out__text(s->out, "<script><![CDATA[\n");
	out__text(s->out, svg_script);
	out__text(s->out, "]]></script>\n</svg>\n");
}

static int draw(struct svg *s)
{
	int err;

	s->rows = 1;
	err = sum_all(s) ?: each_process(s, count_row);
	if (err)
		return err;
	count_notes(s);
	put_head(s);
	put_box(s, NULL, "all compilers", 0, 0, s->all_ns);
	err = each_process(s, draw_box);
	put_foot(s);
	return err;
}

int export_svg(struct export_job *job)
{
	_flame_ struct flame *f = NULL;
	__cleanup(svg__clear) struct svg s = {.job = job, .out = job->out};
	int err = flame__build(job, &f);

	s.flame = f;
	return err ?: draw(&s);
}
