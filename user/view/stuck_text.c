// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "analyze/compile_name.h"
#include "analyze/generic_name.h"
#include "analyze/llvm.h"
#include "base/array.h"
#include "base/format.h"
#include "view/item_text.h"
#include "view/stuck_view.h"
#include "view/table.h"

#define BOLD  "\033[1m"
#define PLAIN "\033[0m"

/* Rows to show at both ends of a deep stack, and the number of innermost functions. */
#define OUTERMOST_ROWS 3
#define INNERMOST_ROWS 12
#define FUNCTIONS      4

#define FUNCTION_INDENT 14

/* Columns before what LLVM does, and those that this has at least. */
#define LLVM_TAKEN (FUNCTION_INDENT + 6)
#define LLVM_LEAST 24

/* Behind the function of a pass over functions that call each other. */
#define FIRST ", first of a component"

/* Rows that a line of stuck_begun() names: the outermost one, and the innermost. */
#define BEGUN_INNERMOST 3

#define DEPTH_MOST 16 /* nesting of processes that start others */

struct text {
	FILE *out;
	const struct snapshot *p;
	const struct stuck_style *style;
};

static char *name_of(char *crate, char *crate_type, char *command)
{
	return compile_name(&(const struct trace_process){
		.crate = crate, .crate_type = crate_type, .command = command});
}

char *stuck_compile_name(const struct snapshot_process *p)
{
	return name_of(p->crate, p->crate_type, p->command);
}

static const char *note_of(const struct stuck_row *row)
{
	switch (row->kind) {
	case WIRE_KIND_ACTIVITY:
		return " (activity)";
	case WIRE_KIND_BLOCKED:
		return " (blocked: another thread executes it)";
	case WIRE_KIND_LOAD:
		return " (being loaded)";
	case WIRE_KIND_HASHING:
		return " (being hashed)";
	default:
		return "";
	}
}

/* "typeck(app::f)" */
static void put_name(FILE *out, const struct stuck_row *row)
{
	const char *unknown = row->kind == WIRE_KIND_ACTIVITY ? "<some activity>" : "<some query>";

	print_clean(out, row->name ?: unknown);
	if (!row->item)
		return;
	fputc('(', out);
	print_clean(out, row->item);
	fputc(')', out);
}

static void put_rows(const struct text *t, const struct stuck_rows *rows)
{
	uint32_t most = OUTERMOST_ROWS + INNERMOST_ROWS;

	for (uint32_t i = 0; i < rows->n; i++) {
		const struct stuck_row *row;
		char elapsed[FORMAT_MAX];

		if (!t->style->full && rows->n > most + 1 && i == OUTERMOST_ROWS) {
			fprintf(t->out, "                      ... and %" PRIu32 " more\n",
				rows->n - most);
			i = rows->n - INNERMOST_ROWS;
		}
		row = &rows->items[i];
		/* Of what was open at the first look, the elapsed time is a lower bound. */
		format_duration(elapsed,
				row->exact ? stuck_since(t->p, row->start_ns) : t->p->watched_ns);
		fprintf(t->out, "    %8s %7s  ", row->exact ? "" : "at least", elapsed);
		put_name(t->out, row);
		fprintf(t->out, "%s\n", note_of(row));
	}
}

/* False for the standard library, and for functions between a query and its provider. */
static bool is_of_interest(const char *function)
{
	static const char *const dull[] = {"std::",
					   "core::",
					   "alloc::",
					   "libc.so",
					   "ld-linux",
					   "__",
					   "rustc_query_impl::",
					   "futex",
					   "syscall",
					   "clone3",
					   "start_thread"};

	for (size_t i = 0; i < N_OF(dull); i++)
		if (!strncmp(function, dull[i], strlen(dull[i])))
			return false;
	return true;
}

/* Print the end of a path that does not fit: the leading crates and modules matter least. */
static void put_function(const struct text *t, FILE *out, const char *function)
{
	size_t taken = FUNCTION_INDENT + strlen("in .."), width = t->style->width;
	size_t room = width > taken ? width - taken : width != 0;
	_free_ char *clean = format_clean(function);
	const char *from = clean ?: "?", *next;

	while (room && format_width(from) > room && (next = strstr(from, "::")))
		from = next + strlen("::");
	fprintf(out, "%s%s", from == clean || !clean ? "" : "..", from);
}

/* "LLVM: InstCombine(app::build)", as in `top`. */
static void put_llvm(const struct text *t, const struct stuck_llvm *l)
{
	bool is_of_component = l->scope == WIRE_LLVM_COMPONENT;
	size_t width = t->style->width, taken = LLVM_TAKEN + (is_of_component ? strlen(FIRST) : 0);
	_free_ char *pass = l->pass ? llvm_pass_name(l->pass) : NULL;
	_generic_name_ struct generic_name name = {};
	char text[ITEM_TEXT_MAX];

	if (!l->pass && !l->symbol)
		return;
	if (l->symbol && generic_name__of(l->symbol, &name))
		return;
	fprintf(t->out, "%*sLLVM: ", FUNCTION_INDENT, "");
	item_text(text, width > taken + LLVM_LEAST ? width - taken : SIZE_MAX,
		  pass ?: "<some pass>", name.path);
	fprintf(t->out, "%s%s\n", text, l->symbol && is_of_component ? FIRST : "");
}

