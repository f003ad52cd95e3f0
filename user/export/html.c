// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A page that needs nothing else. What is in it, in this order: the page itself up to its data
 * (html/, put together by html/assemble.sh), blocks of data (export/packed.h) in any order, and its
 * script, which finds them by their ids:
 *
 *   spans    the intervals (export/html_spans.h)
 *   flame    merged stacks: their number, and for each its depth (a difference to the one before;
 *            processes have 0), frame or process, executions, self time: columns of varints
 *   report   what report --json says
 *   about    what the others refer to by number; JSON
 *
 * Names are in blocks only, so none is ever read as HTML.
 *
 * A trace that may be too large is read twice: first for flame and report, which are of all of it
 * however large the page may get, and then for as many intervals as there is room for beside them.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "base/map.h"
#include "export/fitting.h"
#include "export/flame.h"
#include "export/html_report.h"
#include "export/html_spans.h"
#include "export/notes.h"
#include "export/process_title.h"
#include "export/timeline.h"
#include "view/json.h"

/*
 * What an interval takes at most where only the longest are kept (of all it is 4 to 6): the fewer,
 * the further apart. And the most that a browser should be given to open.
 */
#define SPAN_BYTES 8
#define FEW_SPANS  65536u
#define FEW_BYTES  10
#define MOST_BYTES (96u << 20)

/* For `about`: names and threads, of which there are few beside intervals. */
#define ABOUT_BYTES 4096

/* The page around the data; the Makefile puts it together. */
__asm__(".section .rodata\n"
	".global html_head, html_tail\n"
	"html_head: .incbin \"" HTML_PAGE "/head.html\"\n"
	".byte 0\n"
	"html_tail: .incbin \"" HTML_PAGE "/tail.html\"\n"
	".byte 0\n"
	".previous\n");
extern const char html_head[], html_tail[];

/* What a span is called, and its kind. */
struct what {
	uint32_t label;
	uint32_t kind;
};

struct thread {
	uint32_t process; /* index */
	uint32_t tid;
	const char *name; /* the reader's, or NULL */
};

struct html {
	struct export_job *job;
	struct export_job ahead; /* of the first of two readings */
	struct out *out;
	uint64_t base_ns;
	struct packed *packed; /* the block that is being written */
	struct html_spans spans;
	struct html_report *report;
	struct flame *flame;
	struct what *whats;
	uint32_t n_whats;
	uint32_t whats_capacity;
	struct u64_map what_of; /* kind << 32 | label -> index into whats */
	uint32_t *keys;		/* string ids */
	uint32_t n_keys;
	uint32_t keys_capacity;
	struct u64_map key_of; /* string id -> index into keys */
	struct thread *threads;
	uint32_t n_threads;
	uint32_t threads_capacity;
};

static void html__clear(struct html *h)
{
	packed__free(h->packed);
	html_spans__destroy(&h->spans);
	html_report__free(h->report);
	flame__free(h->flame);
	free(h->whats);
	u64_map__destroy(&h->what_of);
	free(h->keys);
	u64_map__destroy(&h->key_of);
	free(h->threads);
}

/* ---- While it is read ------------------------------------------------------------------------ */

/* Told at the end, with what then is known. */
static int take_process(void *ctx, const struct timeline_process *p)
{
	(void)ctx;
	(void)p;
	return 0;
}

static int take_thread(void *ctx, const struct timeline_thread *t, const char *name)
{
	struct html *h = ctx;

	if (t->index < h->n_threads) {
		h->threads[t->index].name = name ?: h->threads[t->index].name;
		return 0;
	}
	if (array__reserve_one(&h->threads, h->n_threads, &h->threads_capacity,
			       sizeof(*h->threads)))
		return -ENOMEM;
	h->threads[h->n_threads++] = (struct thread){t->process->process->index, t->tid, name};
	return 0;
}

static int get_what(struct html *h, const struct trace_span *s, uint32_t *out)
{
	uint64_t key = (uint64_t)s->kind << 32 | s->label;
	uint32_t i = u64_map__get(&h->what_of, key);

	if (i == U64_MAP_NONE) {
		i = h->n_whats;
		if (array__reserve_one(&h->whats, i, &h->whats_capacity, sizeof(*h->whats)) ||
		    u64_map__put(&h->what_of, key, i))
			return -ENOMEM;
		h->whats[h->n_whats++] = (struct what){s->label, s->kind};
	}
	*out = i;
	return 0;
}

/* Names of what is left out are known, too: tables tell passes from queries by them. */
static int take_item(void *ctx, const struct trace_item *item)
{
	struct html *h = ctx;
	uint32_t what;
	int err = html_report__item(h->report, item) ?: flame__item(h->flame, item);

	if (!err && item->kind == TRACE_ITEM_SPAN)
		err = get_what(h, &item->span, &what);
	return err;
}

