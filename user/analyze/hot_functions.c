// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/hot_functions.h"

#include <errno.h>
#include <string.h>

#include "analyze/code_name.h"

/* Of a thread's latest samples. */
struct heat {
	uint32_t function;
	uint64_t ns;
};

struct hot_thread {
	struct heat *heats;
	uint32_t n, capacity;
	uint64_t since_half_ns; /* of CPU time */
	uint64_t cpu_ns, last_ns;
};

struct hot_functions {
	struct code_functions functions;
	char **names; /* short, by number; NULL: not made yet */
	uint32_t n_names;
	TABLE(struct hot_thread) threads; /* by process << 32 | tid */
};

int hot_functions__new(const struct stack_source *source, const struct trace_texts *texts,
		       struct hot_functions **out)
{
	struct hot_functions *h = calloc(1, sizeof(*h));

	if (!h)
		return -ENOMEM;
	h->functions.source = *source;
	h->functions.texts = *texts;
	*out = h;
	return 0;
}

/* The innermost function that is not general, else the innermost; or CODE_NO_FUNCTION. */
static int find_function(struct hot_functions *h, uint32_t stack, uint32_t *out)
{
	struct trace_stack entry;

	*out = CODE_NO_FUNCTION;
	while (stack_source__entry(&h->functions.source, stack, &entry)) {
		uint32_t found;
		int err = entry.kind == TRACE_STACK_LOCATION
				  ? code_functions__find(&h->functions, &entry, &found)
				  : 0;

		if (err)
			return err;
		if (entry.kind == TRACE_STACK_LOCATION) {
			if (*out == CODE_NO_FUNCTION || !h->functions.at[found].is_general)
				*out = found;
			if (!h->functions.at[found].is_general)
				return 0;
		}
		stack = entry.parent;
	}
	return 0;
}

/* Without room the coldest one makes room, and the new one takes over its heat. */
static int add_heat(struct hot_thread *t, uint32_t function, uint64_t ns)
{
	struct heat new = {function, ns}, *coldest = t->heats;

	for (uint32_t i = 0; i < t->n; i++) {
		if (t->heats[i].function == function) {
			t->heats[i].ns += ns;
			return 0;
		}
		if (t->heats[i].ns < coldest->ns)
			coldest = &t->heats[i];
	}
	if (t->n < HOT_FUNCTIONS_MAX)
		return array__add(&t->heats, &t->n, &t->capacity, &new);
	coldest->function = function;
	coldest->ns += ns;
	return 0;
}

int hot_functions__add(struct hot_functions *h, const struct trace_sample *sample)
{
	struct hot_thread *t;
	uint32_t function;
	int err;

	if (sample->cause != TRACE_SAMPLE_CPU)
		return 0;
	err = find_function(h, sample->stack, &function);
	if (err)
		return err;
	t = table__get(&h->threads, (uint64_t)sample->process << 32 | sample->tid, .n = 0);
	if (!t)
		return -ENOMEM;
	t->cpu_ns += sample->value;
	t->last_ns = sample->time_ns;
	t->since_half_ns += sample->value;
	if (t->since_half_ns >= HOT_HALF_NS) {
		uint32_t n = 0;

		for (uint32_t i = 0; i < t->n; i++) {
			t->heats[n] = t->heats[i];
			t->heats[n].ns /= 2;
			n += t->heats[n].ns > 0;
		}
		t->n = n;
		t->since_half_ns = 0;
	}
	if (function == CODE_NO_FUNCTION)
		return 0;
	/* Names are made here: those who ask cannot change anything. */
	if (array__reserve_at(&h->names, function, &h->n_names, sizeof(*h->names)))
		return -ENOMEM;
	h->names[function] = h->names[function] ?: code_name_short(h->functions.at[function].name);
	return h->names[function] ? add_heat(t, function, sample->value) : -ENOMEM;
}

static const struct hot_thread *thread_of(const struct hot_functions *h, uint32_t process,
					  uint32_t tid)
{
	uint32_t at = u64_map__get(&h->threads.index.index_of, (uint64_t)process << 32 | tid);

	return at == U64_MAP_NONE ? NULL : &h->threads.at[at];
}

bool hot_functions__of(const struct hot_functions *h, uint32_t process, uint32_t tid,
		       struct hot_function *out)
{
	const struct hot_thread *t = thread_of(h, process, tid);
	const struct heat *most = NULL;

	for (uint32_t i = 0; t && i < t->n; i++)
		if (!most || t->heats[i].ns > most->ns)
			most = &t->heats[i];
	if (!most)
		return false;
	*out = (struct hot_function){
		.name = h->names[most->function],
		.part = h->functions.parts[h->functions.at[most->function].part],
		.last_ns = t->last_ns,
		.tid = tid,
	};
	return true;
}

uint64_t hot_functions__cpu_ns(const struct hot_functions *h, uint32_t process, uint32_t tid)
{
	const struct hot_thread *t = thread_of(h, process, tid);

	return t ? t->cpu_ns : 0;
}

void hot_functions__free(struct hot_functions *h)
{
	if (!h)
		return;
	for (uint32_t i = 0; i < h->n_names; i++)
		free(h->names[i]);
	for (uint32_t i = 0; i < h->threads.n; i++)
		free(h->threads.at[i].heats);
	free(h->names);
	table__destroy(&h->threads);
	code_functions__destroy(&h->functions);
	free(h);
}
