// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "tracks/dependencies.h"

#include <errno.h>
#include <string.h>

size_t dependencies__bytes(const struct dependencies *d)
{
	return d->row_bytes + d->texts.size +
	       (d->text_of.capacity + d->crates.index.index_of.capacity) *
		       sizeof(struct u64_map_slot);
}

static bool has_room(const struct dependencies *d, size_t more)
{
	return dependencies__bytes(d) + more <= DEPENDENCIES_BYTES_MAX;
}

/* Set *at to where a text begins; a text is kept once, unless another one has its hash. */
static int keep_text(struct dependencies *d, const char *text, uint32_t *at)
{
	uint64_t hash = map_hash(text, strlen(text));
	uint32_t known = u64_map__get(&d->text_of, hash);

	if (known != U64_MAP_NONE && !strcmp((const char *)d->texts.data + known, text)) {
		*at = known;
		return 0;
	}
	*at = 0;
	if (!has_room(d, strlen(text) + 1))
		return 0;
	/* No text begins at 0. */
	if (!d->texts.size)
		byte_buffer__bytes(&d->texts, "", 1);
	known = (uint32_t)d->texts.size;
	byte_buffer__bytes(&d->texts, text, strlen(text) + 1);
	if (d->texts.failed || u64_map__put(&d->text_of, hash, known))
		return -ENOMEM;
	*at = known;
	return 0;
}

static int make_row(struct dependencies *d, uint32_t parent, const char *segment,
		    struct dependency_row *out)
{
	out->parent = parent;
	out->segment = 0;
	return segment ? keep_text(d, segment, &out->segment) : 0;
}

/* *crate is NULL if there is no room for one more. */
static int find_or_add(struct dependencies *d, uint64_t stable_id, struct dependency **crate)
{
	*crate = table__find(&d->crates, stable_id);
	if (*crate || !has_room(d, sizeof(**crate)))
		return 0;
	*crate = table__get(&d->crates, stable_id, .n_all = 0);
	d->row_bytes += sizeof(**crate);
	return *crate ? 0 : -ENOMEM;
}

int dependencies__add_all(struct dependencies *d, uint64_t stable_id,
			  const struct definitions *definitions, const struct plan_layout *l)
{
	uint32_t n = l->wire.size ? (uint32_t)(definitions->table.size / l->wire.size) : 0;
	size_t bytes = n * sizeof(struct dependency_row);
	_free_ struct dependency_row *rows = NULL;
	struct dependency *crate;
	int err;

	if (!n || !has_room(d, bytes))
		return 0;
	err = find_or_add(d, stable_id, &crate);
	if (err || !crate)
		return err;
	rows = calloc(n, sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < n && !err; i++) {
		struct definition of =
			definition__read(l, definitions->table.data + (size_t)i * l->wire.size);
		char buf[PATHS_SEGMENT_MAX];

		err = make_row(d, definition_parent(l, &of),
			       definitions__segment(definitions, l, &of, buf), &rows[i]);
	}
	if (err)
		return err;
	/* If it was compiled before, its source may be another one now: the new numbers count. */
	d->row_bytes += bytes - crate->n_all * sizeof(*rows);
	free(crate->all);
	crate->all = take_ptr(rows);
	crate->n_all = n;
	return 0;
}

int dependencies__add(struct dependencies *d, uint64_t stable_id, uint32_t index, uint32_t parent,
		      const char *segment)
{
	struct dependency *crate;
	struct dependency_row row;
	size_t bytes = sizeof(row) + 2 * sizeof(struct u64_map_slot);
	int err = find_or_add(d, stable_id, &crate);

	if (err || !crate)
		return err;
	if (index < crate->n_all || table__find(&crate->some, index) || !has_room(d, bytes))
		return 0;
	if (make_row(d, parent, segment, &row))
		return -ENOMEM;
	d->row_bytes += bytes;
	return table__get(&crate->some, index, .parent = row.parent, .segment = row.segment)
		       ? 0
		       : -ENOMEM;
}

struct crate_of {
	const struct dependencies *d;
	struct dependency *crate;
};

static const struct dependency_row *row_of(struct dependency *crate, uint32_t index)
{
	return index < crate->n_all ? &crate->all[index] : table__find(&crate->some, index);
}

static bool step(void *ctx, uint32_t index, struct path_step *out)
{
	const struct crate_of *of = ctx;
	const struct dependency_row *row = row_of(of->crate, index);

	if (row)
		*out = (struct path_step){.parent = row->parent};
	return row;
}

static const char *segment(void *ctx, uint32_t index, char buf[PATHS_SEGMENT_MAX])
{
	const struct crate_of *of = ctx;
	const struct dependency_row *row = row_of(of->crate, index);

	(void)buf;
	return row && row->segment ? (const char *)of->d->texts.data + row->segment : NULL;
}

int dependencies__string(struct dependencies *d, uint64_t stable_id, uint32_t root, uint32_t index,
			 const struct tracks_sink *sink, uint32_t *id)
{
	struct crate_of of = {d, table__find(&d->crates, stable_id)};
	const struct path_source from = {&of, step, segment};

	*id = TRACE_NO_STRING;
	return of.crate ? paths__string(&from, root, index, sink, id) : 0;
}

void dependencies__destroy(struct dependencies *d)
{
	for (uint32_t i = 0; i < d->crates.n; i++) {
		free(d->crates.at[i].all);
		table__destroy(&d->crates.at[i].some);
	}
	table__destroy(&d->crates);
	byte_buffer__destroy(&d->texts);
	u64_map__destroy(&d->text_of);
	*d = (struct dependencies){0};
}
