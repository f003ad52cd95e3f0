// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/writer_state.h"

#include <errno.h>
#include <string.h>

#define LIST_MOST 65536u /* ids of a mapping's list in one chunk */
#define PATH_MOST                                                                      \
	(QPT_STRING_DEPTH_MAX / 2) /* segments of a path that are strings of their own \
				    */

/* A string was looked up: store it if it is new. */
static int interned(struct trace_writer *w, uint32_t id, bool is_new)
{
	if (!is_new)
		return 0;
	interner__store(&w->strings, id, &w->new_strings.body);
	return writer__added(w, &w->new_strings);
}

int trace_writer__intern(struct trace_writer *w, const char *text, uint32_t *id)
{
	bool is_new;
	int err = w->sink.file.error;

	if (!err)
		err = interner__id(&w->strings, text, id, &is_new);
	return err ? err : interned(w, *id, is_new);
}

int trace_writer__compose(struct trace_writer *w, const struct trace_piece *pieces, uint32_t n,
			  uint32_t *id)
{
	bool is_new;
	int err = w->sink.file.error;

	if (!err)
		err = interner__compose(&w->strings, pieces, n, id, &is_new);
	return err ? err : interned(w, *id, is_new);
}

int trace_writer__intern_path(struct trace_writer *w, const char *path, uint32_t *id)
{
	_free_ char *copy = strdup(path);
	struct trace_piece pieces[3] = {{.text = ""}, {.text = ""}};
	char *at = copy, *end;
	int n = 0, err;

	if (!copy)
		return -ENOMEM;
	for (; (end = strstr(at, "::")) && n < (int)PATH_MOST; at = end + 2, n++) {
		*end = '\0';
		err = trace_writer__intern(w, at, &pieces[2].id);
		if (!err)
			err = trace_writer__compose(w, pieces, 3, id);
		if (err)
			return err;
		pieces[0] = (struct trace_piece){.id = *id};
		pieces[1].text = "::";
	}
	err = trace_writer__intern(w, at, &pieces[2].id);
	return err ? err : trace_writer__compose(w, pieces, 3, id);
}

int trace_writer__kind(struct trace_writer *w, const char *text, uint8_t *kind)
{
	return w->sink.file.error ? w->sink.file.error : kinds__number(&w->kinds, text, kind);
}

int writer__add_label(struct trace_writer *w, uint32_t name, uint8_t kind, uint32_t *id)
{
	struct byte_buffer *body = &w->new_labels.body;
	struct trace_piece pieces[] = {{.id = name}, {.text = " ("}, {0}, {.text = ")"}};
	int err = trace_writer__intern(w, kinds__text(&w->kinds, kind), &pieces[2].id);

	if (!err)
		err = trace_writer__compose(w, pieces, 4, id);
	if (!err)
		err = u64_map__put(&w->label_of, (uint64_t)name << 8 | kind, *id);
	if (err)
		return writer__fail(w, err);
	byte_buffer__varint(body, *id);
	byte_buffer__varint(body, pieces[2].id);
	byte_buffer__varint(body, name);
	return writer__added(w, &w->new_labels);
}

int trace_writer__function(struct trace_writer *w, const struct trace_function *f)
{
	uint32_t library, name;
	int err = trace_writer__intern(w, f->library, &library);

	if (!err)
		err = trace_writer__intern_path(w, f->name, &name);
	if (!err)
		err = function_list__add(&w->functions, f, library, name);
	if (err)
		return err;
	return writer__added_function(w);
}

int trace_writer__lines(struct trace_writer *w, uint32_t first, const struct trace_line *rows,
			size_t n)
{
	struct pending *p = &w->new_lines;
	size_t size = p->body.size;
	int err = w->sink.file.error;

	if (!err)
		err = function_list__lines(&w->functions, first, rows, n, w->strings.n, &p->body);
	if (err || p->body.size == size)
		return err;
	return writer__added(w, p);
}

/* Whether all strings of a mapping exist. */
static bool has_strings(const struct trace_writer *w, const struct trace_mapping *m)
{
	uint64_t most = m->string;

	if (m->series)
		most += m->n - 1;
	if (m->strings)
		most = 0;
	for (uint32_t i = 0; m->strings && i < m->n; i++)
		most = m->strings[i] > most ? m->strings[i] : most;
	return most < w->strings.n;
}

/* A reader keeps a block for each that has an id in it, and takes only so many. */
static int reserve_blocks(struct trace_writer *w, uint32_t space, const struct trace_mapping *m)
{
	uint32_t last = (m->first + m->n - 1) / QPT_MAP_BLOCK;

	for (uint32_t block = m->first / QPT_MAP_BLOCK; block <= last; block++) {
		uint64_t key = (uint64_t)space << 32 | block;

		if (u64_map__get(&w->mapped_blocks, key) != U64_MAP_NONE)
			continue;
		if (w->mapped_blocks.used == QPT_MAP_BLOCKS_MAX)
			return -E2BIG;
		if (u64_map__put(&w->mapped_blocks, key, 0))
			return -ENOMEM;
	}
	return 0;
}

static int store_mapping(struct trace_writer *w, uint32_t space, const struct trace_mapping *m)
{
	int err = 0;

	if (space != w->mappings_space)
		err = writer__write_names(w);
	if (err)
		return err;
	w->mappings_space = space;
	id_map__store(&w->new_mappings.body, m, &w->mappings_next);
	w->n_mapped += m->n;
	return writer__added(w, &w->new_mappings);
}

int trace_writer__map(struct trace_writer *w, const struct trace_mapping *m)
{
	bool labels = m->process == TRACE_NO_PROCESS;
	uint64_t limit = labels ? TRACE_VIRTUAL : TRACE_NO_INVOCATION;
	uint32_t space = labels ? 0 : m->process + 1, left = m->n;
	struct trace_mapping part = *m;
	int err = w->sink.file.error;

	if (err)
		return err;
	if (!m->n || (uint64_t)m->first + m->n > limit || !has_strings(w, m) ||
	    (!labels && m->process >= w->n_processes))
		return -EINVAL;
	if (m->n > QPT_MAPPED_MAX - w->n_mapped)
		return -E2BIG;
	err = reserve_blocks(w, space, m);
	/* A list may be longer than a chunk. */
	for (; left && !err; left -= part.n, part.first += part.n) {
		part.n = m->strings && left > LIST_MOST ? LIST_MOST : left;
		err = store_mapping(w, space, &part);
		if (m->strings)
			part.strings += part.n;
	}
	return err;
}