/* What the query was asked for, if the trace tells. */
static int get_key(struct html *h, const struct trace_span *s, uint32_t *out)
{
	uint32_t id = trace_reader__event_string(h->job->r, s), i;

	*out = HTML_NO_KEY;
	if (id == TRACE_NO_STRING)
		return 0;
	i = u64_map__get(&h->key_of, id);
	if (i == U64_MAP_NONE) {
		i = h->n_keys;
		if (array__reserve_one(&h->keys, i, &h->keys_capacity, sizeof(*h->keys)) ||
		    u64_map__put(&h->key_of, id, i))
			return -ENOMEM;
		h->keys[h->n_keys++] = id;
	}
	*out = i;
	return 0;
}

static int take_span(void *ctx, const struct timeline_thread *t, const struct trace_span *s)
{
	struct html *h = ctx;
	struct html_span span = {
		.thread = t->index,
		.depth = s->depth,
		.flags = s->flags,
		.start_ns = s->start_ns - h->base_ns,
		.end_ns = s->end_ns - h->base_ns,
	};
	int err = get_what(h, s, &span.what) ?: get_key(h, s, &span.key);

	return err ?: html_spans__add(&h->spans, &span, h->packed);
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

static int begin_block(struct html *h, const char *id)
{
	out__text(h->out, "<script type=\"text/plain\" id=\"");
	out__text(h->out, id);
	out__text(h->out, "\">");
	return packed__new(h->out, &h->packed);
}

static int end_block(struct html *h)
{
	int err = packed__finish(h->packed);

	packed__free(take_ptr(h->packed));
	out__text(h->out, "</script>\n");
	return err;
}

static int put_spans(struct html *h)
{
	const struct timeline_format format = {
		.span_bytes = SPAN_BYTES,
		.process = take_process,
		.thread = take_thread,
		.span = take_span,
		.item = h->ahead.r ? NULL : take_item,
	};
	int err = begin_block(h, "spans");

	if (!err)
		err = timeline_run(h->job, &format, h) ?: html_spans__finish(&h->spans, h->packed);
	return err ?: end_block(h);
}

enum flame_column {
	FLAME_DEPTH,
	FLAME_FRAME,
	FLAME_COUNT,
	FLAME_SELF,
	FLAME_COLUMNS,
};

struct flame_columns {
	struct byte_buffer of[FLAME_COLUMNS];
	uint64_t nodes;
	uint32_t depth;
};

static void add_stacks(struct flame_columns *c, const struct flame *f, uint32_t top)
{
	uint32_t depth = 0;

	for (uint32_t i = top; i != FLAME_NONE; i = flame__walk(f, top, i, &depth)) {
		const struct flame_node *n = flame__node(f, i);

		byte_buffer__varint(&c->of[FLAME_DEPTH], bytes_zigzag((uint64_t)depth - c->depth));
		byte_buffer__varint(&c->of[FLAME_FRAME], n->frame);
		byte_buffer__varint(&c->of[FLAME_COUNT], n->count);
		byte_buffer__varint(&c->of[FLAME_SELF], n->self_ns);
		c->depth = depth;
		c->nodes++;
	}
}

static int put_flame(struct html *h)
{
	struct flame_columns columns = {0};
	struct byte_buffer head = {0};
	int err = begin_block(h, "flame");
	bool failed;

	for (uint32_t p = 0; !err && flame__process(h->flame, p) != FLAME_NONE; p++)
		add_stacks(&columns, h->flame, flame__process(h->flame, p));
	byte_buffer__varint(&head, columns.nodes);
	failed = head.failed;
	if (!err)
		packed__bytes(h->packed, head.data, head.size);
	byte_buffer__destroy(&head);
	for (int i = 0; i < FLAME_COLUMNS; i++) {
		failed |= columns.of[i].failed;
		if (!err)
			packed__bytes(h->packed, columns.of[i].data, columns.of[i].size);
		byte_buffer__destroy(&columns.of[i]);
	}
	return failed ? -ENOMEM : err ?: end_block(h);
}

/* A block that is a document. */
static int put_document(struct html *h, const char *id, int (*print)(struct html *h, FILE *to))
{
	int err = begin_block(h, id);
	_fclose_ FILE *to = err ? NULL : packed__stream(h->packed);

	if (!to)
		return err ?: -ENOMEM;
	err = print(h, to);
	if (fclose(take_ptr(to)))
		err = err ?: -errno;
	return err ?: end_block(h);
}

static int print_report(struct html *h, FILE *to)
{
	return html_report__print(h->report, to);
}

/* ---- What the others refer to ---------------------------------------------------------------- */

static int put_texts(FILE *to, const char *key, uint32_t n, const char *(*text)(void *, uint32_t),
		     void *ctx)
{
	fprintf(to, ",\n\"%s\":[", key);
	for (uint32_t i = 0; i < n; i++) {
		struct json_object *o = json_new_text(text(ctx, i));

		if (!o)
			return -ENOMEM;
		fprintf(to, "%s%s", i ? "," : "",
			json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN));
		json_object_put(o);
	}
	fputc(']', to);
	return 0;
}

static const char *what_text(void *ctx, uint32_t i)
{
	struct html *h = ctx;

	return trace_reader__string(h->job->r, h->whats[i].label);
}

static const char *what_kind(void *ctx, uint32_t i)
{
	struct html *h = ctx;

	return trace_reader__kind(h->job->r, h->whats[i].kind);
}

