// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/labels.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "qprof/trace_format.h"

_Static_assert(TRACE_KIND_OTHER + QPT_KINDS_MAX <= TRACE_KINDS_MAX, "every kind has a number");

static const char *const texts[TRACE_KIND_OTHER] = {
	[TRACE_KIND_QUERY] = "Query",
	[TRACE_KIND_ACTIVITY] = "GenericActivity",
	[TRACE_KIND_BLOCKED] = "QueryBlocked",
	[TRACE_KIND_LOAD] = "IncrementalLoadResult",
	[TRACE_KIND_HASHING] = "IncrementalResultHashing",
	[TRACE_KIND_HIT] = "QueryCacheHit",
	[TRACE_KIND_HIT_COUNT] = "QueryCacheHitCount",
	[TRACE_KIND_ARTIFACT_SIZE] = "ArtifactSize",
	[TRACE_KIND_RESULTS] = "QueryResults",
	[TRACE_KIND_RESULTS_AT_LEAST] = "QueryResultsAtLeast",
	[TRACE_KIND_OFF_CPU] = "OffCpu",
};

const char *trace_kind_text(unsigned int kind)
{
	return kind < TRACE_KIND_OTHER ? texts[kind] : NULL;
}

const char *kinds__text(const struct kinds *k, unsigned int kind)
{
	if (kind < TRACE_KIND_OTHER)
		return texts[kind];
	kind -= TRACE_KIND_OTHER;
	return kind < k->n_other ? k->other[kind] : "<unknown>";
}

int kinds__number(struct kinds *k, const char *text, uint8_t *kind)
{
	for (unsigned int i = 0; i < TRACE_KIND_OTHER + k->n_other; i++) {
		if (!strcmp(kinds__text(k, i), text)) {
			*kind = i;
			return 0;
		}
	}
	if (k->n_other == QPT_KINDS_MAX)
		return -E2BIG;
	k->other[k->n_other] = strdup(text);
	if (!k->other[k->n_other])
		return -ENOMEM;
	*kind = TRACE_KIND_OTHER + k->n_other++;
	return 0;
}

void kinds__destroy(struct kinds *k)
{
	for (unsigned int i = 0; i < k->n_other; i++)
		free(k->other[i]);
	*k = (struct kinds){0};
}

static int take_one(struct labels *l, struct byte_reader *in, struct string_table *strings,
		    uint32_t n_strings, const char **why)
{
	uint32_t id = byte_reader__varint_max(in, n_strings - 1);
	uint32_t kind_text = byte_reader__varint_max(in, n_strings - 1);
	uint32_t name = byte_reader__varint_max(in, n_strings - 1);
	const char *text;
	uint8_t kind;
	int err;

	*why = "a list of labels is malformed";
	if (in->bad || id == name)
		return -EBADMSG;
	err = string_table__text(strings, kind_text, &text);
	if (err)
		return err == -ENOMEM ? err : -EBADMSG;
	err = kinds__number(&l->kinds, text, &kind);
	*why = "it has too many kinds";
	if (err)
		return err == -E2BIG ? -EBADMSG : err;
	*why = "a label is listed twice, or as a query's";
	if (kind == TRACE_KIND_QUERY || l->by_id[id].kind || l->by_id[name].kind)
		return -EBADMSG;
	l->by_id[id] = (struct label){.name = name, .kind = kind};
	return 0;
}

int labels__take(struct labels *l, struct byte_reader *in, struct string_table *strings,
		 uint32_t n_strings, const char **why)
{
	uint64_t n = byte_reader__varint_max(in, n_strings);
	int err = 0;

	*why = "a list of labels is malformed";
	if (!n)
		return -EBADMSG;
	if (array__reserve_at(&l->by_id, n_strings - 1, &l->n, sizeof(*l->by_id)))
		return -ENOMEM;
	for (; !err && n; n--)
		err = take_one(l, in, strings, n_strings, why);
	if (!err && in->at != in->end) {
		*why = "a list of labels is malformed";
		err = -EBADMSG;
	}
	return err;
}

void labels__destroy(struct labels *l)
{
	free(l->by_id);
	kinds__destroy(&l->kinds);
	*l = (struct labels){0};
}
