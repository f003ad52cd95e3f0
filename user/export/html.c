// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A self-contained page. It consists of the page up to its data (html/, assembled by
 * html/assemble.sh), blocks of data (export/out.h) in any order, and the script, which finds the
 * blocks by their ids:
 *
 *   spans    the intervals (export/html_spans.h)
 *   flame    merged stacks: their number, and for each its depth (a difference to the previous
 *            one; processes have 0), frame or process, executions, self time on the CPU, and a
 *            signed difference to that in all: columns of varints
 *   stacks-* sampled stacks as in flame, by cause (cpu, off_cpu, faults), of which there are any:
 *            frames are functions and queries, executions are samples, self times may be bytes
 *   report   the output of report --json, and the columns of its tables (COLUMNS_PAGE)
 *   about    names and threads that the other blocks refer to by number; JSON
 *
 * Names are in blocks only, so the browser never parses a name as HTML.
 *
 * A trace that may be too large is read twice: first for flame and report, which always cover all
 * of the trace, and then for the intervals that the rest of the size limit has room for.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "analyze/compile_name.h"
#include "analyze/sampled.h"
#include "base/array.h"
#include "base/table.h"
#include "export/flame.h"
#include "export/flame_samples.h"
#include "export/html_spans.h"
#include "export/notes.h"
#include "export/span_merge.h"
#include "export/timeline.h"
#include "view/columns.h"

/*
 * The most bytes that an interval takes when only the longest are kept; if all are kept, it takes 4
 * to 6. Fewer intervals lie further apart, so each one takes more.
 */
#define SPAN_BYTES 8
#define FEW_SPANS  65536u
#define FEW_BYTES  10

/* Reserved for `about`: names and threads, which are small next to the intervals. */
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

/* The label and kind of an interval. */
struct what {
	uint32_t label;
	uint32_t kind;
};

struct thread {
	uint32_t process; /* index */
	uint32_t tid;
	const char *name; /* owned by the reader; or NULL */
};

struct html {
	struct export_job *job;
	struct export_job ahead; /* the job of the first of two readings */
	struct out *out;
	uint64_t base_ns;
	struct gzip *gzip; /* the block being written */
	struct html_spans spans;
	struct html_report *report;
	struct flame *flame;
	struct flame_samples *samples[TRACE_SAMPLE_CAUSES]; /* by cause */
	struct flame *stacks[TRACE_SAMPLE_CAUSES];	    /* of these; NULL: there is none */
	struct size_limit limit;
	struct memory_growth memory; /* sums, of a process together, in the order of time */
	TABLE(struct what) whats;    /* by kind << 32 | label */
	TABLE(uint32_t) keys;	     /* string ids, keyed by themselves */
	struct thread *threads;
	uint32_t n_threads;
	uint32_t threads_capacity;
};

static void html__clear(struct html *h)
{
	gzip__free(h->gzip);
	html_spans__destroy(&h->spans);
	html_report__free(h->report);
	flame__free(h->flame);
	for (int cause = 0; cause < TRACE_SAMPLE_CAUSES; cause++) {
		flame_samples__free(h->samples[cause]);
		flame__free(h->stacks[cause]);
	}
	memory_growth__destroy(&h->memory);
	table__destroy(&h->whats);
	table__destroy(&h->keys);
	free(h->threads);
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* Processes are written at the end, when all about them is known. */
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
	const struct what *what = table__get(&h->whats, (uint64_t)s->kind << 32 | s->label,
					     .label = s->label, .kind = s->kind);

	if (!what)
		return -ENOMEM;
	*out = what - h->whats.at;
	return 0;
}

/*
 * The page also needs the names and kinds of intervals that are left out: its tables use them to
 * distinguish passes from queries.
 */
