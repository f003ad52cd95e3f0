// SPDX-License-Identifier: Apache-2.0 OR MIT
/* tests/e2e/test_security.py tests users with sudo and users with capabilities. */
#include "base/rights.h"

#include <inttypes.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"
#include "base/cleanup.h"

#define SUDO_UID 54321

static uint64_t capabilities(const char *which)
{
	_fclose_ FILE *f = fopen("/proc/self/status", "re");
	uint64_t mask = UINT64_MAX;
	char line[256];

	while (f && fgets(line, sizeof(line), f)) {
		if (!strncmp(line, which, strlen(which)))
			sscanf(line + strlen(which), ":\t%" SCNx64, &mask);
	}
	return mask;
}

/* Rights that are given up do not come back, so each test runs in its own process. */
static int in_child(int (*test)(void))
{
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(test());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int limit(void)
{
	const uint64_t keep = RIGHTS_CAP(CAP_SYS_PTRACE) | RIGHTS_CAP(CAP_KILL);
	uint64_t had = capabilities("CapPrm"), bounding = capabilities("CapBnd");

	if (rights__limit(keep))
		return 1;
	if (capabilities("CapEff") != (had & keep) || capabilities("CapPrm") != (had & keep))
		return 2;
	if (capabilities("CapInh") || capabilities("CapAmb"))
		return 3;
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		return 4;
	/* Shrinking the bounding set takes CAP_SETPCAP. */
	if (had >> CAP_SETPCAP & 1 && capabilities("CapBnd") != (bounding & keep))
		return 5;
	/* A later call cannot restore a capability. */
	if (rights__limit(UINT64_MAX) || capabilities("CapPrm") != (had & keep))
		return 6;
	return 0;
}

static void limiting_keeps_only_capabilities_held_before(void **state)
{
	assert_int_equal(in_child(limit), 0);
}

static int drop_without_sudo(void)
{
	uint64_t had = capabilities("CapPrm");

	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
	if (rights__drop())
		return 1;
	if (capabilities("CapPrm") != (geteuid() ? 0 : had))
		return 2;
	/* With nothing to give up, no_new_privs stays unset, so rustc notices nothing. */
	return geteuid() && !had && prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) ? 3 : 0;
}

static void a_root_login_stays_root(void **state)
{
	assert_int_equal(in_child(drop_without_sudo), 0);
}

static int drop_under_sudo(void)
{
	gid_t group;

	setenv("SUDO_UID", "54321", 1);
	setenv("SUDO_GID", "54321", 1);
	setenv("HOME", "/root", 1);
	if (rights__drop())
		return 1;
	if (getuid() != SUDO_UID || geteuid() != SUDO_UID || getegid() != SUDO_UID)
		return 2;
	if (getgroups(1, &group) != 1 || group != SUDO_UID)
		return 3;
	if (capabilities("CapPrm") || capabilities("CapBnd"))
		return 4;
	return getenv("SUDO_UID") || strcmp(getenv("HOME"), "/") ? 5 : 0;
}

static void under_sudo_the_invoker_is_left(void **state)
{
	if (geteuid())
		skip();
	assert_int_equal(in_child(drop_under_sudo), 0);
}

static void our_ids_are_one(void **state)
{
	assert_false(rights__are_set_id());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(limiting_keeps_only_capabilities_held_before),
		cmocka_unit_test(a_root_login_stays_root),
		cmocka_unit_test(under_sudo_the_invoker_is_left),
		cmocka_unit_test(our_ids_are_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
