// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/retention.h"

#define NONE SIZE_MAX

static bool is_too_old(const struct kept *t, const struct retention_limits *l, uint64_t now_ns)
{
	return l->age_ns && now_ns > t->time_ns && now_ns - t->time_ns > l->age_ns;
}

static bool is_first_of_user(const struct kept *traces, size_t i)
{
	for (size_t j = 0; j < i; j++)
		if (traces[j].user == traces[i].user)
			return false;
	return true;
}

/* The user with the most bytes. */
static uint32_t largest_user(const struct kept *traces, size_t n)
{
	uint64_t most = 0;
	uint32_t user = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t bytes = 0;

		if (!is_first_of_user(traces, i))
			continue;
		for (size_t k = i; k < n; k++)
			bytes += traces[k].user == traces[i].user ? traces[k].bytes : 0;
		if (bytes > most) {
			most = bytes;
			user = traces[i].user;
		}
	}
	return user;
}

static size_t oldest_finished(const struct kept *traces, size_t n, uint32_t user)
{
	size_t found = NONE;

	for (size_t i = 0; i < n; i++)
		if (traces[i].user == user && !traces[i].open &&
		    (found == NONE || traces[i].time_ns < traces[found].time_ns))
			found = i;
	return found;
}

static size_t largest_open(const struct kept *traces, size_t n, uint32_t user)
{
	size_t found = NONE;

	for (size_t i = 0; i < n; i++)
		if (traces[i].user == user && traces[i].open && !traces[i].cut &&
		    (found == NONE || traces[i].bytes > traces[found].bytes))
			found = i;
	return found;
}

enum retention_action retention_decide(const struct kept *traces, size_t n,
				       const struct retention_limits *limits, uint64_t now_ns,
				       size_t *index)
{
	uint64_t bytes = 0;
	uint32_t user;

	for (*index = 0; *index < n; ++*index)
		if (!traces[*index].open && is_too_old(&traces[*index], limits, now_ns))
			return RETENTION_REMOVE;
	for (size_t i = 0; i < n; i++)
		bytes += traces[i].bytes;
	if (!limits->bytes || bytes <= limits->bytes)
		return RETENTION_ALL;
	user = largest_user(traces, n);
	*index = oldest_finished(traces, n, user);
	if (*index != NONE)
		return RETENTION_REMOVE;
	*index = largest_open(traces, n, user);
	return *index == NONE ? RETENTION_ALL : RETENTION_CUT;
}
