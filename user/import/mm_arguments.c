// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "import/mm_arguments.h"

#include <errno.h>
#include <string.h>

#define NESTED_MAX     32
#define PIECES_MAX     16
#define REMEMBERED_MAX 65536u

/* In string_of: the string is being expanded, so another reference to it is a cycle. */
#define UNDERWAY (U64_MAP_NONE - 1)

struct pieces {
	struct trace_piece all[PIECES_MAX];
	size_t text_at[PIECES_MAX]; /* offset in texts of a piece that is a text */
	uint32_t n;
	struct byte_buffer texts;
};

static void pieces__clear(struct pieces *p)
{
	byte_buffer__destroy(&p->texts);
}

static int string_of(struct mm_arguments *a, uint32_t address, unsigned int nested, uint32_t *id);

static void add_text(struct pieces *p, const void *text, size_t size)
{
	p->text_at[p->n++] = p->texts.size;
	byte_buffer__bytes(&p->texts, text, size);
	byte_buffer__bytes(&p->texts, "", 1);
}

static int add_component(struct mm_arguments *a, struct pieces *p, const struct mm_component *c,
			 unsigned int nested)
{
	uint32_t address = c->text ? 0 : mm_strings__address(a->strings, c->id);
	uint32_t id;
	int err;

	if (p->n == PIECES_MAX)
		return -E2BIG;
	if (c->text || address == MM_NO_ADDRESS) {
		add_text(p, c->text ?: (const uint8_t *)"<unknown>",
			 c->text ? c->size : strlen("<unknown>"));
		return 0;
	}
	err = string_of(a, address, nested + 1, &id);
	if (err)
		return err;
	p->text_at[p->n] = SIZE_MAX;
	p->all[p->n++] = (struct trace_piece){.id = id};
	return 0;
}

/* Compose the string of its pieces. -E2BIG: not possible, but one plain text may do. */
static int compose(struct mm_arguments *a, uint32_t address, unsigned int nested, uint32_t *id)
{
	__cleanup(pieces__clear) struct pieces p = {.n = 0};
	struct mm_component c;
	bool bad;
	int err = u64_map__put(&a->string_of, address, UNDERWAY);

	while (!err && mm_strings__component(a->strings, &address, &c, &bad))
		err = add_component(a, &p, &c, nested);
	if (err)
		return err;
	if (bad)
		return -E2BIG;
	if (p.texts.failed)
		return -ENOMEM;
	for (uint32_t i = 0; i < p.n; i++)
		if (p.text_at[i] != SIZE_MAX)
			p.all[i].text = (const char *)p.texts.data + p.text_at[i];
	return trace_writer__compose(a->w, p.all, p.n, id);
}

/* The trace's id of the string at `address`, which may be the rest of a string. */
static int string_of(struct mm_arguments *a, uint32_t address, unsigned int nested, uint32_t *id)
{
	int err;

	*id = u64_map__get(&a->string_of, address);
	if (*id < UNDERWAY)
		return 0;
	err = *id == UNDERWAY || nested == NESTED_MAX ? -E2BIG : compose(a, address, nested, id);
	if (err == -E2BIG)
		err = mm_strings__text(a->strings, (uint64_t)address + MM_FIRST_REGULAR_ID,
				       &a->text)
			      ?: trace_writer__intern(a->w, (const char *)a->text.data, id);
	return err ? err : u64_map__put(&a->string_of, address, *id);
}

/* Whether a label ends inside the referenced string. It never does in rustc's files. */
static int has_separator(struct mm_arguments *a, uint64_t id, bool *has)
{
	int err = mm_strings__text(a->strings, id, &a->text);

	*has = !err && strchr((const char *)a->text.data, MM_SEPARATOR);
	return err;
}

/* An event's text without the label, which ends somewhere inside the text. */
static int flat_arguments(struct mm_arguments *a, uint32_t address, uint32_t *id)
{
	const char *separator;
	int err = mm_strings__text(a->strings, (uint64_t)address + MM_FIRST_REGULAR_ID, &a->text);

	if (err)
		return err;
	separator = strchr((const char *)a->text.data, MM_SEPARATOR);
	return trace_writer__intern(a->w, separator ? separator + 1 : "", id);
}

/*
 * The string of the arguments of the event at `address`; U64_MAP_NONE if it has none. The part
 * after a separator is read as a string of its own with the same end.
 */