static int take_item(void *ctx, const struct trace_item *item)
{
	struct html *h = ctx;
	uint32_t what;
	int err = html_report__item(h->report, item) ?: flame__item(h->flame, item);

	for (int cause = 1; cause < TRACE_SAMPLE_CAUSES && !err; cause++)
		err = flame_samples__item(h->samples[cause], item);
	if (err || item->kind != TRACE_ITEM_SPAN)
		return err;
	return get_what(h, &item->span, &what);
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
		.key = HTML_NO_KEY,
	};
	uint32_t id = trace_reader__event_string(h->job->r, s);
	int err = get_what(h, s, &span.what);

	/* The query's key, if the trace has it. */
	if (!err && id != TRACE_NO_STRING) {
		const uint32_t *key = table__get(&h->keys, id, id);

		if (!key)
			return -ENOMEM;
		span.key = key - h->keys.at;
	}
	return err ?: html_spans__add(&h->spans, &span, h->gzip);
}

static int take_memory(void *ctx, const struct timeline_process *p, uint64_t at_ns, uint64_t bytes)
{
	const struct memory_fault sum = {at_ns, bytes, p->process->index};
	struct html *h = ctx;

	return memory_growth__add(&h->memory, &sum);
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

static int begin_block(struct html *h, const char *id)
{
	out__text(h->out, "<script type=\"text/plain\" id=\"");
	out__text(h->out, id);
	out__text(h->out, "\">");
	return gzip__new(h->out, GZIP_BASE64, &h->gzip);
}

static int end_block(struct html *h)
{
	int err = gzip__finish(h->gzip);

	gzip__free(take_ptr(h->gzip));
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
		.memory = take_memory,
	};
	int err = begin_block(h, "spans") ?: timeline_run(h->job, &format, h);

	return err ?: html_spans__finish(&h->spans, h->gzip) ?: end_block(h);
}

enum flame_column {
	FLAME_HEAD, /* the number of stacks */
	FLAME_DEPTH,
	FLAME_FRAME,
	FLAME_COUNT,
	FLAME_SELF,
	FLAME_OFF,
	FLAME_COLUMNS,
};

struct flame_columns {
	struct byte_buffer of[FLAME_COLUMNS];
};

static void flame_columns__clear(struct flame_columns *c)
{
	for (int i = 0; i < FLAME_COLUMNS; i++)
		byte_buffer__destroy(&c->of[i]);
}

static int put_flame(struct html *h, const char *id, const struct flame *f)
{
	__cleanup(flame_columns__clear) struct flame_columns columns = {};
	struct byte_buffer *to = columns.of;
	uint64_t nodes = 0;
	uint32_t last = 0;
	int err = begin_block(h, id);

	if (err)
		return err;
	for (uint32_t p = 0; p < f->n_processes; p++) {
		uint32_t top = f->processes[p].node, depth = 0;

		for (uint32_t i = top; i != FLAME_NONE; i = flame__walk(f, top, i, &depth)) {
			const struct flame_node *n = &f->tree.nodes[i];
			/* Below 0 where the cost of probes was spread in another way over the two.
			 */
			uint64_t off_ns = n->self[FLAME_WALL] - n->self[FLAME_CPU];

			byte_buffer__varint(&to[FLAME_DEPTH], bytes_zigzag((uint64_t)depth - last));
			byte_buffer__varint(&to[FLAME_FRAME], n->frame);
			byte_buffer__varint(&to[FLAME_COUNT], n->count);
			byte_buffer__varint(&to[FLAME_SELF], n->self[FLAME_CPU]);
			byte_buffer__varint(&to[FLAME_OFF], bytes_zigzag(off_ns));
			last = depth;
			nodes++;
		}
	}
	byte_buffer__varint(&to[FLAME_HEAD], nodes);
	for (int i = 0; i < FLAME_COLUMNS; i++) {
		if (to[i].failed)
			return -ENOMEM;
		gzip__bytes(h->gzip, to[i].data, to[i].size);
	}
	return end_block(h);
}

