// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * What the spans and tallies of a trace refer to: strings, labels, processes, threads, mappings,
 * places, files, functions, lines. Records wait until their chunk is full, or until
 * trace_writer__flush_names(), which comes before each chunk that refers to them.
 */
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "trace/writer.h"
#include "trace/writer_parts.h"

#define LIST_MOST 65536u /* ids of a mapping's list in one chunk */
/* Segments of a path that are strings of their own. */
#define PATH_MOST (QPT_STRING_DEPTH_MAX / 2)

/* Strings come first, as everything refers to them. */
int trace_writer__flush_names(struct trace_writer *w)
{
	struct byte_buffer *payload;
	uint32_t first = w->names.strings.n - w->names.new_strings.n;
	int err = pending__write(&w->names.new_strings, &w->sink, QPT_STRINGS, &first);

	err = err ?: pending__write(&w->names.new_labels, &w->sink, QPT_LABELS, NULL);
	err = err ?: pending__write(&w->names.new_keys, &w->sink, QPT_KEYS, NULL);
	err = err ?: pending__write(&w->names.new_processes, &w->sink, QPT_PROCESSES, NULL);
	err = err ?: pending__write(&w->names.new_threads, &w->sink, QPT_THREADS, NULL);
	err = err ?: pending__write(&w->names.new_foreign, &w->sink, QPT_FOREIGN, NULL);
	err = err
		      ?: pending__write(&w->names.new_mappings, &w->sink, QPT_MAPPINGS,
					&w->names.mappings_space);
	w->names.mappings_next = (struct id_map_next){0};
	err = err
		      ?: pending__write(&w->names.new_places, &w->sink, QPT_PLACES,
					&w->names.last_place.process);
	w->names.last_place = (struct trace_place){0};
	err = err ?: pending__write(&w->names.new_files, &w->sink, QPT_FILES, NULL);
	if (!err && w->names.functions.n_new) {
		payload = chunk_sink__payload(&w->sink);
		err = function_list__payload(&w->names.functions, payload);
		err = err ? file_writer__fail(&w->sink.file, err)
			  : chunk_sink__write(&w->sink, QPT_FUNCTIONS, payload, NULL);
	}
	return err ?: pending__write(&w->names.new_lines, &w->sink, QPT_LINES, NULL);
}

/* A record was appended to `p`. */
static int added(struct trace_writer *w, struct pending *p)
{
	return pending__add(p) ? trace_writer__flush_names(w) : 0;
}

/* Store a string that was looked up, if it is new. */
static int interned(struct trace_writer *w, uint32_t id, bool is_new)
{
	if (!is_new)
		return 0;
	interner__store(&w->names.strings, id, &w->names.new_strings.body);
	return added(w, &w->names.new_strings);
}

int trace_writer__intern(struct trace_writer *w, const char *text, uint32_t *id)
{
	bool is_new;
	int err = w->sink.file.error ?: interner__id(&w->names.strings, text, id, &is_new);

	return err ?: interned(w, *id, is_new);
}

int trace_writer__compose(struct trace_writer *w, const struct trace_piece *pieces, uint32_t n,
			  uint32_t *id)
{
	bool is_new;
	int err =
		w->sink.file.error ?: interner__compose(&w->names.strings, pieces, n, id, &is_new);

	return err ?: interned(w, *id, is_new);
}

int trace_writer__text(const struct trace_writer *w, uint32_t id, char **text)
{
	struct byte_buffer bytes = {0};

	if (id >= w->names.strings.n)
		return -EINVAL;
	interner__text(&w->names.strings, id, &bytes);
	byte_buffer__bytes(&bytes, "", 1);
	if (bytes.failed) {
		byte_buffer__destroy(&bytes);
		return -ENOMEM;
	}
	*text = (char *)bytes.data;
	return 0;
}

/* A path as Rust writes it: its parent and its segments are shared with other paths. */
static int intern_path(struct trace_writer *w, const char *path, uint32_t *id)
{
	_free_ char *copy = strdup(path);
	struct trace_piece pieces[3] = {{.text = ""}, {.text = ""}};
	char *at = copy, *end;
	int n = 0, err;

	if (!copy)
		return -ENOMEM;
	for (; (end = strstr(at, "::")) && n < (int)PATH_MOST; at = end + 2, n++) {
		*end = '\0';
		err = trace_writer__intern(w, at, &pieces[2].id)
			      ?: trace_writer__compose(w, pieces, 3, id);
		if (err)
			return err;
		pieces[0] = (struct trace_piece){.id = *id};
		pieces[1].text = "::";
	}
	return trace_writer__intern(w, at, &pieces[2].id)
		       ?: trace_writer__compose(w, pieces, 3, id);
}

int trace_writer__kind(struct trace_writer *w, const char *text, uint8_t *kind)
{
	return w->sink.file.error ?: kinds__number(&w->names.kinds, text, kind);
}