static int arguments_of(struct mm_arguments *a, uint32_t address, uint32_t *id)
{
	uint32_t from = address, at = address;
	struct mm_component c;
	bool bad, nested = false;

	*id = U64_MAP_NONE;
	if (a->string_of.used >= REMEMBERED_MAX)
		u64_map__clear(&a->string_of);
	for (; mm_strings__component(a->strings, &at, &c, &bad); from = at) {
		const uint8_t *end = c.text ? memchr(c.text, MM_SEPARATOR, c.size) : NULL;
		int err = 0;

		if (end)
			return string_of(a, from + (uint32_t)(end - c.text) + 1, 0, id);
		if (!c.text)
			err = has_separator(a, c.id, &nested);
		if (err || nested)
			return err ? err : flat_arguments(a, address, id);
	}
	return 0;
}

static int write_run(struct mm_arguments *a)
{
	const struct trace_mapping m = {
		.process = a->process,
		.first = a->first,
		.n = a->n,
		.strings = a->run,
	};

	a->n = 0;
	return m.n ? trace_writer__map(a->w, &m) : 0;
}

static int map(struct mm_arguments *a, uint32_t invocation, uint32_t string)
{
	bool follows = a->n < MM_ARGUMENTS_RUN && invocation == a->first + a->n;
	int err = follows ? 0 : write_run(a);

	if (err)
		return err;
	if (!a->n)
		a->first = invocation;
	a->run[a->n++] = string;
	return 0;
}

/* The trace is usable even if it can hold no more arguments. */
static int unless_full(struct mm_arguments *a, int err)
{
	if (err != -E2BIG)
		return err;
	a->full = true;
	return 0;
}

int mm_arguments__number(struct mm_arguments *a, uint32_t address, uint32_t *invocation)
{
	uint32_t string, number = MM_FIRST_REGULAR_ID + a->n_own;
	int err;

	*invocation = u64_map__get(&a->number_of, address);
	if (*invocation != U64_MAP_NONE)
		return 0;
	*invocation = TRACE_NO_INVOCATION;
	if (a->full || a->n_own >= TRACE_NO_INVOCATION - MM_FIRST_REGULAR_ID)
		return 0;
	err = arguments_of(a, address, &string);
	if (err || string == U64_MAP_NONE)
		return unless_full(a, err);
	if (a->number_of.used >= REMEMBERED_MAX)
		u64_map__clear(&a->number_of);
	err = map(a, number, string) ?: u64_map__put(&a->number_of, address, number);
	if (err)
		return unless_full(a, err);
	*invocation = number;
	a->n_own++;
	a->kept++;
	return 0;
}

/*
 * The arguments of the first virtual id from *id on that stands for an event. *id is virtual_end if
 * there is none.
 */
static int next_virtual(struct mm_arguments *a, uint32_t *id, uint32_t *string)
{
	uint32_t end = a->strings->virtual_end;

	while ((*id = id_table__next(&a->strings->index, *id)) < end) {
		uint32_t address = mm_strings__address(a->strings, *id);

		if (address != MM_NO_ADDRESS)
			return arguments_of(a, address, string);
		++*id;
	}
	*id = end;
	return 0;
}

/* Map the virtual ids with arguments to them, and the others to `empty`. */
static int map_virtual(struct mm_arguments *a, uint32_t empty)
{
	uint32_t string;

	for (uint32_t id = 0;; id++) {
		int err = next_virtual(a, &id, &string);

		if (err)
			return err;
		if (id == a->strings->virtual_end)
			return write_run(a);
		a->kept += string != U64_MAP_NONE;
		err = map(a, id, string == U64_MAP_NONE ? empty : string);
		if (err)
			return err;
	}
}

/* Whether any virtual id has arguments. */
static int look_for_any(struct mm_arguments *a, bool *any)
{
	uint32_t string;

	for (uint32_t id = 0; !*any; id++) {
		int err = next_virtual(a, &id, &string);

		if (err || id == a->strings->virtual_end)
			return err;
		*any = string != U64_MAP_NONE;
	}
	return 0;
}

int mm_arguments__map(struct mm_arguments *a)
{
	bool any = a->kept;
	uint32_t empty;
	int err = look_for_any(a, &any);

	if (!err && any)
		err = trace_writer__intern(a->w, "", &empty);
	if (!err && any)
		err = a->full ? write_run(a) : map_virtual(a, empty);
	return unless_full(a, err);
}

void mm_arguments__destroy(struct mm_arguments *a)
{
	u64_map__destroy(&a->string_of);
	u64_map__destroy(&a->number_of);
	byte_buffer__destroy(&a->text);
}
