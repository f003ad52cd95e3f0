// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <string.h>

#include "analyze/generic_name.h"
#include "analyze/llvm.h"
#include "view/columns.h"
#include "view/stuck_view.h"

static void open_columns(struct columns *c, const struct stuck_row *row, const struct snapshot *p)
{
	TEXT(c, "name", NULL, row->name, "null: unknown");
	TEXT(c, "kind", NULL, trace_kind_text(row->kind), "as in reports of queries");
	TEXT(c, "key", NULL, row->item,
	     "path of the definition that a query is about; null: none of the crate, or unknown");
	TEXT(c, "entered", NULL, row->exact ? "exactly" : "before",
	     "exactly: it was seen; before: it is read from the stack");
	KNOWN(c, NS, "start_ns", NULL, row->exact, row->start_ns, "null: it was not seen");
	KNOWN(c, NS, "elapsed_ns", NULL, row->exact, stuck_since(p, row->start_ns),
	      "null: it was not seen");
}

static void put_llvm(struct columns *c, const struct stuck_llvm *l)
{
	static const char *const scopes[WIRE_LLVM_SCOPES] = {
		[WIRE_LLVM_FUNCTION] = "function",
		[WIRE_LLVM_COMPONENT] = "scc",
		[WIRE_LLVM_MODULE] = "module",
		[WIRE_LLVM_NONE] = "none",
	};
	_generic_name_ struct generic_name name = {};

	if (!OBJECT_OR_NULL(c, "llvm", l->scope,
			    "null: the thread is not in LLVM, or it is not known what it does"))
		return;
	if (l->symbol && generic_name__of(l->symbol, &name))
		c->err = -ENOMEM;
	if (l->pass)
		OWNED(c, "pass", NULL, llvm_pass_name(l->pass), "null: in none");
	else
		TEXT(c, "pass", NULL, NULL, "null: in none");
	TEXT(c, "type", NULL, l->pass, "of the pass, as LLVM's classes are named");
	TEXT(c, "function", NULL, name.path, "path of the definition that is compiled");
	TEXT(c, "symbol", NULL, l->symbol, "null: none, or unknown");
	TEXT(c, "scope", NULL, scopes[l->scope],
	     "function, scc: functions that call each other, of which this is the first, module, "
	     "or none: it is in no pass");
	BOOL(c, "codegen", l->codegen, "of the code generator");
	columns__leave(c);
}

static void thread_columns(struct columns *c, const struct snapshot_thread *t,
			   const struct snapshot *p)
{
	const char state[2] = {t->task.state, '\0'};

	NUMBER(c, ID, "tid", NULL, (uint64_t)t->task.tid, "thread");
	TEXT(c, "name", NULL, t->task.name, "its name");
	TEXT(c, "state", NULL, state, "as in /proc/PID/stat");
	NUMBER(c, NS, "cpu_ns", NULL, t->task.cpu_ns, "CPU time");
	KNOWN(c, NS, "off_ns", NULL, t->off_since_ns, stuck_since(p, t->off_since_ns),
	      "off the CPU for; null: on a CPU, or unknown");
	BOOL(c, "preempted", t->preempted, "it is ready, and others run");
	TEXT(c, "system_call", NULL, t->task.waits, "in which it waits; null: none");
	NUMBER(c, NS, "stopped_ns", NULL, t->stopped_ns, "how long, to read its stack");
	TEXT(c, "stack", NULL,
	     t->err	? strerror(-t->err)
	     : t->whole ? "whole"
			: "cut",
	     "whole; cut: its outermost calls are missing; or why it could not be read");
	BOOL(c, "consistent", !t->torn && !t->cut, "false: it went on while it was read");
	TEXT(c, "keys_problem", NULL, t->keys_problem,
	     "why the keys of queries that it entered before are unknown; null: they are not");
	if (LIST(c, "open", true, "intervals, the outermost first"))
		EACH_ROW (c, i, t->rows.n)
			open_columns(c, &t->rows.items[i], p);
	put_llvm(c, &t->llvm);
	if (LIST(c, "functions", true, "of the innermost calls, the innermost first")) {
		for (uint32_t i = 0; i < t->n_functions && !c->err; i++)
			columns__item(c, i, t->functions[i]);
		columns__leave_list(c);
	}
	NUMBER(c, COUNT, "calls", NULL, t->n_calls, "how many there are");
}

static void process_columns(struct columns *c, const struct snapshot_process *process,
			    const struct snapshot *p)
{
	NUMBER(c, ID, "pid", NULL, (uint64_t)process->pid, "process");
	TEXT(c, "crate", NULL, process->crate, "null: none");
	OWNED(c, "name", NULL, stuck_compile_name(process), "of the compile");
	TEXT(c, "command", NULL, process->command, "null: unknown");
	NUMBER(c, NS, "age_ns", NULL, process->age_ns, "since its start");
	if (LIST(c, "threads", true, "its threads"))
		EACH_ROW (c, i, process->n_threads)
			thread_columns(c, &process->threads[i], p);
}

static void other_columns(struct columns *c, const struct other *o)
{
	const char state[2] = {o->state, '\0'};

	NUMBER(c, ID, "pid", NULL, (uint64_t)o->pid, "process");
	NUMBER(c, ID, "parent_pid", NULL, (uint64_t)o->parent, "that started it");
	TEXT(c, "kind", NULL, other_kind_name(o->kind),
	     "linker, build script, compiler: not started yet, program");
	TEXT(c, "name", NULL, o->name, "of the program");
	TEXT(c, "subject", NULL, o->subject,
	     "package of a build script, crate of a compiler; null: neither");
	TEXT(c, "command", NULL, o->command, "null: unknown");
	NUMBER(c, NS, "age_ns", NULL, o->age_ns, "since its start");
	NUMBER(c, NS, "cpu_ns", NULL, o->cpu_ns, "CPU time");
	TEXT(c, "state", NULL, state, "as in /proc/PID/stat");
	TEXT(c, "system_call", NULL, o->waits, "in which it waits; null: none");
	TEXT(c, "problem", NULL, o->problem, "why not all of it could be read; null: it was");
}

int stuck_json(FILE *out, const struct snapshot *p)
{
	struct columns c = {.to = COLUMNS_JSON, .out = out, .one_line = true};

	columns__begin(&c, "qprof-stuck/1", "qprof-stuck/1");
	NUMBER(&c, NS, "time_ns", NULL, p->time_ns, "CLOCK_MONOTONIC");
	NUMBER(&c, NS, "watched_ns", NULL, p->watched_ns, "for how long");
	if (LIST(&c, "processes", true, "compilers"))
		EACH_ROW (&c, i, p->n)
			process_columns(&c, &p->processes[i], p);
	if (LIST(&c, "others", true,
		 "the requested processes and their descendants, without compilers at work; "
		 "parents first"))
		EACH_ROW (&c, i, p->n_others)
			other_columns(&c, &p->others[i]);
	return columns__end(&c);
}