int trace_writer__key_type(struct trace_writer *w, uint32_t label, const char *type)
{
	uint32_t id;
	int err;

	if (label >= w->names.strings.n)
		return -EINVAL;
	err = trace_writer__intern(w, type, &id);
	if (err)
		return err;
	byte_buffer__varint(&w->names.new_keys.body, label);
	byte_buffer__varint(&w->names.new_keys.body, id);
	return added(w, &w->names.new_keys);
}

int trace_writer__label_of_kind(struct trace_writer *w, uint32_t *label, uint8_t kind)
{
	struct byte_buffer *body = &w->names.new_labels.body;
	uint32_t name = *label;
	uint64_t key = (uint64_t)name << 8 | kind;
	struct trace_piece pieces[] = {{.id = name}, {.text = " ("}, {0}, {.text = ")"}};
	int err;

	if (kind >= TRACE_KIND_OTHER + w->names.kinds.n_other || name & TRACE_VIRTUAL)
		return -EINVAL;
	*label = u64_map__get(&w->names.label_of, key);
	if (*label != U64_MAP_NONE)
		return 0;
	err = trace_writer__intern(w, kinds__text(&w->names.kinds, kind), &pieces[2].id)
		      ?: trace_writer__compose(w, pieces, 4, label)
		      ?: u64_map__put(&w->names.label_of, key, *label);
	if (err)
		return file_writer__fail(&w->sink.file, err);
	byte_buffer__varint(body, *label);
	byte_buffer__varint(body, pieces[2].id);
	byte_buffer__varint(body, name);
	return added(w, &w->names.new_labels);
}

/* The path of a library is stored with the first of its functions that knows it. */
static int note_file(struct trace_writer *w, uint32_t library, const char *path)
{
	uint32_t file;
	int err;

	if (!path || u64_map__get(&w->names.files, library) != U64_MAP_NONE)
		return 0;
	err = trace_writer__intern(w, path, &file) ?: u64_map__put(&w->names.files, library, file);
	if (err)
		return err;
	byte_buffer__varint(&w->names.new_files.body, library);
	byte_buffer__varint(&w->names.new_files.body, file);
	return added(w, &w->names.new_files);
}

int trace_writer__function(struct trace_writer *w, const struct trace_function *f)
{
	uint32_t library, name;
	int err = trace_writer__intern(w, f->library, &library);

	err = err ?: intern_path(w, f->name, &name);
	err = err ?: note_file(w, library, f->file);
	err = err ?: function_list__add(&w->names.functions, f, library, name);
	if (err)
		return err;
	return w->names.functions.records.size >= PENDING_MOST ? trace_writer__flush_names(w) : 0;
}

int trace_writer__lines(struct trace_writer *w, uint32_t first, const struct trace_line *rows,
			size_t n)
{
	struct byte_buffer *body = &w->names.new_lines.body;
	size_t size = body->size;
	int err = w->sink.file.error
			  ?: function_list__lines(&w->names.functions, first, rows, n,
						  w->names.strings.n, body);

	if (err || body->size == size)
		return err;
	return added(w, &w->names.new_lines);
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
	return most < w->names.strings.n;
}

/* A reader keeps each block in which an id is mapped, and refuses more than so many. */
static int reserve_blocks(struct trace_writer *w, uint32_t space, const struct trace_mapping *m)
{
	uint32_t last = (m->first + m->n - 1) / QPT_MAP_BLOCK;

	for (uint32_t block = m->first / QPT_MAP_BLOCK; block <= last; block++) {
		uint64_t key = (uint64_t)space << 32 | block;

		if (u64_map__get(&w->names.mapped_blocks, key) != U64_MAP_NONE)
			continue;
		if (w->names.mapped_blocks.used == QPT_MAP_BLOCKS_MAX)
			return -E2BIG;
		if (u64_map__put(&w->names.mapped_blocks, key, 0))
			return -ENOMEM;
	}
	return 0;
}

int trace_writer__foreign(struct trace_writer *w, uint32_t id)
{
	if (w->sink.file.error)
		return w->sink.file.error;
	if (id >= w->names.strings.n)
		return -EINVAL;
	if (u64_map__get(&w->names.foreign, id) != U64_MAP_NONE)
		return 0;
	if (u64_map__put(&w->names.foreign, id, 0))
		return -ENOMEM;
	byte_buffer__varint(&w->names.new_foreign.body, id);
	return added(w, &w->names.new_foreign);
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
	    (!labels && m->process >= w->names.n_processes))
		return -EINVAL;
	if (m->n > QPT_MAPPED_MAX - w->names.n_mapped)
		return -E2BIG;
	err = reserve_blocks(w, space, m);
	if (err)
		return err;
	/* A list may be longer than a chunk. */
	for (; left; left -= part.n, part.first += part.n) {
		part.n = m->strings && left > LIST_MOST ? LIST_MOST : left;
		err = space != w->names.mappings_space ? trace_writer__flush_names(w) : 0;
		if (err)
			return err;
		w->names.mappings_space = space;
		id_map__store(&w->names.new_mappings.body, &part, &w->names.mappings_next);
		w->names.n_mapped += part.n;
		err = added(w, &w->names.new_mappings);
		if (err)
			return err;
		if (m->strings)
			part.strings += part.n;
	}
	return 0;
}

