// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/probes.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/units.h"
#include "plan/hits.h"

/*
 * Newer than the headers of libbpf 1.1 and of many distributions, so spelled out here: the
 * BPF_LINK_CREATE attributes of a uprobe_multi link, from the kernel's include/uapi/linux/bpf.h.
 */
#define ATTACH_TYPE_UPROBE_MULTI 48

struct uprobe_multi_attr {
	uint32_t prog_fd;
	uint32_t target_fd;
	uint32_t attach_type;
	uint32_t flags;
	uint64_t path;
	uint64_t offsets;
	uint64_t ref_ctr_offsets;
	uint64_t cookies;
	uint32_t count;
	uint32_t multi_flags;
	uint32_t pid;
	uint32_t pad;
};

_Static_assert(sizeof(struct uprobe_multi_attr) == 64, "uprobe_multi_attr");

struct probes {
	int multi[PROBES_ROLES]; /* link descriptors, -1 where there is none */
	pthread_t closers[PROBES_ROLES];
	bool closing[PROBES_ROLES]; /* by the closer */
	struct bpf_link **perf;
	size_t n_perf;
};

int probes_multi_attach_type(void)
{
	return ATTACH_TYPE_UPROBE_MULTI;
}

static int link_create(struct uprobe_multi_attr *attr)
{
	int fd = (int)syscall(SYS_bpf, BPF_LINK_CREATE, attr, sizeof(*attr));

	return fd < 0 ? -errno : fd;
}

int probes_link(int prog_fd, const char *path, const uint64_t *offsets, const uint64_t *cookies,
		uint32_t n)
{
	struct uprobe_multi_attr attr = {
		.prog_fd = (uint32_t)prog_fd,
		.attach_type = ATTACH_TYPE_UPROBE_MULTI,
		.path = (uintptr_t)path,
		.offsets = (uintptr_t)offsets,
		.cookies = (uintptr_t)cookies,
		.count = n,
	};

	return link_create(&attr);
}

int probes_try_multi(const char *path, uint64_t offset)
{
	const struct bpf_insn insns[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = ATTACH_TYPE_UPROBE_MULTI);
	_close_ int prog = bpf_prog_load(BPF_PROG_TYPE_KPROBE, NULL, "GPL", insns, 2, &opts);
	_close_ int link = -1;
	struct uprobe_multi_attr attr = {
		.prog_fd = (uint32_t)prog,
		.attach_type = ATTACH_TYPE_UPROBE_MULTI,
		.path = (uintptr_t)path,
		.offsets = (uintptr_t)&offset,
		.count = 1,
	};

	if (prog < 0)
		return -errno;
	link = link_create(&attr);
	return link < 0 ? link : 0;
}

/* A directory is no binary: a kernel that knows the link says EBADF, others EINVAL. */
bool probes_have_multi(void)
{
	return probes_try_multi("/", 0) == -EBADF;
}

struct site_range {
	uint32_t first;
	uint32_t end;
};

/* Sites are sorted by role. */
static struct site_range sites_of_role(const struct plan *plan, uint32_t role)
{
	struct site_range r = {0, 0};

	while (r.first < plan->n_sites && plan->sites[r.first].role < role)
		r.first++;
	for (r.end = r.first; r.end < plan->n_sites && plan->sites[r.end].role == role;)
		r.end++;
	return r;
}

static int attach_multi(struct probes *p, const struct choice *c, const struct bpf_program *prog,
			uint32_t role, bool governed)
{
	const struct plan *plan = c->plan;
	struct site_range r = sites_of_role(plan, role);
	uint32_t most = r.end - r.first;
	_free_ uint64_t *offsets = calloc(most + 1, sizeof(*offsets));
	_free_ uint64_t *cookies = calloc(most + 1, sizeof(*cookies));
	uint32_t n = 0;
	int fd;

	if (!offsets || !cookies)
		return -ENOMEM;
	for (uint32_t i = r.first; i < r.end; i++) {
		if (!choice__wants(c, &plan->sites[i]))
			continue;
		if (governed && units_have(&plan->sites[i]))
			continue;
		offsets[n] = plan->sites[i].offset;
		cookies[n++] = choice__cookie(c, &plan->sites[i]);
	}
	if (!n)
		return 0;
	fd = probes_link(bpf_program__fd(prog), plan->path, offsets, cookies, n);
	if (fd < 0)
		return fd;
	p->multi[role] = fd;
	return 0;
}

