// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/wait_quota.h"

#include <string.h>

#include "base/diag.h"

static bool is_trusted(const struct wait_quota *p, uid_t uid)
{
	return !uid || uid == p->invoker;
}

/* Where this user is counted, or would be. */
static unsigned int find(const struct wait_quota *p, uid_t uid)
{
	unsigned int i = 0;

	while (i < p->n && p->users[i].uid != uid)
		i++;
	return i;
}

/* The share of the recording's time since the last question. */
static uint64_t paid_ns(const struct wait_quota *p, unsigned int i, uint64_t now_ns)
{
	return (now_ns - p->users[i].asked_ns) / WAIT_QUOTA_SHARE;
}

static unsigned int add_user_quota(struct wait_quota *p, uid_t uid, uint64_t now_ns)
{
	unsigned int i = find(p, uid);

	if (i < p->n)
		return i;
	if (i < WAIT_QUOTA_USERS) {
		p->n++;
	} else {
		/* One with nothing in it, which can be another user's, or else the shared one. */
		for (i = 0; i < WAIT_QUOTA_USERS &&
			    (p->users[i].strikes || p->users[i].waited_ns > paid_ns(p, i, now_ns));)
			i++;
	}
	if (i < WAIT_QUOTA_USERS) {
		memset(&p->users[i], 0, sizeof(p->users[i]));
		p->users[i].uid = uid;
	}
	return i;
}

bool wait_quota__is_left(const struct wait_quota *p, uid_t uid, uint64_t now_ns)
{
	unsigned int i = find(p, uid);

	if (is_trusted(p, uid))
		return true;
	return p->users[i].strikes < WAIT_QUOTA_STRIKES &&
	       p->users[i].waited_ns <= WAIT_QUOTA_WAIT_NS + paid_ns(p, i, now_ns);
}

static void warn(unsigned int i, uid_t uid, const char *until)
{
	if (i == WAIT_QUOTA_USERS)
		diag_warn("new compilers of other users are not recorded%s: it takes too long to "
			  "look into their processes",
			  until);
	else
		diag_warn("going on without new compilers of user %u%s: it takes too long to look "
			  "into that user's processes",
			  (unsigned int)uid, until);
}

void wait_quota__waited(struct wait_quota *p, uid_t uid, uint64_t begin_ns, uint64_t end_ns)
{
	uint64_t ns = end_ns - begin_ns, paid;
	unsigned int i;

	if (is_trusted(p, uid) || ns <= WAIT_QUOTA_FREE_NS)
		return;
	i = add_user_quota(p, uid, end_ns);
	paid = paid_ns(p, i, end_ns);
	p->users[i].asked_ns = end_ns;
	p->users[i].waited_ns -= paid < p->users[i].waited_ns ? paid : p->users[i].waited_ns;
	p->users[i].waited_ns += ns < WAIT_QUOTA_ANSWER_NS ? ns : WAIT_QUOTA_ANSWER_NS;
	if (p->users[i].waited_ns <= WAIT_QUOTA_WAIT_NS || p->users[i].warned)
		return;
	p->users[i].warned = true;
	warn(i, uid, " for a while");
}

void wait_quota__strike(struct wait_quota *p, uid_t uid, uint64_t now_ns)
{
	unsigned int i;

	if (is_trusted(p, uid))
		return;
	i = add_user_quota(p, uid, now_ns);
	if (++p->users[i].strikes == WAIT_QUOTA_STRIKES)
		warn(i, uid, "");
}