int trace_writer__place(struct trace_writer *w, const struct trace_place *place)
{
	bool has_call = place->call_file != TRACE_NO_STRING;
	int err = w->sink.file.error;

	if (err)
		return err;
	if (place->process >= w->names.n_processes || place->string >= w->names.strings.n ||
	    place->file >= w->names.strings.n || !place->line ||
	    (has_call && (place->call_file >= w->names.strings.n || !place->call_line)))
		return -EINVAL;
	if (w->names.n_places >= QPT_PLACES_MAX / 2)
		return -E2BIG;
	if (w->names.new_places.n && w->names.last_place.process != place->process)
		err = trace_writer__flush_names(w);
	if (err)
		return err;
	place_table__store(&w->names.new_places.body, place, &w->names.last_place);
	w->names.n_places++;
	return added(w, &w->names.new_places);
}

_Static_assert(TRACE_KILL_MEMORY == QPT_KILL_MEMORY, "the same number");
_Static_assert(TRACE_KILL_OTHER == QPT_KILL_OTHER, "the same number");

/* Texts of a process: those of the first version of the format, and the one that came last. */
#define FIRST_TEXTS   6
#define PROCESS_TEXTS 7

int trace_writer__process(struct trace_writer *w, const struct trace_process *p)
{
	const char *texts[PROCESS_TEXTS] = {p->command,	 p->crate, p->crate_type, p->rustc_version,
					    p->build_id, p->cwd,   p->no_llvm};
	bool exited = p->exit_status != TRACE_EXIT_UNKNOWN;
	struct byte_buffer *body = &w->names.new_processes.body;
	uint8_t record[(10 + PROCESS_TEXTS) * BYTES_VARINT_MAX], *at = record;
	uint32_t refs[PROCESS_TEXTS]; /* string id + 1, or 0 for none */

	if (w->sink.file.error)
		return w->sink.file.error;
	if (p->index > w->names.n_processes || p->index >= QPT_PROCESSES_MAX)
		return -EINVAL;
	for (int i = 0; i < PROCESS_TEXTS; i++) {
		int err = texts[i] ? trace_writer__intern(w, texts[i], &refs[i]) : 0;

		if (err)
			return err;
		refs[i] = texts[i] ? refs[i] + 1 : 0;
	}
	w->names.n_processes += p->index == w->names.n_processes;
	at = bytes_store_varint(at, p->index);
	at = bytes_store_varint(at, (p->attached_late ? QPT_PROCESS_LATE : 0) |
					    (exited ? QPT_PROCESS_EXITED : 0));
	at = bytes_store_varint(at, p->pid);
	at = bytes_store_varint(at, p->parent_pid);
	at = bytes_store_varint(at, p->start_ns);
	at = bytes_store_varint(at, p->end_ns);
	at = bytes_store_varint(at, exited ? (uint32_t)p->exit_status : 0);
	for (int i = 0; i < FIRST_TEXTS; i++)
		at = bytes_store_varint(at, refs[i]);
	at = bytes_store_varint(at, p->peak_bytes);
	at = bytes_store_varint(at, p->cpu_ns);
	/* Few have the others. */
	if (p->kill || refs[FIRST_TEXTS])
		at = bytes_store_varint(at, p->kill);
	if (refs[FIRST_TEXTS])
		at = bytes_store_varint(at, refs[FIRST_TEXTS]);
	/* The record stands behind its size, so that a later version may add fields. */
	byte_buffer__varint(body, at - record);
	byte_buffer__bytes(body, record, at - record);
	return added(w, &w->names.new_processes);
}

int trace_writer__thread(struct trace_writer *w, const struct trace_thread *t)
{
	struct byte_buffer *body = &w->names.new_threads.body;
	uint32_t name;
	int err;

	if (t->process >= w->names.n_processes)
		return -EINVAL;
	err = trace_writer__intern(w, t->name, &name)
		      ?: thread_set__add(&w->names.threads, t->process, t->tid);
	if (err)
		return err;
	byte_buffer__varint(body, t->process);
	byte_buffer__varint(body, t->tid);
	byte_buffer__varint(body, name);
	return added(w, &w->names.new_threads);
}

void trace_writer__destroy_names(struct trace_writer *w)
{
	struct pending *all[] = {&w->names.new_strings,	  &w->names.new_labels,
				 &w->names.new_threads,	  &w->names.new_mappings,
				 &w->names.new_processes, &w->names.new_lines,
				 &w->names.new_places,	  &w->names.new_keys,
				 &w->names.new_foreign,	  &w->names.new_files};

	for (size_t i = 0; i < N_OF(all); i++)
		byte_buffer__destroy(&all[i]->body);
	interner__destroy(&w->names.strings);
	kinds__destroy(&w->names.kinds);
	u64_map__destroy(&w->names.label_of);
	u64_map__destroy(&w->names.foreign);
	u64_map__destroy(&w->names.files);
	u64_map__destroy(&w->names.mapped_blocks);
	function_list__destroy(&w->names.functions);
	thread_set__destroy(&w->names.threads);
}
