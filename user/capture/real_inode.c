// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/real_inode.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include "inode.skel.h"

/* The kernel does not wait for the lock of our mappings, which another thread may hold. */
#define TRIES_MAX 1000

struct real_inodes {
	struct inode_bpf *skel;
};

int real_inodes__new(struct real_inodes **out)
{
	_real_inodes_ struct real_inodes *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	r->skel = inode_bpf__open_and_load();
	if (!r->skel)
		return -errno;
	*out = take_ptr(r);
	return 0;
}

static uint64_t inode_at(struct real_inodes *r, uint64_t addr)
{
	int prog = bpf_program__fd(r->skel->progs.find_inode);

	for (int i = 0; i < TRIES_MAX; i++) {
		LIBBPF_OPTS(bpf_test_run_opts, o, .ctx_in = &addr, .ctx_size_in = sizeof(addr));

		if (bpf_prog_test_run_opts(prog, &o))
			return 0;
		if ((int)o.retval != -EBUSY)
			return o.retval ? 0 : r->skel->bss->found;
		sched_yield();
	}
	return 0;
}

/* The kernel puts breakpoints into a private mapping, and reads the file for that. */
uint64_t real_inodes__of(struct real_inodes *r, int fd)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	void *map = r ? mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;
	uint64_t inode;

	if (map == MAP_FAILED)
		return 0;
	inode = inode_at(r, (uint64_t)(uintptr_t)map);
	munmap(map, size);
	return inode;
}

void real_inodes__free(struct real_inodes *r)
{
	if (!r)
		return;
	inode_bpf__destroy(r->skel);
	free(r);
}