static void put_functions(const struct text *t, const struct snapshot_thread *thread)
{
	const struct stuck_rows *rows = &thread->rows;
	uint32_t call = rows->n ? rows->items[rows->n - 1].call : STUCK_NO_CALL;
	uint32_t n = 0, end = thread->n_functions;

	/* Those that are not already covered by the rows. */
	if (!t->style->full && call < end)
		end = call;
	for (uint32_t i = 0; i < end && (t->style->full || n < FUNCTIONS); i++) {
		const char *function = thread->functions[i];

		if (!function || (!t->style->full && !is_of_interest(function)))
			continue;
		fprintf(t->out, "%*s%s ", FUNCTION_INDENT, "", n++ ? "of" : "in");
		put_function(t, t->out, function);
		fputc('\n', t->out);
	}
}

static const char *state_of(char state)
{
	if (state == 'R')
		return "running";
	if (state == 'D')
		return "waiting for a disk or the like";
	return strchr("Tt", state) ? "stopped" : "waiting";
}

static void put_state(const struct text *t, FILE *out, const struct snapshot_thread *thread)
{
	bool waits = !strchr("RZXx", thread->task.state);
	char buf[FORMAT_MAX];

	if (thread->preempted)
		fputs("preempted", out);
	else
		fputs(state_of(thread->task.state), out);
	if (thread->off_since_ns && (waits || thread->preempted))
		fprintf(out, " for %s",
			format_duration(buf, stuck_since(t->p, thread->off_since_ns)));
	if (waits && thread->task.waits)
		fprintf(out, " in %s", thread->task.waits);
	fprintf(out, ", %s of CPU time", format_duration(buf, thread->task.cpu_ns));
}

static void put_doubts(const struct text *t, const struct snapshot_thread *thread)
{
	if (thread->err == -EPERM)
		fputs("              its stack cannot be read: a debugger has it, or it takes "
		      "root\n",
		      t->out);
	else if (thread->err && thread->err != -EBUSY)
		fprintf(t->out, "              its stack cannot be read: %s\n",
			strerror(-thread->err));
	else if (!thread->err && !thread->whole)
		fputs("              its stack could not be read to its beginning\n", t->out);
	if (thread->keys_problem)
		fprintf(t->out, "              what its queries are about is unknown: %s\n",
			thread->keys_problem);
	if (thread->torn)
		fputs("              it went on while this was read\n", t->out);
	if (thread->cut)
		fputs("              what it entered last is missing\n", t->out);
}

static void put_thread_name(FILE *out, const struct snapshot_thread *thread)
{
	fprintf(out, "  thread %d ", (int)thread->task.tid);
	print_clean(out, thread->task.name);
	fputs(": ", out);
}

/* Print one sentence for a thread that runs nothing. */
static void put_idle(const struct text *t, const struct snapshot_thread *thread)
{
	const char *function = NULL; /* the innermost of interest */
	_free_ char *line = NULL;
	size_t size;
	FILE *to = open_memstream(&line, &size);

	if (!to)
		return;
	put_thread_name(to, thread);
	put_state(t, to, thread);
	for (uint32_t i = 0; i < thread->n_functions && !function; i++)
		if (thread->functions[i] && is_of_interest(thread->functions[i]))
			function = thread->functions[i];
	fputs(function ? ", in " : "", to);
	if (function)
		put_function(t, to, function);
	if (!fclose(to))
		wrap_print(t->out, line, 0, t->style->width, FUNCTION_INDENT);
	put_doubts(t, thread);
}

static void put_thread(const struct text *t, const struct snapshot_thread *thread)
{
	put_thread_name(t->out, thread);
	put_state(t, t->out, thread);
	fputc('\n', t->out);
	put_rows(t, &thread->rows);
	put_llvm(t, &thread->llvm);
	put_functions(t, thread);
	put_doubts(t, thread);
}

static void put_other(const struct text *t, const struct other *o, int depth)
{
	char age[FORMAT_MAX], cpu[FORMAT_MAX];
	_free_ char *line = NULL;
	size_t size;
	FILE *to = open_memstream(&line, &size);
	_free_ char *compile =
		o->kind == OTHER_COMPILER ? name_of(o->subject, o->crate_type, o->command) : NULL;

	if (!to)
		return;
	fprintf(to, "%*s", 2 * depth, "");
	if (o->kind == OTHER_LINKER)
		fputs("linker ", to);
	if (o->kind == OTHER_BUILD_SCRIPT && o->subject)
		fputs("build script of ", to);
	print_clean(to, compile ?: o->subject ?: o->name);
	fprintf(to, ": %s %d, ", o->kind == OTHER_COMPILER ? "compiler" : "process", (int)o->pid);
	if (o->kind == OTHER_COMPILER && !o->problem)
		fputs("not at its first query yet, ", to);
	fprintf(to, "started %s ago, %s", format_duration(age, o->age_ns), state_of(o->state));
	if (o->waits)
		fprintf(to, " in %s", o->waits);
	if (o->cpu_ns)
		fprintf(to, ", %s of CPU time", format_duration(cpu, o->cpu_ns));
	if (o->problem)
		fprintf(to, "; its queries are unknown: %s", o->problem);
	if (!fclose(to))
		wrap_print(t->out, line, 0, t->style->width, 2 * (size_t)depth + 4);
}