static const char *key_text(void *ctx, uint32_t i)
{
	struct html *h = ctx;

	return trace_reader__string(h->job->r, h->keys[i]);
}

static const char *frame_text(void *ctx, uint32_t i)
{
	struct html *h = ctx;

	return flame__frame_name(h->flame, i);
}

static int put_processes(struct html *h, FILE *to)
{
	uint32_t at;
	int err = 0;

	fputs(",\n\"processes\":[", to);
	for (uint32_t i = 0; !err && (at = flame__process(h->flame, i)) != FLAME_NONE; i++) {
		struct json j;

		json__begin(&j);
		json__text(&j, "title", flame__name(h->flame, flame__node(h->flame, at)));
		fputs(i ? ",\n" : "\n", to);
		err = json__put(&j, to);
	}
	fputc(']', to);
	return err;
}

static int put_threads(struct html *h, FILE *to)
{
	int err = 0;

	fputs(",\n\"threads\":[", to);
	for (uint32_t i = 0; !err && i < h->n_threads; i++) {
		struct json j;

		json__begin(&j);
		json__number(&j, "process", h->threads[i].process);
		json__number(&j, "tid", h->threads[i].tid);
		json__text(&j, "name", h->threads[i].name);
		fputs(i ? ",\n" : "\n", to);
		err = json__put(&j, to);
	}
	fputc(']', to);
	return err;
}

static int print_about(struct html *h, FILE *to)
{
	const struct trace_info *info = trace_reader__info(h->job->r);
	char note[EXPORT_NOTE_MAX], start[24];
	struct json j;
	int err;

	/* As a text: it has more digits than a number in a browser. */
	snprintf(start, sizeof(start), "%" PRIu64, info->clock_start_ns);
	json__begin(&j);
	json__text(&j, "schema", "qprof-page/1");
	json__text(&j, "tool", info->tool);
	json__text(&j, "host", info->host);
	json__text(&j, "kernel", info->kernel);
	json__text(&j, "clock_start_ns", start);
	json__number(&j, "realtime_start_ms", info->realtime_start_ns / 1000000);
	json__bool(&j, "raw", h->job->raw);
	json__number(&j, "spans", h->job->written);
	json__number(&j, "left_out", h->job->left_out);
	json__number(&j, "adjusted", h->job->adjusted);
	json__text(&j, "note", export_note(h->job, NOTE_LEFT_OUT, note) ? note : NULL);
	json__text(&j, "privacy", "this file " EXPORT_PRIVACY);
	err = json__put_open(&j, to) ?: put_processes(h, to) ?: put_threads(h, to);
	err = err ?: put_texts(to, "names", h->n_whats, what_text, h);
	err = err ?: put_texts(to, "kinds", h->n_whats, what_kind, h);
	err = err ?: put_texts(to, "keys", h->n_keys, key_text, h);
	err = err ?: put_texts(to, "frames", flame__n_frames(h->flame), frame_text, h);
	fputs("}\n", to);
	return err;
}

static int put_sums(struct html *h)
{
	int err = flame__finish(h->flame);

	return err ?: put_flame(h) ?: put_document(h, "report", print_report);
}

/* The first of two readings, and what then is left for intervals. */
static int look_ahead(struct html *h)
{
	struct fitting fitting = {0};
	struct trace_item item;
	uint64_t used, left;
	int err;

	while (!(err = trace_reader__next(h->ahead.r, &item)) && item.kind != TRACE_ITEM_END) {
		if (item.kind == TRACE_ITEM_SPAN)
			fitting__add(&fitting, &item.span);
		err = take_item(h, &item);
		if (err)
			break;
	}
	err = err ?: put_sums(h);
	if (err)
		return err;
	h->job->reserved = strlen(html_tail) + ABOUT_BYTES;
	used = out__size(h->out) + h->job->reserved;
	left = used < h->job->max_bytes ? h->job->max_bytes - used : 0;
	h->job->least_ns = fitting__least(
		&fitting, left < FEW_SPANS * FEW_BYTES ? left / FEW_BYTES : left / SPAN_BYTES);
	h->job->survey = NULL; /* it was read */
	return 0;
}

static int put_page(struct html *h)
{
	int err = 0;

	out__text(h->out, html_head);
	if (h->ahead.r)
		err = look_ahead(h) ?: put_spans(h);
	else
		err = put_spans(h) ?: put_sums(h);
	err = err ?: put_document(h, "about", print_about);
	if (!err)
		out__text(h->out, html_tail);
	return err;
}

int export_html(struct export_job *job)
{
	struct html h = {
		.job = job,
		.out = job->out,
		.base_ns = trace_reader__info(job->r)->clock_start_ns,
	};
	struct export_job *sums = job;
	int err;

	if (job->max_bytes > MOST_BYTES)
		job->max_bytes = MOST_BYTES;
	if (fitting_is_due(job, SPAN_BYTES)) {
		h.ahead = (struct export_job){.r = job->survey, .raw = job->raw};
		sums = &h.ahead;
	}
	err = html_report__new(sums, &h.report) ?: flame__new(sums, &h.flame) ?: put_page(&h);
	html__clear(&h);
	return err;
}
