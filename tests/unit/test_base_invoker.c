// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "base/invoker.h"
#include "base/first_environ.h"
#include "base/rights.h"
#include "base/cleanup.h"

#include <grp.h>
#include <sys/fsuid.h>
#include <unistd.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "test.h"
#include "../fixtures/rows.h"

#define NOBODY_KNOWS 3999999999u /* a uid without a name */

static const char *value_of(char **env, const char *name)
{
	size_t len = strlen(name);
	const char *found = NULL;

	for (; *env; env++) {
		if (strncmp(*env, name, len) || (*env)[len] != '=')
			continue;
		assert_null(found); /* only once */
		found = *env + len + 1;
	}
	return found;
}

TEST_CASE(without_sudo_it_is_us)
{
	_invoker_ struct invoker inv;

	assert_int_equal(invoker__from(&inv, 1000, 1001, "0", "0"), 0);
	assert_false(inv.sudo);
	assert_int_equal(inv.uid, 1000);
	assert_int_equal(inv.gid, 1001);
	assert_non_null(inv.home);
	invoker__clear(&inv);
	assert_int_equal(invoker__from(&inv, 0, 0, NULL, NULL), 0);
	assert_false(inv.sudo);
}

TEST_CASE(under_sudo_it_is_the_caller_of_sudo)
{
	_invoker_ struct invoker inv;

	assert_int_equal(invoker__from(&inv, 0, 0, "3999999999", "77"), 0);
	assert_true(inv.sudo);
	assert_int_equal(inv.uid, NOBODY_KNOWS);
	assert_int_equal(inv.gid, 77);
	assert_null(inv.name);
	assert_string_equal(inv.home, "/");
}

/* Only root can take them. Any other user gets -EPERM and keeps its own. */
TEST_CASE(rights_to_files_are_taken_and_returned)
{
	struct invoker inv = {.sudo = true, .uid = NOBODY_KNOWS, .gid = 77};
	bool root = geteuid() == 0;

	assert_int_equal(invoker__take_file_rights(&inv), root ? 0 : -EPERM);
	assert_int_equal((uid_t)setfsuid(-1), root ? NOBODY_KNOWS : geteuid());
	assert_int_equal((gid_t)setfsgid(-1), root ? 77 : getegid());
	invoker__return_file_rights(&inv);
	assert_int_equal((uid_t)setfsuid(-1), geteuid());
	assert_int_equal((gid_t)setfsgid(-1), getegid());
}

/* Root's groups may write where the invoker may not. */
TEST_CASE(groups_are_those_of_a_login)
{
	_invoker_ struct invoker inv;
	gid_t before[64], during[64], after[64];
	int n = getgroups(64, before), m;

	assert_int_equal(invoker__from(&inv, 0, 0, "3999999999", "77"), 0);
	assert_int_equal(inv.n_groups, 1);
	assert_int_equal(inv.groups[0], 77);
	assert_int_equal(invoker__take_file_rights(&inv), geteuid() ? -EPERM : 0);
	m = getgroups(64, during);
	invoker__return_file_rights(&inv);
	invoker__return_file_rights(&inv);
	if (!geteuid()) {
		assert_int_equal(m, 1);
		assert_int_equal(during[0], 77);
	}
	assert_int_equal(getgroups(64, after), n);
	assert_memory_equal(after, before, (size_t)n * sizeof(*before));
}

/* Root exists on every machine, and may be in several groups. */
TEST_CASE(the_database_knows_more_groups)
{
	_invoker_ struct invoker inv;
	gid_t groups[256];
	int n = 256;

	assert_int_equal(invoker__from(&inv, 0, 0, "0", "0"), 0);
	if (inv.name) {
		assert_true(getgrouplist(inv.name, 0, groups, &n) > 0);
		assert_int_equal(inv.n_groups, n);
		assert_memory_equal(inv.groups, groups, (size_t)n * sizeof(*groups));
	}
	invoker__clear(&inv);
	assert_int_equal(invoker__from(&inv, 1000, 1000, NULL, NULL), 0);
	assert_null(inv.groups);
}

/* The kernel refuses this group, so the uid must not stay changed either. */
TEST_CASE(rights_the_kernel_refuses_are_not_taken_for_given)
{
	struct invoker inv = {.sudo = true, .uid = geteuid() + 1, .gid = (gid_t)-1};

	assert_int_equal(invoker__take_file_rights(&inv), -EPERM);
	assert_int_equal((uid_t)setfsuid(-1), geteuid());
	assert_int_equal((gid_t)setfsgid(-1), getegid());
}

