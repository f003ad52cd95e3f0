// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/samples_json.h"

static struct json_object *cuts_of(const struct samples_totals *t)
{
	struct json of = {0};

	json__begin(&of);
	for (int cut = TRACE_CUT_NOT + 1; cut < TRACE_CUT_MAX; cut++)
		json__number(&of, sample_cut_name(cut), t->cut[cut]);
	return json__take(&of);
}

static struct json_object *sum_of(const struct samples_totals *t, enum trace_sample_cause cause)
{
	bool is_memory = cause == TRACE_SAMPLE_FAULT;
	struct json of = {0};

	json__begin(&of);
	json__number(&of, "n", t->of[cause].n);
	json__number(&of, is_memory ? "bytes" : "ns", t->of[cause].value);
	json__number(&of, "no_query", t->no_query[cause].n);
	json__number(&of, is_memory ? "no_query_bytes" : "no_query_ns", t->no_query[cause].value);
	if (is_memory)
		json__number(&of, "unknown_query_bytes", t->unknown_query.value);
	return json__take(&of);
}

void samples_json(struct json *j, const struct samples_totals *t)
{
	json__begin(j);
	json__known(j, "hz", t->sampling.hz, t->sampling.hz);
	json__known(j, "fault_period", t->sampling.fault_period, t->sampling.fault_period);
	json__number(j, "n", samples_totals__n(t));
	json__number(j, "complete", t->cut[TRACE_CUT_NOT]);
	json__number(j, "light", t->light);
	json__value(j, "cut", cuts_of(t));
	json__number(j, "unknown", t->unknown);
	json__number(j, "compared", t->compared);
	json__number(j, "differ", t->differ);
	for (int cause = TRACE_SAMPLE_CPU; cause < TRACE_SAMPLE_CAUSES; cause++)
		json__value(j, sample_cause_name(cause), sum_of(t, cause));
	json__print(j, ",\"samples\":");
	json__put(j);
}