int probes__attach_hits(struct probes *p, struct bpf_program *prog, const struct choice *c,
			const struct plan_hits *hits)
{
	_free_ uint64_t *offsets = calloc(hits->n + 1UL, sizeof(*offsets));
	_free_ uint64_t *cookies = calloc(hits->n + 1UL, sizeof(*cookies));
	int fd;

	if (!offsets || !cookies)
		return -ENOMEM;
	for (uint32_t i = 0; i < hits->n; i++) {
		offsets[i] = hits->items[i].offset;
		cookies[i] = choice__hit_cookie(c, &hits->items[i]);
	}
	fd = hits->n ? probes_link(bpf_program__fd(prog), c->plan->path, offsets, cookies, hits->n)
		     : -1;
	if (fd < 0)
		return hits->n ? fd : 0;
	p->multi[WIRE_ROLE_HIT] = fd;
	return 0;
}

static int attach_perf(struct probes *p, const struct choice *c, const struct bpf_program *prog,
		       uint32_t role)
{
	const struct plan *plan = c->plan;
	struct site_range r = sites_of_role(plan, role);

	for (uint32_t i = r.first; i < r.end; i++) {
		LIBBPF_OPTS(bpf_uprobe_opts, opts,
			    .bpf_cookie = choice__cookie(c, &plan->sites[i]));
		struct bpf_link *link;

		if (!choice__wants(c, &plan->sites[i]))
			continue;
		link = bpf_program__attach_uprobe_opts(prog, -1, plan->path, plan->sites[i].offset,
						       &opts);
		if (!link)
			return -errno;
		p->perf[p->n_perf++] = link;
	}
	return 0;
}

/*
 * Ends first: a start whose end probe is not there yet would look like a query that was left.
 * (Nothing counts before the capture is enabled; a library found in mid-capture does.) For the same
 * reason requests, which have a higher number, come before all starts: a start without one would
 * have no caller, while a request without its start harms nobody.
 */
int probes__attach(struct bpf_program *const progs[PROBES_ROLES], const struct choice *c,
		   bool multi, bool governed, struct probes **out)
{
	struct probes *p = calloc(1, sizeof(*p));
	int err = 0;

	if (!p)
		return -ENOMEM;
	for (int role = 0; role < PROBES_ROLES; role++)
		p->multi[role] = -1;
	if (!multi) {
		p->perf = calloc(c->plan->n_sites + 1, sizeof(*p->perf));
		if (!p->perf)
			err = -ENOMEM;
	}
	for (uint32_t role = PROBES_ROLES - 1; role > 0 && !err; role--) {
		if (progs[role])
			err = multi ? attach_multi(p, c, progs[role], role, governed)
				    : attach_perf(p, c, progs[role], role);
	}
	if (err)
		probes__free(p);
	else
		*out = p;
	return err;
}

static void *close_link(void *fd)
{
	close(*(int *)fd);
	return NULL;
}

/*
 * Closing a link waits for the kernel's grace periods, some 40 ms. All links wait for the same ones
 * if they are closed at once.
 */
void probes__begin_free(struct probes *p)
{
	for (int role = 0; p && role < PROBES_ROLES; role++)
		if (p->multi[role] >= 0 && !p->closing[role])
			p->closing[role] = !pthread_create(&p->closers[role], NULL, close_link,
							   &p->multi[role]);
}

void probes__free(struct probes *p)
{
	if (!p)
		return;
	probes__begin_free(p);
	for (int role = 0; role < PROBES_ROLES; role++) {
		if (p->closing[role])
			pthread_join(p->closers[role], NULL);
		else if (p->multi[role] >= 0)
			close(p->multi[role]);
	}
	for (size_t i = 0; i < p->n_perf; i++)
		bpf_link__destroy(p->perf[i]);
	free(p->perf);
	free(p);
}

void probes__abandon(struct probes *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->n_perf; i++) {
		bpf_link__disconnect(p->perf[i]);
		bpf_link__destroy(p->perf[i]);
	}
	free(p->perf);
	free(p);
}
