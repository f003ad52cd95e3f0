// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "base/rights.h"

#include <errno.h>
#include <linux/capability.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/first_environ.h"
#include "base/invoker.h"

static bool dropped_root;

struct capabilities {
	uint64_t effective;
	uint64_t permitted;
	uint64_t inheritable;
};

static int get_capabilities(struct capabilities *c)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &header, data))
		return -errno;
	c->effective = data[0].effective | (uint64_t)data[1].effective << 32;
	c->permitted = data[0].permitted | (uint64_t)data[1].permitted << 32;
	c->inheritable = data[0].inheritable | (uint64_t)data[1].inheritable << 32;
	return 0;
}

/* The ambient set shrinks with the other two: it holds what is permitted and inheritable. */
static int set_capabilities(const struct capabilities *c)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	const struct __user_cap_data_struct data[2] = {
		{(uint32_t)c->effective, (uint32_t)c->permitted, (uint32_t)c->inheritable},
		{(uint32_t)(c->effective >> 32), (uint32_t)(c->permitted >> 32),
		 (uint32_t)(c->inheritable >> 32)},
	};

	return syscall(SYS_capset, &header, data) ? -errno : 0;
}

/* Takes CAP_SETPCAP. Without it no_new_privs does what matters: an exec gives nothing. */
static void limit_bounding_set(uint64_t keep)
{
	for (int cap = 0; cap < 64 && prctl(PR_CAPBSET_READ, cap) >= 0; cap++) {
		if (!(keep >> cap & 1))
			prctl(PR_CAPBSET_DROP, cap);
	}
}

bool rights__are_given(void)
{
	struct capabilities c;

	return getauxval(AT_SECURE) || get_capabilities(&c) || c.effective;
}

bool rights__are_set_id(void)
{
	return getuid() != geteuid() || getgid() != getegid();
}

int rights__limit(uint64_t keep)
{
	struct capabilities c;
	int err = get_capabilities(&c);

	if (err)
		return err;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	limit_bounding_set(keep);
	c.effective &= keep;
	c.permitted &= keep;
	c.inheritable = 0;
	return set_capabilities(&c);
}

/*
 * The bounding set stays: without it the kernel executes no file that has capabilities. Under
 * no_new_privs an exec gives none that its thread has not.
 */
int rights__renounce(void)
{
	static const struct capabilities none;

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ? -errno : set_capabilities(&none);
}

bool rights__dropped_root(void)
{
	return dropped_root;
}

int rights__drop(void)
{
	_invoker_ struct invoker inv = {};
	_environ_ char **env = NULL;
	struct capabilities c;
	int err = invoker__get(&inv);

	if (err)
		return err;
	/* sudo's variables are in force until here, as they name the invoker. */
	if (!inv.sudo) {
		first_environ__release();
	} else {
		err = invoker__environ(&inv, first_environ(), &env);
		if (err)
			return err;
		first_environ__replace(take_ptr(env));
	}
	if (inv.uid == 0)
		return 0;
	err = get_capabilities(&c);
	if (err || (!inv.sudo && !c.permitted && !c.effective))
		return err;
	/* While CAP_SETPCAP is there. */
	limit_bounding_set(0);
	dropped_root = inv.sudo;
	return invoker__become(&inv) ?: rights__limit(0);
}