TEST_CASE(malformed_ids_do_not_count)
{
	static const char *const bad[] = {"", "-1", "+5", " 5", "5x", "4294967295", "99999999999"};
	_invoker_ struct invoker inv;

	for (size_t i = 0; i < N_OF(bad); i++) {
		assert_int_equal(invoker__from(&inv, 0, 0, bad[i], "5"), 0);
		row_equal(bad[i], inv.sudo, false);
		invoker__clear(&inv);
		assert_int_equal(invoker__from(&inv, 0, 0, "5", bad[i]), 0);
		row_equal(bad[i], inv.sudo, false);
		invoker__clear(&inv);
	}
}

TEST_CASE(without_sudo_the_environment_is_copied)
{
	char *const base[] = {(char *)"PATH=/bin", (char *)"SUDO_USER=x", (char *)"A=b=c", NULL};
	struct invoker inv = {.home = (char *)"/home/me"};
	_environ_ char **env = NULL;

	assert_int_equal(invoker__environ(&inv, base, &env), 0);
	for (int i = 0; i < 3; i++)
		assert_string_equal(env[i], base[i]);
	assert_null(env[3]);
	invoker__free_environ(NULL);
}

TEST_CASE(sudos_changes_are_undone)
{
	char *const base[] = {
		(char *)"PATH=/usr/bin:/bin", (char *)"HOME=/root",
		(char *)"USER=root",	      (char *)"LOGNAME=root",
		(char *)"SUDO_USER=me",	      (char *)"SUDO_COMMAND=/usr/bin/qprof-bpf",
		(char *)"RUSTFLAGS=-g",	      NULL};
	struct invoker inv = {.sudo = true, .name = (char *)"me", .home = (char *)"/home/me"};
	_environ_ char **env = NULL;

	assert_int_equal(invoker__environ(&inv, base, &env), 0);
	assert_string_equal(value_of(env, "PATH"), "/usr/bin:/bin:/home/me/.cargo/bin");
	assert_string_equal(value_of(env, "HOME"), "/home/me");
	assert_string_equal(value_of(env, "USER"), "me");
	assert_string_equal(value_of(env, "LOGNAME"), "me");
	assert_string_equal(value_of(env, "RUSTFLAGS"), "-g");
	assert_null(value_of(env, "SUDO_USER"));
	assert_null(value_of(env, "SUDO_COMMAND"));
}

/* The PATH of an invoker with the home /h, from one or two variables. */
static void assert_path(const char *one, const char *two, const char *expected)
{
	const struct invoker inv = {.sudo = true, .home = (char *)"/h"};
	char *const base[] = {(char *)one, (char *)two, NULL};
	_environ_ char **env = NULL;

	assert_int_equal(invoker__environ(&inv, base, &env), 0);
	assert_string_equal(value_of(env, "PATH"), expected);
}

TEST_CASE(cargo_is_added_to_the_path_once)
{
	assert_path("PATH=/h/.cargo/bin:/bin", NULL, "/h/.cargo/bin:/bin");
	assert_path("PATH=/bin:/h/.cargo/bin", NULL, "/bin:/h/.cargo/bin");
	assert_path("PATH=/bin:/h/.cargo/bin2", NULL, "/bin:/h/.cargo/bin2:/h/.cargo/bin");
	assert_path("PATH=/bin", "CARGO_HOME=/c", "/bin:/c/bin");
	assert_path("A=1", NULL, "/usr/local/bin:/usr/bin:/bin:/h/.cargo/bin");
}

TEST_CASE(becoming_oneself_is_nothing)
{
	_invoker_ struct invoker inv;

	assert_int_equal(invoker__from(&inv, geteuid(), getegid(), NULL, NULL), 0);
	assert_int_equal(invoker__become(&inv), 0);
}

/* ---- First environ --------------------------------------------------------------------------- */

/* tests/e2e/test_without_root.py tests an environment that the dynamic linker has changed. */

TEST_CASE(texts_are_split)
{
	char block[] = "A=1\0TMPDIR=/t\0\0B=", name[] = "./qprof-bpf";
	char **env;

	assert_int_equal(first_environ__split(block, block + sizeof(block), &env), 0);
	assert_string_equal(env[0], "A=1");
	assert_string_equal(env[1], "TMPDIR=/t");
	assert_string_equal(env[2], "");
	assert_string_equal(env[3], "B=");
	assert_null(env[4]);
	free(env);
	assert_int_equal(first_environ__split(name, name, &env), 0);
	assert_null(env[0]);
	free(env);
}