/* Write a block that holds a JSON document. */
static int put_document(struct html *h, const char *id, int (*print)(struct html *h, FILE *to))
{
	int err = begin_block(h, id);
	_fclose_ FILE *to = err ? NULL : gzip__stream(h->gzip);

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

/* ---- The `about` block ----------------------------------------------------------------------- */

static void put_texts(struct columns *c, const char *key, uint32_t n,
		      const char *(*text)(const struct html *h, uint32_t i), const struct html *h,
		      const char *help)
{
	if (!LIST(c, key, true, help))
		return;
	for (uint32_t i = 0; i < n && !c->err; i++)
		columns__item(c, i, text(h, i));
	columns__leave_list(c);
}

static const char *what_text(const struct html *h, uint32_t i)
{
	return trace_reader__string(h->job->r, h->whats.at[i].label);
}

static const char *what_kind(const struct html *h, uint32_t i)
{
	return trace_reader__kind(h->job->r, h->whats.at[i].kind);
}

static const char *key_text(const struct html *h, uint32_t i)
{
	return trace_reader__string(h->job->r, h->keys.at[i]);
}

static void put_frames(struct columns *c, const struct flame *f)
{
	if (!LIST(c, "frames", true, "by number"))
		return;
	for (uint32_t i = 0; i < f->frames.all.n && !c->err; i++)
		columns__item(c, i, flame_frames__name(&f->frames, i));
	columns__leave_list(c);
}

static void put_stacks(struct columns *c, const struct html *h)
{
	int causes[TRACE_SAMPLE_CAUSES];
	size_t n = 0;

	for (int cause = 1; cause < TRACE_SAMPLE_CAUSES; cause++)
		if (h->stacks[cause])
			causes[n++] = cause;
	if (!LIST(c, "stacks", true, "blocks of sampled stacks"))
		return;
	EACH_ROW (c, i, n) {
		TEXT(c, "cause", NULL, sample_cause_name(causes[i]), "of the samples");
		put_frames(c, h->stacks[causes[i]]);
	}
}

/* The memory that each process had touched at times since the capture began. */
static void put_memory(struct columns *c, const struct html *h)
{
	const struct memory_fault *sums = h->memory.at;

	if (!LIST(c, "memory", true, "sums by process"))
		return;
	for (uint32_t i = 0, n; i < h->memory.n && !c->err; i += n) {
		for (n = 1; i + n < h->memory.n && sums[i + n].process == sums[i].process; n++)
			;
		fprintf(c->out, "%s\n{\"process\":%" PRIu32 ",\"at\":[", i ? "," : "",
			sums[i].process);
		for (uint32_t k = i; k < i + n; k++)
			fprintf(c->out, "%s%" PRIu64, k > i ? "," : "", sums[k].at_ns - h->base_ns);
		fputs("],\"bytes\":[", c->out);
		for (uint32_t k = i; k < i + n; k++)
			fprintf(c->out, "%s%" PRIu64, k > i ? "," : "", sums[k].bytes);
		if (fputs("]}", c->out) == EOF)
			c->err = -EIO;
	}
	columns__leave_list(c);
}

static int print_about(struct html *h, FILE *to)
{
	const struct trace_info *info = trace_reader__info(h->job->r);
	char note[EXPORT_NOTE_MAX], start[24];
	struct columns columns = {.to = COLUMNS_JSON, .out = to}, *c = &columns;

	/* A string, because the number has more digits than JavaScript holds exactly. */
	snprintf(start, sizeof(start), "%" PRIu64, info->clock_start_ns);
	columns__begin(c, "qprof-page/1", "qprof-page/1");
	TEXT(c, "tool", NULL, info->tool, "that recorded");
	TEXT(c, "host", NULL, info->host, "where it did");
	TEXT(c, "kernel", NULL, info->kernel, "of that");
	TEXT(c, "clock_start_ns", NULL, start, "start of the capture");
	NUMBER(c, COUNT, "realtime_start_ms", NULL, info->realtime_start_ns / 1000000, "likewise");
	BOOL(c, "raw", h->job->raw, "--raw");
	BOOL(c, "chosen", h->job->chosen, "--crate or --process");
	NUMBER(c, COUNT, "spans", NULL, h->job->written, "intervals in the page");
	NUMBER(c, COUNT, "sampled", NULL, h->job->sampled, "of these: by samples");
	NUMBER(c, COUNT, "left_out", NULL, h->job->left_out, "intervals that have no room");
	NUMBER(c, COUNT, "adjusted", NULL, h->job->adjusted, "intervals that were cut");
	TEXT(c, "note", NULL, export_note(h->job, NOTE_LEFT_OUT, note) ? note : NULL, "of these");
	TEXT(c, "privacy", NULL, "this file " EXPORT_PRIVACY, "what it holds");
	if (LIST(c, "processes", true, "in the order of the report's"))
		EACH_ROW (c, i, h->flame->n_processes) {
			const struct flame_process *p = &h->flame->processes[i];

			TEXT(c, "title", NULL, p->title, "crate and pid");
			TEXT(c, "cwd", NULL, p->process->cwd, "null: unknown");
			BOOL(c, "own", compile_is_own(p->process), "of the user's own crates");
		}
	if (LIST(c, "threads", true, "by number"))
		EACH_ROW (c, i, h->n_threads) {
			NUMBER(c, COUNT, "process", NULL, h->threads[i].process, "its number");
			NUMBER(c, ID, "tid", NULL, h->threads[i].tid, "thread");
			TEXT(c, "name", NULL, h->threads[i].name, "null: unknown");
		}
	put_memory(c, h);
	put_texts(c, "names", h->whats.n, what_text, h, "of intervals");
	put_texts(c, "kinds", h->whats.n, what_kind, h, "of these");
	put_texts(c, "keys", h->keys.n, key_text, h, "what intervals are about");
	put_frames(c, h->flame);
	put_stacks(c, h);
	return columns__end(c);
}

/* The merged stacks, a block of sampled stacks for each cause that has any, and the report. */
static int put_sums(struct html *h)
{
	int err = flame__finish(h->flame) ?: put_flame(h, "flame", h->flame);
	char id[32];

	for (int cause = 1; cause < TRACE_SAMPLE_CAUSES && !err; cause++) {
		if (!flame_samples__any(h->samples[cause]))
			continue;
		snprintf(id, sizeof(id), "stacks-%s", sample_cause_name(cause));
		err = flame_samples__finish(h->samples[cause], &h->stacks[cause])
			      ?: put_flame(h, id, h->stacks[cause]);
	}
	return err ?: put_document(h, "report", print_report);
}

static int put_page(struct html *h)
{
	uint64_t used, left;
	int err;

	out__text(h->out, html_head);
	if (h->ahead.r) {
		/* Read the trace for the first time, and compute the room left for intervals. */
		err = size_limit__read(&h->limit, h->ahead.r, take_item, h) ?: put_sums(h);
		if (err)
			return err;
		h->job->reserved = strlen(html_tail) + ABOUT_BYTES;
		used = out__size(h->out) + h->job->reserved;
		left = used < h->job->max_bytes ? h->job->max_bytes - used : 0;
		left /= left < FEW_SPANS * FEW_BYTES ? FEW_BYTES : SPAN_BYTES;
		h->job->least_ns = size_limit__least(&h->limit, left);
		h->job->survey = NULL; /* already read */
		err = put_spans(h);
	} else {
		err = put_spans(h) ?: put_sums(h);
	}
	err = err ?: put_document(h, "about", print_about);
	if (err)
		return err;
	out__text(h->out, html_tail);
	return 0;
}

int export_html(struct export_job *job)
{
	__cleanup(html__clear) struct html h = {
		.job = job,
		.out = job->out,
		.base_ns = trace_reader__info(job->r)->clock_start_ns,
	};
	struct export_job *sums = job;
	int err;

	if (job->max_bytes > EXPORT_PAGE_MOST)
		job->max_bytes = EXPORT_PAGE_MOST;
	if (size_limit_is_due(job, SPAN_BYTES)) {
		h.ahead = (struct export_job){.r = job->survey,
					      .raw = job->raw,
					      .short_names = true,
					      .chosen = job->chosen,
					      .whole = job->whole};
		sums = &h.ahead;
	}
	job->short_names = true;
	err = html_report__new(sums, &h.report) ?: flame__new(sums, &h.flame);
	for (uint8_t cause = 1; cause < TRACE_SAMPLE_CAUSES && !err; cause++)
		err = flame_samples__new(sums, cause, false, &h.samples[cause]);
	return err ?: put_page(&h);
}
