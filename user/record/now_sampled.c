// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/now_sampled.h"

#include <errno.h>
#include <string.h>

#include "analyze/code_name.h"
#include "analyze/generic_name.h"
#include "base/array.h"
#include "base/bisect.h"
#include "base/cleanup.h"

#define NO_QUERY "(no query)"

/* Above all indices + 1 of functions. */
#define IN_LLVM (NOW_SAMPLED_FUNCTIONS + 1)

static int name_function(const struct trace_function *f, char **name)
{
	_free_ char *plain = code_name_plain(f->name ?: "");
	_free_ char *part = plain ? code_part(plain, f->file) : NULL;

	*name = NULL;
	if (!part)
		return -ENOMEM;
	if (!*plain || code_part_is_general(part))
		return 0;
	*name = code_name_short(plain);
	return *name ? 0 : -ENOMEM;
}

int now_sampled__function(struct now_sampled *n, const struct trace_function *f)
{
	struct now_sampled_function new = {.first = f->first, .size = f->size};
	int err;

	if (n->n_functions == NOW_SAMPLED_FUNCTIONS)
		return 0;
	err = name_function(f, &new.name)
		      ?: array__add(&n->functions, &n->n_functions, &n->capacity, &new);
	if (err)
		free(new.name);
	return err;
}

/* Index + 1 of the function that holds a location; 0: it is general, or not known. */
static uint32_t function_at(const struct now_sampled *n, uint32_t locindex)
{
	size_t after = bisect(n->n_functions, i, n->functions[i].first <= locindex);
	const struct now_sampled_function *f = after ? &n->functions[after - 1] : NULL;

	return f && f->name && locindex - f->first <= f->size ? (uint32_t)after : 0;
}

void now_sampled__entry(struct now_sampled *n, const struct trace_stack *entry)
{
	if (entry->kind == TRACE_STACK_LOCATION) {
		n->function = function_at(n, entry->place) ?: n->function;
	} else if (entry->kind >= TRACE_STACK_QUERY && entry->kind != TRACE_STACK_UNKNOWN) {
		n->in_interval = true;
		n->label = entry->place;
	}
}

int now_sampled__llvm(struct now_sampled *n, uint32_t id, const struct trace_llvm *entry)
{
	if (id == TRACE_NO_LLVM || entry->function == TRACE_NO_STRING)
		return 0;
	return u64_map__put(&n->llvm, id, entry->function);
}

static void vote(struct now_vote *v, uint32_t value)
{
	if (v->votes && v->value == value) {
		v->votes++;
		v->met++;
	} else if (v->votes > 1) {
		v->votes--;
	} else {
		*v = (struct now_vote){value, 1, 1};
	}
}

int now_sampled__sample(struct now_sampled *n, const struct trace_sample *sample)
{
	struct now_sampled_process *p = NULL;
	uint32_t symbol = u64_map__get(&n->llvm, sample->llvm);

	if (sample->cause == TRACE_SAMPLE_CPU) {
		p = table__get(&n->processes, sample->process, .label = {0});
		if (!p)
			return -ENOMEM;
		vote(&p->label, n->in_interval ? n->label : TRACE_NO_STRING);
		vote(&p->job, sample->job);
		p->n++;
		if (symbol != U64_MAP_NONE)
			vote(&p->function, IN_LLVM + symbol);
		else if (n->function)
			vote(&p->function, n->function);
	}
	n->in_interval = false;
	n->function = 0;
	return 0;
}

/* Jobs around one that are looked at for an item. */
#define AROUND_MOST 256

static bool is_about_item(const struct recent_job *job)
{
	return wire_key_crate(job->key) == WIRE_KEY_LOCAL_CRATE;
}

/* Name the item of the execution that most samples were in, or of one around it. */
static void name_item(const struct now_sampled_process *p, const struct now_source *from,
		      const struct recent_jobs *jobs, const struct trace_process *process,
		      const struct trace_texts *texts, struct top_now *to)
{
	const struct recent_job *job = recent_jobs__find(jobs, p->job.value);
	_free_ char *item = NULL;

	if (p->job.met <= p->n / 2 || !from->item || !job || job->job.query != p->label.value)
		return;
	for (int i = 0; i < AROUND_MOST && job && !is_about_item(job); i++)
		job = recent_jobs__find(jobs, job->job.parent);
	if (!job || !is_about_item(job) ||
	    from->item(from->ctx, (pid_t)process->pid, process->crate, job->key, &item) || !item)
		return;
	*to->name = '\0';
	strncat(to->name, texts->text(texts->ctx, job->job.query), sizeof(to->name) - 1);
	now_set_item(to, item);
}

/* The definition behind the symbol of a function in LLVM. */
static void name_compiled(uint32_t string, const struct now_source *from, struct top_now *to)
{
	_generic_name_ struct generic_name name = {};
	_free_ char *symbol = NULL;

	if (from->symbol && !from->symbol(from->ctx, string, &symbol) && symbol &&
	    !generic_name__of(symbol, &name))
		now_set_function(to, name.path);
}

void now_sampled__answer(struct now_sampled *n, const struct now_source *from,
			 const struct recent_jobs *jobs, const struct summary *s,
			 const struct trace_texts *texts, struct top_nows *out)
{
	out->n = 0;
	for (uint32_t i = summary__n_processes(s); i-- && out->n < TOP_NOW_MAX;) {
		const struct trace_process *process = summary__process_at(s, i);
		struct now_sampled_process *p =
			process->end_ns ? NULL : table__find(&n->processes, process->index);
		struct top_now *to = &out->at[out->n];
		const char *name;

		if (!p || !p->label.votes)
			continue;
		name = p->label.value == TRACE_NO_STRING ? NO_QUERY
							 : texts->text(texts->ctx, p->label.value);
		*to = (struct top_now){.pid = process->pid};
		strncpy(to->name, name, sizeof(to->name) - 1);
		if (p->function.votes && p->function.value >= IN_LLVM)
			name_compiled(p->function.value - IN_LLVM, from, to);
		else if (p->function.votes)
			strncpy(to->function, n->functions[p->function.value - 1].name,
				sizeof(to->function) - 1);
		name_item(p, from, jobs, process, texts, to);
		out->n++;
		*p = (struct now_sampled_process){0};
	}
}

void now_sampled__destroy(struct now_sampled *n)
{
	for (uint32_t i = 0; i < n->n_functions; i++)
		free(n->functions[i].name);
	free(n->functions);
	table__destroy(&n->processes);
	u64_map__destroy(&n->llvm);
	*n = (struct now_sampled){0};
}
