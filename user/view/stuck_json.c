// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "analyze/generic_name.h"
#include "analyze/llvm.h"
#include "view/json.h"
#include "view/stuck_view.h"

static uint64_t since(const struct snapshot *p, uint64_t start_ns)
{
	return p->time_ns > start_ns ? p->time_ns - start_ns : 0;
}

static void put_row(struct json *j, const struct snapshot *p, const struct stuck_row *row)
{
	json__text(j, "name", row->name);
	json__text(j, "kind", trace_kind_text(row->kind));
	json__text(j, "key", row->item);
	json__text(j, "entered", row->exact ? "exactly" : "before");
	json__known(j, "start_ns", row->exact, row->start_ns);
	json__known(j, "elapsed_ns", row->exact, since(p, row->start_ns));
	json__put(j);
}

/* Null: the thread is not in LLVM, or what it does there is not known. */
static void put_llvm(struct json *j, const struct stuck_llvm *l)
{
	static const char *const scopes[WIRE_LLVM_SCOPES] = {
		[WIRE_LLVM_FUNCTION] = "function",
		[WIRE_LLVM_MODULE] = "module",
		[WIRE_LLVM_NONE] = "none",
	};
	_free_ char *pass = NULL;
	_generic_name_ struct generic_name name = {};

	json__print(j, l->scope ? ",\"llvm\":" : ",\"llvm\":null");
	if (!l->scope)
		return;
	pass = l->pass ? llvm_pass_name(l->pass) : NULL;
	if ((l->pass && !pass) || (l->symbol && generic_name__of(l->symbol, &name)))
		j->err = -ENOMEM;
	json__begin(j);
	json__text(j, "pass", pass);
	json__text(j, "type", l->pass);
	json__text(j, "function", name.path);
	json__text(j, "symbol", l->symbol);
	json__text(j, "scope", scopes[l->scope]);
	json__bool(j, "codegen", l->codegen);
	json__put(j);
}

static const char *stack_state(const struct snapshot_thread *t)
{
	if (t->err)
		return strerror(-t->err);
	return t->whole ? "whole" : "cut";
}

/* End an object whose opening brace was printed. */
static void put_functions(struct json *j, const struct snapshot_thread *t)
{
	char calls[32];

	json__array(j, "functions");
	for (uint32_t i = 0; i < t->n_functions && !j->err; i++) {
		json__print(j, i ? "," : "");
		json__print_text(j, t->functions[i]);
	}
	snprintf(calls, sizeof(calls), "],\"calls\":%" PRIu32 "}", t->n_calls);
	json__print(j, calls);
}

static void put_thread(struct json *j, const struct snapshot *p, const struct snapshot_thread *t)
{
	const char state[2] = {t->task.state, '\0'};

	json__number(j, "tid", (uint64_t)t->task.tid);
	json__text(j, "name", t->task.name);
	json__text(j, "state", state);
	json__number(j, "cpu_ns", t->task.cpu_ns);
	json__known(j, "off_ns", t->off_since_ns, since(p, t->off_since_ns));
	json__bool(j, "preempted", t->preempted);
	json__text(j, "system_call", t->task.waits);
	json__number(j, "stopped_ns", t->stopped_ns);
	json__text(j, "stack", stack_state(t));
	json__bool(j, "consistent", !t->torn && !t->cut);
	json__put_open(j);
	json__array(j, "open");
	for (uint32_t i = 0; i < t->rows.n && !j->err; i++) {
		json__item(j, i);
		put_row(j, p, &t->rows.items[i]);
	}
	json__print(j, "]");
	put_llvm(j, &t->llvm);
	put_functions(j, t);
}

static void put_process(struct json *j, const struct snapshot *p,
			const struct snapshot_process *process)
{
	_free_ char *name = stuck_compile_name(process);

	json__number(j, "pid", (uint64_t)process->pid);
	json__text(j, "crate", process->crate);
	json__text(j, "name", name);
	json__text(j, "command", process->command);
	json__number(j, "age_ns", process->age_ns);
	json__put_open(j);
	json__array(j, "threads");
	for (uint32_t i = 0; i < process->n_threads && !j->err; i++) {
		json__item(j, i);
		put_thread(j, p, &process->threads[i]);
	}
	json__print(j, "]}");
}

static void put_other(struct json *j, const struct other *o)
{
	const char state[2] = {o->state, '\0'};

	json__number(j, "pid", (uint64_t)o->pid);
	json__number(j, "parent_pid", (uint64_t)o->parent);
	json__text(j, "kind", other_kind_name(o->kind));
	json__text(j, "name", o->name);
	json__text(j, "subject", o->subject);
	json__text(j, "command", o->command);
	json__number(j, "age_ns", o->age_ns);
	json__number(j, "cpu_ns", o->cpu_ns);
	json__text(j, "state", state);
	json__text(j, "system_call", o->waits);
	json__text(j, "problem", o->problem);
	json__put(j);
}

int stuck_json(FILE *out, const struct snapshot *p)
{
	struct json j = {.out = out};

	json__begin(&j);
	json__text(&j, "schema", "qprof-stuck/1");
	json__number(&j, "time_ns", p->time_ns);
	json__number(&j, "watched_ns", p->watched_ns);
	json__put_open(&j);
	json__array(&j, "processes");
	for (uint32_t i = 0; i < p->n && !j.err; i++) {
		json__item(&j, i);
		put_process(&j, p, &p->processes[i]);
	}
	json__print(&j, "],\"others\":[");
	for (uint32_t i = 0; i < p->n_others && !j.err; i++) {
		json__item(&j, i);
		put_other(&j, &p->others[i]);
	}
	json__print(&j, "]}\n");
	return j.err;
}
