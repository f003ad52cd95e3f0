// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <string.h>

#include "view/json.h"
#include "view/stuck_view.h"

static void number_or_null(struct json *j, const char *key, bool known, uint64_t value)
{
	if (known)
		json__number(j, key, value);
	else
		json__null(j, key);
}

static uint64_t since(const struct snapshot *p, uint64_t start_ns)
{
	return p->time_ns > start_ns ? p->time_ns - start_ns : 0;
}

static int put_row(FILE *out, const struct snapshot *p, const struct stuck_row *row)
{
	struct json j;

	json__begin(&j);
	json__text(&j, "name", row->name);
	json__text(&j, "kind", trace_kind_text(row->kind));
	json__text(&j, "entered", row->exact ? "exactly" : "before");
	number_or_null(&j, "start_ns", row->exact, row->start_ns);
	number_or_null(&j, "elapsed_ns", row->exact, since(p, row->start_ns));
	return json__put(&j, out);
}

static const char *stack_state(const struct snapshot_thread *t)
{
	if (t->err)
		return strerror(-t->err);
	return t->whole ? "whole" : "cut";
}

static int put_functions(FILE *out, const struct snapshot_thread *t)
{
	struct json_object *array = json_object_new_array();
	struct json j;

	json__begin(&j);
	for (uint32_t i = 0; array && i < t->n_functions; i++)
		json_object_array_add(array,
				      t->functions[i] ? json_new_text(t->functions[i]) : NULL);
	json__value(&j, "functions", array);
	json__number(&j, "calls", t->n_calls);
	if (j.err) {
		json_object_put(j.object);
		return j.err;
	}
	/* Continue an object whose opening brace was printed. */
	fprintf(out, ",%s", json_object_to_json_string_ext(j.object, JSON_C_TO_STRING_PLAIN) + 1);
	json_object_put(j.object);
	return 0;
}

static int put_thread(FILE *out, const struct snapshot *p, const struct snapshot_thread *t)
{
	const char state[2] = {t->task.state, '\0'};
	struct json j;
	int err;

	json__begin(&j);
	json__number(&j, "tid", (uint64_t)t->task.tid);
	json__text(&j, "name", t->task.name);
	json__text(&j, "state", state);
	json__number(&j, "cpu_ns", t->task.cpu_ns);
	number_or_null(&j, "off_ns", t->off_since_ns, since(p, t->off_since_ns));
	json__bool(&j, "preempted", t->preempted);
	json__text(&j, "system_call", t->task.waits);
	json__number(&j, "stopped_ns", t->stopped_ns);
	json__text(&j, "stack", stack_state(t));
	json__bool(&j, "consistent", !t->torn && !t->cut);
	err = json__put_open(&j, out);
	fputs(",\"open\":[", out);
	for (uint32_t i = 0; i < t->rows.n && !err; i++) {
		fputs(i ? "," : "", out);
		err = put_row(out, p, &t->rows.items[i]);
	}
	fputs("]", out);
	return err ?: put_functions(out, t);
}

static int put_process(FILE *out, const struct snapshot *p, const struct snapshot_process *process)
{
	struct json j;
	int err;

	json__begin(&j);
	json__number(&j, "pid", (uint64_t)process->pid);
	json__text(&j, "crate", process->crate);
	json__text(&j, "command", process->command);
	json__number(&j, "age_ns", process->age_ns);
	err = json__put_open(&j, out);
	fputs(",\"threads\":[", out);
	for (uint32_t i = 0; i < process->n_threads && !err; i++) {
		fputs(i ? "," : "", out);
		err = put_thread(out, p, &process->threads[i]);
	}
	fputs("]}", out);
	return err;
}

static int put_other(FILE *out, const struct other *o)
{
	const char state[2] = {o->state, '\0'};
	struct json j;

	json__begin(&j);
	json__number(&j, "pid", (uint64_t)o->pid);
	json__number(&j, "parent_pid", (uint64_t)o->parent);
	json__text(&j, "kind", other_kind_name(o->kind));
	json__text(&j, "name", o->name);
	json__text(&j, "subject", o->subject);
	json__text(&j, "command", o->command);
	json__number(&j, "age_ns", o->age_ns);
	json__number(&j, "cpu_ns", o->cpu_ns);
	json__text(&j, "state", state);
	json__text(&j, "system_call", o->waits);
	return json__put(&j, out);
}

int stuck_json(FILE *out, const struct snapshot *p)
{
	struct json j;
	int err;

	json__begin(&j);
	json__text(&j, "schema", "qprof-stuck/1");
	json__number(&j, "time_ns", p->time_ns);
	json__number(&j, "watched_ns", p->watched_ns);
	err = json__put_open(&j, out);
	fputs(",\"processes\":[", out);
	for (uint32_t i = 0; i < p->n && !err; i++) {
		fputs(i ? "," : "", out);
		err = put_process(out, p, &p->processes[i]);
	}
	fputs("],\"others\":[", out);
	for (uint32_t i = 0; i < p->n_others && !err; i++) {
		fputs(i ? "," : "", out);
		err = put_other(out, &p->others[i]);
	}
	fputs("]}\n", out);
	return err;
}