/*
 * Print the processes below `parent`. The depth is limited, because reused pids could form a
 * circle.
 */
static void put_others(const struct text *t, pid_t parent, int depth)
{
	for (uint32_t i = 0; depth <= DEPTH_MOST && i < t->p->n_others; i++) {
		const struct other *o = &t->p->others[i];

		if (o->parent != parent)
			continue;
		put_other(t, o, depth);
		put_others(t, o->pid, depth + 1);
	}
}

static bool is_in_snapshot(const struct snapshot *p, pid_t pid)
{
	for (uint32_t i = 0; i < p->n_others; i++) {
		if (p->others[i].pid == pid)
			return true;
	}
	for (uint32_t i = 0; i < p->n; i++) {
		if (p->processes[i].pid == pid)
			return true;
	}
	return false;
}

static bool has_others_below(const struct snapshot *p, pid_t parent)
{
	for (uint32_t i = 0; i < p->n_others; i++) {
		if (p->others[i].parent == parent)
			return true;
	}
	return false;
}

static void put_process(const struct text *t, const struct snapshot_process *process)
{
	_free_ char *name = stuck_compile_name(process);
	char age[FORMAT_MAX];

	fputs(t->style->color ? BOLD : "", t->out);
	print_clean(t->out, name ?: "?");
	fprintf(t->out, "%s: compiler %d, started %s ago\n", t->style->color ? PLAIN : "",
		(int)process->pid, format_duration(age, process->age_ns));
	/* Busy threads first, then waiting ones. */
	for (int idle = 0; idle < 2; idle++)
		for (uint32_t i = 0; i < process->n_threads; i++) {
			const struct snapshot_thread *thread = &process->threads[i];
			bool busy =
				thread->rows.n || thread->llvm.symbol || thread->task.state == 'R';

			if (busy == !idle && (busy || t->style->full))
				put_thread(t, thread);
			else if (busy == !idle)
				put_idle(t, thread);
		}
	put_others(t, process->pid, 1);
}

int stuck_text(FILE *out, const struct snapshot *p, const struct stuck_style *style)
{
	const struct text t = {out, p, style};
	bool unreadable = false;

	for (uint32_t i = 0; i < p->n; i++) {
		if (p->processes[i].n_threads)
			put_process(&t, &p->processes[i]);
	}
	for (uint32_t i = 0; i < p->n_others; i++)
		unreadable |= p->others[i].problem != NULL;
	if (!p->n && !unreadable)
		fputs("no compiler runs now\n", out);
	/*
	 * The requested processes that are no compilers, such as cargo; they mostly wait for the
	 * compilers above.
	 */
	for (uint32_t i = 0; i < p->n_others; i++) {
		const struct other *o = &p->others[i];

		if (is_in_snapshot(p, o->parent) || (p->n && !has_others_below(p, o->pid)))
			continue;
		put_other(&t, o, 0);
		put_others(&t, o->pid, 1);
	}
	return ferror(out) ? -EIO : 0;
}

/* ---- As a recording begins ------------------------------------------------------------------- */

static void put_begun(FILE *out, const struct snapshot_process *process,
		      const struct snapshot_thread *thread)
{
	const struct stuck_rows *rows = &thread->rows;
	_free_ char *name = stuck_compile_name(process);
	char age[FORMAT_MAX];

	fputs("qprof-bpf: ", out);
	print_clean(out, name ?: "?");
	fprintf(out, ", compiler %d, started %s ago, is in ", (int)process->pid,
		format_duration(age, process->age_ns));
	for (uint32_t i = 0; i < rows->n; i++) {
		if (i)
			fputs(", ", out);
		if (i == 1 && rows->n > BEGUN_INNERMOST + 2) {
			fprintf(out, "%" PRIu32 " more, ", rows->n - 1 - BEGUN_INNERMOST);
			i = rows->n - BEGUN_INNERMOST;
		}
		put_name(out, &rows->items[i]);
	}
	fputs(thread->n_begun ? "; recorded as begun before\n" : "\n", out);
}

void stuck_begun(FILE *out, const struct snapshot *p)
{
	for (uint32_t i = 0; i < p->n; i++)
		for (uint32_t j = 0; j < p->processes[i].n_threads; j++)
			if (p->processes[i].threads[j].rows.n)
				put_begun(out, &p->processes[i], &p->processes[i].threads[j]);
}