TEST_CASE(an_unterminated_environment_is_refused)
{
	char block[] = {'A', '=', '1'};
	char **env;

	assert_int_equal(first_environ__split(block, block + 3, &env), -EINVAL);
	assert_int_equal(first_environ__split(block + 3, block, &env), -EINVAL);
}

TEST_CASE(without_capabilities_of_the_file_it_is_ours)
{
	char name[] = "x", *argv[] = {name, NULL};
	size_t i = 0;

	assert_int_equal(first_environ__save(1, argv), 0);
	for (; environ[i]; i++)
		assert_ptr_equal(first_environ()[i], environ[i]);
	assert_null(first_environ()[i]);
}

/* Each of these makes some library read a file or trust a value. */
TEST_CASE(a_process_with_rights_sees_what_is_known)
{
	static const char *const unsafe[] = {
		"TERMINFO",
		"TERMINFO_DIRS",
		"TERMCAP",
		"NCURSES_GPM_TERMS",
		"DEBUGINFOD_URLS",
		"LOCPATH",
		"LIBBPF_LOG_LEVEL",
		"TZ",
		"LD_LIBRARY_PATH",
		"PATH",
		"GCONV_PATH",
		"LANGUAGE",
		"TMPDIR",
		"HOM",
		"HOMES",
		"CARGO_HOME",
	};
	char **own = environ;

	for (size_t i = 0; i < N_OF(unsafe); i++)
		setenv(unsafe[i], "/tmp/x", 1);
	setenv("HOME", "/home/me", 1);
	setenv("LANG", "C.UTF-8", 1);
	setenv("LC_ALL", "../../tmp/x", 1);
	own = environ;
	assert_int_equal(first_environ__restrict(), 0);
	for (size_t i = 0; i < N_OF(unsafe); i++)
		row_text(unsafe[i], getenv(unsafe[i]), NULL);
	assert_string_equal(getenv("HOME"), "/home/me");
	assert_string_equal(getenv("LANG"), "C.UTF-8");
	assert_null(getenv("LC_ALL"));
	first_environ__release();
	assert_ptr_equal(environ, own);
	first_environ__release();
	assert_string_equal(getenv("TERMINFO"), "/tmp/x");
}

/* Sudo's variables are those of `environ`, and the invoker's are as they were. */
TEST_CASE(an_environment_that_is_the_invokers_is_copied)
{
	static char home[] = "HOME=/elsewhere", path[] = "PATH=/bin", mail[] = "MAIL=/m";
	struct invoker inv = {.sudo = true, .uid = 1, .home = (char *)"/home/a"};
	char **own = calloc(4, sizeof(*own));
	_environ_ char **env = NULL, **changed = NULL;

	memcpy(own, (char *[]){home, path, mail}, 3 * sizeof(*own));
	assert_int_equal(invoker__environ(&inv, own, &changed), 0);
	assert_string_equal(value_of(changed, "HOME"), "/home/a");
	environ_before_sudo__set(own);
	assert_ptr_equal(environ_before_sudo(), own);
	assert_ptr_not_equal(first_environ(), own);
	assert_int_equal(invoker__environ(&inv, environ_before_sudo(), &env), 0);
	assert_string_equal(value_of(env, "HOME"), "/elsewhere");
	assert_string_equal(value_of(env, "PATH"), "/bin");
	assert_string_equal(value_of(env, "MAIL"), "/m");
}

TEST_CASE(another_environment_replaces_both)
{
	char **env = calloc(2, sizeof(*env));

	env[0] = strdup("A=1");
	assert_int_equal(first_environ__restrict(), 0);
	first_environ__replace(env);
	assert_ptr_equal(environ, env);
	assert_ptr_equal(first_environ(), env);
	first_environ__release();
	assert_ptr_equal(environ, env);
}

/* ---- Rights ---------------------------------------------------------------------------------- */

/* tests/e2e/test_security.py tests users with sudo and users with capabilities. */

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

TEST_CASE(limiting_keeps_only_capabilities_held_before)
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

TEST_CASE(a_root_login_stays_root)
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

TEST_CASE(under_sudo_the_invoker_is_left)
{
	if (geteuid())
		skip();
	assert_int_equal(in_child(drop_under_sudo), 0);
}

TEST_CASE(our_ids_are_one)
{
	assert_false(rights__are_set_id());
}

TEST_MAIN(NULL, NULL)
